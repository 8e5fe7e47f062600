"""Build Cage, and what the overlay would draw: against the cage itself and the frames of a bake."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import sinew
from inside import load, save
from panel_use import FRAMES, item, sampled_work, wait_for
from sinew.core.bake.store import Store
from sinew.core.cage.gmsh import process
from sinew.core.flesh.report import UNSEPARATED
from sinew.scene import setup
from sinew.ui import job_operator
from sinew.ui.background import results
from sinew.ui.enrich import cage, overlay, view, weights
from sinew.ui.flesh import colored
from sinew.ui.setup import properties, state


@pytest.fixture
def arm(arm: Any) -> Any:
    item().resolution = 8
    return arm


def state_now() -> state.State:
    state.forget()
    cage._shapes.clear()
    return cage.state_of(item())


def wire_now() -> overlay.Wire | None:
    scene = bpy.context.scene
    overlay.wire_of(item(), scene.frame_current)
    results.wait()
    return overlay.wire_of(item(), scene.frame_current)


def contents(ob: Any) -> tuple[Any, ...]:
    names = [modifier.name for modifier in ob.modifiers], list(ob.vertex_groups.keys())
    return len(bpy.data.objects), len(bpy.data.meshes), *names


def stored(tmp_path: Path) -> Store:
    entry = setup.find("Arm")
    assert entry is not None
    return Store.open(tmp_path / "sinew", entry.bake)


def test_a_cage_is_built_and_shown_and_the_scene_stays(arm: Any) -> None:
    scene = bpy.context.scene
    scene.frame_set(4)
    before = contents(arm)
    assert bpy.ops.sinew.build_cage() == {"FINISHED"}
    assert contents(arm) == before and scene.frame_current == 4
    built = cage.find(item())
    assert built is not None and item().show_cage and item().cage_shape == view.REST
    now = state_now()
    assert now.kind == cage.CAGE and f"{len(built.view.tets):,} tets" in now.text
    assert 5.0 < built.min_dihedral < 70.0 and 0.0 < built.view.followed < 1.0


def test_the_cage_of_the_look_is_that_of_the_bake(arm: Any, tmp_path: Path) -> None:
    bpy.ops.sinew.build_cage()
    built = cage.find(item())
    bpy.ops.sinew.bake()
    assert built is not None
    with stored(tmp_path) as store:
        assert np.array_equal(built.view.tets, store.constant("cage_tets"))
        assert np.abs(built.view.vertices - store.constant("cage_vertices")).max() < 1e-6


@pytest.mark.once
def test_gmsh_fills_the_cage_and_a_failure_is_told(arm: Any, tmp_path: Path, monkeypatch: Any) -> None:
    bpy.ops.sinew.build_cage()
    lattice = cage.find(item())
    item().mesher = "gmsh"
    assert state_now().kind == state.STALE and "Mesher" in state_now().text
    bpy.ops.sinew.build_cage()
    built = cage.find(item())
    assert lattice is not None and built is not None and built.note == ""
    assert len(built.view.tets) < len(lattice.view.tets)
    assert state_now().kind == cage.CAGE
    assert cage.describe(built)[-1] == UNSEPARATED
    bpy.ops.sinew.bake()
    with stored(tmp_path) as store:
        assert UNSEPARATED in store.manifest.report["warnings"]
    bpy.ops.sinew.delete_bake()
    shutil.rmtree(tmp_path / "sinew")
    monkeypatch.setattr(process, "LIBRARY", tmp_path / "missing.so")
    bpy.ops.sinew.build_cage()
    built = cage.find(item())
    assert built is not None and "Gmsh is not in this package" in built.note
    assert cage.describe(built)[-1] == built.note
    assert job_operator.running.message == built.note
    assert len(built.view.tets) == len(lattice.view.tets)
    bpy.ops.sinew.bake()
    with stored(tmp_path) as store:
        warnings = store.manifest.report["warnings"]
        assert built.note in warnings and UNSEPARATED not in warnings


def test_without_a_python_blender_itself_runs_gmsh(arm: Any, monkeypatch: Any) -> None:
    if not bpy.app.binary_path:
        pytest.skip("Blender is a module of a Python here")
    monkeypatch.setattr(sys, "executable", None)
    item().mesher = "gmsh"
    bpy.ops.sinew.build_cage()
    built = cage.find(item())
    assert built is not None and built.note == ""


def test_a_pose_without_keys_stays(arm: Any) -> None:
    bone = next(m.object for m in arm.modifiers if m.type == "ARMATURE").pose.bones["upper"]
    bone.rotation_quaternion = (0.5, 0.5, 0.5, 0.5)
    bpy.ops.sinew.build_cage()
    weights.refresh(item())
    assert tuple(bone.rotation_quaternion) == (0.5, 0.5, 0.5, 0.5)


def test_a_cage_gets_stale_with_its_reason(arm: Any) -> None:
    bpy.ops.sinew.build_cage()
    item().jiggle = 5.0  # no matter for a cage
    assert state_now().kind == cage.CAGE
    item().resolution = 9
    assert state_now().kind == state.STALE and "Resolution" in state_now().text
    item().resolution = 8
    assert state_now().kind == cage.CAGE
    arm.data.vertices[0].co.x -= 0.05
    assert state_now().kind == state.STALE and "mesh" in state_now().text
    bpy.ops.sinew.build_cage()
    assert state_now().kind == cage.CAGE


def test_errors_are_sentences(arm: Any) -> None:
    arm.data.vertices[3].co.x = float("nan")
    with pytest.raises(RuntimeError, match="Vertex 3"):
        bpy.ops.sinew.build_cage()
    assert cage.find(item()) is None and not job_operator.is_running()


def test_every_grey_button_says_why(arm: Any) -> None:
    bpy.ops.object.mode_set(mode="EDIT")
    assert not bpy.ops.sinew.build_cage.poll()
    with pytest.raises(RuntimeError, match="Leave edit mode"):
        bpy.ops.sinew.build_cage()
    bpy.ops.object.mode_set(mode="OBJECT")


def test_the_rest_cage_surrounds_the_mesh_and_goes_with_the_object(arm: Any) -> None:
    bpy.context.scene.unit_settings.scale_length = 0.01
    bpy.ops.sinew.build_cage()
    rest = np.array([v.co for v in arm.data.vertices])
    wire = wire_now()
    assert wire is not None
    assert (wire.positions.min(axis=0) < rest.min(axis=0)).all()
    assert (wire.positions.max(axis=0) > rest.max(axis=0)).all()
    assert wire.positions.max() < 2.0
    arm.parent.location.z += 3.0
    bpy.context.view_layer.update()
    moved = wire_now()
    assert moved is not None and np.allclose(moved.positions, wire.positions + (0, 0, 3), atol=1e-5)


def test_fitted_and_simulated_are_those_of_the_frame(arm: Any, tmp_path: Path) -> None:
    scene = bpy.context.scene
    scene.unit_settings.scale_length = 0.5
    item().use_frame_start, item().frame_start = True, 3
    bpy.ops.sinew.bake()
    item().show_cage = True
    with stored(tmp_path) as store:
        for frame, index in ((3, 0), (7, 4), (FRAMES, FRAMES - 3), (1, 0), (99, FRAMES - 3)):
            scene.frame_set(frame)
            for shape in (view.FITTED, view.SIMULATED):
                item().cage_shape = shape
                wire = wire_now()
                assert wire is not None
                expected = store.read(shape.lower(), index) / 0.5
                assert np.abs(wire.positions - expected).max() < 1e-5
        assert wire is not None and wire.edges.max() < len(wire.positions)
        assert wire_now() is wire  # no new batch without a reason
        item().show_inside = True
        inside = wire_now()
        assert inside is not None and len(inside.edges) > len(wire.edges)


def test_a_lost_bake_draws_nothing(arm: Any, tmp_path: Path) -> None:
    bpy.ops.sinew.bake()
    item().show_cage = True
    assert wire_now() is not None
    (tmp_path / "sinew").rename(tmp_path / "elsewhere")
    bpy.context.scene.frame_set(5)
    overlay.forget()
    results.forget()
    state.forget()
    assert wire_now() is None


def test_frames_show_while_the_bake_goes_on(arm: Any, unhurried: None) -> None:
    item().resolution = 20
    bpy.context.scene.frame_end = 60
    work = sampled_work()
    job = work.job
    assert job is not None
    wait_for(lambda: job.ready[0] is not None and job.progress[1] >= 3)
    job_operator.watch()
    assert job_operator.is_running("Arm")
    bpy.context.scene.frame_set(2)
    item().show_cage, item().cage_shape = True, view.SIMULATED
    wire = wire_now()
    assert not work.job.ended
    assert wire is not None, (state.bake_of(item()), results.error("Reading the cage", view.key_of(item())))
    assert np.isfinite(wire.positions).all() and wire.positions.any()
    bpy.context.scene.frame_set(60)
    last = wire_now()
    assert work.job.progress[1] < 60 and last is None  # it is not there yet
    job_operator.stop("Stopped.")


def test_a_renamed_object_keeps_its_cage(arm: Any) -> None:
    bpy.ops.sinew.build_cage()
    arm.name = "Limb"
    assert cage.find(item()) is not None and item().show_cage and wire_now() is not None


def test_the_switches_are_of_the_session(arm: Any, tmp_path: Path) -> None:
    bpy.ops.sinew.build_cage()
    save(tmp_path / "again.blend")
    assert view.is_anything_shown()
    load(tmp_path / "again.blend")
    assert not view.is_anything_shown() and not bpy.context.scene.sinew.setups[0].show_cage
    assert cage.find(bpy.context.scene.sinew.setups[0]) is None


def test_nothing_is_left_when_the_object_or_the_addon_goes(arm: Any) -> None:
    bpy.ops.sinew.build_cage()
    bpy.data.objects.remove(arm)
    properties.refresh()
    assert len(bpy.context.scene.sinew.setups) == 0
    sinew.unregister()
    assert not overlay._drawings.handles and not view.is_anything_shown()
    sinew.register()


def test_the_preview_shows_the_weights_of_a_bake_and_makes_no_group(arm: Any, tmp_path: Path) -> None:
    item().show_weights = True
    weights.refresh(item())
    results.wait()
    follow = results.last(weights._WHAT, view.key_of(item()))
    surface = weights.surface_of(item(), bpy.context.evaluated_depsgraph_get())
    assert "Sinew Follow" not in arm.vertex_groups
    assert surface is not None and len(surface.colors) == len(arm.data.vertices)
    bpy.ops.sinew.bake()
    with stored(tmp_path) as store:
        assert np.abs(follow - store.constant("follow")).max() < 1e-6
    # Exactly followed is red, free is blue.
    assert (surface.colors[follow >= 1.0, :3] == (1, 0, 0)).all()
    assert surface.colors[follow.argmin(), 2] > surface.colors[follow.argmin(), 0]


def test_the_preview_follows_the_group_and_the_frame(arm: Any) -> None:
    group = arm.vertex_groups.new(name="mine")
    group.add(range(len(arm.data.vertices)), 0.5, "REPLACE")
    item().follow_group = "mine"
    bpy.context.scene.frame_set(1)
    weights.refresh(item())
    results.wait()
    depsgraph = bpy.context.evaluated_depsgraph_get()
    first = weights.surface_of(item(), depsgraph)
    assert first is not None and np.allclose(first.colors[:, :3], (0, 1, 0))
    assert weights.surface_of(item(), depsgraph) is first
    bpy.context.scene.frame_set(FRAMES)
    second = weights.surface_of(item(), bpy.context.evaluated_depsgraph_get())
    assert second is not None and second.key != first.key and not np.array_equal(first.positions, second.positions)
    group.add([0], 1.0, "REPLACE")
    weights.refresh(item())
    results.wait()
    third = weights.surface_of(item(), bpy.context.evaluated_depsgraph_get())
    assert third is not None and tuple(third.colors[0, :3]) == (1, 0, 0)


def test_the_preview_reaches_what_a_subdivision_adds(arm: Any) -> None:
    arm.modifiers.new("Subdivision", "SUBSURF").levels = 1
    weights.refresh(item())
    results.wait()
    surface = weights.surface_of(item(), bpy.context.evaluated_depsgraph_get())
    assert surface is not None and len(surface.positions) > len(arm.data.vertices)
    assert len(surface.colors) == len(surface.positions)
    assert not (surface.colors == np.float32(colored._UNKNOWN)).all(axis=1).any()


def test_a_cage_object_says_what_follows_inside(arm: Any, tmp_path: Path) -> None:
    assert not bpy.ops.sinew.make_cage_object.poll()
    bpy.ops.sinew.build_cage()
    built = cage.find(item())
    assert built is not None
    bpy.ops.sinew.make_cage_object()
    made = bpy.data.objects[item().cage_object]
    assert made.hide_render and len(made.data.vertices) == len(built.view.vertices)
    group = arm.vertex_groups.new(name="nothing")
    item().follow_group = group.name
    end = int(np.argmax(built.view.vertices[:, 0]))
    made.vertex_groups[0].add([0, end], 1.0, "REPLACE")
    bpy.ops.sinew.bake()
    with stored(tmp_path) as store:
        kept = [np.abs(store.read("simulated", 5) - store.read("fitted", 5))[place].max() for place in (0, end)]
        moved = np.abs(store.read("simulated", 5) - store.read("fitted", 5)).max()
    assert max(kept) < 1e-12 < 1e-5 < moved
    assert state_now().kind == state.BAKED
    made.vertex_groups[0].add([1], 0.5, "REPLACE")
    assert "painted region" in state_now().text
    made.vertex_groups.clear()
    with pytest.raises(RuntimeError, match="no vertex group"):
        bpy.ops.sinew.bake()
