"""Edit Motion in Blender without a window: pulled, shown, applied, undone, saved and reopened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import scenes
from fake_layout import draw
from inside import load, save, shown_at
from panel_use import FRAMES, item, state_now
from sinew.scene import playback, setup
from sinew.ui.edit import panel, stored
from sinew.ui.setup import live, properties, state
from test_ui_after import arm, entry, frames, show_live

__all__ = ["arm"]

AT = 6


def tip_of(ob: Any) -> int:
    return int(np.argmax(shown_at(ob, 1)[:, 2]))


def world(ob: Any, positions: Any) -> Any:
    matrix = np.array(ob.matrix_world)
    return positions @ matrix[:3, :3].T + matrix[:3, 3]


def pull(ob: Any, *offset: float, frame: int = AT, vertex: int | None = None) -> Any:
    return bpy.ops.sinew.pull(vertex=tip_of(ob) if vertex is None else vertex, frame=frame, offset=offset)


def test_a_pull_shows_at_once_and_apply_puts_it_on_all_frames(arm: Any) -> None:
    before, old, tip = frames(arm), entry().bake, tip_of(arm)
    assert pull(arm, 0.0, 0.05, 0.0) == {"FINISHED"}
    bpy.context.scene.frame_set(AT)
    show_live()
    shown = world(arm, shown_at(arm, AT))
    assert np.linalg.norm(shown[tip] - world(arm, before[AT - 1])[tip] - [0.0, 0.05, 0.0]) < 1e-3
    beside = shown_at(arm, AT + 1)
    assert np.abs(beside - before[AT]).max() > 0.005, "frames are computed as they are shown"
    assert entry().bake == old and "nothing simulated" in state_now().text
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    assert state_now().kind == state.BAKED and entry().bake != old
    assert np.array_equal(shown_at(arm, AT + 1), beside), "what was shown is what is applied"
    bpy.ops.sinew.clear_edits()
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    assert np.array_equal(frames(arm), before)


def test_each_pull_is_one_step_of_undo(arm: Any) -> None:
    before = frames(arm)
    bpy.ops.ed.undo_push(message="before")
    for frame, by in ((4, 0.03), (8, -0.03)):
        pull(arm, 0.0, by, 0.0, frame=frame)
        bpy.ops.ed.undo_push(message="pulled")
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="applied")
    applied = frames(bpy.data.objects["Arm"])
    for left in (2, 1, 0):
        bpy.ops.ed.undo()
        assert len(stored.edits_of(item()).handles) == left == len(item().handles)
    arm = bpy.data.objects["Arm"]
    assert np.array_equal(frames(arm), before)
    for _ in range(3):
        bpy.ops.ed.redo()
    assert np.array_equal(frames(bpy.data.objects["Arm"]), applied)


def test_what_is_applied_is_saved_and_what_is_not_waits_in_the_setup(arm: Any, tmp_path: Path) -> None:
    tip = tip_of(arm)
    pull(arm, 0.0, 0.05, 0.0, vertex=tip)
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    applied = frames(arm)
    pull(arm, 0.03, 0.0, 0.0, frame=9, vertex=tip)
    show_live()
    assert "live" in str(playback.cache_path(arm))
    save(tmp_path / "arm.blend")
    load(tmp_path / "arm.blend")
    properties.refresh()
    arm = bpy.data.objects["Arm"]
    bpy.context.view_layer.objects.active = arm
    assert np.array_equal(frames(arm), applied)
    assert len(item().handles) == 2 and stored.is_pending(item())
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    assert not np.array_equal(frames(arm), applied)
    # A new bake of other flesh plays them too.
    item().jiggle = 4.0
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert state_now().kind == state.BAKED and not stored.is_pending(item())


def test_another_version_of_the_file_is_edited_on_the_bake_that_it_plays(
    arm: Any, tmp_path: Path, capfd: Any
) -> None:
    before, old, tip = frames(arm), entry().bake, tip_of(arm)
    save(tmp_path / "arm_v02.blend")
    assert state_now().kind == state.BAKED
    assert pull(arm, 0.0, 0.05, 0.0) == {"FINISHED"}
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    assert state_now().kind == state.BAKED and entry().bake != old
    moved = world(arm, frames(arm)[AT - 1])[tip] - world(arm, before[AT - 1])[tip]
    assert np.linalg.norm(moved - [0.0, 0.05, 0.0]) < 1e-3
    save(tmp_path / "arm_v02.blend")
    load(tmp_path / "arm.blend")
    assert entry().bake == old and np.array_equal(frames(bpy.context.object), before), "the older one is as it was"
    save(tmp_path / "arm.blend")
    load(tmp_path / "arm_v02.blend")
    assert state_now().kind == state.BAKED and playback.cache_path(bpy.context.object).is_file()
    # In another folder it is told why not.
    (tmp_path / "other").mkdir()
    save(tmp_path / "other" / "arm.blend")
    state.forget()
    with pytest.raises(RuntimeError, match="lies in another folder"):
        bpy.ops.sinew.apply_edits()
    capfd.readouterr()
    bpy.ops.sinew.edit_motion()
    pull(bpy.context.object, 0.0, 0.06, 0.0)
    assert capfd.readouterr().out.count("lies in another folder") == 2


def test_the_list_mutes_scales_holds_and_removes(arm: Any) -> None:
    before, tip = frames(arm), tip_of(arm)
    pull(arm, 0.0, 0.05, 0.0)
    row = item().handles[0]
    assert (row.frame, row.influence, row.mute, row.label) == (AT, 1.0, False, f"Vertex {tip}")
    row.label = "Wave"
    assert stored.edits_of(item()).handles[0].name == "Wave" == row.label
    row.label = f"Vertex {tip}"
    assert stored.edits_of(item()).handles[0].name == ""

    def moved(frame: int = AT) -> Any:
        bpy.context.scene.frame_set(frame)
        show_live()
        return world(arm, shown_at(arm, frame))[tip] - world(arm, before[frame - 1])[tip]

    row.influence = 0.5
    assert np.linalg.norm(moved() - [0.0, 0.025, 0.0]) < 5e-4
    row.mute = True
    assert not moved().any()
    row.mute, row.influence, row.until = False, 1.0, AT + 3
    for frame in (AT, AT + 1, AT + 3):
        assert np.linalg.norm(moved(frame) - [0.0, 0.05, 0.0]) < 2e-3
    row.until = AT
    showing = moved()
    for axes in ("body", "place", "world"):
        row.axes = axes
        assert stored.edits_of(item()).handles[0].axes == axes
        assert np.linalg.norm(moved() - showing) < 1e-4, axes
    item().edit_use_range = True
    item().edit_begin, item().edit_end = 3.0, 11.0
    assert not moved(2).any() and moved(5).any()
    assert bpy.ops.sinew.remove_handle() == {"FINISHED"}
    assert not moved().any() and len(item().handles) == 0


def test_selected_vertices_are_pulled_by_their_mean(arm: Any) -> None:
    select = np.zeros(len(arm.data.vertices), bool)
    arm.data.vertices.foreach_set("select", select)
    with pytest.raises(RuntimeError, match="0 vertices are selected"):
        bpy.ops.sinew.add_handle()
    rest = np.array([vertex.co for vertex in arm.data.vertices])
    chosen = np.argsort(np.linalg.norm(rest - rest[tip_of(arm)], axis=1))[:5]
    select[chosen] = True
    arm.data.vertices.foreach_set("select", select)
    bpy.context.scene.frame_set(AT)
    before = world(arm, shown_at(arm, AT))[chosen].mean(axis=0)
    assert bpy.ops.sinew.add_handle() == {"FINISHED"}
    (handle,) = stored.edits_of(item()).handles
    assert set(handle.vertices) == set(chosen) and handle.frame == AT and not any(handle.by)
    assert stored.edits_of(item()).mesh, "they are numbers of this mesh"
    item().handles[0].by = (0.0, 0.05, 0.0)
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    moved = world(arm, shown_at(arm, AT))[chosen].mean(axis=0) - before
    assert np.linalg.norm(moved - [0.0, 0.05, 0.0]) < 1e-3
    # Put again by its number, as by the drag or in the redo panel, it keeps what was said of it.
    item().handles[0].until, item().handles[0].influence = AT + 2, 0.5
    first = handle.vertices[0]
    assert bpy.ops.sinew.pull(number=0, vertex=first, frame=AT, offset=(0.0, 0.1, 0.0)) == {"FINISHED"}
    (again,) = stored.edits_of(item()).handles
    assert (again.vertices, again.until, again.influence) == (handle.vertices, AT + 2, 0.5)
    assert again.by == pytest.approx((0.0, 0.1, 0.0))


def test_bake_in_keeps_the_motion_and_the_next_handle_pulls_it_further(arm: Any) -> None:
    tip = tip_of(arm)
    pull(arm, 0.0, 0.05, 0.0)
    bpy.ops.sinew.apply_edits()
    once = frames(arm)
    assert bpy.ops.sinew.bake_in_edits() == {"FINISHED"}
    assert len(item().handles) == 0
    bpy.ops.sinew.apply_edits()
    assert np.array_equal(frames(arm), once)
    pull(arm, 0.03, 0.0, 0.0, vertex=tip)
    bpy.ops.sinew.apply_edits()
    further = world(arm, frames(arm)[AT - 1])[tip] - world(arm, once[AT - 1])[tip]
    assert np.linalg.norm(further - [0.03, 0.0, 0.0]) < 1e-3


def test_what_cannot_be_pulled_is_told_in_the_panel_with_a_way_out(arm: Any) -> None:
    group = arm.vertex_groups["Sinew Follow"]
    root = next(v.index for v in arm.data.vertices if group.weight(v.index) == 1.0)
    pull(arm, 0.1, 0.0, 0.0, vertex=root)
    bpy.context.scene.frame_set(AT)
    show_live()
    shown = draw(panel.SINEW_PT_edit)
    assert any("follows the animation" in text for text in shown.labels)
    before = shown_at(arm, AT)
    item().edit_free = True
    show_live()
    assert np.abs(shown_at(arm, AT) - before).max() > 0.02
    assert not any("follows the animation" in text for text in draw(panel.SINEW_PT_edit).labels)
    item().edit_use_range, item().edit_end = True, 4.0  # the handle would lie outside: told, and nothing changes
    assert stored.edits_of(item()).range is None or stored.edits_of(item()).range[1] > AT


def test_a_target_leads_a_handle_that_holds(arm: Any) -> None:
    tip = tip_of(arm)
    start = world(arm, shown_at(arm, AT))[tip]
    target = bpy.data.objects.new("Target", None)
    bpy.context.scene.collection.objects.link(target)
    for frame, x in ((AT, 0.03), (AT + 3, 0.06)):
        target.location = start + [x, 0.0, 0.0]
        target.keyframe_insert("location", frame=frame)
    pull(arm, 0.0, 0.05, 0.0)
    item().handles[0].until = AT + 3
    target.select_set(True)
    arm.select_set(True)
    bpy.context.view_layer.objects.active = arm
    assert bpy.ops.sinew.target_handle() == {"FINISHED"}
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    for frame in (AT, AT + 2, AT + 3):
        place = world(arm, shown_at(arm, frame))[tip]
        assert np.linalg.norm(place - np.array(target.matrix_world.translation)) < 3e-3


def test_any_animated_mesh_is_fitted_and_pulled_and_a_still_one_moves_from_nothing(
    registered: None, tmp_path: Path
) -> None:
    scenes.reset_scene()
    scenes.build_two_bone_arm(frames=FRAMES)
    ob = bpy.data.objects["Arm"]
    bpy.context.view_layer.objects.active = ob
    given = frames(ob)
    for modifier in list(ob.modifiers):
        if modifier.type == "ARMATURE":
            still = modifier
    save(tmp_path / "plain.blend")
    assert bpy.ops.sinew.edit_motion() == {"FINISHED"}
    assert np.abs(frames(ob) - given).max() < 1e-5, "nothing is simulated"
    assert not item().edit_free, "what follows bones stays, or a pull would carry off the whole body"
    tip = int(np.argmax(given[0][:, 0]))
    assert pull(ob, 0.0, 0.2, 0.0, vertex=tip) == {"FINISHED"}
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    assert np.linalg.norm(world(ob, frames(ob)[AT - 1])[tip] - world(ob, given[AT - 1])[tip] - [0, 0.2, 0]) < 1e-3
    bpy.ops.sinew.remove()
    ob.modifiers.remove(still)
    assert np.ptp(frames(ob), axis=0).max() == 0.0
    assert bpy.ops.sinew.edit_motion() == {"FINISHED"}
    assert item().edit_free
    item().edit_use_range = True
    pull(ob, 0.0, 0.3, 0.0, vertex=tip)
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    made = frames(ob)
    way = np.linalg.norm(made - made[0], axis=2)[:, tip]
    assert way[AT - 1] == pytest.approx(0.3, abs=1e-3) and way[0] == way[FRAMES - 1] == 0.0
    assert 0.02 < way[AT - 3] < way[AT - 2] < 0.3 > way[AT] > 0.02, "it goes there and comes back"


def test_handles_of_another_mesh_do_not_act(arm: Any) -> None:
    pull(arm, 0.0, 0.05, 0.0)
    bpy.ops.sinew.apply_edits()
    assert stored.edits_of(item()).mesh
    mesh = arm.data
    mesh.vertices.add(1)
    mesh.vertices[-1].co = mesh.vertices[0].co
    mesh.edges.add(1)
    mesh.edges[-1].vertices = (0, len(mesh.vertices) - 1)
    mesh.update()
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert len(stored.edits_of(item()).handles) == 1


def test_the_panel_draws_with_and_without_handles(arm: Any) -> None:
    assert "sinew.edit_motion" in draw(panel.SINEW_PT_edit).operators
    pull(arm, 0.0, 0.05, 0.0)
    shown = draw(panel.SINEW_PT_edit)
    assert {"sinew.apply_edits", "sinew.bake_in_edits", "sinew.clear_edits"} <= set(shown.operators)
    assert {"by", "radius", "until"} <= set(shown.properties)
    live.end()
    assert setup.find_of(arm, bpy.context.scene) is not None


@pytest.mark.once
def test_nothing_runs_while_nothing_is_edited(arm: Any) -> None:
    live.end()
    assert live.session.live is None
    bpy.context.scene.frame_set(3)
    assert live.session.live is None and "live" not in str(playback.cache_path(arm))


def test_contacts_are_kept_by_a_choice_in_the_panel(arm: Any) -> None:
    before = np.array([world(arm, one) for one in frames(arm)])
    floor = float(before[..., 2].min())
    pull(arm, 0.0, 0.0, -0.6)
    assert item().edit_contacts == "off" and not item().edit_use_floor
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    sunk = floor - min(world(arm, one)[:, 2].min() for one in frames(arm))
    assert sunk > 0.02
    item().edit_contacts = "above"
    assert "turn Collide on" in " ".join(draw(panel.SINEW_PT_edit).labels)
    assert item().edit_use_floor and item().edit_floor == 0.0
    item().edit_floor = floor
    show_live()
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    assert floor - min(world(arm, one)[:, 2].min() for one in frames(arm)) < 0.3 * sunk
    item().edit_contacts = "off"
    assert item().edit_floor == pytest.approx(floor, abs=1e-6), "the floor stays for the next time"


def build_flag() -> Any:
    """A still sheet, 8 by 6 squares."""
    scenes.reset_scene()
    scenes.set_frames(1, FRAMES)
    vertices = np.array([(x / 4.0, 0.0, z / 4.0) for x in range(9) for z in range(7)])
    faces = np.array([(7 * x + z, 7 * x + 7 + z, 7 * x + 8 + z, 7 * x + 1 + z) for x in range(8) for z in range(6)])
    return scenes.add_mesh("Flag", vertices, faces)


def test_a_sheet_is_pulled_by_its_own_faces(registered: None, tmp_path: Path) -> None:
    ob = build_flag()
    bpy.context.view_layer.objects.active = ob
    save(tmp_path / "flag.blend")
    assert bpy.ops.sinew.edit_motion() == {"FINISHED"}
    assert entry().method == "tracks" and item().edit_free
    given, corner = frames(ob), len(ob.data.vertices) - 1
    assert pull(ob, 0.1, -0.4, 0.0, vertex=corner) == {"FINISHED"}
    item().edit_use_range = True
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    moved = frames(ob) - given
    assert np.linalg.norm(moved[AT - 1, corner] - [0.1, -0.4, 0.0]) < 1e-4
    assert not moved[0].any() and 0.05 < np.linalg.norm(moved[AT, corner]) < 0.41
    assert "sinew.apply_edits" in draw(panel.SINEW_PT_edit).operators
    bpy.ops.sinew.clear_edits()
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    assert np.array_equal(frames(ob), given)
