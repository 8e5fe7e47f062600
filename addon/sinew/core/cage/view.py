"""What can be shown of a cage: edges, follow weights as colours, and its shape on a frame of a bake."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..geometry.rows import number_rows

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_EXACT = 1.0  # weight of what follows the input exactly
_FACES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))
_PAIRS = ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))
# As weight paint shows them: blue is free, red follows.
_RAMP = np.array([(0.0, 0.0, 1.0), (0.0, 1.0, 1.0), (0.0, 1.0, 0.0), (1.0, 1.0, 0.0), (1.0, 0.0, 0.0)])


@dataclass(frozen=True)
class CageView:
    """A cage at rest. Metres; `matrix` took the mesh from its own space to the rest shape."""

    vertices: Floats  # (n, 3)
    tets: Ints  # (e, 4)
    weights: Floats  # (n,): 1 follows exactly, 0 is free
    outside: Ints  # (k, 2) edges of the boundary
    matrix: Floats  # (4, 4)

    @property
    def followed(self) -> float:
        """The share of the cage that follows the input exactly."""
        return float(np.mean(self.weights >= _EXACT))


def make_view(vertices: Floats, tets: Ints, weights: Floats, matrix: Floats) -> CageView:
    return CageView(vertices, tets, weights, boundary_edges(tets), matrix)


def boundary_edges(tets: Ints) -> Ints:
    """The edges (k, 2) of faces that only one tet has."""
    faces = np.sort(np.concatenate([tets[:, face] for face in _FACES]), axis=1)
    _, first, count = np.unique(_keys(faces), return_index=True, return_counts=True)
    outer = faces[first[count == 1]]
    return _unique_pairs(np.concatenate([outer[:, [0, 1]], outer[:, [1, 2]], outer[:, [0, 2]]]))


def all_edges(tets: Ints) -> Ints:
    return _unique_pairs(np.concatenate([tets[:, pair] for pair in _PAIRS]))


def spread_values(
    values: Floats, known: npt.NDArray[np.bool_], edges: Ints
) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Gives every vertex that edges connect to known ones the mean of its neighbours, ring after ring. The values, and
    which are known then."""
    a, b = edges[:, 0], edges[:, 1]
    values, known = values.copy(), known.copy()
    count = len(values)
    while not known.all():
        total = np.bincount(a, np.where(known, values, 0.0)[b], count)
        total += np.bincount(b, np.where(known, values, 0.0)[a], count)
        near = np.bincount(a, known[b], count) + np.bincount(b, known[a], count)
        reached = ~known & (near > 0)
        if not reached.any():
            break
        values[reached] = total[reached] / near[reached]
        known |= reached
    return values, known


def weight_colors(weights: Floats, alpha: float = 1.0) -> npt.NDArray[np.float32]:
    """Colours (n, 4) as in weight paint, blue (0) over green to red (1)."""
    place = np.clip(weights, 0.0, 1.0) * (len(_RAMP) - 1)
    colors = np.empty((len(weights), 4), np.float32)
    for channel in range(3):
        colors[:, channel] = np.interp(place, np.arange(len(_RAMP)), _RAMP[:, channel])
    colors[:, 3] = alpha
    return colors


def _keys(rows: Any) -> npt.NDArray[np.int64]:
    """Rows of small indices as one number each."""
    rows = rows.astype(np.int64)
    base = int(rows.max(initial=0)) + 1
    keys = rows[:, 0]
    if base ** rows.shape[1] >= 2**63:  # more than two million vertices: by their order instead
        return number_rows(rows)
    for column in rows.T[1:]:
        keys = keys * base + column
    return keys


def _unique_pairs(pairs: Any) -> Ints:
    pairs = np.sort(pairs, axis=1)
    _, first = np.unique(_keys(pairs), return_index=True)
    unique: Ints = np.ascontiguousarray(pairs[first], np.int32)
    return unique
