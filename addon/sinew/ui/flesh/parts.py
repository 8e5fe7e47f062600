"""What panels of flesh are drawn with."""

from __future__ import annotations

from typing import Any

from ...scene.sampler import AMOUNT
from ..setup.parts import OfSetup, draw_animatable, draw_named, draw_notes


def draw_swing(column: Any, item: Any, ob: Any) -> None:
    """How free parts swing, and how much of it is seen."""
    swing = column.column()
    swing.active = item.young == 0.0  # a material takes their place
    swing.prop(item, "jiggle")
    swing.prop(item, "settle")
    if not swing.active:
        draw_notes(column, ["Given by the material"])
    draw_animatable(column, item, "amount", ob, AMOUNT, "sinew.animate_amount")
    if item.collide and (item.amount != 1.0 or AMOUNT in ob):
        draw_notes(column, ["Other than 1 it does not see what flesh touches"])


class AfterTheBake(OfSetup):
    """A finished bake is drawn back to the animation."""

    bl_label = "After the Bake"
    bl_order = 2

    def draw(self, context: Any) -> None:
        layout, item = self.columns(context)
        layout.prop(item, "follow_after", slider=True)
        group = layout.row()
        group.active = item.follow_after > 0.0
        draw_named(group, item, "follow_after_group", context.object, "Vertex Group")
        buttons = layout.row(align=True)
        buttons.operator("sinew.make_after_group", text="Make Group", icon="GROUP_VERTEX")
        buttons.operator("sinew.paint_after_group", icon="WPAINT_HLT")
        layout.operator("sinew.apply_after", icon="CHECKMARK")
        if item.collide:
            draw_notes(layout, ["Does not see what flesh touches"])
