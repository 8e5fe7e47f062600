"""Properties > Physics > Sinew: the panels of flesh."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from ...core.paint.regions import GROUPS
from ...setups.flesh.body import follow_group
from ...setups.flesh.outer import FOLLOW
from ..classes import registering
from ..flesh.parts import AfterTheBake, draw_swing
from ..setup import methods, properties, state
from ..setup.operators import active_item
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
from . import cage, forecast, trial, view, weights


class OfFlesh(OfSetup):
    method = "enrich"


def draw_controls(column: Any, item: Any, ob: Any) -> None:
    """The first settings."""
    draw_swing(column, item, ob)
    column.prop(item, "keep_pose", slider=True)
    draw_setting(column, item, "resolution")
    draw_notes(column, forecast.lines_of(item))


class SINEW_PT_follow(OfFlesh, bpy.types.Panel):
    bl_label = "Follow"
    bl_order = 1
    bl_options: Any = set()

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        ob = context.object
        draw_named(layout, item, "follow_group", ob, "Vertex Group")
        if not item.follow_group:
            used = follow_group(ob, properties.settings_of(item))
            draw_notes(layout, [f"Uses {used}" if used else "Automatic"])
        buttons = layout.row(align=True)
        buttons.operator("sinew.make_follow_group", text="Make Group", icon="GROUP_VERTEX")
        buttons.operator("sinew.paint_follow_group", icon="WPAINT_HLT")
        layout.prop(item, "balance", slider=True)
        row = layout.row(heading="Spread")
        row.prop(item, "spread", text="")
        row.operator("sinew.preview_spread", icon="MOD_SMOOTH")
        row = layout.row(heading="Animated")
        row.prop(item, "follow_animated", text="")
        if item.follow_animated and FOLLOW in ob:
            row.prop(ob, f'["{FOLLOW}"]', text="", slider=True)
        else:
            row.operator("sinew.animate_follow", text="Key", icon="DECORATE_KEYFRAME")
        layout.prop(item, "transition")
        column = layout.column(heading="Show")
        column.prop(item, "show_weights", text="Weights")
        error = weights.error_of(item)
        if item.show_weights and error:
            draw_text(layout, error, "ERROR", context.region.width)
        elif item.show_weights and not weights.is_ready(item):
            draw_notes(layout, ["Finding the weights..."])


class SINEW_PT_after(AfterTheBake, OfFlesh, bpy.types.Panel):
    pass


class SINEW_PT_cage(OfFlesh, bpy.types.Panel):
    bl_label = "Cage"
    bl_order = 3

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        buttons = layout.row(align=True)
        buttons.operator("sinew.build_cage", icon="MESH_ICOSPHERE")
        buttons.operator("sinew.trial_fit", icon="VIEWZOOM")
        built = cage.find(item)
        has_bake = state.bake_of(item) is not None
        inside = layout.row(align=True)
        inside.alert = bool(item.cage_object) and item.cage_object not in bpy.data.objects
        inside.prop_search(item, "cage_object", bpy.data, "objects", text="Cage Object")
        inside.operator("sinew.make_cage_object", text="", icon="ADD")
        # While it bakes, the frames that are done can be looked at.
        shown = self.layout.column(heading="Show")
        shown.active = built is not None or has_bake
        shown.prop(item, "show_cage", text="Cage")
        details = shown.column()
        details.active = item.show_cage
        details.prop(item, "show_inside")
        shapes = details.row(align=True)
        shapes.use_property_split = False
        shapes.prop(item, "cage_shape", expand=True)
        tried = trial.find(item)
        is_tried = tried is not None and item.cage_shape == view.FITTED
        if item.show_cage and not has_bake and item.cage_shape != view.REST and not is_tried:
            draw_text(layout, "Fitted and Simulated need a bake", "INFO", context.region.width)
        if built is not None:
            lines = layout.column(align=True)
            for line in [*cage.describe(built), *(tried.told() if tried is not None else [])]:
                draw_text(lines, line, "BLANK1", context.region.width)


class SINEW_PT_advanced(OfFlesh, bpy.types.Panel):
    bl_label = "Advanced"
    bl_order = 5

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        draw_setting(layout, item, "maximum_offset")
        if item.collide and item.maximum_offset > 0.0:
            draw_notes(layout, ["Does not see what flesh touches"])
        draw_setting(layout, item, "smoothing")
        layout.prop(item, "mesher")
        layout.prop(item, "interpolation")
        column = layout.column(heading="Cage")
        separate = column.column()
        separate.active = item.mesher != "gmsh"
        separate.prop(item, "separate_parts")
        if item.separate_parts and not separate.active:
            draw_notes(column, ["Not with Gmsh"])
        column.prop(item, "detail")
        column.prop(item, "simulate")
        groups = layout.column()
        for name in ("track_group", "rigid_group"):
            draw_named(groups, item, name, context.object)
        groups.prop(item, "rigid_shells")
        draw_optional(layout, item, "rest_frame")
        draw_optional(layout, item, "safe_frame")
        draw_named(layout, item, "safe_shape_key", context.object)
        draw_optional(layout, item, "gravity")
        draw_rows(layout, item, "Forces")


class SINEW_PT_regions(OfFlesh, bpy.types.Panel):
    bl_label = "Regions"
    bl_parent_id = "SINEW_PT_follow"

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        layout.prop(item, "bone_core", slider=True)
        for region in GROUPS:
            draw_painted(layout, item, region, context.object)
        averages = layout.column(align=True)
        averages.label(text="Keep from Drifting")
        draw_setting(averages, item, "average_regions", "Regions")
        chosen = averages.column(align=True)
        chosen.active = item.average_regions > 0
        draw_named(chosen, item, "average_group", context.object, "Only in Group")


class SINEW_PT_free_body(OfFlesh, bpy.types.Panel):
    bl_label = "Free Body"
    bl_parent_id = "SINEW_PT_follow"

    def draw_header(self: Any, context: Any) -> None:
        self.layout.prop(active_item(context), "free_body", text="")

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        layout.active = item.free_body
        layout.prop(item, "initial_velocity")
        layout.prop(item, "initial_spin")


class SINEW_PT_material(OfFlesh, bpy.types.Panel):
    bl_label = "Material"
    bl_parent_id = "SINEW_PT_advanced"

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        draw_rows(layout.column(), item, "Material")
        damping = layout.column()
        damping.active = item.young > 0.0
        damping.label(text="Damping")
        damping.prop(item, "damping_mass", text="Mass (1/s)")
        damping.prop(item, "damping_stiffness", text="Stiffness (s)")


class SINEW_PT_solver(OfFlesh, bpy.types.Panel):
    bl_label = "Solver"
    bl_parent_id = "SINEW_PT_advanced"

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        draw_rows(layout.column(), item, "Solver")


CLASSES = (
    SINEW_PT_follow,
    SINEW_PT_regions,
    SINEW_PT_free_body,
    SINEW_PT_after,
    SINEW_PT_cage,
    SINEW_PT_advanced,
    SINEW_PT_material,
    SINEW_PT_solver,
)
_register, _unregister = registering(CLASSES)


def _look(values: Mapping[str, Any]) -> Sequence[str]:
    """A material is told by itself, for it takes the place of the dials."""
    return ("young", "density") if values["young"] > 0.0 else ("jiggle", "settle", "amount", "keep_pose")


def register() -> None:
    icons, preview = {cage.CAGE: "MESH_ICOSPHERE"}, {"preview_resolution": "Resolution"}
    methods.register("enrich", methods.Shown(draw_controls, cage.state_of, icons, preview, _look))
    _register()


def unregister() -> None:
    _unregister()
    methods.unregister("enrich")
