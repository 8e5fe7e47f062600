"""Where meshes run through each other and through themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.native import Monitor, module

Ints = npt.NDArray[np.int32]
Mesh = tuple[npt.NDArray[Any], npt.NDArray[Any]]  # points (t, 3), triangles (m, 3)


class Crossings(NamedTuple):
    """Edges that run through triangles, ascending."""

    edges: Ints  # (k, 3): mesh, and two points of it
    triangles: Ints  # (k, 2): mesh, and a triangle of it


def find_crossings(meshes: Sequence[Mesh], own: bool = True, monitor: Monitor | None = None) -> Crossings:
    """Of every mesh with the others and, where `own`, with itself. What only touches, or shares a point, does not
    cross."""
    arrays = [
        (np.ascontiguousarray(points, np.float64), np.ascontiguousarray(triangles, np.int32))
        for points, triangles in meshes
    ]
    rows = np.frombuffer(module.crossings(arrays, own, monitor), np.int32).reshape(-1, 5)
    return Crossings(rows[:, :3], rows[:, 3:])
