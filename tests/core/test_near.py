"""Parts that touch at rest move apart freely; loose shells stay with the body they lie in or on."""

from __future__ import annotations

import near_meshes
import numpy as np
import pytest
from sinew.core.cage.cage import Cage, build_cage
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings
from sinew.core.geometry.connected import connected_pieces

pytestmark = pytest.mark.once


def components(cage: Cage) -> np.ndarray:
    """(n,) the connected piece of every cage vertex."""
    return connected_pieces(len(cage.vertices), np.concatenate([cage.tets[:, [0, other]] for other in (1, 2, 3)]))


def fit_error(body: near_meshes.Posed, resolution: int, separate_parts: bool) -> float:
    """Of the opened pose with the detail off: largest distance, as a fraction of size."""
    rest, triangles, opened = body
    settings = Settings(resolution=resolution, separate_parts=separate_parts, simulate=False)
    enricher = Enricher(rest, triangles, None, settings)
    guess = None
    for step in np.linspace(0.0, 1.0, 6):
        fit = enricher.fit(rest + step * (opened - rest), guess)
        guess = fit.positions
    return fit.max / enricher.size


@pytest.mark.parametrize("name", near_meshes.BODIES)
def test_near_parts_move_apart_freely(name: str) -> None:
    make, resolution = near_meshes.BODIES[name]
    body = make()
    free, welded = fit_error(body, resolution, True), fit_error(body, resolution, False)
    assert free < 0.02, (free, welded)
    assert welded > 2.5 * free, (free, welded)  # the counter-test: these parts do weld in one cage


@pytest.mark.parametrize("name", near_meshes.BODIES)
def test_cages_of_near_parts_are_sound(name: str) -> None:
    make, resolution = near_meshes.BODIES[name]
    rest, triangles, _ = make()
    cage = build_cage(rest, triangles, resolution)
    welded = build_cage(rest, triangles, resolution, separate_parts=False)
    assert components(cage).max() == 0
    assert cage.min_dihedral > 10.0
    assert np.abs(cage.interpolate(cage.vertices) - rest).max() < 1e-9
    assert len(cage.tets) < 2 * len(welded.tets)


@pytest.mark.parametrize("resolution", [8, 12, 20])
def test_loose_shells_hang_on_the_body(resolution: int) -> None:
    rest, triangles, _ = near_meshes.head_with_eyes()
    assert components(build_cage(rest, triangles, resolution)).max() == 0


def test_loose_eyes_go_where_the_head_goes() -> None:
    """Only the head is followed: nothing else holds eyes and button."""
    rest, triangles, shells = near_meshes.head_with_eyes()
    enricher = Enricher(rest, triangles, (shells == 0).astype(float), Settings(resolution=8, settle=0.3))
    moved = rest + np.array([0.0, 0.0, 0.1])
    before, after = enricher.fit(rest).positions, enricher.fit(moved).positions
    state = enricher.begin(before)
    for _ in range(16):
        state, _ = enricher.advance(state, (after, after, after, after))
    surface = enricher.surface(after, state.positions, moved)
    assert np.abs(surface - moved)[shells > 0].max() < 0.01


def test_what_is_far_from_everything_stays_by_itself() -> None:
    rest, triangles, shells = near_meshes.head_with_eyes()
    rest[shells == 3] += (1.0, 0.0, 0.0)
    labels = components(build_cage(rest, triangles, 12))
    assert labels.max() == 1


def test_a_seam_is_no_gap() -> None:
    """Vertices doubled along a seam, or triangles that share none at all, are one surface still."""
    rest, triangles = near_meshes.ball(0.5)
    whole = build_cage(rest, triangles, 10)
    soup = build_cage(rest[triangles.ravel()], np.arange(triangles.size).reshape(-1, 3), 10)
    assert len(soup.tets) == len(whole.tets) and components(soup).max() == 0
