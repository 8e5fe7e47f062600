"""Properties > Physics > Sinew: the panels of faces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from ...scene import stack
from ...setups.face.finding import bone_group
from ..classes import registering
from ..flesh.parts import AfterTheBake, draw_swing
from ..setup import methods, operators, properties, state
from ..setup.parts import (
    OfSetup,
    draw_named,
    draw_notes,
    draw_optional,
    draw_painted,
    draw_rows,
    draw_setting,
    draw_text,
)
from . import find, overlay, rows


def draw_carrier(layout: Any, item: Any, name: str, ob: Any) -> None:
    """A bone of the armature, or where there is none an object, to choose; either may be typed."""
    armature = next(iter(stack.armatures(ob)), None)
    row, label = layout.row(), properties.label(name)
    if armature is not None and name.endswith("_bone"):
        row.prop_search(item, name, armature.data, "bones", text=label)
    else:
        row.prop_search(item, name, bpy.data, "objects", text=label)


class OfFace(OfSetup):
    method = "face"


def draw_controls(column: Any, item: Any, ob: Any) -> None:
    """The first settings."""
    draw_swing(column, item, ob)
    column.prop(item, "expression_inertia", text="Expr. Inertia", slider=True)
    column.prop(item, "jaw_weight", slider=True)
    column.prop(item, "tighten")


class SINEW_PT_face_found(OfFace, bpy.types.Panel):
    bl_label = "Bone and Flesh"
    bl_order = 1
    bl_options: Any = set()

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        ob = context.object
        lines = layout.column(align=True)
        for line in find.lines_of(item):
            draw_text(lines, line, "BLANK1", context.region.width)
        buttons = layout.row(align=True)
        buttons.operator("sinew.find_face", icon="VIEWZOOM")
        used = bone_group(ob, properties.settings_of(item))
        buttons.operator("sinew.paint_bone", text="Paint Bone" if used else "Make Bone Group", icon="WPAINT_HLT")
        shown = layout.row(heading="Show", align=True)
        shown.use_property_split = False
        shown.prop(item, "show_bone", toggle=True)
        shown.prop(item, "show_stiffness", toggle=True)
        if item.show_bone and overlay.bone_of(item) is None:
            draw_notes(layout, ["Press Find, or bake"])
        draw_named(layout, item, "bone_group", ob)
        if not item.bone_group:
            draw_notes(layout, [f"Uses {used}" if used else "Automatic"])
        draw_carrier(layout, item, "skull_object", ob)
        draw_named(layout, item, "jaw_key", ob)
        draw_carrier(layout, item, "jaw_bone", ob)
        draw_carrier(layout, item, "head_bone", ob)
        draw_named(layout, item, "expression_inertia_group", ob)
        rows.draw(layout, item, context.region.width)


class SINEW_PT_face_after(AfterTheBake, OfFace, bpy.types.Panel):
    def draw(self, context: Any) -> None:
        AfterTheBake.draw(self, context)
        item = operators.active_item(context)
        baked = state.bake_of(item)
        laid = self.layout.row()
        laid.active = baked is not None
        laid.prop(item, "show_edited", toggle=True, icon="HIDE_OFF")
        whole = self.layout.row()
        whole.active = baked is not None and bool(baked[1].report.get("spliced"))
        whole.operator("sinew.bake", text="Bake Whole", icon="FILE_REFRESH").resample = True


class SINEW_PT_face_advanced(OfFace, bpy.types.Panel):
    bl_label = "Advanced"
    bl_order = 5
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        for name in ("resolution", "maximum_offset", "smoothing", "keep_pose"):
            draw_setting(layout, item, name)
        for region in ("stiffness", "damping", "density"):
            draw_painted(layout, item, region, context.object)
        draw_named(layout, item, "safe_shape_key", context.object)
        draw_optional(layout, item, "gravity")
        draw_rows(layout, item, "Forces")
        draw_rows(layout, item, "Material")
        draw_rows(layout, item, "Solver")


CLASSES = (SINEW_PT_face_found, SINEW_PT_face_after, SINEW_PT_face_advanced)
_register, _unregister = registering(CLASSES)


def _look(values: Mapping[str, Any]) -> Sequence[str]:
    return ("young", "density") if values["young"] > 0.0 else ("jiggle", "settle", "expression_inertia")


def register() -> None:
    find.register()
    rows.register()
    overlay.register()
    methods.register("face", methods.Shown(draw_controls, look=_look))
    _register()


def unregister() -> None:
    _unregister()
    methods.unregister("face")
    overlay.unregister()
    rows.unregister()
    find.unregister()
