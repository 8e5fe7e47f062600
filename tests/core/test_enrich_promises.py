"""What Enricher keeps: identity, held poses, artist's units, determinism, no explosion; each with its counter-test."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from bodies import box_surface, rotation, sphere
from sinew.core.base.native import module
from sinew.core.cage.cage import build_cage
from sinew.core.flesh.enrich import enrich
from sinew.core.flesh.enricher import Enricher, State
from sinew.core.flesh.settings import Settings
from sinew.core.paint.regions import Regions

pytestmark = pytest.mark.once

Floats = npt.NDArray[np.float64]


def bar() -> tuple[Floats, npt.NDArray[np.int32], Floats]:
    """A standing bar and its follow weights: its foot follows."""
    vertices, triangles = box_surface((4, 4, 16), (0.25, 0.25, 1.0))
    return vertices, triangles, (vertices[:, 2] < 0.1).astype(float)


def swing(vertices: Floats, count: int, angle: float = 0.5, rate: float = 24.0) -> list[Floats]:
    """The body rocks about the y axis at 1 Hz and walks along x."""
    frames = []
    for k in range(count):
        t = k / rate
        frames.append(vertices @ rotation((0, 1, 0), angle * np.sin(2 * np.pi * t)).T + [0.4 * t, 0, 0])
    return frames


def run(enricher: Enricher, frames: list[Floats]) -> tuple[list[Floats], list[State]]:
    fits: list[Floats] = []
    for frame in frames:
        fits.append(enricher.fit(frame, *reversed(fits[-2:])).positions)
    padded = [None, *fits, None]
    states = [enricher.begin(fits[0], fits[1])]
    for k in range(len(fits) - 1):
        states.append(enricher.advance(states[-1], tuple(padded[k : k + 4]))[0])
    return fits, states


def test_following_everywhere_returns_the_input_and_following_nothing_does_not() -> None:
    vertices, triangles, follow = bar()
    frames = swing(vertices, 12)
    exact = list(enrich(vertices, triangles, frames, np.ones(len(vertices)), resolution=8))
    assert max(np.abs(a - b).max() for a, b in zip(exact, frames, strict=True)) < 1e-6
    moved = list(enrich(vertices, triangles, frames, follow, resolution=8))
    squares = [np.square(a - b).sum(1)[follow == 0].mean() for a, b in zip(moved, frames, strict=True)]
    added = np.sqrt(np.mean(squares))
    assert added > 0.002, "physics must be seen where it is free"


def test_followed_vertices_stay_on_the_input_while_the_rest_moves() -> None:
    vertices, triangles, follow = bar()
    frames = swing(vertices, 16)
    moved = list(enrich(vertices, triangles, frames, follow, resolution=8))
    error = max(np.abs(a - b)[follow == 1].max() for a, b in zip(moved, frames, strict=True))
    assert error < 1e-4


def test_amount_zero_is_the_input_and_amount_scales_the_offset() -> None:
    vertices, triangles, follow = bar()
    frames = swing(vertices, 10)
    enricher = Enricher(vertices, triangles, follow, Settings(resolution=8))
    fits, states = run(enricher, frames)
    none, half, full = (enricher.surface(fits[9], states[9].positions, frames[9], amount) for amount in (0.0, 0.5, 1.0))
    assert np.array_equal(none, frames[9])
    assert np.abs(full - frames[9]).max() > 0.005
    assert np.abs((half - frames[9]) - 0.5 * (full - frames[9])).max() < 1e-9


def test_maximum_offset_is_never_exceeded_and_leaves_small_offsets_alone() -> None:
    vertices, triangles, follow = bar()
    frames = swing(vertices, 14, angle=1.0)
    free = Enricher(vertices, triangles, follow, Settings(resolution=8, jiggle=1.5))
    fits, states = run(free, frames)
    settings = Settings(resolution=8, jiggle=1.5, maximum_offset=0.02)
    limited = Enricher(vertices, triangles, follow, settings, cage=free.cage)
    k = int(np.argmax([np.abs(s.positions - f).max() for s, f in zip(states, fits, strict=True)]))
    unlimited = np.linalg.norm(free.surface(fits[k], states[k].positions, frames[k]) - frames[k], axis=1)
    offsets = np.linalg.norm(limited.surface(fits[k], states[k].positions, frames[k]) - frames[k], axis=1)
    assert unlimited.max() > 0.04
    assert offsets.max() <= 0.02 * free.size * (1.0 + 1e-12)
    # the limit is on the cage: a surface vertex beside one that is held back gives way a little too
    free_cage = free.moved(fits[k], states[k].positions) - fits[k]
    limited_cage = limited.moved(fits[k], states[k].positions) - fits[k]
    small = np.linalg.norm(free_cage, axis=1) < 0.004
    assert small.sum() > 20 and np.abs(limited_cage - free_cage)[small].max() < 1e-5


def pose(name: str, vertices: Floats) -> Floats:
    if name == "squashed":
        return vertices * [1.25, 1.25, 0.6]
    if name == "bent":
        angle = 1.2 * vertices[:, 2]
        radius = 1 / 1.2 - (vertices[:, 0] - 0.125)
        return np.stack([1 / 1.2 - radius * np.cos(angle), vertices[:, 1], radius * np.sin(angle)], 1)
    return vertices @ rotation((1, 0, 0), 1.4).T


@pytest.mark.parametrize("name", ("squashed", "bent", "lying"))
def test_a_held_pose_settles_onto_the_input_but_sags_without_keep_pose(name: str) -> None:
    vertices, triangles, follow = bar()
    held = pose(name, vertices)
    frames = [vertices + min(k / 4, 1.0) * (held - vertices) if name != "lying" else held for k in range(4 + 48)]
    frames[-1] = held
    shown = list(enrich(vertices, triangles, frames, follow, resolution=8))
    assert np.abs(shown[-1] - held).max() < 0.01
    loose = list(enrich(vertices, triangles, frames, follow, resolution=8, keep_pose=0.0))
    assert np.abs(loose[-1] - held).max() > 0.02, "without Keep Pose the pose must relax, or the test sees nothing"


def test_balance_above_one_frees_and_below_one_ties() -> None:
    vertices, triangles, _ = bar()
    follow = np.clip(1.2 - vertices[:, 2] * 1.1, 0.0, 1.0)  # fades from the foot to the top
    frames = swing(vertices, 12)
    added = []
    for balance in (0.3, 1.0, 3.0):
        shown = list(enrich(vertices, triangles, frames, follow, resolution=8, balance=balance))
        added.append(max(np.abs(a - b).max() for a, b in zip(shown, frames, strict=True)))
    assert added[0] < 0.8 * added[1] < 0.8 * added[2]


def test_the_automatic_resolution_is_24_and_fewer_for_compact_bodies() -> None:
    slender, faces = box_surface((4, 4, 16), (0.1, 0.1, 1.0))
    assert len(build_cage(slender, faces).tets) == len(build_cage(slender, faces, 24).tets)
    compact = len(build_cage(*sphere(24, 36)).tets)
    assert 6_000 < compact < 15_000 < len(build_cage(*sphere(24, 36), 24).tets)


def block() -> tuple[Floats, npt.NDArray[np.int32], Floats]:
    vertices, triangles = box_surface((8, 8, 8), (1.0, 1.0, 1.0))
    return vertices, triangles, (vertices[:, 2] < 0.05).astype(float)


def belly_with_ears() -> tuple[Floats, npt.NDArray[np.int32], Floats]:
    """A ball held at its back, with two thin flaps on its top."""
    ball, faces = sphere(24, 36, (0.5, 0.5, 0.5))
    flap, flap_faces = box_surface((6, 1, 10), (0.3, 0.05, 0.5))
    left, right = flap + [-0.4, -0.025, 0.35], flap + [0.1, -0.025, 0.35]
    vertices = np.concatenate([ball, left, right])
    triangles = np.concatenate([faces, flap_faces + len(ball), flap_faces + len(ball) + len(flap)]).astype(np.int32)
    return vertices, triangles, (vertices[:, 1] > 0.3).astype(float)


def ring_down(
    enricher: Enricher, kick: Floats, rate: float, watch: npt.NDArray[np.bool_], seconds: float
) -> tuple[float, float]:
    """Frequency (Hz) and time to 5 % (s) of the watched vertices' motion after a small kick, by a damped sine."""
    still = enricher.cage.vertices
    state = State(still.copy(), kick)
    signal = []
    for _ in range(int(seconds * rate)):
        state, _ = enricher.advance(state, (still, still, still, still))
        signal.append((state.positions - still)[watch].mean(0))
    series = np.array(signal)
    series = series @ np.linalg.svd(series)[2][0]  # along the main direction
    t = np.arange(1, len(series) + 1) / rate
    best = (np.inf, 0.0, 0.0)
    for frequency in np.geomspace(0.5, 12, 400):
        for settle in np.geomspace(0.2, 3.0, 60):
            envelope = np.exp(-np.log(20) * t / settle)
            phase = 2 * np.pi * frequency * t
            waves = np.stack([np.sin(phase), np.cos(phase)], 1) * envelope[:, None]
            error = np.linalg.lstsq(waves, series, rcond=None)[1]
            residual = float(error[0]) if len(error) else np.inf
            best = min(best, (residual, float(frequency), float(settle)))
    return best[1], best[2]


@pytest.mark.parametrize("rate", (24.0, 30.0, 60.0))
@pytest.mark.parametrize("body", (bar, block))
def test_jiggle_and_settle_are_the_frequency_and_decay_of_a_free_oscillation(body, rate: float) -> None:
    vertices, triangles, follow = body()
    enricher = Enricher(vertices, triangles, follow, Settings(resolution=8, jiggle=3.0, settle=0.7), rate)
    weights = enricher.cage_weights()
    height = enricher.cage.vertices[:, 2]
    kick = np.zeros_like(enricher.cage.vertices)
    kick[:, 0] = 0.05 * np.maximum(height, 0) ** 2 * (weights < 1)
    frequency, settle = ring_down(enricher, kick, rate, height > 0.7, 1.4)
    assert abs(frequency / 3.0 - 1) < 0.10
    assert abs(settle / 0.7 - 1) < 0.10


def sag(enricher: Enricher, direction: int) -> Floats:
    """How the free part gives way under a small load along an axis: close to its lowest mode."""
    cage = enricher.cage
    load = [0.0, 0.0, 0.0]
    load[direction] = 1e-6
    held = (enricher.cage_weights() >= 0.5).astype(np.int32)
    world = module.World(cage.vertices, cage.tets, held, 1.0, 0.4, 1000.0, "neo_hookean", tuple(load))
    settled = cage.vertices.copy()
    world.settle(settled, 1e-12, 5)
    return settled - cage.vertices


@pytest.mark.parametrize("rate", (24.0, 30.0, 60.0))
def test_belly_and_ears_both_swing_near_jiggle(rate: float) -> None:
    vertices, triangles, follow = belly_with_ears()
    enricher = Enricher(vertices, triangles, follow, Settings(resolution=14, jiggle=3.0, settle=0.7), rate)
    cage = enricher.cage.vertices
    for watch, direction in ((cage[:, 2] > 0.7, 1), ((cage[:, 1] < -0.3) & (cage[:, 2] < 0.2), 2)):
        kick = sag(enricher, direction)
        kick *= 0.1 / np.abs(kick).max()
        frequency, settle = ring_down(enricher, kick, rate, watch, 1.4)
        assert abs(frequency / 3.0 - 1) < 0.25
        assert abs(settle / 0.7 - 1) < 0.25


@pytest.mark.parametrize("scale", (0.01, 100.0))
def test_the_same_settings_mean_the_same_on_a_tiny_and_a_huge_character(scale: float) -> None:
    """Frequency, decay and pose are scale-free; offsets scale with the body when its motion does."""
    vertices, triangles, follow = bar()
    frames = swing(vertices, 14)
    normal = list(enrich(vertices, triangles, frames, follow, resolution=8))
    scaled = list(enrich(vertices * scale, triangles, [f * scale for f in frames], follow, resolution=8))
    worst = max(np.abs(a / scale - b).max() for a, b in zip(scaled, normal, strict=True))
    added = max(np.abs(a - b).max() for a, b in zip(normal, frames, strict=True))
    assert worst < 0.02 * added


def driven(resolution: int, scale: float = 1.0, rate: float = 24.0, softness: float = 1.0) -> Floats:
    """Frequencies (Hz) at three heights of a thin standing bar, painted from 0.1 at its foot to 0.9, after a push."""
    from test_closed_forms import oscillation

    vertices, triangles = box_surface((2, 2, 32), (1 / 16, 1 / 16, 1.0))
    painted, softer = 0.1 + 0.8 * vertices[:, 2], Regions(stiffness=np.ones(len(vertices)))
    settings = Settings(resolution=resolution, settle=6.0, transition=0.0, stiffness_painted=softness)
    enricher = Enricher(scale * vertices, triangles, painted, settings, rate, regions=softer)
    still = enricher.cage.vertices
    state, signal = State(still.copy(), np.tile([0.05 * scale, 0.0, 0.0], (len(still), 1))), []
    for _ in range(int(rate)):
        state, _ = enricher.advance(state, (still, still, still, still))
        moved = (enricher.surface(still, state.positions, scale * vertices) - scale * vertices)[:, 0]
        signal.append([moved[np.abs(vertices[:, 2] - height) < 0.05].mean() for height in (0.2, 0.5, 0.8)])
    return np.array([oscillation(column, 1 / rate)[1] / (2 * np.pi) for column in np.array(signal).T])


def test_pure_driving_is_the_same_at_every_resolution() -> None:
    """Flesh a thousand times as soft as Jiggle makes it hardly feels its neighbours: paint alone drives it."""
    coarse, middle, fine = (driven(resolution, softness=0.001) for resolution in (12, 24, 48))
    assert coarse[2] > 2.0 * coarse[0]  # what is painted differently swings differently
    assert np.abs(coarse / fine - 1).max() < 0.05 and np.abs(middle / fine - 1).max() < 0.05


@pytest.mark.parametrize("rate", (24.0, 30.0, 60.0))
@pytest.mark.parametrize("scale", (0.01, 1.0, 100.0))
def test_painted_flesh_swings_alike_at_every_scale_and_frame_rate(scale: float, rate: float) -> None:
    assert np.abs(driven(12, scale, rate) / driven(12, 1.0, 48.0) - 1).max() < 0.05


def test_the_same_bits_come_out_twice_and_after_resuming_from_a_state() -> None:
    vertices, triangles, follow = bar()
    frames = swing(vertices, 10)
    first = Enricher(vertices, triangles, follow, Settings(resolution=8))
    fits, states = run(first, frames)
    again = Enricher(vertices, triangles, follow, Settings(resolution=8))
    fits_again, states_again = run(again, frames)
    assert np.array_equal(states[-1].positions, states_again[-1].positions)
    resumed = Enricher(vertices, triangles, follow, Settings(resolution=8), cage=first.cage)
    fit = resumed.fit(frames[6], fits[5], fits[4]).positions
    assert np.array_equal(fit, fits[6])
    state = State(states[5].positions.copy(), states[5].velocities.copy())
    padded = [None, *fits, None]
    for k in range(5, 9):
        state, _ = resumed.advance(state, tuple(padded[k : k + 4]))
    assert np.array_equal(state.positions, states[-1].positions)
    assert np.array_equal(state.velocities, states[-1].velocities)


@pytest.mark.parametrize("scheme", ("tr_bdf2", "implicit_euler"))
@pytest.mark.parametrize("kind", ("collapsed", "inverted", "scrambled", "flattened"))
def test_nothing_explodes_from_a_violent_state_and_it_recovers(scheme: str, kind: str) -> None:
    vertices, triangles, follow = bar()
    enricher = Enricher(vertices, triangles, follow, Settings(resolution=6, settle=0.3, scheme=scheme))
    cage = enricher.cage.vertices
    start = {
        "collapsed": np.zeros_like(cage) + cage.mean(0),
        "inverted": cage * [-1, 1, 1],
        "scrambled": cage + np.random.default_rng(1).normal(0, 0.3, cage.shape),
        "flattened": cage * [1, 1, 0.001],
    }[kind]
    state = State(start, np.zeros_like(cage))
    farthest = 0.0
    for _ in range(72):
        state, _ = enricher.advance(state, (cage, cage, cage, cage))
        assert np.isfinite(state.positions).all()
        farthest = max(farthest, float(np.abs(state.positions - cage).max()))
    assert farthest < 5.0
    assert np.abs(state.positions - cage).max() < 1e-3


def test_fitting_never_diverges_whatever_the_frame() -> None:
    vertices, triangles, _ = bar()
    enricher = Enricher(vertices, triangles, np.zeros(len(vertices)), Settings(resolution=6))
    random = np.random.default_rng(2)
    wild = {
        "mirrored": vertices * [-1, 1, 1],
        "a point": np.zeros_like(vertices),
        "a plane": vertices * [1, 1, 0],
        "scrambled": random.permutation(vertices),
        "noise": random.normal(0, 10, vertices.shape),
        "far": vertices + 1e5,
    }
    for name, frame in wild.items():
        fit = enricher.fit(frame)
        reach = np.ptp(frame, 0).max() + 1.5
        assert np.isfinite(fit.positions).all(), name
        assert np.abs(fit.positions - frame.mean(0)).max() < 3 * reach, name
    # and an ordinary frame after them still fits
    fit = enricher.fit(vertices @ rotation((0, 0, 1), 2.0).T, fit.positions)
    assert fit.rms < 1e-3


def test_the_fit_follows_bending_with_detail_off() -> None:
    """Detail returns the input however bad the fit is, so the fit itself is bounded."""
    vertices, triangles, _ = bar()
    enricher = Enricher(vertices, triangles, np.zeros(len(vertices)), Settings(resolution=16, detail=False))
    bent = pose("bent", vertices)
    fit = enricher.fit(bent)
    assert fit.rms < 0.005
    assert np.abs(enricher.surface(fit.positions, fit.positions, bent) - bent).max() < 0.03


@pytest.mark.parametrize("settings", ({"jiggle": -1.0}, {"resolution": 1}, {"no_such": 1}, {"scheme": "magic"}))
def test_a_wrong_setting_is_answered_with_a_sentence(settings: dict) -> None:
    from sinew.core.base.errors import BadInput

    vertices, triangles, follow = bar()
    with pytest.raises(BadInput):
        list(enrich(vertices, triangles, [vertices], follow, **settings))


def test_bad_arrays_are_answered_with_a_sentence() -> None:
    from sinew.core.base.errors import BadInput

    vertices, triangles, follow = bar()
    broken = vertices.copy()
    broken[3, 1] = np.nan
    with pytest.raises(BadInput):
        Enricher(broken, triangles, follow)
    with pytest.raises(BadInput):
        Enricher(vertices, triangles + len(vertices), follow)
    with pytest.raises(BadInput):
        Enricher(vertices[:0], triangles[:0], follow[:0])
    with pytest.raises(BadInput):
        Enricher(vertices, triangles, follow * 2.0)
    with pytest.raises(BadInput):
        Enricher(vertices, triangles, follow, frame_rate=0.0)
    enricher = Enricher(vertices, triangles, follow, Settings(resolution=6))
    with pytest.raises(BadInput):
        enricher.fit(broken)
    with pytest.raises(BadInput):
        enricher.fit(vertices[:-1])


def test_travel_says_how_much_of_the_way_of_the_whole_body_is_felt() -> None:
    vertices, triangles, follow = bar()
    ways = 0.08 * (1.0 - np.cos(2 * np.pi * np.arange(36) / 24))  # to and fro, little enough for all of it to be felt
    carried = [vertices + [way, 0.0, 0.5 * way] for way in ways]

    def added(frames: list[Floats], travel: float) -> list[Floats]:
        moved = list(enrich(vertices, triangles, frames, follow, resolution=8, jiggle=2.0, travel=travel))
        offsets = [a - b for a, b in zip(moved, frames, strict=True)]
        assert max(np.abs(offset[follow == 1]).max() for offset in offsets) < 1e-4
        return offsets

    felt = {travel: max(np.abs(one).max() for one in added(carried, travel)) for travel in (0.0, 0.5, 1.0)}
    assert felt[0.0] < 1e-5 and felt[1.0] > 0.02, felt
    assert felt[0.5] == pytest.approx(0.5 * felt[1.0], rel=0.15)
    # What it does on the spot swings it as if it did not travel.
    rocking = [vertices @ rotation((0, 1, 0), 0.3 * np.sin(0.3 * k)).T for k in range(36)]
    middle = [frame.mean(axis=0) for frame in rocking]
    still = added([frame - place for frame, place in zip(rocking, middle, strict=True)], 0.0)
    away = added([frame - place + [way, 0, 0] for frame, place, way in zip(rocking, middle, ways, strict=True)], 0.0)
    assert max(np.abs(one).max() for one in still) > 0.02
    assert max(np.abs(a - b).max() for a, b in zip(still, away, strict=True)) < 1e-3
