"""What a bake of an object would be made from now: compared with what its last bake was made from, it says what has
changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..core.bake.method import find
from ..scene import fingerprint, setup
from ..scene.errors import SceneError
from . import collisions
from .passengers import carried_now
from .reading import reading_of

_AMOUNT = "amount"


def frame_range(scene: Any, settings: Any) -> tuple[int, int]:
    """First and last frame: those of the settings, else the scene's."""
    start, end = settings.frame_start, settings.frame_end
    return (scene.frame_start if start is None else start, scene.frame_end if end is None else end)


def marks_of(ob: Any, scene: Any, method: str, settings: Any) -> dict[str, str]:
    """By the name of the setup's method, which says what it looks at."""
    painted = {**reading_of(method).marks(ob, settings), **collisions.marks(settings)}
    carried = carried_now(ob, scene, settings)
    met = _met(ob, scene, settings) if collisions.does_collide(settings) else None
    return fingerprint.take(ob, scene, frame_range(scene, settings), carried=carried, painted=painted, met=met)


def _met(ob: Any, scene: Any, settings: Any) -> Sequence[Any]:
    """The objects that it collides with, without bodies that it may be simulated together with: they move by bakes that
    are made with its own."""
    try:
        met = collisions.meets([(ob, settings)], scene).objects
        return [one for one in met if not (collisions.pushes(settings) and _pushes(one, scene))]
    except SceneError:  # a collection that is gone: the bake will tell
        return ()


def _pushes(ob: Any, scene: Any) -> bool:
    entry = setup.find_of(ob, scene)
    return entry is not None and collisions.pushes(find(entry.method).settings().replace(entry.settings))


def marks_of_result(ob: Any, method: str, settings: Any) -> dict[str, str]:
    """Those of what needs no new simulation."""
    painted = reading_of(method).marks(ob, settings)
    looked_at = {name: fingerprint.take_painting(ob, painted[name]) for name in reading_of(method).of_result}
    return {**looked_at, _AMOUNT: fingerprint.take_amount(ob)}


def is_of_result(method: str, name: str) -> bool:
    """Whether a change of that mark needs no new simulation."""
    return name == _AMOUNT or name in reading_of(method).of_result


def changed(method: str, before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The sentences about what differs."""
    return fingerprint.changed(before, now, {**reading_of(method).reasons, **collisions.REASONS})
