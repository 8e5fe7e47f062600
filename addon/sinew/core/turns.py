"""Rotations (..., 3, 3): the nearest one to a matrix, and their logarithms (..., 3), axis times angle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def nearest_rotation(matrices: Floats) -> Floats:
    """The rotations R for which trace(R^T M) is largest."""
    left, _, right = np.linalg.svd(matrices)
    left[..., :, 2] *= np.linalg.det(left @ right)[..., None]
    rotations: Floats = left @ right
    return rotations
