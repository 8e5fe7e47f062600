"""Meshes that go with a body: clothes, eyes, teeth, hair on the same armature, or parented to it."""

from __future__ import annotations

import math
from typing import Any

from . import stack

_WEIGHED_VERTICES = 20_000  # above, looking at every weight would be felt: such a mesh is no eyeball


def find(body: Any, scene: Any, others: list[Any]) -> list[Any]:
    """The meshes that an artist expects to come along, by name. `others` have setups of their own and do not."""
    rigs = stack.armatures(body)
    found = []
    for ob in scene.objects:
        if ob.type != "MESH" or ob == body or ob in others or ob.library is not None or not ob.data.vertices:
            continue
        if ob.data == body.data or _is_copy(ob):
            continue
        if ob.hide_render and (ob.hide_viewport or ob.hide_get()):
            continue  # a helper that nobody sees
        if _hangs_on(ob, body, rigs):
            found.append(ob)
    return sorted(found, key=lambda ob: str(ob.name))


def wearer(ob: Any, scene: Any) -> Any | None:
    """The body that wears a garment: the largest of the meshes that hang on the same armature, if it is larger."""
    leading = [modifier.target for modifier in ob.modifiers if modifier.type == "SURFACE_DEFORM"]
    found = max(find(ob, scene, leading), key=lambda other: max(other.dimensions), default=None)
    return found if found is not None and max(found.dimensions) > max(ob.dimensions) else None


def _is_copy(ob: Any) -> bool:
    """Whether an object plays the bake of a body: a duplicate of one, which is none of its clothes."""
    own = stack.own_modifier(ob)
    return own is not None and str(own.filepath).endswith("result.pc2")


def _hangs_on(ob: Any, body: Any, rigs: list[Any]) -> bool:
    if any(rig in rigs for rig in stack.armatures(ob)):
        return True
    parent = ob.parent
    while parent is not None:
        if parent == body or parent in rigs:
            return True
        parent = parent.parent
    return False


def is_rigid(ob: Any, bones: set[str]) -> bool:
    """Whether the input itself moves the mesh without deforming it: nothing deforms it, or one bone holds it all."""
    deformed = any(modifier.type in stack.DEFORMING for modifier in stack.others(ob)) or ob.data.shape_keys is not None
    if not deformed and ob.parent_type != "ARMATURE":
        return True
    if ob.data.shape_keys is not None or len(ob.data.vertices) > _WEIGHED_VERTICES:
        return False
    names = {group.index for group in ob.vertex_groups if group.name in bones}
    held: set[int] = set()
    for vertex in ob.data.vertices:
        held.update(element.group for element in vertex.groups if element.weight > 1e-3 and element.group in names)
        if len(held) > 1:
            return False
    return len(held) == 1


def bodies(rig: Any, scene: Any) -> list[Any]:
    """The meshes that an armature moves, the largest first: it is likely to be the body."""
    found = [ob for ob in scene.objects if ob.type == "MESH" and rig in stack.armatures(ob)]
    return sorted(found, key=lambda ob: (-math.prod(ob.dimensions), ob.name))
