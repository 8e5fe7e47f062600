"""Vertices that carry no input are completed by elasticity; rigid parts keep their shape; fit only; point clouds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shots
from bodies import box_surface, rod, rotation, sphere
from sinew.core.bake import run
from sinew.core.bake.shot import Sample
from sinew.core.bake.store import Store
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.seam import Seam
from sinew.core.flesh.settings import Settings
from sinew.core.geometry.surface import areas_and_size
from sinew.core.paint.parts import Parts, loose_shells, make_parts

pytestmark = pytest.mark.once

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


def joined(*meshes: Any) -> tuple[Any, Any, Any]:
    """Several meshes as one, and the number of its mesh for each vertex."""
    counts = [len(points) for points, _ in meshes]
    starts = np.cumsum([0, *counts])
    triangles = np.concatenate([faces + start for (_, faces), start in zip(meshes, starts, strict=False)])
    points = np.concatenate([points for points, _ in meshes])
    return points, triangles.astype(np.int32), np.repeat(np.arange(len(meshes)), counts)


def edges_of(triangles: Any) -> Any:
    return np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0).astype(np.int32)


def ring(radius: float, height: float, around: int = 24) -> tuple[Any, Any]:
    """An open band about Z."""
    points, faces = rod(radius, height, around, 2)
    open_faces = faces[(faces < 3 * around).all(axis=1)]
    return points[: 3 * around][:, [1, 2, 0]] - (0.0, 0.0, height / 2), open_faces


def test_small_loose_shells_are_rigid_and_what_is_worn_is_not() -> None:
    body = sphere(24, 36, (1.0, 1.0, 1.5))
    ball, ball_faces = sphere(8, 12, (0.2, 0.2, 0.2))
    eye = (ball + (0.95, 0.0, 0.5), ball_faces)
    tooth = (0.2 * ball + (0.98, 0.2, 0.0), ball_faces)
    belt, cap = ring(1.02, 0.1), sphere(10, 14, (0.5, 0.5, 0.4))
    hood = (cap[0] + (0.0, 0.0, 1.3), cap[1])
    coat = sphere(24, 36, (1.05, 1.05, 1.0))
    points, triangles, mesh = joined(body, eye, tooth, belt, hood, coat)
    loose = loose_shells(points, triangles, edges_of(triangles))
    assert [loose[mesh == i].all() for i in range(6)] == [False, True, True, False, False, False]
    assert not loose[np.isin(mesh, (0, 3, 4, 5))].any()
    # The same for a mesh that is inside out, in another order and of another size.
    turned = loose_shells(7.0 * points[::-1], len(points) - 1 - triangles, edges_of(len(points) - 1 - triangles))
    assert np.array_equal(turned[::-1], loose)


def test_an_eye_in_its_socket_is_rigid() -> None:
    """The socket lies within the eye and looks at its middle: the eye is not worn on it."""
    points, faces = sphere(32, 48)
    eye, eye_faces = sphere(8, 12, (0.3, 0.3, 0.3))
    depth = 0.27**2 - points[:, 1] ** 2 - points[:, 2] ** 2
    socket = (points[:, 0] > 0.0) & (depth > 0.0)
    points[socket, 0] = 1.0 - np.sqrt(depth[socket])
    points, triangles, mesh = joined((points, faces), (eye + (1.0, 0.0, 0.0), eye_faces))
    loose = loose_shells(points, triangles, edges_of(triangles))
    assert loose[mesh == 1].all() and not loose[mesh == 0].any()


def test_one_shell_or_no_faces_have_no_loose_parts() -> None:
    assert not loose_shells(REST, TRIANGLES, edges_of(TRIANGLES)).any()
    assert not loose_shells(REST, TRIANGLES[:0], edges_of(TRIANGLES)[:0]).any()
    points, triangles, _ = joined((REST, TRIANGLES), (REST + (0.0, 1.0, 0.0), TRIANGLES))  # twins: neither is small
    assert not loose_shells(points, triangles, edges_of(triangles)).any()


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
    outcome = run.bake(shot, source, tmp_path)
    with Store.open(tmp_path, outcome.id) as store:
        for index, true in enumerate(frames):
            result = store.read_result(index)
            assert np.abs(result[~hidden] - given[index][~hidden]).max() < 1e-6
            assert np.abs(result[hidden] - true[hidden]).max() < 0.02
