"""Properties > Physics > Sinew > Edit Motion, and the same beside the 3D view."""

from __future__ import annotations

from typing import Any

import bpy

from ..classes import registering
from ..setup import operators, properties
from ..setup.parts import OfSetup, draw_named, draw_text, refresh_soon
from . import overlay, rows, stored


class SINEW_UL_handles(bpy.types.UIList):
    def draw_item(
        self: Any, context: Any, layout: Any, data: Any, row: Any, icon: Any, active: Any, name: Any, *_: Any
    ) -> None:
        handle = rows.handle_of(row)
        if handle is None:
            return
        line = layout.row(align=True)
        line.active = handle.acts
        line.prop(row, "label", text="", icon="EMPTY_AXIS", emboss=False)
        line.prop(row, "frame", text="", emboss=False)
        line.prop(row, "influence", text="", emboss=False, slider=True)
        line.prop(row, "mute", text="", icon="HIDE_ON" if row.mute else "HIDE_OFF", emboss=False)


class SINEW_PT_edit(OfSetup, bpy.types.Panel):
    bl_label = "Edit Motion"
    bl_order = 2

    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) and stored.can_be_edited(operators.active_item(context))

    def draw(self: Any, context: Any) -> None:
        layout, item = self.columns(context)
        if not rows.is_fresh(item):
            refresh_soon()
        layout.operator("sinew.edit_motion", icon="RESTRICT_SELECT_OFF")
        row = layout.row()
        row.template_list("SINEW_UL_handles", "", item, "handles", item, "handles_index", rows=3)
        buttons = row.column(align=True)
        buttons.operator("sinew.add_handle", text="", icon="VERTEXSEL")
        buttons.operator("sinew.remove_handle", text="", icon="REMOVE")
        buttons.operator("sinew.go_to_handle", text="", icon="TIME")
        buttons.operator("sinew.target_handle", text="", icon="OBJECT_DATA")
        self._draw_chosen(layout, item)
        self._draw_told(context, layout, item)
        layout.prop(item, "edit_wiggle", slider=True)
        layout.prop(item, "edit_spread")
        ends = layout.row(align=True, heading="Range")
        ends.prop(item, "edit_use_range", text="")
        inner = ends.row(align=True)
        inner.active = item.edit_use_range
        inner.prop(item, "edit_begin", text="")
        inner.prop(item, "edit_end", text="")
        draw_named(layout, item, "edit_group", context.object, "Region")
        layout.prop(item, "edit_contacts")
        if item.edit_contacts != "off":
            floor = layout.row(align=True, heading="Floor")
            floor.prop(item, "edit_use_floor", text="")
            inner = floor.row(align=True)
            inner.active = item.edit_use_floor
            inner.prop(item, "edit_floor", text="")
            if not getattr(properties.settings_of(item), "collide", True):
                told = "To meet other objects, turn Collide on and bake"
                draw_text(layout, told, "INFO", context.region.width)
        layout.prop(item, "edit_free")
        if item.edit_free or item.edit_contacts != "off":
            layout.prop(item, "edit_hold")
        layout.prop(context.window_manager, "sinew_ghost")
        buttons = layout.row(align=True)
        buttons.operator("sinew.apply_edits", icon="CHECKMARK")
        buttons.operator("sinew.bake_in_edits")
        buttons.operator("sinew.clear_edits")

    def _draw_chosen(self: Any, layout: Any, item: Any) -> None:
        if 0 <= item.handles_index < len(item.handles):
            row = item.handles[item.handles_index]
            column = layout.column(align=True)
            column.prop(row, "axes")
            column.prop(row, "by")
            column.prop(row, "radius")
            column.prop(row, "until")

    def _draw_told(self: Any, context: Any, layout: Any, item: Any) -> None:
        """What does not act, or does not land."""
        edited = stored.opened(item)
        if edited is None:
            return
        told = [*edited.left_out]
        if max(edited.landed.missed, default=0.0) > 1e-3 * edited.size:
            told.append(overlay.missed_text(edited))
        for sentence in told:
            draw_text(layout, sentence, "ERROR", context.region.width)
        if any("free it" in sentence for sentence in told):
            layout.prop(item, "edit_free", text="Free It", toggle=True)


CLASSES = (SINEW_UL_handles, SINEW_PT_edit)
_register, _unregister = registering(CLASSES)


def _get_ghost(manager: Any) -> bool:
    ob = bpy.context.object
    return ob is not None and ob.name in overlay.ghosts


def _set_ghost(manager: Any, value: bool) -> None:
    ob = bpy.context.object
    if ob is not None:
        (overlay.ghosts.add if value else overlay.ghosts.discard)(ob.name)
        overlay.redraw()


def register() -> None:
    props: Any = bpy.props
    bpy.types.WindowManager.sinew_ghost = props.BoolProperty(
        name="Ghost",
        description="Show the motion without the edits beside it, while the tool is in the hand",
        options=set(),
        get=_get_ghost,
        set=_set_ghost,
    )
    _register()


def unregister() -> None:
    _unregister()
    del bpy.types.WindowManager.sinew_ghost
