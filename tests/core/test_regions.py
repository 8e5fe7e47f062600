"""Painted regions: stiffness, damping, density, Keep Pose, bones and the cores of limbs do what they say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from anatomy import BODIES
from bodies import box_surface, rotation, sphere
from sinew.core.bake import fields
from sinew.core.bake.fields import COLUMNS, make_row, push_of
from sinew.core.cage.cage import build_cage
from sinew.core.flesh.enricher import Enricher, State
from sinew.core.flesh.outer import Outer
from sinew.core.flesh.settings import Settings
from sinew.core.paint.follow import Segment
from sinew.core.paint.parts import Parts
from sinew.core.paint.regions import Regions, cage_follow, make_core

pytestmark = pytest.mark.once

Floats = npt.NDArray[np.float64]
Body = tuple[Floats, npt.NDArray[np.int32], Floats]
FRAME_RATE = 120.0


@pytest.fixture(scope="module")
def bar() -> Body:
    """A lying bar whose end at x = 0 follows."""
    vertices, triangles = box_surface((16, 4, 4), (1.0, 0.25, 0.25))
    return vertices, triangles, (vertices[:, 0] < 0.1).astype(float)


def released(body: Body, regions: Regions, **settings: float) -> Floats:
    """The height of the free end over time, after a small push; no input motion."""
    vertices, triangles, follow = body
    enricher = Enricher(
        vertices, triangles, follow, Settings(resolution=8, jiggle=2.0, settle=2.0).replace(settings), FRAME_RATE,
        gravity=(0.0, 0.0, 0.0), regions=regions,
    )  # fmt: skip
    still = enricher.fit(vertices).positions
    velocities = np.zeros_like(still)
    velocities[:, 2] = 0.05 * still[:, 0] ** 2
    state = State(still, velocities)
    end = np.argmax(still[:, 0])
    heights = []
    for _ in range(150):
        state, _step = enricher.advance(state, (still, still, still, still))
        heights.append(state.positions[end, 2] - still[end, 2])
    return np.array(heights)


def frequency(heights: Floats) -> float:
    """From the zero crossings upwards, in Hz."""
    up = np.flatnonzero((heights[:-1] < 0.0) & (heights[1:] >= 0.0))
    when = up - heights[up] / (heights[up + 1] - heights[up])
    return float(FRAME_RATE * (len(when) - 1) / (when[-1] - when[0]))


def decay(heights: Floats) -> float:
    """Of the envelope, 1/s, from the two first upper peaks."""
    inner = heights[1:-1]
    peaks = 1 + np.flatnonzero((inner > heights[:-2]) & (inner >= heights[2:]) & (inner > 0.0))
    return float(np.log(heights[peaks[0]] / heights[peaks[1]]) / ((peaks[1] - peaks[0]) / FRAME_RATE))


def test_a_region_four_times_as_stiff_swings_twice_as_fast(bar: Body) -> None:
    plain = frequency(released(bar, Regions()))
    ones = np.ones(len(bar[0]))
    for weight, times in ((1.0, 2.0), (0.5, np.sqrt(2.0)), (0.0, 1.0)):
        found = frequency(released(bar, Regions(stiffness=weight * ones), stiffness_painted=4.0))
        assert found == pytest.approx(times * plain, rel=0.02)


def test_a_region_four_times_as_heavy_swings_half_as_fast(bar: Body) -> None:
    plain = frequency(released(bar, Regions()))
    heavy = released(bar, Regions(density=np.ones(len(bar[0]))), density_painted=4.0, jiggle=4.0)
    assert frequency(heavy) == pytest.approx(plain, rel=0.03)


def test_a_heavy_end_slows_a_bar_as_a_tip_mass_does(bar: Body) -> None:
    """Rayleigh: a cantilever of mass m with m' at its end swings as 1/sqrt(0.236 m + m')."""
    plain = frequency(released(bar, Regions(), jiggle=10.0))
    tip = (bar[0][:, 0] > 0.93).astype(float)
    slow = frequency(released(bar, Regions(density=tip), jiggle=10.0, density_painted=20.0))
    slope = 0.0625 * (19.0 / np.log(20.0) - 1.0)  # between two rings 20**w falls from 20 to 1
    added = 19.0 * 0.0625 + slope  # of the bar's mass
    assert slow / plain == pytest.approx(np.sqrt(0.236 / (0.236 + added)), rel=0.1)


def test_a_region_damped_four_times_calms_four_times_as_fast(bar: Body) -> None:
    plain = decay(released(bar, Regions(), settle=4.0))
    ones = np.ones(len(bar[0]))
    calm = decay(released(bar, Regions(damping=ones), settle=4.0, damping_painted=4.0))
    assert calm == pytest.approx(4 * plain, rel=0.1)


def test_a_limp_end_hangs_while_the_rest_holds_its_pose(bar: Body) -> None:
    """Then only the weight of the end bends the bar: the tip of a beam of length L sinks by the integral of
    s² (3L - s) over what is loaded, s from where it is held."""
    vertices, triangles, follow = bar
    limp = (vertices[:, 0] > 0.59).astype(float)
    sags = []
    settings = Settings(resolution=8, keep_pose_painted=0.0)
    for weights in (None, limp, np.ones(len(vertices))):
        enricher = Enricher(vertices, triangles, follow, settings, regions=Regions(keep_pose=weights))
        still = enricher.fit(vertices).positions
        state = enricher.begin(still, still)
        for _ in range(48):
            state, _step = enricher.advance(state, (still, still, still, still))
        end = still[:, 0] > 0.95
        sags.append(float((still - state.positions)[end, 2].mean()))

    def sunk(begin: float) -> float:
        length = 0.9
        return 0.75 * length**4 - (length * begin**3 - begin**4 / 4)

    assert sags[0] < 1e-3 and sags[2] > 0.02
    assert sags[1] / sags[2] == pytest.approx(sunk(0.47) / sunk(0.0), rel=0.05)


def test_a_rigid_part_is_a_bone_in_the_flesh(bar: Body) -> None:
    vertices, triangles, follow = bar
    inside = (vertices[:, 0] > 0.4) & (vertices[:, 0] < 0.8)
    stretches = []
    for rigid in (np.full(len(vertices), -1, np.int32), np.where(inside, 0, -1).astype(np.int32)):
        parts = Parts(np.ones(len(vertices), bool), rigid)
        enricher = Enricher(vertices, triangles, follow, Settings(resolution=8, keep_pose=0.0), parts=parts)
        still = enricher.fit(vertices).positions
        state = enricher.begin(still, still)
        for _ in range(24):
            state, _step = enricher.advance(state, (still, still, still, still))
        tets = enricher.cage.tets
        middle = still[tets].mean(1)[:, 0]
        core = tets[(middle > 0.5) & (middle < 0.7)]

        def edges(points: Floats, core: npt.NDArray[np.int32] = core) -> Floats:
            return (points[core][:, 1:] - points[core][:, :1]).transpose(0, 2, 1)

        gradients = edges(state.positions) @ np.linalg.inv(edges(still))
        stretches.append(float(np.abs(np.linalg.svd(gradients, compute_uv=False) - 1.0).max()))
    assert stretches[1] < 0.02 * stretches[0]
    assert stretches[0] > 0.005, "without a bone the flesh must stretch, or the test sees nothing"


def test_the_core_of_a_limb_follows_and_the_flesh_around_it_does_not(
    bar: Body,
) -> None:
    vertices, triangles, _ = bar
    bones = make_core(
        vertices, triangles,
        [Segment("upper", (0.0, 0.125, 0.125), (0.5, 0.125, 0.125), -1, False),
         Segment("lower", (0.5, 0.125, 0.125), (1.0, 0.125, 0.125), 0, True)],
        np.stack([vertices[:, 0] < 0.5, vertices[:, 0] >= 0.5], 1).astype(np.float32), 0.4,
    )  # fmt: skip
    enricher = Enricher(
        vertices, triangles, np.zeros(len(vertices)), Settings(resolution=24, jiggle=2.0), regions=Regions(bones=bones)
    )
    core = enricher.cage_weights() == 1.0
    distance = np.linalg.norm(enricher.cage.vertices[:, 1:] - 0.125, axis=1)
    assert core.any() and distance[core].max() < 0.07
    frames = [vertices @ rotation((0, 1, 0), 0.4 * np.sin(k / 3)).T for k in range(10)]
    fits: list[Floats] = []
    for frame in frames:
        fits.append(enricher.fit(frame, fits[-1] if fits else None).positions)
    padded = [None, *fits, None]
    state = enricher.begin(fits[0], fits[1])
    moved = 0.0
    for k in range(len(fits) - 1):
        state, _step = enricher.advance(state, tuple(padded[k : k + 4]))
        assert np.abs(state.positions - fits[k + 1])[core].max() < 1e-12
        moved = max(moved, float(np.abs(state.positions - fits[k + 1])[~core].max()))
    assert moved > 0.003


def test_a_core_thinner_than_the_cage_still_holds(bar: Body) -> None:
    cage = build_cage(bar[0], bar[1], 6)
    follow = cage_follow(cage, Regions(bones=np.array([[0.1, 0.12, 0.13, 0.9, 0.12, 0.13, 1e-4]])))
    assert follow is not None and 4 <= np.nansum(follow) < len(cage.vertices)


def test_animated_weights_hold_let_go_and_catch_as_the_unanimated_ones_do(bar: Body) -> None:
    vertices, triangles, _ = bar
    frames = [vertices @ rotation((0, 1, 0), 0.4 * np.sin(k / 3)).T for k in range(9)]
    settings = Settings(resolution=8, jiggle=2.0, substeps=2)
    half = np.clip(1.0 - vertices[:, 0], 0.0, 1.0)
    results = []
    for animated in (False, True):
        enricher = Enricher(vertices, triangles, half, settings.replace({"follow_animated": animated}))
        fits: list[Floats] = []
        for frame in frames:
            fits.append(enricher.fit(frame, fits[-1] if fits else None).positions)
        padded = [None, *fits, None]
        state = enricher.begin(fits[0], fits[1])
        for k in range(len(fits) - 1):
            outer = Outer(follow=(half, half)) if animated else Outer()
            state, _step = enricher.advance(state, tuple(padded[k : k + 4]), outer)
        results.append(state.positions)
    offset = np.abs(results[0] - fits[-1]).max()
    assert offset > 0.1
    assert np.abs(results[1] - results[0]).max() < 1e-3 * offset
    ones = np.ones(len(vertices))
    caught, _step = enricher.advance(state, (fits[-3], fits[-2], fits[-1], None), Outer(follow=(half, ones)))
    assert np.abs(enricher.surface(fits[-1], caught.positions, frames[-1]) - frames[-1]).max() < 1e-12


def test_fields_at_both_ends_of_an_interval_are_both_felt_and_drag_only_stops() -> None:
    field = {
        "type": "WIND", "shape": "POINT", "falloff_type": "SPHERE", "z_direction": "BOTH", "unit": 1.0,
        "place": (0.0, 0.0, 0.0), "axis": (0.0, 0.0, 1.0), **dict.fromkeys(COLUMNS[5:], 0.0), "strength": 4.0,
    }  # fmt: skip
    blowing, still = np.array([make_row(field)]), np.array([make_row({**field, "strength": 0.0})])
    points = np.random.default_rng(0).normal(size=(20, 3))
    rest = np.zeros_like(points)
    assert np.allclose(push_of(still, blowing, points, rest, 0.04), [0.0, 0.0, 2.0])
    drag = np.array([make_row({**field, "type": "DRAG", "quadratic_drag": 1e6})])
    moving = np.random.default_rng(1).normal(size=(20, 3))
    assert np.allclose(moving + 0.04 * push_of(drag, drag, points, moving, 0.04), 0.0, atol=1e-9)


def test_turbulence_is_smooth_and_the_same_everywhere_it_is_computed() -> None:
    line = np.linspace(0.0, 3.0, 3001)[:, None] * [1.0, 0.7, -0.3]
    noise = fields._noise(line)
    assert np.array_equal(noise, np.concatenate([fields._noise(line[:1000]), fields._noise(line[1000:])]))
    assert 0.2 < np.abs(noise).max() <= 1.0 and np.abs(np.diff(noise)).max() < 0.01


def test_weights_on_points_inside_are_those_of_the_cage_vertices_nearest_to_them(bar: Body) -> None:
    vertices, triangles, _ = bar
    points = np.array([[0.1, 0.12, 0.12, 1.0], [0.9, 0.12, 0.12, 0.25]])
    enricher = Enricher(
        vertices, triangles, np.zeros(len(vertices)), Settings(resolution=12), regions=Regions(inside=points)
    )
    weights = enricher.cage_weights()
    nearest = [int(np.argmin(np.linalg.norm(enricher.cage.vertices - point[:3], axis=1))) for point in points]
    assert weights[nearest].tolist() == [1.0, 0.25]
    assert 1 <= (weights == 1.0).sum() < 5


def test_a_torso_has_a_firm_core_and_a_tail_has_none() -> None:
    rat = BODIES["rat"]()
    core = make_core(rat.positions, rat.triangles, rat.nameless(), rat.skin, 0.5)
    places = 0.5 * (core[:, :3] + core[:, 3:6])
    assert places[:, 1].max() < 0.6 < rat.positions[rat.parts["free tail"], 1].max()
    spine = np.argmin(np.linalg.norm(places - (0.0, 0.11, 0.355), axis=1))
    assert core[spine, 6] == pytest.approx(0.5 * 0.19, rel=0.25)  # of the ball that fits in there


def test_a_body_without_bones_has_a_core_in_its_middle() -> None:
    vertices, triangles = sphere(24, 36, (1.0, 1.0, 2.0))
    core = make_core(vertices, triangles, [], None, 0.5)
    assert np.array_equal(core[:, :3], core[:, 3:6])
    assert core[:, 6].max() == pytest.approx(0.5, rel=0.1)
    assert np.abs(core[:, :2]).max() < 0.15 and np.ptp(core[:, 2]) > 1.0
