"""Points in the space of an object and in world metres."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Without BLAS, whose threads take longer to wake up than these take.


def placed(matrix: Floats, points: Floats) -> Floats:
    """The points (n, 3), taken by a 4x4 matrix."""
    x, y, z = points.T
    moved = np.empty_like(points)
    for k in range(3):
        moved[:, k] = matrix[k, 0] * x + matrix[k, 1] * y + matrix[k, 2] * z + matrix[k, 3]
    return moved


def inverse(matrix: Floats) -> Floats:
    """Of a matrix of an object, whose last row is 0, 0, 0, 1; three rows of it."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = matrix.tolist()
    first, second, third = e * i - f * h, f * g - d * i, d * h - e * g
    rows = (
        (first, c * h - b * i, b * f - c * e),
        (second, a * i - c * g, c * d - a * f),
        (third, b * g - a * h, a * e - b * d),
    )
    volume = a * first + b * second + c * third
    scale = 1.0 / volume if volume else math.nan
    return scale * np.array([[p, q, r, -p * x - q * y - r * z] for p, q, r in rows])


def rms(rows: Floats) -> float:
    """Root mean square length of the rows."""
    return float(np.sqrt((rows**2).sum() / len(rows)))
