"""What of a face's motion is expression: its displacement by expression alone, in the axes of the world (methods,
section 4). It has no inertia, so a still head gives back the animation and a moving one shakes its flesh.

    E_i - E_(i-1) = R ( T_i^-1 u_i - T_(i-1)^-1 u_(i-1) ),    T_i the frame of the skull, R its rotation half way
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...cage.cage import Cage
from ...geometry.turns import nearest_rotation
from ...paint.face import JAW, Face, RigidMotion, robust_rigid_fit
from .cage import on_cage
from .painted import FacePaint, face_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_MOST = 4000  # vertices that a frame is told by
_AGREE = 0.001  # of the face: how far off a vertex of the skull may be and still count


@dataclass(frozen=True)
class Posed:
    """Where skull and jaw are in a sample: T and the jaw's motion seen from the skull at rest."""

    head: RigidMotion
    jaw: RigidMotion | None = None


class Frames:
    """Tells where skull and jaw are, from the surface (t, 3) of a sample."""

    def __init__(self, rest: Floats, areas: Floats, face: Face, jaw: bool) -> None:
        self._rest, self._areas, self._face = rest, areas, face
        self._of_head = _picked(face.head * areas)
        self._of_jaw: npt.NDArray[np.intp] | None = None
        if jaw and face.jaw is not None:
            teeth = (face.carrier == JAW) * 1.0
            self._of_jaw = _picked(np.maximum(areas, 1e-12 * areas.max()) * (teeth if teeth.any() else face.chin))

    def at(self, surface: Floats) -> Posed:
        head = self._fit(self._of_head, surface, self._face.head)
        if self._of_jaw is None:
            return Posed(head)
        return Posed(head, self._fit(self._of_jaw, head.inverse()(surface), np.ones(len(surface))))

    def _fit(self, own: npt.NDArray[np.intp], surface: Floats, weights: Floats) -> RigidMotion:
        areas = np.maximum(self._areas[own], 1e-12 * self._areas.max()) * weights[own]
        scale = np.full(len(own), _AGREE * self._face.size)
        return robust_rigid_fit(self._rest[own], surface[own], areas, np.ones(len(own), bool), scale)[0]


def _picked(weights: Floats) -> npt.NDArray[np.intp]:
    """Some of those that count, evenly."""
    own = np.flatnonzero(weights > 1e-3 * weights.max(initial=0.0))
    return own[:: -(-len(own) // _MOST)] if len(own) else own


class Expression:
    """Over the vertices of a cage."""

    def __init__(self, rest: Floats, triangles: Ints, paint: FacePaint, cage: Cage, settings: Any) -> None:
        # A step that rebalances has the dial in itself.
        inertia = np.full(len(rest), 0.0 if settings.rebalances else settings.expression_inertia)
        inertia *= 1.0 if paint.inertia is None else paint.inertia
        soft = _soft(triangles, face_of(paint))
        self._without = 1.0 - on_cage(rest, soft, inertia, cage)[:, None]
        self._cage_rest = cage.vertices
        share = face_of(paint).jaw_share
        self._with_jaw = None
        if settings.jaw_weight > 0.0 and share.any():
            self._with_jaw = settings.jaw_weight * on_cage(rest, soft, share, cage)[:, None]

    def light(self, window: Any, posed: tuple[Posed | None, ...]) -> Floats:
        """(4, n, 3) E at the frames of a window of fitted cages, from that at its second one on; where there is no
        frame, anything."""
        moved = np.zeros((4, *self._cage_rest.shape))
        local = [None if at is None or pose is None else self._local(pose, at) for pose, at in zip(window, posed)]
        for i, j in ((1, 2), (2, 3), (1, 0)):
            here, there, one, other = local[i], local[j], posed[i], posed[j]
            if here is not None and there is not None and one is not None and other is not None:
                half = nearest_rotation(one.head.rotation + other.head.rotation)
                moved[j] = moved[i] + self._without * ((there - here) @ half.T)
        return moved

    def _local(self, pose: Floats, at: Posed) -> Floats:
        """A fitted cage as the skull sees it, without what of the jaw's motion is felt."""
        seen = at.head.inverse()(pose)
        if self._with_jaw is not None and at.jaw is not None:
            seen = seen - self._with_jaw * (at.jaw(self._cage_rest) - self._cage_rest)
        return seen


def _soft(triangles: Ints, face: Face) -> Ints:
    soft: Ints = triangles[(face.carrier[triangles] < 0).all(axis=1)]
    return soft
