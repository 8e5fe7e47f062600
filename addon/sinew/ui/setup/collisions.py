"""Properties > Physics > Sinew > Collisions: of every method whose bodies collide."""

from __future__ import annotations

from typing import Any

import bpy

from ... import setups
from ...core.bake.collisions import OFF
from ...scene.errors import SceneError
from ...scene.sampler import COLLIDE
from ..classes import asking, registering
from . import contacts, operators, properties, state
from .parts import OfSetup, draw_named, draw_notes, draw_text

_MOST = 4  # names that are told
UNSEEN = "Back to Animation, Amount other than 1 and a Max Offset do not see what is touched"


class OfColliding(OfSetup):
    @classmethod
    def poll(cls, context: Any) -> bool:
        return super().poll(context) and OFF in properties.settings_of(operators.active_item(context)).all()

    def columns(self: Any, context: Any) -> tuple[Any, Any]:
        layout, item = OfSetup.columns(self, context)
        layout.active = item.collide
        return layout, item


class SINEW_PT_collisions(OfColliding, bpy.types.Panel):
    bl_label = "Collisions"
    bl_order = 1

    def draw_header(self: Any, context: Any) -> None:
        self.layout.prop(operators.active_item(context), "collide", text="")

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        layout.prop(item, "self_collision")
        layout.prop(item, "object_collision")
        chosen = layout.column()
        chosen.active = item.object_collision
        row = chosen.row()
        row.alert = bool(item.collision_collection) and item.collision_collection not in bpy.data.collections
        row.prop_search(item, "collision_collection", bpy.data, "collections", text="Collection")
        draw_notes(layout, _met(item) if item.collide else [])
        layout.prop(item, "collision_distance")
        layout.prop(item, "friction")
        row = layout.row(heading="Ground")
        row.prop(item, "ground", text="")
        height = row.row()
        height.active = item.ground
        height.prop(item, "ground_height", text="Height")
        column = layout.column(heading="Show")
        column.active = contacts.has_contacts(item)
        column.prop(item, "show_contacts", text="Contacts")
        draw_notes(layout, contacts.told(item, context.scene) if item.show_contacts else [])


class SINEW_PT_collisions_more(OfColliding, bpy.types.Panel):
    bl_label = "More"
    bl_parent_id = "SINEW_PT_collisions"

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        ob = context.object
        layout.prop(item, "body_collision")
        layout.prop(item, "thickness")
        draw_named(layout, item, "thickness_group", ob)
        draw_named(layout, item, "friction_group", ob)
        layout.prop(item, "ignored_pairs")
        column = layout.column(heading="Where It Is Tight")
        column.prop(item, "keep_input")
        column.prop(item, "soft_collider")
        column.prop(item, "strict")
        row = layout.row(heading="Animated")
        if COLLIDE in ob:
            row.prop(ob, f'["{COLLIDE}"]', text="Collides", slider=True)
        else:
            row.operator("sinew.animate_collide", text="Key", icon="DECORATE_KEYFRAME")
        draw_text(layout, UNSEEN, "INFO", context.region.width)


def _met(item: Any) -> list[str]:
    """What a bake would collide with now."""
    settings = properties.settings_of(item)
    try:
        met = setups.meets([(item.object, settings)], item.id_data)
    except SceneError as error:
        return [str(error)]
    names = [ob.name for ob in met.objects]
    told = []
    if settings.object_collision:
        more = f" and {len(names) - _MOST} more" if len(names) > _MOST else ""
        told += [f"Meets {', '.join(names[:_MOST])}{more}" if names else "No object has Collision physics"]
        if not names and settings.collision_collection:
            told = ["The collection has nothing to meet"]
    together = state.together_with(item)
    return [*told, *([f"Together with {', '.join(together[:_MOST])}"] if together else [])]


class SINEW_OT_animate_collide(bpy.types.Operator):
    bl_idname = "sinew.animate_collide"
    bl_label = "Animate Collide"
    bl_description = (
        "Set a key on the current frame for whether the body collides: at 0 it passes through everything, at 1 it does "
        "not"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.may_get_properties)

    def execute(self, context: Any) -> Any:
        operators.key_factor(context, COLLIDE, 1.0, "Whether the body collides: above 0")
        return {"FINISHED"}


PANELS = (SINEW_PT_collisions, SINEW_PT_collisions_more)
register, unregister = registering((SINEW_OT_animate_collide, *PANELS))
