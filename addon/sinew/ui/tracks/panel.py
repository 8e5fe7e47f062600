"""Properties > Physics > Sinew: the panels of cloth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import bpy

from ...core.methods.tracks.settings import MATERIAL_GROUPS, is_woven
from ...scene import passengers, setup
from ...scene.sampler import AMOUNT
from ...setups.tracks.flesh_out import flesh_out, shows_guide
from ...setups.tracks.reading import looks_solid, pin_group
from ...setups.tracks.undeformed import UNDEFORMED, has_shape
from ..classes import asking, needs, registering, telling
from ..setup import methods, operators, properties
from ..setup.parts import (
    OfSetup,
    draw_animatable,
    draw_named,
    draw_notes,
    draw_object,
    draw_optional,
    draw_painted,
    draw_setting,
)
from .patches import has_patches

_props: Any = bpy.props  # the stubs say that its functions return nothing


class OfCloth(OfSetup):
    method = "tracks"


_seen_solid: tuple[tuple[int, ...], bool] = ((), False)  # the mesh that was looked at last, and what was seen


def _is_solid(ob: Any) -> bool:
    """Cheap enough to be asked at every redraw."""
    global _seen_solid
    mesh = ob.data
    key = (mesh.as_pointer(), len(mesh.vertices), len(mesh.polygons))
    if _seen_solid[0] != key:
        _seen_solid = (key, looks_solid(ob))
    return _seen_solid[1]


def _may_take_flesh(ob: Any, scene: Any) -> bool:
    """Whether it is closed all around, worn by nobody, and has a setup of cloth alone that was not baked yet."""
    entries = setup.all_of(ob, scene)
    is_new = [(entry.method, entry.bake) for entry in entries] == [("tracks", "")]
    return is_new and _is_solid(ob) and passengers.wearer(ob, scene) is None


class SINEW_OT_take_flesh(bpy.types.Operator):
    bl_idname = "sinew.take_flesh"
    bl_label = "Flesh Instead"
    bl_description = (
        "It is closed all around, as cloth an empty bag: give it a setup of Flesh, with an inside, in place of this one"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(
        operators.has_idle_setup,
        needs(
            lambda context: _may_take_flesh(context.object, context.scene),
            "Only what is closed all around, and was not baked as cloth, may take Flesh instead",
        ),
    )

    def execute(self, context: Any) -> Any:
        bpy.ops.sinew.remove()
        return bpy.ops.sinew.add(method="enrich")


def draw_controls(column: Any, item: Any, ob: Any) -> None:
    """The first settings: dials over the material that a preset has chosen."""
    if _may_take_flesh(ob, item.id_data):
        offer = column.row(align=True)
        offer.label(text="Closed: an empty bag", icon="INFO")
        offer.operator("sinew.take_flesh")
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
        turns = averages.column()
        turns.active = bool(item.regions > 0 or item.region_groups or item.guide_object)
        turns.prop(item, "region_turns")
        draw_setting(averages, item, "most_pull")
        shown = averages.row()
        shown.active = has_patches(item)
        shown.prop(item, "show_patches")
        draw_object(layout, item, "guide_object", ob)
        if item.guide_object:
            layout.prop(item, "guide_vertices")
            points = layout.column()
            points.active = item.guide_vertices
            points.prop(item, "guide_points")
        layout.operator("sinew.flesh_out", icon="MOD_SUBSURF")


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


class SINEW_PT_cloth_undeformed(OfCloth, bpy.types.Panel):
    bl_label = "Undeformed Shape"
    bl_order = 4
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        draw_named(layout, item, "undeformed_key", context.object)
        draw_object(layout, item, "undeformed_object", context.object)
        amount = layout.column()
        amount.active = has_shape(properties.settings_of(item))
        draw_animatable(
            amount, item, "undeformed_amount", context.object, UNDEFORMED, "sinew.animate_undeformed"
        )


class SINEW_OT_animate_undeformed(bpy.types.Operator):
    bl_idname = "sinew.animate_undeformed"
    bl_label = "Animate Undeformed Amount"
    bl_description = (
        "Set a key on the current frame for how much of the undeformed shape there is: from then on the object has an "
        "amount that can be animated"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.may_get_properties)

    def execute(self, context: Any) -> Any:
        item: Any = operators.active_item(context)
        operators.key_factor(context, UNDEFORMED, item.undeformed_amount, "How much of the undeformed shape there is")
        properties.write(item, "undeformed_amount", 1.0)  # it has gone into the object's, which it multiplies
        return {"FINISHED"}


class SINEW_OT_flesh_out(bpy.types.Operator):
    bl_idname = "sinew.flesh_out"
    bl_label = "Flesh Out"
    bl_description = (
        "Make a finer mesh of this one, with its materials, UV maps and vertex groups, that follows it and folds "
        "between its vertices"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.has_idle_setup, needs(lambda context: context.object.mode == "OBJECT", "Leave this mode"))

    @telling
    def execute(self: Any, context: Any) -> Any:
        fine = flesh_out(context.object, self.levels, context.scene)
        operators.select_only(context, fine)
        properties.refresh()
        self.report({"INFO"}, f'"{fine.name}" has {len(fine.data.vertices)} vertices')
        if not shows_guide(fine):
            self.report(
                {"WARNING"},
                f'"{fine.name}" follows its guide once it is baked: Blender does not show it there before, where edges '
                "of the guide have three faces, or faces are concave",
            )
        return {"FINISHED"}


SINEW_OT_flesh_out.__annotations__ = {
    "levels": _props.IntProperty(
        name="Levels", description="How often each face is cut into four", default=2, min=1, max=5
    )
}


class SINEW_PT_cloth_advanced(OfCloth, bpy.types.Panel):
    bl_label = "Advanced"
    bl_order = 5
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        for name in ("air", "wind"):
            draw_setting(layout, item, name)
        draw_optional(layout, item, "rest_frame")
        draw_optional(layout, item, "gravity")
        for name in ("real_size", "steps", "precision", "scheme", "newton_rounds"):
            draw_setting(layout, item, name)


CLASSES = (
    SINEW_OT_animate_undeformed,
    SINEW_OT_flesh_out,
    SINEW_OT_take_flesh,
    SINEW_PT_cloth_follow,
    SINEW_PT_cloth_material,
    SINEW_PT_cloth_undeformed,
    SINEW_PT_cloth_advanced,
)
_register, _unregister = registering(CLASSES)


def _look(values: Mapping[str, Any]) -> Sequence[str]:
    return ("weight", "bend", "stretch")


def register() -> None:
    methods.register("tracks", methods.Shown(draw_controls, look=_look))
    _register()


def unregister() -> None:
    _unregister()
    methods.unregister("tracks")
