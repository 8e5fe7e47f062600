"""Faces in Blender: from Add to the modifier that plays, and what is not a face."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import assets
import bpy
import faces
import numpy as np
import pytest
import scenes
import sinew
from fake_layout import draw
from inside import baked_samples, load, run, save, shown, shown_at
from mathutils import Matrix
from panel_use import activate, item
from sinew import setups
from sinew.core.bake import pc2
from sinew.core.base.errors import Error
from sinew.scene import setup
from sinew.setups.face import finding
from sinew.setups.face.finding import BONE_GROUP
from sinew.ui.face import edited, find, overlay, panel
from sinew.ui.setup.panel import SINEW_PT_setup

FRAMES = 6
COARSE = {"resolution": 16, "substeps": 1}


@pytest.fixture
def head(tmp_path: Path) -> Iterator[Any]:
    sinew.register()
    scenes.reset_scene()
    made = faces.build_head(FRAMES, spacing=0.009)
    save(tmp_path / "head.blend")
    activate("Head")
    yield made
    sinew.unregister()


def target() -> Any:
    return setups.Target(Path(bpy.data.filepath))


def bake(**values: Any) -> Any:
    return setups.bake_object("Head", {**COARSE, **values}, target(), method="face")


def still(ob: Any) -> None:
    ob.animation_data_clear()
    ob.location, ob.rotation_euler = (0.2, 0.1, 0.3), (0.3, 0.0, 0.5)


def inputs(ob: Any) -> np.ndarray:
    modifier = ob.modifiers["Sinew"]
    modifier.show_viewport = False
    frames = np.array([shown_at(ob, frame) for frame in range(1, FRAMES + 1)])
    modifier.show_viewport = True
    return frames


def test_a_face_is_seen_added_baked_and_played_with_nothing_chosen(head: Any) -> None:
    assert bpy.ops.sinew.add() == {"FINISHED"}
    entry = setup.find_of(head, bpy.context.scene)
    assert entry is not None and entry.method == "face"
    outcome = setups.bake_object("Head", COARSE, target())
    played = baked_samples(outcome.folder)
    for frame in range(1, FRAMES + 1):
        assert np.array_equal(shown_at(head, frame), played[frame - 1])
    moved = np.linalg.norm(played - inputs(head), axis=2)
    skin = len(played[0]) - sum(len(part) for part in _loose(head))
    assert moved[:, skin:].max() < 1e-12 and moved.max() > 2e-4
    found = outcome.report["face"]
    assert found["jaw_key"] == "jawOpen" and found["skull_parts"] == 3 and found["jaw_parts"] == 2


SCAN = assets.FOLDER / "ict_facekit" / "ict_face_57shapes.blend"


@pytest.mark.once
@pytest.mark.skipif(not SCAN.is_file(), reason=f"the scanned head is not in {assets.FOLDER}")
def test_a_scanned_head_is_a_face_by_one_button_whatever_its_keys_are_called(tmp_path: Path) -> None:
    """26,719 vertices in 40 shells, in centimetres, turned; on three frames it changes its face and keeps still."""
    sinew.register()
    load(SCAN)
    ob = next(ob for ob in bpy.data.objects if ob.type == "MESH")
    blocks = ob.data.shape_keys.key_blocks
    jaw = f"Key {list(blocks.keys()).index('jawOpen')}"
    for number, block in enumerate(blocks):
        block.name = f"Key {number}"
    ob.rotation_euler, ob.location = (0.5, 0.4, 0.3), (30.0, 0.0, 5.0)
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 3
    for frame, value in ((1, 0.0), (2, 0.6), (3, -0.1)):
        for block in (blocks[jaw], blocks["Key 20"], blocks["Key 41"]):
            block.value = value
            block.keyframe_insert("value", frame=frame)
    save(tmp_path / "scan.blend")
    activate(ob.name)
    assert bpy.ops.sinew.add() == {"FINISHED"}
    outcome = setups.bake_object(ob.name, {}, target())
    report = outcome.report
    assert outcome.report["face"]["jaw_key"] == jaw and outcome.report["face"]["keys"] == 57
    assert report["face"]["skull_parts"] == 35 and report["face"]["jaw_parts"] == 17
    assert report["inverted_tets"]["fitted"] == 0 and report["added_motion"]["max_relative"] < 1e-6
    sinew.unregister()


def test_a_face_is_seen_whatever_its_keys_are_called(head: Any) -> None:
    for number, block in enumerate(head.data.shape_keys.key_blocks[1:]):
        block.name = f"Key {number}"
    bpy.ops.sinew.add()
    entry = setup.find_of(head, bpy.context.scene)
    assert entry is not None and entry.method == "face"
    for block in list(head.data.shape_keys.key_blocks)[8:]:
        head.shape_key_remove(block)
    assert not finding.looks_like_face(head)


def _loose(ob: Any) -> list[np.ndarray]:
    """The vertices of all shells but the first, which is the skin."""
    from sinew.core.geometry.connected import connected_pieces

    edges = np.array([edge.vertices[:] for edge in ob.data.edges], np.int32)
    pieces = connected_pieces(len(ob.data.vertices), edges)
    return [np.flatnonzero(pieces == piece) for piece in np.unique(pieces)[1:]]


def test_a_still_head_gives_back_its_input_in_any_place_and_scale(head: Any) -> None:
    still(head)
    head.scale = (1.0, 1.3, 0.8)
    outcome = bake()
    assert np.abs(baked_samples(outcome.folder) - inputs(head)).max() < 2e-6
    assert outcome.report["added_motion"]["max_relative"] < 2e-6


def test_muted_masked_and_still_keys_are_no_trouble(head: Any) -> None:
    blocks = head.data.shape_keys.key_blocks
    blocks["mouthFunnel"].mute = True
    group = head.vertex_groups.new(name="half")
    group.add([v.index for v in head.data.vertices if v.co.x > 0.0], 1.0, "REPLACE")
    blocks["mouthPucker"].vertex_group = "half"
    head.shape_key_add(name="nothing", from_mix=False)
    blocks["mouthSmile_L"].relative_key = blocks["mouthSmile_R"]
    blocks["mouthSmile_R"].relative_key = blocks["browUp_L"]
    driver = head.data.shape_keys.driver_add('key_blocks["cheekPuff_L"].value').driver
    driver.expression = "0.1 * frame"
    outcome = bake()
    assert outcome.report["face"]["keys"] == len(blocks) - 3  # without the basis, the muted and the still one


def test_one_key_alone_tells_less_than_the_animation(head: Any) -> None:
    for block in list(head.data.shape_keys.key_blocks)[2:]:
        head.shape_key_remove(block)
    report = bake().report
    assert report["face"]["keys"] == 0 and report["added_motion"]["max_relative"] > 5e-4


def test_of_a_face_in_several_objects_teeth_and_eyes_stay_and_brows_go_along(head: Any) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.separate(type="LOOSE")
    bpy.ops.object.mode_set(mode="OBJECT")
    skin = max(bpy.data.objects, key=lambda ob: len(ob.data.vertices))
    others = [ob for ob in bpy.data.objects if ob != skin]
    bpy.ops.mesh.primitive_plane_add(size=0.03, location=(0.024, -0.1, 0.045))
    brow = bpy.context.object
    for ob in (*others, brow):
        ob.animation_data_clear()
        ob.parent, ob.matrix_basis = skin, ob.matrix_basis if ob == brow else Matrix()
    activate(skin.name)
    outcome = setups.bake_object(skin.name, COARSE, target(), method="face")
    added = {ob.name: _added_to(ob) for ob in (*others, brow)}
    assert len(outcome.report["passengers"]) == 6 and added.pop(brow.name) > 1e-5
    assert max(added.values()) < 1e-9


def _added_to(ob: Any) -> float:
    """How far a bake takes what it carries along from where it would be."""
    modifier, most = ob.modifiers["Sinew"], 0.0
    for frame in range(1, FRAMES + 1):
        with_bake = shown_at(ob, frame)
        modifier.show_viewport = False
        most = max(most, float(np.abs(shown_at(ob, frame) - with_bake).max()))
        modifier.show_viewport = True
    return most


def test_a_mirrored_half_is_a_face(head: Any) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="SELECT")
    bpy.ops.mesh.bisect(plane_co=(0, 0, 0), plane_no=(1, 0, 0), clear_inner=True)
    bpy.ops.object.mode_set(mode="OBJECT")
    head.modifiers.new("Mirror", "MIRROR")
    outcome = bake()
    assert outcome.report["face"]["jaw_key"] == "jawOpen"
    assert outcome.report["added_motion"]["max_relative"] > 5e-4


def test_what_is_no_face_gets_a_sentence(head: Any) -> None:
    scenes.reset_scene()
    bpy.ops.mesh.primitive_uv_sphere_add()
    bpy.context.object.name = "Head"
    with pytest.raises(Error, match="does not look like a face.*Add Flesh"):
        bake()
    assert not bpy.data.objects["Head"].modifiers


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"jaw_key": "jawOpne"}, 'no shape key "jawOpne"'),
        ({"bone_group": "nowhere"}, "nowhere"),
        ({"key_stiffness": "jawOpne=3"}, 'no shape key "jawOpne"'),
        ({"key_stiffness": "jawOpen=3 [nowhere]"}, "nowhere"),
        ({"key_stiffness": "jawOpen"}, "says no stiffness"),
        ({"head_bone": "head"}, 'No bone "head"'),
        ({"jaw_bone": "Heat"}, 'No bone "Heat".*choose another'),
        ({"skull_object": "Skull"}, 'no mesh "Skull" with faces'),
        ({"expression": "rebalanced", "collide": True}, "does not go with Collisions"),
    ],
)
def test_what_is_chosen_and_not_there_is_named(head: Any, values: dict[str, str], sentence: str) -> None:
    with pytest.raises(Error, match=sentence):
        bake(**values)
    assert "Sinew" not in head.modifiers


@pytest.mark.once
def test_what_carries_head_and_jaw_and_the_skull_may_be_said(head: Any) -> None:
    """An armature that carries the head by a bone; a skull that is its child, and lies close under the skin."""
    found = bake()
    played = baked_samples(found.folder)
    bpy.ops.object.armature_add(location=(0.4, 0.3, -0.1))
    armature = bpy.context.object
    armature.pose.bones[0].name = "Head"
    bone = armature.pose.bones["Head"]
    bone.rotation_mode = "XYZ"
    armature.rotation_euler = (0.4, 0.2, 0.0)
    for frame in range(1, FRAMES + 1):  # as the object is turned
        bpy.context.scene.frame_set(frame)
        world = head.matrix_world @ armature.matrix_world @ bone.bone.matrix_local
        bone.matrix = armature.matrix_world.inverted() @ world
        bone.keyframe_insert("location", frame=frame)
        bone.keyframe_insert("rotation_euler", frame=frame)
    head.modifiers.new("Armature", "ARMATURE").object = armature  # it deforms nothing, without vertex groups
    by_bone = baked_samples(bake(head_bone="Head").folder)
    assert np.abs(by_bone - played).max() < 1e-5 and not np.array_equal(by_bone, played)
    standing = bpy.data.objects.new("Standing", None)
    bpy.context.scene.collection.objects.link(standing)
    assert np.abs(baked_samples(bake(head_bone="Standing").folder) - played).max() > 1e-4
    jaw = baked_samples(bake(head_bone="", jaw_weight=1.0).folder)
    still = baked_samples(bake(jaw_bone="Standing").folder)  # it stays where it is while the head turns
    assert np.abs(still - jaw).max() > 1e-4
    bpy.ops.mesh.primitive_uv_sphere_add(radius=0.085, location=(0.0, -0.01, 0.0))
    bpy.context.object.name = "Skull"
    bpy.context.object.parent = head
    report = bake(jaw_bone="", jaw_weight=0.0, skull_object="Skull").report["face"]
    assert max(report["depth"]) > max(found.report["face"]["depth"])


def test_a_bake_is_given_to_others_as_pc2_and_as_shape_keys(head: Any, tmp_path: Path) -> None:
    bpy.ops.sinew.add()
    assert not bpy.ops.sinew.export_pc2.poll() and not bpy.ops.sinew.make_shape_keys.poll()
    head.modifiers.new("Subdivision", "SUBSURF")
    outcome = bake(preroll=2)
    shown = [shown_at(head, frame) for frame in range(1, FRAMES + 1)]
    assert bpy.ops.sinew.export_pc2(filepath=str(tmp_path / "out.pc2")) == {"FINISHED"}
    with open(tmp_path / "out.pc2", "rb") as file:
        header = pc2.read_header(file, "out")
        assert (header.samples, header.start, header.rate) == (FRAMES, 1.0, 1.0)
        played = baked_samples(outcome.folder)[2:]
        assert all(np.array_equal(pc2.read_slot(file, header, i), played[i]) for i in range(FRAMES))
    assert bpy.ops.sinew.make_shape_keys() == {"FINISHED"}
    made = bpy.data.objects["Head Baked"]
    assert [modifier.type for modifier in made.modifiers] == ["SUBSURF"]
    assert setup.find_of(made, bpy.context.scene) is None
    for frame in (1, 3, FRAMES):
        assert np.abs(shown_at(made, frame) - shown[frame - 1]).max() < 1e-6
        bpy.context.scene.frame_set(frame)
        assert np.allclose(made.matrix_world, head.matrix_world, atol=1e-6)
    assert "Sinew" in head.modifiers
    with pytest.raises(RuntimeError, match="cannot be written"):
        bpy.ops.sinew.export_pc2(filepath=str(tmp_path / "nowhere" / "out.pc2"))


@pytest.mark.once
def test_keys_change_the_material(head: Any) -> None:
    plain = baked_samples(bake().folder)
    firm = bake(key_stiffness="jawOpen=8", tighten=2.0)
    assert not np.array_equal(baked_samples(firm.folder), plain)
    lips = head.vertex_groups.new(name="Lips")
    lips.add([v.index for v in head.data.vertices if v.co.y < -0.1], 1.0, "REPLACE")
    with_group = bake(key_stiffness="jawOpen=8 [Lips]", tighten=2.0)
    assert not np.array_equal(baked_samples(with_group.folder), baked_samples(firm.folder))
    still(head)
    assert bake(key_stiffness="jawOpen=8", tighten=2.0).report["added_motion"]["max_relative"] < 2e-6


@pytest.mark.once
def test_no_jaw_may_be_chosen(head: Any) -> None:
    assert bake(jaw_key="-").report["face"]["jaw_degrees"] == 0.0


def test_found_and_painted(head: Any) -> None:
    bpy.ops.sinew.add()
    assert bpy.ops.sinew.find_face() == {"FINISHED"}
    drawn = draw(panel.SINEW_PT_face_found)
    assert any("jawOpen" in line for line in drawn.labels)
    assert bpy.ops.sinew.paint_bone() == {"FINISHED"}
    group = head.vertex_groups[BONE_GROUP]
    weights = np.array([next((g.weight for g in v.groups if g.group == group.index), 0.0) for v in head.data.vertices])
    assert 0.2 < weights.mean() < 0.95
    for vertex in head.data.vertices:
        group.add([vertex.index], 1.0, "REPLACE")
    with pytest.raises(Error, match="flesh"):
        bake()


def test_an_edited_performance_shows_on_the_bake_before_it_is_baked_again(head: Any) -> None:
    bpy.ops.sinew.add()
    item().show_edited = True
    assert not item().show_edited  # there is no bake
    outcome = bake()
    played, before = baked_samples(outcome.folder), inputs(head)
    bpy.context.scene.frame_set(5)
    item().show_edited = True
    assert item().show_edited and np.abs(shown_now(head) - played[4]).max() < 1e-6
    head.data.shape_keys.animation_data_clear()
    head.data.shape_keys.key_blocks["browUp_L"].value = 1.0
    edited.show()
    modifier = head.modifiers["Sinew"]
    with_jiggle = shown_now(head)
    item().show_edited = False
    assert np.array_equal(shown_now(head), played[4])
    modifier.show_viewport = False
    now = shown_now(head)
    modifier.show_viewport = True
    assert np.abs(now - before[4]).max() > 5e-3
    added = played[4] - before[4]
    assert np.linalg.norm(with_jiggle - now - added) < 0.05 * np.linalg.norm(added)
    item().show_edited = True
    save(Path(bpy.data.filepath))
    assert not item().show_edited and modifier.filepath.endswith(f"{outcome.id}/result.pc2")


def shown_now(ob: Any) -> np.ndarray:
    ob.update_tag()
    return shown(ob)


def test_bone_flesh_and_stiffness_are_shown_in_colours(head: Any) -> None:
    bpy.ops.sinew.add()
    assert overlay.values_of(item()) is None
    item().show_bone = True
    assert overlay.values_of(item()) is None  # nobody has looked
    assert bpy.ops.sinew.find_face() == {"FINISHED"}
    shown = overlay.values_of(item())
    assert shown is not None and overlay.values_of(item()) is shown
    depth = find.depth_of(item())
    assert (shown[depth == 0.0] == 1.0).all() and shown[depth.argmax()] == 0.0 and shown[depth > 0.0].max() < 0.5
    item().show_stiffness = True
    assert not item().show_bone and (overlay.values_of(item()) == 0.5).all()
    lips = head.vertex_groups.new(name="Lips")
    lips.add([0, 1, 2], 1.0, "REPLACE")
    still(head)
    blocks = head.data.shape_keys.key_blocks
    item().key_stiffness = "jawOpen=20 [Lips]; mouthPucker=0.1"
    blocks["jawOpen"].value = 1.0
    shown = overlay.values_of(item())
    assert shown is not None and (shown[:3] == 1.0).all() and (shown[3:] == 0.5).all()
    blocks["jawOpen"].value, blocks["mouthPucker"].value = 0.0, 1.0
    shown = overlay.values_of(item())
    assert shown is not None and shown.min() < 0.2 and shown.max() == 0.5
    item().key_stiffness, item().tighten = "", 4.0
    shown = overlay.values_of(item())
    assert shown is not None and shown.max() > 0.6 and shown[top_of(head)] == pytest.approx(0.5, abs=1e-3)
    item().show_stiffness = False
    assert overlay.values_of(item()) is None


def top_of(ob: Any) -> int:
    return max(range(len(ob.data.vertices)), key=lambda index: float(ob.data.vertices[index].co.z))


def test_every_panel_of_a_face_draws(head: Any) -> None:
    bpy.ops.sinew.add()
    for one in (SINEW_PT_setup, *panel.CLASSES):
        drawn = draw(one)
        assert drawn is not None and (drawn.properties or drawn.operators)
    assert item().jiggle == 8.0


@pytest.mark.once
def test_keys_that_change_the_material_are_a_list(head: Any) -> None:
    bpy.ops.sinew.add()
    assert bpy.ops.sinew.key_stiffness(key="jawOpen", factor=3.0) == {"FINISHED"}
    assert bpy.ops.sinew.key_stiffness(key="mouthPucker", factor=0.5, group="Lips") == {"FINISHED"}
    assert item().key_stiffness == "jawOpen=3; mouthPucker=0.5 [Lips]"
    drawn = draw(panel.SINEW_PT_face_found)
    assert [drawn.operators.count(f"sinew.{name}key_stiffness") for name in ("", "remove_")] == [3, 2]
    assert bpy.ops.sinew.key_stiffness(index=0, key="jawOpen", factor=8.0) == {"FINISHED"}
    assert bpy.ops.sinew.remove_key_stiffness(index=1) == {"FINISHED"}
    assert item().key_stiffness == "jawOpen=8"
    with pytest.raises(RuntimeError, match='no shape key "jawOpne"'):
        bpy.ops.sinew.key_stiffness(key="jawOpne")
    item().key_stiffness = "jawOpen"
    assert "key_stiffness" in draw(panel.SINEW_PT_face_found).properties


def test_a_face_is_baked_by_the_command(head: Any, tmp_path: Path) -> None:
    blend = Path(bpy.data.filepath)
    arguments = ("--method", "face", "--set", "resolution=16", "--set", "jaw_weight=0.5")
    done = run("bake", blend, "--object", "Head", *arguments, "--out", tmp_path / "out.blend")
    assert done.returncode == 0, done.stderr
    assert "jawOpen" in done.stdout
