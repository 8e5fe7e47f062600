"""Frames of a mesh as shape keys of a copy of it, for what reads neither our modifier nor its files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from . import stack
from .subject import Subject


def make_object(ob: Any, frames: Sequence[tuple[int, npt.NDArray[np.float32]]]) -> Any:
    """A copy of an object that moves as it does, without what deforms it, with a key for each frame: local positions
    (t, 3) at our place in its stack. What is above that place stays."""
    subject = Subject(ob)
    subject.place = stack.find_place(ob, ())
    with subject.undeformed_copy() as copy:
        bpy.context.view_layer.update()
        evaluated = copy.evaluated_get(bpy.context.evaluated_depsgraph_get())
        mesh = bpy.data.meshes.new_from_object(evaluated)
    made = ob.copy()
    made.name, made.data = f"{ob.name} Baked", mesh
    mesh.name = made.name
    for modifier in [stack.own_modifier(made), *stack.others(made)[: subject.place]]:
        if modifier is not None:
            made.modifiers.remove(modifier)
    if made.parent_type == "ARMATURE":
        made.parent_type = "OBJECT"  # it deforms no more
    for name in filter(lambda name: name.startswith("sinew"), [*made.keys()]):
        del made[name]
    if made.animation_data is not None:
        for curve in [one for one in made.animation_data.drivers if one.data_path.startswith("modifiers")]:
            made.animation_data.drivers.remove(curve)
    for collection in ob.users_collection:
        collection.objects.link(made)
    made.shape_key_add(name="Basis")
    with _linear_keys():
        for number, (frame, positions) in enumerate(frames):
            key = made.shape_key_add(name=f"Frame {frame}")
            key.data.foreach_set("co", np.ascontiguousarray(positions, np.float32).ravel())
            for at in range(max(0, number - 1), min(number + 2, len(frames))):
                key.value = float(at == number)
                key.keyframe_insert("value", frame=frames[at][0])
    return made


@contextlib.contextmanager
def _linear_keys() -> Iterator[None]:
    """Keys set inside are linear. A preference, because F-curves are reached differently in each Blender."""
    edit = bpy.context.preferences.edit
    before = edit.keyframe_new_interpolation_type
    edit.keyframe_new_interpolation_type = "LINEAR"
    try:
        yield
    finally:
        edit.keyframe_new_interpolation_type = before
