"""Helpers to put meshes, armatures, weights and keys into the open Blender file: 3.4 to 5.x, headless."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np


@dataclass(frozen=True)
class BoneSpec:
    """One bone in armature space, metres."""

    name: str
    head: tuple[float, float, float]
    tail: tuple[float, float, float]
    parent: str | None = None
    deform: bool = True


def reset_scene() -> Any:
    """Empties the file and returns its scene. Everything from before is gone, references to it too."""
    bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
    return bpy.context.scene


def set_frames(start: int, end: int, rate: int = 24) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = start, end
    scene.render.fps, scene.render.fps_base = rate, 1.0
    scene.frame_set(start)


def add_mesh(
    name: str,
    vertices: np.ndarray,
    faces: Sequence[Sequence[int]] | np.ndarray,
    *,
    groups: Mapping[str, np.ndarray] | None = None,
    smooth: bool = True,
) -> Any:
    """Adds a mesh object. `groups`: per vertex weights (t,) for each vertex group; zero weights are left out."""
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(np.asarray(vertices, float).tolist(), [], [list(map(int, face)) for face in faces])
    mesh.polygons.foreach_set("use_smooth", np.full(len(mesh.polygons), smooth))
    mesh.update()
    ob = bpy.data.objects.new(name, mesh)
    bpy.context.scene.collection.objects.link(ob)
    for group, weights in (groups or {}).items():
        add_weights(ob, group, weights)
    return ob


def add_weights(ob: Any, name: str, weights: np.ndarray) -> None:
    group = ob.vertex_groups.get(name) or ob.vertex_groups.new(name=name)
    rounded = np.round(np.asarray(weights, float), 4)
    # Equal weights go in one call: far fewer calls than one a vertex.
    for value in np.unique(rounded[rounded > 0]):
        group.add(np.flatnonzero(rounded == value).tolist(), float(value), "REPLACE")


def add_colors(ob: Any, name: str, colors: np.ndarray) -> None:
    """A FLOAT_COLOR attribute (t,3), linear; becomes the one that Workbench shows."""
    attributes = ob.data.color_attributes
    attribute = attributes.get(name) or attributes.new(name, "FLOAT_COLOR", "POINT")
    flat = np.concatenate([colors, np.ones((len(colors), 1))], axis=1).astype(np.float32)
    attribute.data.foreach_set("color", flat.ravel())
    index = attributes.find(name)
    attributes.active_color_index = index
    attributes.render_color_index = index


def add_armature(name: str, bones: Sequence[BoneSpec]) -> Any:
    data = bpy.data.armatures.new(name)
    ob = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(ob)
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    for spec in bones:
        bone = data.edit_bones.new(spec.name)
        bone.head, bone.tail = spec.head, spec.tail
        bone.use_deform = spec.deform
        if spec.parent:
            bone.parent = data.edit_bones[spec.parent]
    bpy.ops.object.mode_set(mode="OBJECT")
    for pose_bone in ob.pose.bones:
        pose_bone.rotation_mode = "QUATERNION"
    return ob


def bind_armature(ob: Any, armature: Any) -> None:
    """Skins `ob` by its vertex groups of the bones' names."""
    ob.parent = armature
    modifier = ob.modifiers.new("Armature", "ARMATURE")
    modifier.object = armature


@contextmanager
def linear_keys() -> Iterator[None]:
    """Keys set inside are linear. A preference, because F-curves are reached differently in each Blender."""
    edit = bpy.context.preferences.edit
    before = edit.keyframe_new_interpolation_type
    edit.keyframe_new_interpolation_type = "LINEAR"
    try:
        yield
    finally:
        edit.keyframe_new_interpolation_type = before


def pose_key(armature: Any, bone: str, frame: int, *, location: Any = None, quaternion: Any = None) -> None:
    pose_bone = armature.pose.bones[bone]
    if location is not None:
        pose_bone.location = location
        pose_bone.keyframe_insert("location", frame=frame)
    if quaternion is not None:
        pose_bone.rotation_quaternion = quaternion
        pose_bone.keyframe_insert("rotation_quaternion", frame=frame)


def move_keys(ob: Any, keys: Mapping[int, tuple[float, float, float]]) -> None:
    """Keys of the object's location, by frame."""
    for frame, place in keys.items():
        ob.location = place
        ob.keyframe_insert("location", frame=frame)
