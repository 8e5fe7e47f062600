"""After a change of settings or weights alone the frames of the last bake are taken, and the same bits come out; after
any other change, and where one cannot be told, they are played."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import scenes
from inside import load, run, run_here, save
from sinew import setups
from sinew.core.bake.run import Outcome
from sinew.scene import compat, setup
from sinew.scene.groups import write_group
from sinew.scene.sampler import AMOUNT, Sampler

QUICK = {"resolution": 5, "substeps": 1}
FRAMES = 20
A_FEW = 5


@pytest.fixture(autouse=True)
def empty_scene() -> None:
    scenes.reset_scene()


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The samples that were taken from the scene."""
    taken: list[int] = []
    frames = Sampler.frames

    def counted(self: Sampler, indices: Any = None) -> Iterator[Any]:
        for sample in frames(self, indices):
            taken.append(sample[0])
            yield sample

    monkeypatch.setattr(Sampler, "frames", counted)
    return taken


def baked(ob: Any, folder: Path, **values: Any) -> Outcome:
    resample = values.pop("resample", False)
    folder.mkdir(exist_ok=True)
    target = setups.Target(save(folder / "scene.blend"))
    return setups.bake_object(ob.name, {**QUICK, **values}, target, resample=resample)


def fresh(ob: Any, folder: Path, **values: Any) -> Outcome:
    return baked(ob, folder, resample=True, **values)


def bits(outcome: Outcome) -> list[bytes]:
    names = ["input.f32", "matrix.f64", "amount.f64", "fitted.f64", "simulated.f64", "velocity.f64", "result.pc2"]
    names += [path.name for path in sorted(outcome.folder.glob("passenger_*"))]
    return [(outcome.folder / name).read_bytes() for name in names]


def is_from_stored(ob: Any, folder: Path, **values: Any) -> bool:
    """Whether a bake would take the frames of an earlier one."""
    target = setups.Target(folder / "scene.blend")
    with setups.Sampling(ob.name, {**QUICK, "jiggle": 2.0, **values}, target) as sampling:
        for _ in sampling.prepare():
            pass
        return sampling.shot.is_from_stored


def paint(ob: Any) -> None:
    write_group(ob, "Sinew Follow", np.linspace(0.0, 1.0, len(ob.data.vertices)))


@pytest.mark.once
@pytest.mark.parametrize("build", [scenes.build_two_bone_arm, scenes.build_blob, scenes.build_dressed_arm])
def test_other_settings_and_weights_play_a_few_frames_and_have_the_bits_of_a_fresh_bake(
    tmp_path: Path, played: list[int], build: Callable[[], Any]
) -> None:
    ob = build()
    baked(ob, tmp_path / "a")
    assert len(played) == FRAMES
    played.clear()
    other = baked(ob, tmp_path / "a", jiggle=2.0, resolution=6)
    paint(ob)
    painted = baked(ob, tmp_path / "a", jiggle=2.0, resolution=6)
    assert len(played) == 2 * A_FEW and not painted.unchanged
    assert bits(painted) == bits(fresh(ob, tmp_path / "b", jiggle=2.0, resolution=6)) != bits(other)
    assert len(played) == 2 * A_FEW + FRAMES


def test_frames_are_played_when_that_is_asked_for(tmp_path: Path, played: list[int]) -> None:
    ob = scenes.build_two_bone_arm()
    baked(ob, tmp_path)
    played.clear()
    baked(ob, tmp_path, jiggle=2.0, resample=True)
    assert len(played) == FRAMES


def test_a_preview_and_a_shorter_range_take_their_part_and_a_longer_one_is_played(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm()
    baked(ob, tmp_path, frame_start=3, frame_end=18)
    assert is_from_stored(ob, tmp_path)
    shorter = baked(ob, tmp_path, frame_start=5, frame_end=12)
    assert bits(shorter) == bits(fresh(ob, tmp_path / "b", frame_start=5, frame_end=12))
    assert not is_from_stored(ob, tmp_path, frame_start=5, frame_end=19)
    assert not is_from_stored(ob, tmp_path, samples=2)
    with setups.Sampling(ob.name, {}, setups.Target(tmp_path / "scene.blend"), is_preview=True) as preview:
        for _ in preview.prepare():
            pass
        assert preview.shot.is_from_stored


def move_a_key(ob: Any) -> None:
    """By so little, and between the frames that are looked at, that only the curve tells."""
    curve = next(c for c in compat.action_curves(ob.parent.animation_data.action) if "lower" in c.data_path)
    point = curve.keyframe_points.insert(7.5, curve.evaluate(7.5))
    point.co[1] += 1e-4
    curve.update()


def change_easing(ob: Any) -> None:
    for curve in compat.action_curves(ob.parent.animation_data.action):
        curve.keyframe_points[0].interpolation = "SINE"


def weigh_one_vertex(ob: Any) -> None:
    ob.vertex_groups["lower"].add([3], 0.01, "ADD")


def move_one_vertex(ob: Any) -> None:
    ob.data.vertices[5].co.x += 1e-3


def pose_an_unkeyed_bone(ob: Any) -> None:
    ob.parent.pose.bones["upper"].location.x = 1e-3


def move_the_rig(ob: Any) -> None:
    ob.parent.location.z = 1e-3


def turn_a_bone_at_rest(ob: Any) -> None:
    bpy.context.view_layer.objects.active = ob.parent
    bpy.ops.object.mode_set(mode="EDIT")
    ob.parent.data.edit_bones["lower"].roll += 0.1
    bpy.ops.object.mode_set(mode="OBJECT")


def constrain_a_bone(ob: Any) -> None:
    limit = ob.parent.pose.bones["lower"].constraints.new("LIMIT_ROTATION")
    limit.use_limit_x, limit.max_x = True, 1.55
    limit.owner_space = "LOCAL"


def add_a_shape_key(ob: Any) -> None:
    ob.shape_key_add(name="Basis")
    key = ob.shape_key_add(name="Late")
    key.data[0].co.z += 0.1
    for frame, value in ((9, 0.0), (10, 1.0), (11, 0.0)):
        key.value = value
        key.keyframe_insert("value", frame=frame)


def turn_a_modifier_off(ob: Any) -> None:
    ob.modifiers["Armature"].use_deform_preserve_volume = True


def remap_time(ob: Any) -> None:
    del ob
    bpy.context.scene.render.frame_map_new = 50


def change_units(ob: Any) -> None:
    del ob
    bpy.context.scene.unit_settings.scale_length = 0.5


CHANGES = (
    move_a_key, change_easing, weigh_one_vertex, move_one_vertex, pose_an_unkeyed_bone, move_the_rig,
    turn_a_bone_at_rest, constrain_a_bone, add_a_shape_key, turn_a_modifier_off, remap_time, change_units,
)  # fmt: skip


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_any_change_of_the_animation_plays_the_frames(tmp_path: Path, change: Callable[[Any], None]) -> None:
    ob = scenes.build_two_bone_arm()
    baked(ob, tmp_path)
    assert is_from_stored(ob, tmp_path)
    change(ob)
    assert not is_from_stored(ob, tmp_path)


def drive_a_bone(ob: Any) -> None:
    ob.parent.pose.bones["upper"].driver_add("location", 0).driver.expression = "0.0"


def bend_by_a_lattice(ob: Any) -> None:
    lattice = bpy.data.objects.new("Lattice", bpy.data.lattices.new("Lattice"))
    bpy.context.scene.collection.objects.link(lattice)
    ob.modifiers.new("Lattice", "LATTICE").object = lattice


def hang_on_cloth(ob: Any) -> None:
    ob.modifiers.new("Cloth", "CLOTH")


def wave(ob: Any) -> None:
    ob.modifiers.new("Wave", "WAVE")


def bind_smoothing(ob: Any) -> None:
    ob.modifiers.new("Smooth", "CORRECTIVE_SMOOTH").rest_source = "BIND"


def follow_a_surface(ob: Any) -> None:
    ball = scenes.build_ball()
    bpy.context.scene.frame_end = FRAMES
    ball.vertex_groups.new(name="spot").add([0], 1.0, "REPLACE")
    copy = ob.parent.constraints.new("COPY_LOCATION")
    copy.target, copy.subtarget = ball, "spot"


def listen_to_frames(ob: Any) -> None:
    del ob
    bpy.app.handlers.frame_change_post.append(_listen)


def _listen(*_: Any) -> None:
    pass


UNKNOWN = (drive_a_bone, bend_by_a_lattice, hang_on_cloth, wave, bind_smoothing, follow_a_surface, listen_to_frames)


@pytest.mark.parametrize("add", UNKNOWN, ids=lambda add: add.__name__)
def test_what_looks_elsewhere_is_always_played(tmp_path: Path, add: Callable[[Any], None]) -> None:
    ob = scenes.build_two_bone_arm()
    add(ob)
    try:
        assert baked(ob, tmp_path).report["input_mark"] == ""
        assert not is_from_stored(ob, tmp_path)
    finally:
        if _listen in bpy.app.handlers.frame_change_post:
            bpy.app.handlers.frame_change_post.remove(_listen)


def test_force_fields_and_animated_weights_are_played(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm()
    baked(ob, tmp_path)
    assert not is_from_stored(ob, tmp_path, follow_animated=True)
    bpy.ops.object.effector_add(type="WIND", location=(0, 0, 1))
    assert not is_from_stored(ob, tmp_path)
    assert is_from_stored(ob, tmp_path, fields=0.0)


def test_a_change_of_a_passenger_plays_the_frames_and_one_of_nothing_does_not(tmp_path: Path) -> None:
    ob = scenes.build_dressed_arm()
    baked(ob, tmp_path)
    assert is_from_stored(ob, tmp_path)
    bpy.data.objects["Beads"].location.x += 0.01
    assert not is_from_stored(ob, tmp_path)


def test_an_amount_without_keys_is_that_of_now_and_a_keyed_one_that_of_the_keys(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm()
    ob[AMOUNT] = 1.0
    baked(ob, tmp_path / "a")
    ob[AMOUNT] = 0.25
    outcome = baked(ob, tmp_path / "a")
    assert bits(outcome) == bits(fresh(ob, tmp_path / "b"))
    assert np.frombuffer((outcome.folder / "amount.f64").read_bytes()).tolist() == [0.25] * FRAMES
    for frame, value in ((1, 0.0), (FRAMES, 1.0)):
        ob[AMOUNT] = value
        ob.keyframe_insert(f'["{AMOUNT}"]', frame=frame)
    assert is_from_stored(ob, tmp_path / "a")
    outcome = baked(ob, tmp_path / "a", jiggle=2.0)
    assert outcome.report["from_stored"]
    assert bits(outcome) == bits(fresh(ob, tmp_path / "b", jiggle=2.0))
    assert not is_from_stored(ob, tmp_path / "a", missing_frames="5")
    ob.animation_data_clear()
    ob.driver_add(f'["{AMOUNT}"]').driver.expression = "frame / 20"
    assert not is_from_stored(ob, tmp_path / "a")


def test_missing_frames_are_bridged_as_before_or_played_where_others_are_missing(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm()
    baked(ob, tmp_path / "a", missing_frames="5, 10-11")
    other = baked(ob, tmp_path / "a", missing_frames="5, 10-11", jiggle=2.0)
    assert bits(other) == bits(fresh(ob, tmp_path / "b", missing_frames="5, 10-11", jiggle=2.0))
    assert is_from_stored(ob, tmp_path / "a", missing_frames="5, 10-11")
    assert not is_from_stored(ob, tmp_path / "a", missing_frames="5")
    assert not is_from_stored(ob, tmp_path / "a", missing_frames="5, 10-11", frame_end=18)


def test_frames_that_are_damaged_on_the_disk_are_played(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm()
    outcome = baked(ob, tmp_path)
    with open(outcome.folder / "input.f32", "r+b") as file:
        file.seek(9 * 12 * len(ob.data.vertices) + 40)
        file.write(b"\1\2")
    assert not is_from_stored(ob, tmp_path)


def test_a_file_that_is_opened_again_and_what_hides_or_selects_need_no_playing(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm()
    baked(ob, tmp_path)
    load(save(tmp_path / "scene.blend"))
    ob = bpy.data.objects["Arm"]
    bpy.context.scene.frame_set(13)
    ob.hide_viewport = True
    ob.keyframe_insert("hide_viewport", frame=4)
    ob.name = "Renamed"
    ob.modifiers.new("Subdivision", "SUBSURF")
    assert is_from_stored(ob, tmp_path)


@pytest.mark.once
def test_the_command_takes_stored_frames_and_plays_them_when_told_to(tmp_path: Path) -> None:
    scenes.build_two_bone_arm()
    file = save(tmp_path / "scene.blend")
    first = run("bake", file, "--object", "Arm", "--set=resolution=5", "--set=substeps=1")
    again = run_here("bake", file, "--object", "Arm", "--set=jiggle=2.0")
    forced = run_here("bake", file, "--object", "Arm", "--set=jiggle=2.5", "--resample")
    assert first.returncode == again.returncode == forced.returncode == 0, first.stderr + again.stderr + forced.stderr
    told = "frames of the last bake"
    assert told in again.stdout and told not in first.stdout + forced.stdout


def test_a_setup_keeps_what_its_bake_was_made_from(tmp_path: Path) -> None:
    ob = scenes.build_two_bone_arm()
    baked(ob, tmp_path)
    before = setup.find_of(ob, bpy.context.scene)
    baked(ob, tmp_path, jiggle=2.0)
    after = setup.find_of(ob, bpy.context.scene)
    assert before is not None and after is not None
    assert before.fingerprint == after.fingerprint and before.bake != after.bake
