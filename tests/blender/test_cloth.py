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
from sinew.setups.tracks.flesh_out import shows_guide
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


def test_what_is_closed_all_around_is_a_bag_and_is_offered_flesh(skirt: Any) -> None:
    def offered() -> bool:
        return "sinew.take_flesh" in draw(bpy.types.SINEW_PT_setup).operators

    assert bpy.ops.sinew.add(method="tracks") == {"FINISHED"}
    assert not offered() and not bpy.ops.sinew.take_flesh.poll()
    body = scenes.build_ball(divisions=4, frames=2)
    save(Path(bpy.data.filepath))
    activate(body.name)
    assert bpy.ops.sinew.add(method="tracks") == {"FINISHED"}
    assert offered() and bpy.ops.sinew.take_flesh() == {"FINISHED"}
    assert [entry.method for entry in setup.all_of(body, bpy.context.scene)] == ["enrich"]
    assert not offered()
    setup.remove(body, bpy.context.scene)
    assert bpy.ops.sinew.add(method="tracks") == {"FINISHED"}
    outcome = setups.bake_object(body.name, {}, target(), method="tracks")
    (told,) = (line for line in outcome.report["warnings"] if "add Flesh" in line)
    assert f'"{body.name}" is closed' in told
    assert not offered(), "it is a bag now, and told so"


def test_averages_are_baked_and_a_missing_group_is_named(skirt: Any) -> None:
    outcome = setups.bake_object("Skirt", {"regions": 5}, target(), method="tracks")
    assert outcome.report["cloth"]["regions"] == 5
    assert outcome.report["cloth"]["residual_relative"] < 1e-10
    with pytest.raises(sinew.Error, match="Cuffs"):
        setups.bake_object("Skirt", {"region_groups": "Cuffs"}, target(), method="tracks")


def test_patches_of_a_bake_are_shown_in_colours(skirt: Any) -> None:
    from sinew.ui.background import results
    from sinew.ui.tracks import patches

    assert bpy.ops.sinew.add(method="tracks") == {"FINISHED"}
    setups.bake_object("Skirt", {"regions": 5}, target(), method="tracks")
    assert patches.has_patches(item()) and patches.values_of(item()) is None
    item().show_patches = True
    assert patches.values_of(item()) is None  # it is read beside the window
    results.wait()
    values = patches.values_of(item())
    assert values is not None and len(values) == len(skirt.data.vertices) and len(np.unique(values)) == 5
    assert np.ptp(values) <= 1.0 and np.diff(np.unique(values)).min() > 0.05
    item().show_patches = False
    assert patches.values_of(item()) is None
    setups.bake_object("Skirt", {"regions": 0}, target(), method="tracks")
    assert not patches.has_patches(item())


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


def coarse_skirt(tmp_path: Path) -> tuple[Any, Any]:
    """A dancer's skirt of few faces with a UV map, two materials and a shape key; and what Flesh Out makes of it."""
    scenes.reset_scene()
    _, skirt = clothes.build_dancer(FRAMES, rings=3, segments=8)
    for name in ("Cloth", "Hem"):
        skirt.data.materials.append(bpy.data.materials.new(name))
    for face in skirt.data.polygons[16:]:
        face.material_index = 1
    layer = skirt.data.uv_layers.new(name="Cut")
    for loop, place in zip(skirt.data.loops, layer.data, strict=True):
        place.uv = skirt.data.vertices[loop.vertex_index].co.xz
    skirt.shape_key_add(name="Basis")
    wide = skirt.shape_key_add(name="Wide")
    wide.value = 0.0
    for point in wide.data:
        point.co.x *= 2.0
    save(tmp_path / "coarse.blend")
    activate("Skirt")
    assert bpy.ops.sinew.add(method="tracks") == {"FINISHED"}
    assert bpy.ops.sinew.flesh_out(levels=2) == {"FINISHED"}
    return skirt, bpy.context.object


def test_flesh_out_makes_a_fine_mesh_that_moves_with_the_coarse_one(tmp_path: Path) -> None:
    sinew.register()
    try:
        skirt, fine = coarse_skirt(tmp_path)
        assert fine.name == "Skirt Fine" and item().guide_object == "Skirt"
        assert len(fine.data.polygons) == 16 * len(skirt.data.polygons)
        assert [slot.name for slot in fine.data.materials] == ["Cloth", "Hem"]
        assert sum(face.material_index for face in fine.data.polygons) == 8 * 16
        for loop, place in zip(fine.data.loops, fine.data.uv_layers["Cut"].data, strict=True):
            vertex = fine.data.vertices[loop.vertex_index].co
            assert abs(place.uv[0] - vertex.x) + abs(place.uv[1] - vertex.z) < 1e-5
        assert (weights(fine, "root") == 1.0).all()
        keys = fine.data.shape_keys.key_blocks
        assert keys["Wide"].value == 0.0
        assert max(abs(wide.co.x - 2.0 * one.co.x) for wide, one in zip(keys["Wide"].data, keys[0].data)) < 1e-5
        count = len(skirt.data.vertices)
        for frame in (1, FRAMES):
            assert np.abs(shown_at(fine, frame)[:count] - shown_at(skirt, frame)).max() < 1e-4
        assert passengers.wearer(fine, bpy.context.scene).name == "Dancer"
    finally:
        sinew.unregister()


def build_fins(path: Path, faces: list[tuple[int, int, int]]) -> None:
    """A setup of cloth for triangles that meet at one edge."""
    scenes.reset_scene()
    set_frames(1, FRAMES)
    corners = 0.3 * np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, -1)], float)
    add_mesh("Fins", corners, faces)
    save(path)
    activate("Fins")
    assert bpy.ops.sinew.add(method="tracks") == {"FINISHED"}


def test_flesh_out_takes_any_surface_and_says_where_there_is_none(tmp_path: Path) -> None:
    sinew.register()
    try:
        build_fins(tmp_path / "none.blend", [])
        with pytest.raises(RuntimeError, match="no faces") as told:
            bpy.ops.sinew.flesh_out(levels=2)
        assert "Traceback" not in str(told.value) and len(bpy.data.objects) == 1
        build_fins(tmp_path / "fins.blend", [(0, 1, 2), (0, 1, 3), (0, 1, 4)])
        assert bpy.ops.sinew.flesh_out(levels=2) == {"FINISHED"}
        fine = bpy.context.object
        assert not shows_guide(fine) and len(fine.data.vertices) == 35
        outcome = setups.bake_object(fine.name, {"collide": False}, target(), method="tracks")
        assert outcome.report["cloth"]["residual_relative"] < 1e-10
    finally:
        sinew.unregister()


def test_the_fine_cloth_keeps_its_averages_on_the_bake_of_the_coarse_one(tmp_path: Path) -> None:
    """The coarse bake is the preview of the fine one: around each of its vertices the mean is the same."""
    from sinew.core.geometry.subdivide import subdivide
    from sinew.core.methods.tracks.guide import make_averages
    from sinew.scene.sampler import rest_now
    from sinew.scene.steps import finished
    from sinew.setups.tracks.guide import faces_of

    sinew.register()
    try:
        skirt, fine = coarse_skirt(tmp_path)
        setups.bake_object("Skirt", {}, target(), method="tracks")
        outcome = setups.bake_object(fine.name, {}, target(), method="tracks")
        assert outcome.report["together"] == []  # they are in one place, and do not push each other
        assert outcome.report["cloth"]["regions"] + outcome.report["cloth"]["followed_vertices"] > 24
        assert outcome.report["cloth"]["residual_relative"] < 1e-10
        rest, _ = finished(rest_now(fine))
        made = subdivide(faces_of(skirt.data), 2).mix
        rows = make_averages(rest.positions, rest.triangles, hats=made).rows
        apart = 0.0
        for frame in range(1, FRAMES + 1):
            coarse, shown = shown_at(skirt, frame).astype(float), shown_at(fine, frame).astype(float)
            loose = rows.means(shown) - rows.means(made.means(coarse))
            assert np.abs(loose).max() < 1e-5
            apart = max(apart, float(np.abs(shown - made.means(coarse)).max()))
        assert apart > 1e-3  # it folds between them
        (entry,) = [one for one in setups.setups() if one.object_name == fine.name]
        assert setups.check_object(entry, target()) is None
    finally:
        sinew.unregister()


def test_groups_of_a_guide_of_another_making_are_followed_and_what_is_missing_is_named(tmp_path: Path) -> None:
    sinew.register()
    try:
        scenes.reset_scene()
        set_frames(1, FRAMES)
        points, faces = scenes.sheet_mesh(0.5, 8)
        half = (points[:, 0] > 0.0).astype(float)
        sheet = add_mesh("Sheet", points, faces, groups={"Half": half, "Pins": np.zeros(len(points))})
        points, faces = scenes.ball_mesh(0.1, 4)
        ball = add_mesh("Ball", points + (0.12, 0.0, 0.0), faces, groups={"Whole": np.ones(len(points))})
        for frame, height in ((1, 0.0), (FRAMES, 0.05)):
            ball.location.z = height
            ball.keyframe_insert("location", frame=frame)
        save(tmp_path / "ball.blend")
        add_mesh("Dots", points, [], groups={"Half": np.ones(len(points))})
        points, faces = scenes.sheet_mesh(0.5, 8)
        add_mesh("Cut", points, [corners for a, b, c, *d in faces for corners in ((a, b, c), (a, c, *d))])
        given: dict[str, Any] = {"guide_object": "Ball", "pin_group": "Pins", "collide": False}
        for wrong, named in (
            ({}, "Flesh Out"), ({"region_groups": "Half"}, '"Half"'), ({"guide_object": "Sheet"}, "its own guide"),
            ({"guide_object": "Bal"}, "Ball"),
            ({"guide_object": "Dots", "region_groups": "Half"}, "no faces"),
            ({"guide_object": "Cut", "region_groups": "Half"}, 'no group "Half"'),
        ):  # fmt: skip
            with pytest.raises(sinew.Error, match=named):
                setups.bake_object("Sheet", {**given, **wrong}, target(), method="tracks")
        ball.vertex_groups.new(name="Half").add(list(range(len(points))), 1.0, "REPLACE")
        outcome = setups.bake_object("Sheet", {**given, "region_groups": "Half"}, target(), method="tracks")
        assert outcome.report["cloth"]["residual_relative"] < 1e-10
        middles = [shown_at(sheet, frame)[half > 0.5, 2].mean() for frame in (2, FRAMES)]
        assert 0.8 * 0.05 * (FRAMES - 2) / (FRAMES - 1) < middles[1] - middles[0] < 0.06
        (entry,) = setups.setups()
        assert setups.check_object(entry, target()) is None
        ball.location.z = 0.2
        ball.keyframe_insert("location", frame=FRAMES)
        assert setups.check_object(entry, target()) is not None
    finally:
        sinew.unregister()


def test_the_undeformed_shape_is_a_key_or_another_mesh_and_is_keyed(skirt: Any) -> None:
    assert bpy.ops.sinew.add(method="tracks") == {"FINISHED"}
    crumpled = skirt.copy()
    crumpled.data = skirt.data.copy()
    crumpled.name = "Crumpled"
    crumpled.modifiers.clear()
    bpy.context.scene.collection.objects.link(crumpled)
    for vertex in list(crumpled.data.vertices)[::2]:
        vertex.co.xy *= 1.15
    shapes = {}
    for name, values in (
        ("plain", {}), ("mesh", {"undeformed_object": "Crumpled"}),
        ("none", {"undeformed_object": "Crumpled", "undeformed_amount": 0.0}),
    ):  # fmt: skip
        setups.bake_object("Skirt", values, target(), method="tracks")
        shapes[name] = shown_at(skirt, FRAMES)
    assert np.abs(shapes["plain"] - shapes["none"]).max() < 1e-4
    assert np.abs(shapes["plain"] - shapes["mesh"]).max() > 5e-3
    item().undeformed_object, item().undeformed_amount = "Crumpled", 1.0
    bpy.context.scene.frame_set(1)
    assert bpy.ops.sinew.animate_undeformed() == {"FINISHED"}
    skirt["sinew_undeformed"] = 0.0
    skirt.keyframe_insert('["sinew_undeformed"]', frame=FRAMES)
    setups.bake_object("Skirt", {}, target(), method="tracks")
    keyed = shown_at(skirt, FRAMES)
    assert np.abs(keyed - shapes["mesh"]).max() > 1e-3
    (entry,) = setups.setups()
    assert setups.check_object(entry, target()) is None
    crumpled.data.vertices[0].co.x += 0.1
    crumpled.data.update()
    assert setups.check_object(entry, target()) is not None
    for wrong, named in (
        ({"undeformed_object": "Dancer"}, "vertices"), ({"undeformed_object": "Crumbled"}, "Crumpled"),
        ({"undeformed_object": "Crumpled", "undeformed_key": "Wide"}, "choose one"),
    ):  # fmt: skip
        with pytest.raises(sinew.Error, match=named):
            setups.bake_object("Skirt", wrong, target(), method="tracks")


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


def test_who_wears_it_is_led_from_rest_along_with_it(skirt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from sinew.core.methods.tracks.cloth import Approach

    led = []
    acting = Approach.acting

    def noted(way: Any, outer: Any, following: Any) -> Any:
        acts = acting(way, outer, following)
        led.append([acts(index).ends[1][1] for index in range(way.count)])
        return acts

    monkeypatch.setattr(Approach, "acting", noted)
    leg = bpy.data.objects["Dancer"].parent.pose.bones["leg.L"]
    leg.rotation_quaternion = (np.cos(0.3), np.sin(0.3), 0, 0)
    leg.keyframe_insert("rotation_quaternion", frame=1)
    values = {"start": "rest", "preroll": 8, "wrinkle_size": 4.0}  # it is too coarse for folds of cotton
    outcome = setups.bake_object("Skirt", values, target(), method="tracks")
    assert not outcome.report["warnings"]
    (ways,) = led
    moved = np.linalg.norm(ways[-1] - ways[0], axis=1)
    assert len(ways) == 8 and 0.1 < moved.max() < 1.0 and (moved < 0.02).mean() > 0.3  # the leg, not the trunk


def test_a_skirt_that_starts_settled_hangs_free_of_the_leg_that_was_lifted_through_it(skirt: Any) -> None:
    body = body_of()
    leg = body.parent.pose.bones["leg.L"]
    leg.rotation_quaternion = (np.cos(0.4), np.sin(0.4), 0, 0)
    leg.keyframe_insert("rotation_quaternion", frame=1)
    assert crossings(skirt, body, 1) > 0
    setups.bake_object("Skirt", {"start": "settled", "collide": True, "calm": 0.3}, target(), method="tracks")
    assert [crossings(skirt, body, frame) for frame in (1, 2)] == [0, 0]


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
