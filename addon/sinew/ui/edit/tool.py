"""The tool Edit Motion in the toolbar of the 3D view. While it is on, frames show the edits as they will be applied;
before saving and rendering, the bake plays as it was applied."""

from __future__ import annotations

import contextlib
from typing import Any

import bpy

from ...core.base.errors import Error
from .. import handlers, job_operator
from ..setup import live, operators, state
from . import stored

IDNAME = "sinew.edit_motion"
_SOON = 0.05  # seconds
_registered: list[type] = []


class SINEW_TOOL_edit_motion(bpy.types.WorkSpaceTool):
    bl_space_type = "VIEW_3D"
    bl_context_mode = "OBJECT"
    bl_idname = IDNAME
    bl_label = "Edit Motion"
    bl_description = (
        "Pull points of a finished motion; before and after, the body swings as its material does.\n"
        "Wheel: radius. X, Y, Z: axis. Shift: fine. Esc: back. G moves the chosen handle, X takes it away"
    )
    bl_icon = "ops.pose.push"
    bl_widget = None
    bl_keymap = (
        ("sinew.pull", {"type": "LEFTMOUSE", "value": "PRESS"}, {"properties": [("grab", False), ("number", -1)]}),
        ("view3d.select", {"type": "LEFTMOUSE", "value": "PRESS", "shift": True}, {"properties": [("toggle", True)]}),
        ("sinew.pull", {"type": "G", "value": "PRESS"}, {"properties": [("grab", True)]}),
        ("sinew.remove_handle", {"type": "X", "value": "PRESS"}, None),
        ("sinew.remove_handle", {"type": "DEL", "value": "PRESS"}, None),
    )

    @staticmethod
    def draw_settings(context: Any, layout: Any, tool: Any) -> None:
        item = operators.active_item(context) if context.object is not None else None
        if item is None or not stored.can_be_edited(item):
            layout.operator("sinew.edit_motion", text="Prepare This Mesh")
            return
        layout.prop(item, "edit_wiggle")
        layout.prop(item, "edit_spread")
        layout.operator("sinew.apply_edits", icon="CHECKMARK")
        layout.operator("sinew.clear_edits", text="", icon="X")


def is_on() -> bool:
    """Whether the tool is chosen in a window."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        used = window.workspace.tools.from_space_view3d_mode("OBJECT", create=False)
        if used is not None and used.idname == IDNAME:
            return True
    return False


def choose(context: Any) -> None:
    """Takes the tool into the hand, where there is a 3D view."""
    if bpy.app.background:
        return
    for window in context.window_manager.windows:
        for area in window.screen.areas:
            if area.type == "VIEW_3D":
                with context.temp_override(window=window, area=area):
                    bpy.ops.wm.tool_set_by_id(name=IDNAME)


def resume() -> None:
    """Shows the edits of the active object again that are not applied yet."""
    context = bpy.context
    item = operators.active_item(context) if is_on() and context.object is not None else None
    if item is None or job_operator.is_running() or live.session.live is not None:
        return
    if stored.can_be_edited(item) and not state.why_not_remake(context.object, context.scene):
        live.touch(item)


def resume_soon(*_: object) -> None:
    if not bpy.app.background and not bpy.app.timers.is_registered(resume):
        bpy.app.timers.register(resume, first_interval=_SOON)


def _prepare(results: Any) -> None:
    """What is pulled first takes a moment less: for a bake that is being opened, in a thread."""
    edited = getattr(results.shown, "edited", None)
    with contextlib.suppress(Error):
        if edited is not None:
            edited(results.store).prepare()


_USE = live.Use(is_on, _prepare)
_AFTER = ("save_post", "undo_post", "redo_post", "render_complete", "render_cancel", "load_post")
_HANDLERS = dict.fromkeys(_AFTER, resume_soon)


def register() -> None:
    handlers.add(_HANDLERS)
    live.uses.append(_USE)
    if not bpy.app.background:  # there is no toolbar
        bpy.utils.register_tool(SINEW_TOOL_edit_motion, after={"builtin.transform"}, separator=True)
        _registered.append(SINEW_TOOL_edit_motion)


def unregister() -> None:
    handlers.remove(_HANDLERS)
    live.uses.remove(_USE)
    if bpy.app.timers.is_registered(resume):
        bpy.app.timers.unregister(resume)
    while _registered:
        bpy.utils.unregister_tool(_registered.pop())
