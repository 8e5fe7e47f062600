"""Rows of the guide: weighted means of the cloth's vertices that stay where the animation has them (methods, 2). Each
sums to one, so that a shift of the cloth is a shift of its means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...base.native import module
from ...geometry.triangles import triangle_areas

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_ROUNDS = 40  # of finding regions, at most


@dataclass(frozen=True)
class Rows:
    """Sparse rows: entries `start[i]` to `start[i + 1]` are of row i."""

    start: Ints  # (rows + 1,)
    points: Ints  # (entries,)
    weights: Floats  # (entries,)

    @property
    def count(self) -> int:
        return len(self.start) - 1

    def means(self, positions: Floats) -> Floats:
        """(rows, 3)"""
        entries = self.weights[:, None] * positions[self.points]
        return np.add.reduceat(entries, self.start[:-1], axis=0) if self.count else np.zeros((0, 3))

    def entries(self, row: int) -> slice:
        return slice(self.start[row], self.start[row + 1])


def find_regions(poses: Sequence[Floats], triangles: Ints, count: int, flat: float) -> Ints:
    """(m,) the region of each triangle: about `count` connected patches that are compact or flat in all poses (t, 3).
    Pieces that hang on no other have one each at least."""
    regions = np.empty(len(triangles), np.int32)
    frames = np.ascontiguousarray(np.concatenate(poses), np.float64)
    module.regions_of(frames, len(poses[0]), triangles, min(count, len(triangles)), 1.0 - flat, _ROUNDS, regions)
    return regions


def make_rows(rest: Floats, triangles: Ints, regions: Ints | None, painted: Sequence[Floats]) -> Rows:
    """Of regions of triangles (m,), each constant on its own, and of painted weights (t,), linear between vertices."""
    areas = triangle_areas(rest, triangles)
    found: list[tuple[Ints, Floats]] = []
    if regions is not None:
        for number in range(int(regions.max(initial=-1)) + 1):
            own = regions == number
            share = np.bincount(triangles[own].ravel(), np.repeat(areas[own] / 3.0, 3), len(rest))
            found.append(_row(np.asarray(share, np.float64)))
    for weights in painted:
        # The mass matrix of linear triangles: a sixth of the area at a corner, a twelfth at its neighbours.
        corners = weights[triangles]
        share = (areas / 12.0)[:, None] * (corners + corners.sum(axis=1, keepdims=True))
        found.append(_row(np.asarray(np.bincount(triangles.ravel(), share.ravel(), len(rest)), np.float64)))
    start = np.cumsum([0, *(len(points) for points, _ in found)]).astype(np.int32)
    points = np.concatenate([np.zeros(0, np.int32), *(points for points, _ in found)]).astype(np.int32)
    weights = np.concatenate([np.zeros(0), *(weights for _, weights in found)])
    return Rows(start, points, weights)


def _row(share: Floats) -> tuple[Ints, Floats]:
    points = np.flatnonzero(share > 0.0).astype(np.int32)
    total = float(share[points].sum())
    return points, share[points] / total if total > 0.0 else share[points]
