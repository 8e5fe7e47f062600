"""A shot that the tests of the bake share."""

from __future__ import annotations

from typing import Any

from sinew.core.bake.shot import Shot
from sinew.core.methods.enrich import METHOD
from sinew.core.methods.enrich.settings import Settings


def make_shot(rest: Any, triangles: Any, follow: Any, samples: int, **changes: Any) -> Shot:
    """Frames from 1 on, one sample each, at 24 fps."""
    values: dict[str, Any] = {
        "settings": Settings(),
        "method": METHOD,
        "first_frame": 1,
        "frame_start": 1,
        "frame_end": samples,
        "frame_rate": 24.0,
        "gravity": (0.0, 0.0, -9.81),
        "owner_file": "shot.blend",
        "owner_object": "Body",
    }
    return Shot(rest=rest, triangles=triangles, follow=follow, samples=samples, **{**values, **changes})
