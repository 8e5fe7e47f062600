"""Sinew: adds physics to an animation that exists already, as much as the artist painted and no more.

Over numpy arrays, without Blender: `sinew.enrich(rest, triangles, frames, follow)`, or `sinew.Enricher` for each step
by itself. In Blender it is an add-on. On the command line: `python -m sinew --help`.
"""

from __future__ import annotations

import importlib
from typing import Any

# Blender reads this, as text, from add-ons that are not extensions.
bl_info = {
    "name": "Sinew",
    "author": "Sinew contributors",
    "version": (0, 1, 0),
    "blender": (3, 4, 0),
    "location": "Properties > Physics",
    "description": "Physics for animations that exist already",
    "category": "Animation",
}

_API = {
    "Cage": "cage",
    "Enricher": "enrich",
    "Error": "errors",
    "Settings": "settings",
    "automatic_follow": "follow",
    "build_cage": "cage",
    "enrich": "enrich",
}
__all__ = ["Cage", "Enricher", "Error", "Settings", "automatic_follow", "build_cage", "enrich"]  # noqa: F822 (found by __getattr__)


def __getattr__(name: str) -> Any:
    if name not in _API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".core.{_API[name]}", __name__), name)


def register() -> None:
    """Called by Blender."""
    from . import ui

    ui.register()


def unregister() -> None:
    """Called by Blender."""
    from . import ui

    ui.unregister()
