"""The whole line, from a file that has never seen Sinew to one that plays its bake, by the command."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import bmesh
import bpy
import numpy as np
import pytest
import scenes
from inside import command, environment, load, run, run_here, save, shown_at
from sinew.core.bake import pc2
from sinew.scene import playback, setup, stack

QUICK = ("--set", "resolution=5", "--set", "substeps=1")
FRAMES = 12


@pytest.fixture(scope="module")
def baked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A baked arm, made once; tests that change it work on a copy."""
    folder = tmp_path_factory.mktemp("baked")
    scenes.reset_scene()
    scenes.build_two_bone_arm(frames=FRAMES)
    save(folder / "arm.blend")
    result = run("bake", folder / "arm.blend", "--object", "Arm", *QUICK, "--report", folder / "report.json")
    assert result.returncode == 0, result.stdout + result.stderr
    return folder


@pytest.fixture
def copy(baked: Path, tmp_path: Path) -> Path:
    shutil.copytree(baked, tmp_path / "copy")
    return tmp_path / "copy" / "arm.blend"


def cache(folder: Path) -> np.ndarray:
    """All samples of the one bake in a folder."""
    (path,) = folder.glob("sinew/*/result.pc2")
    with open(path, "rb") as file:
        header = pc2.read_header(file, "result")
        return np.stack([pc2.read_slot(file, header, i) for i in range(header.samples)])


def object_of(blend: Path) -> Any:
    load(blend)
    return bpy.context.scene.objects["Arm"]


def test_a_file_that_never_saw_sinew_plays_the_bake_in_its_range_and_the_input_outside(baked: Path) -> None:
    ob = object_of(baked / "arm.blend")
    samples = cache(baked)
    assert len(samples) == FRAMES
    assert [modifier.name for modifier in ob.modifiers] == ["Armature", "Sinew"]
    assert ob.modifiers["Sinew"].filepath.startswith("//sinew/")
    added = 0.0
    for frame in range(1 - 3, FRAMES + 4):
        shape = shown_at(ob, frame)
        ob.modifiers["Sinew"].show_viewport = False
        given = shown_at(ob, frame)
        ob.modifiers["Sinew"].show_viewport = True
        if 1 <= frame <= FRAMES:
            assert np.array_equal(shape, samples[frame - 1]), frame
            added = max(added, float(np.abs(shape - given).max()))
        else:
            assert np.array_equal(shape, given), frame
    assert added > 1e-3


def test_the_report_tells_numbers_that_make_sense(baked: Path) -> None:
    told = json.loads((baked / "report.json").read_text())
    assert told["frames"] == FRAMES and told["vertices"] > 100 and told["tets"] > 10
    assert told["follow_error"]["max_relative"] < 1e-4
    assert told["added_motion"]["rms_relative"] > 1e-4
    assert 0 < told["fit_error"]["rms_relative"] < 0.05
    assert told["seconds"]["simulation"] > 0 and told["peak_memory"] > 1e7
    assert told["settings"]["resolution"] == 5


def test_the_setup_and_the_follow_group_are_kept_in_the_file(baked: Path) -> None:
    ob = object_of(baked / "arm.blend")
    entry = setup.find("Arm")
    assert entry is not None and entry.settings == {"resolution": 5, "substeps": 1}
    assert (baked / "sinew" / entry.bake / "manifest.json").is_file()
    assert "Sinew Follow" in ob.vertex_groups
    ob.name = "Renamed"
    assert setup.find("Renamed") is not None


def test_the_setup_survives_being_saved_without_sinew(copy: Path) -> None:
    save_again = f"import bpy; bpy.ops.wm.save_as_mainfile(filepath={str(copy)!r})"
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(without_sinew(copy, save_again), check=True, env=plain, capture_output=True)
    load(copy)
    assert setup.find("Arm") is not None


def without_sinew(blend: Path, script: str) -> list[str]:
    if bpy.app.binary_path:
        options = ["--python-exit-code", "9", "--python-expr", script]
        return [bpy.app.binary_path, "-b", "--factory-startup", str(blend), *options]
    opened = f"import bpy; bpy.ops.wm.open_mainfile(filepath={str(blend)!r}, load_ui=False); "
    return [sys.executable, "-c", opened + script]


def test_the_file_renders_without_sinew(copy: Path, tmp_path: Path) -> None:
    script = f"""
import bpy, sys
assert not any('sinew' in name for name in sys.modules)
scene = bpy.context.scene
camera = bpy.data.objects.new('Camera', bpy.data.cameras.new('Camera'))
scene.collection.objects.link(camera)
camera.location, camera.rotation_euler = (0.5, -3, 0.3), (1.5708, 0, 0)
scene.camera = camera
scene.render.engine = 'BLENDER_WORKBENCH'
scene.render.resolution_x, scene.render.resolution_y = 160, 120
scene.render.resolution_percentage = 100
scene.render.image_settings.file_format = 'PNG'
scene.frame_set({FRAMES // 2 + 3})
for name, shown in (('with', True), ('without', False)):
    bpy.data.objects['Arm'].modifiers['Sinew'].show_render = shown
    bpy.data.objects['Arm'].modifiers['Sinew'].show_viewport = shown
    scene.render.filepath = {str(tmp_path)!r} + '/' + name + '.png'
    bpy.ops.render.render(write_still=True)
"""
    script = f"exec({script!r})"
    plain = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    subprocess.run(without_sinew(copy, script), check=True, env=plain, capture_output=True, timeout=300)
    pictures = []
    for name in ("with", "without"):
        image = bpy.data.images.load(str(tmp_path / f"{name}.png"))
        pictures.append(np.array(image.pixels[:]))
    assert pictures[0].std() > 0.01
    assert np.abs(pictures[0] - pictures[1]).max() > 0.1


def test_check_is_content_with_a_fresh_bake_and_does_not_change_the_file(copy: Path) -> None:
    before = copy.read_bytes()
    result = run("check", copy)
    assert result.returncode == 0 and "Arm: good" in result.stdout, result.stdout + result.stderr
    assert copy.read_bytes() == before


def change_animation(ob: Any) -> None:
    armature = ob.modifiers["Armature"].object
    scenes.pose_key(armature, "lower", 8, quaternion=(1, 0, 0, 0))


def change_range(_: Any) -> None:
    bpy.context.scene.frame_end = FRAMES + 1


def change_mesh(ob: Any) -> None:
    ob.data.vertices[7].co.x += 0.01


def change_count(ob: Any) -> None:
    ob.data.vertices.add(1)


def change_setting(ob: Any, name: str, value: Any) -> None:
    entry = setup.find("Arm")
    assert entry is not None
    entry.settings[name] = value
    setup.save_of(ob, entry, bpy.context.scene)


def change_settings(ob: Any) -> None:
    change_setting(ob, "jiggle", 2.0)


def change_amount(ob: Any) -> None:
    change_setting(ob, "amount", 0.5)


def change_weights(ob: Any) -> None:
    ob.vertex_groups["Sinew Follow"].add([0], 0.123, "REPLACE")


def delete_modifier(ob: Any) -> None:
    assert playback.detach(ob)


def delete_object(ob: Any) -> None:
    bpy.data.objects.remove(ob)


@pytest.mark.parametrize(
    "change",
    [
        change_animation, change_range, change_mesh, change_count, change_settings, change_amount, change_weights,
        delete_modifier, delete_object,
    ],
)  # fmt: skip
def test_check_notices_what_has_changed(copy: Path, change: Any) -> None:
    change(object_of(copy))
    from sinew import setups

    save(copy)
    problems = [setups.check_object(entry, setups.Target(copy)) for entry in setups.setups()]
    assert len(problems) == 1 and problems[0], change


@pytest.mark.once
def test_check_fails_on_missing_and_damaged_bakes(copy: Path) -> None:
    (bake,) = (copy.parent / "sinew").iterdir()
    whole = (bake / "result.pc2").read_bytes()
    (bake / "result.pc2").write_bytes(whole[:-100] + bytes(100))
    result = run_here("check", copy)
    assert result.returncode == 1 and "damaged at frame" in result.stdout
    with open(bake / "result.pc2", "r+b") as file:
        file.seek(16)
        file.write(struct.pack("<i", -1))
    result = run_here("check", copy)
    assert result.returncode == 1 and "-1 vertices" in result.stdout
    shutil.rmtree(bake)
    result = run_here("check", copy)
    assert result.returncode == 1 and "missing" in result.stdout


@pytest.mark.once
def test_a_version_up_keeps_its_bake_when_the_older_version_is_baked_again(copy: Path) -> None:
    later = copy.with_name("later.blend")
    shutil.copy(copy, later)
    result = run_here("bake", copy, "--object", "Arm", "--set", "jiggle=2")
    assert result.returncode == 0, result.stderr
    assert run_here("check", later).returncode == 0
    assert run_here("check", copy).returncode == 0


@pytest.mark.once
def test_an_unchanged_file_keeps_its_bake_and_a_changed_one_switches(copy: Path) -> None:
    (first,) = os.listdir(copy.parent / "sinew")
    result = run_here("bake", copy, "--object", "Arm")
    assert result.returncode == 0 and "Nothing has changed" in result.stdout, result.stderr
    assert os.listdir(copy.parent / "sinew") == [first]
    result = run_here("bake", copy, "--object", "Arm", "--set", "amount=0")
    assert result.returncode == 0, result.stderr
    (second,) = os.listdir(copy.parent / "sinew")
    assert second != first
    ob = object_of(copy)
    shape = shown_at(ob, 9)
    ob.modifiers["Sinew"].show_viewport = False
    assert np.allclose(shape, shown_at(ob, 9), atol=1e-6)


@pytest.mark.once
def test_a_keyframed_amount_fades_from_the_input_to_the_full_result_without_a_new_simulation(copy: Path) -> None:
    full = cache(copy.parent)
    ob = object_of(copy)
    for frame, value in ((1, 0.0), (6, 0.0), (8, 1.0)):
        ob["sinew_amount"] = value
        ob.keyframe_insert('["sinew_amount"]', frame=frame)
    save(copy)
    checked = run_here("check", copy)
    assert checked.returncode == 1 and "Amount" in checked.stdout
    report = copy.parent / "faded.json"
    result = run_here("bake", copy, "--object", "Arm", "--report", report)
    assert result.returncode == 0, result.stderr
    assert not {"fitting", "simulation"} & set(json.loads(report.read_text())["seconds"])
    assert run_here("check", copy).returncode == 0
    faded = cache(copy.parent)
    assert np.array_equal(faded[7:], full[7:])
    ob = object_of(copy)
    shape = shown_at(ob, 6)
    ob.modifiers["Sinew"].show_viewport = False
    given = shown_at(ob, 6)
    assert np.allclose(shape, given, atol=1e-6) and np.abs(full[5] - given).max() > 1e-3


@pytest.mark.once
def test_out_leaves_the_file_untouched_and_owns_a_bake_beside_it(copy: Path, tmp_path: Path) -> None:
    before, folders = copy.read_bytes(), os.listdir(copy.parent / "sinew")
    other = tmp_path / "other" / "out.blend"
    other.parent.mkdir()
    result = run_here("bake", copy, "--object", "Arm", "--out", other)
    assert result.returncode == 0, result.stderr
    assert copy.read_bytes() == before and os.listdir(copy.parent / "sinew") == folders
    assert run_here("check", other).returncode == 0
    shutil.rmtree(copy.parent)
    ob = object_of(other)
    assert ob.modifiers["Sinew"].filepath.startswith("//sinew/")
    assert np.array_equal(shown_at(ob, 5), cache(other.parent)[4])


@pytest.mark.once
def test_a_failed_bake_leaves_the_file_and_its_bake(copy: Path) -> None:
    before, folders = copy.read_bytes(), sorted(os.listdir(copy.parent))
    for arguments, words in (
        (("--object", "Arn"), 'did you mean "Arm"'),
        (("--object", "Arm", "--set", "follow_group=nothing"), "no vertex group"),
        (("--object", "Arm", "--set", "frame_start=90"), "empty"),
    ):
        result = run_here("bake", copy, *arguments)
        assert result.returncode == 1 and words in result.stderr, result.stderr
        assert "Traceback" not in result.stderr
        assert copy.read_bytes() == before and sorted(os.listdir(copy.parent)) == folders


@pytest.mark.once
def test_a_file_that_is_no_blend_is_named(tmp_path: Path) -> None:
    path = tmp_path / "odd.blend"
    path.write_bytes(b"nonsense")
    result = run("bake", path, "--object", "Arm")
    assert result.returncode == 1 and "cannot be opened" in result.stderr


def start(blend: Path, *arguments: str) -> subprocess.Popen[bytes]:
    line = command("bake", str(blend), "--object", "Arm", *QUICK, *arguments)
    return subprocess.Popen(
        line, env=environment(), start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def wait_for_frames(folder: Path, process: subprocess.Popen[bytes], count: int) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        logs = list(folder.glob("sinew/*/frames.jsonl"))
        if logs and logs[0].read_text().count('"frame"') >= count:
            return
        time.sleep(0.002)
    raise AssertionError("the bake ended before it could be stopped")


LONG = 300  # frames


@pytest.fixture
def long_shot(tmp_path: Path) -> Path:
    scenes.reset_scene()
    scenes.build_two_bone_arm(frames=LONG)  # no machine is done with it before it is stopped
    return save(tmp_path / "arm.blend")


@pytest.mark.once
def test_a_killed_bake_loses_no_frame_and_ends_with_the_same_bits(long_shot: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    whole.mkdir()
    shutil.copy(long_shot, whole)
    assert run_here("bake", whole / "arm.blend", "--object", "Arm", *QUICK).returncode == 0
    before = long_shot.read_bytes()
    process = start(long_shot)
    wait_for_frames(tmp_path, process, 5)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert long_shot.read_bytes() == before
    (folder,) = (tmp_path / "sinew").iterdir()
    finished = (folder / "frames.jsonl").read_text().count('"frame"')
    assert 5 <= finished < LONG
    result = run_here("bake", long_shot, "--object", "Arm", *QUICK)
    assert result.returncode == 0, result.stderr
    assert [path.name for path in (tmp_path / "sinew").iterdir()] == [folder.name]
    assert np.array_equal(cache(tmp_path), cache(whole))
    assert run_here("check", long_shot).returncode == 0


@pytest.mark.once
def test_ctrl_c_keeps_finished_frames_and_the_file(long_shot: Path, tmp_path: Path) -> None:
    before = long_shot.read_bytes()
    process = start(long_shot)
    wait_for_frames(tmp_path, process, 3)
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and b"kept" in err and b"Traceback" not in err, err
    assert long_shot.read_bytes() == before
    assert run_here("bake", long_shot, "--object", "Arm", *QUICK).returncode == 0


@pytest.mark.once
def test_ctrl_c_while_the_cage_is_built_ends_soon_and_in_order(long_shot: Path, tmp_path: Path) -> None:
    before = long_shot.read_bytes()
    process = start(long_shot, "--set", "resolution=200")
    assert process.stderr is not None
    # It tells the stages of the cage, and no frame is done for long.
    for line in process.stderr:
        if b"cage" in line or b"surface" in line:
            break
    os.killpg(process.pid, signal.SIGINT)
    struck = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and b"while the cage was built" in err and b"Traceback" not in err, err
    assert time.monotonic() - struck < 20
    assert long_shot.read_bytes() == before and not (tmp_path / "sinew").exists()


@pytest.mark.once
def test_two_samples_a_frame_play_on_half_frames(tmp_path: Path) -> None:
    scenes.reset_scene()
    ob = scenes.build_two_bone_arm(frames=6)
    ob.modifiers.new("Subdivision", "SUBSURF")
    blend = save(tmp_path / "arm.blend")
    result = run_here("bake", blend, "--object", "Arm", *QUICK, "--set", "samples=2", "--set", "preroll=2")
    assert result.returncode == 0, result.stderr
    ob = object_of(blend)
    assert [modifier.name for modifier in ob.modifiers] == ["Armature", "Sinew", "Subdivision"]
    ob.modifiers["Subdivision"].show_viewport = False
    samples = cache(tmp_path)
    assert len(samples) == 2 * 7 + 1
    assert np.array_equal(shown_at(ob, 1), samples[4])
    assert np.allclose(shown_at(ob, 3, 0.5), samples[9], atol=1e-6)
    given = shown_at(ob, 0)
    ob.modifiers["Sinew"].show_viewport = False
    assert np.array_equal(given, shown_at(ob, 0))


@pytest.mark.once
def test_a_start_at_rest_samples_no_frame_before_the_first(tmp_path: Path) -> None:
    scenes.reset_scene()
    scenes.build_two_bone_arm(frames=6)
    blend = save(tmp_path / "arm.blend")
    result = run_here("bake", blend, "--object", "Arm", *QUICK, "--set", "start=rest", "--set", "preroll=12")
    assert result.returncode == 0, result.stderr
    assert len(cache(tmp_path)) == 6


def test_deleting_a_bake_removes_modifier_and_driver_and_nothing_else(copy: Path) -> None:
    ob = object_of(copy)
    assert len(ob.animation_data.drivers) == 1
    assert ob.animation_data.drivers[0].driver.expression == f"frame >= 1 and frame <= {FRAMES}"
    assert ob.animation_data.drivers[0].driver.is_simple_expression
    assert playback.detach(ob) and not playback.detach(ob)
    assert [modifier.name for modifier in ob.modifiers] == ["Armature"]
    assert len(ob.animation_data.drivers) == 0
    setup.remove(ob, bpy.context.scene)
    assert setup.load() == [] and setup.KEY not in bpy.context.scene


def test_setups_of_other_objects_stay_when_one_is_saved(copy: Path) -> None:
    arm, scene = object_of(copy), bpy.context.scene
    other = bpy.data.objects.new("Other", bpy.data.meshes.new("Other"))
    scene.collection.objects.link(other)
    choice = setup.PassengerChoice(arm, mode=setup.RIGID)
    setup.save_of(other, setup.Setup("Other", bake="0" * 16, settings={"jiggle": 2.0}, passengers=[choice]), scene)
    setup.save_of(arm, setup.Setup("Arm", bake="1" * 16), scene)
    found = {entry.object_name: entry for entry in setup.load()}
    assert found["Other"].settings == {"jiggle": 2.0} and found["Arm"].bake == "1" * 16 and len(found) == 2
    assert found["Other"].passengers == [choice]
    assert stack.own_modifier(other) is None


def lowest(ob: Any) -> float:
    """Of all frames."""
    matrix = np.array(ob.matrix_world)
    surfaces = [shown_at(ob, frame) @ matrix[:3, :3].T + matrix[:3, 3] for frame in range(1, FRAMES + 1)]
    return float(np.min(surfaces, axis=(0, 1))[2])


def test_the_command_pulls_a_finished_bake_and_an_animation_that_sinew_never_saw(copy: Path, tmp_path: Path) -> None:
    tip = int(np.argmax([vertex.co.z for vertex in object_of(copy).data.vertices]))
    before, pulled = cache(copy.parent), tmp_path / "copy" / "pulled.blend"
    handle = f"{tip},6,0,0.05,0"
    result = run("edit", copy, "--object", "Arm", "--handle", handle, "--wiggle", 0.5, "--out", pulled)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "Edited by 1 handle: all land" in result.stdout
    ob = object_of(pulled)
    moved = shown_at(ob, 6)[tip] - before[5, tip]
    assert abs(np.linalg.norm(moved) - 0.05) < 1e-3 and "edits" in setup.find("Arm").settings
    result = run_here("edit", pulled, "--object", "Arm", "--clear")
    assert result.returncode == 0, result.stdout + result.stderr
    assert np.array_equal(shown_at(object_of(pulled), 6), before[5])
    # A mesh without a setup: nothing is simulated.
    scenes.reset_scene()
    ob = scenes.build_two_bone_arm(frames=FRAMES)
    given = [shown_at(bpy.data.objects["Arm"], frame) for frame in (1, 6)]
    plain = save(tmp_path / "plain.blend")
    options = ("--object", "Arm", "--handle", handle, "--range", "2-10", "--set", "resolution=5")
    result = run_here("edit", plain, *options, "--out", tmp_path / "edited.blend")
    assert result.returncode == 0, result.stdout + result.stderr
    ob = object_of(tmp_path / "edited.blend")
    assert np.abs(shown_at(ob, 1) - given[0]).max() < 1e-6
    assert abs(np.linalg.norm(shown_at(ob, 6)[tip] - given[1][tip]) - 0.05) < 1e-3
    weights = ob.vertex_groups["Sinew Follow"].weight
    carried = [vertex for vertex in range(len(given[1])) if weights(vertex) == 1.0]
    moved = np.linalg.norm(shown_at(ob, 6) - given[1], axis=1)[carried]
    assert len(carried) > 10 and moved.max() < 1e-5, "what follows its bones stays"
    result = run_here("edit", tmp_path / "edited.blend", "--object", "Arm", "--handle", f"{carried[0]},6,0,0.1,0")
    assert result.returncode == 0 and "give --free" in result.stdout, result.stdout + result.stderr
    # Pulled down, and a floor is there.
    floor = lowest(object_of(tmp_path / "edited.blend"))
    kept = ("--keep-contacts", "above", "--floor", floor, "--handle", f"{tip},6,0,0,-0.6", "--clear")
    result = run_here("edit", tmp_path / "edited.blend", "--object", "Arm", *kept)
    assert result.returncode == 0, result.stdout + result.stderr
    ob = object_of(tmp_path / "edited.blend")
    assert lowest(ob) > floor - 0.01 and "contacts held" in result.stdout
    # Vertices are told by their numbers, so handles are of this mesh alone.
    shape = bmesh.new()
    shape.from_mesh(ob.data)
    shape.faces.new([shape.verts.new((0.01 * x, 0.01 * y, 0.0)) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))])
    shape.to_mesh(ob.data)
    shape.free()
    changed = save(tmp_path / "changed.blend")
    result = run_here("bake", changed, "--object", "Arm")
    assert result.returncode == 0 and "The mesh has other faces" in result.stdout, result.stdout + result.stderr


@pytest.mark.once
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "Nothing is to be edited"),
        (("--handle", "3,4,5"), "is no handle"),
        (("--handle", "3,4,0,0,1", "--range", "5-9"), "outside the range"),
        (("--handle", "3,4,0,0,1", "--floor", "0"), "A floor alone does nothing"),
        (("--handle", "99999,4,0,0,1"), "no vertex 99999"),
    ],
)
def test_edits_that_make_no_sense_are_told_before_any_work(copy: Path, options: tuple[str, ...], told: str) -> None:
    before = copy.read_bytes()
    result = run_here("edit", copy, "--object", "Arm", *options)
    assert result.returncode == 1 and told in result.stderr, result.stdout + result.stderr
    assert copy.read_bytes() == before
