"""Whole characters: what the body's cage carries along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from inside import load, run, save, shown_at
from panel_use import FRAMES, activate, item, state_now
from sinew import setups
from sinew.core.bake.store import Store
from sinew.scene import setup
from sinew.ui.setup import properties, state

FREE = {"upper": 1.0, "lower": 0.0}


def names_of(ob: Any) -> list[str]:
    entry = setup.find_of(ob, bpy.context.scene)
    assert entry is not None
    return [choice.object.name for choice in entry.passengers]


def added(name: str, frame: int) -> Any:
    """What the bake adds to an object on a frame, local space."""
    ob = bpy.data.objects[name]
    modifier = ob.modifiers["Sinew"]
    modifier.show_viewport = True
    result = shown_at(ob, frame)
    modifier.show_viewport = False
    given = shown_at(ob, frame)
    modifier.show_viewport = True
    return result - given


def free_the_hand(ob: Any) -> None:
    group = ob.vertex_groups.new(name="free hand")
    for vertex in ob.data.vertices:
        group.add([vertex.index], 1.0 if vertex.co.x < 0.5 else 0.0, "REPLACE")
    item().follow_group = "free hand"


def test_meshes_on_the_same_armature_are_found_and_others_not(dressed: Any) -> None:
    assert names_of(dressed) == ["Beads", "Sleeve"]
    other = bpy.data.objects.new("Elsewhere", dressed.data.copy())
    bpy.context.scene.collection.objects.link(other)
    assert bpy.ops.sinew.find_passengers() == {"FINISHED"}
    assert names_of(dressed) == ["Beads", "Sleeve"]
    other.parent = dressed
    bpy.ops.sinew.find_passengers()
    assert names_of(dressed) == ["Beads", "Sleeve", "Elsewhere"]


def test_the_sleeve_moves_with_the_flesh_under_it(dressed: Any) -> None:
    free_the_hand(dressed)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    frame = FRAMES // 2 + 1
    body, sleeve = added("Arm", frame), added("Sleeve", frame)
    assert np.abs(body).max() > 0.02
    # Each vertex of the sleeve moves as the skin nearest to it does.
    skin = np.array([vertex.co for vertex in dressed.data.vertices])
    cloth = np.array([vertex.co for vertex in bpy.data.objects["Sleeve"].data.vertices])
    nearest = np.linalg.norm(cloth[:, None] - skin[None], axis=2).argmin(axis=1)
    difference = np.linalg.norm(sleeve - body[nearest], axis=1)
    assert np.median(difference) < 0.1 * np.abs(body).max() and difference.max() < 0.4 * np.abs(body).max()


def test_beads_stay_rigid_and_each_goes_its_own_way(dressed: Any) -> None:
    free_the_hand(dressed)
    bpy.ops.sinew.bake()
    beads = bpy.data.objects["Beads"]
    frame = FRAMES // 2 + 1
    assert np.abs(added("Beads", frame)).max() > 0.01
    rest = np.array([vertex.co for vertex in beads.data.vertices])
    shown = shown_at(beads, frame)
    half = len(rest) // 2
    for part in (slice(0, half), slice(half, None)):
        before = np.linalg.norm(rest[part][:, None] - rest[part][None], axis=2)
        after = np.linalg.norm(shown[part][:, None] - shown[part][None], axis=2)
        assert np.abs(before - after).max() < 1e-5
    gap = np.linalg.norm(rest[:half] - rest[half:], axis=1) - np.linalg.norm(shown[:half] - shown[half:], axis=1)
    assert np.abs(gap).max() > 1e-5


def test_a_followed_body_leaves_its_passengers_where_they_are(dressed: Any) -> None:
    group = dressed.vertex_groups.new(name="all")
    group.add(range(len(dressed.data.vertices)), 1.0, "REPLACE")
    item().follow_group = "all"
    bpy.ops.sinew.bake()
    for name in ("Arm", "Sleeve", "Beads"):
        assert np.abs(added(name, 6)).max() < 2e-6


def test_every_passenger_has_one_modifier_which_delete_bake_removes(dressed: Any) -> None:
    before = {ob.name: [modifier.name for modifier in ob.modifiers] for ob in bpy.data.objects}
    bpy.ops.sinew.bake()
    for name in ("Arm", "Sleeve", "Beads"):
        assert [modifier.name for modifier in bpy.data.objects[name].modifiers] == [*before[name], "Sinew"]
    bpy.ops.sinew.show(result=False)
    assert not any(bpy.data.objects[name].modifiers["Sinew"].show_render for name in ("Arm", "Sleeve", "Beads"))
    bpy.ops.sinew.delete_bake()
    assert {ob.name: [modifier.name for modifier in ob.modifiers] for ob in bpy.data.objects} == before
    for name in ("Arm", "Sleeve", "Beads"):
        data = bpy.data.objects[name].animation_data
        assert data is None or len(data.drivers) == 0


def test_an_unticked_passenger_stays_out_and_loses_its_modifier(dressed: Any, tmp_path: Path) -> None:
    bpy.ops.sinew.bake()
    rows = item().passengers_list
    assert [row.object.name for row in rows] == ["Beads", "Sleeve"]
    rows[1].use = False
    assert state_now().kind == state.STALE and "attached mesh" in state_now().text
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert "Sinew" not in bpy.data.objects["Sleeve"].modifiers and "Sinew" in bpy.data.objects["Beads"].modifiers
    item().passengers_list[0].mode = "SOFT"
    bpy.ops.sinew.bake()
    entry = setup.find_of(dressed, bpy.context.scene)
    assert entry is not None
    with Store.open(tmp_path / "sinew", entry.bake) as store:
        assert [(one.object_name, one.rigid) for one in store.manifest.passengers] == [("Beads", False)]


def test_a_soft_passenger_collides_by_choice_where_the_body_does(dressed: Any, tmp_path: Path) -> None:
    def baked() -> list[bool]:
        assert bpy.ops.sinew.bake() == {"FINISHED"}
        entry = setup.find_of(dressed, bpy.context.scene)
        assert entry is not None
        assert setups.check_object(entry, setups.Target(Path(bpy.data.filepath))) is None
        with Store.open(tmp_path / "sinew", entry.bake) as store:
            return [one.triangles > 0 for one in store.manifest.passengers]

    item().collide, item().self_collision = True, False
    for row in item().passengers_list:
        assert row.mode == "AUTOMATIC"
    assert baked() == [False, False]
    item().passengers_list[1].mode = "COLLIDES"
    assert state_now().kind == state.STALE and "attached mesh" in state_now().text
    assert baked() == [False, True]
    item().collide = False
    assert baked() == [False, False]


def test_a_passenger_that_cannot_be_carried_is_left_out_and_told(dressed: Any) -> None:
    modifier = bpy.data.objects["Sleeve"].modifiers.new("Subdivision", "SUBSURF")
    modifier.levels, modifier.render_levels = 0, 2
    with_armature_last = bpy.data.objects["Sleeve"].modifiers
    name = with_armature_last[0].name
    with bpy.context.temp_override(object=bpy.data.objects["Sleeve"]):
        bpy.ops.object.modifier_move_to_index(modifier=name, index=1)
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert "Sinew" not in bpy.data.objects["Sleeve"].modifiers
    assert any("Sleeve is not carried" in note for note in state_now().notes)


def test_a_passenger_that_gets_a_setup_of_its_own_is_no_longer_carried(dressed: Any) -> None:
    bpy.ops.sinew.bake()
    activate("Sleeve")
    bpy.ops.sinew.add()
    activate("Arm")
    assert state_now().kind == state.STALE
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert "Sinew" not in bpy.data.objects["Sleeve"].modifiers
    assert any("Carries Beads (rigid)" in line for line in state_now().report)


def test_passengers_are_chosen_by_selection_and_removed(dressed: Any) -> None:
    other = bpy.data.objects.new("Ring", dressed.data.copy())
    bpy.context.scene.collection.objects.link(other)
    assert not bpy.ops.sinew.add_passengers.poll()
    other.select_set(True)
    assert bpy.ops.sinew.add_passengers() == {"FINISHED"}
    assert names_of(dressed)[-1] == "Ring"
    item().passengers_index = 2
    assert bpy.ops.sinew.remove_passenger() == {"FINISHED"}
    assert "Ring" not in names_of(dressed)


@pytest.mark.once
def test_the_command_bakes_and_checks_passengers(dressed: Any, tmp_path: Path) -> None:
    blend = save(tmp_path / "arm.blend")
    done = run("bake", blend, "--object", "Arm", "--set", "resolution=5", "--set", "substeps=1")
    assert done.returncode == 0, done.stderr
    load(blend)
    assert "Sinew" in bpy.data.objects["Sleeve"].modifiers
    entry = setup.find("Arm")
    assert entry is not None and setups.check_object(entry, setups.Target(blend)) is None
    bpy.data.objects["Sleeve"].data.vertices[0].co.z += 0.1
    problem = setups.check_object(entry, setups.Target(blend))
    assert problem is not None and "attached mesh" in problem


def test_a_renamed_passenger_is_still_the_same(dressed: Any) -> None:
    bpy.ops.sinew.bake()
    bpy.data.objects["Sleeve"].name = "Shirt"
    properties.refresh()
    assert state_now().kind == state.BAKED
    bpy.ops.sinew.delete_bake()
    assert "Sinew" not in bpy.data.objects["Shirt"].modifiers
