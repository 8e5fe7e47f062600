"""What can be begun with from the active object: a mesh, or the meshes of a rig."""

from __future__ import annotations

from typing import Any

from ...scene import setup
from .. import job_operator
from . import methods, operators, properties


def draw(layout: Any, context: Any) -> None:
    """A button for each mesh of the active rig: it adds a setup, or selects the mesh that has one."""
    column = layout.column(align=True)
    column.label(text="Meshes of this rig", icon="ARMATURE_DATA")
    for ob in operators.bodies(context):
        item = properties.find(context.scene, ob)
        if item is not None:
            draw_select(column, context, item)
        elif setup.find_of(ob, context.scene) is None:
            column.operator("sinew.add", text=f"Add Sinew to {ob.name}", icon="ADD").name = ob.name


def draw_select(layout: Any, context: Any, item: Any) -> None:
    """A button that selects the object of a setup, with the sign of its state."""
    ob = item.object
    busy = job_operator.is_running(ob.name)
    icon = "SORTTIME" if busy else methods.icon_of(item, methods.state_of(item).kind)
    layout.operator("sinew.select", text=ob.name, icon=icon, depress=ob == context.object).name = ob.name
