"""What is read of a body that collides: groups, objects, the ground, frame by frame; what of it makes a bake stale."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import pytest
import scenes
from building import add_mesh, add_weights
from sinew.core.bake import obstacles
from sinew.core.bake.collisions import CollisionSettings
from sinew.core.bake.contact import KEYED, Collided
from sinew.scene.errors import SceneError
from sinew.scene.sampler import COLLIDE, Sampler
from sinew.scene.steps import finished
from sinew.setups import collisions, marks
from sinew.setups.collisions import Meeting

METHOD = ""


@dataclass(frozen=True)
class Settings(CollisionSettings):
    pass


@pytest.fixture
def body() -> Any:
    scenes.reset_scene()
    return scenes.build_block(frames=4)


def add(name: str, *, place: float = 0.0, physics: bool = True) -> Any:
    ob = add_mesh(name, *scenes.box_mesh((1.0, 2.0, 3.0), 1))
    ob.location.x = place
    if physics:
        ob.modifiers.new("Collision", "COLLISION")
    bpy.context.view_layer.update()
    return ob


def reading(ob: Any, **values: Any) -> Iterator[tuple[Sampler, Collided | None, Meeting]]:
    with Sampler(ob) as sampler:
        read, meeting = finished(collisions.read_in_steps(sampler, Settings(**{"collide": True, **values})))
        yield sampler, read, meeting


def frames_of(ob: Any, **values: Any) -> tuple[Collided, list[dict[str, Any]]]:
    """What is read of a body, and what on each frame."""
    for sampler, read, meeting in reading(ob, **values):
        assert read is not None
        return read, [meeting.read() for _ in sampler.frames()]
    raise AssertionError


def test_one_that_does_not_collide_reads_nothing(body: Any) -> None:
    add("Wall")
    for _, read, meeting in reading(body, collide=False):
        assert read is None and not meeting.is_there and meeting.read() == {}


def test_groups_are_read_as_painted_and_a_missing_one_is_told(body: Any) -> None:
    weights = np.linspace(0.0, 1.0, len(body.data.vertices)).round(2)
    for name in ("Sticky", "Thick", "Ear"):
        add_weights(body, name, weights)
    read, _ = frames_of(body, friction_group="Sticky", thickness_group="Thick", ignored_pairs="Ear:Ear")
    assert read.friction == pytest.approx(weights, abs=1e-6) and read.thickness == pytest.approx(weights, abs=1e-6)
    assert read.ignored is not None and list(read.ignored) == ["Ear"]
    collisions.check(body, Settings(collide=True, friction_group="Sticky"))
    with pytest.raises(SceneError, match='has no vertex group or float attribute of points "Stick"'):
        collisions.check(body, Settings(collide=True, friction_group="Stick"))
    collisions.check(body, Settings(friction_group="Stick"))  # it has no say


def test_obstacles_are_sampled_on_every_frame_those_that_deform_with_their_vertices(body: Any) -> None:
    still, moving = add("Still", place=-3.0), add("Moving", place=3.0)
    moving.keyframe_insert("location", frame=1)
    moving.location.z = 3.0
    moving.keyframe_insert("location", frame=4)
    wave = add("Wave", place=9.0)
    wave.modifiers.new("Wave", "WAVE")
    read, frames = frames_of(body)
    assert read.obstacles.names == ("Wave", "Moving", "Still") and read.obstacles.deforming == 8
    assert len(frames) == 4
    for frame, one in enumerate(frames, start=1):
        bpy.context.scene.frame_set(frame)
        placed = read.obstacles.placed(one[obstacles.MATRICES], one[obstacles.DEFORMED])
        shown = []
        for ob in (wave, moving, still):
            evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
            shown += [tuple(evaluated.matrix_world @ vertex.co) for vertex in evaluated.data.vertices]
        assert placed == pytest.approx(np.array(shown), abs=1e-5)
    lifted = [one[obstacles.MATRICES][4 + 2, 3] for one in frames]
    assert lifted[-1] - lifted[0] == pytest.approx(3.0)


def test_without_object_collision_there_is_the_ground_alone_in_metres(body: Any) -> None:
    add("Wall")
    bpy.context.scene.unit_settings.scale_length = 0.1
    read, frames = frames_of(body, object_collision=False, ground=True, ground_height=-2.0)
    assert read.obstacles.count == 0 and read.ground == pytest.approx(-0.2)
    assert frames == [{}] * 4
    assert frames_of(body)[0].ground is None


def test_what_it_carries_is_no_obstacle_and_the_body_is_none() -> None:
    scenes.reset_scene()
    ob = scenes.build_dressed_arm(frames=4)
    for other in bpy.context.scene.objects:
        if other.type == "MESH":
            other.modifiers.new("Collision", "COLLISION")
    add("Wall")
    assert frames_of(ob)[0].obstacles.names == ("Wall",)


def test_bodies_of_one_world_meet_what_one_of_them_meets(body: Any) -> None:
    wall, far = add("Wall"), add("Far", physics=False)
    ball = add("Ball")
    things = bpy.data.collections.new("Things")
    bpy.context.scene.collection.children.link(things)
    things.objects.link(far)
    chosen = Settings(collide=True, collision_collection="Things", ground=True, ground_height=-1.0)
    met = collisions.meets([(body, Settings(collide=True)), (ball, chosen)], bpy.context.scene)
    assert met.objects == (far, wall) and met.ground == -1.0


def test_collide_can_be_keyed(body: Any) -> None:
    body[COLLIDE] = 1.0
    body.keyframe_insert(f'["{COLLIDE}"]', frame=1)
    body[COLLIDE] = 0.0
    body.keyframe_insert(f'["{COLLIDE}"]', frame=3)
    read, frames = frames_of(body)
    assert read.is_keyed
    now = [one[KEYED][0] for one in frames]
    assert now[0] == 1.0 and now[2] == now[3] == 0.0


def test_a_warning_of_a_collider_that_cannot_be_touched_goes_with_the_bake(body: Any) -> None:
    wires = add("Wires", physics=False)
    wires.data.clear_geometry()
    things = bpy.data.collections.new("Things")
    bpy.context.scene.collection.children.link(things)
    things.objects.link(wires)
    things.objects.link(body)
    for sampler, read, _ in reading(body, collision_collection="Things"):
        assert read is not None and read.obstacles.count == 0
        assert sampler.warnings == ['"Wires" does not collide: it has no faces.']


def test_the_scene_is_as_it_was_after_reading(body: Any) -> None:
    wall = add("Wall")
    wall.hide_set(True)
    frames_of(body)
    assert wall.hide_get() and bpy.context.scene.frame_current == 1


STALE = {
    "moved": lambda wall, body: setattr(wall, "location", (0.0, 0.0, 1.0)),
    "edited": lambda wall, body: setattr(wall.data.vertices[0], "co", (9.0, 0.0, 0.0)),
    "thicker": lambda wall, body: setattr(wall.collision, "thickness_outer", 0.1),
    "rougher": lambda wall, body: setattr(wall.collision, "cloth_friction", 20.0),
    "switched off": lambda wall, body: setattr(wall.collision, "use", False),
    "keyed": lambda wall, body: wall.keyframe_insert("location", frame=2),
    "deformed": lambda wall, body: wall.modifiers.new("Wave", "WAVE"),
    "another": lambda wall, body: add("Another"),
    "not now": lambda wall, body: body.__setitem__(COLLIDE, 0.0),
}


@pytest.mark.parametrize("change", STALE)
def test_a_bake_is_stale_when_what_it_collides_with_has_changed(body: Any, change: str) -> None:
    wall, scene, settings = add("Wall"), bpy.context.scene, Settings(collide=True)
    before = marks.marks_of(body, scene, METHOD, settings)
    assert marks.changed(METHOD, before, marks.marks_of(body, scene, METHOD, settings)) == []
    STALE[change](wall, body)
    bpy.context.view_layer.update()
    now = marks.marks_of(body, scene, METHOD, settings)
    assert marks.changed(METHOD, before, now) == ["What it collides with has moved or changed"]
    alone = Settings()
    assert marks.changed(METHOD, before, marks.marks_of(body, scene, METHOD, alone)) != []


def test_painting_friction_makes_a_bake_stale_and_only_then(body: Any) -> None:
    scene, settings = bpy.context.scene, Settings(collide=True, friction_group="Sticky")
    add_weights(body, "Sticky", np.ones(len(body.data.vertices)))
    before = marks.marks_of(body, scene, METHOD, settings)
    body.vertex_groups["Sticky"].add([0], 0.5, "REPLACE")
    told = marks.changed(METHOD, before, marks.marks_of(body, scene, METHOD, settings))
    assert told == ["The weights of friction, thickness or ignored groups have changed"]


def test_what_moves_elsewhere_does_not_matter_to_one_that_does_not_collide(body: Any) -> None:
    wall, scene = add("Wall"), bpy.context.scene
    before = marks.marks_of(body, scene, METHOD, Settings())
    wall.location.z = 3.0
    bpy.context.view_layer.update()
    assert marks.changed(METHOD, before, marks.marks_of(body, scene, METHOD, Settings())) == []
    assert "colliders" not in before
