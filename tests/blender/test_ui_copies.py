"""Copies keep settings and groups: duplicates, appended objects, and others that are given the settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import scenes
from fake_layout import draw
from inside import save, shown_at
from panel_use import FRAMES, activate, add_setup, item, state_now
from sinew.scene import fingerprint, setup, stack
from sinew.ui.setup import panel, parts, properties, state


def of(ob: Any) -> setup.Setup:
    found = setup.find_of(ob, bpy.context.scene)
    assert found is not None
    return found


def duplicated(*names: str) -> list[Any]:
    """Shift-D of some objects, and the redraw that follows."""
    for ob in bpy.context.scene.objects:
        ob.select_set(ob.name in names)
    activate(names[0])
    before = set(bpy.context.scene.objects)
    assert bpy.ops.object.duplicate() == {"FINISHED"}
    draw(panel.SINEW_PT_setup)
    properties.refresh()  # as the timer does that the panel has asked for
    return sorted(set(bpy.context.scene.objects) - before, key=lambda ob: str(ob.name))


def test_a_duplicate_keeps_settings_groups_and_what_it_plays(arm: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    item().jiggle = 6.0
    bpy.ops.sinew.bake()
    baked = shown_at(arm, 7)
    asked: list[bool] = []
    monkeypatch.setattr(parts, "refresh_soon", lambda: asked.append(True))
    (copy,) = duplicated("Arm")
    assert asked, "the panel sees that it is a copy"
    assert of(copy).settings == of(arm).settings != {} and of(copy).id != of(arm).id
    assert item().object == copy and item().jiggle == 6.0 and "Sinew Follow" in copy.vertex_groups
    assert np.array_equal(shown_at(copy, 7), baked) and state_now().kind == state.BAKED
    item().jiggle = 2.0
    bpy.ops.sinew.bake()
    assert of(copy).bake != of(arm).bake and np.array_equal(shown_at(arm, 7), baked)


def test_several_at_once_and_their_clothes(dressed: Any) -> None:
    item().jiggle = 4.0
    rows = {row.object.name: row for row in item().passengers_list}
    rows["Sleeve"].use, rows["Beads"].mode = False, setup.SOFT
    rig = dressed.modifiers[0].object
    copies = {ob.name: ob for ob in duplicated("Arm", "Sleeve", "Beads", rig.name)}
    entry = of(copies["Arm.001"])
    assert entry.settings["jiggle"] == 4.0
    carried = {one.object.name: (one.use, one.mode) for one in entry.passengers}
    assert carried == {"Sleeve.001": (False, setup.AUTOMATIC), "Beads.001": (True, setup.SOFT)}
    assert setup.find_of(copies["Sleeve.001"], bpy.context.scene) is None


def test_a_removed_setup_does_not_come_back(arm: Any) -> None:
    (copy,) = duplicated("Arm")
    activate(copy.name)
    bpy.ops.sinew.remove()
    properties.refresh()
    assert setup.find_of(copy, bpy.context.scene) is None and setup.find_of(arm, bpy.context.scene) is not None
    assert setup.NOTE not in copy and setup.NOTE in arm


def test_an_object_that_another_scene_shows_too_is_no_copy(arm: Any) -> None:
    other = bpy.data.scenes.new("Other")
    other.collection.objects.link(arm)
    properties.refresh()
    assert setup.find_of(arm, other) is None and len(setup.all_of(arm, bpy.context.scene)) == 1


def test_an_appended_object_brings_its_settings_along(arm: Any, tmp_path: Path) -> None:
    item().jiggle, item().follow_group = 5.0, "Mine"
    arm.vertex_groups.new(name="Mine").add([0, 1], 1.0, "REPLACE")
    blend = save(tmp_path / "source.blend")
    bpy.ops.wm.read_homefile(use_empty=True)
    with bpy.data.libraries.load(str(blend)) as (_, wanted):
        wanted.objects = ["Arm"]
    (ob,) = wanted.objects
    bpy.context.scene.collection.objects.link(ob)
    properties.refresh()
    activate(ob.name)
    assert item().jiggle == 5.0 and item().follow_group == "Mine" and "Mine" in ob.vertex_groups


def test_settings_are_copied_to_others_with_the_groups_of_the_same_vertices(arm: Any) -> None:
    item().jiggle, item().stiffness_group, item().safe_shape_key = 5.0, "Hard", "Apart"
    arm.vertex_groups.new(name="Hard").add([0, 3, 7], 0.37, "REPLACE")
    for name in ("Basis", "Apart"):
        arm.shape_key_add(name=name)
    twin = arm.copy()
    twin.data = arm.data.copy()
    twin.vertex_groups.remove(twin.vertex_groups["Hard"])
    del twin[setup.NOTE]
    block = scenes.build_block(frames=FRAMES)
    bpy.context.scene.collection.objects.link(twin)
    assert not bpy.ops.sinew.copy_settings.poll()
    for ob in (arm, twin, block):
        ob.select_set(True)
    activate("Arm")
    assert bpy.ops.sinew.copy_settings() == {"FINISHED"}
    assert of(twin).settings == of(arm).settings and of(twin).id != of(arm).id
    assert fingerprint.take_weights(twin, "Hard") == fingerprint.take_weights(arm, "Hard")
    assert of(block).settings["jiggle"] == 5.0
    assert not {"stiffness_group", "safe_shape_key"} & set(of(block).settings)
    activate(twin.name)
    assert bpy.ops.sinew.bake() == {"FINISHED"} and stack.own_modifier(twin) is not None


def test_a_copy_that_is_added_by_hand_has_the_settings_too(arm: Any) -> None:
    item().jiggle = 5.0
    copy = arm.copy()
    copy.name = "Other"
    bpy.context.scene.collection.objects.link(copy)
    add_setup("Other")
    assert item().jiggle == 5.0
