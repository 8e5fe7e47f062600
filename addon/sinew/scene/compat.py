"""The only file that knows about versions of Blender."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

RELEASE = ".".join(map(str, bpy.app.version[:2]))
# Whether handlers that run before a file is saved are told its path.
SAVING_TELLS_THE_PATH = bpy.app.version >= (4, 0, 0)
# Whether nodes hand vertex groups over quickly.
NODES_READ_GROUPS = bpy.app.version >= (4, 0, 0)

# Of a property that holds a path, which may begin at the .blend.
PATH_OPTIONS: set[str] = {"PATH_SUPPORTS_BLEND_RELATIVE"} if bpy.app.version >= (4, 5, 0) else set()

# Whether this is a Blender of its own, and not a module of some Python.
IS_APPLICATION = bool(bpy.app.binary_path)


def mesh_positions(mesh: Any) -> npt.NDArray[np.float32]:
    """Vertex positions (n, 3), local space."""
    flat = np.empty(3 * len(mesh.vertices), dtype=np.float32)
    attribute = mesh.attributes.get("position") if bpy.app.version >= (3, 5, 0) else None
    if attribute is not None:
        attribute.data.foreach_get("vector", flat)
    else:
        mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def move_modifier(ob: Any, modifier: Any, index: int) -> None:
    """Moves a modifier to a place in its object's stack."""
    current = list(ob.modifiers).index(modifier)
    if current == index:
        return
    if hasattr(ob.modifiers, "move"):  # 4.0 and later
        ob.modifiers.move(current, index)
    else:
        with bpy.context.temp_override(object=ob, active_object=ob):
            bpy.ops.object.modifier_move_to_index(modifier=modifier.name, index=index)


def is_pinned_last(modifier: Any) -> bool:
    """Whether the modifier stays at the end of the stack whatever is added (4.2 and later)."""
    return bool(getattr(modifier, "use_pin_to_last", False))


def action_curves(action: Any) -> Iterator[Any]:
    """All animation curves of an action."""
    if getattr(action, "layers", None):  # 4.4 and later
        for layer in action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    yield from bag.fcurves
    elif hasattr(action, "fcurves"):
        yield from action.fcurves


def acting_curves(data: Any) -> Iterator[Any]:
    """The curves of an owner's action that move this owner: others may have slots in the same action."""
    if data.action is None:
        return
    if getattr(data.action, "layers", None):  # 4.4 and later
        for layer in data.action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    if bag.slot_handle == data.action_slot_handle:
                        yield from bag.fcurves
    else:
        yield from action_curves(data.action)


def draw_progress(layout: Any, factor: float, text: str) -> None:
    """A progress bar, or its text where Blender has none."""
    if hasattr(layout, "progress"):  # 4.0 and later
        layout.progress(factor=factor, text=text)
    else:
        layout.label(text=text, icon="TIME")


def is_rendering() -> bool:
    """Whether a render runs beside the window: nothing in the scene may change then."""
    app: Any = bpy.app  # the stubs say that its functions return nothing
    return bool(app.is_job_running("RENDER"))


def is_tool_running() -> bool:
    """Whether the artist is in the middle of a stroke or a grab, which an undo step must not cut (4.2 and later)."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        for operator in getattr(window, "modal_operators", ()):
            if operator.bl_idname.startswith(("TRANSFORM_OT", "PAINT_OT", "SCULPT_OT")):
                return True
    return False


def node_inputs(modifier: Any) -> Iterator[tuple[str, Any]]:
    """The values that a geometry nodes modifier hands to its nodes, each with its path below the modifier."""
    if not hasattr(modifier, "properties"):
        for name, value in modifier.items():
            yield f'["{name}"]', value
        return
    inputs = modifier.properties.inputs
    for prop in inputs.bl_rna.properties:
        socket = getattr(inputs, prop.identifier)
        for name in ("value", "attribute_name"):
            if prop.identifier not in ("rna_type", "name") and hasattr(socket, name):
                yield f".properties.inputs.{prop.identifier}.{name}", getattr(socket, name)


def set_font_size(font: Any, size: float) -> None:
    """Of what `blf` draws: until 4.0 it wants the dots of an inch too."""
    if bpy.app.version >= (4, 0, 0):
        font.size(0, size)
    else:
        font.size(0, size, 72)
