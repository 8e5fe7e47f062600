"""Stiffness that changes from sample to sample, across the border to the native module."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bodies import sphere
from sinew.core.base.errors import BadInput
from sinew.core.base.native import module
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings

SETTINGS = {"jiggle": 3.0, "settle": 0.7, "keep_pose": 0.0, "tolerance": 1e-8}


@pytest.fixture(scope="module")
def made() -> Enricher:
    rest, triangles = sphere(10, 12, (0.4, 0.3, 1.0))
    return Enricher(rest, triangles, (rest[:, 2] < -0.7).astype(float), Settings(resolution=8))


def simulation(made: Enricher, **settings: Any) -> Any:
    return module.Enrich(made.cage.native, np.ones(len(made.follow)), {**SETTINGS, **settings}, {"follow": made.follow})


def advance(made: Enricher, simulated: Any, positions: Any, velocities: Any, *firmness: Any) -> None:
    rest = made.cage.vertices
    simulated.advance(rest, rest, rest, rest, positions, velocities, None, None, None, *firmness)


def factors(made: Enricher, begin: float, end: float) -> Any:
    return np.repeat([[begin], [end]], len(made.cage.tets), axis=1)


def test_ones_leave_the_bits_and_others_do_not(made: Enricher) -> None:
    found = []
    for firmness in ((), (None,), (factors(made, 1.0, 1.0),), (factors(made, 2.0, 2.0),)):
        simulated, positions = simulation(made), made.cage.vertices.copy()
        velocities = np.zeros_like(positions)
        for _ in range(3):
            advance(made, simulated, positions, velocities, *firmness)
        found.append(positions.tobytes())
    assert found[0] == found[1] == found[2] != found[3]


def test_sag_keeps_to_its_static_curve(made: Enricher) -> None:
    simulated, sag = simulation(made), made.cage.vertices.copy()
    simulated.settle(made.cage.vertices, sag, None, None, factors(made, 1.0, 1.0)[0])
    positions, velocities = sag.copy(), np.zeros_like(sag)
    for begin, end in ((1.0, 2.0), (2.0, 5.0), (5.0, 3.0)):
        advance(made, simulated, positions, velocities, factors(made, begin, end))
        still = made.cage.vertices.copy()
        simulated.settle(made.cage.vertices, still, None, None, factors(made, end, end)[0])
        assert np.abs(positions - still).max() < 1e-6 * np.ptp(made.cage.vertices)
        assert np.abs(still - sag).max() > 1e-3


def test_tighten_makes_a_strained_pose_firmer(made: Enricher) -> None:
    rest = made.cage.vertices
    stretched = rest * [1.2, 1.0, 1.0]
    sags = []
    for pose in (rest, stretched):
        for tighten in (0.0, 2.0):
            positions = pose.copy()
            simulation(made, tighten=tighten, keep_pose=1.0).settle(pose, positions, np.full_like(pose, 0.1))
            sags.append(np.abs(positions - pose).max())
    assert sags[1] == pytest.approx(sags[0], rel=1e-6)
    assert sags[3] == pytest.approx(sags[2] / (1.0 + 2.0 * 0.2 / 0.3), rel=0.02)


def test_rebalanced_expressions_give_a_still_head_back(made: Enricher) -> None:
    rest = made.cage.vertices
    frames = [rest * [1.0, 1.0 + 0.1 * np.sin(k), 1.0] for k in range(6)]
    simulated = simulation(made, expression="rebalanced", keep_pose=1.0)
    positions, velocities = frames[1].copy(), np.zeros_like(rest)
    for k in range(1, 4):
        simulated.advance(
            *frames[k - 1 : k + 3], positions, velocities, None, None, np.concatenate(frames[k - 1 : k + 3])
        )
        assert np.abs(positions - frames[k + 1]).max() < 1e-6
    with pytest.raises(BadInput, match='no expression "static": use variable or rebalanced'):
        simulation(made, expression="static")


def test_a_wrong_shape_is_told(made: Enricher) -> None:
    simulated, positions = simulation(made), made.cage.vertices.copy()
    with pytest.raises(BadInput, match="firmness has the wrong shape"):
        advance(made, simulated, positions, np.zeros_like(positions), factors(made, 1.0, 1.0)[0])
    with pytest.raises(BadInput, match="firmness is not a finite number"):
        advance(made, simulated, positions, np.zeros_like(positions), factors(made, 1.0, np.nan))
