"""What is found of a face on an object of the scene: from its shape keys, or without them from its animation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...core.base.errors import BadInput
from ...core.base.settings import NONE
from ...core.methods.face.materials import parse
from ...core.paint import face_likeness as likeness
from ...core.paint.face import Face, find_face, moves_of_poses, told_by, told_by_jaw
from ...core.paint.follow import Segment
from ...core.paint.head_bones import bones_of_head, head_bone
from ...scene import attributes, keys
from ...scene.carriers import find_carrier
from ...scene.colliders import Colliders
from ...scene.errors import SceneError
from ...scene.groups import refuse_group
from ...scene.objects import named
from ...scene.sampler import Rest, Sampler
from ...scene.steps import Steps
from ..background import in_thread

BONE_GROUP = "Sinew Bone"  # that Paint Bone makes
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
    """By the names of its shape keys, or else by what they do: at once."""
    if ob.type != "MESH":
        return False
    names = [name.lower() for name in keys.names_of(ob)]
    if sum(any(word in name for word in _WORDS) for name in names) >= _SAID:
        return True
    return likeness.looks_like_face(*keys.plain_moves(ob))


def bone_group(ob: Any, settings: Any) -> str:
    """The vertex group that says where bone is; "" where it is found."""
    return settings.bone_group or (BONE_GROUP if BONE_GROUP in ob.vertex_groups else "")


def check(ob: Any, settings: Any) -> None:
    """Raises where something chosen is not there."""
    names = keys.names_of(ob)
    if settings.jaw_key and settings.jaw_key != NONE and settings.jaw_key not in names:
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
    for name in (settings.head_bone, settings.jaw_bone):
        if name:
            find_carrier(ob, name)
    skull = named(settings.skull_object) if settings.skull_object else None
    if settings.skull_object and (skull is None or skull.type != "MESH" or not len(skull.data.polygons)):
        raise SceneError(f'There is no mesh "{settings.skull_object}" with faces: choose another Skull, or none.')
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
        head, of_head = _of_head(rest, settings)
        moves = yield from in_thread(lambda _: moves_of_poses(rest.positions, triangles, poses, head, of_head))
        chosen = None if settings.jaw_key != NONE else -1
    called = names or [""] * len(moves)
    face = yield from in_thread(lambda _: find_face(rest.positions, triangles, moves, called, chosen))
    if face is None or not face.is_free.any():
        raise BadInput(
            f'"{ob.name}" does not look like a face: neither shape keys nor its animation move its skin. Add Flesh in '
            "place of Face, or give it shape keys."
        )
    face = told_by(face, rest.positions, rest.skin)
    jaw = _bone_number(rest, settings.jaw_bone)
    if rest.skin is not None and jaw is not None:
        face = told_by_jaw(face, rest.skin[:, jaw].astype(np.float64))
    return Found(face, tuple(names), moves)


def skull_in_steps(sampler: Sampler, rest: Rest, face: Face, settings: Any) -> Steps[tuple[Any, Any] | None]:
    """Points (p, 3) and triangles of the chosen skull, where the face is at rest: it goes with the head, so where it is
    in the first frame tells that."""
    from ...core.geometry.surface import areas_and_size
    from ...core.methods.face.expression import Frames

    if not settings.skull_object:
        return None
    triangles = np.ascontiguousarray(rest.triangles, np.int32)
    for pose in sampler.some_poses(1):
        with Colliders([named(settings.skull_object)]) as skulls:
            if not skulls.obstacles:
                raise SceneError(f'The skull "{settings.skull_object}" is hidden: show it in the viewport.')
            obstacle, ((shape, matrix),) = skulls.obstacles[0], skulls.now("the first frame")
        points = np.asarray(obstacle.shape if shape is None else shape, np.float64)
        points = points @ matrix[:3, :3].T + matrix[:3, 3]
        areas, _ = areas_and_size(rest.positions, triangles)
        head = Frames(rest.positions, areas, face, False).at(pose).head
        yield
    return head.inverse()(points), np.ascontiguousarray(obstacle.triangles, np.int32)


def _chosen_jaw(names: list[str], settings: Any) -> int | None:
    if not settings.jaw_key:
        return None
    return names.index(settings.jaw_key) if settings.jaw_key in names else -1


def _of_head(rest: Rest, settings: Any) -> tuple[Any, Any]:
    """(t,) how much each vertex of a body of bones tells where the head is, and how much it goes with it; None where
    nothing tells, so that all of it is a face."""
    bones = [Segment(bone.name, bone.head, bone.tail, bone.parent, bone.is_leaf) for bone in rest.bones]
    chosen = _bone_number(rest, settings.head_bone)
    head = head_bone(bones) if chosen is None else chosen
    if rest.skin is None or head is None or not (rest.skin[:, head] > 0.5).any():
        return None, None
    skin = rest.skin.astype(np.float64)
    return skin[:, head] ** 4, np.clip(skin[:, bones_of_head(bones, head)].sum(axis=1), 0.0, 1.0)


def _bone_number(rest: Rest, name: str) -> int | None:
    """Of a bone that moves the mesh; None: it is an object, a bone that moves none of it, or to be found."""
    return next((k for k, bone in enumerate(rest.bones) if bone.name == name), None) if name else None
