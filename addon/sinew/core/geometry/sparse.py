"""Sparse rows: weighted sums of points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Rows:
    """Entries `start[i]` to `start[i + 1]` are of row i."""

    start: Ints  # (rows + 1,)
    points: Ints  # (entries,)
    weights: Floats  # (entries,)

    @property
    def count(self) -> int:
        return len(self.start) - 1

    def means(self, values: npt.NDArray[Any]) -> Floats:
        """(rows, k) of values (n, k) at the points; no row may be empty."""
        entries = self.weights[:, None] * values[self.points]
        if not self.count:
            return np.zeros((0, values.shape[1]))
        sums: Floats = np.add.reduceat(entries, self.start[:-1], axis=0)
        return sums

    def entries(self, row: int) -> slice:
        return slice(self.start[row], self.start[row + 1])

    def after(self, other: Rows) -> Rows:
        """The same of points that are rows of `other` themselves, over its points."""
        counts = np.diff(other.start)[self.points]
        row = np.repeat(np.arange(self.count), np.diff(self.start))
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        place = np.repeat(other.start[self.points], counts) + within
        weights = np.repeat(self.weights, counts) * other.weights[place]
        return summed(np.repeat(row, counts), other.points[place], weights)

    def transposed(self) -> Rows:
        """A row for each point, up to the last one, over what were the rows; those that are in none are empty."""
        row = np.repeat(np.arange(self.count), np.diff(self.start))
        return summed(self.points, row, self.weights)


def summed(rows: npt.NDArray[Any], points: npt.NDArray[Any], weights: Floats, count: int = 0) -> Rows:
    """From entries in any order, those of one row and point added up."""
    width = int(points.max(initial=0)) + 1
    keys, places = np.unique(rows.astype(np.int64) * width + points, return_inverse=True)
    sums = np.bincount(places.ravel(), weights, len(keys))
    row, point = np.divmod(keys, width)
    count = max(count, int(rows.max(initial=-1)) + 1)
    start = np.searchsorted(row, np.arange(count + 1)).astype(np.int32)
    return Rows(start, point.astype(np.int32), np.asarray(sums, np.float64))


def stacked(parts: Sequence[Rows]) -> Rows:
    """One below the other."""
    starts = [np.zeros(1, np.int64)]
    for part in parts:
        starts.append(starts[-1][-1] + part.start[1:].astype(np.int64))
    points = [np.zeros(0, np.int32), *(part.points for part in parts)]
    weights = [np.zeros(0), *(part.weights for part in parts)]
    return Rows(np.concatenate(starts).astype(np.int32), np.concatenate(points), np.concatenate(weights))
