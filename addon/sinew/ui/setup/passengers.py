"""Properties > Physics > Sinew > Attached Meshes: the list of meshes that the body carries along."""

from __future__ import annotations

from typing import Any

import bpy

from ... import setups
from ...scene import setup
from ..classes import asking, needs, registering
from . import operators, properties
from .parts import OfSetup


def _selected(context: Any) -> list[Any]:
    with_setup = setup.objects(context.scene)
    return [
        ob for ob in context.selected_objects if ob.type == "MESH" and ob != context.object and ob not in with_setup
    ]


def _is_chosen(context: Any) -> bool:
    item = operators.active_item(context)
    return item is not None and 0 <= item.passengers_index < len(item.passengers_list)


class SINEW_UL_passengers(bpy.types.UIList):
    def draw_item(
        self: Any, context: Any, layout: Any, data: Any, row: Any, icon: Any, active: Any, name: Any, *_: Any
    ) -> None:
        line = layout.row(align=True)
        line.prop(row, "use", text="")
        line.label(text=row.object.name if row.object is not None else "(deleted)", icon="MESH_DATA")
        mode = line.row()
        mode.active = row.use
        mode.prop(row, "mode", text="", emboss=False)


class SINEW_OT_find_passengers(bpy.types.Operator):
    bl_idname = "sinew.find_passengers"
    bl_label = "Find Attached Meshes"
    bl_description = "List the meshes that hang on the same armature or are parented to this one"
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.has_idle_setup)

    def execute(self: Any, context: Any) -> Any:
        added = setups.find_passengers(context.object, context.scene)
        properties.refresh()
        self.report({"INFO"}, f"Found {added} more" if added else "Found no others on the same armature")
        return {"FINISHED"}


class SINEW_OT_add_passengers(bpy.types.Operator):
    bl_idname = "sinew.add_passengers"
    bl_label = "Add Selected"
    bl_description = "Let the other selected meshes be carried along"
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(
        operators.has_idle_setup, needs(_selected, "Select the meshes to be carried too, and the body last")
    )

    def execute(self, context: Any) -> Any:
        entry = setup.find_of(context.object, context.scene)
        if entry is None:
            return {"CANCELLED"}
        known = [choice.object for choice in entry.passengers]
        entry.passengers += [setup.PassengerChoice(ob) for ob in _selected(context) if ob not in known]
        setup.save_of(context.object, entry, context.scene)
        properties.refresh()
        return {"FINISHED"}


class SINEW_OT_remove_passenger(bpy.types.Operator):
    bl_idname = "sinew.remove_passenger"
    bl_label = "Remove from List"
    bl_description = (
        "Take the mesh off the list. One that is found automatically comes back: untick it instead"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.has_idle_setup, needs(_is_chosen, "Choose a mesh in the list"))

    def execute(self, context: Any) -> Any:
        item: Any = operators.active_item(context)
        key = item.passengers_list[item.passengers_index].key
        entry = setup.find_of(context.object, context.scene)
        if entry is not None:
            entry.passengers = [choice for choice in entry.passengers if choice.id != key]
            setup.save_of(context.object, entry, context.scene)
        properties.refresh()
        return {"FINISHED"}


class SINEW_PT_passengers(OfSetup, bpy.types.Panel):
    bl_label = "Attached Meshes"
    bl_order = 2

    def draw(self: Any, context: Any) -> None:
        layout, item = self.columns(context)
        layout.prop(item, "passengers", text="Find Automatically")
        row = layout.row()
        row.template_list("SINEW_UL_passengers", "", item, "passengers_list", item, "passengers_index", rows=3)
        buttons = row.column(align=True)
        buttons.operator("sinew.add_passengers", text="", icon="ADD")
        buttons.operator("sinew.remove_passenger", text="", icon="REMOVE")
        buttons.separator()
        buttons.operator("sinew.find_passengers", text="", icon="VIEWZOOM")


CLASSES = (
    SINEW_UL_passengers,
    SINEW_OT_find_passengers,
    SINEW_OT_add_passengers,
    SINEW_OT_remove_passenger,
    SINEW_PT_passengers,
)
register, unregister = registering(CLASSES)
