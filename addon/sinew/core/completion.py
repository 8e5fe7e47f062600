"""Vertices without an input of their own (inner lips, a mouth's cavity) are completed by the elasticity of the cage;
rigid parts (teeth, buttons) keep their shape at rest."""

from __future__ import annotations

import numpy as np

from .cage import Cage, Floats
from .native import module
from .parts import Parts
from .rigid import RigidParts


class Completion:
    """Completes a surface that its cage carries. rest (t, 3) is the surface at rest."""

    def __init__(self, cage: Cage, rest: Floats, parts: Parts) -> None:
        self._cage, self._rest = cage, rest
        self._untracked = np.flatnonzero(~parts.tracked)
        self._held = np.flatnonzero(parts.rigid >= 0)
        self._rigid = RigidParts(parts.rigid[self._held]) if len(self._held) else None
        self._at_rest = cage.interpolate(cage.vertices)

    def input(self, surface: Floats) -> Floats:
        """What the fit may see: where there is no input, anything that is finite."""
        seen = np.array(surface, np.float64)
        seen[self._untracked] = self._rest[self._untracked]
        return seen

    def apply(self, moved: Floats, result: Floats, interpolation: str) -> Floats:
        """The surface on the moved cage, given `result` for what has an input."""
        if len(self._untracked):
            completed = np.empty_like(self._rest)
            module.apply_detail(self._cage.native, self._cage.vertices, moved, self._rest, interpolation, completed)
            result[self._untracked] = completed[self._untracked]
        if self._rigid is not None:
            held, after = self._held, self._cage.interpolate(moved)
            result[held] = self._rigid.moved(self._at_rest[held], after[held], self._rest[held])
        return result
