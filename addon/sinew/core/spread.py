"""Sparse painting: a few painted weights, spread smoothly over the rest of the body by a Laplace solve on its cage."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .cage import build_cage
from .errors import BadInput
from .native import module
from .settings import Settings
from .shown import areas_and_size

Floats = npt.NDArray[np.float64]


def spread_weights(rest: Any, triangles: Any, painted: Any, settings: Settings, monitor: Any = None) -> Floats:
    """Weights (t,) of all vertices from those that are painted: `painted` (t,) is NaN where nothing is. Painted ones
    stay as they are; the others lie between the smallest and the largest of them."""
    rest = np.ascontiguousarray(rest, np.float64)
    triangles = np.ascontiguousarray(triangles, np.int32).reshape(-1, 3)
    painted = np.ascontiguousarray(painted, np.float64)
    known = np.isfinite(painted)
    if not known.any():
        raise BadInput("No vertex is in the follow group yet, so there is nothing to spread: paint a few.")
    if known.all():
        return painted
    cage = build_cage(rest, triangles, settings.resolution, separate_parts=settings.separate_parts, monitor=monitor)
    areas, size = areas_and_size(rest, triangles)
    inside = np.empty(len(cage.vertices))
    module.spread_weights(cage.native, np.maximum(areas, 1e-9 * size**2), painted, inside)
    carried = cage.interpolate(np.repeat(inside[:, None], 3, axis=1))[:, 0]
    spread: Floats = np.where(known, painted, np.clip(carried, painted[known].min(), painted[known].max()))
    return spread
