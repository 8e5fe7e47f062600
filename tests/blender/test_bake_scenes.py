"""Bakes of scenes with something in the way: other stacks, other rest shapes, moved parents, linked characters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import near_meshes
import numpy as np
import pytest
import scenes
from inside import bake_here, baked_samples, load, run_here, save, shown_at
from sinew import setups
from sinew.core.base.errors import BadInput
from sinew.core.flesh.settings import Settings
from sinew.scene import compat, playback, setup, stack
from sinew.scene.errors import SceneError
from sinew.scene.subject import Subject
from sinew.setups.enrich.trial import try_object

QUICK = {"resolution": 5, "substeps": 1}


@pytest.fixture(autouse=True)
def empty_scene() -> None:
    scenes.reset_scene()


def to_front(ob: Any, name: str) -> None:
    while ob.modifiers[0].name != name:
        with bpy.context.temp_override(object=ob, active_object=ob):
            bpy.ops.object.modifier_move_up(modifier=name)


def plain(ob: Any) -> None:
    del ob


def subdivision_above(ob: Any) -> None:
    modifier = ob.modifiers.new("Subdivision", "SUBSURF")
    modifier.levels, modifier.render_levels = 1, 2


def subdivision_below(ob: Any) -> None:
    modifier = ob.modifiers.new("Subdivision", "SUBSURF")
    modifier.levels = modifier.render_levels = 1
    to_front(ob, "Subdivision")


def mirror_below(ob: Any) -> None:
    modifier = ob.modifiers.new("Mirror", "MIRROR")
    modifier.use_axis[0], modifier.use_axis[1] = False, True
    modifier.use_mirror_merge = False
    to_front(ob, "Mirror")


def moved_parents(ob: Any) -> None:
    carrier = bpy.data.objects.new("Carrier", None)
    bpy.context.scene.collection.objects.link(carrier)
    armature = ob.modifiers["Armature"].object
    armature.parent = carrier
    ob.parent = armature
    carrier.scale = (2.0, 2.0, 2.0)
    for frame, place in ((1, (0.0, 0.0, 0.0)), (5, (1.5, 0.0, 0.5))):
        carrier.location = place
        carrier.keyframe_insert("location", frame=frame)


def without_ours_and_above(ob: Any, frame: int, subframe: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """The result at our place in the stack, and the input there."""
    names = [modifier.name for modifier in ob.modifiers]
    for name in names[names.index("Sinew") + 1 :]:
        ob.modifiers[name].show_viewport = False
    result = shown_at(ob, frame, subframe)
    ob.modifiers["Sinew"].show_viewport = False
    given = shown_at(ob, frame, subframe)
    for name in names:
        ob.modifiers[name].show_viewport = True
    return result, given


@pytest.mark.parametrize("arrange", [plain, subdivision_above, subdivision_below, mirror_below, moved_parents])
def test_what_is_baked_plays_at_our_place_in_the_stack(tmp_path: Path, arrange: Any) -> None:
    ob = scenes.build_two_bone_arm(frames=8)
    arrange(ob)
    outcome = bake_here(ob, tmp_path, QUICK)
    samples = baked_samples(outcome.folder)
    added = 0.0
    for frame in range(1, 9):
        result, given = without_ours_and_above(ob, frame)
        assert result.shape == given.shape
        assert np.array_equal(result, samples[frame - 1])
        added = max(added, float(np.abs(result - given).max()))
    assert 1e-3 < added < 1.0
    assert outcome.report["follow_error"]["max_relative"] < 1e-4
    assert outcome.report["fit_error"]["rms_relative"] < 0.05


@pytest.mark.once
def test_the_motion_of_a_parent_alone_is_felt(tmp_path: Path) -> None:
    ob = scenes.build_ball(parented=True)
    outcome = bake_here(ob, tmp_path, {**QUICK, "frame_end": 12})
    samples = baked_samples(outcome.folder)
    assert np.abs(samples[0] - samples[8]).max() > 1e-3


def test_a_rest_frame_gives_the_cage_the_shape_of_that_frame(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm(frames=8)
    outcome = bake_here(ob, tmp_path, {**QUICK, "rest_frame": 4})
    bent = np.fromfile(outcome.folder / "rest.f64").reshape(-1, 3)
    assert np.allclose(bent, shown_at_input(ob, 4), atol=1e-6)
    result, given = without_ours_and_above(ob, 7)
    assert 1e-3 < np.abs(result - given).max() < 1.0


def shown_at_input(ob: Any, frame: int) -> np.ndarray:
    ob.modifiers["Sinew"].show_viewport = False
    try:
        return shown_at(ob, frame)
    finally:
        ob.modifiers["Sinew"].show_viewport = True


@pytest.mark.parametrize("count", [2, 4])
def test_samples_between_frames_play_on_subframes(tmp_path: Path, count: int) -> None:
    ob = scenes.build_two_bone_arm(frames=4)
    outcome = bake_here(ob, tmp_path, {**QUICK, "samples": count})
    samples = baked_samples(outcome.folder)
    assert len(samples) == 3 * count + 1
    for index, sample in enumerate(samples):
        shape = shown_at(ob, 1 + index // count, (index % count) / count)
        assert np.allclose(shape, sample, atol=1e-6), index
    # Between two slots they are not what a bake of whole frames would show.
    assert not np.allclose(samples[1], samples[0] + (samples[count] - samples[0]) / count, atol=1e-5)


def test_a_count_that_differs_in_the_render_is_named_before_any_work(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm(frames=4)
    subdivision_below(ob)
    ob.modifiers["Subdivision"].render_levels = 3
    with pytest.raises(BadInput, match='"Subdivision".*1 levels in the viewport and 3 in the render'):
        bake_here(ob, tmp_path, QUICK)
    assert not (tmp_path / "sinew").exists() and [modifier.name for modifier in ob.modifiers][-1] == "Armature"


@pytest.mark.skipif(bpy.app.version < (4, 2), reason="library overrides of old Blenders lose what is added")
def test_a_linked_and_overridden_character_keeps_its_bake_in_the_shot(tmp_path: Path) -> None:
    scenes.build_two_bone_arm(frames=10)
    bpy.context.scene.name = "Library"
    collection = bpy.data.collections.new("Character")
    bpy.context.scene.collection.children.link(collection)
    for ob in list(bpy.context.scene.collection.objects):
        bpy.context.scene.collection.objects.unlink(ob)
        collection.objects.link(ob)
    library = save(tmp_path / "library.blend")
    before = library.read_bytes()

    scenes.reset_scene()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 10
    with bpy.data.libraries.load(str(library), link=True, relative=False) as (_, wanted):
        wanted.collections = ["Character"]
    wanted.collections[0].override_hierarchy_create(scene, bpy.context.view_layer, do_fully_editable=True)
    arm = scene.objects["Arm"]
    assert arm.override_library is not None and arm.data.library is not None
    shot = save(tmp_path / "shot.blend")

    options = [part for key, value in QUICK.items() for part in ("--set", f"{key}={value}")]
    result = run_here("bake", shot, "--object", "Arm", *options)
    assert result.returncode == 0, result.stderr
    assert library.read_bytes() == before
    load(shot)
    ob = bpy.context.scene.objects["Arm"]
    assert ob.override_library is not None
    entry = setup.find("Arm")
    assert entry is not None and entry.settings == QUICK
    samples = baked_samples(tmp_path / "sinew" / entry.bake)
    added = 0.0
    for frame in (0, 1, 6, 10, 11):
        result_shape, given = without_ours_and_above(ob, frame)
        expected = samples[frame - 1] if 1 <= frame <= 10 else given
        assert np.array_equal(result_shape, expected), frame
        added = max(added, float(np.abs(result_shape - given).max()))
    assert added > 1e-3
    checked = run_here("check", shot)
    assert checked.returncode == 0 and "Arm: good" in checked.stdout, checked.stdout + checked.stderr


def add_group(ob: Any, name: str, inside: Any) -> None:
    group = ob.vertex_groups.new(name=name)
    group.add([vertex.index for vertex in ob.data.vertices if inside(vertex.co)], 1.0, "REPLACE")


def test_groups_say_what_carries_input_and_what_is_rigid(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm(frames=8)
    add_group(ob, "good", lambda co: co.x < 0.3 or co.x > 0.4)
    add_group(ob, "claw", lambda co: co.x > 0.9)
    given = shown_at(ob, 6)
    values = {**QUICK, "resolution": 12, "simulate": False, "track_group": "good", "rigid_group": "claw"}
    outcome = bake_here(ob, tmp_path, values)
    result = baked_samples(outcome.folder)[5]
    rest = np.array([vertex.co for vertex in ob.data.vertices])
    claw, hidden = rest[:, 0] > 0.9, (rest[:, 0] >= 0.3) & (rest[:, 0] <= 0.4)
    plain = ~claw & ~hidden
    assert np.abs(result[plain] - given[plain]).max() < 2e-6
    assert 1e-5 < np.abs(result[hidden] - given[hidden]).max() < 0.03

    def distances(points: Any) -> Any:
        return np.linalg.norm(points[:, None] - points[None], axis=2)

    assert np.abs(distances(result[claw]) - distances(rest[claw])).max() < 1e-6
    with pytest.raises(BadInput, match="no such"):
        bake_here(ob, tmp_path, {**values, "track_group": "no such"})


@pytest.mark.once
def test_loose_parts_keep_their_shape_where_that_is_asked_for(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm(frames=8)
    count = len(ob.data.vertices)
    values = {**QUICK, "resolution": 12}
    alone = [baked_samples(bake_here(ob, tmp_path, {**values, "rigid_shells": on}).folder) for on in (False, True)]
    assert np.array_equal(*alone)  # one shell is no loose part
    setups.clear(ob, bpy.context.scene)
    ball, faces = scenes.ball_mesh(0.05, 4)
    lower = np.clip((ball[:, 0] + 0.1) / 0.2, 0.0, 1.0)
    button = scenes.add_mesh("Button", ball + (0.5, 0.0, 0.1), faces, groups={"upper": 1.0 - lower, "lower": lower})
    with bpy.context.temp_override(active_object=ob, object=ob, selected_editable_objects=[ob, button]):
        bpy.ops.object.join()
    rest, given = np.array([vertex.co for vertex in ob.data.vertices]), shown_at(ob, 6)

    def distances(points: Any) -> Any:
        return np.linalg.norm(points[count:, None] - points[None, count:], axis=2)

    add_group(ob, "tight", lambda co: True)
    ob.vertex_groups["tight"].add(list(range(count, len(rest))), 0.9, "REPLACE")
    bent = {}
    for on in (False, True):
        loose = {**values, "rigid_shells": on, "follow_group": "tight"}
        baked = baked_samples(bake_here(ob, tmp_path, loose).folder)
        bent[on] = max(np.abs(distances(sample) - distances(rest)).max() for sample in baked)
        assert np.linalg.norm(baked[5, count:] - given[count:], axis=1).max() < 0.1
    assert bent[True] < 5e-7 and bent[False] > 0.005
    # One that follows exactly is as the animation has it.
    ob.vertex_groups["tight"].add(list(range(count, len(rest))), 1.0, "REPLACE")
    baked = baked_samples(bake_here(ob, tmp_path, {**values, "follow_group": "tight"}).folder)
    assert np.abs(baked[5, count:] - given[count:]).max() < 2e-6


def _swaying_loop() -> tuple[Any, Any, dict[str, Any]]:
    """A tube whose bone goes up and down once in 24 frames; the bone, and the settings of its loop."""
    ob = scenes.build_cantilever(frames=24)
    bone = ob.parent.pose.bones["root"]
    for frame in range(1, 26):
        bone.location = (0.0, 0.0, 0.1 * np.sin(2 * np.pi * (frame - 1) / 24))
        bone.keyframe_insert("location", frame=frame)
    bpy.context.scene.frame_end = 25
    values = {**QUICK, "resolution": 10, "follow_group": "follow", "settle": 0.5, "loop": True}
    return ob, bone, values


def test_a_loop_repeats_and_missing_frames_are_bridged(tmp_path: Path) -> None:
    ob, bone, values = _swaying_loop()
    outcome = bake_here(ob, tmp_path, values)
    result = baked_samples(outcome.folder)
    assert outcome.report["loop"]["seam_relative"] < 1e-3
    assert np.abs(result[0] - result[-1]).max() < 1e-3 and np.abs(result[6] - result[18]).max() > 0.02
    # A frame that is broken is not looked at.
    bone.location = (0.0, 0.0, 50.0)
    bone.keyframe_insert("location", frame=9)
    outcome = bake_here(ob, tmp_path, {**values, "missing_frames": "9, 30-31"})
    assert np.abs(baked_samples(outcome.folder) - result).max() < 0.02
    assert any("Frame 30 is said to be missing" in warning for warning in outcome.report["warnings"])


def test_a_loop_goes_on_where_its_animation_does(tmp_path: Path) -> None:
    ob, bone, values = _swaying_loop()
    first = bake_here(ob, tmp_path, values)
    result = baked_samples(first.folder)

    def drivers() -> dict[str, Any]:
        return {driver.data_path.rpartition(".")[2]: driver.driver for driver in ob.animation_data.drivers}

    assert drivers()["factor"].expression == "frame >= 1 and frame <= 25"  # the animation ends
    assert first.report["loop"]["repeats"] == [False, False]
    assert np.abs(shown_at(ob, 31) - result[6]).max() > 0.02
    action = ob.parent.animation_data.action
    cycles = [curve.modifiers.new("CYCLES") for curve in compat.action_curves(action)]
    action.update_tag()
    again = bake_here(ob, tmp_path, values)
    assert again.unchanged and set(drivers()) == {"eval_frame"} and drivers()["eval_frame"].is_simple_expression
    for frame in (-40, 0, 1, 24, 26, 31, 100):
        assert np.array_equal(shown_at(ob, frame), result[(frame - 1) % 24]), frame
    assert np.allclose(shown_at(ob, 49, 0.5), 0.5 * (result[0] + result[1]), atol=1e-6)
    for cycle in cycles:
        cycle.mode_before = "NONE"
    bake_here(ob, tmp_path, values)
    assert drivers()["factor"].expression == "frame >= 1" and "eval_frame" in drivers()
    assert np.array_equal(shown_at(ob, 31), result[6])
    bake_here(ob, tmp_path, {**values, "loop": False})
    assert set(drivers()) == {"factor"} and stack.own_modifier(ob).play_mode == "SCENE"
    bake_here(ob, tmp_path, values)
    playback.detach(ob)
    assert len(ob.animation_data.drivers) == 0


def test_painted_regions_and_cores_change_the_motion_and_a_repaint_is_noticed(tmp_path: Path) -> None:
    ob = scenes.build_cantilever(frames=12)
    add_group(ob, "end", lambda co: co.x > 0.5)
    values = {**QUICK, "resolution": 10, "follow_group": "follow", "keep_pose": 1.0}
    plain = baked_samples(bake_here(ob, tmp_path, values).folder)
    for region in ("stiffness", "damping", "density", "keep_pose"):
        found = baked_samples(bake_here(ob, tmp_path, {**values, f"{region}_group": "end"}).folder)
        assert np.abs(found - plain).max() > 1e-4, region
    marks = setups.marks_of(ob, bpy.context.scene, "enrich", Settings().replace({**values, "density_group": "end"}))
    ob.vertex_groups["end"].add([0, 1, 2], 0.5, "REPLACE")
    now = setups.marks_of(ob, bpy.context.scene, "enrich", Settings().replace({**values, "density_group": "end"}))
    assert setups.changed("enrich", marks, now) == ["A painted region has changed"]
    with pytest.raises(BadInput, match="no such"):
        bake_here(ob, tmp_path, {**values, "damping_group": "no such"})


@pytest.mark.once
def test_the_core_of_a_limb_makes_its_flesh_swing_on_the_bones(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm(frames=10)
    add_group(ob, "nothing", lambda co: False)
    given = shown_at(ob, 9)
    values = {**QUICK, "resolution": 16, "follow_group": "nothing", "bone_core": 0.0}
    drifting = baked_samples(bake_here(ob, tmp_path, values).folder)
    held = baked_samples(bake_here(ob, tmp_path, {**values, "bone_core": 0.4}).folder)
    assert 1e-4 < np.abs(held[8] - given).max() < 0.5 * np.abs(drifting[8] - given).max()


@pytest.mark.once
def test_averages_keep_a_body_that_nothing_holds_with_its_animation(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm(frames=12)  # one that only shifts would not feel its averages
    add_group(ob, "nothing", lambda co: False)
    add_group(ob, "end", lambda co: co.x > 0.5)
    given = shown_at(ob, 7)
    values = {**QUICK, "resolution": 12, "follow_group": "nothing", "bone_core": 0.0}
    drifting, kept, part = (
        baked_samples(bake_here(ob, tmp_path, {**values, **chosen}).folder)[6] - given
        for chosen in ({}, {"average_regions": 4}, {"average_regions": 1, "average_group": "end"})
    )
    assert np.abs(kept).max() > 1e-4
    assert np.linalg.norm(kept.mean(axis=0)) < 0.1 * np.linalg.norm(drifting.mean(axis=0))
    assert np.linalg.norm(part.mean(axis=0)) > 3.0 * np.linalg.norm(kept.mean(axis=0))  # only one end is kept
    chosen = Settings().replace({**values, "average_regions": 1, "average_group": "end"})
    marks = setups.marks_of(ob, bpy.context.scene, "enrich", chosen)
    ob.vertex_groups["end"].add([0, 1, 2], 0.5, "REPLACE")
    assert setups.changed("enrich", marks, setups.marks_of(ob, bpy.context.scene, "enrich", chosen))


def build_legs(frames: int) -> Any:
    """Crossed legs that a shape key opens over the frames."""
    rest, triangles, opened = near_meshes.crossed_legs()
    mesh = bpy.data.meshes.new("Legs")
    mesh.from_pydata(rest.tolist(), [], triangles.tolist())
    ob = bpy.data.objects.new("Legs", mesh)
    bpy.context.scene.collection.objects.link(ob)
    ob.shape_key_add(name="Basis")
    key = ob.shape_key_add(name="Open")
    key.data.foreach_set("co", opened.ravel())
    for frame, value in ((1, 0.0), (frames, 1.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)
    for name, chosen in (("left", range(len(rest) // 2)), ("right", range(len(rest) // 2, len(rest)))):
        ob.vertex_groups.new(name=name).add(list(chosen), 1.0, "REPLACE")
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    return ob


@pytest.mark.once
def test_a_safe_frame_or_shape_key_keeps_parts_that_touch_apart(tmp_path: Path) -> None:
    ob = build_legs(5)
    welded = {**QUICK, "resolution": 12, "separate_parts": False}
    told = bake_here(ob, tmp_path, welded).report
    assert told["welded"] == ["left and right"]
    assert any("Safe Frame" in warning for warning in told["warnings"])
    bpy.context.scene.frame_set(3)
    reports = {}
    for name, value in (("safe_frame", 5), ("safe_shape_key", "Open")):
        outcome = bake_here(ob, tmp_path, {**welded, "safe_frame": None, "safe_shape_key": "", name: value})
        assert (outcome.folder / "cage_safe.f64").is_file()
        reports[name] = outcome.report
        assert outcome.report["welded"] == [] and outcome.report["cage_note"] == ""
        assert outcome.report["fit_error"]["max_relative"] < 0.3 * told["fit_error"]["max_relative"]
    assert bpy.context.scene.frame_current == 3
    assert reports["safe_frame"]["tets"] == reports["safe_shape_key"]["tets"]
    assert try_object(ob.name, {}).welded == ""  # with the settings of its setup
    with pytest.raises(BadInput, match='no shape key "Opn": did you mean "Open"'):
        bake_here(ob, tmp_path, {**welded, "safe_shape_key": "Opn"})


def test_every_frame_is_sampled_once_and_a_bad_last_one_is_told_without_a_bake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenes.reset_scene()
    ob = scenes.build_ball(divisions=3, frames=6)
    looked_at: list[str] = []
    now = Subject.now

    def counted(self: Any, when: str) -> Any:
        looked_at.append(when)
        if when == bad:
            raise SceneError("The last frame is bad.")
        return now(self, when)

    monkeypatch.setattr(Subject, "now", counted)
    bad = "frame 6"
    with pytest.raises(BadInput, match="last frame is bad"):
        bake_here(ob, tmp_path, {"resolution": 5, "substeps": 1})
    assert "Sinew" not in ob.modifiers
    looked_at.clear()
    bad = ""
    # Weights are there: to make those of a body without bones, what moves it is looked at before.
    ob.vertex_groups.new(name="Sinew Follow").add(range(20), 1.0, "REPLACE")
    bake_here(ob, tmp_path, {"resolution": 5, "substeps": 1})
    assert [looked_at.count(f"frame {frame}") for frame in range(2, 7)] == [1] * 5


def test_a_body_that_is_hidden_on_some_frames_is_baked_and_checked_as_one_that_is_not(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm(frames=12)
    shown = baked_samples(bake_here(ob, tmp_path, QUICK).folder)
    entry = setup.find_of(ob, bpy.context.scene)
    assert entry is not None
    marks = entry.fingerprint["animation"]
    setups.clear(ob, bpy.context.scene)
    for frame, hidden in ((1, False), (4, True), (9, False)):
        ob.hide_viewport = hidden
        ob.keyframe_insert("hide_viewport", frame=frame)
    bpy.context.scene.frame_set(6)
    assert np.array_equal(baked_samples(bake_here(ob, tmp_path, QUICK).folder), shown)
    entry = setup.find_of(ob, bpy.context.scene)
    assert entry is not None and entry.fingerprint["animation"] == marks
    for frame in (1, 6, 12):
        bpy.context.scene.frame_set(frame)
        assert setups.check_object(entry, setups.Target(tmp_path / "scene.blend")) is None
