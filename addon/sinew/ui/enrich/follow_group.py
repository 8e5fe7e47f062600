"""The vertex group that says what follows: made from what is automatic, and painted."""

from __future__ import annotations

from typing import Any

import bpy

from ...scene import setup
from ...scene.steps import Steps
from ...setups.flesh.body import Body, follow_group, look_in_steps, write_automatic
from ..classes import asking, registering
from ..job_operator import JobOperator
from ..setup import operators, properties
from ..work import Work
from .look import LookWork


class GroupWork(LookWork):
    """The automatic weights of one object as a vertex group."""

    name = "Finding the weights"
    title = "Make Vertex Group"
    stopped = "Finding the weights was stopped."

    def look(self, values: dict[str, Any]) -> Steps[Body]:
        return look_in_steps(self._name, values, moving=True)

    def make(self, body: Body, monitor: Any) -> Any:
        return body, body.automatic(monitor)

    def finish(self, outcome: Any) -> str:
        written = write_automatic(self.object_name, *outcome)
        found = setup.find_by_id(self.setup_id)
        item = properties.find(found[2], found[1]) if found is not None else None
        if item is not None:
            properties.write(item, "follow_group", written)
        return f'The vertex group "{written}" is there to be painted'


class SINEW_OT_make_follow_group(JobOperator, bpy.types.Operator):
    bl_idname = "sinew.make_follow_group"
    bl_label = "Make Vertex Group"
    bl_description = (
        "Make a vertex group from the bones and the thickness of the mesh, to paint on: 1 follows the animation "
        "exactly, 0 is free. One that was painted stays as it is, and the new one is another"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.can_look)

    def prepare(self, context: Any) -> Work:
        properties.refresh()
        # Whatever is chosen now: a group that is not there must not keep one from being made.
        return GroupWork(operators.active_item(context), follow_group="", spread=False)


class SINEW_OT_paint_follow_group(operators.Painting, bpy.types.Operator):
    bl_idname = "sinew.paint_follow_group"
    bl_description = "Paint the follow group: red follows the animation exactly, blue is free"

    @staticmethod
    def group(item: Any) -> str:
        return follow_group(item.object, properties.settings_of(item))


register, unregister = registering((SINEW_OT_make_follow_group, SINEW_OT_paint_follow_group))
