"""What ties an object to others in the file: how it hangs on its parent, what its constraints and drivers say, and what
of its place no curve moves. Values that are animated are left out: they change with the current frame."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from typing import Any

import bpy

from . import animation, compat

Path = tuple[str, int]  # of a property, and the number of its element
Curves = dict[Any, dict[str, list[Any]]]  # by owner and path: read once for all drivers that look there

_PLACE = {"location": 3, "scale": 3, "delta_location": 3, "delta_scale": 3}
_TURNS = {"QUATERNION": ("rotation_quaternion", 4), "AXIS_ANGLE": ("rotation_axis_angle", 4)}
_LOOKS = frozenset("name show_expanded active enabled is_override_data error_location error_rotation".split())
_PLAIN = ("BOOLEAN", "INT", "FLOAT", "ENUM", "STRING")
_MOVING = ("TRANSFORMS", "ROTATION_DIFF", "LOC_DIFF")  # variables of drivers that look at where something is
_NOT_KEPT = ("matrix", "frame_")  # what Blender itself changes with the frame


def near(owner: Any, modifiers: Collection[Any], left_out: tuple[str, ...]) -> Iterator[Any]:
    """The objects that its modifiers, its constraints and its drivers name; `left_out`: how the paths begin whose
    drivers do not matter."""
    for holder in (*modifiers, *(one for _, one in _constraints(owner))):
        for name in _names(holder.rna_type.identifier)[1]:
            yield getattr(holder, name)
        if getattr(holder, "type", "") == "NODES":
            yield from (value for _, value in compat.node_inputs(holder) if isinstance(value, bpy.types.Object))
        for aim in getattr(holder, "targets", ()):
            yield aim.target
    for _, variable in _variables(owner, left_out):
        if variable.type in _MOVING:
            yield from (aim.id for aim in variable.targets if isinstance(aim.id, bpy.types.Object))


def told(owner: Any, left_out: tuple[str, ...], owners: Collection[Any], curves: Curves) -> Iterator[Any]:
    """All of that as values. Animation of what is among the `owners` is told elsewhere."""
    keyed = {(curve.data_path, curve.array_index) for curve in animation.curves(owner)}
    paths = frozenset(path for path, _ in keyed)
    if isinstance(owner, bpy.types.Object):
        yield owner.parent_type, owner.parent_bone, _plain(owner.matrix_parent_inverse)
        yield from _place(owner, "", keyed, paths)
    for bone in owner.pose.bones if getattr(owner, "pose", None) is not None else ():
        yield from _place(bone, f'pose.bones["{bone.name}"].', keyed, paths)
    for path, one in _constraints(owner):
        yield from _constraint(one, path, paths)
    for expression, variable in _variables(owner, left_out):
        yield expression, variable.name, variable.type
        for aim in variable.targets:
            yield aim.data_path, aim.bone_target, aim.transform_type, aim.transform_space, aim.rotation_mode
            if variable.type == "SINGLE_PROP" and aim.id is not None:
                yield from _driving(aim.id, aim.data_path, aim.id in owners, curves)
    data = getattr(owner, "data", None)
    if isinstance(data, bpy.types.Curve):
        yield from _values(data, "", animation.animated(data))  # as of a path: how far along it one is
    if getattr(data, "animation_data", None) is not None:
        yield from animation.described(data.animation_data)
    if hasattr(owner, "use_relative"):
        yield owner.use_relative, owner.eval_time if "eval_time" not in paths else 0.0
    for key in getattr(owner, "key_blocks", ()):
        if f'key_blocks["{key.name}"].value' not in paths:
            yield key.name, round(key.value, 6)
        yield key.relative_key.name, bool(key.vertex_group)


def _place(holder: Any, path: str, keyed: Collection[Path], paths: Collection[str]) -> Iterator[Any]:
    """The elements of its place that are not animated, where others are."""
    turn, count = _TURNS.get(holder.rotation_mode, ("rotation_euler", 3))
    sizes = {**_PLACE, turn: count}
    if any(path + name in paths for name in sizes):
        for name, size in sizes.items():
            values = getattr(holder, name, None)
            for k in range(size) if values is not None else ():
                if (path + name, k) not in keyed:
                    yield name, k, round(values[k], 6)


def _constraints(owner: Any) -> Iterator[tuple[str, Any]]:
    """Each with its path."""
    for one in getattr(owner, "constraints", ()):
        yield f'constraints["{one.name}"]', one
    for bone in owner.pose.bones if getattr(owner, "pose", None) is not None else ():
        for one in bone.constraints:
            yield f'pose.bones["{bone.name}"].constraints["{one.name}"]', one


def _constraint(one: Any, path: str, paths: Collection[str]) -> Iterator[Any]:
    yield from _values(one, f"{path}.", paths)
    yield from (getattr(one, name) is not None for name in _names(one.rna_type.identifier)[1])
    for k, aim in enumerate(getattr(one, "targets", ())):
        yield aim.target is not None, *_values(aim, f"{path}.targets[{k}].", paths)


def _values(thing: Any, path: str, paths: Collection[str]) -> Iterator[Any]:
    """What of it is not animated."""
    for name in _names(thing.rna_type.identifier)[0]:
        if path + name not in paths:
            yield name, _plain(getattr(thing, name))


def _variables(owner: Any, left_out: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """The variables of its drivers, each with the path that it drives."""
    data = getattr(owner, "animation_data", None)
    for driver in data.drivers if data is not None else ():
        if driver.data_path not in animation.VISIBILITY and not driver.data_path.startswith(left_out):
            yield from ((driver.data_path, variable) for variable in driver.driver.variables)


def _driving(owner: Any, path: str, is_told: bool, curves: Curves) -> Iterator[Any]:
    """The curves of a property that drives another, or its value where nothing moves it."""
    if owner not in curves:
        curves[owner] = animation.curves_by_path(owner)
    of_all = path[: path.rindex("[")] if path.endswith("]") and not path.endswith('"]') else path.rpartition(".")[0]
    acting = [curve for one in dict.fromkeys((path, of_all)) for curve in curves[owner].get(one, ())]
    for curve in () if is_told else acting:
        yield from animation.described_curve(curve)
    if not acting and not any(word in path for word in _NOT_KEPT):
        try:
            yield _plain(owner.path_resolve(path))
        except (ValueError, KeyError, IndexError):  # it is gone: the driver stands still
            yield ""


@functools.lru_cache(maxsize=256)
def _names(kind: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of a kind of thing, as a constraint or a modifier: its plain values, and what of it names objects."""
    plain, objects = [], []
    for prop in getattr(bpy.types, kind).bl_rna.properties:
        if prop.type == "POINTER" and prop.fixed_type.identifier == "Object":
            objects.append(prop.identifier)
        elif prop.type in _PLAIN and not (prop.is_readonly or prop.identifier in _LOOKS):
            plain.append(prop.identifier)
    return tuple(plain), tuple(objects)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    try:
        return tuple(_plain(one) for one in value)
    except TypeError:
        return ""
