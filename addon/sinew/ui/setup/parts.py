"""What panels are drawn with."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import bpy

from ...core.base.settings import UV_MAP, VERTEX_GROUP
from ...scene import compat, setup
from ...setups import named
from .. import job_operator
from . import operators, properties, state

_props: Any = bpy.props  # the stubs say that its functions return nothing
BOX_LINES = 3


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
        layout.use_property_split = layout.use_property_decorate = True
        layout.enabled = not job_operator.is_running(context.object.name)
        return layout, operators.active_item(context)


def draw_progress(layout: Any) -> None:
    """As high as `draw_box`."""
    box = layout.box().column(align=True)
    compat.draw_progress(box, *job_operator.progress())
    for _ in range(BOX_LINES - 1):
        box.label(text="", icon="BLANK1")


def draw_text(layout: Any, text: str, icon: str, width: int) -> None:
    """A sentence in as many lines as it needs."""
    for index, line in enumerate(state.wrapped(text, width)):
        layout.label(text=line, icon=icon if index == 0 else "BLANK1")


@dataclass(frozen=True)
class Told:
    """A sentence of the state box."""

    text: str
    icon: str
    alert: bool = False  # in the theme's colour for what is wrong


def draw_box(layout: Any, sentences: list[Told], width: int) -> None:
    """A box that keeps its height, whatever it says: what lies below must not slide under the mouse. Where there is
    more to say, its last line opens all of it."""
    box = layout.box().column(align=True)
    lines = [
        Told(line, one.icon if index == 0 else "BLANK1", one.alert)
        for one in sentences
        for index, line in enumerate(state.wrapped(one.text, width))
    ]
    is_long = len(lines) > BOX_LINES
    for number in range(BOX_LINES):
        row = box.row(align=True)
        line = lines[number] if number < len(lines) else Told("", "BLANK1")
        row.alert = line.alert
        row.label(text=line.text, icon=line.icon)
        if is_long and number == BOX_LINES - 1:
            more = row.operator("sinew.tell", text="", icon="THREE_DOTS", emboss=False)
            more.text = "\n".join(one.text for one in sentences)


class SINEW_OT_tell(bpy.types.Operator):
    bl_idname = "sinew.tell"
    bl_label = "More"
    bl_options = {"INTERNAL"}

    @classmethod
    def description(cls, context: Any, values: Any) -> str:
        return str(values.text)

    def execute(self: Any, context: Any) -> Any:
        lines = [line for sentence in self.text.split("\n") for line in textwrap.wrap(sentence, 70)]

        def draw(menu: Any, _: Any) -> None:
            for line in lines:
                menu.layout.label(text=line)

        if not bpy.app.background:
            context.window_manager.popup_menu(draw, title="Sinew")
        return {"FINISHED"}


def draw_notes(layout: Any, lines: list[str]) -> None:
    """Grey lines below a property."""
    column = layout.column(align=True)
    column.active = False
    column.scale_y = 0.8
    for line in lines:
        row = column.row()
        row.alignment = "RIGHT"
        row.label(text=line)


def adopt_soon(context: Any) -> None:
    """Looks whether what is selected are copies: just duplicated or appended, it brings setups along."""
    if any(setup.copied(ob) for ob in {context.object, *context.selected_objects} if ob is not None):
        refresh_soon()


def refresh_soon() -> None:
    """Lists setups that a script or the command stored. Drawing must not change anything, so a timer does."""
    if not bpy.app.timers.is_registered(properties.refresh):
        bpy.app.timers.register(properties.refresh, first_interval=0.0)


def draw_setting(layout: Any, item: Any, name: str, text: str = "") -> None:
    """A plain row. Where 0 has a name, the name is a button, and beside a number there is one that goes back to it."""
    one = properties.declared()[name]
    if not one.zero:
        layout.prop(item, name, **({"text": text} if text else {}))
    elif getattr(item, name) == 0:
        row = layout.row(heading=text or one.title)
        row.prop(item, f"zero_{name}", text=one.zero, toggle=True)
    else:
        row = layout.row(align=True)
        row.prop(item, name, text=text or one.title)
        row.prop(item, f"zero_{name}", text="", icon="LOOP_BACK", toggle=True)


def draw_animatable(layout: Any, item: Any, name: str, ob: Any, factor: str, operator: str) -> None:
    """A setting with the dot that sets a key. A setting itself cannot be keyed, but a property of the object that
    multiplies it can: once there is one, it is the slider that shows."""
    if factor in ob:
        layout.prop(ob, f'["{factor}"]', text=properties.label(name), slider=True)
        if getattr(item, name) != 1.0:  # by a preset, chosen since
            layout.prop(item, name, text=f"{properties.label(name)} ×", slider=True)
        return
    row = layout.row(align=True)
    row.use_property_decorate = False
    row.row().prop(item, name, slider=True)  # apart, so that its label is as wide as the others
    row.operator(operator, text="", icon="DECORATE", emboss=False)


def draw_rows(layout: Any, item: Any, panel: str) -> None:
    """The settings that are declared to be plain rows there."""
    for name, one in properties.settings_of(item).all().items():
        if one.panel == panel:
            draw_setting(layout, item, name)


def draw_named(layout: Any, item: Any, name: str, ob: Any, text: str = "") -> None:
    """What of the object a setting names (a vertex group or an attribute, a shape key, a UV map), red where the object
    has none of that name."""
    row, chosen, kind = layout.row(), getattr(item, name), properties.declared()[name].names
    row.alert = not named.is_there(ob, kind, chosen)
    text = text or properties.label(name)
    keys = ob.data.shape_keys
    if kind == VERTEX_GROUP:
        row.prop(item, name, text=text, icon="GROUP_VERTEX")
    elif kind == UV_MAP:
        row.prop_search(item, name, ob.data, "uv_layers", text=text)
    elif keys is not None:
        row.prop_search(item, name, keys, "key_blocks", text=text)
    else:
        row.active = row.alert
        row.prop(item, name, text=text)


def draw_painted(layout: Any, item: Any, region: str, ob: Any, text: str = "") -> None:
    """A vertex group that changes the material, and what a weight of 1 does, grey where there is nothing to say it
    of."""
    column = layout.column(align=True)
    draw_named(column, item, f"{region}_group", ob, text)
    painted = column.row(align=True)
    painted.active = bool(getattr(item, f"{region}_group"))
    painted.prop(item, f"{region}_painted")


def draw_object(layout: Any, item: Any, name: str, ob: Any) -> None:
    """Another mesh to choose, red where there is none of that name."""
    row = layout.row()
    chosen = bpy.data.objects.get(getattr(item, name))
    row.alert = bool(getattr(item, name)) and (chosen is None or chosen == ob or chosen.type != "MESH")
    row.prop_search(item, name, bpy.context.scene, "objects", text=properties.label(name))


def draw_optional(layout: Any, item: Any, name: str) -> None:
    """A value that is the scene's unless its box is ticked."""
    row = layout.row(heading=properties.label(name))
    row.prop(item, f"use_{name}", text="")
    value = row.column() if name == "gravity" else row.row()
    value.enabled = getattr(item, f"use_{name}")
    value.prop(item, name, text="")


def register() -> None:
    SINEW_OT_tell.__annotations__ = {
        "text": _props.StringProperty(name="Text", description="All that there is to say", options={"HIDDEN"})
    }
    bpy.utils.register_class(SINEW_OT_tell)


def unregister() -> None:
    bpy.utils.unregister_class(SINEW_OT_tell)
