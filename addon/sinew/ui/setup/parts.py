"""What panels are drawn with."""

from __future__ import annotations

from typing import Any

import bpy

from ...scene import attributes, compat, setup
from .. import job_operator
from . import operators, properties, state


class Physics:
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"
    bl_options: Any = {"DEFAULT_CLOSED"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return context.object is not None and context.object.type == "MESH"


class OfSetup(Physics):
    """A panel of the chosen setup of the active object."""

    bl_parent_id = "SINEW_PT_setup"
    method = ""  # only for setups of that method

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not super().poll(context) or operators.active_item(context) is None:
            return False
        entry = setup.find_of(context.object, context.scene)
        return entry is not None and cls.method in ("", entry.method)

    def columns(self: Any, context: Any) -> tuple[Any, Any]:
        """The layout, and the setup whose values it shows."""
        layout = self.layout
        layout.use_property_split = True
        layout.use_property_decorate = False
        layout.enabled = not job_operator.is_running(context.object.name)
        return layout, operators.active_item(context)


def draw_progress(layout: Any) -> None:
    compat.draw_progress(layout, *job_operator.progress())


def draw_text(layout: Any, text: str, icon: str, width: int) -> None:
    """A sentence in as many lines as it needs."""
    for index, line in enumerate(state.wrapped(text, width)):
        layout.label(text=line, icon=icon if index == 0 else "BLANK1")


def draw_notes(layout: Any, lines: list[str]) -> None:
    """Grey lines below a property."""
    column = layout.column(align=True)
    column.active = False
    column.scale_y = 0.8
    for line in lines:
        row = column.row()
        row.alignment = "RIGHT"
        row.label(text=line)


def refresh_soon() -> None:
    """Lists setups that a script or the command stored. Drawing must not change anything, so a timer does."""
    if not bpy.app.timers.is_registered(properties.refresh):
        bpy.app.timers.register(properties.refresh, first_interval=0.0)


def draw_over_time(layout: Any, ob: Any, name: str) -> None:
    row = layout.row()
    row.use_property_decorate = True  # the dot that sets a key
    row.prop(ob, f'["{name}"]', text="Over Time", slider=True)


def draw_rows(layout: Any, item: Any, panel: str) -> None:
    """The settings that are declared to be plain rows there."""
    for name, one in properties.settings_of(item).all().items():
        if one.panel == panel:
            layout.prop(item, name)


def draw_group(layout: Any, item: Any, name: str, ob: Any, text: str = "") -> None:
    """A vertex group or an attribute to choose, red where the object has none of that name."""
    row = layout.row()
    row.alert = bool(getattr(item, name)) and not attributes.has_weights(ob, getattr(item, name))
    row.prop(item, name, text=text or properties.label(name), icon="GROUP_VERTEX")


def draw_shape_key(layout: Any, item: Any, name: str, ob: Any) -> None:
    """A shape key to choose, red where the object has none of that name."""
    row, keys = layout.row(), ob.data.shape_keys
    row.alert = bool(getattr(item, name)) and (keys is None or getattr(item, name) not in keys.key_blocks)
    if keys is not None:
        row.prop_search(item, name, keys, "key_blocks", text=properties.label(name))
    else:
        row.active = row.alert
        row.prop(item, name)


def draw_optional(layout: Any, item: Any, name: str) -> None:
    """A value that is the scene's unless its box is ticked."""
    row = layout.row(heading=properties.label(name))
    row.prop(item, f"use_{name}", text="")
    value = row.column() if name == "gravity" else row.row()
    value.enabled = getattr(item, f"use_{name}")
    value.prop(item, name, text="")
