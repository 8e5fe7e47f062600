"""Passengers: other meshes that the cage of a body carries, such as eyes, teeth, clothes and hair cards.

They take no part in the simulation: each follows its own input, plus what the flesh under it adds (methods, eq. 9).
"""

from __future__ import annotations

import numpy as np

from .cage import Cage, Floats
from .native import module
from .shot import Passenger

# A binding at rest that misses the first sample by more than this fraction of the cage's size is none: the passenger
# hangs on a bone, for example, and its undeformed mesh lies somewhere else than the body's.
_MISSED = 0.1
_UPRIGHT = 1e-6  # keeps the turn of a shell small where its points do not tell it, as on a line


class Carrier:
    """Carries one passenger."""

    def __init__(self, cage: Cage, passenger: Passenger, fitted: Floats) -> None:
        """`fitted` is the cage of the first sample, world metres."""
        self._rigid = passenger.rigid
        self._shells = passenger.shells
        self._counts = np.bincount(passenger.shells)[:, None].astype(np.float64)
        self._cage = cage.bind(passenger.rest, cage.vertices)
        missed = np.linalg.norm(self._cage.interpolate(fitted) - passenger.first, axis=1)
        outside = np.linalg.norm(self._cage.interpolate(cage.vertices) - passenger.rest, axis=1)
        if np.median(missed - outside) > _MISSED * float(np.ptp(cage.vertices, axis=0).max()):
            self._cage = cage.bind(passenger.first, fitted)

    def surface(self, fitted: Floats, moved: Floats, sampled: Floats) -> Floats:
        """The passenger (p, 3) on the moved cage; exactly `sampled` where the cage is as it was fitted."""
        if self._rigid:
            return self._turned(self._cage.interpolate(fitted), self._cage.interpolate(moved), sampled)
        result = np.empty_like(sampled)
        module.apply_detail(self._cage.native, np.ascontiguousarray(fitted), moved, sampled, result)
        return result

    def _turned(self, before: Floats, after: Floats, sampled: Floats) -> Floats:
        """Every shell by the turn and shift that bring its points nearest to where the cage takes them."""
        old, new = self._mean(before), self._mean(after)
        arms, turned = (before - old[self._shells]), (after - new[self._shells])
        products = np.zeros((len(old), 3, 3))
        np.add.at(products, self._shells, turned[:, :, None] * arms[:, None, :])
        size = np.zeros(len(old))
        np.add.at(size, self._shells, (arms**2).sum(axis=1))
        products += (_UPRIGHT * size + 1e-300)[:, None, None] * np.eye(3)
        left, _, right = np.linalg.svd(products)
        left[:, :, 2] *= np.linalg.det(left @ right)[:, None]
        rotations = left @ right
        still = np.ones(len(old), bool)
        still[self._shells[(before != after).any(axis=1)]] = False
        rotations[still] = np.eye(3)
        offsets = np.einsum("pij,pj->pi", rotations[self._shells] - np.eye(3), sampled - old[self._shells])
        moved: Floats = sampled + offsets + (new - old)[self._shells]
        return moved

    def _mean(self, points: Floats) -> Floats:
        sums = np.zeros((len(self._counts), 3))
        np.add.at(sums, self._shells, points)
        means: Floats = sums / self._counts
        return means
