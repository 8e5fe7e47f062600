"""Passengers: other meshes that the cage of a body carries, such as eyes, teeth, clothes and hair cards.

They have no mass: each follows its own input, plus what the flesh under it adds (methods, eq. 9). One that collides
(core/bake/worn.py) hands on to the flesh what presses on it."""

from __future__ import annotations

import numpy as np

from ..bake.shot import Passenger
from ..base.native import module
from ..cage.cage import Cage, Floats
from ..geometry.rigid import RigidParts

# A binding at rest that misses the first sample by more than this fraction of the cage's size is none: the passenger
# hangs on a bone, for example, and its undeformed mesh lies somewhere else than the body's.
_MISSED = 0.1


class Carrier:
    """Carries one passenger."""

    def __init__(self, cage: Cage, passenger: Passenger, fitted: Floats) -> None:
        """`fitted` is the cage of the first sample, world metres."""
        self._stays = np.flatnonzero(passenger.shells < 0)
        self._rigid = RigidParts(np.maximum(passenger.shells, 0)) if passenger.rigid else None
        self.cage = cage.bind(passenger.rest, cage.vertices)
        missed = np.linalg.norm(self.cage.interpolate(fitted) - passenger.first, axis=1)
        outside = np.linalg.norm(self.cage.interpolate(cage.vertices) - passenger.rest, axis=1)
        if np.median(missed - outside) > _MISSED * float(np.ptp(cage.vertices, axis=0).max()):
            self.cage = cage.bind(passenger.first, fitted)

    @property
    def rest(self) -> Floats:
        """Where the undeformed cage has it (p, 3)."""
        return self.cage.interpolate(self.cage.vertices)

    def surface(self, fitted: Floats, moved: Floats, sampled: Floats, interpolation: str) -> Floats:
        """The passenger (p, 3) on the moved cage; exactly `sampled` where the cage is as it was fitted."""
        result = self._carried(fitted, moved, sampled, interpolation)
        result[self._stays] = sampled[self._stays]
        return result

    def _carried(self, fitted: Floats, moved: Floats, sampled: Floats, interpolation: str) -> Floats:
        if self._rigid is not None:
            return self._rigid.moved(self.cage.interpolate(fitted), self.cage.interpolate(moved), sampled)
        result = np.empty_like(sampled)
        module.apply_detail(self.cage.native, np.ascontiguousarray(fitted), moved, sampled, interpolation, result)
        return result
