"""The buttons of Properties > Physics > Sinew."""

from __future__ import annotations

from typing import Any

import bpy

from ... import setups
from ...core.bake.method import find, known
from ...scene import passengers, setup, stack
from ...scene.objects import why_not
from ...scene.sampler import AMOUNT
from .. import job_operator
from ..classes import asking, needs, unless
from . import live, properties, saving, state

_props: Any = bpy.props  # the stubs say that its functions return nothing


def active_item(context: Any) -> Any | None:
    """The setup of the active object, or None."""
    return properties.find(context.scene, context.object)


def bodies(context: Any) -> list[Any]:
    """The meshes of the active object, if it is a rig."""
    ob = context.object
    return passengers.bodies(ob, context.scene) if ob is not None and ob.type == "ARMATURE" else []


def select_only(context: Any, ob: Any) -> None:
    if context.object is not None and context.object.mode != "OBJECT":
        bpy.ops.object.mode_set(mode="OBJECT")
    for other in context.selected_objects:
        other.select_set(False)
    ob.select_set(True)
    context.view_layer.objects.active = ob


def _why_no_mesh(context: Any) -> str:
    if context.object is not None and context.object.type == "MESH":
        return ""
    return why_not(context.object) if context.object is not None else "Select a mesh object"


# What operators ask before they can be used (`poll`): of class and context.
_is_mesh = unless(_why_no_mesh)
_finds_setup = needs(
    lambda context: setup.find_of(context.object, context.scene), "This object has no Sinew setup: add one first"
)
_is_out_of_edit_mode = needs(lambda context: context.object.mode != "EDIT", "Leave edit mode first")
_is_local = needs(
    lambda context: context.object.library is None, "The object is linked: make a library override first"
)
is_idle = needs(lambda context: not job_operator.is_running(), "A bake is running: wait for it, or cancel it")


def has_setup(cls: Any, context: Any) -> bool:
    return _is_mesh(cls, context) and _finds_setup(cls, context)


def has_idle_setup(cls: Any, context: Any) -> bool:
    """Whether the active object has a setup and nothing is being baked."""
    return has_setup(cls, context) and is_idle(cls, context)


def can_look(cls: Any, context: Any) -> bool:
    """Whether the rest shape of the active object can be looked at."""
    return has_idle_setup(cls, context) and _is_out_of_edit_mode(cls, context)


class Painting:
    """An operator that goes to weight painting with the vertex group that a setting names."""

    bl_label = "Paint"
    bl_options = {"REGISTER", "UNDO"}

    @staticmethod
    def group(item: Any) -> str:
        raise NotImplementedError

    @classmethod
    def poll(cls: Any, context: Any) -> bool:
        return has_setup(cls, context) and unless(cls._why_not_paint)(cls, context)

    @classmethod
    def _why_not_paint(cls, context: Any) -> str:
        item = active_item(context)
        name = cls.group(item) if item is not None else ""
        if name in context.object.vertex_groups:
            return ""
        return f'"{name}" is an attribute: change what stores it' if name else "There is no vertex group yet: make one"

    def execute(self, context: Any) -> Any:
        ob = context.object
        ob.vertex_groups.active_index = ob.vertex_groups[self.group(active_item(context))].index
        if ob.mode != "WEIGHT_PAINT":
            bpy.ops.object.mode_set(mode="WEIGHT_PAINT")
        return {"FINISHED"}


class SINEW_OT_add(bpy.types.Operator):
    bl_idname = "sinew.add"
    bl_label = "Add Sinew"
    bl_description = "Let this mesh move with weight: its animation stays"
    bl_options = {"REGISTER", "UNDO"}

    @classmethod
    def description(cls, context: Any, values: Any) -> str:
        return find(values.method).description if values.method else cls.bl_description

    @classmethod
    def poll(cls, context: Any) -> bool:
        found = bodies(context)
        if not found and not _is_mesh(cls, context):
            return False
        reasons = [_why_not_add(ob, context.scene) for ob in found or [context.object]]
        return unless(lambda context: reasons[0] if all(reasons) else "")(cls, context)

    def execute(self: Any, context: Any) -> Any:
        """On the named object, else the active one; of a rig, on the largest of its meshes that has no setup yet."""
        scene, found = context.scene, bodies(context)
        offered = [one for one in found if not _why_not_add(one, scene)] or [context.object]
        ob = next((one for one in found if one.name == self.name), offered[0])
        method = find(self.method or setups.method_that_suits(ob))
        reason = "such a setup" if setup.find_of(ob, scene, method.name) is not None else ""
        if reason or (found and why_not(ob)):
            self.report({"ERROR"}, f"This object has {reason} already" if reason else why_not(ob))
            return {"CANCELLED"}
        entry = setups.new_setup(ob, scene, method.name)
        setup.save_of(ob, entry, scene)
        if len(setup.all_of(ob, scene)) > 1:
            setup.choose(ob, entry.id, scene)
        if found:
            select_only(context, ob)
        properties.refresh()
        return {"FINISHED"}


def _why_not_add(ob: Any, scene: Any) -> str:
    methods = {entry.method for entry in setup.all_of(ob, scene)}
    if methods >= {method.name for method in known()}:
        return "This object has a Sinew setup already"
    return "" if ob.mode == "EDIT" else why_not(ob)


def _others(context: Any) -> list[Any]:
    return [ob for ob in context.selected_objects if ob.type == "MESH" and ob != context.object]


class SINEW_OT_copy_settings(bpy.types.Operator):
    bl_idname = "sinew.copy_settings"
    bl_label = "Copy Settings to Selected"
    bl_description = (
        "Give the other selected meshes the settings of this setup, and its painted groups where they have the same "
        "vertices"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(
        has_idle_setup, needs(_others, "Select the meshes that are to have the settings too, and this one last")
    )

    def execute(self: Any, context: Any) -> Any:
        others = [ob for ob in _others(context) if not why_not(ob)]
        left_out: dict[str, str] = {}
        for ob in others:
            for label in setups.copy_settings(context.object, ob, context.scene):
                left_out.setdefault(label, ob.name)
        properties.refresh()
        told = f"Copied to {len(others)} meshes" if len(others) != 1 else f'Copied to "{others[0].name}"'
        told += "".join(f'; {label} is empty for "{name}", which has none such' for label, name in left_out.items())
        self.report({"WARNING" if left_out or not others else "INFO"}, told)
        return {"FINISHED"} if others else {"CANCELLED"}


class SINEW_OT_choose(bpy.types.Operator):
    bl_idname = "sinew.choose"
    bl_label = "Choose Setup"
    bl_description = "Show this setup of the object, and play its bake"
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(has_idle_setup)

    def execute(self: Any, context: Any) -> Any:
        live.end()
        setup.choose(context.object, self.id, context.scene)
        setups.play_chosen(context.object, context.scene, state.target())
        job_operator.forget_message()
        properties.refresh()
        return {"FINISHED"}


class SINEW_OT_remove(bpy.types.Operator):
    bl_idname = "sinew.remove"
    bl_label = "Remove Sinew"
    bl_description = "Remove the setup and the modifier that plays its bake: the animation is as it was"
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(has_idle_setup)

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

    poll = asking(_is_mesh, needs(lambda context: stack.own_modifier(context.object), "There is no bake to show"))

    def execute(self: Any, context: Any) -> Any:
        for modifier in setups.playing_modifiers(context.object, context.scene):
            modifier.show_viewport = modifier.show_render = self.result
        return {"FINISHED"}


def may_get_properties(cls: Any, context: Any) -> bool:
    return has_setup(cls, context) and _is_local(cls, context)


class SINEW_OT_animate_amount(bpy.types.Operator):
    bl_idname = "sinew.animate_amount"
    bl_label = "Animate Amount"
    bl_description = (
        "Set a key for Amount on the current frame: from then on the object has an Amount that can be animated"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(may_get_properties)

    def execute(self, context: Any) -> Any:
        item: Any = active_item(context)
        key_factor(context, AMOUNT, item.amount, "How much of the motion is seen: 0 is the animation as it was")
        properties.write(item, "amount", 1.0)  # it has gone into the object's, which it multiplies
        return {"FINISHED"}


def key_factor(context: Any, name: str, value: float, description: str) -> None:
    ob = context.object
    ob[name] = float(value)
    ob.id_properties_ui(name).update(min=0.0, max=2.0, soft_max=2.0, default=1.0, description=description)
    ob.keyframe_insert(f'["{name}"]', frame=context.scene.frame_current)


CLASSES = (
    SINEW_OT_animate_amount,
    SINEW_OT_add,
    SINEW_OT_copy_settings,
    SINEW_OT_choose,
    SINEW_OT_remove,
    SINEW_OT_show,
)


def register() -> None:
    SINEW_OT_show.__annotations__ = {
        "result": _props.BoolProperty(name="Result", description="Show the bake instead of its input", default=True)
    }
    SINEW_OT_add.__annotations__ = {
        "method": _props.StringProperty(name="Method", description="Which method moves it", default=""),
        "name": _props.StringProperty(name="Name", description="Which mesh of a rig; empty for the largest"),
    }
    SINEW_OT_choose.__annotations__ = {
        "id": _props.StringProperty(name="Setup", description="The id of a setup", options={"HIDDEN"})
    }
    for cls in CLASSES:
        bpy.utils.register_class(cls)


def unregister() -> None:
    for cls in reversed(CLASSES):
        bpy.utils.unregister_class(cls)
