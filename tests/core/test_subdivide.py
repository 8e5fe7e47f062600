"""Faces that are cut into smaller ones: nothing moves, and the coarse mesh is found again in the fine one."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.geometry.sparse import stacked, summed
from sinew.core.geometry.subdivide import Faces, edges_of, subdivide
from sinew.core.methods.tracks.guide import find_levels

pytestmark = pytest.mark.once

# A quad, a triangle and a pentagon that share sides, and a point that no face has.
MIXED = Faces(9, np.array([4, 3, 5], np.int32), np.array([0, 1, 2, 3, 1, 4, 2, 4, 5, 6, 7, 2], np.int32))
PLACES = np.random.default_rng(2).random((9, 3))


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_points_and_corners_are_means_of_old_ones_of_their_face(levels: int) -> None:
    made = subdivide(MIXED, levels)
    places = made.mix.means(PLACES)
    assert np.array_equal(places[:9], PLACES) and len(places) == made.faces.points
    assert np.allclose(made.corner_mix.means(PLACES[MIXED.corners]), places[made.faces.corners])
    assert np.allclose(made.mix.means(np.ones((9, 1))), 1.0) and (made.mix.weights > 0.0).all()
    assert len(made.faces.sizes) == 4**levels + 4**levels + 5 * 4 ** (levels - 1)
    assert np.bincount(made.origin).tolist() == [4**levels, 4**levels, 5 * 4 ** (levels - 1)]


def test_areas_stay_where_faces_are_flat() -> None:
    square = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0)], float)
    faces = Faces(5, np.array([4, 3], np.int32), np.array([0, 1, 2, 3, 1, 4, 2], np.int32))
    made = subdivide(faces, 3)
    places, total = made.mix.means(square), 0.0
    for corners in np.split(made.faces.corners, np.cumsum(made.faces.sizes)[:-1]):
        x, y, _ = places[corners].T
        one = 0.5 * float(x @ np.roll(y, -1) - y @ np.roll(x, -1))
        assert one > 0.0
        total += one
    assert total == pytest.approx(1.5)


def test_a_coarse_mesh_is_found_in_the_fine_one_and_no_other_is() -> None:
    made = subdivide(MIXED, 2)
    edges = edges_of(made.faces)[0].astype(np.int32)
    found = find_levels(MIXED, made.faces.points, np.random.default_rng(3).permutation(edges)[:, ::-1])
    assert found is not None and np.allclose(found.means(PLACES), made.mix.means(PLACES))
    itself = find_levels(MIXED, 9, edges_of(MIXED)[0].astype(np.int32))
    assert itself is not None and np.array_equal(itself.means(PLACES), PLACES)
    assert find_levels(MIXED, made.faces.points + 1, edges) is None
    edges[0, 1] = (edges[0, 1] + 7) % made.faces.points
    assert find_levels(MIXED, made.faces.points, edges) is None


def test_rows_are_matrices() -> None:
    rng = np.random.default_rng(4)
    one, other = (rng.random(shape) * (rng.random(shape) < 0.7) for shape in ((4, 6), (6, 5)))
    one[:, 0] = other[:, 0] = 1.0  # no row is empty
    a, b = (summed(*np.nonzero(matrix), matrix[np.nonzero(matrix)]) for matrix in (one, other))
    values = rng.random((5, 3))
    assert np.allclose(a.after(b).means(values), one @ other @ values)
    assert np.allclose(a.transposed().means(one[:, :2]), one.T @ one[:, :2])
    assert np.allclose(stacked([a, a]).means(other[:, :1]), np.concatenate([one, one]) @ other[:, :1])
