"""Undo and redo of every button that changes the scene: all of it goes and comes back, and what plays is right."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import bpy
import numpy as np
import pytest
from inside import shown_at
from panel_use import activate, add_setup, item, state_now
from sinew.scene import setup, stack
from sinew.ui.enrich import cage, trial
from sinew.ui.setup import state


def scene_now() -> dict[str, Any]:
    """What Sinew may change of the scene, as plain values."""
    scene = bpy.context.scene
    found: dict[str, Any] = {"objects": sorted(scene.objects.keys())}
    for ob in scene.objects:
        if ob.type != "MESH":
            continue
        entry = setup.find_of(ob, scene)
        stored = dataclasses.asdict(dataclasses.replace(entry, passengers=[])) if entry is not None else None
        carried = [(one.object.name, one.use, one.mode) for one in entry.passengers] if entry is not None else []
        played = [(m.name, m.type, m.show_viewport, m.show_render, getattr(m, "filepath", "")) for m in ob.modifiers]
        drivers = len(ob.animation_data.drivers) if ob.animation_data is not None else 0
        found[ob.name] = (stored, carried, played, drivers, ob.vertex_groups.keys(), sorted(ob.keys()))
    for one in scene.sinew.setups:
        rows = [(row.object.name, row.use, row.mode) for row in one.passengers_list]
        found[f"listed {one.object.name}"] = rows
    return found


def press(button: str, /, **values: Any) -> None:
    """As a click does, with an undo step of its own."""
    assert getattr(bpy.ops.sinew, button)("EXEC_DEFAULT", True, **values) == {"FINISHED"}


def undone(act: Callable[[], None]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Acts, undoes, redoes and undoes: the scene before and after, which must come back each time."""
    bpy.ops.ed.undo_push(message="before")
    before = scene_now()
    act()
    after = scene_now()
    assert after != before
    bpy.ops.ed.undo()
    assert scene_now() == before
    bpy.ops.ed.redo()
    assert scene_now() == after
    bpy.ops.ed.undo()
    assert scene_now() == before
    return before, after


def test_adding_and_removing_a_setup(arm: Any) -> None:
    before, after = undone(lambda: press("remove"))
    assert before["Arm"][0] is not None and after["Arm"][0] is None
    bpy.ops.sinew.remove()
    before, after = undone(lambda: press("add"))
    assert before["Arm"][0] is None and after["Arm"][0] is not None


def test_a_bake_and_its_deletion(arm: Any) -> None:
    given = shown_at(bpy.data.objects["Arm"], 7)
    before, after = undone(lambda: press("bake"))
    assert before != after and "Sinew Follow" in after["Arm"][4]
    assert np.array_equal(shown_at(bpy.data.objects["Arm"], 7), given) and state_now().kind == state.NOTHING
    bpy.ops.sinew.bake()
    baked = shown_at(bpy.data.objects["Arm"], 7)
    assert np.abs(baked - given).max() > 1e-3
    undone(lambda: press("delete_bake"))
    assert np.array_equal(shown_at(bpy.data.objects["Arm"], 7), baked) and state_now().kind == state.BAKED


@pytest.mark.parametrize("is_baked", [False, True])
def test_a_preview_and_its_deletion(arm: Any, is_baked: bool) -> None:
    item().preview_frames = 4
    if is_baked:
        bpy.ops.sinew.bake()
    kind = state_now().kind
    undone(lambda: press("preview"))
    assert state_now().kind == kind == (state.BAKED if is_baked else state.NOTHING)
    bpy.ops.sinew.preview()
    undone(lambda: press("delete_bake"))
    assert state_now().kind == state.PREVIEW


def test_showing_input_and_result(dressed: Any) -> None:
    bpy.ops.sinew.bake()
    for name in ("show", "show_all"):
        before, after = undone(lambda name=name: press(name, result=False))
        for carried in ("Arm", "Sleeve", "Beads"):
            assert before[carried][2][-1][2:4] == (True, True) and after[carried][2][-1][2:4] == (False, False)


def test_presets_and_values(arm: Any) -> None:
    before, after = undone(lambda: press("apply_preset", name="rubber"))
    assert before["Arm"][0]["settings"] != after["Arm"][0]["settings"]
    assert item().young == 0.0

    def slide() -> None:
        item().jiggle = 7.0
        bpy.ops.ed.undo_push(message="slid")

    undone(slide)
    assert item().jiggle != 7.0


def test_the_list_of_passengers(dressed: Any) -> None:
    other = bpy.data.objects.new("Ring", dressed.data.copy())
    bpy.context.scene.collection.objects.link(other)
    other.parent = dressed
    assert undone(lambda: press("find_passengers"))[1]["listed Arm"][-1][0] == "Ring"
    bpy.data.objects["Ring"].select_set(True)
    assert undone(lambda: press("add_passengers"))[1]["listed Arm"][-1][0] == "Ring"
    before, after = undone(lambda: press("remove_passenger"))
    assert len(before["listed Arm"]) == len(after["listed Arm"]) + 1

    def untick() -> None:
        item().passengers_list[0].use = False
        bpy.ops.ed.undo_push(message="unticked")

    before, after = undone(untick)
    assert before["listed Arm"][0][1] and not after["listed Arm"][0][1]


def test_baking_all(arm: Any) -> None:
    copy = arm.copy()
    copy.data, copy.name = arm.data.copy(), "Other"
    bpy.context.scene.collection.objects.link(copy)
    add_setup("Other")
    activate("Arm")
    _, after = undone(lambda: press("bake_all"))
    assert all(after[name][0]["bake"] for name in ("Arm", "Other"))
    assert all(stack.own_modifier(bpy.data.objects[name]) is None for name in ("Arm", "Other"))


@pytest.mark.parametrize("name", ["trial_fit", "build_cage"])
def test_a_look_changes_nothing_and_outlives_undo(arm: Any, name: str) -> None:
    bpy.ops.ed.undo_push(message="before")
    before = scene_now()
    press(name)
    assert scene_now() == before
    item().jiggle = 5.0
    bpy.ops.ed.undo_push(message="slid")
    bpy.ops.ed.undo()
    assert scene_now() == before and cage.find(item()) is not None
    assert (trial.find(item()) is not None) == (name == "trial_fit")


@pytest.mark.parametrize("name", ["make_follow_group", "make_after_group", "animate_amount", "animate_follow"])
def test_what_is_made_on_the_object(arm: Any, name: str) -> None:
    before, after = undone(lambda: press(name))
    assert before["Arm"] != after["Arm"]


def test_a_cage_object(arm: Any) -> None:
    bpy.ops.sinew.build_cage()
    before, after = undone(lambda: press("make_cage_object"))
    assert len(after["objects"]) == len(before["objects"]) + 1 and item().cage_object == ""
