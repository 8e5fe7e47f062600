"""A finished bake for other programs: as a PC2, and as shape keys of a copy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy

from ... import setups
from ..classes import asking, registering, telling, unless
from . import operators, state

_props: Any = bpy.props  # the stubs say that its functions return nothing

_has_bake = unless(lambda context: setups.why_no_export(context.object, context.scene, state.target()))


class SINEW_OT_export_pc2(bpy.types.Operator):
    bl_idname = "sinew.export_pc2"
    bl_label = "Save PC2"
    bl_description = "Write the bake into a PC2 point cache, which other programs play. Only the range that plays"

    poll = asking(operators.has_idle_setup, _has_bake)

    def invoke(self: Any, context: Any, event: Any) -> Any:
        if not self.filepath:
            self.filepath = f"{context.object.name}.pc2"
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    @telling
    def execute(self: Any, context: Any) -> Any:
        path = Path(bpy.path.abspath(bpy.path.ensure_ext(self.filepath, ".pc2")))
        count = setups.export_pc2(context.object, context.scene, state.target(), path)
        self.report({"INFO"}, f"{path.name}: {count} samples")
        return {"FINISHED"}


class SINEW_OT_make_shape_keys(bpy.types.Operator):
    bl_idname = "sinew.make_shape_keys"
    bl_label = "To Shape Keys"
    bl_description = (
        "Make a copy of the object that has a shape key for each frame of the bake, keyed in turn, and needs neither "
        "the bake nor Sinew: for exports. The object itself stays as it is"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.has_idle_setup, _has_bake)

    @telling
    def execute(self: Any, context: Any) -> Any:
        made = setups.make_shape_keys(context.object, context.scene, state.target())
        self.report({"INFO"}, f'"{made.name}" has {len(made.data.shape_keys.key_blocks) - 1} shape keys')
        return {"FINISHED"}


SINEW_OT_export_pc2.__annotations__ = {
    "filepath": _props.StringProperty(name="File", description="Where it is written", subtype="FILE_PATH"),
    "filter_glob": _props.StringProperty(
        name="Shown", description="Which files are shown", default="*.pc2", options={"HIDDEN"}
    ),
}
register, unregister = registering((SINEW_OT_export_pc2, SINEW_OT_make_shape_keys))
