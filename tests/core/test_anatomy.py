"""Automatic weights against anatomy, on bodies whose parts are known by name, and however these stand or are meshed."""

from __future__ import annotations

import numpy as np
import pytest
from anatomy import BODIES, RIGHT_SIDE, UNSEEN, Labelled, edges_of, moved_variants, scores, variants
from bodies import rod, rotation
from newcomers import NEWCOMERS
from sinew.core.paint.follow import automatic_follow
from sinew.core.paint.parts import hard_shells
from strangers import STRANGERS

pytestmark = pytest.mark.once

EVERY = BODIES | STRANGERS

# Parts that are not right yet, with nameless bones. Who mends one takes it off.
WRONG = {
    "ox": {"free dewlap"},
    "frog": {"free throat"},
    "giant": {"free beard"},
    "sitter": {"free cheeks"},
    "pineapple": {"free belly"},
}
# Without any bones.
WRONG_BY_SHAPE = {
    "biped": {"free breasts", "free buttocks", "free hair"},
    "bird": {"free wattle", "held torso"},
    "rat": {"free ears", "held feet"},
    "ox": {"free dewlap", "free udder"},
    "frog": {"free throat"},
    "bat": {"free ears", "held skull"},
    "bust": {"held skull"},
    "rabbit": {"free belly", "free ears", "held feet", "held skull"},
    "cat": {"free belly", "free ears"},
    "giant": {"free buttocks"},
    "rooster": {"free comb", "held skull"},
    "carp": {"free fins"},
    "sitter": {"free breasts", "free cheeks", "held skull"},
    "pineapple": {"free belly", "free leaves"},
}
# Without bones, but with poses of the animation; of those that are looked at.
WRONG_MOVING: dict[str, set[str]] = {
    "bat": set(), "bird": {"held skull"}, "bust": set(), "carp": set(), "kangaroo": {"held skull"},
    "puppy": set(), "rooster": {"held skull"}, "sitter": {"held skull"},
}  # fmt: skip


def test_half_of_the_bodies_are_not_tuned_on() -> None:
    assert set(BODIES) >= UNSEEN and 0.4 * len(BODIES) <= len(UNSEEN) <= 0.6 * len(BODIES)
    assert len(STRANGERS) >= 0.4 * len(EVERY) and not set(STRANGERS) & set(BODIES)


@pytest.mark.parametrize("key", EVERY | NEWCOMERS)
def test_parts_are_apart_and_named_by_their_side(key: str) -> None:
    body = (EVERY | NEWCOMERS)[key]()
    every = np.concatenate(list(body.parts.values()))
    assert len(np.unique(every)) == len(every) < 0.8 * len(body.positions)
    assert {name.split()[0] for name in body.parts} >= {"held", "free"}
    assert np.allclose(body.skin.sum(axis=1), 1.0, atol=1e-5)
    assert body.triangles.max() == len(body.positions) - 1


@pytest.mark.parametrize("key", EVERY)
def test_bones_without_names_and_shape_alone_tell_what_is_held_and_what_is_free(key: str) -> None:
    body = EVERY[key]()
    for rigged, known in ((True, WRONG), (False, WRONG_BY_SHAPE)):
        wrong = {part for part, share in scores(body.parts, _follow(body, rigged)).items() if share < RIGHT_SIDE}
        assert wrong == known.get(key, set()), "with bones" if rigged else "without bones"


@pytest.mark.parametrize(("key", "ways"), [("horse", (True, False)), ("biped", (True,)), ("frog", (False,))])
def test_weights_do_not_depend_on_how_a_body_stands_or_is_meshed(key: str, ways: tuple[bool, ...]) -> None:
    """With bones and without; what a body is made of is found once for both."""
    body = EVERY[key]()
    expected = {rigged: _follow(body, rigged) for rigged in ways}
    for name, other in variants(body):
        for rigged in ways:
            follow = _follow(other, rigged)[: len(body.positions)]
            assert np.abs(follow - expected[rigged]).max() <= 0.02, (name, rigged)


@pytest.mark.parametrize("key", WRONG_MOVING)
def test_an_animation_tells_without_bones_what_is_held_and_what_is_free(key: str) -> None:
    body = (EVERY | NEWCOMERS)[key]()
    follow = automatic_follow(body.positions, body.triangles, poses=list(body.posed(8)))
    assert {part for part, share in scores(body.parts, follow).items() if share < RIGHT_SIDE} == WRONG_MOVING[key]


def test_what_an_animation_tells_does_not_depend_on_how_a_body_stands_or_is_meshed() -> None:
    body = EVERY["bat"]()
    poses = body.posed(8)
    expected = automatic_follow(body.positions, body.triangles, poses=list(poses))
    still = automatic_follow(body.positions, body.triangles)
    assert np.abs(expected - still).max() > 0.5
    for name, other, moved in moved_variants(body, poses):
        follow = automatic_follow(other.positions, other.triangles, poses=moved)[: len(expected)]
        assert np.abs(follow - expected).max() <= 0.02, name


def test_which_of_two_mirror_images_rounding_makes_larger_does_not_matter() -> None:
    body = EVERY["bust"]()
    poses = body.posed(8)
    expected = automatic_follow(body.positions, body.triangles, poses=list(poses))
    other, moved = next((other, moved) for name, other, moved in moved_variants(body, poses) if name == "rounded")
    follow = automatic_follow(other.positions, other.triangles, poses=moved)
    assert np.abs(follow - expected).max() <= 0.02


def test_an_animation_that_moves_the_whole_body_alone_tells_nothing() -> None:
    body = EVERY["bust"]()
    still = automatic_follow(body.positions, body.triangles)
    poses = [body.positions @ rotation((1, 2, 3), 0.3 * i).T + (0.1 * i, 0.0, 0.0) for i in range(8)]
    assert np.array_equal(automatic_follow(body.positions, body.triangles, poses=poses), still)


def _follow(body: Labelled, rigged: bool) -> np.ndarray:
    if not rigged:
        return automatic_follow(body.positions, body.triangles)
    return automatic_follow(body.positions, body.triangles, None, body.nameless(), body.skin)


def test_clips_on_a_belt_are_rigid() -> None:
    body = BODIES["biped"]()
    clips = body.parts["rigid clips"]
    hard = hard_shells(body.positions, body.triangles, body.edges, body.skin, list)
    assert hard[clips].all() and hard.sum() == len(clips)


def test_clips_without_bones_are_rigid_if_the_animation_moves_them_so() -> None:
    body = BODIES["biped"]()
    clips = body.parts["rigid clips"]
    bent = body.posed().copy()
    bent[:, clips, 2] += 3.0 * np.abs(bent[:, clips, 0])
    for poses, expected in ((body.posed(), len(clips)), (bent, 0)):
        hard = hard_shells(body.positions, body.triangles, body.edges, None, lambda poses=poses: poses)
        assert hard.sum() == expected


def test_a_limb_of_its_own_that_bends_stays_soft() -> None:
    body = BODIES["biped"]()
    arm, faces = rod(0.03, 0.18, 12, 8)
    positions = np.concatenate([body.positions, arm + (0.0, 0.0, 1.9)])
    triangles = np.concatenate([body.triangles, faces + len(body.positions)]).astype(np.int32)
    for bends in (True, False):
        along = (arm[:, 0] > 0.09).astype(int) if bends else np.zeros(len(arm), int)
        skin = np.concatenate([body.skin, np.eye(len(body.bones), dtype=np.float32)[along]])
        hard = hard_shells(positions, triangles, edges_of(triangles), skin, list)
        assert hard[len(body.positions) :].all() != bends and hard[body.parts["rigid clips"]].all()


def test_a_strand_of_hair_and_a_patch_of_cloth_stay_soft() -> None:
    body = BODIES["biped"]()
    strand, faces = rod(0.004, 0.12, 8, 12)
    patch = np.stack(np.meshgrid(np.linspace(0.0, 0.1, 5), [0.2], np.linspace(0.0, 0.1, 5)), -1).reshape(-1, 3)
    cells = np.array([[i, i + 1, i + 6, i + 5] for j in range(4) for i in range(5 * j, 5 * j + 4)])
    for points, triangles in ((strand, faces), (patch, np.concatenate([cells[:, :3], cells[:, [0, 2, 3]]]))):
        positions = np.concatenate([body.positions, points + (0.0, 0.0, 1.9)])
        all_triangles = np.concatenate([body.triangles, triangles + len(body.positions)]).astype(np.int32)
        skin = np.concatenate([body.skin, np.tile(body.skin[:1], (len(points), 1))])
        hard = hard_shells(positions, all_triangles, edges_of(all_triangles), skin, list)
        assert not hard[len(body.positions) :].any() and hard.any()
