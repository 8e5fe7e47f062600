"""Bakes of bodies that collide, through Blender and back: on the ground, on obstacles of any kind, with each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import scenes
from building import add_mesh, move_keys, set_frames
from inside import bake_here, baked_samples, save
from sinew import setups
from sinew.core.base.errors import BadInput, Cancelled
from sinew.scene import setup
from sinew.scene.steps import finished
from sinew.setups.worlds import worlds_in_steps

FALLING = {"free_body": True, "collide": True, "resolution": 4, "jiggle": 6.0, "substeps": 2}
RADIUS = 0.3
LET_GO = "was let through"


@pytest.fixture(autouse=True)
def empty_scene() -> None:
    scenes.reset_scene()
    set_frames(1, 10)


def add_ball(name: str = "Ball", place: tuple[float, float, float] = (0.0, 0.0, 0.5)) -> Any:
    vertices, faces = scenes.ball_mesh(RADIUS, 4)
    return add_mesh(name, vertices + place, faces)


def add_wall(mesh: Any = None, *, place: tuple[float, float, float] = (0.0, 0.0, -1.0), name: str = "Wall") -> Any:
    wall = add_mesh(name, *(mesh or scenes.box_mesh((2.0, 2.0, 1.0), 2)))
    wall.location = place
    wall.modifiers.new("Collision", "COLLISION")
    bpy.context.view_layer.update()
    wall.collision.thickness_outer = 0.001
    return wall


def bake(ob: Any, folder: Path, **values: Any) -> tuple[np.ndarray, Any]:
    """World positions on every frame, and the outcome."""
    outcome = bake_here(ob, folder, {**FALLING, **values})
    return baked_samples(outcome.folder), outcome


def check(folder: Path) -> list[str | None]:
    """What a check says of every setup."""
    blend = save(folder / "scene.blend")
    return [setups.check_object(entry, setups.Target(blend)) for entry in setups.setups()]


def is_dropped(frames: np.ndarray) -> bool:
    """As far as nothing but the air lets it fall."""
    return bool(frames[-1][:, 2].mean() < frames[0][:, 2].mean() - 0.6)


def test_a_ball_lands_on_the_ground_and_not_without_collisions(tmp_path: Path) -> None:
    ball = add_ball()
    frames, outcome = bake(ball, tmp_path, ground=True)
    assert frames[..., 2].min() > 0.0 and frames[-1][:, 2].mean() < 0.4
    told = outcome.report["contact"]
    assert told["touching_samples"] > 1 and told["intersections"]["samples"] == told["exempt"]["samples"] == 0
    through, outcome = bake(ball, tmp_path, collide=False)
    assert is_dropped(through) and outcome.report["contact"] is None


def test_ground_lies_where_it_is_said_in_scene_units(tmp_path: Path) -> None:
    bpy.context.scene.unit_settings.scale_length = 0.5
    frames, _ = bake(add_ball(place=(0.0, 0.0, 0.7)), tmp_path, ground=True, ground_height=0.2)
    assert 0.2 < frames[..., 2].min() < 0.25


def open_box() -> Any:
    vertices, faces = scenes.box_mesh((2.0, 2.0, 1.0), 2)
    return vertices, [face for face in faces if not all(vertices[v][2] == 0.0 for v in face)]


def inside_out() -> Any:
    vertices, faces = scenes.box_mesh((2.0, 2.0, 1.0), 2)
    return vertices, [tuple(reversed(face)) for face in faces]


def flat() -> Any:
    return np.array([(-1.0, -1.0, 1.0), (1.0, -1.0, 1.0), (1.0, 1.0, 1.0), (-1.0, 1.0, 1.0)]), [(0, 1, 2, 3)]


def squashed() -> Any:
    vertices, faces = scenes.box_mesh((2.0, 2.0, 1.0), 2)
    return vertices * (1.0, 1.0, 0.0) + (0.0, 0.0, 1.0), faces


def loose() -> Any:
    """Thousands of triangles that hang together nowhere, all over the floor."""
    rng = np.random.default_rng(2)
    centres = np.column_stack([rng.uniform(-1.0, 1.0, (3000, 2)), 0.97 + 0.03 * rng.random(3000)])
    points = centres[:, None] + 0.08 * rng.normal(size=(3000, 3, 3)) * (1.0, 1.0, 0.1)
    return points.reshape(-1, 3), np.arange(9000).reshape(-1, 3)


def stray() -> Any:
    """With a vertex that no face has."""
    vertices, faces = scenes.box_mesh((2.0, 2.0, 1.0), 2)
    return np.concatenate([vertices, [(0.0, 0.0, 1.2)]]), faces


@pytest.mark.parametrize("mesh", [None, open_box, inside_out, flat, squashed, stray, loose])
def test_a_ball_lands_on_any_mesh(tmp_path: Path, mesh: Any) -> None:
    add_wall(mesh() if mesh else None)
    frames, outcome = bake(add_ball(), tmp_path)
    assert not is_dropped(frames)
    assert np.isfinite(frames).all()
    if mesh is not loose:
        assert frames[..., 2].min() > 0.0 and outcome.report["contact"]["exempt"]["samples"] == 0


def test_a_moving_obstacle_takes_the_body_along_and_a_bake_with_another_is_not_good(tmp_path: Path) -> None:
    wall = add_wall(place=(0.0, 0.0, -0.85))
    move_keys(wall, {1: (0.0, 0.0, -0.85), 8: (0.0, 0.0, -0.35)})
    frames, outcome = bake(add_ball(place=(0.0, 0.0, 0.46)), tmp_path)
    assert frames[-1][:, 2].min() > 0.4 and outcome.report["contact"]["exempt"]["samples"] == 0
    blend = save(tmp_path / "scene.blend")
    (entry,) = setups.setups()
    assert setups.check_object(entry, setups.Target(blend)) is None
    move_keys(wall, {8: (0.0, 0.0, -0.3)})
    assert "changed at frame" in str(setups.check_object(entry, setups.Target(blend)))


def test_an_obstacle_that_deforms_is_met_where_it_is(tmp_path: Path) -> None:
    wall = add_wall()
    wall.shape_key_add(name="Basis")
    raised = wall.shape_key_add(name="Raised")
    for point in raised.data:
        point.co.z += 0.15
    for frame, value in {1: 0.0, 8: 1.0}.items():
        raised.value = value
        raised.keyframe_insert("value", frame=frame)
    frames, _ = bake(add_ball(), tmp_path)
    assert frames[-1][:, 2].min() > 0.15


def test_what_is_wrong_with_an_obstacle_is_a_sentence_and_nothing_was_made(tmp_path: Path) -> None:
    ball, wall = add_ball(), add_wall()
    wall.data.vertices[3].co = (float("nan"), 0.0, 0.0)
    wall.data.update()
    with pytest.raises(BadInput, match='Vertex 3 of "Wall" has no finite coordinates'):
        bake(ball, tmp_path)
    assert not len(ball.modifiers) and not list((tmp_path / "sinew").glob("*"))


def test_an_obstacle_whose_topology_changes_is_a_sentence_with_its_frame(tmp_path: Path) -> None:
    ball, wall = add_ball(), add_wall()
    array = wall.modifiers.new("Array", "ARRAY")
    for frame, count in {1: 1, 5: 2}.items():
        array.count = count
        array.keyframe_insert("count", frame=frame)
    with pytest.raises(BadInput, match='topology of the collider "Wall" changes at frame'):
        bake(ball, tmp_path)


def test_no_faces_the_body_itself_and_a_collection_that_holds_it_are_no_obstacles(tmp_path: Path) -> None:
    ball = add_ball()
    ball.modifiers.new("Collision", "COLLISION")
    wires = add_mesh("Wires", np.zeros((2, 3)), [])
    things = bpy.data.collections.new("Things")
    bpy.context.scene.collection.children.link(things)
    for ob in (ball, wires):
        things.objects.link(ob)
    frames, outcome = bake(ball, tmp_path, collision_collection="Things")
    assert is_dropped(frames)
    assert '"Wires" does not collide: it has no faces.' in outcome.report["warnings"]


def test_collide_that_is_keyed_off_lets_the_ball_through_from_then_on(tmp_path: Path) -> None:
    set_frames(1, 16)
    ball = add_ball()
    for frame, value in {1: 1.0, 9: 1.0, 10: 0.0}.items():
        ball["sinew_collide"] = value
        ball.keyframe_insert('["sinew_collide"]', frame=frame)
    frames, _ = bake(ball, tmp_path, ground=True)
    assert frames[:9, :, 2].min() > 0.0 > frames[-1][:, 2].min()
    assert check(tmp_path) == [None], "what is keyed off is no matter of a check"


def overlapping(folder: Path, **values: Any) -> tuple[np.ndarray, Any]:
    """A ball half in the wall from the start."""
    add_wall(place=(0.0, 0.0, -0.95))
    return bake(add_ball(place=(0.0, 0.0, 0.2)), folder, **values)


def test_what_overlaps_at_the_start_is_told_with_frame_and_vertices_and_no_error(tmp_path: Path) -> None:
    frames, outcome = overlapping(tmp_path)
    assert np.isfinite(frames).all()
    told = outcome.report["contact"]
    assert told["exempt"]["samples"] > 0 and told["vertices"]
    (note,) = [one for one in outcome.report["warnings"] if LET_GO in one]
    assert "frame" in note and f"near vertices {told['vertices'][0]}" in note


# ---- with each other ------------------------------------------------------------------------------------------------


def together(folder: Path, **values: Any) -> list[Any]:
    """Two balls that are thrown at each other, in the air; the second is a setup that is found by itself."""
    one, other = add_ball("One", (-0.5, 0.0, 0.5)), add_ball("Other", (0.5, 0.0, 0.5))
    bpy.context.scene.use_gravity = False
    thrown = {**FALLING, **values, "initial_velocity": (-4.0, 0.0, 0.0)}
    entry = setups.new_setup(other, bpy.context.scene)
    entry.settings = thrown
    setup.save_of(other, entry, bpy.context.scene)
    blend = save(folder / "scene.blend")
    mine = {**FALLING, **values, "initial_velocity": (4.0, 0.0, 0.0)}
    outcome = setups.bake_object(one.name, mine, setups.Target(blend))
    return [outcome, one, other, blend]


def test_bodies_that_touch_are_baked_by_one_job_and_bounce_off_each_other(tmp_path: Path) -> None:
    outcome, one, other, blend = together(tmp_path)
    assert outcome.report["together"] == ["Other"]
    entries = {entry.object_name: entry for entry in setups.setups()}
    frames = [baked_samples(tmp_path / "sinew" / entries[ob.name].bake) for ob in (one, other)]
    ends = [part[-1][:, 0].mean() for part in frames]
    assert ends[0] < 0.0 < ends[1], "they come back"
    assert ends[0] + ends[1] == pytest.approx(0.0, abs=1e-3), "and so does their momentum"
    widths = [np.ptp(part[:, :, 0], axis=1).min() for part in frames]
    assert max(widths) < 0.95 * 2 * RADIUS, "both give way"
    for entry in entries.values():
        assert setups.check_object(entry, setups.Target(blend)) is None


def test_a_check_tells_of_bodies_that_run_through_each_other_only_after_the_simulation(tmp_path: Path) -> None:
    together(tmp_path, amount=1.6)
    told = check(tmp_path)
    assert len(told) == 2
    for one in told:
        assert one is not None and "in which the animation does not" in one and "Amount does not see it" in one


def test_bodies_that_are_told_not_to_meet_do_not(tmp_path: Path) -> None:
    outcome, one, _, _ = together(tmp_path, body_collision=False)
    assert outcome.report["together"] == []
    assert baked_samples(outcome.folder)[-1][:, 0].mean() > 0.5


def test_a_company_goes_on_with_the_same_bits_after_it_was_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sinew.core.bake.company import Company

    for name in "ab":
        (tmp_path / name).mkdir()
    whole = together(tmp_path / "a")
    wanted = baked_samples(whole[0].folder)
    scenes.reset_scene()
    set_frames(1, 10)
    advance, left = Company._advance, [6]

    def stopped(company: Company) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt
        advance(company)

    with monkeypatch.context() as patched:
        patched.setattr(Company, "_advance", stopped)
        with pytest.raises(Cancelled, match="finished and kept"):
            together(tmp_path / "b")
    blend = tmp_path / "b" / "scene.blend"
    mine = {**FALLING, "initial_velocity": (4.0, 0.0, 0.0)}
    outcome = setups.bake_object("One", mine, setups.Target(blend))
    assert outcome.report["computed"] < 10
    assert np.array_equal(baked_samples(outcome.folder), wanted)


def worlds(**settings: dict[str, Any]) -> list[list[str]]:
    from sinew.core.bake.method import find

    method = find("")
    given = {name: (method, method.settings().replace(values)) for name, values in settings.items()}
    return [sorted(group) for group in finished(worlds_in_steps(given, bpy.context.scene))]


def test_who_touches_whom_is_told_by_the_boxes_of_their_animations() -> None:
    touching = {"collide": True}
    for name, x in {"A": 0.0, "B": 0.65, "C": 5.0}.items():
        add_ball(name, (x, 0.0, 0.5))
    passing = add_ball("D", (0.0, 0.0, 0.0))
    assert worlds(A=touching, B=touching, C=touching) == [["A", "B"], ["C"]]
    assert worlds(A=touching, B={}, C=touching) == [["A"], ["C"], ["B"]]
    move_keys(passing, {1: (5.0, 5.0, 0.5), 4: (5.0, 0.0, 0.5), 6: (5.0, -5.0, 0.5)})
    assert worlds(C=touching, D=touching) == [["C", "D"]]
    assert worlds(C=touching, D={**touching, "samples": 2}) == [["C"], ["D"]]
    assert worlds(A=touching, C={**touching, "free_body": True}) == [["A", "C"]]
