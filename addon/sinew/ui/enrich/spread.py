"""Sparse painting: a look at how the follow group is spread, as a vertex group."""

from __future__ import annotations

from typing import Any

import bpy

from ...setups.flesh.body import Body, follow_group, write_spread
from ..classes import asking, needs, registering
from ..job_operator import JobOperator
from ..setup import operators, properties
from ..work import Work
from .look import LookWork


class SpreadWork(LookWork):
    """The follow weights of one object as a bake would spread them."""

    name = "Spreading"
    title = "Show Spread"
    stopped = "Spreading was stopped."

    def __init__(self, item: Any) -> None:
        super().__init__(item, spread=True)
        self._group = follow_group(item.object, properties.settings_of(item))

    def make(self, body: Body, monitor: Any) -> Any:
        return body.follow(monitor)

    def finish(self, outcome: Any) -> str:
        written = write_spread(self.object_name, outcome, self._group)
        return f'The vertex group "{written}" shows what a bake will follow'


def _follow_group(context: Any) -> str:
    item = operators.active_item(context)
    return follow_group(context.object, properties.settings_of(item)) if item is not None else ""


class SINEW_OT_preview_spread(JobOperator, bpy.types.Operator):
    bl_idname = "sinew.preview_spread"
    bl_label = "Show Spread"
    bl_description = (
        'Write the follow weights, as they spread from the painted vertices over the rest, into the vertex group '
        '"Sinew Spread". The painted group stays as it is, and the active one'
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(
        operators.can_look,
        needs(_follow_group, "There is no follow group yet: make one, or paint a few vertices into a new one"),
    )

    def prepare(self, context: Any) -> Work:
        properties.refresh()
        return SpreadWork(operators.active_item(context))


register, unregister = registering((SINEW_OT_preview_spread,))
