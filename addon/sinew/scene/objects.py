"""Finding the objects of a scene, and why one cannot be baked."""

from __future__ import annotations

import difflib
from typing import Any

import bpy

from .errors import SceneError


def unit_of(scene: Any) -> float:
    """Metres in a unit of the scene."""
    return float(scene.unit_settings.scale_length) or 1.0


def named(name: str) -> Any | None:
    """The object of that name in the open scene, or None; a local one before a linked one of the same name."""
    found = [ob for ob in bpy.context.scene.objects if ob.name == name]
    return min(found, key=lambda ob: ob.library is not None, default=None)


def find_object(name: str) -> Any:
    """The mesh object of that name in the open scene; otherwise a sentence with the closest name."""
    scene = bpy.context.scene
    bpy.context.view_layer.update()  # what was linked just now is not yet in the view layer
    meshes = [ob.name for ob in scene.objects if ob.type == "MESH"]
    ob = named(name)
    if ob is None or ob.type != "MESH":
        close = difflib.get_close_matches(name, meshes, n=1, cutoff=0.5)
        known = ", ".join(f'"{one}"' for one in meshes[:5]) + (" and more" if len(meshes) > 5 else "")
        hint = f'did you mean "{close[0]}"?' if close else f"there are {known}." if known else "there is no mesh."
        if ob is not None:
            raise SceneError(f'Object "{name}" is no mesh but of type {ob.type.lower()}: {hint}')
        raise SceneError(f'There is no object "{name}" in scene "{scene.name}": {hint}')
    reason = why_not(ob)
    if reason:
        raise SceneError(f"{reason}.")
    return ob


def why_not(ob: Any) -> str:
    """Why an object cannot be baked, as far as that can be told at a glance, without a full stop; "" if nothing speaks
    against it."""
    name = ob.name
    if ob.instance_type == "COLLECTION" and ob.instance_collection is not None:
        return (
            f'"{name}" is an instance of the collection "{ob.instance_collection.name}", which has no mesh of its own: '
            "make a library override, or make it real, and choose a mesh in it"
        )
    if ob.type != "MESH":
        return f'"{name}" is no mesh but of type {ob.type.lower()}: choose a mesh'
    if ob.mode == "EDIT":
        return f'Object "{name}" is in edit mode: leave it and bake again'
    if ob.library is not None:
        return f'"{name}" is linked and cannot get a modifier: make a library override of it first'
    if ob.override_library is not None and getattr(ob.override_library, "is_system_override", False):
        return f'The library override of "{name}" is not editable: make it editable first (Library Override > Make)'
    if name not in bpy.context.view_layer.objects:
        return f'Object "{name}" is in a collection that is excluded from the view layer: include it'
    if len(ob.data.vertices) == 0 and not ob.modifiers:
        return f'Object "{name}" has no vertices: choose a mesh that has some'
    return ""


def sharers(ob: Any) -> list[str]:
    """Names of the other objects on the same mesh: a vertex group on it is theirs too."""
    if ob.data.users < 2:
        return []
    return sorted(other.name for other in bpy.data.objects if other.data == ob.data and other != ob)
