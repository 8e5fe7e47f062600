"""Sparse painting: a look at how the follow group is spread, as a vertex group."""

from __future__ import annotations

from typing import Any

import bpy

from ... import bake_object
from ...core.task import Task
from ...scene import setup
from .. import job_operator
from ..classes import registering
from ..job_operator import JobOperator
from . import operators, properties, view


class SpreadWork:
    """The follow weights of one object as a bake would spread them."""

    title = "Preview Spread"
    stopped = "Spreading was stopped."

    def __init__(self, item: Any) -> None:
        self.sampled, self.total = 0, 1
        self._name = item.object.name
        self._key = view.key_of(item)
        self._looking = bake_object.look_in_steps(self._name, {**properties.values_of(item), "spread": True})
        self.job: Any = None

    @property
    def object_name(self) -> str:
        """What it is called now."""
        found = setup.find_by_id(self._key)
        return found[1].name if found is not None else self._name

    def step(self) -> bool:
        """A part of the look at the rest shape, which is all that the scene is needed for."""
        try:
            next(self._looking)
        except StopIteration as end:
            self.job = Task("Spreading", end.value.follow)
            return False
        return True

    def abandon(self) -> None:
        self._looking.close()

    def arrive(self) -> None: ...

    def discard(self) -> None: ...

    def is_welcome(self) -> str:
        found = setup.find_by_id(self._key)
        return "" if found is not None else f'"{self._name}" or its setup was deleted, so nothing was spread.'

    def finish(self, outcome: Any) -> str:
        return f'The vertex group "{bake_object.write_spread(self.object_name, outcome)}" shows what a bake will follow'


class SINEW_OT_preview_spread(JobOperator, bpy.types.Operator):
    bl_idname = "sinew.preview_spread"
    bl_label = "Preview Spread"
    bl_description = (
        'Write the follow weights, as they spread from the painted vertices over the rest, into the vertex group '
        '"Sinew Spread". The painted group stays as it is'
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not operators.can_look(cls, context):
            return False
        item = operators.active_item(context)
        if item is None or not bake_object.follow_group(context.object, properties.settings_of(item)):
            cls.poll_message_set("There is no follow group yet: make one, or paint a few vertices into a new one")
            return False
        return True

    def prepare(self, context: Any) -> job_operator.Work:
        properties.refresh()
        return SpreadWork(operators.active_item(context))


register, unregister = registering((SINEW_OT_preview_spread,))
