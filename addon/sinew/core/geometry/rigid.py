"""Loose parts that keep their shape: each by the turn and shift that bring it nearest to where the cage takes it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_UPRIGHT = 1e-6  # keeps the turn of a part small where its points do not tell it, as on a line


class RigidParts:
    """Parts of a mesh, given the number (p,) of the part of each of its points, from 0."""

    def __init__(self, parts: npt.NDArray[Any]) -> None:
        self._parts = parts
        self._counts = np.bincount(parts)[:, None].astype(np.float64)

    def moved(self, before: Floats, after: Floats, points: Floats) -> Floats:
        """`points` (p, 3) moved as the parts are from `before` to `after`, not at all where these are equal."""
        parts = self._parts
        old, new = self._mean(before), self._mean(after)
        arms, turned = before - old[parts], after - new[parts]
        products = np.zeros((len(old), 3, 3))
        np.add.at(products, parts, turned[:, :, None] * arms[:, None, :])
        size = np.zeros(len(old))
        np.add.at(size, parts, (arms**2).sum(axis=1))
        products += (_UPRIGHT * size + 1e-300)[:, None, None] * np.eye(3)
        left, _, right = np.linalg.svd(products)
        left[:, :, 2] *= np.linalg.det(left @ right)[:, None]
        rotations = left @ right
        still = np.ones(len(old), bool)
        still[parts[(before != after).any(axis=1)]] = False
        rotations[still] = np.eye(3)
        offsets = np.einsum("pij,pj->pi", rotations[parts] - np.eye(3), points - old[parts])
        moved: Floats = points + offsets + (new - old)[parts]
        return moved

    def _mean(self, points: Floats) -> Floats:
        sums = np.zeros((len(self._counts), 3))
        np.add.at(sums, self._parts, points)
        means: Floats = sums / self._counts
        return means
