"""What an animator asks of a default bake: swings stay within what flesh can do at any acceleration, nothing pops, and
the numbers that say so (motion.py) can tell."""

from __future__ import annotations

import motion
import numpy as np
import numpy.typing as npt
import pytest
from bodies import box_surface, rod, rotation
from sinew.core.flesh.enrich import enrich
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings

pytestmark = pytest.mark.once

Floats = npt.NDArray[np.float64]
Body = tuple[Floats, npt.NDArray[np.int32], Floats]
RATE = 24.0


def bar() -> Body:
    """A standing bar whose foot follows; above it the paint fades."""
    vertices, triangles = box_surface((4, 4, 16), (0.25, 0.25, 1.0))
    return vertices, triangles, np.clip((0.4 - vertices[:, 2]) / 0.3, 0.0, 1.0)


def landing(vertices: Floats, drop: float) -> list[Floats]:
    """It falls about `drop` metres, stops within four frames and stands."""
    speed = np.interp(np.arange(40), [0, 10, 14], [0.0, 0.14, 0.0])
    return [vertices + [0.0, -0.3 * z, -z] for z in drop * np.cumsum(speed)]


def baked(body: Body, frames: list[Floats], **settings: float) -> Floats:
    vertices, triangles, follow = body
    return np.array(list(enrich(vertices, triangles, frames, follow, RATE, **{"resolution": 10, **settings})))


def measured(body: Body, frames: list[Floats], results: Floats) -> motion.Motion:
    return motion.measure(np.array(frames), results, body[1], body[2], 1.0, 3.0, RATE)


@pytest.mark.parametrize("drop", (1.0, 10.0, 30.0))
def test_a_swing_stays_within_what_flesh_can_do_at_any_acceleration(drop: float) -> None:
    body = bar()
    frames = landing(body[0], drop)
    told = measured(body, frames, baked(body, frames))
    assert told.stretch < 1.35 and told.volume_min > 0.95 and told.volume_max < 1.06
    assert told.pop <= 1.0 and 0.01 < told.seen_most < 0.25, told


def test_shallow_flesh_does_not_snap_when_its_body_is_stopped() -> None:
    """Flesh so shallow that it must be firmer than Jiggle asks for answers a push within a frame, unless calmed."""
    vertices, triangles = box_surface((20, 8, 8), (1.0, 0.4, 0.4))
    away = np.linalg.norm(vertices - (0.5, 0.2, 0.0), axis=1)
    body = vertices, triangles, np.clip((away - 0.08) / 0.1, 0.0, 1.0)
    speed = np.interp(np.arange(30), [0, 6, 12, 15], [0.0, 0.08, 0.08, 0.0])
    frames = [vertices + [0.0, 0.3 * z, -z] for z in np.cumsum(speed)]
    told = measured(body, frames, baked(body, frames))
    assert told.pop <= 1.0 and told.seen_most > 0.01, told


def test_shallow_flesh_is_seen_to_move_when_half_a_g_shakes_it() -> None:
    """A belly or a buttock is a layer on a firm core, and must not be so firm that nothing is seen."""
    vertices, triangles = box_surface((20, 8, 8), (1.0, 0.4, 0.4))
    away = np.linalg.norm(vertices - (0.5, 0.2, 0.0), axis=1)
    body = vertices, triangles, np.clip((away - 0.1) / 0.06, 0.0, 1.0)
    frames = [vertices + [0.0, 0.0, 0.0155 * np.sin(2.0 * np.pi * 2.0 * k / RATE)] for k in range(40)]
    told = measured(body, frames, baked(body, frames, resolution=14))
    assert 0.4 < told.push < 0.6
    assert 0.012 < told.seen_most < 0.03 and told.stretch < 1.1 and told.pop <= 1.0, told


def thrown_tail() -> tuple[Body, list[Floats]]:
    vertices, triangles = rod(0.05, 1.0, 12, 30)
    angles = np.interp(np.arange(30), [0, 4, 8, 11, 14, 18, 29], [0.0, 0.0, 1.0, -1.0, 0.5, 0.0, 0.0])
    frames = [vertices @ rotation((0, 0, 1), angle).T + [0.0, 0.0, 0.1 * angle] for angle in angles]
    return (vertices, triangles, np.clip(1.0 - (vertices[:, 0] - 0.03) / 0.1, 0.1, 1.0)), frames


def test_a_tail_that_is_thrown_about_swings_and_does_not_flip_from_frame_to_frame() -> None:
    """It is swung by two radians within three frames: with two long steps a frame it folds in one and flips back in the
    next, so steps that are too rough are cut."""
    body, frames = thrown_tail()
    told = measured(body, frames, baked(body, frames, resolution=16))
    assert told.pop <= 1.0 and 0.1 < told.seen_most < 0.4, told
    rough = measured(body, frames, baked(body, frames, resolution=16, substeps=2))
    assert rough.pop > 1.2 and rough.seen_most > 0.6, "or else it asks nothing"


def test_a_tail_that_collides_swings_as_one_that_does_not() -> None:
    """With long steps it was thrown off by six times its length. It touches itself where it is bent most, which stops
    it sooner than a swing would."""
    body, frames = thrown_tail()
    told = measured(body, frames, baked(body, frames, resolution=16, collide=True))
    assert told.pop <= 1.2 and 0.1 < told.seen_most < 0.4, told


def test_of_a_small_acceleration_all_is_felt() -> None:
    """Ten times a small motion swings ten times as far; a thousand times that does not go on so."""
    body = bar()
    farthest = []
    for drop in (0.002, 0.02, 20.0):
        frames = landing(body[0], drop)
        farthest.append(np.linalg.norm(baked(body, frames) - frames, axis=2).max())
    assert farthest[1] == pytest.approx(10 * farthest[0], rel=0.02)
    assert farthest[2] < 200 * farthest[1]


def test_a_real_material_feels_all_of_it() -> None:
    body = bar()
    farthest = []
    for drop in (0.02, 0.2):
        frames = landing(body[0], drop)
        farthest.append(np.linalg.norm(baked(body, frames, young=3e4, damping_mass=2.0) - frames, axis=2).max())
    assert farthest[1] > 8 * farthest[0]


def test_flesh_in_a_fold_that_the_fit_turns_inside_out_stays_with_it() -> None:
    """Tets that are flat or inside out in the pose come to rest there, and do not throw the flesh beside them about."""
    vertices, triangles, follow = bar()
    enricher = Enricher(vertices, triangles, follow, Settings(resolution=10), RATE)
    cage = enricher.cage.vertices
    folded = cage.copy()
    over = cage[:, 2] > 0.7
    folded[over, 2] = 1.4 - cage[over, 2] + 0.02 * cage[over, 0]  # its upper part comes down over the lower one
    state = enricher.begin(folded)
    for _ in range(24):
        state, step = enricher.advance(state, (folded, folded, folded, folded))
    assert np.abs(state.positions - folded).max() < 1e-3
    shaken = [folded @ rotation((0, 1, 0), 0.2 * np.sin(0.5 * k)).T for k in range(40)]
    state, padded, farthest = enricher.begin(shaken[0], shaken[1]), [None, *shaken, None], 0.0
    for k in range(len(shaken) - 1):
        state, step = enricher.advance(state, tuple(padded[k : k + 4]))
        farthest = max(farthest, float(np.abs(state.positions - shaken[k + 1]).max()))
        assert step.repaired == 0
    assert 0.005 < farthest < 0.3


def swung(amplitude: float) -> tuple[Floats, Floats]:
    """A box that stands, and the same swinging at 3 Hz."""
    vertices, _ = box_surface((2, 2, 2), (1.0, 1.0, 1.0))
    still = np.repeat(vertices[None], 48, axis=0)
    return still, still + amplitude * np.sin(2 * np.pi * 3.0 * np.arange(48) / RATE)[:, None, None] * [0.0, 0.0, 1.0]


def test_a_swing_is_no_pop_and_one_frame_off_is() -> None:
    still, swinging = swung(0.02)
    assert 0.6 < motion.pops(still, swinging, 1.0, 3.0, RATE).max() < 0.7
    quick = still + 0.02 * np.sin(2 * np.pi * 6.0 * np.arange(48) / RATE + 0.4)[:, None, None]
    assert motion.pops(still, quick, 1.0, 3.0, RATE).max() > 1.0
    swinging[20, 5] += [0.0, 0.0, 0.03]
    assert motion.pops(still, swinging, 1.0, 3.0, RATE)[:, 5].max() > 1.0
    faint = still + 0.1 * (swinging - still)
    assert motion.pops(still, faint, 1.0, 3.0, RATE).max() == 0.0, "what is not seen does not count"


def test_stretch_and_volume_compare_with_the_same_frame() -> None:
    vertices, triangles = box_surface((2, 2, 2), (1.0, 1.0, 1.0))
    inputs = np.array([vertices, 2.0 * vertices])
    assert motion.stretch(inputs, inputs, triangles) == 1.0
    assert motion.volumes(inputs, inputs, triangles, 1.0) == (1.0, 1.0)
    longer = inputs * [1.0, 1.0, 1.5]
    assert motion.stretch(inputs, longer, triangles) == pytest.approx(1.5)
    assert motion.volumes(inputs, longer, triangles, 1.0) == pytest.approx((1.0, 1.5))
    assert motion.volumes(inputs, longer, triangles[1:], 1.0) == (1.0, 1.0), "an open part has no volume"


def test_what_is_seen_is_told_part_by_part() -> None:
    """Two ears on a box: one moves, and the median is between them and the most that of the lively one."""
    vertices, triangles = box_surface((4, 4, 16), (0.25, 0.25, 1.0))
    follow = np.where(np.abs(vertices[:, 2] - 0.5) < 0.3, 1.0, 0.0)
    parts = motion.free_parts(triangles, follow)
    assert len(parts) == 2 and all((follow[part] == 0.0).all() for part in parts)
    inputs = np.repeat(vertices[None], 5, axis=0)
    results = inputs + 0.02 * (vertices[:, 2] > 0.8)[None, :, None] * [1.0, 0.0, 0.0]
    told = motion.measure(inputs, results, triangles, follow, 1.0, 3.0, RATE)
    assert told.seen_most == pytest.approx(0.02) and told.seen_median == pytest.approx(0.01)
