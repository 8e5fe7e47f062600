"""Finds jaw, bone and flesh of a face and tells of it, without a bake; and makes of it a group to paint on."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.base.errors import BadInput
from ...core.methods.face import report
from ...core.methods.face.painted import face_of, make_paint
from ...core.methods.face.settings import Settings
from ...scene.groups import rounded, why_no_group, write_group
from ...scene.objects import find_object
from ...scene.steps import Steps
from ...setups.face.finding import BONE_GROUP, bone_group, find_in_steps, skull_in_steps
from ...setups.reading import sampler_of
from ...setups.target import sentences
from ..classes import asking, registering
from ..setup import operators, properties, state
from ..setup.look import LookOperator, LookWork
from ..work import Work

_found: dict[str, tuple[str, ...]] = {}  # what was found last, in lines, by the id of the setup
_depths: dict[str, Any] = {}  # the depth of flesh that was found with it, (t,)


def lines_of(item: Any) -> tuple[str, ...]:
    """What is known of a face: found just now, or by its last bake."""
    known = _found.get(properties.key_of(item))
    if known is not None:
        return known
    baked = state.bake_of(item)
    told = baked[1].report.get("face") if baked is not None else None
    return report.lines(told) if told else ("Finds jaw, teeth, eyes, bone and flesh by itself",)


def depth_of(item: Any) -> Any:
    """(t,) of flesh, metres, as it was found just now; None: nobody has looked."""
    return _depths.get(properties.key_of(item))


class FindWork(LookWork):
    name = "Looking at the face"
    stopped = "Looking at the face was stopped."

    def look(self, values: dict[str, Any]) -> Steps[Any]:
        with sentences():
            ob, settings = find_object(self._name), Settings().replace(values)
            with sampler_of(ob, settings) as sampler:
                rest = yield from sampler.rest_in_steps()
                found = yield from find_in_steps(sampler, rest, settings)
                group = bone_group(ob, settings)
                bone = (yield from sampler.group_in_steps(group)) if group else None
                skull = yield from skull_in_steps(sampler, rest, found.face, settings)
                return rest, found, bone, skull

    def make(self, body: Any, monitor: Any) -> Any:
        rest, found, bone, skull = body
        triangles = np.ascontiguousarray(rest.triangles, np.int32)
        paint = make_paint(
            rest.positions, triangles, found.face, bone, skull, jaw_key=found.jaw_key, told_by=len(found.keys)
        )
        return rest, face_of(paint), report.lines(report.told(triangles, paint))

    def finish(self, outcome: Any) -> str:
        _found[self.setup_id] = lines = outcome[2]
        _depths[self.setup_id] = np.where(outcome[1].is_free, outcome[1].depth, 0.0)
        return ". ".join(lines)


class PaintWork(FindWork):
    """The same, and a vertex group of what is bone."""

    title = "Paint Bone"

    def finish(self, outcome: Any) -> str:
        super().finish(outcome)
        rest, face, _ = outcome
        ob = find_object(self.object_name)
        if not rest.base_first:
            raise BadInput(f'A modifier of "{ob.name}" makes new vertices first: paint a bone group by hand.')
        reason = why_no_group(ob)
        if reason:
            raise BadInput(reason)
        write_group(ob, BONE_GROUP, rounded(np.where(face.is_free, 0.0, 1.0)))
        return f'The vertex group "{BONE_GROUP}" is there to be painted: red is bone, blue has flesh under it'


class SINEW_OT_find_face(LookOperator, bpy.types.Operator):
    bl_idname = "sinew.find_face"
    bl_label = "Find"
    bl_description = "Find jaw, teeth, eyes, bone and flesh now, and tell of them; a bake does it by itself"
    bl_options = {"REGISTER"}

    poll = asking(operators.can_look)

    def prepare(self, context: Any) -> Work:
        properties.refresh()
        return FindWork(operators.active_item(context))


class SINEW_OT_paint_bone(LookOperator, bpy.types.Operator):
    bl_idname = "sinew.paint_bone"
    bl_label = "Paint Bone"
    bl_description = (
        "Make a vertex group of what is bone, to be painted: where it is 1 the face follows the animation exactly, "
        "where it is 0 there is flesh. One that is there is painted on as it is"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.can_look)

    def execute(self: Any, context: Any) -> Any:
        ob = context.object
        group = bone_group(ob, properties.settings_of(operators.active_item(context)))
        if group in ob.vertex_groups:
            return {"FINISHED"} if operators.paint(ob, group) else {"CANCELLED"}
        return super().execute(context)

    def invoke(self: Any, context: Any, event: Any) -> Any:
        ob = context.object
        if bone_group(ob, properties.settings_of(operators.active_item(context))) in ob.vertex_groups:
            return self.execute(context)
        return super().invoke(context, event)

    def prepare(self, context: Any) -> Work:
        properties.refresh()
        return PaintWork(operators.active_item(context), bone_group="")


register, _unregister = registering((SINEW_OT_find_face, SINEW_OT_paint_bone))


def unregister() -> None:
    _found.clear()
    _depths.clear()
    _unregister()
