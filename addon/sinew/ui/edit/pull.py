"""The operator of the tool Edit Motion: a drag of a point of the mesh, on its frame."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from ...core.base.errors import Error
from ...core.edit.handles import Edits, Handle
from ...scene import setup
from ..classes import asking
from ..setup import live, operators, state
from . import overlay, rows, stored

_props: Any = bpy.props  # the stubs say that its functions return nothing

_NEAR = 14.0  # pixels: nearer than this a click takes a handle that is there
_WHEEL = 1.15  # by which a notch of the wheel changes the radius
_FINE = 0.1  # of the mouse's way, with Shift
_AXES = {"X": 0, "Y": 1, "Z": 2}


def unit_of(scene: Any) -> float:
    """Metres in a unit of the scene."""
    return float(scene.unit_settings.scale_length) or 1.0


def _now(scene: Any) -> float:
    return float(scene.frame_current + scene.frame_subframe)


class SINEW_OT_pull(bpy.types.Operator):
    bl_idname = "sinew.pull"
    bl_label = "Pull Motion"
    bl_description = (
        "Drag a point of the mesh: it lands under the mouse, and the motion before and after follows. Wheel: "
        "radius, X Y Z: axis, Shift: fine, Esc: back"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(stored.is_editable)

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
            self.offset = tuple(edited.place(self.frame, (vertex,)) - edited.place(self.frame, (vertex,), edited=False))
        place = edited.place(self.frame, (self.vertex,))
        self._start_offset = np.array(self.offset)
        self._depth = Vector(place / unit_of(scene))
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
        offset = np.array(way) * unit_of(context.scene)
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
    now, unit = _now(context.scene), unit_of(context.scene)
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


def register() -> None:
    SINEW_OT_pull.__annotations__ = {
        "vertex": _props.IntProperty(name="Vertex", description="The vertex that is pulled", min=0),
        "frame": _props.FloatProperty(name="Frame", description="When it is pulled", precision=1),
        "offset": _props.FloatVectorProperty(
            name="Pull", description="How far it is pulled, in metres", size=3, precision=3
        ),
        "radius": _props.FloatProperty(
            name="Radius", description="Metres around it that are pulled as one; 0: two of its cells", min=0.0
        ),
        "number": _props.IntProperty(
            name="Handle", description="Which handle is moved; -1 makes one", default=-1, min=-1, options={"HIDDEN"}
        ),
        "grab": _props.BoolProperty(
            name="Grab", description="Moves the chosen handle until a click", options={"HIDDEN", "SKIP_SAVE"}
        ),
    }
    bpy.utils.register_class(SINEW_OT_pull)


def unregister() -> None:
    bpy.utils.unregister_class(SINEW_OT_pull)
