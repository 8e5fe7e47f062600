"""Automatic weights against anatomy, on models made by others and on the calf."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "core"))

import labelled
from anatomy import RIGHT_SIDE, Labelled, scores, variants
from sinew.core.paint.follow import automatic_follow

pytestmark = pytest.mark.once

# Parts that are not right yet, with nameless bones. Who mends one takes it off.
WRONG = {
    "cow": {"free belly"},
    "fish": {"free tail"},
    "dress": {"free breasts"},
}


def load(key: str) -> Labelled:
    if not labelled.is_there(key):
        pytest.skip("the model is not in ../shared/assets")
    return labelled.load(key)


@pytest.mark.parametrize("key", labelled.PARTS)
def test_bones_without_names_tell_what_is_held_and_what_is_free(key: str) -> None:
    body = load(key)
    wrong = {part for part, share in scores(body.parts, follow_of(body)).items() if share < RIGHT_SIDE}
    assert wrong == WRONG.get(key, set())


@pytest.mark.parametrize("key", ["calf", "trex", "cow", "snake", "fox", "jumping_man"])
def test_weights_do_not_depend_on_how_a_body_stands_or_is_meshed(key: str) -> None:
    body = load(key)
    expected = follow_of(body)
    for name, other in variants(body):
        assert np.abs(follow_of(other)[: len(expected)] - expected).max() <= 0.02, name


def follow_of(body: Labelled) -> np.ndarray:
    bones = body.nameless()
    return automatic_follow(body.positions, body.triangles, None, bones, body.skin if bones else None)
