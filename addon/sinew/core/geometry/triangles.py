"""Triangles in space."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def triangle_areas(points: Floats, triangles: npt.NDArray[np.int32]) -> Floats:
    """(m,) of triangles (m, 3) over points (t, 3)."""
    corners = points[triangles]
    areas: Floats = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return areas
