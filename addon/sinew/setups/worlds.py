"""Setups whose bodies touch are simulated together, as bodies of one world. Which these are is found by the boxes of
their animations: a body that nothing holds may come anywhere."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core.bake.method import Method, find
from ..core.base.errors import Error
from ..scene import boxes, setup
from ..scene.objects import why_not
from ..scene.steps import Steps
from .collisions import pushes
from .marks import frame_range

Floats = npt.NDArray[np.float64]

_LOOKS = 25  # frames on which boxes are compared, those between them are in both
_MARGIN = 0.15  # of a body's size: how far its flesh may get from the animation

Settings = tuple[Method, Any]


def may_share(name: str, scene: Any) -> bool:
    """Whether there is another body that could touch that of a setup."""
    others = _candidates({}, scene)
    return name in others and len(others) > 1


def worlds_in_steps(given: Mapping[str, Settings], scene: Any) -> Steps[list[list[str]]]:
    """Who is simulated with whom, of some objects, each with the settings that it is baked with, and of all setups of
    the scene that touch one of them. The current frame changes meanwhile."""
    candidates = _candidates(given, scene)
    alone = [[name] for name in given if name not in candidates]
    if len(candidates) < 2 or not set(given) & set(candidates):
        return [[name] for name in given]
    seen = yield from _boxes(candidates, scene)
    groups = _joined(list(candidates), lambda a, b: _share(candidates[a], candidates[b]) and _touch(seen[a], seen[b]))
    return [*(group for group in groups if set(group) & set(given)), *alone]


def _candidates(given: Mapping[str, Settings], scene: Any) -> dict[str, Settings]:
    """The objects whose bodies may touch others, with their settings."""
    found = dict(given)
    for ob in setup.objects(scene):
        entry = setup.find_of(ob, scene)
        if entry is not None and ob.name not in found and not why_not(ob):
            try:
                method = find(entry.method)
                found[ob.name] = (method, method.settings().replace(entry.settings))
            except Error:  # of another version
                continue
    found = {name: found[name] for name in sorted(found) if pushes(found[name][1])}
    for name, (_, settings) in list(found.items()):
        if settings.led_by in found:  # the two are in one place: that which is asked for is simulated, or the led one
            del found[name if settings.led_by in given and name not in given else settings.led_by]
    return found


def _share(one: Settings, other: Settings) -> bool:
    """Whether two can be bodies of one world."""
    names = ("frame_start", "frame_end", "samples", "preroll")
    if one[1].loop or other[1].loop or any(getattr(one[1], name) != getattr(other[1], name) for name in names):
        return False
    if "rest" in (one[1].start, other[1].start) and one[1].start != other[1].start:
        return False
    mine, theirs = (method.shares(settings) for method, settings in (one, other))
    return all(theirs.get(name, value) == value for name, value in mine.items())


def _boxes(candidates: Mapping[str, Settings], scene: Any) -> Steps[dict[str, Floats | None]]:
    """Of each (frames, 2, 3): the least and the greatest coordinates, with a margin; None: it may come anywhere."""
    ranges = [frame_range(scene, settings) for _, settings in candidates.values()]
    first, last = min(start for start, _ in ranges), max(end for _, end in ranges)
    frames = np.unique(np.linspace(first, last, _LOOKS).round().astype(int))
    bodies = {name: scene.objects[name] for name in candidates}
    taken: dict[str, list[Floats]] = {name: [] for name in candidates}
    for frame in frames:
        scene.frame_set(int(frame))
        for name, ob in bodies.items():
            taken[name].append(boxes.box_now(ob))
        yield
    return {
        name: None if method.roams(settings) else _widened(np.array(taken[name]))
        for name, (method, settings) in candidates.items()
    }


def _widened(boxes_of_one: Floats) -> Floats:
    """With the margin, and each with the next, so that what passes between two frames is seen."""
    size = np.ptp(boxes_of_one, axis=1).max()
    wide = boxes_of_one + _MARGIN * size * np.array([[-1.0], [1.0]])
    after = np.concatenate([wide[1:], wide[-1:]])
    return np.stack([np.minimum(wide[:, 0], after[:, 0]), np.maximum(wide[:, 1], after[:, 1])], axis=1)


def _touch(one: Floats | None, other: Floats | None) -> bool:
    if one is None or other is None:
        return True
    return bool(((one[:, 0] <= other[:, 1]) & (other[:, 0] <= one[:, 1])).all(axis=1).any())


def _joined(names: Sequence[str], is_joined: Any) -> Iterator[list[str]]:
    """Groups of those that are joined, be it through others."""
    groups = {name: [name] for name in names}
    for a, b in itertools.combinations(names, 2):
        if groups[a] is not groups[b] and is_joined(a, b):
            joined = sorted(groups[a] + groups[b])
            groups |= dict.fromkeys(joined, joined)
    shown = dict.fromkeys(map(tuple, groups.values()))
    return map(list, shown)
