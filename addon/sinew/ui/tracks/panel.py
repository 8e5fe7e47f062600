"""Properties > Physics > Sinew: the panels of cloth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from ...core.methods.tracks.settings import MATERIAL_GROUPS, is_woven
from ...scene.sampler import AMOUNT
from ...setups.tracks.reading import pin_group
from ..classes import registering
from ..setup import methods, properties
from ..setup.parts import (
    OfSetup,
    draw_animatable,
    draw_named,
    draw_notes,
    draw_optional,
    draw_painted,
    draw_setting,
)


class OfCloth(OfSetup):
    method = "tracks"


def draw_controls(column: Any, item: Any, ob: Any) -> None:
    """The first settings: dials over the material that a preset has chosen."""
    for name in ("stiff", "heavy", "crumple", "calm", "wrinkle_size"):
        draw_setting(column, item, name)
    draw_animatable(column, item, "amount", ob, AMOUNT, "sinew.animate_amount")


class SINEW_PT_cloth_follow(OfCloth, bpy.types.Panel):
    bl_label = "Follow"
    bl_order = 1
    bl_options: Any = set()

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        ob = context.object
        draw_named(layout, item, "pin_group", ob, "Pin Group")
        if not item.pin_group:
            used = pin_group(ob, properties.settings_of(item))
            draw_notes(layout, [f"Uses {used}" if used else "Waist, collar and cuffs, by itself"])
        draw_setting(layout, item, "hold")
        averages = layout.column(align=True)
        averages.label(text="Follow on Average")
        draw_setting(averages, item, "regions")
        patches = averages.column()
        patches.active = item.regions > 0
        draw_setting(patches, item, "flat")
        draw_setting(averages, item, "region_groups")


class SINEW_PT_cloth_material(OfCloth, bpy.types.Panel):
    bl_label = "Material"
    bl_order = 2

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        for name in ("weight", "stretch", "bend", "contraction", "stretch_limit", "crease"):
            draw_setting(layout, item, name)
        hard = layout.column()
        hard.active = item.crease > 0.0
        draw_setting(hard, item, "hardening")
        threads = layout.column(align=True)
        threads.label(text="Threads")
        for name in ("shear", "weft", "weft_bend"):
            draw_setting(threads, item, name)
        woven = layout.column()
        woven.active = is_woven(properties.settings_of(item))
        draw_named(woven, item, "warp_map", context.object)
        for name in MATERIAL_GROUPS:
            draw_painted(layout, item, name, context.object, f"{properties.label(name + '_group')} Group")


class SINEW_PT_cloth_advanced(OfCloth, bpy.types.Panel):
    bl_label = "Advanced"
    bl_order = 5
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        for name in ("air", "wind"):
            draw_setting(layout, item, name)
        draw_named(layout, item, "undeformed_key", context.object)
        draw_optional(layout, item, "rest_frame")
        draw_optional(layout, item, "gravity")
        for name in ("real_size", "steps", "precision", "scheme", "newton_rounds"):
            draw_setting(layout, item, name)


CLASSES = (SINEW_PT_cloth_follow, SINEW_PT_cloth_material, SINEW_PT_cloth_advanced)
_register, _unregister = registering(CLASSES)


def _look(values: Mapping[str, Any]) -> Sequence[str]:
    return ("weight", "bend", "stretch")


def register() -> None:
    methods.register("tracks", methods.Shown(draw_controls, look=_look))
    _register()


def unregister() -> None:
    _unregister()
    methods.unregister("tracks")
