"""Edit Motion's operators beside the drag: to begin, to change the list of handles, to apply."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ... import setups
from ...core.bake.method import find
from ...core.base.errors import Error
from ...core.edit.handles import Handle
from ...scene import setup, stack
from ...scene.objects import why_not
from ...setups.edit.values import only_edited
from ..classes import asking, registering
from ..job_operator import JobOperator
from ..setup import live, operators, properties, state
from ..setup.remake import RemakeWork
from ..work import Work
from . import rows, stored, tool
from .pull import now_of, unit_of

_MOST_VERTICES = 256  # of a handle


def _is_free_of(cls: Any, reason: str) -> bool:
    """Whether there is no reason against an operator; one is told."""
    if reason:
        cls.poll_message_set(reason)
    return not reason


def _has_handle(cls: Any, context: Any) -> bool:
    item: Any = operators.active_item(context)
    is_chosen = 0 <= item.handles_index < len(stored.edits_of(item).handles)
    return _is_free_of(cls, "" if is_chosen else "There is no handle yet: pull the mesh with the tool Edit Motion")


def _has_target(cls: Any, context: Any) -> bool:
    is_one = len(_other_objects(context)) == 1
    return _is_free_of(cls, "" if is_one else "Select one other object, the target, and this mesh last")


def _is_pulled(cls: Any, context: Any) -> bool:
    return _is_free_of(cls, "" if stored.edits_of(operators.active_item(context)).acting else "No handle pulls")


def _can_remake(cls: Any, context: Any) -> bool:
    return _is_free_of(cls, state.why_not_remake(context.object, context.scene))


def _is_mesh(cls: Any, context: Any) -> bool:
    ob = context.object
    return _is_free_of(cls, "Select a mesh object" if ob is None or ob.type != "MESH" else why_not(ob))


def _other_objects(context: Any) -> list[Any]:
    return [ob for ob in context.selected_objects if ob != context.object]


class _Changing:
    """An operator that changes the handles of the active object's setup, as one step of undo."""

    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> Any:
        item: Any = operators.active_item(context)
        self.change(context, item)
        rows.refresh(item)
        return {"FINISHED"}

    def change(self, context: Any, item: Any) -> None:
        raise NotImplementedError


class SINEW_OT_edit_motion(bpy.types.Operator):
    bl_idname = "sinew.edit_motion"
    bl_label = "Edit Motion"
    bl_description = (
        "Pull the finished motion with the mouse. A mesh without a bake is fitted first, and its animation stays as it "
        "is"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.is_idle, _is_mesh)

    def execute(self: Any, context: Any) -> Any:
        scene, ob = context.scene, context.object
        if setup.find_of(ob, scene) is None:
            method = find(setups.method_to_edit(ob))
            entry = setups.new_setup(ob, scene, method.name)
            entry.settings = only_edited(method, ob)
            setup.save_of(ob, entry, scene)
            properties.refresh()
        item = operators.active_item(context)
        tool.choose(context)
        if item is not None and state.of(item).kind == state.NOTHING:
            how = "EXEC_DEFAULT" if bpy.app.background else "INVOKE_DEFAULT"
            bpy.ops.sinew.bake(how)
        elif item is not None and stack.own_modifier(ob) is not None and stored.can_be_edited(item):
            live.touch(item)
            reason = state.why_not_remake(context.object, context.scene)
            if reason:
                self.report({"WARNING"}, f"Handles do nothing yet. {reason}")
        return {"FINISHED"}


class SINEW_OT_remove_handle(_Changing, bpy.types.Operator):
    bl_idname = "sinew.remove_handle"
    bl_label = "Remove Handle"
    bl_description = "Take the chosen handle away: it does not pull any more"

    # Asked for no handle: where there is none, its keys must not go on to what deletes objects.
    poll = asking(stored.is_editable)

    def execute(self: Any, context: Any) -> Any:
        if not stored.edits_of(operators.active_item(context)).handles:
            self.report({"INFO"}, "There is no handle")
            return {"CANCELLED"}
        return super().execute(context)

    def change(self, context: Any, item: Any) -> None:
        handles = stored.edits_of(item).handles
        stored.change(item, handles=(*handles[: item.handles_index], *handles[item.handles_index + 1 :]))


class SINEW_OT_add_handle(_Changing, bpy.types.Operator):
    bl_idname = "sinew.add_handle"
    bl_label = "Of Selected Vertices"
    bl_description = (
        "A handle on this frame that pulls the mean of the vertices that are selected in Edit Mode: drag it, or press G"
    )

    poll = asking(stored.is_editable)

    def execute(self: Any, context: Any) -> Any:
        item, ob = operators.active_item(context), context.object
        ob.update_from_editmode()
        chosen = np.zeros(len(ob.data.vertices), bool)
        ob.data.vertices.foreach_get("select", chosen)
        vertices = tuple(np.flatnonzero(chosen).tolist())
        if not 0 < len(vertices) <= _MOST_VERTICES:
            self.report({"ERROR"}, f"{len(vertices)} vertices are selected: select 1 to {_MOST_VERTICES} in Edit Mode")
            return {"CANCELLED"}
        try:
            edited, frame = stored.open_now(item), now_of(context.scene)
            way = np.zeros(3)
            if edited is not None:  # from where other handles have brought them
                way = edited.place(frame, vertices) - edited.place(frame, vertices, edited=False)
        except Error as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        x, y, z = (float(part) for part in way)
        stored.change(item, handles=(*stored.edits_of(item).handles, Handle(vertices, frame, (x, y, z))))
        rows.refresh(item)
        item.handles_index = len(item.handles) - 1
        return {"FINISHED"}


class SINEW_OT_go_to_handle(_Changing, bpy.types.Operator):
    bl_idname = "sinew.go_to_handle"
    bl_label = "Go to Frame"
    bl_description = "Go to the frame of the chosen handle"

    poll = asking(stored.is_editable, _has_handle)

    def change(self, context: Any, item: Any) -> None:
        context.scene.frame_set(round(stored.edits_of(item).handles[item.handles_index].frame))


class SINEW_OT_target_handle(_Changing, bpy.types.Operator):
    bl_idname = "sinew.target_handle"
    bl_label = "To Selected Object"
    bl_description = (
        "Pull the chosen handle to where the other selected object is on its frame, or along its way while it holds"
    )

    poll = asking(stored.is_editable, _has_handle, _has_target)

    def change(self, context: Any, item: Any) -> None:
        scene, unit = context.scene, unit_of(context.scene)
        (target,) = _other_objects(context)
        now, places = scene.frame_current, []
        for frame in stored.edits_of(item).handles[item.handles_index].frames:
            scene.frame_set(int(frame // 1), subframe=frame % 1.0)
            at = target.evaluated_get(context.evaluated_depsgraph_get()).matrix_world.translation
            places.append((at.x * unit, at.y * unit, at.z * unit))
        scene.frame_set(now)
        path = tuple(places) if len(places) > 1 else ()
        stored.change_handle(item, item.handles_index, axes="place", by=places[0], path=path)


class SINEW_OT_clear_edits(_Changing, bpy.types.Operator):
    bl_idname = "sinew.clear_edits"
    bl_label = "Clear"
    bl_description = "Forget all handles, baked in ones too: the bake is as it was, after Apply to the bit"

    poll = asking(stored.is_editable)

    def change(self, context: Any, item: Any) -> None:
        stored.change(item, handles=(), below=())


class SINEW_OT_bake_in_edits(_Changing, bpy.types.Operator):
    bl_idname = "sinew.bake_in_edits"
    bl_label = "Bake In"
    bl_description = "Keep the motion as it is edited and begin with no handles: the next ones pull it further"

    poll = asking(stored.is_editable, _is_pulled)

    def change(self, context: Any, item: Any) -> None:
        stored.write(item, stored.edits_of(item).baked_in())


class SINEW_OT_apply_edits(JobOperator, bpy.types.Operator):
    bl_idname = "sinew.apply_edits"
    bl_label = "Apply"
    bl_description = (
        "Show the edits on all frames of the bake, which then plays, renders and is saved so. Nothing is simulated"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(stored.is_editable, _can_remake)

    def prepare(self, context: Any) -> Work:
        return RemakeWork(context.object.name, state.target())


CLASSES = (
    SINEW_OT_edit_motion,
    SINEW_OT_add_handle,
    SINEW_OT_remove_handle,
    SINEW_OT_go_to_handle,
    SINEW_OT_target_handle,
    SINEW_OT_clear_edits,
    SINEW_OT_bake_in_edits,
    SINEW_OT_apply_edits,
)
register, unregister = registering(CLASSES)
