"""A pass over tets that are too flat: the vertices around them move a little, one after the other, to where the worst
tet that they belong to is best. A flat tet would make the simulation stiff and slow."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.native import module

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

GOAL = 12.0  # degrees: tets below are worked on
_ROUNDS = 12


def improve(home: Floats, tets: Ints, leashes: Floats, monitor: Any = None, rounds: int = _ROUNDS) -> Floats:
    """Vertices (n, 3) with larger least angles, no farther from `home` (n, 3) than their leashes (n,). The least angle
    never falls, so tets that were positive stay so, and those that were not may become so."""
    vertices = np.array(home, np.float64)
    leashes = np.ascontiguousarray(leashes, np.float64)
    module.mend_tets(vertices, np.ascontiguousarray(tets, np.int32), leashes, GOAL, rounds, monitor)
    return vertices
