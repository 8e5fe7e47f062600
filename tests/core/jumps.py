"""How much the deformation of a simulated cage jumps from tet to tet: where followed meets free, and inside."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


def shared_faces(tets: Ints) -> npt.NDArray[np.int64]:
    """(f, 2) the two tets at each inner face."""
    faces = np.sort(tets[:, [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]].reshape(-1, 3), axis=1)
    order = np.lexsort(faces.T)
    same = np.flatnonzero((faces[order[1:]] == faces[order[:-1]]).all(axis=1))
    return np.stack([order[same], order[same + 1]], axis=1) // 4


def gradients(tets: Ints, before: Floats, after: Floats) -> Floats:
    """(e, 3, 3) the deformation gradient of each tet between two shapes of a cage."""
    start, end = (np.swapaxes(shape[tets][:, 1:] - shape[tets][:, :1], 1, 2) for shape in (before, after))
    product: Floats = end @ np.linalg.inv(start)
    return product


def border_and_inside(
    tets: Ints, weights: Floats, fitted: Sequence[Floats], simulated: Sequence[Floats]
) -> tuple[float, float]:
    """95th percentiles over faces and frames of the jump of the deformation gradient, fitted to simulated: at faces
    between a tet that follows exactly and one that moves, and between tets without a followed vertex."""
    pairs = shared_faces(tets)
    followed = (weights >= 1.0)[tets].sum(axis=1)[pairs]
    border, inside = ((followed == 4).sum(axis=1) == 1), (followed == 0).all(axis=1)
    jumps = []
    for before, after in zip(fitted, simulated, strict=True):
        change = gradients(tets, before, after)
        jumps.append(np.linalg.norm(change[pairs[:, 0]] - change[pairs[:, 1]], axis=(1, 2)))
    stacked = np.array(jumps)
    return float(np.percentile(stacked[:, border], 95)), float(np.percentile(stacked[:, inside], 95))
