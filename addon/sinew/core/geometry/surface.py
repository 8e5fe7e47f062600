"""Areas and the size of a surface."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.native import module

Floats = npt.NDArray[np.float64]


def areas_and_size(
    rest: Floats, triangles: npt.NDArray[np.int32], monitor: Any = None
) -> tuple[Floats, float]:
    """The area around each vertex (t,) in m2, and the size of the mesh in metres. A point cloud has equal areas."""
    areas = np.empty(len(rest))
    size: float = module.vertex_areas(rest, triangles, areas, monitor) or 1.0
    if areas.sum() <= 0.0:
        areas[:] = size**2
    return areas, size
