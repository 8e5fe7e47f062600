"""The error of this layer; whoever calls it turns it into a `sinew.Error`."""

from __future__ import annotations


class SceneError(Exception):
    """One sentence for the artist about the scene, and what to do."""
