"""After the Bake: a finished bake shown otherwise, drawn back to the animation or with another amount or limit, and
nothing simulated."""

from __future__ import annotations

from typing import Any

import bpy

from ...setups.flesh.body import make_after_group
from ..classes import asking, registering, telling, unless
from ..job_operator import JobOperator
from ..setup import operators, properties, state
from ..setup.remake import RemakeWork
from ..work import Work


class SINEW_OT_apply_after(JobOperator, bpy.types.Operator):
    bl_idname = "sinew.apply_after"
    bl_label = "Apply"
    bl_description = (
        "Show Back to Animation, Amount and Max Offset on all frames of the finished bake. Nothing is simulated, and "
        "no frame of the scene is looked at. It does not see what flesh touches"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(
        operators.has_idle_setup, unless(lambda context: state.why_not_remake(context.object, context.scene))
    )

    def prepare(self, context: Any) -> Work:
        return RemakeWork(context.object.name, state.target())


class SINEW_OT_make_after_group(bpy.types.Operator):
    bl_idname = "sinew.make_after_group"
    bl_label = "Make Vertex Group"
    bl_description = "Make a vertex group, to paint where the bake is drawn back: 1 takes the animation, 0 the bake"
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.can_look)

    @telling
    def execute(self: Any, context: Any) -> Any:
        properties.refresh()
        item: Any = operators.active_item(context)
        item.follow_after_group = make_after_group(context.object.name)
        return {"FINISHED"}


class SINEW_OT_paint_after_group(operators.Painting, bpy.types.Operator):
    bl_idname = "sinew.paint_after_group"
    bl_description = "Paint where the bake is drawn back: red takes the animation, blue keeps the bake"

    @staticmethod
    def group(item: Any) -> str:
        return str(item.follow_after_group)


CLASSES = (SINEW_OT_apply_after, SINEW_OT_make_after_group, SINEW_OT_paint_after_group)
register, unregister = registering(CLASSES)
