"""What shows in Blender when Sinew cannot run: one sentence in its panel that says what to do."""

from __future__ import annotations

import textwrap
from typing import Any

import bpy

problem = ""


class SINEW_PT_unavailable(bpy.types.Panel):
    bl_label = "Sinew"
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is not None and context.object.type == "MESH"

    def draw(self: Any, context: Any) -> None:
        scale = context.preferences.system.ui_scale or 1.0
        column = self.layout.column(align=True)
        lines = textwrap.wrap(problem, max(20, int(context.region.width / (6.5 * scale)) - 8))
        for index, line in enumerate(lines):
            column.label(text=line, icon="ERROR" if index == 0 else "BLANK1")


def register(sentence: str) -> None:
    global problem
    problem = sentence
    print(f"Sinew: {sentence}")
    bpy.utils.register_class(SINEW_PT_unavailable)


def unregister() -> None:
    global problem
    problem = ""
    bpy.utils.unregister_class(SINEW_PT_unavailable)


def is_registered() -> bool:
    return bool(problem)
