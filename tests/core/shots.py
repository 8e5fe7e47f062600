"""A shot of flesh that the tests of the bake share."""

from __future__ import annotations

from typing import Any

from sinew.core.bake.shot import Shot
from sinew.core.flesh.painted import FleshPaint
from sinew.core.flesh.settings import Settings
from sinew.core.methods.enrich import METHOD

PAINTED = ("parts", "regions", "masks", "safe", "labels", "fields", "collided")


def make_shot(rest: Any, triangles: Any, follow: Any, samples: int, **changes: Any) -> Shot:
    """Frames from 1 on, one sample each, at 24 fps. `changes` are of the shot, or of what it is painted with."""
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
    painted = FleshPaint(follow, **{name: changes.pop(name) for name in PAINTED if name in changes})
    return Shot(rest=rest, triangles=triangles, painted=painted, samples=samples, **{**values, **changes})
