"""The presets menu in the panel's header, as Blender's own: those of Sinew first, then the user's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
from bl_ui.utils import PresetPanel

from ...core.base.errors import BadInput
from ...core.methods import presets
from ...scene import setup
from .. import background
from ..classes import asking, needs, telling
from . import methods, operators, properties

_props: Any = bpy.props  # the stubs say that its functions return nothing
_NEW = "New Preset"


def folder() -> Path:
    """Where the user's presets lie, with those of Blender."""
    return Path(bpy.utils.user_resource("SCRIPTS", path=str(Path("presets") / "sinew")))


def find(name: str, own: bool) -> presets.Preset | None:
    return (presets.load_own(folder()) if own else presets.load_all()).get(name)


class SINEW_PT_presets(PresetPanel, bpy.types.Panel):
    bl_label = "Sinew Presets"

    def draw(self: Any, context: Any) -> None:
        layout = self.layout
        layout.emboss = "PULLDOWN_MENU"
        layout.operator_context = "EXEC_DEFAULT"
        item = operators.active_item(context)
        if item is None:
            return
        now = properties.settings_of(item).look()
        entry = setup.find_of(item.object, item.id_data)
        method = entry.method if entry is not None else ""
        known = [preset for preset in presets.load_all().values() if preset.method == method]
        own = [preset for preset in presets.load_own(folder()).values() if preset.method == method]
        _draw_presets(layout, "Looks", [one for one in known if not one.is_material], now)
        _draw_presets(layout, "Materials", [one for one in known if one.is_material], now)
        _draw_presets(layout, "Your Own", own, now, own=True)
        row = layout.row()
        field = row.row()
        field.emboss = "NORMAL"
        field.prop(context.window_manager, "preset_name", text="")
        row.operator("sinew.add_preset", text="", icon="ADD").name = context.window_manager.preset_name


def _draw_presets(
    layout: Any, heading: str, found: list[presets.Preset], now: dict[str, Any], *, own: bool = False
) -> None:
    if found:
        column = layout.column(align=True)
        column.label(text=heading)
        for preset in found:
            _draw_preset(column, preset, now, own=own)
        layout.separator()


def _draw_preset(column: Any, preset: presets.Preset, now: dict[str, Any], *, own: bool) -> None:
    row = column.row(align=True)
    icon = "CHECKMARK" if preset.values == now else "BLANK1"
    chosen = row.operator("sinew.apply_preset", text=preset.label, icon=icon, translate=False)
    chosen.name, chosen.own = preset.name, own
    if own:
        row.operator("sinew.remove_preset", text="", icon="REMOVE").name = preset.name


def _told(preset: presets.Preset) -> Iterator[str]:
    """The values that speak for a preset."""
    for key in methods.by_name(preset.method).look(preset.values):
        value = preset.values[key]
        yield f"{properties.label(key)} {f'{value:g}' if isinstance(value, float) else value}"


class _OfSetup:
    poll = asking(needs(operators.active_item, "Select an object with a Sinew setup"))


class SINEW_OT_apply_preset(_OfSetup, bpy.types.Operator):
    bl_idname = "sinew.apply_preset"
    bl_label = "Apply Preset"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    @classmethod
    def description(cls, context: Any, values: Any) -> str:
        preset = find(values.name, values.own)
        if preset is None:
            return "The preset is gone"
        return f"{preset.description}. {', '.join(_told(preset))}"

    @telling
    def execute(self: Any, context: Any) -> Any:
        preset = find(self.name, self.own)
        if preset is None:
            raise BadInput(f'The preset "{self.name}" is gone: choose another.')
        item = operators.active_item(context)
        entry = setup.find_of(item.object, item.id_data)
        if entry is not None and preset.method != entry.method:
            raise BadInput(f"{preset.label} is a preset of {methods.label(preset.method)}: choose another.")
        for name, value in preset.values.items():
            properties.write(item, name, value)
        background.redraw()  # also of the panel below the open menu
        return {"FINISHED"}


class SINEW_OT_add_preset(_OfSetup, bpy.types.Operator):
    bl_idname = "sinew.add_preset"
    bl_label = "Add Preset"
    bl_description = "Keep the look of this setup under this name"
    bl_options = {"REGISTER", "INTERNAL"}

    @telling
    def execute(self: Any, context: Any) -> Any:
        item: Any = operators.active_item(context)
        entry = setup.find_of(item.object, item.id_data) or setup.Setup("")
        saved = presets.save_own(folder(), self.name, properties.settings_of(item), entry.method)
        context.window_manager.preset_name = _NEW
        self.report({"INFO"}, f'Preset "{saved.label}" is kept')
        return {"FINISHED"}


class SINEW_OT_remove_preset(_OfSetup, bpy.types.Operator):
    bl_idname = "sinew.remove_preset"
    bl_label = "Remove Preset"
    bl_description = "Delete this preset of yours. Setups that used it keep their values"
    bl_options = {"REGISTER", "INTERNAL"}

    @telling
    def execute(self: Any, context: Any) -> Any:
        presets.remove_own(folder(), self.name)
        return {"FINISHED"}


CLASSES = (SINEW_PT_presets, SINEW_OT_apply_preset, SINEW_OT_add_preset, SINEW_OT_remove_preset)


def register() -> None:
    for operator in CLASSES[1:]:
        operator.__annotations__ = {"name": _props.StringProperty(name="Name", description="Name of the preset")}
    own = _props.BoolProperty(name="Own", description="A preset of the user's own, not one of Sinew's")
    SINEW_OT_apply_preset.__annotations__["own"] = own
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
