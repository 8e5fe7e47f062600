"""How fine an automatic cage is: no finer than its mesh can show, but fine enough for every part that should move.

A cell that holds an ear and what the ear grows from is held by the latter; so cages of few cells are tried, and finer
ones, until what is painted free is free in the cage too."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.native import module
from ..geometry.connected import connected_pieces
from ..geometry.surface import areas_and_size
from ..geometry.triangles import triangle_areas
from .cage import TRIAL_RESOLUTION, Cage, automatic_resolution, build_cage, count_tets

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_CELLS_TO_A_SIDE = 0.6  # of a triangle: what a mesh of few triangles shows of a motion, cells of that size make
_FINE = 0.25  # of the surface has smaller triangles than those that count: what moves may be the finer part
_FINER = 1.2  # times the cells, from one trial to the next
_KEPT = 0.75  # of how free a part is painted, it is free in the cage
_CRUMB = 0.005  # of the surface: smaller parts ask for nothing
_QUICK = 4_000  # tets of a preview, whatever the body


def needed_resolution(
    rest: Floats, triangles: Ints, follow: Floats | None, separate_parts: bool = True, monitor: Any = None
) -> int:
    """The fewest cells along the longest side of a body (t, 3), (m, 3) that will do for its follow weights (t,), and
    no more than are automatic for any weights, which are None."""
    most = automatic_resolution(rest, triangles, monitor)
    cells = fewest_resolution(rest, triangles, most)
    if follow is None or cells >= most:
        return most
    areas, _ = areas_and_size(rest, triangles)
    parts = _free_parts(triangles, follow, areas)
    while cells < most:
        cage = build_cage(rest, triangles, cells, separate_parts=separate_parts, monitor=monitor)
        free = 1.0 - _carried(cage, areas, follow)
        if all(areas[part] @ free[part] >= _KEPT * (areas[part] @ (1.0 - follow[part])) for part in parts):
            break
        cells = math.ceil(_FINER * cells)
    return min(cells, most)


def fewest_resolution(rest: Floats, triangles: Ints, most: int) -> int:
    """The cells that a mesh can show, up to `most`: with what weights ever, no fewer are needed."""
    return max(TRIAL_RESOLUTION, int(min(_CELLS_TO_A_SIDE * triangles_along(rest, triangles), most)))


def preview_resolution(rest: Floats, triangles: Ints, coarse: int, fine: int, monitor: Any = None) -> int:
    """That of a preview of a bake with `fine` cells: at least `coarse` of them, and more where the body is slender,
    whose cages are quick all the same."""
    if fine <= coarse:
        return fine
    few, many = (max(count_tets(rest, triangles, cells, monitor=monitor), 1) for cells in (coarse, fine))
    if few >= _QUICK or many <= _QUICK:
        return coarse if few >= _QUICK else fine
    return math.ceil(coarse * (fine / coarse) ** (math.log(_QUICK / few) / math.log(many / few)))


def triangles_along(rest: Floats, triangles: Ints) -> float:
    """How many sides of its finer triangles the longest side of a body is long; infinite without triangles."""
    area = triangle_areas(rest, triangles)
    order = np.argsort(area, kind="stable")
    covered = np.cumsum(area[order])
    if len(area) == 0 or not covered[-1] > 0.0:
        return math.inf
    fine = max(float(area[order[int(np.searchsorted(covered, _FINE * covered[-1]))]]), 1e-30)
    return float(np.ptp(rest, axis=0).max()) / math.sqrt(4.0 / math.sqrt(3.0) * fine)


def _free_parts(triangles: Ints, follow: Floats, areas: Floats) -> list[npt.NDArray[np.int64]]:
    """The vertices of each connected part that is free, but for crumbs."""
    free = follow < 0.5
    sides = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    pieces = connected_pieces(len(follow), sides[free[sides].all(axis=1)])
    area = np.bincount(pieces, areas)
    large = free & (area >= _CRUMB * areas.sum())[pieces]
    return [np.flatnonzero(large & (pieces == piece)) for piece in np.unique(pieces[large])]


def _carried(cage: Cage, areas: Floats, follow: Floats) -> Floats:
    """The follow weights (t,) that the surface has of its cage."""
    weights = np.empty(len(cage.vertices))
    module.cage_weights(cage.native, areas, np.ascontiguousarray(follow, np.float64), None, weights)
    carried: Floats = np.einsum("ij,ij->i", weights[cage.tets[cage.binding]], cage.weights).clip(0.0, 1.0)
    return carried
