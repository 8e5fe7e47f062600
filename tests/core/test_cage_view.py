"""What the viewport shows of a cage, against cages that are known."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from bodies import box_surface, box_tets
from sinew.core.cage.cage import build_cage
from sinew.core.cage.view import all_edges, boundary_edges, spread_values, weight_colors
from sinew.core.geometry.surface import areas_and_size
from sinew.core.paint.weights import cage_weights


def by_hand(tets: np.ndarray) -> tuple[set[tuple[int, ...]], set[tuple[int, ...]]]:
    """Edges of the boundary and all edges, counted one by one."""
    faces: dict[tuple[int, ...], int] = {}
    for tet in tets.tolist():
        for face in combinations(sorted(tet), 3):
            faces[face] = faces.get(face, 0) + 1
    outer = {edge for face, count in faces.items() if count == 1 for edge in combinations(face, 2)}
    return outer, {edge for tet in tets.tolist() for edge in combinations(sorted(tet), 2)}


def as_set(edges: np.ndarray) -> set[tuple[int, ...]]:
    found = {tuple(edge) for edge in edges.tolist()}
    assert len(found) == len(edges)
    return found


def test_edges_of_a_box_are_those_counted_by_hand() -> None:
    _, tets = box_tets((3, 2, 2), (3.0, 2.0, 2.0))
    outer, every = by_hand(tets)
    assert as_set(boundary_edges(tets)) == outer
    assert as_set(all_edges(tets)) == every
    assert len(outer) < len(every)


def test_edges_stay_right_where_indices_are_too_large_for_one_number() -> None:
    _, tets = box_tets((2, 2, 2), (1.0, 1.0, 1.0))
    far = (tets + 2**22).astype(np.int32)
    assert as_set(boundary_edges(far) - 2**22) == by_hand(tets)[0]


def test_followed_parts_are_exact_in_the_cage_and_free_ones_are_free() -> None:
    vertices, triangles = box_surface((12, 4, 4), (3.0, 1.0, 1.0))
    follow = np.clip(2.0 - vertices[:, 0], 0.0, 1.0)
    cage = build_cage(vertices, triangles, 12)
    weights = cage_weights(cage, areas_and_size(vertices, triangles)[0], follow)
    assert weights.min() >= 0.0 and weights.max() == 1.0
    for corner, weight in zip(cage.tets[cage.binding], follow):
        if weight >= 1.0:
            assert (weights[corner] == 1.0).all()
    assert weights[cage.vertices[:, 0] > 2.7].max() < 0.1


def test_cage_weights_are_those_of_the_simulation_with_what_follows_inside_too() -> None:
    from sinew.core.flesh.enricher import Enricher
    from sinew.core.flesh.settings import Settings
    from sinew.core.paint.regions import Regions, cage_follow

    vertices, triangles = box_surface((12, 4, 4), (3.0, 1.0, 1.0))
    follow = np.clip(2.0 - vertices[:, 0], 0.0, 1.0)
    for regions in (Regions(), Regions(bones=np.array([[2.0, 0.5, 0.5, 3.0, 0.5, 0.5, 0.2]]))):
        enricher = Enricher(vertices, triangles, follow, Settings(resolution=10), regions=regions)
        inside = cage_follow(enricher.cage, regions)
        shown = cage_weights(enricher.cage, areas_and_size(vertices, triangles)[0], follow, inside)
        assert np.array_equal(shown, enricher.cage_weights())
    assert (shown[enricher.cage.vertices[:, 0] > 2.2] == 1.0).any()


def test_values_spread_over_edges_and_stop_where_there_are_none() -> None:
    edges = np.array([(0, 1), (1, 2), (3, 4)], np.int32)
    values, known = spread_values(
        np.array([0.6, 0.0, 0.0, 0.0, 0.0]), np.array([True, False, False, False, False]), edges
    )
    assert values.tolist() == [0.6, 0.6, 0.6, 0.0, 0.0]
    assert known.tolist() == [True, True, True, False, False]


@pytest.mark.parametrize(("weight", "color"), [(0.0, (0, 0, 1)), (0.5, (0, 1, 0)), (1.0, (1, 0, 0))])
def test_colours_are_those_of_weight_paint(weight: float, color: tuple[float, ...]) -> None:
    assert weight_colors(np.array([weight]), 0.5)[0].tolist() == [*color, 0.5]
