"""Properties > Physics > Sinew."""

from __future__ import annotations

from typing import Any

import bpy

from ... import setups
from ...core.paint.regions import GROUPS
from ...scene import attributes, compat, setup, stack
from ...scene.objects import why_not
from ...scene.sampler import AMOUNT, FOLLOW
from .. import job_operator
from ..classes import registering
from ..setup import operators, presets, properties, state, view
from . import cage, forecast, trial, weights

ICONS = {
    state.NOTHING: "RADIOBUT_OFF",
    cage.CAGE: "MESH_ICOSPHERE",
    state.BAKED: "CHECKMARK",
    state.STALE: "FILE_REFRESH",
    state.UNFINISHED: "TIME",
    state.PREVIEW: "HIDE_OFF",
    state.LOST: "ERROR",
}


class _Physics:
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    bl_options: Any = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is not None and context.object.type == "MESH"


def _is_instance(ob: Any) -> bool:
    """Of a collection: it has no mesh, and the panel says what to do."""
    return ob is not None and ob.instance_type == "COLLECTION" and ob.instance_collection is not None


class OfSetup(_Physics):
    bl_parent_id = "SINEW_PT_enrich"

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) and operators.active_item(context) is not None

    def columns(self: Any, context: Any) -> tuple[Any, Any]:
        """The layout, and the setup whose values it shows."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.enabled = not job_operator.is_running(context.object.name)
        return layout, operators.active_item(context)


class SINEW_PT_enrich(_Physics, bpy.types.Panel):
    bl_label = "Sinew"
    bl_options: Any = set()

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) or _is_instance(context.object)

    def draw(self: Any, context: Any) -> None:
        layout, ob = self.layout, context.object
        if setup.find_of(ob, context.scene) is None:
            self._draw_without_setup(context, layout, ob)
            return
        item = operators.active_item(context)
        if item is None:
            refresh_soon()
            return
        baking = job_operator.is_running(ob.name)
        now = None if baking else cage.state_of(item)
        self._draw_state(context, layout, now)
        buttons = layout.column(align=True)
        row = buttons.row(align=True)
        row.scale_y = 1.4
        if now is None:
            row.operator("sinew.cancel", icon="CANCEL")
        else:
            row.operator("sinew.bake", icon="PHYSICS", text="Continue Bake" if now.kind == state.UNFINISHED else "Bake")
            row = buttons.row(align=True)
            row.operator("sinew.preview", icon="HIDE_OFF")
            what = "Delete Preview" if now.kind == state.PREVIEW else "Delete Bake"
            row.operator("sinew.delete_bake", icon="TRASH", text=what)
        self._draw_switch(layout, ob)
        self._draw_controls(layout, item, ob, baking)

    def _draw_without_setup(self, context: Any, layout: Any, ob: Any) -> None:
        body = setups.carried_by(ob, context.scene)
        reason = why_not(ob)
        if body is not None:
            draw_text(layout, f'Moves with the flesh of "{body.name}", in its bake', "LINKED", context.region.width)
            layout.operator("sinew.select", text=body.name, icon="RESTRICT_SELECT_OFF").name = body.name
        elif reason:
            draw_text(layout, reason, "ERROR", context.region.width)
        elif stack.own_modifier(ob) is not None:
            told = "Plays a bake that was made elsewhere, on the object it is a copy of"
            draw_text(layout, told, "INFO", context.region.width)
        if ob.type == "MESH":
            layout.operator("sinew.add", icon="ADD")

    def draw_header_preset(self: Any, context: Any) -> None:
        if setup.find_of(context.object, context.scene) is not None:
            presets.SINEW_PT_presets.draw_panel_header(self.layout)
            self.layout.operator("sinew.remove", text="", icon="X", emboss=False)

    def _draw_state(self, context: Any, layout: Any, now: state.State | None) -> None:
        if now is None:
            draw_progress(layout)
            return
        box = layout.box().column(align=True)
        width = context.region.width
        draw_text(box, now.text, ICONS[now.kind], width)
        reason = why_not(context.object)
        last = job_operator.running
        if reason:
            draw_text(box, reason, "ERROR", width)
        elif last.message and last.object_name == context.object.name and (last.failed or now.kind != state.UNFINISHED):
            draw_text(box, last.message, "ERROR" if last.failed else "INFO", width)
        if not bpy.data.filepath:
            told = "The file has no name yet: its bakes lie in a temporary folder and move beside it when you save"
            draw_text(box, told, "INFO", width)

    def _draw_switch(self, layout: Any, ob: Any) -> None:
        modifier = stack.own_modifier(ob)
        row = layout.row(align=True)
        shown = modifier is not None and modifier.show_viewport
        row.operator("sinew.show", text="Input", depress=modifier is not None and not shown).result = False
        row.operator("sinew.show", text="Result", depress=shown).result = True

    def _draw_controls(self, layout: Any, item: Any, ob: Any, baking: bool) -> None:
        column = layout.column()
        column.use_property_split = True
        column.use_property_decorate = False
        column.enabled = not baking
        swing = column.column()
        swing.active = item.young == 0.0  # a material takes their place
        swing.prop(item, "jiggle")
        swing.prop(item, "settle")
        if not swing.active:
            draw_notes(column, ["Given by the material"])
        _draw_amount(column, item, ob)
        column.prop(item, "keep_pose", slider=True)
        column.prop(item, "resolution")
        draw_notes(column, forecast.lines_of(item))


class SINEW_PT_follow(OfSetup, bpy.types.Panel):
    bl_label = "Follow"
    bl_order = 1
    bl_options: Any = set()

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        ob = context.object
        _draw_group(layout, item, "follow_group", ob, "Vertex Group")
        if not item.follow_group:
            used = setups.follow_group(ob, properties.settings_of(item))
            draw_notes(layout, [f"Uses {used}" if used else "Automatic"])
        buttons = layout.row(align=True)
        buttons.operator("sinew.make_follow_group", icon="GROUP_VERTEX")
        buttons.operator("sinew.paint_follow_group", icon="WPAINT_HLT")
        layout.prop(item, "balance", slider=True)
        row = layout.row(heading="Spread")
        row.prop(item, "spread", text="")
        row.operator("sinew.preview_spread", icon="MOD_SMOOTH")
        row = layout.row(heading="Animated")
        row.prop(item, "follow_animated", text="")
        if item.follow_animated and FOLLOW in ob:
            _draw_over_time(row, ob, FOLLOW)
        else:
            row.operator("sinew.animate_follow", text="Over Time", icon="KEY_HLT")
        layout.prop(item, "transition")
        column = layout.column(heading="Show")
        column.prop(item, "show_weights", text="Weights")
        error = weights.error_of(item)
        if item.show_weights and error:
            draw_text(layout, error, "ERROR", context.region.width)
        elif item.show_weights and not weights.is_ready(item):
            draw_notes(layout, ["Finding the weights..."])


class SINEW_PT_after(OfSetup, bpy.types.Panel):
    bl_label = "After the Bake"
    bl_order = 2

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        ob = context.object
        layout.prop(item, "follow_after", slider=True)
        group = layout.row()
        group.active = item.follow_after > 0.0
        _draw_group(group, item, "follow_after_group", ob, "Vertex Group")
        buttons = layout.row(align=True)
        buttons.operator("sinew.make_after_group", icon="GROUP_VERTEX")
        buttons.operator("sinew.paint_after_group", icon="WPAINT_HLT")
        layout.operator("sinew.apply_after", icon="CHECKMARK")


class SINEW_PT_cage(OfSetup, bpy.types.Panel):
    bl_label = "Cage"
    bl_order = 3

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        buttons = layout.row(align=True)
        buttons.operator("sinew.build_cage", icon="MESH_ICOSPHERE")
        buttons.operator("sinew.trial_fit", icon="VIEWZOOM")
        built = cage.find(item)
        has_bake = cage.bake_of(item) is not None
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


class SINEW_PT_frames(OfSetup, bpy.types.Panel):
    bl_label = "Frames"
    bl_order = 4

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        for name in ("frame_start", "frame_end"):
            _draw_optional(layout, item, name)
        layout.prop(item, "loop")
        column = layout.column()
        column.active = not item.loop  # a loop begins where it ends
        column.prop(item, "preroll")
        column.prop(item, "start")
        layout.row().prop(item, "samples", expand=True)
        layout.prop(item, "missing_frames")


class SINEW_PT_preview(OfSetup, bpy.types.Panel):
    bl_label = "Preview"
    bl_parent_id = "SINEW_PT_frames"

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        layout.prop(item, "preview_frames", text="Frames")
        layout.prop(item, "preview_resolution", text="Resolution")


class SINEW_PT_advanced(OfSetup, bpy.types.Panel):
    bl_label = "Advanced"
    bl_order = 5

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        column = layout.column()
        for name in ("maximum_offset", "smoothing"):
            column.prop(item, name)
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
            _draw_group(groups, item, name, context.object)
        groups.prop(item, "rigid_shells")
        _draw_optional(layout, item, "rest_frame")
        _draw_optional(layout, item, "safe_frame")
        _draw_shape_key(layout, item, "safe_shape_key", context.object)
        _draw_optional(layout, item, "gravity")
        layout.prop(item, "fields")


class SINEW_PT_regions(OfSetup, bpy.types.Panel):
    bl_label = "Regions"
    bl_parent_id = "SINEW_PT_follow"

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        layout.prop(item, "bone_core", slider=True)
        for region, group in GROUPS.items():
            column = layout.column(align=True)
            _draw_group(column, item, group, context.object)
            painted = column.row(align=True)
            painted.active = bool(getattr(item, group))
            painted.prop(item, f"{region}_painted")
        averages = layout.column(align=True)
        averages.label(text="Hold on Average")
        averages.prop(item, "average_regions", text="Regions")
        chosen = averages.column(align=True)
        chosen.active = item.average_regions > 0
        _draw_group(chosen, item, "average_group", context.object, "Only in Group")


class SINEW_PT_material(OfSetup, bpy.types.Panel):
    bl_label = "Material"
    bl_parent_id = "SINEW_PT_advanced"

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        column = layout.column()
        for name in ("young", "poisson", "density"):
            column.prop(item, name)
        damping = layout.column()
        damping.active = item.young > 0.0
        damping.label(text="Damping")
        damping.prop(item, "damping_mass", text="Mass")
        damping.prop(item, "damping_stiffness", text="Stiffness")


class SINEW_PT_solver(OfSetup, bpy.types.Panel):
    bl_label = "Solver"
    bl_parent_id = "SINEW_PT_advanced"

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        column = layout.column()
        for name in ("energy", "scheme", "substeps", "newton_rounds"):
            column.prop(item, name)


class SINEW_PT_report(OfSetup, bpy.types.Panel):
    bl_label = "Last Bake"
    bl_order = 6

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) and bool(state.of(operators.active_item(context)).report)

    def draw(self: Any, context: Any) -> None:
        column = self.layout.column(align=True)
        now = state.of(operators.active_item(context))
        for line in now.report:
            draw_text(column, line, "DOT", context.region.width)
        for note in now.notes:
            draw_text(column, note, "INFO", context.region.width)


def draw_progress(layout: Any) -> None:
    compat.draw_progress(layout, *job_operator.progress())


def draw_text(layout: Any, text: str, icon: str, width: int) -> None:
    """A sentence in as many lines as it needs."""
    for index, line in enumerate(state.wrapped(text, width)):
        layout.label(text=line, icon=icon if index == 0 else "BLANK1")


def draw_notes(layout: Any, lines: list[str]) -> None:
    """Grey lines below a property."""
    column = layout.column(align=True)
    column.active = False
    column.scale_y = 0.8
    for line in lines:
        row = column.row()
        row.alignment = "RIGHT"
        row.label(text=line)


def refresh_soon() -> None:
    """Lists setups that a script or the command stored. Drawing must not change anything, so a timer does."""
    if not bpy.app.timers.is_registered(properties.refresh):
        bpy.app.timers.register(properties.refresh, first_interval=0.0)


def _draw_amount(column: Any, item: Any, ob: Any) -> None:
    row = column.row(align=True)
    row.prop(item, "amount", slider=True)
    if AMOUNT in ob:
        _draw_over_time(column, ob, AMOUNT)
    else:
        row.operator("sinew.animate_amount", text="", icon="KEY_HLT")


def _draw_over_time(layout: Any, ob: Any, name: str) -> None:
    row = layout.row()
    row.use_property_decorate = True  # the dot that sets a key
    row.prop(ob, f'["{name}"]', text="Over Time", slider=True)


def _draw_group(layout: Any, item: Any, name: str, ob: Any, text: str = "") -> None:
    """A vertex group or an attribute to choose, red where the object has none of that name."""
    row = layout.row()
    row.alert = bool(getattr(item, name)) and not attributes.has_weights(ob, getattr(item, name))
    row.prop(item, name, text=text or properties.label(name), icon="GROUP_VERTEX")


def _draw_shape_key(layout: Any, item: Any, name: str, ob: Any) -> None:
    """A shape key to choose, red where the object has none of that name."""
    row, keys = layout.row(), ob.data.shape_keys
    row.alert = bool(getattr(item, name)) and (keys is None or getattr(item, name) not in keys.key_blocks)
    if keys is not None:
        row.prop_search(item, name, keys, "key_blocks", text=properties.label(name))
    else:
        row.active = row.alert
        row.prop(item, name)


def _draw_optional(layout: Any, item: Any, name: str) -> None:
    """A value that is the scene's unless its box is ticked."""
    row = layout.row(heading=properties.label(name))
    row.prop(item, f"use_{name}", text="")
    value = row.column() if name == "gravity" else row.row()
    value.enabled = getattr(item, f"use_{name}")
    value.prop(item, name, text="")


CLASSES = (
    SINEW_PT_enrich,
    SINEW_PT_follow,
    SINEW_PT_regions,
    SINEW_PT_after,
    SINEW_PT_cage,
    SINEW_PT_frames,
    SINEW_PT_preview,
    SINEW_PT_advanced,
    SINEW_PT_material,
    SINEW_PT_solver,
    SINEW_PT_report,
)
register, unregister = registering(CLASSES)
