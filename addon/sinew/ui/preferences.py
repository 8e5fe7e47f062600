"""Edit > Preferences > Add-ons > Sinew: what is the user's own and no file's."""

from __future__ import annotations

from typing import Any

import bpy

from ..core.base import native
from ..scene import file

_props: Any = bpy.props  # the stubs say that its functions return nothing
PACKAGE = __package__.rpartition(".")[0]  # sinew, or as an extension bl_ext.user_default.sinew


class SINEW_AddonPreferences(bpy.types.AddonPreferences):
    bl_idname = PACKAGE

    def draw(self: Any, context: Any) -> None:
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.prop(self, "threads")
        layout.prop(self, "folder")
        layout.operator("sinew.open_manual", icon="HELP")


def use() -> None:
    """Takes over what the user has chosen."""
    addon = bpy.context.preferences.addons.get(PACKAGE)
    chosen = addon.preferences if addon is not None else None
    native.module.set_threads(chosen.threads if chosen is not None else 0)
    file.default_folder = chosen.folder if chosen is not None else ""


def register() -> None:
    SINEW_AddonPreferences.__annotations__ = {
        "threads": _props.IntProperty(
            name="Threads",
            description="How many processor cores bakes use; 0 is all of them. Results are the same, to the bit",
            min=0,
            soft_max=64,
            max=1024,
            update=lambda _chosen, _context: use(),
        ),
        "folder": _props.StringProperty(
            name="Cache Folder",
            description="Where bakes lie, for scenes without a folder of their own. Empty is the folder sinew beside "
            "the file. In a folder here each file gets one of its own",
            subtype="DIR_PATH",
            update=lambda _chosen, _context: use(),
        ),
    }
    bpy.utils.register_class(SINEW_AddonPreferences)
    use()


def unregister() -> None:
    bpy.utils.unregister_class(SINEW_AddonPreferences)
    file.default_folder = ""
