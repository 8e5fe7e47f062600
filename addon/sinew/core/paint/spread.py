"""Sparse painting: a few painted weights, spread smoothly over the rest of the body by a Laplace solve on its cage."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from ..base.native import module
from ..cage.cage import build_cage
from ..cage.settings import CageSettings
from ..geometry.surface import areas_and_size
from .regions import follow_points

Floats = npt.NDArray[np.float64]


def spread_weights(
    rest: Any, triangles: Any, painted: Any, settings: CageSettings, monitor: Any = None, inside: Floats | None = None
) -> Floats:
    """Weights (t,) of all vertices from those that are painted: `painted` (t,) is NaN where nothing is; `inside` (k, 4)
    are points in the flesh and their weights. Painted ones stay as they are; the others lie between the smallest and
    the largest of all."""
    rest = np.ascontiguousarray(rest, np.float64)
    triangles = np.ascontiguousarray(triangles, np.int32).reshape(-1, 3)
    painted = np.ascontiguousarray(painted, np.float64)
    known = np.isfinite(painted)
    points = np.zeros((0, 4)) if inside is None else inside
    if not known.any() and not len(points):
        raise BadInput("No vertex is in the follow group yet, so there is nothing to spread: paint a few.")
    if known.all():
        return painted
    cage = build_cage(rest, triangles, settings.resolution, separate_parts=settings.separate_parts, monitor=monitor)
    areas, size = areas_and_size(rest, triangles, monitor)
    weights = np.full(len(cage.vertices), np.nan)
    follow_points(cage, points, weights)
    module.spread_weights(cage.native, np.maximum(areas, 1e-9 * size**2), painted, weights, monitor)
    carried = cage.interpolate(np.repeat(weights[:, None], 3, axis=1))[:, 0]
    given = np.concatenate([painted[known], points[:, 3]])
    spread: Floats = np.where(known, painted, np.clip(carried, given.min(), given.max()))
    return spread
