"""F1 over a button of ours opens the page of the manual about it, which comes with Sinew."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Any

import bpy

FOLDER = Path(__file__).parents[1] / "manual"
PAGE = "artist.html"
# By what Blender calls the thing under the mouse, the first that matches; each a page and the heading of a section.
_SECTIONS = (
    ("bpy.ops.sinew.*edit*", "edit.html#in-the-window"),
    ("bpy.ops.sinew.*handle*", "edit.html#in-the-window"),
    ("bpy.ops.sinew.pull*", "edit.html#in-the-window"),
    ("bpy.ops.sinew.find_face*", "face.html#what-it-finds-by-itself"),
    ("bpy.ops.sinew.*bone*", "face.html#what-it-finds-by-itself"),
    ("bpy.ops.sinew.*key_stiffness*", "face.html#dials"),
    ("bpy.ops.sinew.clean_up*", "faq.html#disk-space"),
    ("bpy.ops.sinew.open_folder*", "faq.html#disk-space"),
    ("bpy.ops.sinew.copy_settings*", "faq.html#copying-settings-and-weights"),
    ("bpy.ops.sinew.*after_group*", "tuning.html#after-the-bake"),
    ("bpy.ops.sinew.*spread*", "painting.html#a-few-strokes-spread"),
    ("bpy.ops.sinew.*group*", "painting.html#the-follow-group"),
    ("bpy.ops.sinew.*cage*", "tuning.html#see-the-cage"),
    ("bpy.ops.sinew.trial_fit*", "tuning.html#see-the-cage"),
    ("bpy.ops.sinew.*passenger*", "first-bake.html#clothes-eyes-hair-attached-meshes"),
    ("bpy.ops.sinew.*preset*", "tuning.html#presets"),
    ("bpy.ops.sinew.*after*", "tuning.html#after-the-bake"),
    ("bpy.ops.sinew.*collide*", "collisions.html#what-it-meets"),
    ("bpy.ops.sinew.*_all*", "first-bake.html#many-characters"),
    ("bpy.ops.sinew.*", "first-bake.html#the-first-bake"),
    ("bpy.types.sinew_pg_handle.*", "edit.html#in-the-window"),
    ("bpy.types.sinew_pg_setup.edit*", "edit.html#in-the-window"),
    ("bpy.types.sinew_pg_setup.*colli*", "collisions.html#tick-and-bake"),
    ("bpy.types.sinew_pg_setup.initial_*", "collisions.html#free-bodies"),
    ("bpy.types.sinew_pg_setup.free_body*", "collisions.html#free-bodies"),
    ("bpy.types.sinew_pg_setup.*_group*", "painting.html#regions"),
    ("bpy.types.sinew_pg_setup.*", "reference.html#reference-every-setting"),
    ("bpy.types.sinew_pg_*", "first-bake.html#the-first-bake"),
)


def manual_map() -> tuple[str, tuple[tuple[str, str], ...]]:
    """As `bpy.utils.register_manual_map` wants it: what all addresses begin with, then patterns and their ends."""
    return f"{FOLDER.as_uri()}/", _SECTIONS


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
