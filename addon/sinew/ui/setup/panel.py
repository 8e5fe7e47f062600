"""Properties > Physics > Sinew: what the panel of every method has."""

from __future__ import annotations

from typing import Any

import bpy

from ... import setups
from ...core.bake.method import known
from ...scene import setup, stack
from ...scene.objects import why_not
from .. import job_operator
from ..classes import registering
from . import methods, offers, operators, presets, state
from .parts import OfSetup, Physics, Told, adopt_soon, draw_box, draw_optional, draw_progress, draw_text, refresh_soon


def is_instance(ob: Any) -> bool:
    """Of a collection: it has no mesh, and the panel says what to do."""
    return ob is not None and ob.instance_type == "COLLECTION" and ob.instance_collection is not None


def draw_other_methods(layout: Any) -> None:
    """Buttons that add a setup of each method but the first, which is what Add Sinew adds."""
    for method in known()[1:]:
        layout.operator("sinew.add", text=f"Add {method.label}", icon="ADD").method = method.name


class SINEW_PT_setup(Physics, bpy.types.Panel):
    bl_label = "Sinew"
    bl_options: Any = set()

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) or is_instance(context.object) or bool(operators.bodies(context))

    def draw(self: Any, context: Any) -> None:
        layout, ob = self.layout, context.object
        if operators.bodies(context):
            offers.draw(layout, context)
            return
        adopt_soon(context)
        if setup.find_of(ob, context.scene) is None:
            self._draw_without_setup(context, layout, ob)
            return
        item = operators.active_item(context)
        if item is None:
            refresh_soon()
            return
        baking = job_operator.is_running(ob.name)
        now = None if baking else methods.state_of(item)
        self._draw_choice(layout, context)
        self._draw_state(context, layout, item, now)
        self._draw_buttons(layout, now)
        self._draw_switch(layout, ob)
        self._draw_controls(layout, item, ob, baking)

    def _draw_without_setup(self, context: Any, layout: Any, ob: Any) -> None:
        body = setups.carried_by(ob, context.scene)
        reason = why_not(ob)
        if body is not None:
            draw_text(layout, f'Moves with "{body.name}", in its bake', "LINKED", context.region.width)
            layout.operator("sinew.select", text=body.name, icon="RESTRICT_SELECT_OFF").name = body.name
        elif reason:
            draw_text(layout, reason, "ERROR", context.region.width)
        elif stack.own_modifier(ob) is not None:
            told = "Plays a bake that was made elsewhere, on the object it is a copy of"
            draw_text(layout, told, "INFO", context.region.width)
        if ob.type == "MESH":
            layout.operator("sinew.add", icon="ADD")
            draw_other_methods(layout.row(align=True))
            layout.operator("sinew.edit_motion", icon="RESTRICT_SELECT_OFF")

    def draw_header_preset(self: Any, context: Any) -> None:
        if setup.find_of(context.object, context.scene) is not None:
            presets.SINEW_PT_presets.draw_panel_header(self.layout)
            self.layout.operator("sinew.remove", text="", icon="X", emboss=False)

    def _draw_buttons(self, layout: Any, now: state.State | None) -> None:
        """Those that stand where others did are of their size: nothing slides while a bake begins or ends."""
        buttons = layout.column(align=True)
        row = buttons.row(align=True)
        row.scale_y = 1.4
        if now is None:
            row.operator("sinew.cancel", icon="CANCEL")
        else:
            row.operator("sinew.bake", icon="PHYSICS", text="Continue Bake" if now.kind == state.UNFINISHED else "Bake")
        row = buttons.row(align=True)
        row.operator("sinew.preview", icon="HIDE_OFF")
        what = "Delete Preview" if now is not None and now.kind == state.PREVIEW else "Delete Bake"
        row.operator("sinew.delete_bake", icon="TRASH", text=what)

    def _draw_state(self, context: Any, layout: Any, item: Any, now: state.State | None) -> None:
        if now is None:
            draw_progress(layout)
            return
        told = [Told(now.text, methods.icon_of(item, now.kind), now.kind in state.ALARMING)]
        reason = why_not(context.object)
        last = job_operator.running
        if reason:
            told.append(Told(reason, "ERROR", True))
        elif last.message and last.object_name == context.object.name and (last.failed or now.kind != state.UNFINISHED):
            told.append(Told(last.message, "ERROR" if last.failed else "INFO", last.failed))
        if not bpy.data.filepath:
            told.append(Told("The file has no name yet: save it", "INFO"))
        draw_box(layout, told, context.region.width)

    def _draw_switch(self, layout: Any, ob: Any) -> None:
        modifier = stack.own_modifier(ob)
        row = layout.row(align=True)
        shown = modifier is not None and modifier.show_viewport
        row.operator("sinew.show", text="Input", depress=modifier is not None and not shown).result = False
        row.operator("sinew.show", text="Result", depress=shown).result = True

    def _draw_choice(self, layout: Any, context: Any) -> None:
        """Which of several setups is shown, and what others there could be; nothing where there is one method."""
        ob = context.object
        entries = setup.all_of(ob, context.scene)
        if len(known()) < 2 and len(entries) < 2:
            return
        shown = setup.find_of(ob, context.scene)
        row = layout.row(align=True)
        for entry in entries:
            chosen = shown is not None and entry.id == shown.id
            row.operator("sinew.choose", text=methods.label(entry.method), depress=chosen).id = entry.id
        for method in known():
            if method.name not in {entry.method for entry in entries}:
                row.operator("sinew.add", text=method.label, icon="ADD").method = method.name

    def _draw_controls(self, layout: Any, item: Any, ob: Any, baking: bool) -> None:
        column = layout.column()
        column.use_property_split = column.use_property_decorate = True
        column.enabled = not baking
        methods.of(item).draw(column, item, ob)


class SINEW_PT_frames(OfSetup, bpy.types.Panel):
    bl_label = "Frames"
    bl_order = 4

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        for name in ("frame_start", "frame_end"):
            draw_optional(layout, item, name)
        layout.prop(item, "loop")
        column = layout.column()
        column.active = not item.loop  # a loop begins where it ends
        column.prop(item, "preroll")
        column.prop(item, "start")
        layout.row().prop(item, "samples", expand=True)
        layout.prop(item, "missing_frames")
        again = layout.operator("sinew.bake", text="Play All Frames Again and Bake", icon="FILE_REFRESH")
        again.resample = True


class SINEW_PT_preview(OfSetup, bpy.types.Panel):
    bl_label = "Preview"
    bl_parent_id = "SINEW_PT_frames"

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        layout.prop(item, "preview_frames", text="Frames")
        for name, text in methods.of(item).preview.items():
            layout.prop(item, name, text=text)


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


CLASSES = (SINEW_PT_setup, SINEW_PT_frames, SINEW_PT_preview, SINEW_PT_report)
register, unregister = registering(CLASSES)
