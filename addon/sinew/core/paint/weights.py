"""Weights that are painted on a surface, on the cage that carries it: by the one rule that the simulation uses."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.native import module
from ..cage.cage import Cage

Floats = npt.NDArray[np.float64]


def cage_weights(
    cage: Cage, areas: Floats, follow: Floats, cage_follow: Floats | None = None, monitor: Any = None
) -> Floats:
    """The follow weights (n,) of cage vertices: 1 follows exactly, everything else is less. `areas` and `follow` (t,)
    are those of the surface, `cage_follow` (n,) what is known of the cage's own vertices, NaN where nothing is."""
    weights = np.empty(len(cage.vertices))
    follow = np.ascontiguousarray(follow, np.float64)
    module.cage_weights(cage.native, areas, follow, cage_follow, weights, monitor)
    return weights


def spread_over_cage(cage: Cage, areas: Floats, painted: Floats, monitor: Any = None) -> Floats:
    """What is painted on the surface (t,), on all cage vertices (n,)."""
    weights = np.full(len(cage.vertices), np.nan)
    module.spread_weights(cage.native, areas, np.ascontiguousarray(painted, np.float64), weights, monitor)
    return weights
