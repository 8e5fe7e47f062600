"""Properties > Physics > Sinew > Cache: where the bakes lie, how much room they take, and what of it is not needed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import bpy

from ... import setups
from ...core.bake import folders
from ..background import redraw, results
from ..classes import asking, needs, registering
from . import operators, saving, state
from .parts import OfSetup, draw_text

_WHAT = "Measuring"


def size_text(size: float) -> str:
    """Bytes as a person says them."""
    for unit in ("KB", "MB"):
        size /= 1000.0
        if size < 1000.0:
            return f"{size:.0f} {unit}"
    return f"{size / 1000.0:.1f} GB"


def lines_of(root: Path) -> list[str]:
    """How many bakes there are, and how many of them nobody plays; empty while they are being measured."""
    try:
        key = (str(root), tuple(sorted((entry.name, entry.stat().st_mtime_ns) for entry in os.scandir(root))))
    except OSError:
        return ["No bakes yet"]
    sizes = results.get(_WHAT, str(root), key, lambda: lambda monitor: folders.disk_use(root))
    if sizes is None:
        return ["..."]
    played = setups.played()
    idle = [size for bake, size in sizes.items() if bake not in played]
    told = [f"{_bakes(len(sizes))}, {size_text(sum(sizes.values()))}"]
    return [*told, f"{_bakes(len(idle))} not played, {size_text(sum(idle))}"] if idle else told


def _bakes(count: int) -> str:
    return f"{count} bake" if count == 1 else f"{count} bakes"


class SINEW_PT_cache(OfSetup, bpy.types.Panel):
    bl_label = "Cache"
    bl_order = 7

    def draw(self: Any, context: Any) -> None:
        layout, _ = self.columns(context)
        layout.prop(context.scene.sinew, "folder")
        root = state.target().root
        column = layout.column(align=True)
        if not bpy.data.filepath:
            saved = "The file has no name yet: its bakes lie in a temporary folder and move beside it when you save"
            draw_text(column, saved, "INFO", context.region.width)
        draw_text(column, str(root), "FILE_FOLDER", context.region.width)
        for line in lines_of(root):
            draw_text(column, line, "BLANK1", context.region.width)
        row = layout.row(align=True)
        row.operator("sinew.open_folder", icon="FILEBROWSER")
        row.operator("sinew.clean_up", icon="BRUSH_DATA")
        row = layout.row(align=True)
        row.operator("sinew.export_pc2", icon="EXPORT")
        row.operator("sinew.make_shape_keys", icon="SHAPEKEY_DATA")


class SINEW_OT_open_folder(bpy.types.Operator):
    bl_idname = "sinew.open_folder"
    bl_label = "Open"
    bl_description = "Show the folder of the bakes in the system's file browser"

    poll = asking(needs(lambda context: state.target().root.is_dir(), "There are no bakes yet"))

    def execute(self, context: Any) -> Any:
        return bpy.ops.wm.path_open(filepath=str(state.target().root))


class SINEW_OT_clean_up(bpy.types.Operator):
    bl_idname = "sinew.clean_up"
    bl_label = "Clean Up"
    bl_description = (
        "Delete the bakes of this file that nothing in it plays. Undo does not bring them back. Those that another "
        "file may play stay"
    )

    poll = asking(operators.is_idle, needs(lambda context: bpy.data.filepath, "Save the file first"))

    def invoke(self: Any, context: Any, event: Any) -> Any:
        return context.window_manager.invoke_confirm(self, event)

    def execute(self: Any, context: Any) -> Any:
        freed = setups.clean_up(state.target())
        saving.recent.clear()
        state.forget()
        redraw()
        self.report({"INFO"}, f"{size_text(freed)} are free" if freed else "There was nothing to delete")
        return {"FINISHED"}


register, unregister = registering((SINEW_OT_open_folder, SINEW_OT_clean_up, SINEW_PT_cache))
