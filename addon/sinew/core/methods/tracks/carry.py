"""What rides on cloth: buttons, pockets, seams. Each vertex hangs on the triangle that is nearest to it in the first
sample, and turns with it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...bake.shot import Passenger
from ...geometry.turns import nearest_rotation

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_AT_ONCE = 2_000_000  # distances


class Carrier:
    def __init__(self, passenger: Passenger, first: Floats, triangles: Ints) -> None:
        """`first` (t, 3): the cloth's input in the first sample."""
        self._passenger = passenger
        self._corners = triangles[_nearest(passenger.first, first[triangles].mean(axis=1))]

    def surface(self, fitted: Floats, shown: Floats, sampled: Floats) -> Floats:
        """The passenger (p, 3) on the cloth as it is shown, from its input `sampled` on the cloth's input `fitted`."""
        turns = _frames(shown[self._corners]) @ np.swapaxes(_frames(fitted[self._corners]), 1, 2)
        feet, moved = (points[self._corners].mean(axis=1) for points in (fitted, shown))
        carried: Floats = moved + np.einsum("pij,pj->pi", turns, sampled - feet)
        return self._rigid(sampled, carried) if self._passenger.rigid else carried

    def _rigid(self, sampled: Floats, carried: Floats) -> Floats:
        """Each connected piece turns and shifts as a whole."""
        result = np.empty_like(carried)
        for shell in np.unique(self._passenger.shells):
            own = self._passenger.shells == shell
            old, new = sampled[own].mean(axis=0), carried[own].mean(axis=0)
            turn = nearest_rotation((carried[own] - new).T @ (sampled[own] - old))
            result[own] = (sampled[own] - old) @ turn.T + new
        return result


def _nearest(points: Floats, places: Floats) -> npt.NDArray[np.intp]:
    """The number of the place that is nearest to each point."""
    step = max(1, _AT_ONCE // len(places))
    chunks = [points[k : k + step] for k in range(0, len(points), step)]
    squares = (places**2).sum(axis=1)
    return np.concatenate([(squares - 2.0 * chunk @ places.T).argmin(axis=1) for chunk in chunks])


def _frames(corners: Floats) -> Floats:
    """(p, 3, 3) axes of triangles (p, 3, 3): along the first side, across it, along the normal; columns."""
    along = _unit(corners[:, 1] - corners[:, 0])
    normal = _unit(np.cross(along, corners[:, 2] - corners[:, 0]))
    return np.stack([along, np.cross(normal, along), normal], axis=2)


def _unit(vectors: Floats) -> Floats:
    unit: Floats = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    return unit
