"""Edit Motion's operators: to pull, to take away, to apply."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from ... import setups
from ...core.bake.method import find
from ...core.base.errors import Error
from ...core.edit.handles import Edits, Handle
from ...scene import setup, stack
from ...scene.objects import why_not
from ..classes import asking
from ..job_operator import JobOperator
from ..setup import live, operators, properties, state
from ..setup.remake import RemakeWork
from ..work import Work
from . import overlay, rows, stored, tool

_props: Any = bpy.props  # the stubs say that its functions return nothing

_NEAR = 14.0  # pixels: nearer than this a click takes a handle that is there
_WHEEL = 1.15  # by which a notch of the wheel changes the radius
_FINE = 0.1  # of the mouse's way, with Shift
_AXES = {"X": 0, "Y": 1, "Z": 2}


def _unit(scene: Any) -> float:
    """Metres in a unit of the scene."""
    return float(scene.unit_settings.scale_length) or 1.0


def _now(scene: Any) -> float:
    return float(scene.frame_current + scene.frame_subframe)


def _can_edit(cls: Any, context: Any) -> bool:
    if not operators.has_idle_setup(cls, context):
        return False
    item = operators.active_item(context)
    if item is None or not stored.can_be_edited(item):
        cls.poll_message_set("The motion of this setup cannot be edited yet")
        return False
    return True


def _has_handle(cls: Any, context: Any) -> bool:
    if not _can_edit(cls, context):
        return False
    item: Any = operators.active_item(context)
    if not 0 <= item.handles_index < len(stored.edits_of(item).handles):
        cls.poll_message_set("There is no handle yet: pull the mesh with the tool Edit Motion")
        return False
    return True


class SINEW_OT_pull(bpy.types.Operator):
    bl_idname = "sinew.pull"
    bl_label = "Pull Motion"
    bl_description = (
        "Drag a point of the mesh: it lands under the mouse, and the motion before and after follows. Wheel: "
        "radius, X Y Z: axis, Shift: fine, Esc: back"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(_can_edit)

    def execute(self: Any, context: Any) -> Any:
        """A handle as the properties say: that of a number, or a new one."""
        item: Any = operators.active_item(context)
        before = stored.edits_of(item)
        try:
            x, y, z = (float(part) for part in self.offset)
            handle = Handle((self.vertex,), float(self.frame), (x, y, z), radius=self.radius)
            handles = list(before.handles)
            if 0 <= self.number < len(handles):
                handles[self.number] = handle
            else:
                handles.append(handle)
            edits = Edits(**{**before.__dict__, "handles": tuple(handles), "mesh": _mesh_of(context) or before.mesh})
        except Error as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        stored.write(item, edits)
        rows.refresh(item)
        item.handles_index = self.number if 0 <= self.number < len(handles) else len(handles) - 1
        return {"FINISHED"}

    def invoke(self: Any, context: Any, event: Any) -> Any:
        item = operators.active_item(context)
        if item is None or context.region_data is None:
            return {"PASS_THROUGH"}
        reason = state.why_not_remake(context.object, context.scene)
        if reason:
            self.report({"ERROR"}, reason)
            return {"CANCELLED"}
        try:
            edited = stored.open_now(item)
            radius = 0.0 if edited is None else edited.radius
        except Error as error:  # nothing of it can be moved
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        if edited is None:
            self.report({"ERROR"}, live.session.error or "The bake cannot be read: bake again")
            return {"CANCELLED"}
        scene, mouse = context.scene, Vector((event.mouse_region_x, event.mouse_region_y))
        self._item_name, self._before = context.object.name, stored.edits_of(item)
        self.number = -1 if not self.grab else item.handles_index
        if not self.grab:
            self.number = _handle_under(context, item, edited, mouse)
        if self.number >= 0:
            chosen = self._before.handles[self.number]
            if self.grab and chosen.frame != _now(scene):
                scene.frame_set(round(chosen.frame))
            self.vertex, self.frame, self.radius = chosen.vertices[0], chosen.frame, chosen.radius
            self.offset = chosen.by
            item.handles_index = self.number
        else:
            vertex = _vertex_under(context, mouse)
            if vertex is None:
                return {"PASS_THROUGH"}
            self.vertex, self.frame, self.radius = vertex, _now(scene), 0.0
            # From where other handles have brought it.
            self.offset = tuple(
                edited.place(self.frame, (vertex,)) - edited.place(self.frame, (vertex,), edited=False)
            )
        place = edited.place(self.frame, (self.vertex,))
        self._start_offset = np.array(self.offset)
        self._depth = Vector(place / _unit(scene))
        self._grabbed = self._location(context, mouse)
        self._mouse, self._way, self._axis, self._moved = mouse, Vector((0.0, 0.0)), -1, False
        self._radius = self.radius or radius
        self._show_status(context)
        context.window_manager.modal_handler_add(self)
        edited.goes_on = True
        return {"RUNNING_MODAL"}

    def modal(self: Any, context: Any, event: Any) -> Any:
        item = operators.active_item(context)
        if item is None or context.object.name != self._item_name:
            return self._end(context, {"CANCELLED"})
        if event.type in ("ESC", "RIGHTMOUSE") and event.value == "PRESS":
            return self._back(context, item)
        if event.type == "LEFTMOUSE" and event.value == ("PRESS" if self.grab else "RELEASE"):
            if not self._moved:
                return self._back(context, item)
            return self._release(context, item)
        if event.type in ("RET", "NUMPAD_ENTER") and event.value == "PRESS" and self._moved:
            return self._release(context, item)
        if event.type == "MOUSEMOVE":
            mouse = Vector((event.mouse_region_x, event.mouse_region_y))
            self._way += (mouse - self._mouse) * (_FINE if event.shift else 1.0)
            self._mouse = mouse
            self._moved = True
        elif event.type in ("WHEELUPMOUSE", "WHEELDOWNMOUSE"):
            self._radius *= _WHEEL if event.type == "WHEELUPMOUSE" else 1.0 / _WHEEL
            self.radius = self._radius
            self._moved = True
        elif event.type in _AXES and event.value == "PRESS":
            self._axis = -1 if self._axis == _AXES[event.type] else _AXES[event.type]
        else:
            return {"RUNNING_MODAL"}
        self._drag(context, item)
        return {"RUNNING_MODAL"}

    def _drag(self: Any, context: Any, item: Any) -> None:
        """To where the mouse is."""
        if not self._moved:
            return
        origin = view3d_utils.location_3d_to_region_2d(context.region, context.region_data, self._grabbed)
        way = self._location(context, origin + self._way) - self._grabbed
        offset = np.array(way) * _unit(context.scene)
        if self._axis >= 0:
            offset = np.where(np.arange(3) == self._axis, offset, 0.0)
        self.offset = tuple(self._start_offset + offset)
        self.execute(context)
        if self.number < 0:
            self.number = len(stored.edits_of(item).handles) - 1
        live.show()
        self._show_status(context)

    def _release(self: Any, context: Any, item: Any) -> Any:
        edited = stored.opened(item)
        if edited is not None:
            edited.settle()
            live.show_again()
            told = [sentence for sentence in edited.left_out if f"Vertex {self.vertex} " in sentence]
            if told:
                self.report({"WARNING"}, told[0])
            elif edited.landed.missed and max(edited.landed.missed) > 1e-3 * edited.size:
                self.report({"WARNING"}, overlay.missed_text(edited))
        rows.refresh(item)
        return self._end(context, {"FINISHED"})

    def _back(self: Any, context: Any, item: Any) -> Any:
        edited = stored.opened(item)
        if edited is not None:
            edited.settle()
        stored.write(item, self._before)
        rows.refresh(item)
        live.show()
        return self._end(context, {"CANCELLED"})

    def _end(self: Any, context: Any, result: Any) -> Any:
        context.workspace.status_text_set(None)
        overlay.redraw()
        return result

    def _show_status(self: Any, context: Any) -> None:
        x, y, z = self.offset
        axis = f" along {'XYZ'[self._axis]}" if self._axis >= 0 else ""
        told = f"Pull {x:.3f} {y:.3f} {z:.3f} m{axis}, radius {self._radius:.3f} m"
        keys = "wheel: radius, X Y Z: axis, Shift: fine, Esc: back"
        context.workspace.status_text_set(f"{told}  |  {keys}")
        overlay.redraw()

    def _location(self: Any, context: Any, mouse: Any) -> Any:
        return view3d_utils.region_2d_to_location_3d(context.region, context.region_data, mouse, self._depth)


def _mesh_of(context: Any) -> str:
    """The faces of the bake, by their hash; "" without one."""
    entry = setup.find_of(context.object, context.scene)
    try:
        return str(state.manifest_of(state.target().root, entry.bake).topology) if entry and entry.bake else ""
    except Error:
        return ""


def _handle_under(context: Any, item: Any, edited: Any, mouse: Any) -> int:
    """The number of the handle of this frame that the mouse is on; -1: none."""
    now, unit = _now(context.scene), _unit(context.scene)
    for number, handle in enumerate(stored.edits_of(item).handles):
        if abs(handle.frame - now) > 1e-3:
            continue
        place = Vector(edited.place(handle.frame, handle.vertices) / unit)
        at = view3d_utils.location_3d_to_region_2d(context.region, context.region_data, place)
        if at is not None and (at - mouse).length < _NEAR:
            return number
    return -1


def _vertex_under(context: Any, mouse: Any) -> int | None:
    """The vertex of the mesh, as it shows, that is nearest to what the mouse is on."""
    ob, region, view = context.object, context.region, context.region_data
    shown = ob.evaluated_get(context.evaluated_depsgraph_get())
    to_local = ob.matrix_world.inverted_safe()
    origin = view3d_utils.region_2d_to_origin_3d(region, view, mouse)
    direction = view3d_utils.region_2d_to_vector_3d(region, view, mouse)
    start = to_local @ origin
    way = to_local.to_3x3() @ direction
    hit, location, _, _ = shown.ray_cast(start, way.normalized())
    if not hit:
        return None
    results = live.session.live.results if live.session.live is not None else None
    if results is None:
        return None
    positions = results.made(live.index_now(context.scene))[0]
    return int(np.argmin(((positions - np.array(location, np.float32)) ** 2).sum(axis=1)))


class SINEW_OT_edit_motion(bpy.types.Operator):
    bl_idname = "sinew.edit_motion"
    bl_label = "Edit Motion"
    bl_description = (
        "Pull the finished motion with the mouse. A mesh without a bake is fitted first, and its animation stays as it "
        "is"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        ob = context.object
        if ob is None or ob.type != "MESH":
            cls.poll_message_set("Select a mesh object")
            return False
        if not operators.is_idle(cls, context):
            return False
        reason = why_not(ob)
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def execute(self: Any, context: Any) -> Any:
        scene, ob = context.scene, context.object
        if setup.find_of(ob, scene) is None:
            entry = setups.new_setup(ob, scene)
            entry.settings = tool.fitted_only(find(entry.method))
            setup.save_of(ob, entry, scene)
            properties.refresh()
        item = operators.active_item(context)
        tool.choose(context)
        if item is not None and state.of(item).kind == state.NOTHING:
            how = "EXEC_DEFAULT" if bpy.app.background else "INVOKE_DEFAULT"
            bpy.ops.sinew.bake(how)
        elif item is not None and stack.own_modifier(ob) is not None and stored.can_be_edited(item):
            live.touch(item)
        return {"FINISHED"}


class SINEW_OT_remove_handle(bpy.types.Operator):
    bl_idname = "sinew.remove_handle"
    bl_label = "Remove Handle"
    bl_description = "Take the chosen handle away: it does not pull any more"
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(_has_handle)

    def execute(self, context: Any) -> Any:
        item: Any = operators.active_item(context)
        handles = stored.edits_of(item).handles
        kept = tuple(one for number, one in enumerate(handles) if number != item.handles_index)
        stored.change(item, handles=kept)
        rows.refresh(item)
        return {"FINISHED"}


class SINEW_OT_go_to_handle(bpy.types.Operator):
    bl_idname = "sinew.go_to_handle"
    bl_label = "Go to Frame"
    bl_description = "Go to the frame of the chosen handle"
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(_has_handle)

    def execute(self, context: Any) -> Any:
        item: Any = operators.active_item(context)
        context.scene.frame_set(round(stored.edits_of(item).handles[item.handles_index].frame))
        return {"FINISHED"}


class SINEW_OT_target_handle(bpy.types.Operator):
    bl_idname = "sinew.target_handle"
    bl_label = "To Selected Object"
    bl_description = (
        "Pull the chosen handle to where the other selected object is on its frame, or along its way while it holds"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not _has_handle(cls, context):
            return False
        if len(_other_objects(context)) != 1:
            cls.poll_message_set("Select one other object, the target, and this mesh last")
            return False
        return True

    def execute(self, context: Any) -> Any:
        item: Any = operators.active_item(context)
        scene, unit = context.scene, _unit(context.scene)
        (target,) = _other_objects(context)
        handle = stored.edits_of(item).handles[item.handles_index]
        now, places = scene.frame_current, []
        for frame in handle.frames:
            scene.frame_set(int(frame // 1), subframe=frame % 1.0)
            at = target.evaluated_get(context.evaluated_depsgraph_get()).matrix_world.translation
            places.append((at.x * unit, at.y * unit, at.z * unit))
        scene.frame_set(now)
        stored.change_handle(
            item, item.handles_index, axes="place", by=places[0], path=tuple(places) if len(places) > 1 else ()
        )
        return {"FINISHED"}


def _other_objects(context: Any) -> list[Any]:
    return [ob for ob in context.selected_objects if ob != context.object]


class SINEW_OT_clear_edits(bpy.types.Operator):
    bl_idname = "sinew.clear_edits"
    bl_label = "Clear"
    bl_description = "Forget all handles, baked in ones too: the bake is as it was, after Apply to the bit"
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(_can_edit)

    def execute(self, context: Any) -> Any:
        item: Any = operators.active_item(context)
        stored.change(item, handles=(), below=(), mesh="")
        rows.refresh(item)
        return {"FINISHED"}


class SINEW_OT_bake_in_edits(bpy.types.Operator):
    bl_idname = "sinew.bake_in_edits"
    bl_label = "Bake In"
    bl_description = "Keep the motion as it is edited and begin with no handles: the next ones pull it further"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not _can_edit(cls, context):
            return False
        if not stored.edits_of(operators.active_item(context)).acting:
            cls.poll_message_set("No handle pulls")
            return False
        return True

    def execute(self, context: Any) -> Any:
        item: Any = operators.active_item(context)
        edits = stored.edits_of(item)
        stored.write(item, edits.baked_in())
        rows.refresh(item)
        return {"FINISHED"}


class SINEW_OT_apply_edits(JobOperator, bpy.types.Operator):
    bl_idname = "sinew.apply_edits"
    bl_label = "Apply"
    bl_description = (
        "Show the edits on all frames of the bake, which then plays, renders and is saved so. Nothing is simulated"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not _can_edit(cls, context):
            return False
        reason = state.why_not_remake(context.object, context.scene)
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def prepare(self, context: Any) -> Work:
        return RemakeWork(context.object.name, state.target())


CLASSES = (
    SINEW_OT_pull,
    SINEW_OT_edit_motion,
    SINEW_OT_remove_handle,
    SINEW_OT_go_to_handle,
    SINEW_OT_target_handle,
    SINEW_OT_clear_edits,
    SINEW_OT_bake_in_edits,
    SINEW_OT_apply_edits,
)


def register() -> None:
    SINEW_OT_pull.__annotations__ = {
        "vertex": _props.IntProperty(name="Vertex", description="The vertex that is pulled", min=0),
        "frame": _props.FloatProperty(name="Frame", description="When it is pulled", precision=1),
        "offset": _props.FloatVectorProperty(
            name="Pull", description="How far it is pulled, in metres", size=3, precision=3
        ),
        "radius": _props.FloatProperty(
            name="Radius", description="Metres around it that are pulled as one; 0: two cells of the cage", min=0.0
        ),
        "number": _props.IntProperty(
            name="Handle", description="Which handle is moved; -1 makes one", default=-1, min=-1, options={"HIDDEN"}
        ),
        "grab": _props.BoolProperty(
            name="Grab", description="Moves the chosen handle until a click", options={"HIDDEN", "SKIP_SAVE"}
        ),
    }
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
