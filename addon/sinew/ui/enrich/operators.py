"""The buttons of Properties > Physics > Sinew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

from ... import bake_object
from ...core.errors import BadInput, Error
from ...core.job import Job
from ...core.shot import Sample
from ...scene import playback, sample, setup, stack
from .. import job_operator
from ..job_operator import JobOperator
from . import properties, state

_props: Any = bpy.props  # the stubs say that its functions return nothing


def active_item(context: Any) -> Any | None:
    """The setup of the active object, or None."""
    return properties.find(context.scene, context.object)


def _is_mesh(cls: Any, context: Any) -> bool:
    if context.object is not None and context.object.type == "MESH":
        return True
    cls.poll_message_set("Select a mesh object")
    return False


def _has_setup(cls: Any, context: Any) -> bool:
    if not _is_mesh(cls, context):
        return False
    if setup.find_of(context.object, context.scene) is not None:
        return True
    cls.poll_message_set("This object has no Sinew setup: add one first")
    return False


def _is_idle(cls: Any, context: Any) -> bool:
    if not job_operator.is_running():
        return True
    cls.poll_message_set("A bake is running: wait for it, or cancel it")
    return False


def can_look(cls: Any, context: Any) -> bool:
    """Whether the rest shape of the active object can be looked at."""
    if not _has_setup(cls, context) or not _is_idle(cls, context):
        return False
    if context.object.mode == "EDIT":
        cls.poll_message_set("Leave edit mode first")
        return False
    return True


class SINEW_OT_add(bpy.types.Operator):
    bl_idname = "sinew.add"
    bl_label = "Add Sinew"
    bl_description = "Enrich this mesh: its animation stays, and soft parts move with weight"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not _is_mesh(cls, context):
            return False
        if setup.find_of(context.object, context.scene) is not None:
            cls.poll_message_set("This object has a Sinew setup already")
            return False
        return True

    def execute(self, context: Any) -> Any:
        setup.save_of(context.object, setup.Setup(context.object.name), context.scene)
        properties.refresh()
        return {"FINISHED"}


class SINEW_OT_remove(bpy.types.Operator):
    bl_idname = "sinew.remove"
    bl_label = "Remove Sinew"
    bl_description = "Remove the setup and the modifier that plays its bake: the animation is as it was"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return _has_setup(cls, context) and _is_idle(cls, context)

    def execute(self, context: Any) -> Any:
        playback.detach(context.object)
        setup.remove(context.object.name, context.scene)
        properties.refresh()
        return {"FINISHED"}


class SINEW_OT_bake(JobOperator, bpy.types.Operator):
    bl_idname = "sinew.bake"
    bl_label = "Bake"
    bl_description = "Simulate the frame range and play the result. An interrupted bake is continued"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not _has_setup(cls, context) or not _is_idle(cls, context):
            return False
        if not bpy.data.filepath:
            cls.poll_message_set("Save the file first: the bake lies in a folder beside it")
            return False
        if context.object.mode == "EDIT":
            cls.poll_message_set("Leave edit mode first")
            return False
        return True

    def prepare(self, context: Any) -> job_operator.Work:
        where = state.target()
        if where is None:
            raise BadInput("Save the file first: the bake lies in a folder beside it.")
        return BakeWork(context.object.name, where)


class BakeWork:
    """The bake of one object."""

    title = "Bake Sinew"

    def __init__(self, name: str, where: bake_object.Target) -> None:
        self.object_name = name
        self.sampled = 0
        self._bake = bake_object.ObjectBake(name, {}, where)
        self.total = self._bake.shot.samples
        self.job: Job | None = None
        self._open = True
        self._samples: Iterator[Sample] = self._bake.samples()
        try:
            self.job = Job(
                self._bake.shot, where.root, Path(bpy.app.tempdir), self._bake.previous, self._bake.clock
            )
        except BaseException:
            self.abandon()
            self.discard()
            raise

    def step(self) -> bool:
        assert self.job is not None
        if self.job.ended and self.job.error is not None:
            self.abandon()
            raise self.job.error
        taken = next(self._samples, None)
        if taken is not None:
            self.job.put(taken)
            self.sampled += 1
            return True
        self._leave(None)
        self.job.end_of_samples()
        return False

    def abandon(self) -> None:
        self._leave(KeyboardInterrupt)

    def _leave(self, reason: Any) -> None:
        if self._open:
            self._open = False
            self._bake.__exit__(reason)

    def is_welcome(self) -> str:
        if setup.find_object(self.object_name, self._bake.scene_name) is None:
            return f'"{self.object_name}" was deleted or renamed, so its bake was stopped.'
        return ""

    def finish(self, outcome: Any) -> str:
        scene = bpy.data.scenes.get(self._bake.scene_name)
        ob = setup.find_object(self.object_name, self._bake.scene_name)
        if setup.find_of(ob, scene) is None:
            raise BadInput(f'The setup of "{self.object_name}" was removed during the bake: add it and bake again.')
        self._bake.attach(outcome)
        properties.refresh()
        state.forget()
        if outcome.unchanged:
            return "Nothing has changed since the last bake"
        return f"Baked {self.total} samples in {outcome.report['seconds']['total']:.0f} s"

    def discard(self) -> None:
        self._bake.discard()


class SINEW_OT_cancel(bpy.types.Operator):
    bl_idname = "sinew.cancel"
    bl_label = "Cancel"
    bl_description = "Stop the bake. Finished frames stay on the disk, and Bake continues from there"

    @classmethod
    def poll(cls, context: Any) -> bool:
        if job_operator.is_running():
            return True
        cls.poll_message_set("No bake is running")
        return False

    def execute(self, context: Any) -> Any:
        job_operator.request_stop()
        return {"FINISHED"}


class SINEW_OT_delete_bake(bpy.types.Operator):
    bl_idname = "sinew.delete_bake"
    bl_label = "Delete Bake"
    bl_description = "Remove the modifier that plays the bake, and nothing else: the input plays again"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not _has_setup(cls, context) or not _is_idle(cls, context):
            return False
        entry = setup.find_of(context.object, context.scene)
        if stack.own_modifier(context.object) is None and not (entry and entry.bake):
            cls.poll_message_set("There is no bake")
            return False
        return True

    def execute(self, context: Any) -> Any:
        entry = setup.find_of(context.object, context.scene)
        playback.detach(context.object)
        if entry is not None:
            entry.bake, entry.fingerprint = "", {}
            setup.save_of(context.object, entry, context.scene)
        return {"FINISHED"}


class SINEW_OT_show(bpy.types.Operator):
    bl_idname = "sinew.show"
    bl_label = "Show"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def description(cls, context: Any, values: Any) -> str:
        return "Play the bake" if values.result else "Play the animation as it is without Sinew"

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not _is_mesh(cls, context):
            return False
        if stack.own_modifier(context.object) is None:
            cls.poll_message_set("There is no bake to show")
            return False
        return True

    def execute(self: Any, context: Any) -> Any:
        modifier: Any = stack.own_modifier(context.object)
        modifier.show_viewport = modifier.show_render = self.result
        return {"FINISHED"}


class SINEW_OT_make_follow_group(bpy.types.Operator):
    bl_idname = "sinew.make_follow_group"
    bl_label = "Make One"
    bl_description = (
        "Make a vertex group from the bones and the thickness of the mesh, to paint on: "
        "1 follows the animation exactly, 0 is free"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return can_look(cls, context)

    def execute(self: Any, context: Any) -> Any:
        properties.refresh()
        item: Any = active_item(context)
        try:
            name = bake_object.make_follow_group(context.object.name, properties.values_of(item))
        except Error as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        item.follow_group = name
        return {"FINISHED"}


class SINEW_OT_paint_follow_group(bpy.types.Operator):
    bl_idname = "sinew.paint_follow_group"
    bl_label = "Paint"
    bl_description = "Paint the follow group: red follows the animation exactly, blue is free"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not _has_setup(cls, context):
            return False
        item = active_item(context)
        if item is None or not bake_object.follow_group(context.object, properties.settings_of(item)):
            cls.poll_message_set("There is no follow group yet: make one")
            return False
        return True

    def execute(self, context: Any) -> Any:
        item, ob = active_item(context), context.object
        group = ob.vertex_groups.get(bake_object.follow_group(ob, properties.settings_of(item)))
        if group is None:
            return {"CANCELLED"}
        ob.vertex_groups.active_index = group.index
        if ob.mode != "WEIGHT_PAINT":
            bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        return {"FINISHED"}


class SINEW_OT_animate_amount(bpy.types.Operator):
    bl_idname = "sinew.animate_amount"
    bl_label = "Animate Amount"
    bl_description = "Give the object an Amount that can be keyframed or driven. It multiplies the one of the setup"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not _has_setup(cls, context):
            return False
        if context.object.library is not None:
            cls.poll_message_set("The object is linked: make a library override first")
            return False
        return True

    def execute(self, context: Any) -> Any:
        context.object[sample.AMOUNT] = 1.0
        limits = context.object.id_properties_ui(sample.AMOUNT)
        told = "How much of the simulated motion is used"
        limits.update(min=0.0, max=2.0, soft_max=1.0, default=1.0, description=told)
        return {"FINISHED"}


CLASSES = (
    SINEW_OT_animate_amount,
    SINEW_OT_add,
    SINEW_OT_remove,
    SINEW_OT_bake,
    SINEW_OT_cancel,
    SINEW_OT_delete_bake,
    SINEW_OT_show,
    SINEW_OT_make_follow_group,
    SINEW_OT_paint_follow_group,
)


def register() -> None:
    SINEW_OT_show.__annotations__ = {
        "result": _props.BoolProperty(name="Result", description="Show the bake instead of its input", default=True)
    }
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
