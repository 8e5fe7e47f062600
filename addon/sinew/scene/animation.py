"""The keys and drivers of something in the file: what they animate, all that makes up their motion, and how to keep
them still."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from . import compat

# Whether an object is shown says nothing of how it moves.
VISIBILITY = ("hide_viewport", "hide_render")


@contextlib.contextmanager
def still(owner: Any, paths: Collection[str]) -> Iterator[None]:
    """Meanwhile neither keys nor drivers change these properties of an owner."""
    muted = [i for i, curve in enumerate(curves(owner)) if curve.data_path in paths and not curve.mute]
    try:
        _mute(owner, muted, True)
        yield
    finally:
        _mute(owner, muted, False)


def _mute(owner: Any, numbers: Collection[int], mute: bool) -> None:
    # By number: undo or a reload in between would leave dangling pointers.
    for number, curve in enumerate(curves(owner) if numbers else ()):
        if number in numbers:
            curve.mute = mute


def curves(owner: Any) -> list[Any]:
    """All curves and drivers of an owner."""
    data = owner.animation_data
    if data is None:
        return []
    return [*data.drivers, *(curve for action in _actions(data) for curve in compat.action_curves(action))]


def animated(owner: Any) -> frozenset[str]:
    """The paths of an owner's properties that curves or drivers change."""
    return frozenset(curve.data_path for curve in curves(owner))


def curves_by_path(owner: Any) -> dict[str, list[Any]]:
    """All curves and drivers of an owner by the path that they act on."""
    found: dict[str, list[Any]] = {}
    for curve in curves(owner) if hasattr(owner, "animation_data") else ():
        found.setdefault(curve.data_path, []).append(curve)
    return found


def described_curve(curve: Any) -> Iterator[Any]:
    """All that makes up the motion by a curve or a driver."""
    if curve.driver is not None:
        yield curve.driver.expression
    yield from _described(curve)


def described(data: Any, own: str = "", apart: str = "") -> Iterator[Any]:
    """All of an owner's `animation_data` but its visibility, drivers whose paths begin with `own`, and what acts on the
    path `apart`; "" without such."""
    left_out = (*VISIBILITY, apart)
    for track in data.nla_tracks:
        for strip in track.strips:
            yield strip.mute or track.mute, strip.frame_start, strip.frame_end, strip.blend_type, strip.extrapolation
            yield strip.scale, strip.repeat, strip.use_animated_influence or round(strip.influence, 6)
    for driver in data.drivers:
        if driver.data_path not in left_out and not (own and driver.data_path.startswith(own)):
            yield driver.data_path, driver.driver.expression
    for action in _actions(data):
        for curve in compat.action_curves(action):
            if curve.data_path not in left_out:
                yield from _described(curve)


def described_path(owner: Any, path: str) -> Iterator[Any]:
    """The curves and drivers that act on one path of an owner."""
    data = owner.animation_data
    for driver in data.drivers if data is not None else ():
        if driver.data_path == path:
            yield driver.driver.expression
    for action in _actions(data) if data is not None else ():
        for curve in compat.action_curves(action):
            if curve.data_path == path:
                yield from _described(curve)


def values(owner: Any, path: str, unmoved: float, frames: Sequence[float]) -> list[float] | None:
    """What a number of an owner is on some frames, without going there; `unmoved` where no curve moves it. None where
    only going there tells: by a driver, or by strips of the NLA editor."""
    if path not in animated(owner):
        return [unmoved for _ in frames]
    data = owner.animation_data
    if any(driver.data_path == path for driver in data.drivers) or (data.use_nla and len(data.nla_tracks)):
        return None
    acting = [curve for curve in compat.acting_curves(data) if curve.data_path == path]
    if len(acting) != 1 or acting[0].mute:
        return [unmoved for _ in frames] if not acting else None
    return [acting[0].evaluate(frame) for frame in frames]


def _actions(data: Any) -> list[Any]:
    actions = [data.action] if data.action is not None else []
    actions += [strip.action for track in data.nla_tracks for strip in track.strips if strip.action is not None]
    return actions


def _described(curve: Any) -> Iterator[Any]:
    yield curve.data_path, curve.array_index, curve.mute, curve.extrapolation
    yield from points(curve)


def points(curve: Any) -> Iterator[Any]:
    """The keys of a curve and its modifiers."""
    keys = curve.keyframe_points
    for name in ("co", "handle_left", "handle_right"):
        values = np.empty(2 * len(keys), dtype=np.float32)
        keys.foreach_get(name, values)
        yield values.tobytes()
    for name in ("interpolation", "easing"):
        kinds = np.empty(len(keys), dtype=np.int32)
        keys.foreach_get(name, kinds)
        yield kinds.tobytes()
    for modifier in curve.modifiers:
        yield modifier.type, modifier.mute, *numbers(modifier)


def numbers(thing: Any) -> Iterator[Any]:
    """The plain values of something."""
    for prop in thing.bl_rna.properties:
        if prop.is_readonly or prop.identifier.startswith("show"):
            continue
        if prop.type in ("BOOLEAN", "INT", "FLOAT", "ENUM"):
            value = getattr(thing, prop.identifier)
            yield prop.identifier, tuple(value) if getattr(prop, "is_array", False) else str(value)
