"""Vertices without an input of their own (inner lips, a mouth's cavity) are completed by the elasticity of the cage and
join those around them without a seam; rigid parts (teeth, buttons) keep their shape at rest."""

from __future__ import annotations

import numpy as np

from ..base.native import module
from ..cage.cage import Cage, Floats, Ints
from ..geometry.rigid import RigidParts
from ..paint.parts import AS_INPUT, Parts
from .seam import Seam

_REACH = 3.0  # edges of the cage: as far as it may miss the surface, the seam is smoothed


class Completion:
    """Completes a surface that its cage carries. rest (t, 3) and triangles (m, 3) are the surface at rest, areas (t,)
    those around its vertices."""

    def __init__(self, cage: Cage, rest: Floats, triangles: Ints, areas: Floats, parts: Parts) -> None:
        self._cage, self._rest = cage, rest
        self._untracked = np.flatnonzero(~parts.tracked)
        self._held = np.flatnonzero(parts.rigid >= 0)
        self._rigid = RigidParts(parts.rigid[self._held]) if len(self._held) else None
        self._at_rest = cage.interpolate(cage.vertices)
        self._as_input = np.flatnonzero(parts.rigid == AS_INPUT)
        is_open = ~parts.tracked & (parts.rigid == -1)
        self._open = np.flatnonzero(is_open)
        self._seam = Seam(rest, triangles, areas, is_open, _REACH * _edge_length(cage)) if is_open.any() else None

    def input(self, surface: Floats) -> Floats:
        """What the fit may see: where there is no input, anything that is finite."""
        seen = np.array(surface, np.float64)
        seen[self._untracked] = self._rest[self._untracked]
        return seen

    def apply(self, moved: Floats, result: Floats, sampled: Floats, interpolation: str) -> Floats:
        """The surface on the moved cage, given `result` for what has an input, of the input `sampled`."""
        result[self._as_input] = sampled[self._as_input]
        if self._rigid is not None:
            held, after = self._held, self._cage.interpolate(moved)
            result[held] = self._rigid.moved(self._at_rest[held], after[held], self._rest[held])
        if self._seam is not None:
            completed = np.empty_like(self._rest)
            module.apply_detail(self._cage.native, self._cage.vertices, moved, self._rest, interpolation, completed)
            result[self._open] = completed[self._open] + self._seam.fade(result - completed)
        return result


def _edge_length(cage: Cage) -> float:
    corners = cage.vertices[cage.tets]
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())
