"""The force fields of the scene, and what they are on the current frame."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from .objects import unit_of

_NUMBERS = (
    "flow", "size", "rest_length", "harmonic_damping", "linear_drag", "quadratic_drag", "falloff_power",
    "use_min_distance", "distance_min", "use_max_distance", "distance_max", "radial_falloff", "use_radial_min",
    "radial_min", "use_radial_max", "radial_max", "use_gravity_falloff", "use_global_coords",
)  # fmt: skip


def objects(body: Any) -> list[Any]:
    """The objects with a force field, by name; a body's own does not act on it."""
    found = [ob for ob in bpy.context.scene.objects if ob != body and ob.field is not None and ob.field.type != "NONE"]
    return sorted(found, key=lambda ob: str(ob.name))


def kind(ob: Any) -> str:
    """Of the field of an object, as Blender's panel names it."""
    return str(ob.field.bl_rna.properties["type"].enum_items[ob.field.type].name)


def read(ob: Any) -> dict[str, Any]:
    """What the field of an object is now: its place and axis in Blender's units, its kind by name, its numbers."""
    scene = bpy.context.scene
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    field, matrix = evaluated.field, evaluated.matrix_world
    strength = field.strength
    if field.noise > 0.0:
        # As with Blender's particles another number on every frame, but the same whenever the frame is sampled.
        moment = round(100.0 * scene.frame_current_final) & 0x7FFFFFFF
        strength += field.noise * np.random.default_rng([abs(field.seed), moment]).uniform(-1.0, 1.0)
    return {
        "type": field.type,
        "shape": field.shape,
        "falloff_type": field.falloff_type,
        "z_direction": field.z_direction,
        "unit": unit_of(scene),
        "place": tuple(matrix.translation),
        "axis": tuple(matrix.col[2].to_3d().normalized()),
        "strength": strength,
        **{name: float(getattr(field, name)) for name in _NUMBERS},
    }
