"""What is found of a face on an object of the scene: from its shape keys, or without them from its animation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.base.errors import BadInput
from ...core.methods.face.materials import parse
from ...core.paint.face import Face, find_face, moves_of_poses, told_by
from ...scene import attributes, keys
from ...scene.errors import SceneError
from ...scene.groups import refuse_group
from ...scene.sampler import Rest, Sampler
from ...scene.steps import Steps
from ..background import in_thread

BONE_GROUP = "Sinew Bone"  # that Paint Bone makes
NO_JAW = "-"  # in place of the name of a shape key
_POSES = 24  # that tell what moves, where there are no shape keys
_FEWEST = 3  # keys that a face has
_WORDS = ("jaw", "mouth", "lip", "brow", "blink", "smile", "viseme", "cheek", "frown", "squint", "vrc", "mth", "sneer")
_SAID = 3  # keys that are called so: it is a face


@dataclass(frozen=True)
class Found:
    face: Face
    keys: tuple[str, ...]  # that it was told by; none: by the animation
    moves: Any  # (k, t, 3) what they do

    @property
    def jaw_key(self) -> str:
        return self.keys[self.face.jaw_key] if self.keys and self.face.jaw_key >= 0 else ""


def looks_like_face(ob: Any) -> bool:
    """By the names of its shape keys alone, so at once."""
    if ob.type != "MESH":
        return False
    names = [name.lower() for name in keys.names_of(ob)]
    return sum(any(word in name for word in _WORDS) for name in names) >= _SAID


def bone_group(ob: Any, settings: Any) -> str:
    """The vertex group that says where bone is; "" where it is found."""
    return settings.bone_group or (BONE_GROUP if BONE_GROUP in ob.vertex_groups else "")


def check(ob: Any, settings: Any) -> None:
    """Raises where something chosen is not there."""
    names = keys.names_of(ob)
    if settings.jaw_key and settings.jaw_key != NO_JAW and settings.jaw_key not in names:
        raise SceneError(
            f'"{ob.name}" has no shape key "{settings.jaw_key}" that is switched on: choose another Jaw Key, or none.'
        )
    for row in parse(settings.key_stiffness):
        if row.key not in names:
            raise SceneError(f'"{ob.name}" has no shape key "{row.key}" that is switched on: change Stiffness by Key.')
        if row.group and not attributes.has_weights(ob, row.group):
            refuse_group(ob, row.group)
    if settings.rebalances and (settings.collide or settings.expression_inertia_group):
        other = "Collisions" if settings.collide else "an Inertia Group"
        raise SceneError(f"Rebalancing does not go with {other}: choose Change of Variable in Advanced > Solver.")
    if settings.bone_group and not attributes.has_weights(ob, settings.bone_group):
        refuse_group(ob, settings.bone_group)


def find_in_steps(sampler: Sampler, rest: Rest, settings: Any) -> Steps[Found]:
    """A sentence where there is no face."""
    ob = sampler.ob
    names, moves = yield from keys.moves_in_steps(sampler.body, rest)
    chosen = _chosen_jaw(names, settings)
    triangles = np.ascontiguousarray(rest.triangles, np.int32)
    if len(names) < _FEWEST:
        names, poses = [], []
        for pose in sampler.some_poses(_POSES):
            poses.append(pose)
            yield
        moves = yield from in_thread(lambda _: moves_of_poses(rest.positions, triangles, poses))
        chosen = None if settings.jaw_key != NO_JAW else -1
    called = names or [""] * len(moves)
    face = yield from in_thread(lambda _: find_face(rest.positions, triangles, moves, called, chosen))
    if face is None or not face.is_free.any():
        raise BadInput(
            f'"{ob.name}" does not look like a face: neither shape keys nor its animation move its skin. Add Flesh in '
            "place of Face, or give it shape keys."
        )
    return Found(told_by(face, rest.positions, rest.skin, _bone_number(rest, settings)), tuple(names), moves)


def _chosen_jaw(names: list[str], settings: Any) -> int | None:
    if not settings.jaw_key:
        return None
    return names.index(settings.jaw_key) if settings.jaw_key in names else -1


def _bone_number(rest: Rest, settings: Any) -> int | None:
    """Of the bone that carries the head; None: to be found."""
    names = [bone.name for bone in rest.bones]
    if not settings.head_bone:
        return None
    if settings.head_bone not in names:
        raise BadInput(f'No bone "{settings.head_bone}" moves this mesh: choose another Head Bone, or none.')
    return names.index(settings.head_bone)
