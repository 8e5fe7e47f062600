"""Estimates against cages that are really built and reports of known speed."""

from __future__ import annotations

import numpy as np
import pytest
from bodies import box_surface, rotation
from sinew.core.bake.report import duration_text
from sinew.core.cage.cage import build_cage
from sinew.core.flesh import estimate
from sinew.core.flesh.settings import Settings

pytestmark = pytest.mark.once


def ball(count: int) -> tuple[np.ndarray, np.ndarray]:
    vertices, triangles = box_surface((count, count, count), (2.0, 2.0, 2.0))
    centred = vertices - vertices.mean(axis=0)
    return centred / np.linalg.norm(centred, axis=1, keepdims=True), triangles


def turned(body: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Flat sides along the lattice jump from one layer of cells to the next, which no real body does."""
    return body[0] @ rotation((1.0, 2.0, 3.0), 0.5).T, body[1]


BODIES = {
    "ball": lambda: ball(10),
    "plank": lambda: turned(box_surface((20, 6, 2), (4.0, 1.2, 0.3))),
    "stick": lambda: turned(box_surface((40, 3, 3), (4.0, 0.5, 0.5))),
}


@pytest.mark.parametrize("body", BODIES)
def test_tets_are_counted_or_foretold_within_15_percent(body: str) -> None:
    rest, triangles = BODIES[body]()
    growth = estimate.measure(rest, triangles)
    for resolution in (0, 16, 24):
        assert growth.can_count(resolution)
        assert growth.count(resolution) == len(build_cage(rest, triangles, resolution).tets)
    for resolution in (48, 64):
        real = len(build_cage(rest, triangles, resolution).tets)
        assert growth.tets(resolution) == pytest.approx(real, rel=0.15), resolution


@pytest.mark.parametrize("body", BODIES)
def test_tets_of_gmsh_are_foretold_within_30_percent_without_running_it(body: str) -> None:
    rest, triangles = BODIES[body]()
    growth = estimate.measure(rest, triangles, mesher="gmsh")
    for resolution in (10, 24):
        assert not growth.can_count(resolution)
        real = len(build_cage(rest, triangles, resolution, mesher="gmsh").tets)
        assert growth.tets(resolution) == pytest.approx(real, rel=0.3), resolution


def test_huge_cages_are_not_built_for_an_estimate() -> None:
    growth = estimate.measure(*BODIES["ball"]())
    assert not growth.can_count(200) and growth.tets(200) > 1_000_000


def test_seconds_grow_with_everything_that_costs() -> None:
    base = estimate.seconds(10_000, 5_000, 100, Settings(), 24.0)
    assert base > 0.0
    assert estimate.seconds(20_000, 5_000, 100, Settings(), 24.0) > 2.0 * base
    assert estimate.seconds(10_000, 5_000, 200, Settings(), 24.0) == pytest.approx(2.0 * base)
    assert estimate.seconds(10_000, 500_000, 100, Settings(), 24.0) > base
    assert estimate.seconds(10_000, 5_000, 100, Settings(jiggle=12.0), 24.0) > base


def test_a_cage_takes_its_time_before_the_first_bake_has_told() -> None:
    unknown, known = estimate.Speed(), estimate.Speed(once=0.0)
    assert unknown.seconds(40_000, 5_000, 1, Settings(), 24.0) > 2.0 + known.seconds(40_000, 5_000, 1, Settings(), 24.0)


def report(speed: float, computed: int = 100) -> dict:
    work = estimate.seconds(10_000, 5_000, computed, Settings(), 24.0) / speed
    seconds = {"fitting": 0.5 * work, "simulation": 0.4 * work, "detail": 0.1 * work, "sampling": 7.0, "cage": 3.0}
    return {
        "computed": computed, "samples": computed, "tets": 10_000, "vertices": 5_000, "frame_rate": 24.0,
        "settings": Settings().as_dict(),
        "seconds": {**seconds, "total": 11.0 + work},
    }  # fmt: skip


def test_the_last_bake_tells_how_fast_the_machine_is() -> None:
    for speed in (0.25, 2.0):
        measured = estimate.measured_speed(report(speed))
        assert measured is not None and measured.slowness == pytest.approx(1.0 / speed)
        # The same bake again takes as long again, sampling included.
        spent = report(speed)["seconds"]["total"]
        assert measured.seconds(10_000, 5_000, 100, Settings(), 24.0) == pytest.approx(spent)
    slept = estimate.measured_speed(report(1e-6))
    assert slept is not None and slept.slowness == 10.0


@pytest.mark.parametrize("broken", [{}, {"computed": "x"}, {"computed": 2}, {"seconds": {}}, {"settings": {"x": 1}}])
def test_reports_that_tell_nothing_are_passed_over(broken: dict) -> None:
    assert estimate.measured_speed({**report(1.0), **broken} if broken else {}) is None


@pytest.mark.parametrize(
    ("amount", "text"),
    [(0.2, "1 s"), (43.4, "43 s"), (101, "1 min 40 s"), (120, "2 min"), (1234, "21 min"), (5000, "1 h 23 min")],
)
def test_durations_are_said_as_people_say_them(amount: float, text: str) -> None:
    assert duration_text(amount) == text


@pytest.mark.parametrize(("count", "shown"), [(7, 7), (99, 99), (16703, 17000), (104999, 100000)])
def test_counts_are_rounded(count: int, shown: int) -> None:
    assert estimate.round_to_two_digits(count) == shown
