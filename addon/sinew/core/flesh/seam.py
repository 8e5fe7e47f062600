"""Where completed vertices meet those that have a place of their own, the two differ by what the cage cannot carry.
That step is handed on over the completed side and fades with the distance, so that no seam shows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_FLAT = 0.02  # least weight of an edge: triangles as blunt or as thin as they come still hand something on
_SHARP = 50.0
_ENOUGH = 1e-8  # of the right side: residual at which the solution is good
_MOST_ROUNDS = 1000


class Seam:
    """Solves (L + A / reach^2) s = 0 on the open vertices, s given on all others: L is the Laplacian of the triangles
    (m, 3) at rest, A their areas around each vertex (t,)."""

    def __init__(
        self, rest: Floats, triangles: Ints, areas: Floats, is_open: npt.NDArray[np.bool_], reach: float
    ) -> None:
        first, second, weights = _edges(rest, triangles)
        count = int(is_open.sum())
        number = np.full(len(rest), -1)
        number[is_open] = np.arange(count)
        diagonal = areas[is_open] / reach**2
        np.add.at(diagonal, number[first[is_open[first]]], weights[is_open[first]])
        diagonal[diagonal <= 0.0] = 1.0  # a vertex without a face
        inside = is_open[first] & is_open[second]
        rows = np.concatenate([number[first[inside]], np.arange(count)])
        columns = np.concatenate([number[second[inside]], np.arange(count)])
        values = np.concatenate([-weights[inside], diagonal])
        order = np.argsort(rows, kind="stable")
        self._columns, self._values = columns[order], values[order][:, None]
        self._starts = np.searchsorted(rows[order], np.arange(count))
        self._diagonal = diagonal[:, None]
        across = is_open[first] & ~is_open[second]
        self._to, self._from, self._across = number[first[across]], second[across], weights[across][:, None]

    def fade(self, steps: Floats) -> Floats:
        """`steps` (t, 3), of which those of the vertices with a place of their own count, handed on to the open ones
        (o, 3). By conjugate gradients."""
        right = np.zeros((len(self._diagonal), 3))
        np.add.at(right, self._to, self._across * steps[self._from])
        solution = np.zeros_like(right)
        rest, enough = right, _ENOUGH**2 * (right**2).sum()
        ahead = rest / self._diagonal
        direction, power = ahead, (rest * ahead).sum()
        for _ in range(_MOST_ROUNDS):
            if (rest**2).sum() <= enough:
                break
            image = np.add.reduceat(self._values * direction[self._columns], self._starts)
            length = power / (direction * image).sum()
            solution = solution + length * direction
            rest = rest - length * image
            ahead = rest / self._diagonal
            before, power = power, (rest * ahead).sum()
            direction = ahead + (power / before) * direction
        return solution


def _edges(rest: Floats, triangles: Ints) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], Floats]:
    """Half the cotangent of the angle opposite to every side of every triangle, both ways."""
    first, second, weights = [], [], []
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        one, other = rest[triangles[:, a]] - rest[triangles[:, c]], rest[triangles[:, b]] - rest[triangles[:, c]]
        height = np.maximum(np.linalg.norm(np.cross(one, other), axis=1), 1e-300)
        weights += [0.5 * np.clip((one * other).sum(axis=1) / height, _FLAT, _SHARP)] * 2
        first += [triangles[:, a], triangles[:, b]]
        second += [triangles[:, b], triangles[:, a]]
    return np.concatenate(first).astype(np.int64), np.concatenate(second).astype(np.int64), np.concatenate(weights)
