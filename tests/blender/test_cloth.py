"""Cloth in Blender: a skirt that a dancer wears, from Add to the modifier that plays it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import clothes
import numpy as np
import pytest
import scenes
import sinew
from fake_layout import draw
from inside import baked_samples, save, shown_at
from panel_use import activate, item
from sinew import setups
from sinew.core.geometry.crossings import find_crossings
from sinew.scene import passengers, setup
from sinew.setups.tracks.reading import PIN_GROUP

FRAMES = 6


@pytest.fixture
def skirt(tmp_path: Path) -> Iterator[Any]:
    sinew.register()
    scenes.reset_scene()
    _, skirt = clothes.build_dancer(FRAMES, rings=8, segments=16)
    save(tmp_path / "skirt.blend")
    activate("Skirt")
    yield skirt
    sinew.unregister()


def target() -> Any:
    return setups.Target(Path(bpy.data.filepath))


def weights(ob: Any, group: str) -> np.ndarray:
    found = np.zeros(len(ob.data.vertices))
    index = ob.vertex_groups[group].index
    for vertex in ob.data.vertices:
        found[vertex.index] = next((one.weight for one in vertex.groups if one.group == index), 0.0)
    return found


def test_a_skirt_is_added_baked_and_played_with_nothing_chosen(skirt: Any) -> None:
    assert bpy.ops.sinew.add(method="tracks") == {"FINISHED"}
    outcome = setups.bake_object("Skirt", {}, target(), method="tracks")
    assert outcome.report["method"] == "tracks"
    played = baked_samples(outcome.folder)
    for frame in range(1, FRAMES + 1):
        assert np.array_equal(shown_at(skirt, frame), played[frame - 1])
    pinned = weights(skirt, PIN_GROUP)
    assert (pinned[:16] == 1.0).all() and (pinned[-16:] == 0.0).all()  # waist and hem
    skirt.modifiers["Sinew"].show_viewport = False
    moved = np.linalg.norm(shown_at(skirt, FRAMES) - played[FRAMES - 1], axis=1)
    assert moved[:16].max() < 1e-5 < 1e-3 < moved[-16:].max()


def test_the_body_that_wears_it_is_found_and_is_no_passenger(skirt: Any) -> None:
    assert passengers.wearer(skirt, bpy.context.scene).name == "Dancer"
    assert passengers.wearer(bpy.data.objects["Dancer"], bpy.context.scene) is None
    assert bpy.ops.sinew.add(method="tracks") == {"FINISHED"}
    entry = setup.find_of(skirt, bpy.context.scene, "tracks")
    assert entry is not None and not entry.passengers


def test_its_panel_shows_material_and_pins(skirt: Any) -> None:
    assert bpy.ops.sinew.add(method="tracks") == {"FINISHED"}
    shown, follow = draw(bpy.types.SINEW_PT_setup), draw(bpy.types.SINEW_PT_cloth_follow)
    assert {"stretch", "bend", "weight", "calm"} <= set(shown.properties)
    assert "jiggle" not in shown.properties and draw(bpy.types.SINEW_PT_follow) is None
    assert "pin_group" in follow.properties and "Follow on Average" in follow.labels


def test_presets_of_cloth_are_materials_of_cloth(skirt: Any) -> None:
    assert bpy.ops.sinew.add(method="tracks") == {"FINISHED"}
    assert bpy.ops.sinew.apply_preset(name="denim") == {"FINISHED"}
    assert item().weight == pytest.approx(0.4) and item().bend == pytest.approx(6e-5)


def test_averages_are_baked_and_a_missing_group_is_named(skirt: Any) -> None:
    outcome = setups.bake_object("Skirt", {"regions": 5}, target(), method="tracks")
    assert outcome.report["cloth"]["regions"] == 5
    assert outcome.report["cloth"]["residual_relative"] < 1e-10
    with pytest.raises(sinew.Error, match="Cuffs"):
        setups.bake_object("Skirt", {"region_groups": "Cuffs"}, target(), method="tracks")


def test_repainted_pins_make_a_bake_stale(skirt: Any) -> None:
    setups.bake_object("Skirt", {}, target(), method="tracks")
    (entry,) = setup.load()
    assert setups.check_object(entry, target()) is None
    skirt.vertex_groups[PIN_GROUP].add([20], 1.0, "REPLACE")
    assert setups.check_object(entry, target()) is not None


def crossings(skirt: Any, body: Any, frame: int) -> int:
    """Edges of the skirt that run through the body, or the other way round, as shown; quads cut as at rest."""
    meshes = []
    for ob in (skirt, body):
        points = shown_at(ob, frame).astype(np.float64) @ np.array(ob.matrix_world)[:3, :3].T
        ob.data.calc_loop_triangles()
        sides = np.empty(3 * len(ob.data.loop_triangles), np.int32)
        ob.data.loop_triangles.foreach_get("vertices", sides)
        meshes.append((points + np.array(ob.matrix_world)[:3, 3], sides.reshape(-1, 3)))
    return len(find_crossings(meshes, own=False)[0])


def test_legs_that_step_do_not_come_through_it_but_where_it_does_not_collide(tmp_path: Path) -> None:
    sinew.register()
    try:
        scenes.reset_scene()
        body, skirt = clothes.build_dancer(12, rings=8, segments=20)
        for bone, angle in (("leg.L", 1.1), ("leg.R", -1.1)):  # a leap, in a hurry
            clothes.pose_key(body.parent, bone, 9, quaternion=(np.cos(angle / 2), np.sin(angle / 2), 0, 0))
        save(tmp_path / "leap.blend")
        found = {}
        for collide in (True, False):
            setups.bake_object("Skirt", {"collide": collide}, target(), method="tracks")
            found[collide] = [crossings(skirt, body, frame) for frame in range(1, 13)]
        assert found[False][-1] > 0 or max(found[False]) > 0
        assert max(found[True]) == 0
    finally:
        sinew.unregister()
