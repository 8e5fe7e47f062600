"""Averages as constraints: regions stay with the input on average, and move freely otherwise."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from bodies import box_surface, composite, rod, sphere
from shots import make_shot
from sinew.core.base.errors import BadInput
from sinew.core.cage.cage import build_cage
from sinew.core.flesh.enricher import Enricher, State
from sinew.core.flesh.settings import Settings
from sinew.core.geometry.surface import areas_and_size
from sinew.core.paint.averages import average_regions
from sinew.core.paint.regions import Regions
from sinew.core.paint.weights import spread_over_cage

pytestmark = pytest.mark.once

Floats = npt.NDArray[np.float64]


def surface() -> tuple[Floats, npt.NDArray[np.int32]]:
    """Of a standing ellipsoid."""
    return sphere(16, 20, (0.4, 0.3, 1.0))


@cache
def shaken(count: int, held: bool) -> tuple[Enricher, list[Floats], list[Floats]]:
    """A standing ellipsoid, free or with followed feet, is shaken for eight frames and then held still."""
    rest, triangles = surface()
    follow = (rest[:, 2] < -0.8).astype(float) if held else np.zeros(len(rest))
    settings = Settings(resolution=10, average_regions=count, settle=3.0, gravity=(0.0, 0.0, 0.0), transition=0.0)
    enricher = Enricher(rest, triangles, follow, settings)
    sway = 0.15 * np.sin(np.minimum(np.arange(90), 8) * np.pi / 4.0)
    frames = [rest + np.outer(rest[:, 2] ** 2 + 0.3, [x, 0.5 * x, 0.0]) for x in sway]
    fitted = [enricher.fit(frames[0]).positions]
    for frame in frames[1:]:
        fitted.append(enricher.fit(frame, fitted[-1]).positions)
    state = enricher.begin(fitted[0], fitted[1])
    simulated, around = [state.positions], [None, *fitted, None]
    for k in range(len(fitted) - 1):
        state, _ = enricher.advance(state, (around[k], fitted[k], fitted[k + 1], around[k + 3]))
        simulated.append(state.positions)
    return enricher, fitted, simulated


def regions_of(enricher: Enricher, count: int) -> npt.NDArray[np.int32]:
    cage = enricher.cage
    return average_regions(cage.vertices, cage.tets, enricher.cage_weights() < 1.0, count)


@pytest.mark.parametrize(("count", "held"), [(1, False), (6, False), (6, True)])
def test_regions_stay_with_the_input_on_average_and_move_otherwise(count: int, held: bool) -> None:
    enricher, fitted, simulated = shaken(count, held)
    regions, mass = regions_of(enricher, count), composite(enricher.cage, *surface())[0]
    assert regions.max() + 1 == count
    furthest = 0.0
    for pose, shape in zip(fitted, simulated, strict=True):
        for number in range(count):
            own = regions == number
            drift = mass[own] @ (shape - pose)[own] / mass[own].sum()
            assert np.abs(drift).max() < 1e-9 * enricher.size
        furthest = max(furthest, float(np.linalg.norm(shape - pose, axis=1).max()))
    assert furthest > 0.005 * enricher.size


def test_a_body_without_hold_does_not_drift_away() -> None:
    _, fitted, loose = shaken(0, False)
    enricher, _, kept = shaken(6, False)
    drift = [float(np.linalg.norm((shapes[-1] - fitted[-1]).mean(axis=0))) / enricher.size for shapes in (loose, kept)]
    assert drift[0] > 0.02 and drift[1] < 0.01


@pytest.mark.parametrize("count", [6, 12])
def test_what_is_left_swings_at_jiggle_however_many_regions_there_are(count: int) -> None:
    """The strongest swing after the shaking is one of the slow ones; the slowest has the frequency of Jiggle."""
    enricher, fitted, simulated = shaken(count, False)
    late = np.array([(shape - pose).ravel() for pose, shape in zip(fitted, simulated, strict=True)])[30:]
    shape = np.linalg.svd(late - late.mean(axis=0), full_matrices=False)[2][0]
    spectrum = np.abs(np.fft.rfft((late @ shape) * np.hanning(len(late)), 4096))
    frequency = float(np.fft.rfftfreq(4096, enricher.interval)[spectrum.argmax()])
    assert 0.85 < frequency / enricher.settings.jiggle < 1.5


def test_regions_are_connected_and_of_like_size() -> None:
    rest, triangles = box_surface((20, 4, 4), (1.0, 0.2, 0.2))
    cage = build_cage(rest, triangles, 20)
    regions = average_regions(cage.vertices, cage.tets, np.ones(len(cage.vertices), bool), 5)
    sizes = np.bincount(regions)
    assert len(sizes) == 5 and (regions >= 0).all() and sizes.max() < 1.6 * sizes.min()
    for number in range(5):
        along = cage.vertices[regions == number, 0]
        assert np.ptp(along) < 0.35  # a piece of the bar, not of its ends
    painted = ((rest[:, 0] < 0.2) | (rest[:, 0] > 0.8)).astype(float)
    wanted = spread_over_cage(cage, areas_and_size(rest, triangles)[0], painted) >= 0.5
    two = average_regions(cage.vertices, cage.tets, wanted, 1)
    assert two.max() == 1  # each painted piece by itself
    assert (two[np.abs(cage.vertices[:, 0] - 0.5) < 0.2] == -1).all()


def test_nothing_free_is_told() -> None:
    rest, triangles = sphere(8, 10)
    with pytest.raises(BadInput, match="No flesh is free"):
        Enricher(rest, triangles, np.ones(len(rest)), Settings(resolution=4, average_regions=3))


def test_painting_of_averages_is_part_of_a_shot() -> None:
    rest, triangles = sphere(8, 10)
    none = np.zeros(len(rest))
    shots = [make_shot(rest, triangles, none, 3, regions=regions) for regions in (Regions(), Regions(average=none))]
    assert shots[0].identity() != shots[1].identity()


def belly_motion(with_tail: bool) -> float:
    """How far a belly, with a thin tail on it or without, moves after a twist, as a fraction of its length."""
    rest, triangles = sphere(16, 20, (0.5, 0.3, 0.3))
    if with_tail:
        tail, tail_faces = rod(0.06, 1.0, 12, 20)
        triangles = np.concatenate([triangles, tail_faces + len(rest)])
        rest = np.concatenate([rest, tail + (0.4, 0.0, 0.0)])
    settings = Settings(
        resolution=16 if with_tail else 8, average_regions=6 if with_tail else 4, jiggle=2.0, gravity=(0.0, 0.0, 0.0)
    )
    enricher = Enricher(rest, triangles, np.zeros(len(rest)), settings)
    still = enricher.cage.vertices
    twist, furthest = np.zeros_like(still), 0.0
    twist[:, 1], twist[:, 2] = -still[:, 0] * still[:, 2], still[:, 0] * still[:, 1]
    state = State(still.copy(), twist)
    for _ in range(24):
        state, _ = enricher.advance(state, (still, still, still, still))
        furthest = max(furthest, float(np.linalg.norm(state.positions - still, axis=1)[still[:, 0] < 0.3].max()))
    return furthest


def test_a_thin_tail_does_not_stiffen_the_belly_that_it_hangs_on() -> None:
    alone = belly_motion(False)
    assert alone > 0.003 and belly_motion(True) > 0.6 * alone
