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
from building import add_mesh, set_frames
from fake_layout import draw
from inside import baked_samples, save, shown_at
from panel_use import activate, item
from sinew import setups
from sinew.core.base.errors import Cancelled
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
    material = draw(bpy.types.SINEW_PT_cloth_material)
    assert {"stiff", "heavy", "crumple", "calm", "wrinkle_size"} <= set(shown.properties)
    assert {"stretch", "bend", "weight", "shear", "warp_map"} <= set(material.properties)
    assert {"stiff_group", "stiff_painted"} <= set(material.properties)
    assert "jiggle" not in shown.properties and draw(bpy.types.SINEW_PT_follow) is None
    assert "pin_group" in follow.properties and "Follow on Average" in follow.labels


def test_presets_of_cloth_are_materials_of_cloth(skirt: Any) -> None:
    assert bpy.ops.sinew.add(method="tracks") == {"FINISHED"}
    assert bpy.ops.sinew.apply_preset(name="denim") == {"FINISHED"}
    assert item().weight == pytest.approx(0.324) and item().bend == pytest.approx(6e-5)


def test_averages_are_baked_and_a_missing_group_is_named(skirt: Any) -> None:
    outcome = setups.bake_object("Skirt", {"regions": 5}, target(), method="tracks")
    assert outcome.report["cloth"]["regions"] == 5
    assert outcome.report["cloth"]["residual_relative"] < 1e-10
    with pytest.raises(sinew.Error, match="Cuffs"):
        setups.bake_object("Skirt", {"region_groups": "Cuffs"}, target(), method="tracks")


def test_threads_and_painted_parts_are_read_and_what_is_missing_is_named(skirt: Any) -> None:
    layer = skirt.data.uv_layers.new(name="Cut")
    for loop, place in zip(skirt.data.loops, layer.data, strict=True):
        place.uv = skirt.data.vertices[loop.vertex_index].co.xz
    hem = skirt.vertex_groups.new(name="Hem")
    hem.add(list(range(100, 144)), 1.0, "REPLACE")
    woven = {"shear": 0.1, "warp_map": "Cut", "heavy_group": "Hem"}
    plain = setups.bake_object("Skirt", {}, target(), method="tracks").report["cloth"]["mass"]
    assert setups.bake_object("Skirt", woven, target(), method="tracks").report["cloth"]["mass"] > 1.2 * plain
    (entry,) = setup.load()
    assert setups.check_object(entry, target()) is None
    hem.add([20], 1.0, "REPLACE")
    assert setups.check_object(entry, target()) is not None
    for wrong, named in (({"warp_map": "Map"}, "Cut"), ({"calm_group": "Hems"}, "Hem")):
        with pytest.raises(sinew.Error, match=named):
            setups.bake_object("Skirt", {**woven, **wrong}, target(), method="tracks")


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


# ---- cloth on flesh -------------------------------------------------------------------------------------------------

LONG = 24  # frames until legs and skirt meet
FLESHY: dict[str, Any] = {"collide": True, "self_collision": False, "resolution": 6, "jiggle": 4.0, "substeps": 4}
FLESHY["scheme"] = "implicit_euler"
WORN = {"scheme": "implicit_euler", "weight": 2.0}  # heavy enough to be felt


def dance_together(folder: Path, worn: dict[str, Any]) -> tuple[Any, Any, Any]:
    """The outcome of the skirt, whose wearer has flesh; both bodies."""
    scenes.reset_scene()
    body, skirt = clothes.build_dancer(LONG, rings=6, segments=14)
    setup.save_of(skirt, setups.new_setup(skirt, bpy.context.scene, "tracks"), bpy.context.scene)
    entry = setups.new_setup(body, bpy.context.scene)
    entry.settings = FLESHY
    setup.save_of(body, entry, bpy.context.scene)
    save(folder / "scene.blend")
    return setups.bake_object("Skirt", worn, target(), method="tracks"), body, skirt


def baked_of(ob: Any) -> np.ndarray:
    entry = next(entry for entry in setups.setups() if entry.object_name == ob.name)
    return baked_samples(Path(bpy.data.filepath).parent / "sinew" / entry.bake)


@pytest.mark.once
def test_cloth_and_the_flesh_that_wears_it_are_one_world_and_go_on_with_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from sinew.core.bake.company import Company

    sinew.register()
    try:
        for name in "ab":
            (tmp_path / name).mkdir()
        outcome, body, skirt = dance_together(tmp_path / "a", WORN)
        assert outcome.report["together"] == ["Dancer"]
        assert outcome.report["contact"]["touching_samples"] > 0
        assert max(crossings(skirt, body, frame) for frame in range(1, LONG + 1)) == 0
        whole = [baked_of(ob) for ob in (skirt, body)]
        for entry in setups.setups():
            assert setups.check_object(entry, target()) is None

        advance, left = Company._advance, [4]

        def stopped(company: Company) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise KeyboardInterrupt
            advance(company)

        with monkeypatch.context() as patched:
            patched.setattr(Company, "_advance", stopped)
            with pytest.raises(Cancelled, match="finished and kept"):
                dance_together(tmp_path / "b", WORN)
        again = setups.bake_object("Skirt", WORN, target(), method="tracks")
        assert again.report["computed"] < LONG
        for ob, wanted in zip((skirt_of(), body_of()), whole, strict=True):
            assert np.array_equal(baked_of(ob), wanted)
    finally:
        sinew.unregister()


def sag_under_cloth(folder: Path, weight: float) -> float:
    """How far the top of a soft ball sinks within a fifth of a second under a sheet that nothing holds."""
    scenes.reset_scene()
    set_frames(1, 6)
    points, faces = scenes.ball_mesh(0.3, 6)
    held = (points[:, 2] < -0.15).astype(float)
    ball = add_mesh("Ball", points + (0.0, 0.0, 0.3), faces, groups={"Held": held})
    points, faces = scenes.sheet_mesh(0.5, 8)
    sheet = add_mesh("Sheet", points + (0.0, 0.0, 0.605), faces, groups={"Pins": np.zeros(len(points))})
    for ob, method, settings in (
        (ball, "enrich", {**FLESHY, "follow_group": "Held", "jiggle": 2.0}),
        (sheet, "tracks", {"pin_group": "Pins", "weight": weight, "scheme": "implicit_euler"}),
    ):
        entry = setups.new_setup(ob, bpy.context.scene, method)
        entry.settings |= settings
        setup.save_of(ob, entry, bpy.context.scene)
    save(folder / "scene.blend")
    outcome = setups.bake_object("Sheet", {}, target(), method="tracks")
    assert outcome.report["together"] == ["Ball"]
    assert outcome.report["contact"]["touching_samples"] > 2
    baked = baked_of(ball)
    return float(baked[0, :, 2].max() - baked[-1, :, 2].max())


@pytest.mark.once
def test_flesh_feels_the_weight_of_the_cloth_that_lies_on_it(tmp_path: Path) -> None:
    sinew.register()
    try:
        sags = []
        for weight in (0.1, 10.0):
            (tmp_path / str(weight)).mkdir()
            sags.append(sag_under_cloth(tmp_path / str(weight), weight))
        assert 0.0 < sags[0] < 0.1 * sags[1] and 2e-3 < sags[1] < 5e-2
    finally:
        sinew.unregister()


def skirt_of() -> Any:
    return bpy.data.objects["Skirt"]


def body_of() -> Any:
    return bpy.data.objects["Dancer"]


def test_cloth_of_another_scheme_is_not_of_the_same_world(tmp_path: Path) -> None:
    sinew.register()
    try:
        outcome, body, skirt = dance_together(tmp_path, {"scheme": "tr_bdf2"})
        assert outcome.report["together"] == []
        assert max(crossings(skirt, body, frame) for frame in range(1, LONG + 1)) == 0
    finally:
        sinew.unregister()
