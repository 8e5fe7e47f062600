"""Object > Sinew in the 3D viewport, where F3 finds it too."""

from __future__ import annotations

from typing import Any

import bpy

from .panel import draw_other_methods


class SINEW_MT_object(bpy.types.Menu):
    bl_label = "Sinew"
    bl_description = "Physics for animations that exist already"

    def draw(self: Any, context: Any) -> None:
        layout = self.layout
        layout.operator_context = "INVOKE_DEFAULT"
        layout.operator("sinew.add", icon="ADD")
        draw_other_methods(layout)
        layout.separator()
        layout.operator("sinew.bake", icon="PHYSICS")
        layout.operator("sinew.preview", icon="HIDE_OFF")
        layout.operator("sinew.bake_all")
        layout.operator("sinew.edit_motion", icon="RESTRICT_SELECT_OFF")
        layout.operator("sinew.delete_bake", icon="TRASH")
        layout.separator()
        layout.operator("sinew.show", text="Show Input").result = False
        layout.operator("sinew.show", text="Show Result").result = True
        layout.separator()
        layout.operator("sinew.copy_settings", icon="COPYDOWN")
        layout.operator("sinew.remove", icon="X")
        layout.separator()
        layout.operator("sinew.open_manual", icon="HELP")


def _draw(menu: Any, context: Any) -> None:
    menu.layout.separator()
    menu.layout.menu("SINEW_MT_object", icon="PHYSICS")


def register() -> None:
    bpy.utils.register_class(SINEW_MT_object)
    bpy.types.VIEW3D_MT_object.append(_draw)


def unregister() -> None:
    bpy.types.VIEW3D_MT_object.remove(_draw)
    bpy.utils.unregister_class(SINEW_MT_object)
