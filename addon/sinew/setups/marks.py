"""What a bake of an object would be made from now: compared with what its last bake was made from, it says what has
changed."""

from __future__ import annotations

from typing import Any

from ..scene import fingerprint
from .passengers import carried_now
from .reading import reading_of


def frame_range(scene: Any, settings: Any) -> tuple[int, int]:
    """First and last frame: those of the settings, else the scene's."""
    start, end = settings.frame_start, settings.frame_end
    return (scene.frame_start if start is None else start, scene.frame_end if end is None else end)


def marks_of(ob: Any, scene: Any, method: str, settings: Any) -> dict[str, str]:
    """By the name of the setup's method, which says what it looks at."""
    looked_at = reading_of(method).marks(ob, settings)
    carried = carried_now(ob, scene, settings)
    return fingerprint.take(ob, scene, frame_range(scene, settings), carried=carried, **looked_at)
