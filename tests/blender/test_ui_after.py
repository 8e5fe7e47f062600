"""After the Bake in Blender: live while sliding, applied to all frames, undone, saved and reopened."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from fake_layout import draw
from inside import load, save, shown_at
from panel_use import FRAMES, item, state_now
from sinew import setups
from sinew.scene import playback, setup
from sinew.scene.sampler import AMOUNT, AMOUNT_PATH, Sampler
from sinew.ui.setup import live, panel, properties, state


@pytest.fixture
def arm(arm: Any, tmp_path: Path) -> Any:
    """The same, baked."""
    item().jiggle = 2.0
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    save(tmp_path / "arm.blend")
    return arm


def entry() -> setup.Setup:
    found = setup.find_of(bpy.context.object, bpy.context.scene)
    assert found is not None
    return found


def frames(ob: Any) -> Any:
    return np.array([shown_at(ob, frame) for frame in range(1, FRAMES + 1)])


def inputs(ob: Any) -> Any:
    ob.modifiers["Sinew"].show_viewport = False
    result = frames(ob)
    ob.modifiers["Sinew"].show_viewport = True
    return result


def show_live() -> None:
    """What the timer does."""
    end = time.monotonic() + 30.0
    while not live.show() and time.monotonic() < end:
        time.sleep(0.01)


def test_apply_makes_all_frames_anew_without_sampling_or_simulating(arm: Any, monkeypatch: Any) -> None:
    given, simulated, old = inputs(arm), frames(arm), entry().bake
    item().follow_after = 0.5
    assert state.of(item()).kind == state.STALE
    assert "nothing simulated" in state.of(item()).text

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the scene was sampled")

    monkeypatch.setattr(Sampler, "frames", never)
    assert bpy.ops.sinew.apply_after() == {"FINISHED"}
    state.forget()
    assert state.of(item()).kind == state.BAKED
    half = frames(arm)
    before, now = (np.linalg.norm(result - given, axis=2).max() for result in (simulated, half))
    assert before > 1e-3 and 0.3 * before < now < 0.7 * before
    item().follow_after = 1.0
    assert bpy.ops.sinew.bake() == {"FINISHED"}, "Bake does the same"
    assert np.array_equal(frames(arm), given)
    item().follow_after = 0.0
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert np.array_equal(frames(arm), simulated)
    assert entry().bake != old


def test_the_check_agrees_and_notices_a_repainted_group(arm: Any) -> None:
    assert bpy.ops.sinew.make_after_group() == {"FINISHED"}
    item().follow_after = 0.8
    target = state.target()
    assert "changed" in (setups.check_object(entry(), target) or "")
    assert bpy.ops.sinew.apply_after() == {"FINISHED"}
    assert setups.check_object(entry(), target) is None
    half = len(arm.data.vertices) // 2
    arm.vertex_groups["Sinew After"].add(range(half), 0.0, "REPLACE")
    state.forget()
    assert "After the Bake" in state.of(item()).text
    assert "changed" in (setups.check_object(entry(), target) or "")
    assert setups.is_remake_enough(arm, bpy.context.scene, target)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert setups.check_object(entry(), target) is None


def test_a_group_keeps_the_bake_where_it_is_zero(arm: Any) -> None:
    simulated = frames(arm)
    assert bpy.ops.sinew.make_after_group() == {"FINISHED"}
    arm.vertex_groups["Sinew After"].add(range(len(arm.data.vertices)), 0.0, "REPLACE")
    item().follow_after = 1.0
    assert bpy.ops.sinew.apply_after() == {"FINISHED"}
    assert np.array_equal(frames(arm), simulated)


def test_sliding_shows_the_current_frame_and_leaves_the_bake_alone(arm: Any) -> None:
    given, simulated = inputs(arm), frames(arm)
    folder = state.target().root / entry().bake
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    bpy.context.scene.frame_set(6)
    item().follow_after = 1.0
    show_live()
    assert np.array_equal(shown_at(arm, 6), given[5])
    for frame in (3, 8):  # and every frame that the artist goes to
        assert np.array_equal(shown_at(arm, frame), given[frame - 1])
    item().follow_after = 0.5
    show_live()
    half = shown_at(arm, 8)
    assert np.abs(half - given[7]).max() > 1e-4 and np.abs(half - simulated[7]).max() > 1e-4
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files
    live.end()
    assert np.array_equal(frames(arm), simulated)
    item().follow_after = 0.5
    assert bpy.ops.sinew.apply_after() == {"FINISHED"}
    assert np.array_equal(shown_at(arm, 8), half), "what was shown is what is applied"


def test_nothing_live_is_saved_and_a_reopened_file_slides_on(arm: Any, tmp_path: Path) -> None:
    given, simulated = inputs(arm), frames(arm)
    item().follow_after = 1.0
    show_live()
    assert "live" in str(playback.cache_path(arm))
    save(tmp_path / "arm.blend")
    assert playback.bake_id(arm) == entry().bake
    load(tmp_path / "arm.blend")
    properties.refresh()
    arm = bpy.data.objects["Arm"]
    bpy.context.view_layer.objects.active = arm
    assert np.array_equal(frames(arm), simulated)
    bpy.context.scene.frame_set(7)
    item().follow_after = 0.9
    item().follow_after = 1.0
    show_live()
    assert np.array_equal(shown_at(arm, 7), given[6])
    assert bpy.ops.sinew.apply_after() == {"FINISHED"}
    assert np.array_equal(frames(arm), given)


def test_undo_brings_the_bake_back(arm: Any) -> None:
    simulated, old = frames(arm), entry().bake
    bpy.ops.ed.undo_push(message="before")
    item().follow_after = 1.0
    show_live()
    bpy.ops.ed.undo_push(message="slid")
    assert bpy.ops.sinew.apply_after() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="applied")
    bpy.ops.ed.undo()
    arm = bpy.data.objects["Arm"]
    assert entry().bake == old and playback.bake_id(arm) == old
    bpy.ops.ed.undo()
    arm = bpy.data.objects["Arm"]
    assert item().follow_after == 0.0
    assert np.array_equal(frames(arm), simulated)


def test_another_frame_range_is_baked_also_when_a_slider_moved_with_it(arm: Any) -> None:
    scene = bpy.context.scene
    scene.frame_end -= 2
    item().amount = 0.5
    assert "frame range" in setups.why_not_remake(arm, scene, state.target())
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert state.manifest_of(state.target().root, entry().bake).frame_end == scene.frame_end
    assert state.of(item()).kind == state.BAKED


def test_what_needs_a_new_simulation_says_so(arm: Any) -> None:
    item().jiggle = 5.0
    item().follow_after = 0.5
    assert live.session.live is None
    assert not setups.is_remake_enough(arm, bpy.context.scene, state.target())
    with pytest.raises(RuntimeError, match=r"press Bake|poll"):
        bpy.ops.sinew.apply_after()


@pytest.mark.parametrize("samples", ["1", "2"])
def test_a_keyed_amount_needs_no_new_bake(arm: Any, monkeypatch: pytest.MonkeyPatch, samples: str) -> None:
    item().samples, item().amount = samples, 0.8
    bpy.ops.sinew.bake()
    full = frames(arm)
    bpy.context.scene.frame_set(1)
    assert bpy.ops.sinew.animate_amount() == {"FINISHED"}
    assert item().amount == 1.0 and arm[AMOUNT] == pytest.approx(0.8)
    arm[AMOUNT] = 0.0
    arm.keyframe_insert(AMOUNT_PATH, frame=FRAMES)
    assert "nothing simulated" in state_now().text

    def refuse(*_: Any) -> Any:
        raise AssertionError("the timeline is not played")

    with monkeypatch.context() as patched:
        patched.setattr(Sampler, "frames", refuse)
        assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert state_now().kind == state.BAKED and entry().fingerprint["amount"]
    given = inputs(arm)
    assert np.abs(shown_at(arm, 1) - full[0]).max() < 1e-6
    assert np.abs(shown_at(arm, FRAMES) - given[-1]).max() < 1e-6 < np.abs(full[-1] - given[-1]).max()
    # What is there is what a look at every frame would have made.
    assert setups.check_object(entry(), state.target()) is None
    item().amount = 0.5  # a preset may, over the keys
    assert draw(panel.SINEW_PT_setup).properties[2:4] == ['["sinew_amount"]', "amount"]


def test_a_driven_amount_is_looked_at_frame_by_frame(arm: Any) -> None:
    bpy.ops.sinew.bake()
    arm[AMOUNT] = 1.0
    arm.driver_add(AMOUNT_PATH).driver.expression = "0 if frame > 5 else 1"
    assert "Amount" in state_now().text
    assert not setups.is_remake_enough(arm, bpy.context.scene, state.target())
    bpy.ops.sinew.bake()
    assert state_now().kind == state.BAKED
    difference = np.abs(frames(arm) - inputs(arm)).max(axis=(1, 2))
    assert difference[5:].max() < 1e-6 < difference[4]


def test_keys_of_amount_count_also_where_the_flesh_is_simulated_anew(arm: Any) -> None:
    for frame, amount in ((1, 1.0), (FRAMES, 0.0)):
        arm[AMOUNT] = amount
        arm.keyframe_insert(AMOUNT_PATH, frame=frame)
    item().jiggle = 4.0
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert np.abs(frames(arm)[-1] - inputs(arm)[-1]).max() < 1e-6
    assert setups.check_object(entry(), state.target()) is None
