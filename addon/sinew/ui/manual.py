"""F1 over a button of ours opens the page of the manual about it, which comes with Sinew."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

import bpy

FOLDER = Path(__file__).parents[1] / "manual"
PAGE = "artist.html"
# By what Blender calls the thing under the mouse, the first that matches; each the heading of a section.
_SECTIONS = (
    ("bpy.ops.sinew.*group*", "say-what-moves-painting"),
    ("bpy.ops.sinew.*spread*", "say-what-moves-painting"),
    ("bpy.ops.sinew.*cage*", "see-the-cage"),
    ("bpy.ops.sinew.trial_fit*", "see-the-cage"),
    ("bpy.ops.sinew.*passenger*", "clothes-eyes-hair-attached-meshes"),
    ("bpy.ops.sinew.*preset*", "tuning"),
    ("bpy.ops.sinew.*after*", "tuning"),
    ("bpy.ops.sinew.*_all*", "many-characters"),
    ("bpy.ops.sinew.*", "the-first-bake"),
    ("bpy.types.sinew_pg_setup.*_group*", "say-what-moves-painting"),
    ("bpy.types.sinew_pg_setup.*", "tuning"),
    ("bpy.types.sinew_pg_*", "the-first-bake"),
)


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """As `bpy.utils.register_manual_map` wants it: what all addresses begin with, then patterns and their ends."""
    return f"{FOLDER.as_uri()}/", tuple((pattern, f"{PAGE}#{section}") for pattern, section in _SECTIONS)


class SINEW_OT_open_manual(bpy.types.Operator):
    bl_idname = "sinew.open_manual"
    bl_label = "Manual"
    bl_description = "Open the manual of Sinew, which lies on this disk, in the web browser"

    def execute(self: Any, context: Any) -> Any:
        page = FOLDER / PAGE
        if not page.is_file():
            self.report({"ERROR"}, f"{page} is missing: install Sinew again.")
            return {"CANCELLED"}
        if not bpy.app.background:
            webbrowser.open(page.as_uri())
        return {"FINISHED"}


def register() -> None:
    bpy.utils.register_class(SINEW_OT_open_manual)
    bpy.utils.register_manual_map(manual_map)


def unregister() -> None:
    bpy.utils.unregister_manual_map(manual_map)
    bpy.utils.unregister_class(SINEW_OT_open_manual)
