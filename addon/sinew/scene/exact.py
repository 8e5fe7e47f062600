"""A hash of all that the frames of an object are made from, where that can be told: while it is the same, the object
moves as it did, and its frames need not be played again.

What looks elsewhere has none: drivers, node trees, caches, simulations, linked data, scripts that run on every frame.
Unlike the quick fingerprint of a panel (fingerprint.py) every key and every weight counts. What changes all frames
alike may be overlooked: whoever goes by the hash compares a few frames too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from . import animation, compat, groups, stack
from .steps import Steps
from .subject import Subject

# Those whose values, objects, vertex groups and the mesh are all that they look at.
_MODIFIERS = frozenset(
    "ARMATURE BEVEL CAST CORRECTIVE_SMOOTH EDGE_SPLIT LAPLACIANSMOOTH MASK MIRROR SIMPLE_DEFORM SMOOTH SOLIDIFY "
    "SUBSURF TRIANGULATE WELD".split()
)
_CONSTRAINTS = frozenset(
    "CHILD_OF COPY_LOCATION COPY_ROTATION COPY_SCALE COPY_TRANSFORMS DAMPED_TRACK FLOOR IK LIMIT_DISTANCE "
    "LIMIT_LOCATION LIMIT_ROTATION LIMIT_SCALE LOCKED_TRACK MAINTAIN_VOLUME STRETCH_TO TRACK_TO TRANSFORM".split()
)
_PARENTS = frozenset("OBJECT ARMATURE BONE".split())
_PLACED = (
    "location rotation_euler rotation_quaternion rotation_axis_angle rotation_mode scale delta_location "
    "delta_rotation_euler delta_rotation_quaternion delta_scale parent_type parent_bone matrix_parent_inverse"
).split()
_MOST_OWNERS = 200
_FRAME = 1  # on which values are looked at, keyed ones too
# Evaluated, or what something looks like: no part of what it is.
_PASSED_OVER = frozenset(
    "rna_type matrix matrix_channel head tail name color show_expanded show_in_editmode show_on_cage is_active "
    "execution_time persistent_uid use_pin_to_last open_panels select select_head select_tail hide hide_select "
    "custom_shape custom_shape_transform is_valid error_location error_rotation".split()
)


class _NotKnown(Exception):
    """It looks at something that cannot be hashed."""


def take(body: Subject, carried: list[Subject], apart: str = "") -> Steps[str]:
    """Of subjects that were entered; "" where it cannot be told. Keys and drivers of the path `apart` move nothing."""
    digest = hashlib.blake2b(digest_size=16)
    bpy.context.scene.frame_set(_FRAME)
    try:
        for part in _scene(bpy.context.scene):
            digest.update(repr(part).encode())
        owners: list[Any] = []
        for subject in (body, *carried):
            for part in _subject(subject, owners):
                digest.update(part if isinstance(part, bytes) else repr(part).encode())
            weights = yield from groups.rest_weights(subject, _groups(subject))
            digest.update(weights.tobytes())
        for owner in owners:  # it grows while it is gone through
            for part in _owner(owner, owners, apart):
                digest.update(part if isinstance(part, bytes) else repr(part).encode())
            yield
    except _NotKnown:
        return ""
    return digest.hexdigest()


def _scene(scene: Any) -> Iterator[Any]:
    on_frames = [*bpy.app.handlers.frame_change_pre, *bpy.app.handlers.frame_change_post]
    if any(not str(getattr(one, "__module__", "")).startswith(__package__.rpartition(".")[0]) for one in on_frames):
        raise _NotKnown
    render = scene.render
    yield compat.RELEASE, scene.unit_settings.scale_length, render.frame_map_old, render.frame_map_new
    yield render.use_simplify, render.simplify_subdivision


def _subject(subject: Subject, owners: list[Any]) -> Iterator[Any]:
    """What deforms an object: its mesh, shape keys, and the modifiers below our place."""
    ob = subject.ob
    _add(owners, ob)
    mesh = ob.data
    yield compat.mesh_positions(mesh).tobytes()
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    yield corners.tobytes()
    keys = mesh.shape_keys
    if keys is not None:
        yield keys.use_relative, keys.eval_time, ob.show_only_shape_key, ob.active_shape_key_index
        yield from _animated(keys)
    for key in keys.key_blocks if keys is not None else ():
        flat = np.empty(3 * len(key.data), dtype=np.float32)
        key.data.foreach_get("co", flat)
        yield key.name, key.value, key.mute, key.vertex_group, key.relative_key.name, key.interpolation
        yield flat.tobytes()
    for modifier in stack.others(ob)[: subject.place]:
        if modifier.type not in _MODIFIERS or getattr(modifier, "rest_source", "") == "BIND":
            raise _NotKnown
        yield from _values(modifier, owners)


def _groups(subject: Subject) -> list[str]:
    """The vertex groups that have a say in how an object deforms."""
    ob = subject.ob
    named = {bone.name for rig in stack.armatures(ob, subject.place) for bone in rig.data.bones}
    for modifier in stack.others(ob)[: subject.place]:
        texts = (prop.identifier for prop in modifier.bl_rna.properties if prop.type == "STRING")
        named.update(getattr(modifier, name) for name in texts)
    if ob.data.shape_keys is not None:
        named.update(key.vertex_group for key in ob.data.shape_keys.key_blocks)
    return [group.name for group in ob.vertex_groups if group.name in named]


def _owner(owner: Any, owners: list[Any], apart: str) -> Iterator[Any]:
    """What places an object, and the pose of an armature."""
    if owner.library is not None or owner.override_library is not None or owner.rigid_body is not None:
        raise _NotKnown
    yield owner.type, *(_plain(getattr(owner, name)) for name in _PLACED)
    if owner.parent is not None:
        if owner.parent_type not in _PARENTS:
            raise _NotKnown
        _add(owners, owner.parent)
    yield from _animated(owner, apart)
    yield from _constraints(owner, owners)
    if owner.type == "ARMATURE":
        if owner.pose.ik_solver != "LEGACY":
            raise _NotKnown
        yield owner.data.pose_position
        yield from _animated(owner.data)
        for bone in owner.pose.bones:
            yield bone.name, bone.parent.name if bone.parent is not None else "", _plain(bone.bone.matrix_local)
            yield from _values(bone, owners)
            yield from _values(bone.bone, owners)
            yield from _constraints(bone, owners)


def _add(owners: list[Any], ob: Any) -> None:
    if ob not in owners:
        owners.append(ob)
    if len(owners) > _MOST_OWNERS:
        raise _NotKnown


def _constraints(holder: Any, owners: list[Any]) -> Iterator[Any]:
    for one in holder.constraints:
        target = getattr(one, "target", None)
        on_a_surface = target is not None and target.type != "ARMATURE" and getattr(one, "subtarget", "")
        if one.type not in _CONSTRAINTS or on_a_surface:
            raise _NotKnown
        yield from _values(one, owners)


def _values(thing: Any, owners: list[Any]) -> Iterator[Any]:
    """All values of a modifier, a constraint or a bone; objects that it names become owners."""
    for prop in thing.bl_rna.properties:
        name = prop.identifier
        if name in _PASSED_OVER or prop.type == "COLLECTION":
            continue
        value = getattr(thing, name)
        if prop.type == "POINTER":
            if isinstance(value, bpy.types.Object):
                yield name
                _add(owners, value)
            elif isinstance(value, bpy.types.ID):
                raise _NotKnown
        elif not prop.is_readonly:
            yield name, _plain(value)


def _plain(value: Any) -> Any:
    """Vectors and matrices as tuples of numbers, which are told with all their digits."""
    if isinstance(value, set):
        return sorted(value)
    return value if isinstance(value, str) or not hasattr(value, "__iter__") else tuple(map(_plain, value))


def _animated(owner: Any, apart: str = "") -> Iterator[Any]:
    """All keys of an owner."""
    data = owner.animation_data
    if data is None:
        return
    own = stack.own_modifier(owner) if hasattr(owner, "modifiers") else None
    ours = f'modifiers["{own.name}"].' if own is not None else "\0"
    curves = [curve for curve in animation.curves(owner) if curve.data_path not in (*animation.VISIBILITY, apart)]
    curves = [curve for curve in curves if not curve.data_path.startswith(ours)]
    if any(curve.driver is not None for curve in curves):
        raise _NotKnown
    if not curves:
        return
    yield data.use_nla, data.action_influence, data.action_blend_type, data.action_extrapolation
    yield getattr(data, "action_slot_handle", 0)  # 4.4 and later
    for track in data.nla_tracks:
        yield track.mute, track.is_solo
        for strip in track.strips:
            if len(strip.fcurves) or len(strip.modifiers) or len(strip.strips):
                raise _NotKnown
            yield tuple(animation.numbers(strip))
    for curve in curves:
        yield from _curve(curve)


def _curve(curve: Any) -> Iterator[Any]:
    if len(curve.sampled_points) or any(modifier.type == "ENVELOPE" for modifier in curve.modifiers):
        raise _NotKnown
    yield curve.data_path, curve.array_index, curve.mute, curve.extrapolation, curve.group and curve.group.mute
    yield from animation.points(curve)
    easing: npt.NDArray[np.float32] = np.empty(len(curve.keyframe_points), dtype=np.float32)
    for name in ("amplitude", "back", "period"):
        curve.keyframe_points.foreach_get(name, easing)
        yield easing.tobytes()
