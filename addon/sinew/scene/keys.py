"""The shape keys of an object, as a bake takes its rest shape: how far each moves the vertices."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import stack
from .groups import plain_weights
from .sampler import Rest, shape_of_key
from .steps import Steps
from .subject import Subject

Floats = npt.NDArray[np.float64]


def moving_keys(ob: Any) -> list[Any]:
    """Those that are switched on and lie on another one."""
    keys = ob.data.shape_keys
    if keys is None or not keys.use_relative:
        return []
    return [key for key in keys.key_blocks if not key.mute and key.relative_key != key]


def names_of(ob: Any) -> list[str]:
    return [key.name for key in moving_keys(ob)]


def moves_in_steps(subject: Subject, rest: Rest) -> Steps[tuple[list[str], npt.NDArray[np.float32]]]:
    """Names and displacements (k, t, 3), metres in the axes of the world, of the keys at 1, masks included; keys that
    move nothing are left out."""
    ob, found = subject.ob, dict[str, npt.NDArray[np.float32]]()
    count = len(rest.positions)
    for key in moving_keys(ob):
        if count == len(ob.data.vertices) and not _changes_count(subject):
            move = (_points(key, count) - _points(key.relative_key, count)) * _mask(ob, key)[:, None]
            placed = move @ rest.matrix[:3, :3].T
        else:  # mirrored or subdivided: as Blender makes it
            placed = shape_of_key(subject, key.name) - rest.positions
        if np.isfinite(placed).all() and placed.any():
            found[key.name] = placed.astype(np.float32)
        yield
    return list(found), np.array(list(found.values()), np.float32).reshape(-1, count, 3)


def plain_moves(ob: Any) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Vertices (t, 3) of the mesh without modifiers, and displacements (k, t, 3) of its keys, in its own space."""
    moving, count = moving_keys(ob), len(ob.data.vertices)
    if not moving or any(len(key.data) != count for key in moving):  # as in edit mode
        return np.zeros((0, 3), np.float32), np.zeros((0, 0, 3), np.float32)
    read: dict[str, npt.NDArray[np.float32]] = {}
    for key in (*moving, *(key.relative_key for key in moving)):
        if key.name not in read:
            read[key.name] = _coordinates(key, count)
    first = read[moving[0].relative_key.name]
    return first, np.array([read[key.name] - read[key.relative_key.name] for key in moving])


def _changes_count(subject: Subject) -> bool:
    below = stack.others(subject.ob)[: subject.place]
    return any(modifier.type in stack.COUNT_CHANGING and modifier.show_viewport for modifier in below)


def _points(key: Any, count: int) -> Floats:
    return _coordinates(key, count).astype(np.float64)


def _coordinates(key: Any, count: int) -> npt.NDArray[np.float32]:
    flat = np.empty(3 * count, np.float32)
    key.data.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def _mask(ob: Any, key: Any) -> Floats:
    """(t,) how much of a key each vertex takes."""
    is_masked = key.vertex_group and key.vertex_group in ob.vertex_groups
    return plain_weights(ob, key.vertex_group) if is_masked else np.ones(len(ob.data.vertices))
