"""A free body flies as a thrown thing does: along its parabola, at its spin, whatever its flesh does; and in its own
shape when it swings no more. One that is held does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from bodies import box_surface
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings
from sinew.core.methods.enrich import METHOD

REST, TRIANGLES = box_surface((3, 3, 3), (0.4, 0.3, 0.2))
RATE = 24.0
GRAVITY = (0.0, 0.0, -9.81)


def fly(frames: int, **values: Any) -> tuple[Enricher, list[Any]]:
    """The states of a body whose animation stands still."""
    settings = Settings().replace({"resolution": 3, "free_body": True, **values})
    enricher = Enricher(REST, TRIANGLES, np.zeros(len(REST)), settings, RATE, gravity=GRAVITY)
    fitted = enricher.fit(REST).positions
    states = [enricher.begin(fitted, fitted)]
    for _ in range(frames):
        states.append(enricher.advance(states[-1], (fitted, fitted, fitted, fitted))[0])
    return enricher, states


def centres(enricher: Enricher, states: list[Any]) -> np.ndarray:
    return np.array([state.positions[enricher.cage.tets].mean(axis=(0, 1)) for state in states])


@pytest.mark.parametrize("values", [{}, {"young": 3e4, "damping_stiffness": 0.01}, {"travel": 0.0}])
def test_its_middle_goes_along_a_parabola(values: dict[str, Any]) -> None:
    thrown = np.array((2.0, -1.0, 3.0))
    enricher, states = fly(12, initial_velocity=tuple(thrown), **values)
    found = centres(enricher, states)
    time = np.arange(len(found))[:, None] / RATE
    wanted = found[0] + time * thrown + 0.5 * time**2 * np.array(GRAVITY)
    assert found == pytest.approx(wanted, abs=1e-5)


def test_it_turns_at_its_spin() -> None:
    enricher, states = fly(6, initial_spin=(0.0, 0.0, 0.5), jiggle=12.0)
    first, last = states[0].positions, states[-1].positions
    flat = [(one - centre)[:, :2] for one, centre in zip((first, last), centres(enricher, [states[0], states[-1]]))]
    turn = flat[1].T @ flat[0]
    angle = np.arctan2(turn[1, 0] - turn[0, 1], turn[0, 0] + turn[1, 1])
    assert angle == pytest.approx(2.0 * np.pi * 0.5 * 6 / RATE, rel=0.02)


def test_it_keeps_its_shape_where_nothing_touches_it() -> None:
    enricher, states = fly(24, initial_velocity=(0.0, 0.0, 5.0))
    moved = states[-1].positions - states[0].positions
    assert np.abs(moved - moved.mean(axis=0)).max() < 1e-4 * enricher.size


def test_one_that_is_not_free_stays_with_its_animation() -> None:
    enricher, states = fly(12, free_body=False, initial_velocity=(2.0, 0.0, 0.0))
    assert np.abs(states[1].positions - states[0].positions).max() < 0.05
    assert not METHOD.roams(enricher.settings) and METHOD.roams(Settings(free_body=True))
