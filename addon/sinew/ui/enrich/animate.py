"""A factor of the follow weights that can be keyed: flesh is let go, and caught again."""

from __future__ import annotations

from typing import Any

import bpy

from ...setups.flesh.outer import FOLLOW
from ..classes import asking, registering
from ..setup import operators, properties


class SINEW_OT_animate_follow(bpy.types.Operator):
    bl_idname = "sinew.animate_follow"
    bl_label = "Animate Follow"
    bl_description = (
        "Set a key on the current frame for a factor of the follow weights: at 0 all flesh is let go, at 1 it follows "
        "as painted"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.may_get_properties)

    def execute(self, context: Any) -> Any:
        operators.key_factor(context, FOLLOW, 1.0, "What multiplies the follow weights")
        properties.write(operators.active_item(context), "follow_animated", True)
        return {"FINISHED"}


register, unregister = registering((SINEW_OT_animate_follow,))
