"""What a body collides with is found, and is what Blender shows of it; what cannot be touched is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import scenes
from building import add_mesh
from sinew.scene import colliders
from sinew.scene.errors import SceneError

TRIANGLE = (np.array([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]), [(0, 1, 2)])


@pytest.fixture(autouse=True)
def body() -> Any:
    scenes.reset_scene()
    return scenes.build_block(frames=4)


def add(name: str = "Wall", mesh: Any = None, *, physics: bool = True) -> Any:
    ob = add_mesh(name, *(mesh or scenes.box_mesh((1.0, 2.0, 3.0), 1)))
    if physics:
        ob.modifiers.new("Collision", "COLLISION")
        bpy.context.view_layer.update()  # its settings come with the evaluation
    return ob


def gather(name: str, *objects: Any) -> Any:
    made = bpy.data.collections.new(name)
    bpy.context.scene.collection.children.link(made)
    for ob in objects:
        made.objects.link(ob)
    return made


def world_now(taken: Any, obstacle: colliders.Obstacle) -> np.ndarray:
    positions, matrix = taken
    local = obstacle.shape if positions is None else positions
    return local.astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def shown_now(ob: Any) -> np.ndarray:
    bpy.context.view_layer.update()
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([evaluated.matrix_world @ vertex.co for vertex in evaluated.data.vertices])


def looked_at(*objects: Any) -> colliders.Colliders:
    looked = colliders.Colliders(objects)
    with looked:
        return looked


def test_objects_with_collision_physics_are_found_by_name_and_neither_the_body_nor_what_it_carries(body: Any) -> None:
    body.modifiers.new("Collision", "COLLISION")
    wall, sleeve, floor = add("Wall"), add("Sleeve"), add("Floor")
    off = add("Off")
    off.collision.use = False
    add("Plain", physics=False)
    assert colliders.find(body, "", [sleeve]) == [floor, wall]


def test_a_collection_that_holds_the_body_is_all_else_in_it_with_those_in_its_children(body: Any) -> None:
    one, two = add("One", physics=False), add("Two", physics=False)
    outer = gather("Things", body, one)
    inner = bpy.data.collections.new("Inner")
    outer.children.link(inner)
    inner.objects.link(two)
    add("Elsewhere")
    assert colliders.find(body, "Things") == [one, two]


def test_a_collection_that_is_not_there_is_answered_with_the_closest(body: Any) -> None:
    gather("Things")
    with pytest.raises(SceneError, match='no collection "Thing" in scene .* did you mean "Things"'):
        colliders.find(body, "Thing")


def test_an_obstacle_is_what_blender_shows_in_world_metres_with_its_thickness_and_friction() -> None:
    scene = bpy.context.scene
    wall = add()
    wall.collision.thickness_outer, wall.collision.cloth_friction = 0.05, 10.0
    wall.modifiers.new("Subdivision", "SUBSURF")
    wall.location, wall.rotation_euler, wall.scale = (1.0, 2.0, 3.0), (0.3, 0.2, 0.1), (1.0, 2.0, 0.5)
    scene.unit_settings.scale_length = 0.1
    with colliders.Colliders([wall]) as looked:
        (obstacle,) = looked.obstacles
        (taken,) = looked.now("frame 1")
        assert world_now(taken, obstacle) == pytest.approx(0.1 * shown_now(wall), abs=1e-6)
    assert obstacle.thickness == pytest.approx(0.005) and obstacle.friction == pytest.approx(0.8)
    assert obstacle.triangles.max() == obstacle.vertices - 1


def test_one_without_physics_has_no_thickness_and_takes_the_friction_of_what_touches_it() -> None:
    (obstacle,) = looked_at(add(physics=False)).obstacles
    assert (obstacle.thickness, obstacle.friction) == (0.0, None)


@pytest.mark.parametrize("deforming", [False, True])
def test_it_is_followed_frame_by_frame_and_only_what_deforms_is_read_anew(deforming: bool) -> None:
    wall = add()
    wall.keyframe_insert("location", frame=1)
    wall.location = (0.0, 0.0, 5.0)
    wall.keyframe_insert("location", frame=4)
    if deforming:
        wall.modifiers.new("Wave", "WAVE")
    with colliders.Colliders([wall]) as looked:
        (obstacle,) = looked.obstacles
        assert (obstacle.shape is None) == deforming
        places = []
        for frame in (1, 2, 4):
            bpy.context.scene.frame_set(frame)
            (taken,) = looked.now(f"frame {frame}")
            places.append(world_now(taken, obstacle))
            assert places[-1] == pytest.approx(shown_now(wall), abs=1e-5)
    assert places[2][:, 2].min() - places[0][:, 2].min() > 4.0


def test_a_modifier_whose_value_is_keyed_deforms() -> None:
    wall = add()
    solid = wall.modifiers.new("Solidify", "SOLIDIFY")
    solid.keyframe_insert("thickness", frame=1)
    assert looked_at(wall).obstacles[0].shape is None


def test_a_curve_collides_as_the_surface_that_it_shows() -> None:
    bpy.ops.curve.primitive_bezier_circle_add(radius=1.0)
    ring = bpy.context.object
    ring.data.bevel_depth = 0.2
    with colliders.Colliders([ring]) as looked:
        (obstacle,) = looked.obstacles
        (taken,) = looked.now("frame 1")
        assert np.abs(world_now(taken, obstacle)).max() == pytest.approx(1.2, abs=0.05)


def test_what_is_hidden_collides_and_is_hidden_again() -> None:
    proxy = add()
    proxy.hide_set(True)
    proxy.location = (7.0, 0.0, 0.0)
    with colliders.Colliders([proxy]) as looked:
        (taken,) = looked.now("frame 1")
        assert world_now(taken, looked.obstacles[0])[:, 0].min() > 6.0
    assert proxy.hide_get()


def test_what_cannot_be_touched_is_told_and_the_others_collide() -> None:
    wires = add("Wires", (TRIANGLE[0], []))
    away = add("Away")
    hidden = gather("Hidden", away)
    bpy.context.scene.collection.objects.unlink(away)
    hidden.hide_viewport = True
    empty = bpy.data.objects.new("Empty", None)
    bpy.context.scene.collection.objects.link(empty)
    instance = bpy.data.objects.new("Instance", None)
    instance.instance_type, instance.instance_collection = "COLLECTION", hidden
    bpy.context.scene.collection.objects.link(instance)
    bpy.context.view_layer.update()
    looked = looked_at(wires, away, empty, instance, add("Wall"))
    assert [one.name for one in looked.obstacles] == ["Wall"]
    told = "\n".join(looked.warnings)
    assert len(looked.warnings) == 3
    assert '"Wires" does not collide: it has no faces.' in told
    assert '"Away" does not collide: it is in a hidden collection.' in told
    assert '"Instance" does not collide: it is an instance of a collection' in told


def test_flat_open_inside_out_and_loose_meshes_are_obstacles_as_they_are() -> None:
    box, quads = scenes.box_mesh((1.0, 1.0, 1.0), 2)
    flat = add("Flat", (box * (1.0, 1.0, 0.0), quads))
    inside_out = add("InsideOut", (box, [tuple(reversed(quad)) for quad in quads]))
    still_open = add("Open", (box, quads[1:]))
    rng = np.random.default_rng(3)
    count = 3000
    loose = add("Loose", (rng.normal(size=(3 * count, 3)), np.arange(3 * count).reshape(-1, 3)))
    looked = looked_at(flat, inside_out, still_open, loose)
    assert not looked.warnings
    assert [len(one.triangles) for one in looked.obstacles] == [2 * len(quads)] * 2 + [2 * len(quads) - 2, count]


def test_a_vertex_without_a_place_is_answered_with_its_number() -> None:
    wall = add()
    wall.data.vertices[3].co = (float("nan"), 0.0, 0.0)
    wall.data.update()
    with pytest.raises(SceneError, match='Vertex 3 of "Wall" has no finite coordinates at frame 1'):
        looked_at(wall)


def test_topology_that_changes_is_answered_with_the_frame() -> None:
    wall = add()
    array = wall.modifiers.new("Array", "ARRAY")
    array.count = 1
    array.keyframe_insert("count", frame=1)
    array.count = 2
    array.keyframe_insert("count", frame=3)
    bpy.context.scene.frame_set(1)
    with colliders.Colliders([wall]) as looked:
        looked.now("frame 1")
        bpy.context.scene.frame_set(3)
        with pytest.raises(SceneError, match='collider "Wall" changes at frame 3 .8 vertices before, 16'):
            looked.now("frame 3")


def test_the_scene_is_as_it_was_after_a_wrong_collider() -> None:
    good, bad = add("Good"), add("Wrong")
    good.hide_set(True)
    bad.data.vertices[0].co = (float("nan"), 0.0, 0.0)
    bad.data.update()
    with pytest.raises(SceneError):
        looked_at(good, bad)
    assert good.hide_get()


def test_a_linked_library_is_not_needed(tmp_path: Path) -> None:
    """A collider needs no modifier of ours, so one that is linked collides too."""
    wall = add()
    path = tmp_path / "library.blend"
    bpy.data.libraries.write(str(path), {wall}, fake_user=True)
    scenes.reset_scene()
    body = scenes.build_block(frames=4)
    with bpy.data.libraries.load(str(path), link=True) as (_, wanted):
        wanted.objects = ["Wall"]
    bpy.context.scene.collection.objects.link(wanted.objects[0])
    bpy.context.view_layer.update()
    found = colliders.find(body, "")
    assert [ob.library is not None for ob in found] == [True]
    assert len(looked_at(*found).obstacles) == 1
