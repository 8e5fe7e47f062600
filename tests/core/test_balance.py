"""Same painting, same motion: whatever the scale of the scene, the frame rate and the resolution of the cage."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from bodies import box_surface
from sinew.core.flesh.enricher import Enricher, State
from sinew.core.flesh.settings import Settings

pytestmark = pytest.mark.once

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


def fading_bar() -> tuple[Floats, Ints, Floats]:
    """A bar along x whose root follows; from there on its weight fades."""
    vertices, triangles = box_surface((24, 6, 6), (1.0, 0.25, 0.25))
    return vertices, triangles, np.clip(1.1 - 1.2 * vertices[:, 0], 0.0, 1.0)


def held_bar(thickness: float) -> tuple[Floats, Ints, Floats]:
    """A bar along x whose root follows; all the rest is free."""
    vertices, triangles = box_surface((24, 4, 4), (1.0, thickness, thickness))
    return vertices, triangles, (vertices[:, 0] < 0.15).astype(float)


def settled_offset(enricher: Enricher, seconds: float = 3.0) -> float:
    """How far the far end hangs down in the end, as a fraction of size."""
    still, shift = enricher.cage.vertices, 0.0
    state = State(still.copy(), np.zeros_like(still))
    for _ in range(round(seconds / enricher.interval)):
        state, _ = enricher.advance(state, (still, still, still, still))
        shift = float((state.positions - still)[still[:, 0] > 0.9 * still[:, 0].max(), 2].mean())
    return shift / enricher.size


def swing_frequency(enricher: Enricher, seconds: float = 1.5) -> float:
    """Hz of the far end after a kick: by the poles of linear prediction."""
    still = enricher.cage.vertices
    along = np.maximum(still[:, 0] / still[:, 0].max(), 0.0)
    kick = np.zeros_like(still)
    kick[:, 1] = 0.1 * enricher.size * along**2 * (enricher.cage_weights() < 1.0)
    state, signal = State(still.copy(), kick), []
    for _ in range(round(seconds / enricher.interval)):
        state, _ = enricher.advance(state, (still, still, still, still))
        signal.append(float((state.positions - still)[along > 0.9, 1].mean()))
    series = np.array(signal)
    a, b = np.linalg.lstsq(np.stack([series[1:-1], series[:-2]], 1), series[2:], rcond=None)[0]
    return float(np.abs(np.log(np.roots([1.0, -a, -b]) + 0j).imag).max() / (2 * np.pi * enricher.interval))


@cache
def painted(scale: float, rate: float) -> tuple[float, float]:
    """Frequency and settled offset of the fading bar, without Keep Pose."""
    vertices, triangles, follow = fading_bar()
    settings = Settings(resolution=12, jiggle=2.0, settle=1.0, keep_pose=0.0)
    calm = settings.replace({"gravity": (0.0, 0.0, 0.0)})
    swinging, sagging = (Enricher(scale * vertices, triangles, follow, chosen, rate) for chosen in (calm, settings))
    return swing_frequency(swinging), settled_offset(sagging)


@pytest.mark.parametrize(
    ("scale", "rate"), [(0.01, 24.0), (0.1, 24.0), (10.0, 24.0), (100.0, 24.0), (1.0, 30.0), (1.0, 60.0), (100.0, 60.0)]
)
def test_painting_means_the_same_at_any_scale_and_frame_rate(scale: float, rate: float) -> None:
    frequency, offset = painted(1.0, 24.0)
    other_frequency, other_offset = painted(scale, rate)
    assert offset < -0.005, "it must be seen to sag"
    assert other_frequency == pytest.approx(frequency, rel=0.05)
    assert other_offset == pytest.approx(offset, rel=0.05)


@cache
def driven(resolution: int) -> Floats:
    """The way of a body that is only driven (weight 1/2 all over) when its input jumps a little, as fractions of the
    jump."""
    vertices, triangles = box_surface((16, 3, 3), (1.0, 0.15, 0.15))
    settings = Settings(resolution=resolution, jiggle=2.0, settle=1.0)
    enricher = Enricher(vertices, triangles, np.full(len(vertices), 0.5), settings)
    still, jump = enricher.cage.vertices, np.array([0.0, 0.02, 0.0])
    state, way = State(still.copy(), np.zeros_like(still)), []
    for _ in range(24):
        state, _ = enricher.advance(state, (still + jump,) * 4)
        way.append((state.positions - still).mean(axis=0) @ jump / (jump @ jump))
    return np.array(way)


@pytest.mark.parametrize("resolution", [24, 48])
def test_pure_driving_is_the_same_at_any_resolution(resolution: int) -> None:
    coarse, fine = driven(12), driven(resolution)
    assert np.ptp(coarse) > 1.0, "it must be seen to swing past"
    assert np.abs(fine - coarse).max() < 0.05


def test_elastic_parts_three_cells_thick_swing_the_same_at_twice_the_resolution() -> None:
    vertices, triangles, follow = held_bar(3.0 / 16.0)
    settings = Settings(jiggle=2.0, settle=1.0, gravity=(0.0, 0.0, 0.0))
    found = [
        swing_frequency(Enricher(vertices, triangles, follow, settings.replace({"resolution": n, "keep_pose": keep})))
        for n, keep in ((16, 0.0), (16, 1.0), (32, 1.0))
    ]
    assert found[1] == pytest.approx(found[0], rel=1e-6) and found[2] == pytest.approx(found[0], rel=0.01)


def test_real_materials_three_cells_thick_swing_the_same_at_twice_the_resolution() -> None:
    vertices, triangles, follow = held_bar(3.0 / 24.0)
    settings = Settings(young=2e4, transition=0.0, gravity=(0.0, 0.0, 0.0))
    found = [
        Enricher(vertices, triangles, follow, settings.replace({"resolution": resolution})).summary()["frequency"]
        for resolution in (24, 48)
    ]
    assert found[1] == pytest.approx(found[0], rel=0.1)


@pytest.mark.parametrize("more", [{}, {"balance": 2.0}, {"keep_pose": 0.5}])
def test_flesh_settles_where_a_long_simulation_ends(more: dict[str, float]) -> None:
    vertices, triangles, follow = fading_bar()
    enricher = Enricher(vertices, triangles, follow, Settings(**{"resolution": 8, "keep_pose": 0.0, **more}))
    still = enricher.cage.vertices
    state = State(still.copy(), np.zeros_like(still))
    for _ in range(120):
        state, _ = enricher.advance(state, (still, still, still, still))
    settled = enricher.settle(still)
    assert np.abs(settled - still).max() > 1e-3 * enricher.size
    assert np.abs(settled - state.positions).max() < 1e-5 * enricher.size


def test_a_body_that_nothing_holds_settles_where_it_is() -> None:
    vertices, triangles, follow = fading_bar()
    enricher = Enricher(vertices, triangles, 0.0 * follow, Settings(resolution=6, keep_pose=0.0))
    still = enricher.cage.vertices
    assert np.abs(enricher.settle(still) - still).max() < 1e-3 * enricher.size
