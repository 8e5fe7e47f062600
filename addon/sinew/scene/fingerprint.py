"""A cheap fingerprint of all that a bake is made from, to see that it is stale without sampling the animation anew.

It looks at data, not at what Blender evaluates: it may overlook a change (a driver that reads a clock), so `check`
samples. It takes a few milliseconds, and none of it runs during playback.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np

from . import compat, stack

# What each part says when it differs.
REASONS = {
    "range": "The frame range has changed",
    "scene": "The frame rate, the units or the gravity have changed",
    "modifiers": "The modifiers have changed",
    "mesh": "The mesh has changed",
    "animation": "The animation has changed",
    "weights": "The follow weights have changed",
    "passengers": "A passenger has changed",
}
_WEIGHED_VERTICES = 30_000  # above, reading the weights would be felt


def take(
    ob: Any,
    group: str,
    frame_start: int,
    frame_end: int,
    scene: Any = None,
    carried: Sequence[tuple[Any, str]] = (),
) -> dict[str, str]:
    """Hashes of each part, as they are now. `carried`: the passengers, each with how it is carried."""
    scene = scene or bpy.context.scene
    render = scene.render
    gravity = tuple(scene.gravity) if scene.use_gravity else None
    return {
        "range": _hash(frame_start, frame_end),
        "scene": _hash(render.fps, render.fps_base, scene.unit_settings.scale_length, gravity),
        "modifiers": _hash(*(_modifier(modifier) for modifier in stack.others(ob))),
        "mesh": _hash(*_mesh(ob)),
        "animation": _hash(*_animation(ob)),
        "weights": _hash(group, _weights(ob, group)),
        "passengers": _hash(*(part for passenger, mode in carried for part in _passenger(passenger, mode))),
    }


def take_shape(ob: Any, scene: Any) -> str:
    """A hash of what the rest shape is made from: the mesh, its scale, the modifiers that change the vertex count."""
    changing = (_modifier(m) for m in stack.others(ob) if m.type in stack.COUNT_CHANGING)
    scale = tuple(round(value, 6) for value in ob.matrix_world.to_scale())
    counts_and_positions = itertools.islice(_mesh(ob), 2)  # shape keys deform: they are not at rest
    return _hash(*counts_and_positions, scale, scene.unit_settings.scale_length, *changing)


def take_weights(ob: Any, group: str) -> str:
    """A hash of the weights of a vertex group; of large meshes only of its name."""
    return _hash(group, _weights(ob, group))


def changed(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """The sentences about what differs; a part that was not recorded counts as unchanged."""
    return [REASONS[name] for name in REASONS if name in before and before[name] != now.get(name)]


def _hash(*parts: Any) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
    return digest.hexdigest()


def _passenger(ob: Any, mode: str) -> Iterator[Any]:
    yield mode, ob.parent is not None, ob.parent_type, ob.parent_bone
    yield tuple(_modifier(modifier) for modifier in stack.others(ob))
    yield from _mesh(ob)
    yield from _animation(ob)


def _modifier(modifier: Any) -> tuple[Any, ...]:
    target = getattr(modifier, "object", None)
    return (
        modifier.name,
        modifier.type,
        modifier.show_viewport,
        modifier.show_render,
        getattr(modifier, "vertex_group", ""),
        target is not None,
    )


def _mesh(ob: Any) -> Iterator[Any]:
    mesh = ob.data
    yield len(mesh.vertices), len(mesh.edges), len(mesh.polygons)
    yield compat.mesh_positions(mesh).tobytes()
    for key in mesh.shape_keys.key_blocks if mesh.shape_keys else ():
        flat = np.empty(3 * len(key.data), dtype=np.float32)
        key.data.foreach_get("co", flat)
        yield key.name, key.mute
        yield flat.tobytes()


def _animation(ob: Any) -> Iterator[Any]:
    owners: list[Any] = [ob, ob.data.shape_keys]
    owners += [modifier.object for modifier in stack.others(ob) if getattr(modifier, "object", None) is not None]
    for owner in list(owners):
        parent = getattr(owner, "parent", None)
        while parent is not None and parent not in owners:
            owners.append(parent)
            parent = parent.parent
    for owner in owners:
        if owner is None:
            continue
        yield owner.rna_type.identifier  # not its name: what is renamed stays what it is
        data = owner.animation_data
        if hasattr(owner, "matrix_basis") and (data is None or data.action is None):
            yield tuple(tuple(row) for row in owner.matrix_basis)
        if data is not None:
            yield from _animation_data(data)


def _animation_data(data: Any) -> Iterator[Any]:
    actions = [data.action] if data.action is not None else []
    for track in data.nla_tracks:
        for strip in track.strips:
            yield strip.name, strip.mute or track.mute, strip.frame_start, strip.frame_end
            if strip.action is not None:
                actions.append(strip.action)
    for driver in data.drivers:
        if driver.data_path != f'modifiers["{stack.MODIFIER_NAME}"].factor':
            yield driver.data_path, driver.driver.expression
    for action in actions:
        for curve in compat.action_curves(action):
            points = np.empty(2 * len(curve.keyframe_points), dtype=np.float32)
            curve.keyframe_points.foreach_get("co", points)
            yield curve.data_path, curve.array_index, curve.mute
            yield points.tobytes()


def _weights(ob: Any, name: str) -> bytes:
    group = ob.vertex_groups.get(name)
    if group is None or len(ob.data.vertices) > _WEIGHED_VERTICES:
        return b""
    weights = np.zeros(len(ob.data.vertices), dtype=np.float32)
    for vertex in ob.data.vertices:
        for element in vertex.groups:
            if element.group == group.index:
                weights[vertex.index] = element.weight
    return weights.tobytes()
