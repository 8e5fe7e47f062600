"""Automatic weights against anatomy: bodies whose parts are known by name."""

from __future__ import annotations

import numpy as np
import pytest
from anatomy import BODIES, UNSEEN


def test_half_of_the_bodies_are_not_tuned_on() -> None:
    assert set(BODIES) >= UNSEEN and 0.4 * len(BODIES) <= len(UNSEEN) <= 0.6 * len(BODIES)


@pytest.mark.parametrize("key", BODIES)
def test_parts_are_apart_and_named_by_their_side(key: str) -> None:
    body = BODIES[key]()
    every = np.concatenate(list(body.parts.values()))
    assert len(np.unique(every)) == len(every) < 0.8 * len(body.positions)
    assert {name.split()[0] for name in body.parts} == {"held", "free"}
    assert np.allclose(body.skin.sum(axis=1), 1.0, atol=1e-5)
    assert body.triangles.max() == len(body.positions) - 1
