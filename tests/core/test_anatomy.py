"""Automatic weights against anatomy, on bodies whose parts are known by name, and however these stand or are meshed."""

from __future__ import annotations

import numpy as np
import pytest
from anatomy import BODIES, RIGHT_SIDE, UNSEEN, Labelled, scores, variants
from sinew.core.paint.follow import automatic_follow
from sinew.core.paint.parts import loose_shells

# Parts that are not right yet, with nameless bones. Who mends one takes it off.
WRONG = {
    "horse": {"free mane"},
    "bird": {"free wattle"},
    "ox": {"free dewlap", "free ears", "free tail"},
    "frog": {"free throat"},
    "bat": {"free ears"},
    "bust": {"free hair", "free wattle"},
    "manta": {"held skull"},
}


def test_half_of_the_bodies_are_not_tuned_on() -> None:
    assert set(BODIES) >= UNSEEN and 0.4 * len(BODIES) <= len(UNSEEN) <= 0.6 * len(BODIES)


@pytest.mark.parametrize("key", BODIES)
def test_parts_are_apart_and_named_by_their_side(key: str) -> None:
    body = BODIES[key]()
    every = np.concatenate(list(body.parts.values()))
    assert len(np.unique(every)) == len(every) < 0.8 * len(body.positions)
    assert {name.split()[0] for name in body.parts} >= {"held", "free"}
    assert np.allclose(body.skin.sum(axis=1), 1.0, atol=1e-5)
    assert body.triangles.max() == len(body.positions) - 1


@pytest.mark.parametrize("key", BODIES)
def test_bones_without_names_tell_what_is_held_and_what_is_free(key: str) -> None:
    body = BODIES[key]()
    follow = automatic_follow(body.positions, body.triangles, body.edges, body.nameless(), body.skin)
    wrong = {part for part, share in scores(body.parts, follow).items() if share < RIGHT_SIDE}
    assert wrong == WRONG.get(key, set())


@pytest.mark.parametrize("key", ["horse", "biped", "frog"])
@pytest.mark.parametrize("rigged", [True, False])
def test_weights_do_not_depend_on_how_a_body_stands_or_is_meshed(key: str, rigged: bool) -> None:
    body = BODIES[key]()
    expected = _follow(body, rigged)
    for name, other in variants(body):
        follow = _follow(other, rigged)[: len(expected)]
        assert np.abs(follow - expected).max() <= 0.02, name


def _follow(body: Labelled, rigged: bool) -> np.ndarray:
    if not rigged:
        return automatic_follow(body.positions, body.triangles)
    return automatic_follow(body.positions, body.triangles, None, body.nameless(), body.skin)


def test_clips_on_a_belt_are_rigid() -> None:
    body = BODIES["biped"]()
    loose = loose_shells(body.positions, body.triangles, body.edges)
    assert loose[body.parts["rigid clips"]].all() and loose.sum() == len(body.parts["rigid clips"])
