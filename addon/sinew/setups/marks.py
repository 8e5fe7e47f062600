"""What a bake of an object would be made from now: compared with what its last bake was made from, it says what has
changed."""

from __future__ import annotations

from typing import Any

from ..core.methods.enrich.settings import Settings
from ..scene import fingerprint
from .enrich.body import FOLLOW_GROUP, after_group, follow_group, painted_groups, unpainted
from .passengers import carried_now


def frame_range(scene: Any, settings: Settings) -> tuple[int, int]:
    """First and last frame: those of the settings, else the scene's."""
    start, end = settings.frame_start, settings.frame_end
    return (scene.frame_start if start is None else start, scene.frame_end if end is None else end)


def marks_of(ob: Any, scene: Any, settings: Settings) -> dict[str, str]:
    return fingerprint.take(
        ob,
        scene,
        frame_range(scene, settings),
        follow=follow_group(ob, settings),
        unpainted=unpainted(settings),
        after=after_group(settings),
        carried=carried_now(ob, scene, settings),
        painted=painted_groups(settings),
        inside=(settings.cage_object, FOLLOW_GROUP),
    )
