"""Clouds of points between two that are known, so that what turns keeps its lengths.

The cloud is cut into small overlapping patches. Each turns on a smooth curve of rotations, and in its turning frame its
points move on cubics. The centres of the patches go where the steps from one to the next, which turn with them, fit
together best: the rotation-strain blend on a coarse graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .turns import Cubic, TurnCurve, nearest_rotation

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_PATCHES = 200  # at most
_SHARED = 4  # patches that a point is part of
_UPRIGHT = 1e-6  # turns a patch with the whole cloud where its points do not tell how, as on a line
_ROWS = 10_000  # points whose distances are held in memory at once


class Between:
    """The way from cloud `a` to cloud `b` (n, 3), past one before and one after them, None where there is none."""

    def __init__(self, times: Any, before: Floats | None, a: Floats, b: Floats, after: Floats | None) -> None:
        self._near, self._weights = _patches(np.hstack([a, b]))
        self._count = int(self._near.max()) + 1
        self._mass = self._sums(self._weights)[:, None]
        self._pairs, self._strength, self._inverse = self._graph()
        looks = [None if cloud is None else self._look(a, cloud) for cloud in (before, a, b, after)]

        def knots(part: int) -> list[Any]:
            return [None if look is None else look[part] for look in looks]

        self._turns = TurnCurve(times, *knots(0))
        self._centres, self._arms, self._ahead, self._behind = (Cubic(times, *knots(part)) for part in range(1, 5))

    def at(self, t: float) -> Floats:
        """The cloud at a time from 0 (a) to 1 (b)."""
        turns, centres, (first, second) = self._turns.at(t), self._centres.at(t), self._pairs
        steps = 0.5 * (_turned(turns[first], self._ahead.at(t)) + _turned(turns[second], self._behind.at(t)))
        missing = self._strength * (steps - centres[second] + centres[first])
        right = np.zeros_like(centres)
        np.add.at(right, second, missing)
        np.subtract.at(right, first, missing)
        centres = centres + self._inverse @ right
        points = centres[self._near] + _turned(turns[self._near], self._arms.at(t))
        cloud: Floats = (self._weights[..., None] * points).sum(axis=1)
        return cloud

    def _look(self, reference: Floats, cloud: Floats) -> tuple[Floats, ...]:
        """How each patch has turned since `reference`, its centre, the points of the cloud in its frame, and the steps
        to its neighbours in the frames of both."""
        near, (first, second) = self._near, self._pairs
        centres = self._sums(self._weights[..., None] * cloud[:, None]) / self._mass
        middles = self._sums(self._weights[..., None] * reference[:, None]) / self._mass
        arms, before = cloud[:, None] - centres[near], reference[:, None] - middles[near]
        products = self._sums(self._weights[..., None, None] * arms[..., :, None] * before[..., None, :])
        size = self._sums(self._weights * (before**2).sum(axis=-1)) + 1e-300
        apart = (cloud - cloud.mean(axis=0)).T @ (reference - reference.mean(axis=0))
        whole = nearest_rotation(apart + (_UPRIGHT * (reference - reference.mean(axis=0)) ** 2).sum() * np.eye(3))
        turns = nearest_rotation(products + _UPRIGHT * size[:, None, None] * whole)
        back = np.swapaxes(turns, -1, -2)
        steps = centres[second] - centres[first]
        return turns, centres, _turned(back[near], arms), _turned(back[first], steps), _turned(back[second], steps)

    def _sums(self, values: Floats) -> Floats:
        """Values (n, shared, ...) summed over each patch."""
        sums = np.zeros((self._count, *values.shape[2:]))
        np.add.at(sums, self._near, values)
        return sums

    def _graph(self) -> tuple[tuple[Ints, Ints], Floats, Floats]:
        """Pairs of patches, how many points they share, and the inverse of their Laplacian."""
        strength = np.zeros((self._count, self._count))
        for i in range(self._near.shape[1]):
            for j in range(self._near.shape[1]):
                np.add.at(strength, (self._near[:, i], self._near[:, j]), self._weights[:, i] * self._weights[:, j])
        np.fill_diagonal(strength, 0.0)
        strength /= strength.max(initial=1e-300)
        first, second = np.nonzero(np.triu(strength))
        # without its null space: each part of the graph stays where its centres are on average
        inverse = np.linalg.pinv(np.diag(strength.sum(axis=1)) - strength, rcond=1e-9, hermitian=True)
        return (first, second), strength[first, second][:, None], inverse


def _turned(turns: Floats, vectors: Floats) -> Floats:
    turned: Floats = np.einsum("...ij,...j->...i", turns, vectors)
    return turned


def _patches(points: Floats) -> tuple[Ints, Floats]:
    """The patches (n, shared) that points (n, d) are part of, and how much. Points far apart in any dimension are in
    different ones; weights fade to nothing where a point leaves a patch."""
    seeds = [0]
    far = ((points - points[0]) ** 2).sum(axis=1)
    while len(seeds) < _PATCHES and far.max() > 0.0:
        seeds.append(int(np.argmax(far)))
        far = np.minimum(far, ((points - points[seeds[-1]]) ** 2).sum(axis=1))
    shared = min(_SHARED, len(seeds))
    near, weights = np.empty((len(points), shared), np.int64), np.empty((len(points), shared))
    places = points[seeds]
    for begin in range(0, len(points), _ROWS):
        rows = slice(begin, begin + _ROWS)
        squares = np.maximum(
            (points[rows] ** 2).sum(axis=1)[:, None] - 2.0 * points[rows] @ places.T + (places**2).sum(axis=1), 0.0
        )
        order = np.argsort(squares, axis=1, kind="stable")[:, : shared + 1]
        sorted_squares = np.take_along_axis(squares, order, axis=1)
        reach = sorted_squares[:, -1:] if len(seeds) > shared else 2.0 * sorted_squares[:, -1:]
        near[rows] = order[:, :shared]
        weights[rows] = (1.0 - sorted_squares[:, :shared] / np.maximum(reach, 1e-300)) ** 2 + 1e-12
    return near, weights / weights.sum(axis=1, keepdims=True)
