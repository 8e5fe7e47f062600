"""Vertices that carry no input are completed by elasticity; rigid parts keep their shape; fit only; point clouds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import shots
from bodies import box_surface, rotation, sphere
from sinew.core import bake
from sinew.core.enrich import Enricher
from sinew.core.parts import Parts, make_parts
from sinew.core.seam import Seam
from sinew.core.settings import Settings
from sinew.core.shot import Sample
from sinew.core.shown import areas_and_size
from sinew.core.store import Store

REST, TRIANGLES = box_surface((16, 4, 4), (1.0, 0.25, 0.25))
NO_RIGID = np.full(len(REST), -1, np.int32)


def bent(points: Any, angle: float) -> Any:
    """A bar along X bent into an arc, lengths along its middle kept."""
    if angle == 0.0:
        return np.array(points)
    radius = 1.0 / angle
    turn = points[:, 0] * angle
    out = np.array(points)
    reach = radius - (points[:, 2] - 0.125)
    out[:, 0] = reach * np.sin(turn)
    out[:, 2] = radius - reach * np.cos(turn) + 0.125
    return out


def fitted_surface(parts: Parts | None, surface: Any, **settings: Any) -> Any:
    """What a fit alone makes of one frame."""
    chosen = Settings().replace({"resolution": 16, "simulate": False, **settings})
    enricher = Enricher(REST, TRIANGLES, np.ones(len(REST)), chosen, parts=parts)
    cage = enricher.fit(surface).positions
    return enricher.surface(cage, cage, surface)


def test_hidden_vertices_come_back_where_the_flesh_would_have_them() -> None:
    true = bent(REST, 0.8)
    hidden = (REST[:, 0] > 0.4) & (REST[:, 0] < 0.6)
    broken = np.where(hidden[:, None], 5.0, true)  # nonsense, which must not be seen
    completed = fitted_surface(Parts(~hidden, NO_RIGID), broken)
    assert np.abs(completed[~hidden] - true[~hidden]).max() < 1e-6
    error = np.linalg.norm(completed - true, axis=1)[hidden]
    straight = np.linalg.norm(REST - true, axis=1)[hidden]
    assert error.max() < 0.02 and error.max() < 0.1 * straight.max()


def test_a_step_fades_with_the_distance_from_the_seam() -> None:
    """On a strip the exact answer is an exponential."""
    across, along = np.meshgrid(np.arange(5), np.arange(101), indexing="ij")
    points = np.stack([0.01 * along.ravel(), 0.01 * across.ravel(), np.zeros(along.size)], axis=1)
    corner = (along[:-1, :-1] + 101 * across[:-1, :-1]).ravel()
    triangles = np.concatenate([corner[:, None] + (0, 1, 102), corner[:, None] + (0, 102, 101)]).astype(np.int32)
    areas, _ = areas_and_size(points, triangles)
    is_open = points[:, 0] > 0.0
    faded = Seam(points, triangles, areas, is_open, 0.2).fade(np.tile((1.0, -2.0, 0.0), (len(points), 1)))
    exact = np.cosh((1.0 - points[is_open, 0]) / 0.2) / np.cosh(1.0 / 0.2)
    assert np.abs(faded - np.outer(exact, (1.0, -2.0, 0.0))).max() < 0.01


def test_what_the_cage_cannot_carry_makes_no_seam() -> None:
    """Wrinkles finer than the cage end at the border of what has an input; the completed side takes them up."""
    rest, triangles = box_surface((48, 12, 4), (1.0, 0.25, 0.08))
    hidden = rest[:, 0] > 0.5
    wrinkled = rest + np.outer(0.03 * np.cos(8 * np.pi * rest[:, 1]), (0.0, 0.0, 1.0))
    chosen = Settings().replace({"resolution": 5, "simulate": False})
    parts = Parts(~hidden, np.full(len(rest), -1, np.int32))
    enricher = Enricher(rest, triangles, np.ones(len(rest)), chosen, parts=parts)
    cage = enricher.fit(wrinkled).positions
    result = enricher.surface(cage, cage, wrinkled)
    missed = np.abs(wrinkled - enricher.cage.interpolate(cage))[~hidden].max()
    sides = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    along = np.abs(rest[sides[:, 0], 1] - rest[sides[:, 1], 1]) < 1e-9  # wrinkles do not change along X
    across = sides[along & (hidden[sides].sum(axis=1) == 1)]
    step = np.abs((result - rest)[across[:, 0]] - (result - rest)[across[:, 1]]).max()
    assert missed > 0.01 and step < 0.6 * missed


def test_without_hidden_vertices_nothing_changes() -> None:
    true = bent(REST, 0.6)
    plain = fitted_surface(None, true)
    assert np.array_equal(plain, fitted_surface(Parts(np.ones(len(REST), bool), NO_RIGID), true))
    assert np.abs(plain - true).max() < 1e-9  # fit only, with detail: the input


def test_rigid_parts_keep_their_shape_and_go_along() -> None:
    true = bent(REST, 0.8)
    rigid = NO_RIGID.copy()
    rigid[REST[:, 0] > 0.8] = 0
    held = rigid == 0
    result = fitted_surface(Parts(np.ones(len(REST), bool), rigid), true)

    def distances(points: Any) -> Any:
        return np.linalg.norm(points[:, None] - points[None], axis=2)

    assert np.abs(distances(result[held]) - distances(REST[held])).max() < 1e-12
    assert np.abs(distances(true[held]) - distances(REST[held])).max() > 1e-3  # the input deforms it
    assert np.linalg.norm(result[held] - true[held], axis=1).max() < 0.03
    assert np.abs(result[~held] - true[~held]).max() < 1e-6


def test_rigid_pieces_are_those_that_hang_together_within_their_group() -> None:
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]], np.int32)
    weights = np.array([1.0, 0.9, 0.0, 0.6, 0.7, 0.2])
    parts = make_parts(None, weights, 6, edges)
    assert parts.rigid.tolist() == [0, 0, -1, 1, 1, -1] and parts.tracked.all()
    assert make_parts(weights, None, 6, edges).tracked.tolist() == [True, True, False, True, True, False]


def test_a_point_cloud_is_enriched_like_the_surface_it_lies_on() -> None:
    """The same ball with and without its faces, thrown: their added motion agrees."""
    points, faces = sphere(16, 24)
    added = []
    for triangles in (faces, np.empty((0, 3), np.int32)):
        follow = (points[:, 2] < -0.3).astype(float)
        enricher = Enricher(points, triangles, follow, Settings().replace({"resolution": 12}))
        frames = [points + (0.0, 0.0, 0.4 * np.sin(0.7 * i)) for i in range(8)]
        fits: list[Any] = []
        for frame in frames:
            fits.append(enricher.fit(frame, fits[-1] if fits else None).positions)
        state = enricher.begin(fits[0], fits[1])
        shown = []
        for i in range(5):
            state, _ = enricher.advance(state, (fits[i - 1] if i else None, fits[i], fits[i + 1], fits[i + 2]))
            shown.append(enricher.surface(fits[i + 1], state.positions, frames[i + 1]) - frames[i + 1])
        added.append(np.array(shown))
    assert np.abs(added[0]).max() > 0.05
    assert np.abs(added[0] - added[1]).max() < 0.35 * np.abs(added[0]).max()


def test_a_bake_that_only_fits_gives_the_input_back_and_completes(tmp_path: Path) -> None:
    hidden = REST[:, 0] > 0.9
    frames = [bent(REST, 0.1 * index) @ rotation((0, 0, 1), 0.1 * index).T for index in range(5)]
    given = [np.where(hidden[:, None], 0.0, frame).astype(np.float32) for frame in frames]
    settings = Settings().replace({"resolution": 16, "simulate": False})
    follow = np.zeros(len(REST))
    shot = shots.make_shot(REST, TRIANGLES, follow, 5, settings=settings, parts=Parts(~hidden, NO_RIGID))
    source = (Sample(index, positions, np.eye(4)) for index, positions in enumerate(given))
    outcome = bake.bake(shot, source, tmp_path)
    with Store.open(tmp_path, outcome.id) as store:
        for index, true in enumerate(frames):
            result = store.read_result(index)
            assert np.abs(result[~hidden] - given[index][~hidden]).max() < 1e-6
            assert np.abs(result[hidden] - true[hidden]).max() < 0.02
