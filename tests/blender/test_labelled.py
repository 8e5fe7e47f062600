"""Automatic weights against anatomy, on models made by others and on the calf."""

from __future__ import annotations

import sys
from pathlib import Path

import bpy
import numpy as np
import pytest

sys.path.append(str(Path(__file__).resolve().parents[1] / "core"))

import labelled
import scenes
from anatomy import BODIES, RIGHT_SIDE, Labelled, scores, variants
from sinew.core.flesh.settings import Settings
from sinew.core.paint.follow import automatic_follow
from sinew.core.paint.sharpen import sharpened
from sinew.scene.steps import finished
from sinew.setups.enrich.reading import READING
from sinew.setups.flesh.body import look_in_steps
from sinew.setups.reading import sampler_of

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


@pytest.mark.parametrize("key", ["trex", "fox", "jumping_man"])
def test_without_bones_an_action_tells_what_is_held_and_what_is_free(key: str) -> None:
    """The T-rex' walk moves both arms as one and its tail more than its head; that of the fox' head is nearly its
    chest's; the man's jump tells what is flesh."""
    body = load(key)
    follow = automatic_follow(body.positions, body.triangles, body.edges, poses=labelled.poses(key))
    assert all(share >= RIGHT_SIDE for share in scores(body.parts, follow).values())


def test_shape_keys_that_bend_a_mesh_tell_what_is_held_as_bones_would() -> None:
    """A button and a bake look at the same frames, and leave the scene where it was."""
    body = BODIES["bat"]()
    ob = shape_keyed(body)
    bpy.context.scene.frame_set(3)
    made = finished(look_in_steps(ob.name, {}, moving=True)).automatic()
    assert all(share >= RIGHT_SIDE for share in scores(body.parts, made).values())
    assert bpy.context.scene.frame_current == 3
    with sampler_of(ob, Settings()) as sampler:
        read = finished(READING.read(sampler, sampler.rest(), Settings(), False))
    assert np.array_equal(read.painted.follow, sharpened(made))


def shape_keyed(body: Labelled) -> bpy.types.Object:
    scenes.reset_scene()
    mesh = bpy.data.meshes.new("Bat")
    mesh.from_pydata(body.positions.tolist(), [], body.triangles.tolist())
    ob = bpy.data.objects.new("Bat", mesh)
    bpy.context.collection.objects.link(ob)
    ob.shape_key_add(name="Basis")
    for frame, pose in enumerate(body.posed(8), 1):
        key = ob.shape_key_add(name=f"Pose {frame}")
        key.data.foreach_set("co", pose.ravel())
        for near in (frame - 1, frame, frame + 1):
            key.value = float(near == frame)
            key.keyframe_insert("value", frame=near)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 8
    return ob


def follow_of(body: Labelled) -> np.ndarray:
    bones = body.nameless()
    return automatic_follow(body.positions, body.triangles, None, bones, body.skin if bones else None)
