from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
import scenes
from inside import shown, shown_at
from sinew.scene import compat, stack
from sinew.scene.errors import SceneError
from sinew.scene.groups import write_group
from sinew.scene.objects import find_object
from sinew.scene.sampler import AMOUNT, Sampler
from sinew.scene.steps import finished


@pytest.fixture(autouse=True)
def empty_scene() -> None:
    scenes.reset_scene()


def world(positions: np.ndarray, matrix: np.ndarray, *_: Any) -> np.ndarray:
    return positions.astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def sampled(ob: Any, **options: Any) -> list[tuple[int, np.ndarray, np.ndarray, float]]:
    with Sampler(ob, **options) as sampler:
        return list(sampler.frames())


def test_an_armature_is_sampled_as_it_shows() -> None:
    ob = scenes.build_two_bone_arm()
    expected = [shown_at(ob, frame) for frame in range(1, 21)]
    assert np.abs(expected[0] - expected[-1]).max() > 0.1
    for (index, positions, *_), shape in zip(sampled(ob), expected, strict=True):
        assert np.array_equal(positions, shape), index


def test_shape_keys_are_sampled_and_rest_is_the_basis() -> None:
    ob = scenes.build_blob()
    frames = sampled(ob)
    assert np.array_equal(frames[6][1], shown_at(ob, 7))
    with Sampler(ob) as sampler:
        rest = sampler.rest()
    basis = np.array([point.co for point in ob.data.shape_keys.key_blocks["Basis"].data])
    assert np.allclose(rest.positions, basis, atol=1e-6)
    assert np.abs(frames[6][1] - basis).max() > 0.05


def test_rest_of_a_rigged_mesh_is_undeformed_even_when_the_first_frame_is_posed() -> None:
    ob = scenes.build_two_bone_arm()
    with Sampler(ob, frame_start=10, frame_end=20) as sampler:
        rest = sampler.rest()
        first = next(sampler.frames())
    data = np.array([vertex.co for vertex in ob.data.vertices])
    assert np.allclose(rest.positions, data, atol=1e-6)
    assert np.abs(world(*first[1:]) - data).max() > 0.1


def test_a_rest_frame_takes_the_shape_of_that_frame() -> None:
    ob = scenes.build_two_bone_arm()
    with Sampler(ob, rest_frame=10) as sampler:
        rest = sampler.rest()
    assert np.allclose(rest.positions, shown_at(ob, 10), atol=1e-6)


def test_the_motion_of_object_and_parents_is_in_the_matrices() -> None:
    ob = scenes.build_ball(parented=True)
    ob.parent.scale = (2, 2, 2)
    frames = sampled(ob)
    for index, positions, matrix, *_ in frames:
        bpy.context.scene.frame_set(1 + index)
        assert np.allclose(matrix, np.array(ob.matrix_world), atol=1e-6)
        assert np.array_equal(positions, frames[0][1])
    assert np.abs(frames[10][2][:3, 3] - frames[0][2][:3, 3]).max() > 0.5


def test_units_are_metres_whatever_the_scene_says() -> None:
    ob = scenes.build_ball()
    before = world(*sampled(ob)[3][1:])
    bpy.context.scene.unit_settings.scale_length = 0.01
    assert np.allclose(world(*sampled(ob)[3][1:]), 0.01 * before)


def test_subdivision_at_the_end_is_above_our_place() -> None:
    ob = scenes.build_two_bone_arm()
    subdivision = ob.modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels, subdivision.render_levels = 1, 2
    frames = sampled(ob, frame_end=3)
    assert len(frames[0][1]) == len(ob.data.vertices)


def test_subdivision_below_a_deformer_is_sampled_and_level_mismatch_is_named() -> None:
    ob = scenes.build_two_bone_arm()
    subdivision = ob.modifiers.new("Subdivision", "SUBSURF")
    subdivision.levels = subdivision.render_levels = 1
    ob.modifiers.new("Smooth", "SMOOTH")
    with Sampler(ob, frame_end=3) as sampler:
        rest = sampler.rest()
        frames = list(sampler.frames())
    assert len(frames[0][1]) == len(rest.positions) > 3 * len(ob.data.vertices)
    assert rest.base_first
    subdivision.render_levels = 2
    with pytest.raises(SceneError, match='"Subdivision".*1 levels.*2 in'):
        sampled(ob, frame_end=3)
    bpy.context.scene.render.use_simplify = True
    bpy.context.scene.render.simplify_subdivision = bpy.context.scene.render.simplify_subdivision_render = 1
    sampled(ob, frame_end=2)


def test_mirror_below_the_armature_works_with_groups() -> None:
    ob = scenes.build_two_bone_arm()
    group = ob.vertex_groups.new(name="soft")
    group.add([3], 0.25, "REPLACE")
    mirror = ob.modifiers.new("Mirror", "MIRROR")
    mirror.use_axis[0], mirror.use_axis[2] = False, True
    mirror.use_mirror_merge = False
    mirror.mirror_object = None
    while list(ob.modifiers)[0] != mirror:
        with bpy.context.temp_override(object=ob, active_object=ob):
            bpy.ops.object.modifier_move_up(modifier="Mirror")
    with Sampler(ob, frame_end=3) as sampler:
        rest = sampler.rest()
        weights = sampler.group("soft")
        positions = next(sampler.frames())[1]
    count = len(ob.data.vertices)
    assert len(positions) == len(rest.positions) == 2 * count
    assert sorted(np.flatnonzero(weights)) == [3, 3 + count] and weights[3] == np.float32(0.25)
    assert rest.skin is not None and np.allclose(rest.skin[:count], rest.skin[count:])


def test_a_modifier_shown_in_the_viewport_only_is_named() -> None:
    ob = scenes.build_two_bone_arm()
    solid = ob.modifiers.new("Solid", "SOLIDIFY")
    ob.modifiers.new("Smooth", "SMOOTH")
    solid.show_render = False
    with pytest.raises(SceneError, match='"Solid".*viewport only'):
        sampled(ob)


def test_bones_come_at_rest_in_world_space() -> None:
    ob = scenes.build_two_bone_arm()
    ob.parent = None
    armature = ob.modifiers[0].object
    armature.location = (1, 2, 3)
    with Sampler(ob) as sampler:
        bones = sampler.rest().bones
    assert [bone.name for bone in bones] == ["upper", "lower"]
    assert np.allclose(bones[1].head, (1.5, 2, 3), atol=1e-6) and np.allclose(bones[1].tail, (2, 2, 3), atol=1e-6)
    assert (bones[1].parent, bones[1].is_leaf, bones[0].is_leaf) == (0, True, False)


def test_subframes_lie_between_frames() -> None:
    ob = scenes.build_two_bone_arm()
    frames = sampled(ob, frame_start=2, frame_end=4, samples=4)
    assert len(frames) == 9
    assert np.array_equal(frames[5][1], shown_at(ob, 3, 0.25))


def test_the_amount_is_read_at_each_sample_and_kept_within_its_range() -> None:
    ob = scenes.build_two_bone_arm()
    assert [frame[3] for frame in sampled(ob, frame_end=3)] == [1.0, 1.0, 1.0]
    for frame, value in ((1, -1.0), (5, 3.0)):
        ob[AMOUNT] = value
        ob.keyframe_insert(f'["{AMOUNT}"]', frame=frame)
    found = [frame[3] for frame in sampled(ob, frame_end=5, samples=2)]
    assert found[0] == 0.0 and found[8] == 2.0 and found[4] == pytest.approx(1.0)
    assert found == sorted(found) and len(set(found)) > 3
    ob.animation_data_clear()
    ob[AMOUNT] = "much"
    expect_error("must be a number", ob)


def test_preroll_comes_before_the_first_frame() -> None:
    ob = scenes.build_two_bone_arm()
    with Sampler(ob, frame_start=5, frame_end=8, preroll=2) as sampler:
        frames = list(sampler.frames())
        assert (sampler.first_frame, sampler.count) == (3, 6)
    assert np.array_equal(frames[0][1], shown_at(ob, 3))


def test_everything_is_as_it_was_afterwards_also_after_an_error() -> None:
    ob = scenes.build_two_bone_arm()
    ob.modifiers.new("Subdivision", "SUBSURF")
    hidden = ob.modifiers.new("Wave", "WAVE")
    hidden.show_viewport = False
    hidden.show_render = False
    ob.hide_set(True)
    scene = bpy.context.scene
    scene.frame_set(7, subframe=0.5)
    objects, meshes = set(bpy.data.objects), set(bpy.data.meshes)
    before = [(m.name, m.show_viewport, m.show_render) for m in ob.modifiers]
    for fail in (False, True):
        with Sampler(ob, frame_end=4) as sampler:
            sampler.rest()
            frames = sampler.frames()
            next(frames)
            if fail:
                with pytest.raises(SceneError, match="vertex group"):
                    sampler.group("nothing")
        assert (scene.frame_current, scene.frame_subframe) == (7, 0.5)
        assert [(m.name, m.show_viewport, m.show_render) for m in ob.modifiers] == before
        assert ob.hide_get() and set(bpy.data.objects) == objects and set(bpy.data.meshes) == meshes


def test_our_own_modifier_is_not_sampled() -> None:
    ob = scenes.build_two_bone_arm()
    expected = shown_at(ob, 10)
    own = ob.modifiers.new(stack.MODIFIER_NAME, "MESH_CACHE")
    cast = ob.modifiers.new("Own look", "SUBSURF")
    assert stack.own_modifier(ob) == own and cast in stack.others(ob)
    assert np.array_equal(sampled(ob)[9][1], expected)


def test_geometry_nodes_count_as_deformer_only_where_they_move_vertices() -> None:
    ob = scenes.build_two_bone_arm()
    ob.modifiers.new("Subdivision", "SUBSURF")
    modifier = ob.modifiers.new("Nodes", "NODES")
    tree = bpy.data.node_groups.new("Move", "GeometryNodeTree")
    if hasattr(tree, "interface"):
        tree.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
        tree.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    else:
        tree.inputs.new("NodeSocketGeometry", "Geometry")
        tree.outputs.new("NodeSocketGeometry", "Geometry")
    source, target = tree.nodes.new("NodeGroupInput"), tree.nodes.new("NodeGroupOutput")
    mover = tree.nodes.new("GeometryNodeSetPosition")
    tree.links.new(source.outputs[0], mover.inputs[0])
    tree.links.new(mover.outputs[0], target.inputs[0])
    modifier.node_group = tree
    assert stack.find_place(ob, (1, 10)) == 1  # they do nothing: only the armature counts
    mover.inputs["Offset"].default_value = (0, 0, 1)
    assert stack.find_place(ob, (1, 10)) == 3


def expect_error(words: str, ob: Any, **options: Any) -> None:
    with pytest.raises(SceneError, match=words), Sampler(ob, **options) as sampler:
        sampler.rest()
        list(sampler.frames())


def test_missing_objects_and_other_types_are_named_with_the_closest_mesh() -> None:
    scenes.build_two_bone_arm()
    with pytest.raises(SceneError, match='no object "arm".*"Arm"'):
        find_object("arm")
    with pytest.raises(SceneError, match='no object "Whatever".*: there are "Arm"'):
        find_object("Whatever")
    with pytest.raises(SceneError, match='"ArmRig" is no mesh but of type armature.*"Arm"'):
        find_object("ArmRig")


def test_a_missing_group_is_answered_with_a_close_one_or_with_those_there_are() -> None:
    ob = scenes.build_two_bone_arm()
    with Sampler(ob) as sampler:
        for name, told in (("uper", 'did you mean "upper"'), ("Nonsense", 'it has "upper", "lower"')):
            with pytest.raises(SceneError, match=told):
                sampler.group(name)


def test_frames_that_are_all_missing_are_told() -> None:
    ob = scenes.build_ball(frames=6)
    with pytest.raises(SceneError, match="All frames are said to be missing"):
        Sampler(ob, missing=range(1, 7))
    Sampler(ob, missing=range(1, 6))


def test_an_object_in_edit_mode_is_refused() -> None:
    ob = scenes.build_ball()
    bpy.context.view_layer.objects.active = ob
    bpy.ops.object.mode_set(mode="EDIT")
    with pytest.raises(SceneError, match="edit mode"):
        find_object(ob.name)
    bpy.ops.object.mode_set(mode="OBJECT")
    assert find_object(ob.name) == ob


def test_a_mesh_without_vertices_is_refused() -> None:
    ob = bpy.data.objects.new("Nothing", bpy.data.meshes.new("Nothing"))
    bpy.context.scene.collection.objects.link(ob)
    with pytest.raises(SceneError, match="no vertices"):
        find_object("Nothing")


def test_coordinates_that_are_not_finite_are_named() -> None:
    ob = scenes.build_ball()
    ob.data.vertices[5].co.x = float("nan")
    expect_error("Vertex 5", ob)


def test_a_topology_that_changes_is_named_with_its_frame() -> None:
    ob = scenes.build_ball()
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 10
    build = ob.modifiers.new("Build", "BUILD")
    build.frame_start, build.frame_duration = 3, 5
    ob.modifiers.new("Smooth", "SMOOTH")
    expect_error("topology|vertices at rest|no vertices", ob)
    weld = ob.modifiers["Build"]
    ob.modifiers.remove(weld)
    decimate = ob.modifiers.new("Decimate", "DECIMATE")
    decimate.ratio = 1.0
    decimate.keyframe_insert("ratio", frame=4)
    decimate.ratio = 0.3
    decimate.keyframe_insert("ratio", frame=6)
    ob.modifiers.new("Smooth again", "SMOOTH")
    expect_error("topology.*frame [56]", ob)


def test_zero_scale_is_named() -> None:
    ob = scenes.build_ball()
    ob.scale = (1, 0, 1)
    expect_error("zero scale", ob)


def test_an_empty_range_is_named() -> None:
    ob = scenes.build_ball()
    with pytest.raises(SceneError, match="empty"):
        Sampler(ob, frame_start=10, frame_end=9)


def test_a_hidden_object_is_sampled_and_a_hidden_collection_is_named() -> None:
    ob = scenes.build_two_bone_arm()
    expected = shown_at(ob, 10)
    ob.hide_viewport = True
    assert np.array_equal(sampled(ob)[9][1], expected)
    assert ob.hide_viewport


def test_a_written_group_is_read_back() -> None:
    ob = scenes.build_two_bone_arm()
    weights = np.linspace(0, 1, len(ob.data.vertices))
    assert write_group(ob, "w", weights)
    with Sampler(ob) as sampler:
        assert np.allclose(sampler.group("w"), weights, atol=0.5 / 200 + 1e-6)
        assert sampler.group("w").max() == 1.0
        with pytest.raises(SceneError, match='"ww".*"w"'):
            sampler.group("ww")
    assert shown(ob).shape == (len(weights), 3)


HIDDEN = {1: False, 6: True, 12: False}


def key(owner: Any, path: str, values: dict[int, bool]) -> None:
    for frame, value in values.items():
        setattr(owner, path, value)
        owner.keyframe_insert(path, frame=frame)


def drive(owner: Any, path: str) -> None:
    owner.driver_add(path).driver.expression = "frame >= 6 and frame < 12"


@pytest.mark.parametrize("frame", [1, 8])
@pytest.mark.parametrize("how", ["keyed", "driven", "with its armature"])
def test_frames_on_which_the_object_is_hidden_are_sampled_as_if_it_were_not(how: str, frame: int) -> None:
    ob = scenes.build_two_bone_arm()
    expected = sampled(ob)
    if how == "driven":
        drive(ob, "hide_viewport")
    else:
        key(ob, "hide_viewport", HIDDEN)
    if how == "with its armature":
        key(ob.modifiers[0].object, "hide_viewport", HIDDEN)
    bpy.context.scene.frame_set(frame)
    stale = [shown_at(ob, frame) for frame in range(1, 21)]
    assert not np.array_equal(stale[8], expected[8][1]), "Blender shows old poses there"
    bpy.context.scene.frame_set(frame)
    for (_, positions, matrix, *_rest), (_, wanted, placed, *_others) in zip(sampled(ob), expected, strict=True):
        assert np.array_equal(positions, wanted) and np.array_equal(matrix, placed)
    assert [bpy.context.scene.frame_set(f) or ob.visible_get() for f in (1, 5, 6, 11, 12)] == [1, 1, 0, 0, 1]


def test_a_passenger_that_is_hidden_on_some_frames_is_sampled_there_too() -> None:
    ob = scenes.build_dressed_arm()
    sleeve = bpy.data.objects["Sleeve"]

    def carried() -> list[np.ndarray]:
        with Sampler(ob) as sampler:
            sampler.add_passenger(sleeve)
            return [passengers[0][0] for *_, passengers in sampler.frames()]

    expected = carried()
    key(sleeve, "hide_viewport", HIDDEN)
    assert np.array_equal(carried(), expected)


def test_a_modifier_above_our_place_stays_off_where_it_is_keyed_and_one_below_it_acts_as_keyed() -> None:
    ob = scenes.build_two_bone_arm()
    expected = sampled(ob)
    subdivision = ob.modifiers.new("Subdivision", "SUBSURF")
    key(subdivision, "show_viewport", {1: True, 6: False, 12: True})
    for (_, positions, *_), (_, wanted, *_others) in zip(sampled(ob), expected, strict=True):
        assert np.array_equal(positions, wanted)
    armature = ob.modifiers[0]
    for name in ("show_viewport", "show_render"):
        key(armature, name, {1: False, 6: True})
    bpy.context.scene.frame_set(1)
    with Sampler(ob) as sampler:
        assert sampler.place == 1, "it deforms on some frames, though not on this one"
        frames = [positions for _, positions, *_ in sampler.frames()]
    assert not np.array_equal(frames[3], expected[3][1])
    assert np.array_equal(frames[5:], [positions for _, positions, *_ in expected[5:]])


def test_a_frame_on_which_something_else_hides_the_object_is_refused() -> None:
    ob = scenes.build_two_bone_arm()

    def hide(scene: Any, *_: Any) -> None:
        ob.hide_set(scene.frame_current == 7)

    bpy.app.handlers.frame_change_pre.append(hide)
    try:
        with pytest.raises(SceneError, match='"Arm" is hidden at frame 7.*Missing'):
            sampled(ob)
        assert len(sampled(ob, missing=[7])) == 19
    finally:
        bpy.app.handlers.frame_change_pre.remove(hide)


def test_groups_read_through_nodes_are_those_read_vertex_by_vertex(monkeypatch: pytest.MonkeyPatch) -> None:
    ob = scenes.build_two_bone_arm()
    for number in range(20):  # more than fit into a step
        ob.vertex_groups.new(name=f"Part {number}").add(list(range(number, 200, 7)), number / 19, "REPLACE")
    mixed = ob.modifiers.new("Edit", "VERTEX_WEIGHT_EDIT")
    mixed.vertex_group, mixed.use_add, mixed.default_weight, mixed.add_threshold = "Part 3", True, 0.3, 0.0
    smooth = ob.modifiers.new("Subdivision", "SUBSURF")
    smooth.levels = smooth.render_levels = 1
    for name in ("Subdivision", "Edit"):
        compat.move_modifier(ob, ob.modifiers[name], 0)
    names = [*ob.vertex_groups.keys(), "Part 5", "None of them"]
    before = len(bpy.data.node_groups), len(bpy.data.objects)
    with Sampler(ob) as sampler:
        by_nodes = finished(sampler.groups_in_steps(names))
        monkeypatch.setattr(compat, "NODES_READ_GROUPS", False)
        by_vertices = finished(sampler.groups_in_steps(names))
    assert np.array_equal(by_nodes, by_vertices) and len(by_nodes) > 3 * len(ob.data.vertices)
    assert by_nodes[:, names.index("Part 3")].min() > 0.0 and not by_nodes[:, -1].any()
    assert (len(bpy.data.node_groups), len(bpy.data.objects)) == before
