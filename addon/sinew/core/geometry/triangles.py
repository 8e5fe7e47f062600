"""Triangles in space."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput

Floats = npt.NDArray[np.float64]


def triangle_areas(points: Floats, triangles: npt.NDArray[np.int32]) -> Floats:
    """(m,) of triangles (m, 3) over points (t, 3)."""
    corners = points[triangles]
    areas: Floats = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    return areas


def sound_triangles(points: Floats, triangles: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """Which of triangles (m, 3) over points (t, 3) have an area, and each once: what is left over holds nothing."""
    longest = np.ptp(points[triangles], axis=1).max(axis=1)
    sound = np.flatnonzero(2.0 * triangle_areas(points, triangles) > 1e-9 * longest * longest)
    if not len(sound):
        raise BadInput("No face of the mesh has an area: give it a surface.")
    first = np.unique(np.sort(triangles[sound], axis=1), axis=0, return_index=True)[1]
    return sound[np.sort(first)]
