"""A cheap fingerprint of all that a bake is made from, to see that it is stale without sampling the animation anew.

It looks at data, not at what Blender evaluates: it may overlook a change (a driver that reads a clock), so `check`
samples. It takes a few milliseconds, and none of it runs during playback.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np

from . import animation, attributes, compat, fields, node_tree, playback, stack, ties
from .groups import whole_group
from .sampler import AMOUNT, AMOUNT_PATH, COLLIDE

# What each part says when it differs.
REASONS = {
    "range": "The frame range has changed",
    "scene": "The frame rate, the units or the gravity have changed",
    "fields": "A force field has changed",
    "modifiers": "The modifiers have changed",
    "nodes": "A node tree of the modifiers has changed",
    "mesh": "The mesh has changed",
    "animation": "The animation has changed",
    "ties": "What moves it has changed: a parent, a constraint, a driver or a value without keys",
    "passengers": "An attached mesh has changed",
    "colliders": "What it collides with has moved or changed",
    "amount": "The keys of Amount have changed",
}
REASONS |= {"passenger_ties": REASONS["passengers"], "collider_ties": REASONS["colliders"]}
_WEIGHED_VERTICES = 20_000  # above, reading all weights would be felt
_SKINNED_VERTICES = 5_000
_MOST_OWNERS, _MOST_POINTS = 100, 10_000
_ROTATIONS = ("rotation_euler", "rotation_quaternion", "rotation_axis_angle")
# Of a modifier: how it looks in the panel, not what it does.
_LOOKS = frozenset("name show_expanded show_in_editmode show_on_cage is_active use_pin_to_last open_panels".split())


@dataclass(frozen=True)
class Painting:
    """Vertex groups of which a method takes the weights."""

    groups: tuple[str, ...] = ()
    unpainted: float = 0.0  # what vertices that are not in them count as
    inside: tuple[str, str] = ("", "")  # an object whose points have weights too, and its group
    factor: str = ""  # a custom property of the object that may be keyed
    objects: tuple[str, ...] = ()  # other objects, as they are shown


def take(
    ob: Any,
    scene: Any,
    frames: tuple[int, int],
    *,
    carried: Sequence[tuple[Any, str]],
    painted: Mapping[str, Painting],
    met: Sequence[Any] | None = None,
) -> dict[str, str]:
    """Hashes of each part, as they are now. `frames`: first and last; `carried`: the passengers, each with how it is
    carried; `painted`: what a method looks at beside all that, by name; `met`: the objects that it collides with, None
    where it does not collide."""
    render = scene.render
    gravity = tuple(scene.gravity) if scene.use_gravity else None
    return {
        "blender": compat.RELEASE,  # its modifiers have other values
        "range": _hash(*frames),
        "scene": _hash(render.fps, render.fps_base, scene.unit_settings.scale_length, gravity),
        "fields": _hash(*(part for field in fields.objects(ob) for part in _field(field))),
        "modifiers": _hash(*_modifiers(ob)),
        "nodes": _hash(*(part for one in (ob, *(passenger for passenger, _ in carried)) for part in _nodes(one))),
        "mesh": _hash(*_mesh(ob)),
        "animation": _hash(*_animation(ob), *_skin(ob)),
        "ties": _hash(*_ties(ob)),
        "passenger_ties": _hash(*(part for passenger, _ in carried for part in _ties(passenger))),
        "passengers": _hash(*(part for passenger, mode in carried for part in _passenger(passenger, mode))),
        "amount": take_amount(ob),
        **({} if met is None else {"colliders": take_colliders(ob, met)}),
        **({} if met is None else {"collider_ties": _hash(*(part for one in met for part in _ties(one)))}),
        **{name: take_painting(ob, one) for name, one in painted.items()},
    }


def take_painting(ob: Any, painting: Painting) -> str:
    """A hash of weights; of large meshes of a part of them."""
    weights = (_weights(ob, [group], unpainted=painting.unpainted) for group in painting.groups)
    factor = _factor(ob, painting.factor) if painting.factor else []
    others = (bpy.data.objects.get(name) for name in painting.objects)
    shown = (part for other in others if other is not None for part in _other(other))
    return _hash(*painting.groups, *weights, *_inside(*painting.inside), *factor, *painting.objects, *shown)


def take_shape(ob: Any, scene: Any) -> str:
    """A hash of what the rest shape is made from: the mesh, its scale, the modifiers that change the vertex count."""
    changing = (_modifier(m) for m in stack.others(ob) if m.type in stack.COUNT_CHANGING)
    scale = tuple(round(value, 6) for value in ob.matrix_world.to_scale())
    counts_and_positions = itertools.islice(_mesh(ob), 2)  # shape keys deform: they are not at rest
    return _hash(*counts_and_positions, scale, scene.unit_settings.scale_length, *changing)


def of_weights(weights: Any) -> str:
    """A hash of weights (t,) that are to be written into a vertex group."""
    return _hash(np.asarray(weights, dtype=np.float32).tobytes())


def exact_weights(ob: Any, name: str) -> str:
    """The same of a vertex group with all vertices in it; "" where one is not."""
    weights = whole_group(ob.vertex_groups[name], len(ob.data.vertices))
    return "" if weights is None else of_weights(weights)


def take_weights(ob: Any, group: str, unpainted: float = 0.0) -> str:
    """The same of one vertex group."""
    return take_painting(ob, Painting((group,), unpainted))


def take_amount(ob: Any) -> str:
    """A hash of how much of the motion is used on which frame, as the object has it."""
    return _hash(*_factor(ob, AMOUNT))


def take_colliders(ob: Any, met: Sequence[Any]) -> str:
    """A hash of the objects that one collides with, and of when it does."""
    return _hash(*_factor(ob, COLLIDE), *(part for one in met for part in _other(one)))


def _factor(ob: Any, name: str) -> list[Any]:
    """What moves a custom property of an object, or its value where nothing does."""
    return list(animation.described_path(ob, f'["{name}"]')) or [ob.get(name, 1.0)]


def changed(before: Mapping[str, str], now: Mapping[str, str], further: Mapping[str, str]) -> list[str]:
    """The sentences about what differs, also of `further` parts; one that was not recorded counts as unchanged."""
    reasons = {**REASONS, **further}
    compared = set(reasons) & set(before)
    if before.get("blender") != now.get("blender"):
        compared -= {"modifiers", "nodes", "passengers", "ties", "passenger_ties", "collider_ties"}
    differing = (reason for name, reason in reasons.items() if name in compared and before[name] != now.get(name))
    return list(dict.fromkeys(differing))


def _hash(*parts: Any) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
    return digest.hexdigest()


def _inside(name: str, group: str) -> Iterator[Any]:
    other = bpy.data.objects.get(name) if name else None
    if other is not None and other.type == "MESH":
        yield compat.mesh_positions(other.data).tobytes()
        yield _weights(other, [group], unpainted=-1.0)


def _field(ob: Any) -> Iterator[Any]:
    moved = animation.animated(ob)
    still = {**fields.read(ob), **{name: getattr(ob.field, name) for name in ("strength", "noise", "seed")}}
    for name, value in still.items():
        if f"field.{name}" not in moved and name not in ("place", "axis"):
            yield name, value
    yield from _animation(ob)


def _passenger(ob: Any, mode: str) -> Iterator[Any]:
    yield mode, ob.parent is not None, ob.parent_type, ob.parent_bone
    yield tuple(_modifiers(ob))
    yield from _mesh(ob)
    yield from _animation(ob)


def _other(ob: Any) -> Iterator[Any]:
    yield ob.type
    if ob.collision is not None and ob.collision.use:
        yield round(ob.collision.thickness_outer, 6), round(ob.collision.cloth_friction, 6)
    yield tuple(_modifiers(ob))
    yield playback.bake_id(ob)  # of one that moves by a bake of ours
    if ob.type == "MESH":
        yield from _mesh(ob)
    else:
        yield from _shape(ob.data)
    yield from _animation(ob)


def _modifiers(ob: Any) -> Iterator[tuple[Any, ...]]:
    animated = animation.animated(ob)
    for modifier in stack.others(ob):
        yield _modifier(modifier, animated)


def _modifier(modifier: Any, animated: frozenset[str] = frozenset()) -> tuple[Any, ...]:
    """What a modifier is and all its values, but for those that are animated: they change with the current frame."""
    values = []
    for prop in modifier.bl_rna.properties:
        name = prop.identifier
        path = f'modifiers["{modifier.name}"].{name}'
        if prop.is_readonly or name in _LOOKS or path in animated:
            continue
        if prop.type in ("BOOLEAN", "INT", "FLOAT", "ENUM", "STRING"):
            value = getattr(modifier, name)
            values.append((name, tuple(value) if getattr(prop, "is_array", False) else value))
    for path, value in compat.node_inputs(modifier) if modifier.type == "NODES" else ():
        if f'modifiers["{modifier.name}"]{path}' not in animated and isinstance(value, (bool, int, float, str)):
            values.append((path, value))
    target = getattr(modifier, "object", None)
    return (modifier.type, target is not None, tuple(map(str, values)))


def _nodes(ob: Any) -> Iterator[str]:
    for modifier in stack.others(ob):
        if modifier.type == "NODES" and modifier.node_group is not None:
            yield node_tree.hash_of(modifier.node_group)


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
    for owner in _owners(ob):
        yield from _moved(owner, ob)


def _ties(ob: Any) -> Iterator[Any]:
    """How all that it depends on hangs together, and what moves those that only drivers and rarer constraints name."""
    owners = _owners(ob)
    known = len(owners)
    for owner in owners:  # it grows while it is gone through
        modifiers = stack.others(owner) if hasattr(owner, "modifiers") else ()
        named = [getattr(owner, "parent", None), *ties.near(owner, modifiers, _apart(owner))]
        owners += [other for other in dict.fromkeys(named) if other is not None and other not in owners]
        if len(owners) > _MOST_OWNERS:
            break
    curves: ties.Curves = {}
    for i, owner in enumerate(owners):
        yield from ties.told(owner, _apart(owner), owners, curves)
        if i >= known:
            yield from _moved(owner, ob)


def _apart(owner: Any) -> tuple[str, ...]:
    """What the paths begin with of which the drivers move nothing that a bake is made from."""
    own = _own_path(owner)
    return (AMOUNT_PATH, own) if own else (AMOUNT_PATH,)


def _own_path(owner: Any) -> str:
    """What the paths of properties of our modifier begin with."""
    own = stack.own_modifier(owner) if hasattr(owner, "modifiers") else None
    return f'modifiers["{own.name}"].' if own is not None else ""


def _moved(owner: Any, ob: Any) -> Iterator[Any]:
    yield owner.rna_type.identifier  # not its name: what is renamed stays what it is
    data = owner.animation_data
    keyed = animation.animated(owner)
    if hasattr(owner, "matrix_basis") and not keyed & {"location", "scale", *_ROTATIONS}:
        yield _rounded(owner.matrix_basis)
    if data is not None:
        yield from animation.described(data, _own_path(owner), AMOUNT_PATH)
    if getattr(owner, "pose", None) is not None:
        yield from _rig(owner, keyed)
    if owner != ob and hasattr(owner, "data"):
        yield from _shape(owner.data)


def _skin(ob: Any) -> Iterator[bytes]:
    """How much each bone holds of the mesh."""
    bones = sorted(bone.name for rig in stack.armatures(ob) for bone in rig.data.bones if bone.use_deform)
    yield _weights(ob, bones, most=_SKINNED_VERTICES)


def _owners(ob: Any) -> list[Any]:
    """What the animation of an object depends on: its shape keys, what its modifiers name, its parents, and what
    constraints aim at."""
    owners: list[Any] = [ob]
    if getattr(ob.data, "shape_keys", None) is not None:
        owners.append(ob.data.shape_keys)
    for owner in owners:  # it grows while it is gone through
        near = [getattr(owner, "parent", None)]
        near += [getattr(modifier, "object", None) for modifier in getattr(owner, "modifiers", ())]
        holders = [owner, *(owner.pose.bones if getattr(owner, "pose", None) is not None else ())]
        for holder in holders:
            near += [getattr(one, "target", None) for one in getattr(holder, "constraints", ())]
        owners += [other for other in dict.fromkeys(near) if other is not None and other not in owners]
        if len(owners) > _MOST_OWNERS:
            break
    return owners


def _rig(armature: Any, keyed: frozenset[str]) -> Iterator[Any]:
    """Bones at rest, constraints, and the pose of bones that no curve moves."""
    moved = {path.split('"')[1] for path in keyed if path.startswith('pose.bones["')}
    for bone in armature.pose.bones:
        yield bone.name, _rounded(bone.bone.matrix_local), bone.bone.use_deform, bone.bone.length
        if bone.name not in moved:
            yield _rounded(bone.matrix_basis)
        for one in bone.constraints:
            yield one.type, one.mute, getattr(one, "target", None) is not None, getattr(one, "subtarget", "")
            if f'pose.bones["{bone.name}"].constraints["{one.name}"].influence' not in keyed:
                yield round(one.influence, 6)
    yield armature.data.pose_position


def _shape(data: Any) -> Iterator[Any]:
    """The points of what deforms others: a mesh, a lattice, a curve."""
    if hasattr(data, "vertices") and hasattr(data, "polygons"):
        yield compat.mesh_positions(data).tobytes()
    for points in [getattr(data, "points", ()), *(s.points for s in getattr(data, "splines", ()))]:
        yield tuple(_rounded([getattr(point, "co_deform", point.co) for point in points[:_MOST_POINTS]]))
    for spline in getattr(data, "splines", ()):
        yield _rounded([point.co for point in spline.bezier_points[:_MOST_POINTS]])


def _rounded(rows: Any) -> tuple[Any, ...]:
    """As floats that do not flicker in their last digits."""
    return tuple(tuple(round(value, 6) for value in row) for row in rows)


def _weights(
    ob: Any, names: Collection[str], *, most: int = _WEIGHED_VERTICES, unpainted: float = 0.0
) -> bytes:
    """The weights of some groups; of a large mesh those of vertices spread over it, which a stroke hardly misses."""
    columns = {ob.vertex_groups[name].index: i for i, name in enumerate(names) if name in ob.vertex_groups}
    if not columns:  # or attributes, if the mesh itself holds them; nodes count as modifiers
        stored = [attributes.read(ob.data, name) for name in names]
        return b"".join(values.tobytes() for values in stored if values is not None)
    vertices = ob.data.vertices
    looked_at = range(0, len(vertices), max(1, -(-len(vertices) // most)))
    weights = np.full((len(looked_at), len(names)), unpainted, dtype=np.float32)
    for row, index in enumerate(looked_at):
        for element in vertices[index].groups:
            if element.group in columns:
                weights[row, columns[element.group]] = element.weight
    return weights.tobytes()
