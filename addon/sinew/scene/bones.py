"""The bones that deform a mesh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy

from . import stack
from .objects import unit_of


@dataclass(frozen=True)
class Bone:
    """A deform bone at rest, world metres."""

    name: str
    head: tuple[float, float, float]
    tail: tuple[float, float, float]
    parent: int  # index of the nearest deforming ancestor, or -1
    is_leaf: bool  # no deforming descendant


def deform_bones(ob: Any, place: int) -> list[Bone]:
    """Deform bones that have a vertex group, in world metres at rest, where their armature is now."""
    bones: list[Bone] = []
    depsgraph = bpy.context.evaluated_depsgraph_get()
    unit = unit_of(bpy.context.scene)
    for armature in stack.armatures(ob, place):
        world = armature.evaluated_get(depsgraph).matrix_world
        deforming = [bone for bone in armature.data.bones if bone.use_deform and bone.name in ob.vertex_groups]
        offset = len(bones)
        index = {bone.name: offset + i for i, bone in enumerate(deforming)}
        for bone in deforming:
            parent = bone.parent
            while parent is not None and parent.name not in index:
                parent = parent.parent
            leaf = not any(child.name in index for child in bone.children_recursive)
            bones.append(
                Bone(
                    bone.name,
                    tuple(world @ bone.head_local * unit),
                    tuple(world @ bone.tail_local * unit),
                    index[parent.name] if parent is not None else -1,
                    leaf,
                )
            )
    return bones
