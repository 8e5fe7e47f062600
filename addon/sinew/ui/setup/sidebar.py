"""Sidebar of the 3D viewport, tab Sinew: all setups of the scene at a glance, and what is done to all of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from ... import setups
from ...scene import compat, setup, stack
from .. import job_operator
from ..classes import asking, needs
from . import bake_together, methods, offers, operators, parts, properties, state

_props: Any = bpy.props  # the stubs say that its functions return nothing
_LOOK = 0.5  # seconds between two looks at whether a bake is over


def listed(scene: Any) -> list[Any]:
    """The setups whose objects are still there."""
    return [item for item in scene.sinew.setups if item.object is not None]


def modifiers(scene: Any, name: str = "") -> Iterator[Any]:
    """The modifiers that play the bakes of the scene, or that of one object and its passengers."""
    for item in listed(scene):
        if name in ("", item.object.name):
            yield from setups.playing_modifiers(item.object, scene)


class SINEW_PT_sidebar(bpy.types.Panel):
    bl_label = "Sinew"
    bl_category = "Sinew"
    bl_space_type = "VIEW_3D"
    bl_region_type = "UI"

    def draw(self: Any, context: Any) -> None:
        layout, scene = self.layout, context.scene
        if not properties.is_fresh(scene):
            parts.refresh_soon()
        parts.adopt_soon(context)
        items = listed(scene)
        if operators.bodies(context):
            offers.draw(layout, context)
        elif operators.active_item(context) is None:
            layout.operator("sinew.add", icon="ADD")
        if not items:
            return
        column = layout.column(align=True)
        for item in items:
            self._draw_setup(column, context, item)
        if job_operator.is_running():
            compat.draw_progress(layout, *job_operator.progress())
            layout.operator("sinew.cancel", icon="CANCEL")
        else:
            fresh = len(items) - len(waiting(scene))
            layout.label(text=f"{fresh} of {len(items)} baked and up to date")  # as high as the progress
            layout.operator("sinew.bake_all", icon="PHYSICS")
        shown = [modifier.show_viewport for modifier in modifiers(scene)]
        row = layout.row(align=True)
        row.operator("sinew.show_all", text="Input", depress=bool(shown) and not any(shown)).result = False
        row.operator("sinew.show_all", text="Result", depress=bool(shown) and all(shown)).result = True

    def _draw_setup(self, column: Any, context: Any, item: Any) -> None:
        ob = item.object
        row = column.row(align=True)
        offers.draw_select(row, context, item)
        modifier = stack.own_modifier(ob)
        if modifier is not None:
            shown = modifier.show_viewport
            switch = row.operator("sinew.show_all", text="", icon="HIDE_OFF" if shown else "HIDE_ON", depress=shown)
            switch.name, switch.result = ob.name, not shown


class SINEW_OT_select(bpy.types.Operator):
    bl_idname = "sinew.select"
    bl_label = "Select"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    @classmethod
    def description(cls, context: Any, values: Any) -> str:
        ob = context.scene.objects.get(values.name)
        item = properties.find(context.scene, ob)
        if item is None:
            return "Select the object"
        return "Is being baked" if job_operator.is_running(values.name) else methods.state_of(item).text

    def execute(self: Any, context: Any) -> Any:
        ob = context.scene.objects.get(self.name)
        if ob is None or ob.name not in context.view_layer.objects:
            self.report({"ERROR"}, f'"{self.name}" is not in this view layer: include its collection.')
            return {"CANCELLED"}
        operators.select_only(context, ob)
        return {"FINISHED"}


class SINEW_OT_show_all(bpy.types.Operator):
    bl_idname = "sinew.show_all"
    bl_label = "Show All"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def description(cls, context: Any, values: Any) -> str:
        if values.name:
            what = "the bake" if values.result else "the animation as it is without Sinew"
        else:
            what = "the bakes of all setups" if values.result else "all animations as they are without Sinew"
        return f"Play {what}, in the viewport and in the render"

    poll = asking(needs(lambda context: any(modifiers(context.scene)), "Nothing is baked yet"))

    def execute(self: Any, context: Any) -> Any:
        for modifier in modifiers(context.scene, self.name):
            modifier.show_viewport = modifier.show_render = self.result
        return {"FINISHED"}


class SINEW_OT_bake_all(bpy.types.Operator):
    bl_idname = "sinew.bake_all"
    bl_label = "Bake All"
    bl_description = (
        "Bake every setup that is not baked or no longer up to date. The timeline is played once for all of them; then "
        "they are simulated one after the other"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.is_idle, needs(lambda context: waiting(context.scene), "All bakes are up to date"))

    def invoke(self: Any, context: Any, event: Any) -> Any:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        _queue[:] = waiting(context.scene)
        bpy.app.timers.register(_next, first_interval=0.0)
        return {"FINISHED"}

    def execute(self: Any, context: Any) -> Any:
        _queue[:] = waiting(context.scene)
        while _queue:
            if _begin_next(context, context.scene, "EXEC_DEFAULT") != {"FINISHED"}:
                _queue.clear()
                return {"CANCELLED"}
        return {"FINISHED"}


_queue: list[str] = []  # names of the objects that Bake All has still to begin with
_begun: list[str] = []  # the last ones that it has begun with


def waiting(scene: Any) -> list[str]:
    """Names of the objects whose bake is missing or stale, and that this scene can show."""
    return [item.object.name for item in listed(scene) if methods.state_of(item).kind != state.BAKED]


def _next() -> float | None:
    """A timer: begins with the next ones when the last are over. One that failed or was cancelled ends the row."""
    if job_operator.is_running():
        return _LOOK
    window = bpy.context.window_manager.windows[0]
    scene = window.scene
    left_over = set(waiting(scene)) & set(_begun)
    _begun.clear()
    if left_over:
        _queue.clear()
    while _queue:
        with bpy.context.temp_override(window=window, scene=scene):
            if _begin_next(bpy.context, scene, "INVOKE_DEFAULT"):
                return _LOOK
    return None


def _begin_next(context: Any, scene: Any, how: str) -> Any:
    """Begins with those of the queue that can be sampled together; nothing where none of them can be baked."""
    _queue[:] = [name for name in _queue if setup.find_of(scene.objects.get(name), scene) is not None]
    shown = [name for name in _queue if setups.is_remake_enough(scene.objects[name], scene, state.target())]
    now = shown[:1] or setups.independent(_queue, scene)
    _queue[:] = [name for name in _queue if name not in now]
    _begun[:] = now
    if len(now) > 1:
        bake_together.names[:] = now
        return bpy.ops.sinew.bake_together(how)
    for name in now:
        ob = scene.objects[name]
        with context.temp_override(object=ob, active_object=ob):
            if bpy.ops.sinew.bake.poll():
                return bpy.ops.sinew.bake(how)
    return None


_TOGETHER = bake_together.SINEW_OT_bake_together
CLASSES = (SINEW_OT_select, SINEW_OT_show_all, _TOGETHER, SINEW_OT_bake_all, SINEW_PT_sidebar)


def register() -> None:
    name = _props.StringProperty(name="Name", description="Name of the object")
    result = _props.BoolProperty(name="Result", description="Show the bakes instead of their input", default=True)
    only = _props.StringProperty(name="Name", description="Name of the one object that is switched; empty for all")
    SINEW_OT_select.__annotations__ = {"name": name}
    SINEW_OT_show_all.__annotations__ = {"name": only, "result": result}
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    _queue.clear()
    if bpy.app.timers.is_registered(_next):
        bpy.app.timers.unregister(_next)
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
