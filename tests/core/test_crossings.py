"""Edges that run through triangles: what crosses is found, what touches is not, and nothing but what is there."""

from __future__ import annotations

from functools import cache

import calf_mesh
import numpy as np
import numpy.typing as npt
import pytest
from bodies import box_surface
from sinew.core.base.errors import BadInput, Cancelled
from sinew.core.base.native import Monitor, module
from sinew.core.geometry.crossings import Crossings, find_crossings

pytestmark = pytest.mark.once
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


def edges_of(triangles: Ints) -> Ints:
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return np.unique(np.sort(sides, axis=1), axis=0)


def volumes(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    return np.einsum("...i,...i", np.cross(b - a, c - a), d - a)


def every_crossing(points: Floats, triangles: Ints) -> list[tuple[int, int, int]]:
    """All edges against all triangles, by signs of volumes: for points in general position."""
    edges = edges_of(triangles)
    p, q = (points[edges[:, None, side]] for side in (0, 1))
    a, b, c = (points[triangles[None, :, corner]] for corner in (0, 1, 2))
    apart = volumes(a, b, c, p) * volumes(a, b, c, q) < 0.0
    turns = np.stack([volumes(p, q, a, b), volumes(p, q, b, c), volumes(p, q, c, a)])
    through = (turns > 0.0).all(0) | (turns < 0.0).all(0)
    shared = (edges[:, None, :, None] == triangles[None, :, None, :]).any((2, 3))
    found = np.argwhere(apart & through & ~shared)
    return [(int(edges[e, 0]), int(edges[e, 1]), int(t)) for e, t in found]


def rows(found: Crossings) -> list[tuple[int, int, int]]:
    """Of one mesh: both ends of the edge, and the triangle."""
    return [(int(e[1]), int(e[2]), int(t[1])) for e, t in zip(found.edges, found.triangles, strict=True)]


def boxes(offset: tuple[float, float, float]) -> list[tuple[Floats, Ints]]:
    points, triangles = box_surface((2, 3, 2), (1.0, 1.0, 1.0))
    return [(points, triangles), (points + offset, triangles)]


@pytest.mark.parametrize("offset", [(1.5, 0.0, 0.0), (1.0, 0.0, 0.0), (0.5, 0.25, 1.0), (0.3, -1.0, 1.0)])
def test_boxes_that_are_apart_or_touch_do_not_cross(offset: tuple[float, float, float]) -> None:
    assert len(find_crossings(boxes(offset)).edges) == 0


def test_boxes_that_overlap_cross_and_both_are_named() -> None:
    found = find_crossings(boxes((0.55, 0.45, 0.6)))
    assert {(0, 1), (1, 0)} == set(zip(found.edges[:, 0].tolist(), found.triangles[:, 0].tolist(), strict=True))
    (points, triangles), (moved, _) = boxes((0.55, 0.45, 0.6))
    together = np.concatenate([points, moved])
    expected = every_crossing(together, np.concatenate([triangles, triangles + len(points)]).astype(np.int32))
    mine = [
        (a + mesh * len(points), b + mesh * len(points), t + other * len(triangles))
        for (mesh, a, b), (other, t) in zip(found.edges.tolist(), found.triangles.tolist(), strict=True)
    ]
    assert mine == expected and len(mine) > 10


def test_a_mesh_is_asked_with_itself_only_where_that_is_wanted() -> None:
    (points, triangles), (moved, _) = boxes((0.55, 0.45, 0.6))
    both = np.concatenate([points, moved]), np.concatenate([triangles, triangles + len(points)])
    far = points + (5.0, 0.0, 0.0), triangles
    assert len(find_crossings([both, far]).edges) > 0
    assert len(find_crossings([both, far], own=False).edges) == 0


def sheet(cells: int, fold: float) -> tuple[Floats, Ints]:
    """A square, bent about its middle line by an angle; beyond half a turn it runs through itself."""
    x, y = (side.ravel() for side in np.meshgrid(np.linspace(-1.0, 1.0, cells + 1), np.linspace(-1.0, 1.0, cells + 1)))
    along = np.maximum(x, 0.0)
    points = np.stack([np.minimum(x, 0.0) + along * np.cos(fold), y + 0.013 * along, along * np.sin(fold)], axis=1)
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    quads = np.stack([corner, corner + 1, corner + cells + 2, corner + cells + 1], axis=1)
    return points, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]).astype(np.int32)


def test_a_folded_sheet_crosses_itself_only_where_it_goes_through() -> None:
    for fold in (0.0, 2.0, 3.0):
        assert len(find_crossings([sheet(8, fold)]).edges) == 0, fold
    points, triangles = sheet(8, 3.0)
    points[points[:, 2] > 0.1] -= (0.0, 0.0, 0.3)  # the far rows of the upper half, through the lower one
    assert rows(find_crossings([(points, triangles)])) == every_crossing(points, triangles)
    assert len(every_crossing(points, triangles)) > 5


@pytest.mark.parametrize("seed", range(4))
def test_a_soup_of_triangles_is_answered_as_by_looking_at_all(seed: int) -> None:
    random = np.random.default_rng(seed)
    points = random.uniform(-1.0, 1.0, (60 + 40 * seed, 3))
    triangles = random.integers(0, len(points), (150, 3), np.int32)  # some name a point twice
    whole = (np.diff(np.sort(triangles, axis=1), axis=1) > 0).all(1)
    number = np.flatnonzero(whole)
    expected = [(a, b, int(number[t])) for a, b, t in every_crossing(points, triangles[whole])]
    assert seed > 0 or not whole.all()
    assert rows(find_crossings([(points, triangles)])) == expected and len(expected) > 100


@cache
def calf() -> tuple[Floats, Ints]:
    """The skin of the example character."""
    skin = calf_mesh.skin()
    quads = np.array(skin.faces)
    return skin.vertices, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]).astype(np.int32)


def test_a_calf_crosses_itself_when_its_trunk_goes_into_its_chest() -> None:
    points, triangles = calf()
    assert len(find_crossings([(points, triangles)]).edges) == 0
    trunk = np.clip((-0.85 - points[:, 1]) / 0.2, 0.0, 1.0) * (points[:, 2] < 0.8)
    pushed = points + trunk[:, None] * (0.0, 0.75, 0.05)
    found = find_crossings([(pushed, triangles)])
    assert len(found.edges) > 20
    for a, b, t in rows(found):  # each is one, by itself
        assert every_crossing(pushed[[a, b, b, *triangles[t]]], np.array([[0, 1, 2], [3, 4, 5]], np.int32))
    far = points + (3.0, 0.0, 0.0)
    assert len(find_crossings([(points, triangles), (far, triangles)], own=False).edges) == 0
    assert len(find_crossings([(points, triangles), (points + (0.3, 0.1, 0.02), triangles)], own=False).edges) > 100


def test_what_cannot_be_asked_is_told() -> None:
    points, triangles = sheet(2, 0.0)
    with pytest.raises(BadInput, match="names vertex 99"):
        find_crossings([(points, np.array([[0, 1, 99]], np.int32))])
    with pytest.raises(BadInput, match="Row 3 of points is not a finite number"):
        find_crossings([(np.where(np.arange(9)[:, None] == 3, np.nan, points), triangles)])
    with pytest.raises(TypeError, match="list of"):
        module.crossings((points, triangles))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"list of|a mesh is"):
        module.crossings([points])  # type: ignore[list-item]
    assert find_crossings([]).edges.shape == (0, 3)
    assert find_crossings([(points, triangles[:0])]).triangles.shape == (0, 2)
    monitor = Monitor()
    monitor.cancel()
    with pytest.raises(Cancelled):
        find_crossings([(points, triangles)], monitor=monitor)


def test_pairs_are_measured_and_timed() -> None:
    begin = np.array([[0.2, 0.2, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]])
    end = begin.copy()
    end[0, 2] = -1.0
    distance, time = np.empty(1), np.empty(1)
    module.pair_distances(begin, False, distance)
    assert abs(distance[0] - 1.0) < 1e-15
    module.pair_times(begin, end, False, 0.1, time)
    assert 0.49 < time[0] <= 0.495 + 1e-12  # a tenth of the gap is kept: 0.01 of a way of 2
    module.pair_times(begin, begin, False, 0.1, time)
    assert time[0] == 2.0
    module.pair_distances(begin, True, distance)
    assert abs(distance[0] - np.sqrt(0.5 - 0.04 / 1.08)) < 1e-15
    with pytest.raises(BadInput, match="times has the wrong shape"):
        module.pair_times(begin, end, False, 0.1, np.empty(2))
