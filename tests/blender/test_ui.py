"""What the artist clicks, called by name: add, change, bake, look, cancel, delete."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import sinew
from inside import load, save, shown_at
from panel_use import FRAMES, activate, item, sampled_work, state_now
from sinew import setups
from sinew.core.bake import folders
from sinew.core.base import installed
from sinew.core.flesh.settings import Settings
from sinew.scene import fingerprint, setup
from sinew.scene.subject import Subject
from sinew.ui import job_operator
from sinew.ui.setup import bake, state


def test_every_setting_is_a_property_with_its_default_and_a_tooltip(arm: Any) -> None:
    bpy.ops.sinew.remove()
    bpy.ops.sinew.add()
    group = item().bl_rna.properties
    for name, value in Settings().as_dict().items():
        assert len(group[name].description) > 8, name
        if value is None:
            assert not getattr(item(), f"use_{name}") and len(group[f"use_{name}"].description) > 8
        else:
            held = getattr(item(), name)
            held = list(held) if isinstance(value, list) else held
            assert str(held) == str(value) or held == pytest.approx(value), name


def test_what_the_panel_writes_is_what_the_command_reads(arm: Any) -> None:
    item().jiggle, item().energy, item().samples = 4.5, "stvk", "2"
    item().use_rest_frame = True
    item().rest_frame = 7
    entry = setup.find("Arm")
    assert entry is not None
    expected = {"resolution": 5, "substeps": 1, "jiggle": 4.5, "energy": "stvk", "samples": 2, "rest_frame": 7}
    assert entry.settings == expected
    item().use_rest_frame = False
    entry = setup.find("Arm")
    assert entry is not None and "rest_frame" not in entry.settings


def test_a_frame_range_can_never_be_empty(arm: Any) -> None:
    item().frame_start, item().frame_end = 4, 8
    item().frame_start = 9
    assert (item().frame_start, item().frame_end) == (9, 9)
    item().frame_end = 2
    assert (item().frame_start, item().frame_end) == (2, 2)


def test_setups_survive_save_and_load(arm: Any, tmp_path: Path) -> None:
    item().settle = 1.25
    save(tmp_path / "again.blend")
    load(tmp_path / "again.blend")
    activate("Arm")
    assert item().settle == pytest.approx(1.25) and item().object == bpy.data.objects["Arm"]


def test_a_setup_that_the_command_stored_shows_after_loading(arm: Any, tmp_path: Path) -> None:
    bpy.ops.sinew.remove()
    assert len(bpy.context.scene.sinew.setups) == 0
    setup.save_of(arm, setup.Setup("Arm", settings={"jiggle": 6.0}), bpy.context.scene)
    save(tmp_path / "again.blend")
    load(tmp_path / "again.blend")
    activate("Arm")
    assert item().jiggle == 6.0


def test_bake_plays_and_leaves_the_frame_and_the_modifiers(arm: Any) -> None:
    bpy.context.scene.frame_set(4)
    item().resolution = 0  # chosen by Sinew, and not stale for that
    before = [(modifier.name, modifier.show_viewport) for modifier in arm.modifiers]
    assert state_now().kind == state.NOTHING
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert bpy.context.scene.frame_current == 4
    assert [(modifier.name, modifier.show_viewport) for modifier in arm.modifiers] == [*before, ("Sinew", True)]
    assert state_now().kind == state.BAKED and len(state_now().report) >= 3
    added = 0.0
    for frame in range(1, FRAMES + 1):
        bpy.ops.sinew.show(result=True)
        result = shown_at(arm, frame)
        bpy.ops.sinew.show(result=False)
        assert not arm.modifiers["Sinew"].show_viewport and not arm.modifiers["Sinew"].show_render
        added = max(added, float(np.abs(result - shown_at(arm, frame)).max()))
    assert added > 1e-3


def test_bake_plays_the_frames_again_only_where_something_moves_otherwise_or_it_is_asked_for(
    arm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[int] = []
    now = Subject.now
    monkeypatch.setattr(Subject, "now", lambda self, when: taken.append(1) or now(self, when))

    def looks(**options: Any) -> int:
        taken.clear()
        assert bpy.ops.sinew.bake(**options) == {"FINISHED"}
        return len(taken)

    assert looks() >= FRAMES
    item().jiggle = 5.0
    assert looks() < FRAMES and "none was played" in job_operator.running.message
    item().jiggle = 4.0
    assert looks(resample=True) >= FRAMES and "played" not in job_operator.running.message
    arm.parent.location.x += 0.1
    assert looks() >= FRAMES


def test_the_panel_says_what_made_a_bake_stale(arm: Any) -> None:
    bpy.ops.sinew.bake()
    scene = bpy.context.scene
    assert state_now().kind == state.BAKED

    def stale_text() -> str:
        now = state_now()
        assert now.kind == state.STALE
        return now.text

    item().jiggle = 5.0
    assert stale_text().startswith("Jiggle")
    item().jiggle = 3.0
    scene.render.fps = 30
    assert "frame rate" in stale_text()
    scene.render.fps = 24
    scene.frame_end = FRAMES - 2
    assert "frame range" in stale_text()
    scene.frame_end = FRAMES
    rig = next(modifier.object for modifier in arm.modifiers if modifier.type == "ARMATURE")
    bone = rig.pose.bones[-1]
    bone.rotation_mode = "XYZ"
    bone.keyframe_insert("rotation_euler", frame=5)
    assert "animation" in stale_text()
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert state_now().kind == state.BAKED
    arm.vertex_groups["Sinew Follow"].add([0], 0.123, "REPLACE")
    assert "weights" in stale_text()
    arm.data.vertices[0].co.x += 0.01
    assert "mesh" in stale_text()
    arm.modifiers[0].show_render = False
    assert "modifiers" in stale_text()


def test_a_changed_rig_lattice_or_modifier_makes_a_bake_stale_and_the_current_frame_does_not(arm: Any) -> None:
    scene, rig = bpy.context.scene, arm.parent
    lattice = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
    scene.collection.objects.link(lattice)
    bend = arm.modifiers.new("Bend", "LATTICE")
    bend.object = lattice
    bpy.ops.sinew.bake()
    for frame in (1, 4, FRAMES):
        scene.frame_set(frame)
        assert state_now().kind == state.BAKED

    def is_stale(words: str) -> bool:
        now = state_now()
        return now.kind == state.STALE and words in now.text

    bend.strength = 0.5
    assert is_stale("modifiers")
    bend.strength = 1.0
    lattice.data.points[0].co_deform.z += 0.3
    assert is_stale("animation")
    bpy.ops.sinew.bake()
    lattice.location.x += 0.1
    assert is_stale("animation")
    bpy.ops.sinew.bake()
    aim = rig.pose.bones["lower"].constraints.new("COPY_ROTATION")
    assert is_stale("animation")
    rig.pose.bones["lower"].constraints.remove(aim)
    assert state_now().kind == state.BAKED
    from sinew.scene import compat

    curve = next(iter(compat.action_curves(rig.animation_data.action)))
    curve.keyframe_points[0].interpolation = "CONSTANT"
    assert is_stale("animation")
    curve.keyframe_points[0].interpolation = "BEZIER"
    assert state_now().kind == state.BAKED
    noise = curve.modifiers.new("NOISE")
    assert is_stale("animation")
    curve.modifiers.remove(noise)
    held = arm.vertex_groups["upper"].weight(0)
    arm.vertex_groups["upper"].add([0], 0.5 * held, "REPLACE")
    assert is_stale("animation")
    arm.vertex_groups["upper"].add([0], held, "REPLACE")
    activate(rig.name)
    bpy.ops.object.mode_set(mode="EDIT")
    rig.data.edit_bones["lower"].roll += 0.3
    bpy.ops.object.mode_set(mode="OBJECT")
    activate("Arm")
    assert is_stale("animation")
    scene.unit_settings.scale_length = 0.01
    assert is_stale("units")


def test_a_changed_engine_is_told_and_bakes_anew_and_other_machines_are_none(arm: Any, tmp_path: Path) -> None:
    bpy.ops.sinew.bake()

    def stored() -> Path:
        entry = setup.find_of(arm, bpy.context.scene)
        assert entry is not None
        return tmp_path / "sinew" / entry.bake / "manifest.json"

    first, data = stored(), json.loads(stored().read_text())
    assert data["build"] == installed.engine_build() != ""
    first.write_text(json.dumps({**data, "build": "0123456789abcdef"}))
    assert state_now().kind == state.STALE and "engine has changed" in state_now().text
    assert "another engine" in check()
    bpy.ops.sinew.bake()
    assert state_now().kind == state.BAKED and stored() != first and check() == ""
    # What was baked before engines had an id is no older for that.
    second, data = stored(), json.loads(stored().read_text())
    second.write_text(json.dumps({**data, "build": ""}))
    assert state_now().kind == state.BAKED and check() == ""
    bpy.ops.sinew.bake()
    assert state_now().kind == state.BAKED and stored() == second


def check() -> str:
    entry = setup.load()[0]
    return setups.check_object(entry, state.target()) or ""


def test_a_lost_bake_folder_is_told(arm: Any, tmp_path: Path) -> None:
    bpy.ops.sinew.bake()
    (tmp_path / "sinew").rename(tmp_path / "elsewhere")
    assert state_now().kind == state.LOST
    (tmp_path / "elsewhere").rename(tmp_path / "sinew")
    assert state_now().kind == state.BAKED


def test_delete_bake_removes_one_modifier_and_its_driver(arm: Any) -> None:
    before = [modifier.name for modifier in arm.modifiers]
    bpy.ops.sinew.bake()
    assert bpy.ops.sinew.delete_bake() == {"FINISHED"}
    assert [modifier.name for modifier in arm.modifiers] == before
    assert arm.animation_data is None or len(arm.animation_data.drivers) == 0
    assert state_now().kind == state.NOTHING and item() is not None
    assert not bpy.ops.sinew.delete_bake.poll()


def test_bad_input_is_told_and_leaves_the_scene(arm: Any) -> None:
    item().follow_group = "No such group"
    bpy.context.scene.frame_set(3)
    with pytest.raises(RuntimeError, match="No such group"):
        bpy.ops.sinew.bake()
    assert "No such group" in job_operator.running.message and job_operator.running.failed
    assert not job_operator.is_running()
    assert [modifier.name for modifier in arm.modifiers] == ["Armature"] and bpy.context.scene.frame_current == 3
    assert arm.modifiers["Armature"].show_viewport


def test_what_goes_wrong_on_a_frame_is_told(arm: Any) -> None:
    arm["sinew_amount"] = "much"  # read on every frame, when the bake has begun already
    with pytest.raises(RuntimeError, match='"sinew_amount" of "Arm" must be a number'):
        bpy.ops.sinew.bake()
    assert "must be a number" in job_operator.running.message and "Sinew" not in arm.modifiers


def test_amount_can_be_keyframed(arm: Any) -> None:
    assert bpy.ops.sinew.animate_amount() == {"FINISHED"}
    for frame, amount in ((3, 0.0), (FRAMES, 1.0)):
        arm["sinew_amount"] = amount
        arm.keyframe_insert('["sinew_amount"]', frame=frame)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    added = []
    for frame in (3, FRAMES):
        bpy.ops.sinew.show(result=True)
        result = shown_at(arm, frame)
        bpy.ops.sinew.show(result=False)
        added.append(float(np.abs(result - shown_at(arm, frame)).max()))
    assert added[0] < 1e-6 and added[1] > 1e-3


def test_a_follow_group_is_made_and_followed(arm: Any) -> None:
    assert not bpy.ops.sinew.paint_follow_group.poll()
    assert bpy.ops.sinew.make_follow_group() == {"FINISHED"}
    assert item().follow_group in arm.vertex_groups
    assert bpy.ops.sinew.paint_follow_group() == {"FINISHED"}
    assert arm.mode == "WEIGHT_PAINT" and arm.vertex_groups.active.name == item().follow_group
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    bpy.ops.object.mode_set(mode="OBJECT")


def test_what_was_painted_is_never_written_over(arm: Any) -> None:
    bpy.ops.sinew.make_follow_group()
    made = item().follow_group
    bpy.ops.sinew.make_follow_group()
    assert item().follow_group == made and sum("Sinew" in group.name for group in arm.vertex_groups) == 1
    arm.vertex_groups[made].add([0, 5], 0.37, "REPLACE")
    painted = fingerprint.exact_weights(arm, made)
    for _ in range(2):  # the second time the new one is found again
        bpy.ops.sinew.make_follow_group()
        assert item().follow_group == f"{made}.001" and fingerprint.exact_weights(arm, made) == painted
    arm.vertex_groups[f"{made}.001"].remove([3])  # one that has fewer vertices is painted too
    bpy.ops.sinew.make_follow_group()
    assert item().follow_group == f"{made}.002"


def test_after_sampling_the_scene_is_free_and_the_result_arrives(arm: Any) -> None:
    bpy.context.scene.frame_set(4)
    sampled_work()
    assert bpy.context.scene.frame_current == 4 and arm.modifiers["Armature"].show_viewport
    assert not bpy.ops.sinew.bake.poll() and bpy.ops.sinew.cancel.poll()
    bpy.context.scene.frame_set(6)  # the artist goes on
    assert job_operator.wait_until_over(120)
    assert not job_operator.running.failed, job_operator.running.message
    assert "Sinew" in arm.modifiers and state_now().kind == state.BAKED
    assert bpy.context.scene.frame_current == 6


def test_cancel_keeps_finished_frames_and_bake_continues(arm: Any, tmp_path: Path) -> None:
    item().resolution = 21  # fine enough not to be done when sampling is
    item().frame_end = bpy.context.scene.frame_end = 40
    work = sampled_work()
    assert work.job is not None
    end = time.monotonic() + 60
    while (work.job.progress[0] != "Baking" or work.job.progress[1] < 3) and time.monotonic() < end:
        time.sleep(0.02)
    bpy.ops.sinew.cancel()
    assert work.job.wait(60), "before anybody has looked at it"
    assert job_operator.wait_until_over(60)
    assert "Sinew" in arm.modifiers and state_now().kind == state.UNFINISHED
    assert "kept" in job_operator.running.message and not job_operator.running.failed
    (manifest,) = folders.manifests(tmp_path / "sinew")
    assert not manifest.complete
    lines = (tmp_path / "sinew" / manifest.id / "frames.jsonl").read_text().splitlines()
    finished = sum("frame" in json.loads(line) for line in lines)
    assert 3 <= finished < 40
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    entry = setup.find("Arm")
    assert entry is not None and entry.bake == manifest.id


def test_esc_while_sampling_restores_the_scene(arm: Any) -> None:
    bpy.context.scene.frame_set(4)
    where = state.target()
    assert where is not None
    work = bake.BakeWork("Arm", where)
    job_operator.running.work, job_operator.running.sampling = work, True
    assert work.step() and work.step()
    job_operator.stop("Stopped.")
    assert bpy.context.scene.frame_current == 4 and not job_operator.is_running()
    assert arm.modifiers["Armature"].show_viewport and "Sinew Follow" not in arm.vertex_groups
    assert bpy.ops.sinew.bake() == {"FINISHED"}


def test_loading_another_file_stops_the_bake(arm: Any, tmp_path: Path) -> None:
    job = sampled_work().job
    load(tmp_path / "arm.blend")
    assert job is not None and job.ended and not job_operator.is_running()
    assert "Sinew" not in bpy.data.objects["Arm"].modifiers


def test_deleting_the_object_stops_the_bake(arm: Any) -> None:
    job = sampled_work().job
    bpy.data.objects.remove(arm)
    assert job_operator.wait_until_over(60)
    assert job is not None and job.ended and job_operator.running.failed
    assert "deleted" in job_operator.running.message


def test_disabling_the_addon_stops_the_bake_and_the_result_still_plays(arm: Any) -> None:
    bpy.ops.sinew.bake()
    baked = shown_at(arm, 6)
    item().jiggle = 4.0
    job = sampled_work().job
    sinew.unregister()
    try:
        assert job is not None and job.ended and not job_operator.is_running()
        assert np.array_equal(shown_at(arm, 6), baked)
    finally:
        sinew.register()


def test_two_setups_bake_into_two_folders(arm: Any, tmp_path: Path) -> None:
    copy = arm.copy()
    copy.data = arm.data.copy()
    bpy.context.scene.collection.objects.link(copy)
    activate(copy.name)
    assert not bpy.ops.sinew.bake.poll()
    bpy.ops.sinew.add()
    item().resolution, item().substeps = 4, 1
    activate("Arm")
    bpy.ops.sinew.bake()
    activate(copy.name)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert len(list(folders.manifests(tmp_path / "sinew"))) == 2
    activate("Arm")
    assert item().resolution == 5 and state_now().kind == state.BAKED
