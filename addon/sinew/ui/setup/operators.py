"""The buttons of Properties > Physics > Sinew."""

from __future__ import annotations

from typing import Any

import bpy

from ... import setups
from ...core.bake.method import known
from ...core.base.errors import Error
from ...scene import setup, stack
from ...scene.objects import why_not
from ...scene.sampler import AMOUNT, FOLLOW
from .. import job_operator
from . import properties, saving

_props: Any = bpy.props  # the stubs say that its functions return nothing


def active_item(context: Any) -> Any | None:
    """The setup of the active object, or None."""
    return properties.find(context.scene, context.object)


def _is_mesh(cls: Any, context: Any) -> bool:
    if context.object is not None and context.object.type == "MESH":
        return True
    cls.poll_message_set(why_not(context.object) if context.object is not None else "Select a mesh object")
    return False


def _has_setup(cls: Any, context: Any) -> bool:
    if not _is_mesh(cls, context):
        return False
    if setup.find_of(context.object, context.scene) is not None:
        return True
    cls.poll_message_set("This object has no Sinew setup: add one first")
    return False


def _is_idle(cls: Any, context: Any) -> bool:
    if not job_operator.is_running():
        return True
    cls.poll_message_set("A bake is running: wait for it, or cancel it")
    return False


def has_idle_setup(cls: Any, context: Any) -> bool:
    """Whether the active object has a setup and nothing is being baked."""
    return _has_setup(cls, context) and _is_idle(cls, context)


def can_look(cls: Any, context: Any) -> bool:
    """Whether the rest shape of the active object can be looked at."""
    if not has_idle_setup(cls, context):
        return False
    if context.object.mode == "EDIT":
        cls.poll_message_set("Leave edit mode first")
        return False
    return True


def can_paint(cls: Any, ob: Any, name: str) -> bool:
    """Whether there is a vertex group of that name; the tooltip says why not."""
    if name in ob.vertex_groups:
        return True
    made = f'"{name}" is an attribute: change what stores it' if name else "There is no vertex group yet: make one"
    cls.poll_message_set(made)
    return False


def paint(ob: Any, name: str) -> bool:
    """Goes to weight painting with that vertex group; False where there is none."""
    group = ob.vertex_groups.get(name)
    if group is None:
        return False
    ob.vertex_groups.active_index = group.index
    if ob.mode != "WEIGHT_PAINT":
        bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
    return True


class SINEW_OT_add(bpy.types.Operator):
    bl_idname = "sinew.add"
    bl_label = "Add Sinew"
    bl_description = "Enrich this mesh: its animation stays, and soft parts move with weight"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not _is_mesh(cls, context):
            return False
        methods = {entry.method for entry in setup.all_of(context.object, context.scene)}
        if methods >= {method.name for method in known()}:
            cls.poll_message_set("This object has a Sinew setup already")
            return False
        reason = "" if context.object.mode == "EDIT" else why_not(context.object)
        if reason:
            cls.poll_message_set(reason)
        return not reason

    def execute(self: Any, context: Any) -> Any:
        ob, scene = context.object, context.scene
        if setup.find_of(ob, scene, self.method) is not None:
            self.report({"ERROR"}, "This object has such a setup already")
            return {"CANCELLED"}
        entry = setups.new_setup(ob, scene, self.method)
        setup.save_of(ob, entry, scene)
        if len(setup.all_of(ob, scene)) > 1:
            setup.choose(ob, entry.id, scene)
        properties.refresh()
        return {"FINISHED"}


class SINEW_OT_choose(bpy.types.Operator):
    bl_idname = "sinew.choose"
    bl_label = "Choose Setup"
    bl_description = "Show this setup of the object"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return has_idle_setup(cls, context)

    def execute(self: Any, context: Any) -> Any:
        setup.choose(context.object, self.id, context.scene)
        job_operator.forget_message()
        properties.refresh()
        return {"FINISHED"}


class SINEW_OT_remove(bpy.types.Operator):
    bl_idname = "sinew.remove"
    bl_label = "Remove Sinew"
    bl_description = "Remove the setup and the modifier that plays its bake: the animation is as it was"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return has_idle_setup(cls, context)

    def execute(self, context: Any) -> Any:
        entry = setup.find_of(context.object, context.scene)
        for bake_id in (entry.bake, entry.previous) if entry is not None else ():
            saving.remember(bake_id)
        job_operator.forget_message()
        setups.clear(context.object, context.scene)
        setup.remove(context.object, context.scene, entry.id if entry is not None else "")
        properties.refresh()
        return {"FINISHED"}


class SINEW_OT_show(bpy.types.Operator):
    bl_idname = "sinew.show"
    bl_label = "Show"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def description(cls, context: Any, values: Any) -> str:
        return "Play the bake" if values.result else "Play the animation as it is without Sinew"

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not _is_mesh(cls, context):
            return False
        if stack.own_modifier(context.object) is None:
            cls.poll_message_set("There is no bake to show")
            return False
        return True

    def execute(self: Any, context: Any) -> Any:
        for modifier in setups.playing_modifiers(context.object, context.scene):
            modifier.show_viewport = modifier.show_render = self.result
        return {"FINISHED"}


class SINEW_OT_make_follow_group(bpy.types.Operator):
    bl_idname = "sinew.make_follow_group"
    bl_label = "Make One"
    bl_description = (
        "Make a vertex group from the bones and the thickness of the mesh, to paint on: "
        "1 follows the animation exactly, 0 is free"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return can_look(cls, context)

    def execute(self: Any, context: Any) -> Any:
        properties.refresh()
        item: Any = active_item(context)
        try:
            name = setups.make_follow_group(context.object.name, properties.values_of(item))
        except Error as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        item.follow_group = name
        return {"FINISHED"}


class SINEW_OT_paint_follow_group(bpy.types.Operator):
    bl_idname = "sinew.paint_follow_group"
    bl_label = "Paint"
    bl_description = "Paint the follow group: red follows the animation exactly, blue is free"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        if not _has_setup(cls, context):
            return False
        item = active_item(context)
        ob = context.object
        return item is not None and can_paint(cls, ob, setups.follow_group(ob, properties.settings_of(item)))

    def execute(self, context: Any) -> Any:
        item, ob = active_item(context), context.object
        return {"FINISHED"} if paint(ob, setups.follow_group(ob, properties.settings_of(item))) else {"CANCELLED"}


def _may_get_properties(cls: Any, context: Any) -> bool:
    if not _has_setup(cls, context):
        return False
    if context.object.library is not None:
        cls.poll_message_set("The object is linked: make a library override first")
        return False
    return True


class SINEW_OT_animate_amount(bpy.types.Operator):
    bl_idname = "sinew.animate_amount"
    bl_label = "Animate Amount"
    bl_description = "Give the object an Amount that can be keyframed or driven. It multiplies the one of the setup"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return _may_get_properties(cls, context)

    def execute(self, context: Any) -> Any:
        _add_factor(context.object, AMOUNT, "How much of the simulated motion is used")
        return {"FINISHED"}


class SINEW_OT_animate_follow(bpy.types.Operator):
    bl_idname = "sinew.animate_follow"
    bl_label = "Animate Follow"
    bl_description = (
        "Give the object a factor of its follow weights that can be keyframed or driven: at 0 all flesh is free, at 1 "
        "it follows as painted"
    )
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return _may_get_properties(cls, context)

    def execute(self, context: Any) -> Any:
        _add_factor(context.object, FOLLOW, "What multiplies the follow weights")
        properties.write(active_item(context), "follow_animated", True)
        return {"FINISHED"}


def _add_factor(ob: Any, name: str, description: str) -> None:
    ob[name] = 1.0
    ob.id_properties_ui(name).update(min=0.0, max=2.0, soft_max=1.0, default=1.0, description=description)


CLASSES = (
    SINEW_OT_animate_amount,
    SINEW_OT_animate_follow,
    SINEW_OT_add,
    SINEW_OT_choose,
    SINEW_OT_remove,
    SINEW_OT_show,
    SINEW_OT_make_follow_group,
    SINEW_OT_paint_follow_group,
)


def register() -> None:
    SINEW_OT_show.__annotations__ = {
        "result": _props.BoolProperty(name="Result", description="Show the bake instead of its input", default=True)
    }
    SINEW_OT_add.__annotations__ = {
        "method": _props.StringProperty(name="Method", description="Which method enriches it", default="enrich")
    }
    SINEW_OT_choose.__annotations__ = {
        "id": _props.StringProperty(name="Setup", description="The id of a setup", options={"HIDDEN"})
    }
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
