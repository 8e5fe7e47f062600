"""The list of keys that change the material: each with its factor, and the vertex group where it acts."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.base.errors import BadInput
from ...core.methods.face.materials import FACTORS, KeyMaterial, parse
from ..classes import asking, registering, telling
from ..setup import operators
from ..setup.parts import draw_text

_props: Any = bpy.props  # the stubs say that its functions return nothing


def draw(layout: Any, item: Any, width: int) -> None:
    column = layout.column(align=True)
    column.label(text="Stiffness by Key")
    try:
        rows = parse(item.key_stiffness)
    except BadInput as error:  # by a script, or an older file
        draw_text(column, str(error), "ERROR", width)
        column.prop(item, "key_stiffness", text="")
        return
    for index, row in enumerate(rows):
        line = column.row(align=True)
        line.alert = row.key not in _keys(item.object)
        text = f"{row.key}  ×{row.factor:g}" + (f"  in {row.group}" if row.group else "")
        chosen = line.operator("sinew.key_stiffness", text=text, icon="SHAPEKEY_DATA")
        chosen.index, chosen.key, chosen.factor, chosen.group = index, row.key, row.factor, row.group
        line.operator("sinew.remove_key_stiffness", text="", icon="X").index = index
    column.operator("sinew.key_stiffness", text="Add Key", icon="ADD").index = -1


def _keys(ob: Any) -> list[str]:
    keys = ob.data.shape_keys
    return [block.name for block in keys.key_blocks[1:]] if keys is not None else []


def _write(item: Any, rows: list[KeyMaterial]) -> None:
    item.key_stiffness = "; ".join(map(str, rows))


class SINEW_OT_key_stiffness(bpy.types.Operator):
    bl_idname = "sinew.key_stiffness"
    bl_label = "Stiffness by Key"
    bl_description = "How many times as stiff flesh is where a shape key is 1"
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.can_look)

    def invoke(self: Any, context: Any, event: Any) -> Any:
        if not self.key:
            active = context.object.active_shape_key
            self.key = active.name if active is not None and active.name in _keys(context.object) else ""
        return context.window_manager.invoke_props_dialog(self)

    def draw(self: Any, context: Any) -> None:
        layout, ob = self.layout, context.object
        layout.use_property_split = True
        if ob.data.shape_keys is not None:
            layout.prop_search(self, "key", ob.data.shape_keys, "key_blocks")
        layout.prop(self, "factor")
        layout.prop_search(self, "group", ob, "vertex_groups")

    @telling
    def execute(self: Any, context: Any) -> Any:
        item = operators.active_item(context)
        rows = list(parse(item.key_stiffness))
        if self.key not in _keys(context.object):
            raise BadInput(f'"{context.object.name}" has no shape key "{self.key}": choose one of its own.')
        row = KeyMaterial(self.key, round(self.factor, 3), self.group)
        parse(str(row))  # a name may not be told so
        if 0 <= self.index < len(rows):
            rows[self.index] = row
        else:
            rows.append(row)
        _write(item, rows)
        return {"FINISHED"}


class SINEW_OT_remove_key_stiffness(bpy.types.Operator):
    bl_idname = "sinew.remove_key_stiffness"
    bl_label = "Remove"
    bl_description = "The key changes the material no longer"
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.can_look)

    def execute(self: Any, context: Any) -> Any:
        item = operators.active_item(context)
        rows = list(parse(item.key_stiffness))
        if not 0 <= self.index < len(rows):
            return {"CANCELLED"}
        del rows[self.index]
        _write(item, rows)
        return {"FINISHED"}


def _index() -> dict[str, Any]:
    told = "Which row of the list; -1 is a new one"
    return {"index": _props.IntProperty(name="Row", description=told, default=-1, options={"HIDDEN", "SKIP_SAVE"})}


SINEW_OT_key_stiffness.__annotations__ = {
    **_index(),
    "key": _props.StringProperty(
        name="Shape Key", description="The key that changes the material", options={"SKIP_SAVE"}
    ),
    "factor": _props.FloatProperty(
        name="Stiffness", description="How many times as stiff where the key is 1", default=3.0,
        min=FACTORS[0], max=FACTORS[1],
    ),  # fmt: skip
    "group": _props.StringProperty(
        name="Vertex Group", description="Where it acts. Empty is where the key moves the skin", options={"SKIP_SAVE"}
    ),
}
SINEW_OT_remove_key_stiffness.__annotations__ = _index()
register, unregister = registering((SINEW_OT_key_stiffness, SINEW_OT_remove_key_stiffness))
