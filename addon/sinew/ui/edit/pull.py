"""The operator of the tool Edit Motion: a drag of a point of the mesh, on its frame."""

from __future__ import annotations

import contextlib
import math
from dataclasses import replace
from typing import Any

import bpy
import numpy as np
from bpy_extras import view3d_utils
from mathutils import Vector

from ...core.base.errors import Error
from ...core.edit.handles import Handle
from ..classes import asking
from ..setup import live, operators, state
from . import overlay, rows, stored

_props: Any = bpy.props  # the stubs say that its functions return nothing

_NEAR = 14.0  # pixels: nearer than this a click takes a handle that is there
_WHEEL = 1.15  # by which a notch of the wheel changes the radius
_FINE = 0.1  # of the mouse's way, with Shift
_CLICK = 3.0  # pixels: what moves no farther is a click
_LEAST_SHARE = 0.05  # one that pulls less of its way does not come as far as the mouse
_AXES = {"X": 0, "Y": 1, "Z": 2}


def unit_of(scene: Any) -> float:
    """Metres in a unit of the scene."""
    return float(scene.unit_settings.scale_length) or 1.0


def now_of(scene: Any) -> float:
    return float(scene.frame_current + scene.frame_subframe)


class SINEW_OT_pull(bpy.types.Operator):
    bl_idname = "sinew.pull"
    bl_label = "Pull Motion"
    bl_description = (
        "Drag a point of the mesh: it lands under the mouse, and the motion before and after follows. Wheel: "
        "radius, X Y Z: axis, Shift: fine, Esc: back"
    )
    bl_options = {"REGISTER", "UNDO"}

    # Not for a mesh that can be edited alone: a click beside it chooses another object.
    poll = asking(operators.is_idle)

    def execute(self: Any, context: Any) -> Any:
        """A handle as the properties say: that of a number, or a new one."""
        item = _editable(context)
        if item is None:
            self.report({"ERROR"}, "This mesh is not prepared to be edited: press Edit Motion")
            return {"CANCELLED"}
        handles = stored.edits_of(item).handles
        try:
            x, y, z = (float(part) for part in self.offset)
            frame = float(self.frame)
            if 0 <= self.number < len(handles):
                one = handles[self.number]
                vertices = one.vertices if self.vertex in one.vertices else (self.vertex,)
                until = None if one.until is None else one.until + frame - one.frame
                handle = replace(one, vertices=vertices, frame=frame, until=until, radius=self.radius).moved((x, y, z))
            else:
                handle = Handle((self.vertex,), frame, (x, y, z), radius=self.radius)
            self._put(context, item, handle)
        except Error as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        reason = state.why_not_remake(context.object, context.scene)
        if reason:
            self.report({"WARNING"}, f"The handle does nothing yet. {reason}")
        return {"FINISHED"}

    def _put(self: Any, context: Any, item: Any, handle: Handle) -> None:
        """A handle in its place, or as the last."""
        before = stored.edits_of(item)
        handles = list(before.handles)
        at = self.number if 0 <= self.number < len(handles) else len(handles)
        handles[at : at + 1] = [handle]
        stored.write(item, replace(before, handles=tuple(handles)))
        rows.refresh(item)
        item.handles_index = at

    def invoke(self: Any, context: Any, event: Any) -> Any:
        item = _editable(context)
        if context.region_data is None or (item is None and self.grab):
            return {"PASS_THROUGH"}
        if item is None:
            return _select(event)
        scene, mouse = context.scene, Vector((event.mouse_region_x, event.mouse_region_y))
        self._before = stored.edits_of(item)
        if self.grab and not 0 <= item.handles_index < len(self._before.handles):
            self.report({"WARNING"}, "There is no handle yet: drag a point of the mesh")
            return {"CANCELLED"}
        spot = None if self.grab else _spot_under(context, mouse)
        if not self.grab and spot is None and not self._before.handles:
            return _select(event)
        edited = self._open(context, item)
        if edited is None:
            return {"CANCELLED"}
        self._hollow = -1
        self.number = item.handles_index if self.grab else _handle_under(context, item, edited, mouse, is_now=True)
        if self.number < 0:
            self._hollow = _handle_under(context, item, edited, mouse, is_now=False)
        now = now_of(scene)
        if self.number >= 0:
            handle = self._before.handles[self.number]
            if not handle.covers(now):
                now = handle.frame
                scene.frame_set(round(now))
            item.handles_index = self.number
            self._start = replace(handle, mute=False)
        elif spot is not None:
            vertex = _nearest_vertex(scene, spot)
            # From where other handles have brought it.
            x, y, z = edited.place(now, (vertex,)) - edited.place(now, (vertex,), edited=False)
            self._start = Handle((vertex,), now, (float(x), float(y), float(z)))
        elif self._hollow >= 0:  # beside the mesh there is nothing to drag
            return self._choose(item)
        else:
            return _select(event)
        self._tell(self._start)
        self._item_name, self._now = context.object.name, now
        self._depth = Vector(edited.place(now, self._start.vertices) / unit_of(scene))
        self._grabbed = self._location(context, mouse)
        self._mouse, self._way, self._axis, self._moved = mouse, Vector((0.0, 0.0)), -1, False
        self._radius = self._start.radius or edited.radius
        overlay.drawn.pulled = overlay.Pulled(self._depth, self._radius / unit_of(scene), -1)
        self._show_status(context)
        context.window_manager.modal_handler_add(self)
        edited.goes_on = True
        return {"RUNNING_MODAL"}

    def _open(self: Any, context: Any, item: Any) -> Any | None:
        """The edits on the open bake; None, and why is told."""
        reason = state.why_not_remake(context.object, context.scene)
        try:
            edited = None if reason else stored.open_now(item)
            if edited is not None and edited.radius > 0.0:
                return edited
        except Error as error:  # nothing of it can be moved
            reason = str(error)
        self.report({"ERROR"}, reason or live.session.error or "The bake cannot be read: bake again")
        return None

    def _tell(self: Any, handle: Handle) -> None:
        """To the properties, which are seen and repeated."""
        self.vertex, self.frame = handle.vertices[0], handle.frame
        self.offset, self.radius = handle.by, handle.radius

    def modal(self: Any, context: Any, event: Any) -> Any:
        item = operators.active_item(context)
        if item is None or context.object.name != self._item_name:
            return self._end(context, {"CANCELLED"})
        if event.type in ("ESC", "RIGHTMOUSE") and event.value == "PRESS":
            return self._back(context, item)
        if event.type == "LEFTMOUSE" and event.value == ("PRESS" if self.grab else "RELEASE"):
            if self._moved:
                return self._release(context, item)
            self._back(context, item)
            return self._choose(item)
        if event.type in ("RET", "NUMPAD_ENTER") and event.value == "PRESS" and self._moved:
            return self._release(context, item)
        if event.type == "MOUSEMOVE":
            mouse = Vector((event.mouse_region_x, event.mouse_region_y))
            self._way += (mouse - self._mouse) * (_FINE if event.shift else 1.0)
            self._mouse = mouse
            # A hand that clicks is not quite still.
            self._moved |= self.grab or self._way.length > _CLICK * context.preferences.system.ui_scale
        elif event.type in ("WHEELUPMOUSE", "WHEELDOWNMOUSE"):
            self._radius *= _WHEEL if event.type == "WHEELUPMOUSE" else 1.0 / _WHEEL
            self._start = replace(self._start, radius=self._radius)
            self._moved = True
        elif event.type in _AXES and event.value == "PRESS":
            self._axis = -1 if self._axis == _AXES[event.type] else _AXES[event.type]
        else:
            return {"RUNNING_MODAL"}
        self._drag(context, item)
        return {"RUNNING_MODAL"}

    def _drag(self: Any, context: Any, item: Any) -> None:
        """To where the mouse is."""
        edited = stored.opened(item)
        if not self._moved or edited is None:
            return
        scene, start = context.scene, self._start
        origin = view3d_utils.location_3d_to_region_2d(context.region, context.region_data, self._grabbed)
        way = np.array(self._location(context, origin + self._way) - self._grabbed)
        if self._axis >= 0:
            way = np.where(np.arange(3) == self._axis, way, 0.0)
        # What pulls a part of its way is pulled farther, so that it comes as far as the mouse.
        share = math.copysign(max(abs(start.influence), _LEAST_SHARE), start.influence)
        x, y, z = way * unit_of(scene) / share
        more = edited.along(start, self._now, (float(x), float(y), float(z)))
        handle = start.moved((start.by[0] + more[0], start.by[1] + more[1], start.by[2] + more[2]))
        self._tell(handle)
        self._put(context, item, handle)
        self.number = item.handles_index
        place = self._depth + Vector(way.tolist())
        overlay.drawn.pulled = overlay.Pulled(place, self._radius / unit_of(scene), self._axis)
        live.show(at_once=True)
        self._show_status(context)

    def _release(self: Any, context: Any, item: Any) -> Any:
        edited = stored.opened(item)
        if edited is not None:
            told = [sentence for sentence in edited.left_out if f"Vertex {self.vertex} " in sentence]
            if told:
                self.report({"WARNING"}, told[0])
            elif edited.landed.missed and max(edited.landed.missed) > 1e-3 * edited.size:
                self.report({"WARNING"}, overlay.missed_text(edited))
            edited.settle()
            live.show_again()
        rows.refresh(item)
        return self._end(context, {"FINISHED"})

    def _back(self: Any, context: Any, item: Any) -> Any:
        edited = stored.opened(item)
        if edited is not None:
            edited.settle()
        if stored.edits_of(item) != self._before:
            stored.write(item, self._before)
            rows.refresh(item)
            live.show_again()
        return self._end(context, {"CANCELLED"})

    def _choose(self: Any, item: Any) -> Any:
        """A click: the handle of another frame that is under the mouse is the chosen one."""
        if self._hollow >= 0:
            item.handles_index = self._hollow
            overlay.redraw()
        return {"CANCELLED"}

    def _end(self: Any, context: Any, result: Any) -> Any:
        overlay.drawn.pulled = None
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


def _editable(context: Any) -> Any | None:
    """The setup of the active object, if its motion can be edited."""
    item = operators.active_item(context) if context.object is not None else None
    return item if item is not None and stored.can_be_edited(item) else None


def _select(event: Any) -> Any:
    """What is no point of the mesh is chosen as with any other tool, as a step of undo of its own."""
    with contextlib.suppress(RuntimeError):  # nothing to select
        place = (event.mouse_region_x, event.mouse_region_y)
        bpy.ops.view3d.select("EXEC_DEFAULT", True, location=place, deselect_all=True)
    return {"CANCELLED"}


def _handle_under(context: Any, item: Any, edited: Any, mouse: Any, *, is_now: bool) -> int:
    """The number of the handle that the mouse is on, of those of this frame or of the others; -1: none."""
    handles, now = stored.edits_of(item).handles, now_of(context.scene)
    found, nearest = -1, _NEAR * context.preferences.system.ui_scale
    for number, place in overlay.places_of(item, edited):
        at = view3d_utils.location_3d_to_region_2d(context.region, context.region_data, Vector(place))
        if handles[number].covers(now) == is_now and at is not None and (at - mouse).length < nearest:
            found, nearest = number, (at - mouse).length
    return found


def _spot_under(context: Any, mouse: Any) -> Any | None:
    """The spot of the mesh, as it shows, that the mouse is on, in the object's own space."""
    ob, region, view = context.object, context.region, context.region_data
    shown = ob.evaluated_get(context.evaluated_depsgraph_get())
    to_local = ob.matrix_world.inverted_safe()
    origin = view3d_utils.region_2d_to_origin_3d(region, view, mouse)
    direction = view3d_utils.region_2d_to_vector_3d(region, view, mouse)
    hit, location, _, _ = shown.ray_cast(to_local @ origin, (to_local.to_3x3() @ direction).normalized())
    return np.array(location, np.float32) if hit else None


def _nearest_vertex(scene: Any, spot: Any) -> int:
    """The vertex of the mesh that is nearest to a spot of the surface."""
    results = live.session.live.results
    positions = results.made(live.index_now(scene))[0]
    return int(np.argmin(((positions - spot) ** 2).sum(axis=1)))


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
