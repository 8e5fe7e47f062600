"""An automatic cage is no finer than its mesh can show, but every part that should move is free in it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from bodies import box_surface
from sinew.core.base.native import module
from sinew.core.cage.cage import Cage, automatic_resolution
from sinew.core.cage.resolution import needed_resolution
from sinew.core.flesh import estimate
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings
from sinew.core.geometry.surface import areas_and_size

pytestmark = pytest.mark.once

Floats = npt.NDArray[np.float64]
Body = tuple[Floats, npt.NDArray[np.int32]]


def eared(fine: int) -> tuple[Body, npt.NDArray[np.bool_]]:
    """A long bar with a small ear upon it, and which of its vertices are the ear; `fine` times as many squares."""
    bar, sides = box_surface((12 * fine, 3 * fine, 3 * fine), (1.0, 0.25, 0.25))
    ear, ear_sides = box_surface((fine, fine, 2 * fine), (0.05, 0.05, 0.1))
    # Sunk in a little: they are two shells, held together by the cells that both lie in.
    vertices = np.concatenate([bar, ear + [0.1, 0.1, 0.24]])
    triangles = np.concatenate([sides, ear_sides + len(bar)]).astype(np.int32)
    return (vertices, triangles), np.arange(len(vertices)) >= len(bar)


def freedom(cage: Cage, body: Body, follow: Floats, part: npt.NDArray[np.bool_]) -> float:
    """How free a part is in a cage, of how free it is painted."""
    areas, weights = areas_and_size(*body)[0], np.empty(len(cage.vertices))
    module.cage_weights(cage.native, areas, follow, None, weights)
    carried = np.einsum("ij,ij->i", weights[cage.tets[cage.binding]], cage.weights)
    return float(areas[part] @ (1.0 - carried[part]) / (areas[part] @ (1.0 - follow[part])))


def test_a_mesh_of_few_triangles_gets_few_cells_and_more_where_something_small_is_free() -> None:
    body, ear = eared(1)
    tail = np.clip(1.5 - 2.0 * body[0][:, 0], 0.0, 1.0)
    follow = np.where(ear, 0.1, 1.0)
    most = automatic_resolution(*body)
    few, more = needed_resolution(*body, tail), needed_resolution(*body, follow)
    assert few < 0.7 * most and few < more <= most
    coarse, fine = (Enricher(*body, follow, Settings(resolution=cells)).cage for cells in (few, more))
    assert freedom(coarse, body, follow, ear) < 0.7 < freedom(fine, body, follow, ear)
    assert len(Enricher(*body, tail).cage.tets) < 0.5 * len(Enricher(*body, tail, Settings(resolution=most)).cage.tets)


def test_a_fine_mesh_has_the_cells_that_it_had() -> None:
    body, ear = eared(6)
    most = automatic_resolution(*body)
    for follow in (np.where(ear, 0.1, 1.0), np.ones(len(ear)), np.zeros(len(ear))):
        assert needed_resolution(*body, follow) == most
    assert not estimate.measure(*body).is_most(0)


def test_what_weights_will_be_is_not_known_where_they_are_animated() -> None:
    body, ear = eared(1)
    most = automatic_resolution(*body)
    assert needed_resolution(*body, None) == most
    animated = Enricher(*body, np.ones(len(ear)), Settings(follow_animated=True))
    assert len(animated.cage.tets) == len(Enricher(*body, np.ones(len(ear)), Settings(resolution=most)).cage.tets)
    assert estimate.measure(*body).is_most(0) and not estimate.measure(*body).is_most(24)


def test_bodies_without_area_or_triangles_are_answered() -> None:
    flat = np.zeros((3, 3)) + [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]]
    for triangles in (np.zeros((0, 3), np.int32), np.array([[0, 1, 2]], np.int32)):
        assert needed_resolution(flat, triangles, np.zeros(3)) == automatic_resolution(flat, triangles)
