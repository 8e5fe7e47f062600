"""The estimate of the panel, on example models and on what modifiers make of a mesh."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import assets
import bpy
import numpy as np
import pytest
import scenes
from inside import save
from mathutils import Matrix
from sinew.core.cage.cage import build_cage
from sinew.core.flesh import estimate
from sinew.scene import shape
from sinew.setups.flesh.body import look_at
from sinew.ui.background import results
from sinew.ui.enrich import forecast
from sinew.ui.setup import properties, state
from yardstick import tenth_of_a_second


def add_setup(ob: Any) -> Any:
    bpy.context.view_layer.objects.active = ob
    bpy.ops.sinew.add()
    return properties.find(bpy.context.scene, ob)


def lines_now(item: Any) -> list[str]:
    for _ in range(2):  # first how the cage grows, then its tets
        forecast.lines_of(item)
        results.wait()
    return forecast.lines_of(item)


@pytest.mark.once
@pytest.mark.skipif(not assets.available(), reason="the example models are not at hand")
@pytest.mark.parametrize("key", ["trex", "cow", "slime", "snake", "fox", "cesium_man", "jumping_man"])
def test_tets_of_the_example_models_are_foretold_within_15_percent(key: str) -> None:
    ob = assets.load(assets.find(key))
    growth = estimate.measure(*shape.undeformed(ob).build())
    rest = look_at(ob.name, {}).rest
    for resolution in (0, 16, 24, 48):
        real = len(build_cage(rest.positions, rest.triangles, resolution).tets)
        told = growth.tets(resolution) if resolution == 48 else growth.count(resolution)
        assert told == pytest.approx(real, rel=0.15), resolution


def test_the_line_is_live_and_says_frames(registered: None) -> None:
    scenes.reset_scene()
    item = add_setup(scenes.build_two_bone_arm(frames=20))
    first, second = lines_now(item)
    rest = look_at("Arm", {}).rest
    assert first == f"Up to {len(build_cage(rest.positions, rest.triangles).tets):,} tets"
    assert second.startswith("About") and second.endswith("for 20 frames")
    before = forecast.growth_of(item)
    item.resolution = 40
    assert lines_now(item)[0] != first
    assert forecast.growth_of(item) is before  # the mesh is measured once
    bpy.context.scene.frame_end = 144
    assert lines_now(item)[1].endswith("for 144 frames")


@pytest.mark.once
def test_a_bake_corrects_the_seconds(registered: None, tmp_path: Path) -> None:
    scenes.reset_scene()
    item = add_setup(scenes.build_two_bone_arm(frames=20))
    save(tmp_path / "arm.blend")
    item.resolution = 12
    bpy.ops.sinew.bake()
    lines_now(item)
    baked = state.bake_of(item)
    assert baked is not None
    manifest = baked[1]
    speed, settings = forecast._speed_of(item), properties.settings_of(item)
    told = speed.seconds(manifest.counts["tets"], manifest.vertices, 20, settings, 24.0)
    assert told == pytest.approx(manifest.report["seconds"]["total"], rel=0.2)


def test_mirrored_and_subdivided_meshes_are_measured_whole(registered: None) -> None:
    scenes.reset_scene()
    ob = scenes.build_block(frames=4)
    ob.data.transform(Matrix.Translation((0.5, 0.0, 0.0)))
    ob.scale = (2.0, 2.0, 2.0)
    bpy.context.view_layer.update()
    alone, _ = shape.undeformed(ob).build()
    ob.modifiers.new("Mirror", "MIRROR").use_axis = (True, False, False)
    bpy.context.view_layer.update()
    assert len(shape.undeformed(ob).build()[0]) == len(alone)  # it comes after the bake, as nothing deforms
    ob.modifiers.new("Subdivision", "SUBSURF").levels = 0
    ob.modifiers.new("Smooth", "SMOOTH").factor = 0.0
    bpy.context.view_layer.update()
    both, triangles = shape.undeformed(ob).build()
    assert np.ptp(both[:, 0]) == pytest.approx(2 * np.ptp(alone[:, 0])) and triangles.max() == len(both) - 1
    ob.modifiers.remove(ob.modifiers["Subdivision"])
    expected = look_at(ob.name, {}).rest.positions
    assert np.allclose((both.min(axis=0), both.max(axis=0)), (expected.min(axis=0), expected.max(axis=0)), atol=1e-5)
    array = ob.modifiers.new("Array", "ARRAY")
    array.count = 3
    ob.modifiers.new("Smooth again", "SMOOTH").factor = 0.0
    bpy.context.view_layer.update()
    assert np.ptp(shape.undeformed(ob).build()[0][:, 0]) > 1.5 * np.ptp(both[:, 0])


@pytest.mark.once
def test_a_redraw_never_waits_for_a_large_mesh(registered: None) -> None:
    scenes.reset_scene()
    item = add_setup(scenes.build_ball(divisions=130))  # 101,402 vertices
    assert len(item.object.data.vertices) > 100_000
    longest = 0.0
    for _ in range(20):
        begin = time.thread_time()
        forecast.lines_of(item)
        longest = max(longest, time.thread_time() - begin)
        time.sleep(0.05)
    results.wait()
    assert longest < tenth_of_a_second()
