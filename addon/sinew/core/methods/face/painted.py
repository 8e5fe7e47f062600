"""What a bake of a face knows of it at rest: flesh and bone, and how its head and jaw are told."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...bake.shot import Shot
from ...base.errors import BadInput
from ...flesh.painted import FleshPaint
from ...geometry.connected import closed_shells
from ...paint.face import FIXED, SOFT, Face
from ...paint.parts import AS_INPUT, Parts

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

RING = 0.105  # of the face, three cells: as far around what is soft skin is carried by the cage
_DEEPEST = 0.15  # of the face: no flesh is deeper, however far the skull is


@dataclass(frozen=True)
class FacePaint(FleshPaint):
    """Beside what is known of all flesh."""

    face: Face | None = None
    inertia: Floats | None = None  # (t,) where Expression Inertia acts; None: everywhere
    materials: Floats | None = None  # (k, t) where keys of the setting key_stiffness act; None: there are none
    jaw_key: str = ""  # name of the shape key that opens the jaw
    told_by: int = 0  # shape keys; 0: by the animation
    frames: tuple[str, ...] = ()  # of the layout's FRAMES, those that a bone or an object says

    def simulated(self) -> Mapping[str, Array]:
        face = face_of(self)
        found = {"depth": face.depth, "head": face.head, "size": np.array([face.size])}
        if face.jaw is not None:
            found |= {"jaw": np.concatenate([face.jaw.rotation, face.jaw.shift[None]]), "jaw_share": face.jaw_share}
        if self.materials is not None:
            found["materials"] = self.materials
        if self.inertia is not None:
            found["inertia"] = self.inertia
        found |= {name: np.ones(1) for name in self.frames}
        return {**super().simulated(), **found}


def face_of(paint: FacePaint) -> Face:
    assert paint.face is not None
    return paint.face


def paint_of_face(shot: Shot) -> FacePaint:
    assert isinstance(shot.painted, FacePaint)
    return shot.painted


def make_paint(
    rest: Floats,
    triangles: Ints,
    face: Face,
    bone: Floats | None = None,
    skull: tuple[Floats, Ints] | None = None,
    **values: Any,
) -> FacePaint:
    """From what was found of a face. `bone` (t,): painted in place of what was found, 1 on bone; `skull`: the points
    (p, 3) and triangles of one that lies under the skin."""
    if skull is not None:
        face = dataclasses.replace(face, depth=_above_skull(rest, face, *skull))
    if bone is not None:
        face = dataclasses.replace(face, depth=np.where(bone < 0.5, np.maximum(face.depth, face.thinnest), 0.0))
    if not face.is_free.any():
        raise BadInput("The whole face is painted as bone, so no flesh is left to move: paint 0 where flesh is.")
    follow = np.where(face.is_free, 0.0, 1.0)
    parts = Parts(*_carried(rest, triangles, face))
    follow[parts.rigid == AS_INPUT] = 0.0  # no flesh asks them
    return FacePaint(follow=follow, parts=parts, face=face, **values)


def _above_skull(rest: Floats, face: Face, points: Floats, triangles: Ints) -> Floats:
    """(t,) how deep flesh is over a skull, where expressions move the skin."""
    distances, _ = distance_to(points, triangles, rest)
    deep = np.minimum(distances, _DEEPEST * face.size)
    return np.where((face.depth > 0.0) & (deep > FIXED * face.size), deep, 0.0)


def _carried(rest: Floats, triangles: Ints, face: Face) -> tuple[npt.NDArray[np.bool_], Ints]:
    """(t,) what flesh carries: soft skin and what is around it. All else is carried by bones, and as the input is."""
    far = np.ones(len(rest), bool)
    mobile = mobile_triangles(triangles, face)
    if len(mobile):
        distances, _ = distance_to(rest, mobile, rest)
        far = distances > RING * face.size
    carried = (face.carrier == SOFT) & ~far
    return carried, np.where(carried, -1, AS_INPUT).astype(np.int32)


def mobile_triangles(triangles: Ints, face: Face) -> Ints:
    """Those with flesh under them."""
    mobile: Ints = triangles[face.is_free[triangles].any(axis=1) & (face.carrier[triangles] == SOFT).all(axis=1)]
    return mobile


def solid_carried(triangles: Ints, face: Face) -> Ints:
    """The triangles of loose shells that skull and jaw carry, but for those that are mere films."""
    own = triangles[(face.carrier[triangles] != SOFT).all(axis=1)]
    solid: Ints = own[closed_shells(len(face.carrier), own)[own[:, 0]]]
    return solid


def distance_to(rest: Floats, triangles: Ints, points: Floats) -> tuple[Floats, Ints]:
    """(p,) how far points (p, 3) are from triangles, and which is nearest."""
    from ...base.native import module  # not everybody who imports us has it

    distances, nearest = np.empty(len(points)), np.empty(len(points), np.int32)
    module.surface_distance(
        np.ascontiguousarray(rest), np.ascontiguousarray(triangles), np.ascontiguousarray(points), distances, nearest
    )
    return distances, nearest
