"""Sparse painting in Blender: a bake follows what is spread, and the preview shows it as a vertex group."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import pytest
from panel_use import item, state_now
from sinew import setups
from sinew.core.bake.store import Store
from sinew.scene import setup
from sinew.ui.setup import state

GROUP = "Few"


@pytest.fixture
def arm(arm: Any) -> Any:
    """The same with three painted vertices: two follow, one is free."""
    positions = np.array([vertex.co for vertex in arm.data.vertices])
    along = int(np.argmax(np.ptp(positions, axis=0)))
    order = np.argsort(positions[:, along])
    group = arm.vertex_groups.new(name=GROUP)
    group.add([int(i) for i in order[:2]], 1.0, "REPLACE")
    group.add([int(order[-1])], 0.0, "REPLACE")
    item().resolution, item().follow_group, item().spread = 8, GROUP, True
    return arm


def weights(ob: Any, name: str) -> np.ndarray:
    index = ob.vertex_groups[name].index
    found = [[e.weight for e in vertex.groups if e.group == index] for vertex in ob.data.vertices]
    return np.array([one[0] if one else np.nan for one in found])


def test_a_bake_follows_the_spread_and_the_preview_shows_it(arm: Any) -> None:
    before = weights(arm, GROUP)
    assert np.isfinite(before).sum() == 3
    assert bpy.ops.sinew.preview_spread() == {"FINISHED"}
    shown = weights(arm, "Sinew Spread")
    assert np.array_equal(weights(arm, GROUP), before, equal_nan=True)
    assert np.isfinite(shown).all()
    assert ((shown > 0.1) & (shown < 0.9)).sum() > len(shown) / 4, "they lie between"
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    entry = setup.find_of(arm, bpy.context.scene)
    assert entry is not None
    with Store.open(state.target().root, entry.bake) as store:
        assert np.abs(store.constant("follow") - shown).max() < 0.01
    assert setups.check_object(entry, state.target()) is None


def test_a_vertex_painted_free_counts_and_makes_the_bake_stale(arm: Any) -> None:
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert state_now().kind == state.BAKED
    arm.vertex_groups[GROUP].add([len(arm.data.vertices) // 2], 0.0, "REPLACE")
    assert "weights" in state_now().text
    item().spread = False
    assert state_now().kind == state.STALE


def test_vertices_of_the_cage_are_spread_too(arm: Any) -> None:
    """Painted in the cage alone: nothing on the mesh."""
    assert bpy.ops.sinew.build_cage() == {"FINISHED"} and bpy.ops.sinew.make_cage_object() == {"FINISHED"}
    arm.vertex_groups[GROUP].remove(list(range(len(arm.data.vertices))))
    cage = bpy.data.objects[item().cage_object]
    along = np.array([vertex.co.x for vertex in cage.data.vertices])
    cage.vertex_groups["Sinew Follow"].add([int(along.argmin())], 1.0, "REPLACE")
    cage.vertex_groups["Sinew Follow"].add([int(along.argmax())], 0.0, "REPLACE")
    assert bpy.ops.sinew.preview_spread() == {"FINISHED"}
    shown = weights(arm, "Sinew Spread")
    assert np.corrcoef([vertex.co.x for vertex in arm.data.vertices], shown)[0, 1] < -0.9
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    with Store.open(state.target().root, setup.find_of(arm, bpy.context.scene).bake) as store:
        assert np.abs(store.constant("follow") - shown).max() < 0.01


def test_the_painted_group_stays_the_active_one(arm: Any) -> None:
    """The next stroke must not go into what only shows."""
    groups = arm.vertex_groups
    for active in (GROUP, "upper"):
        groups.active_index = groups[active].index
        assert bpy.ops.sinew.preview_spread() == {"FINISHED"}
        assert groups.active.name == active
    groups.active_index = groups["Sinew Spread"].index
    assert bpy.ops.sinew.preview_spread() == {"FINISHED"}
    assert groups.active.name == GROUP


def test_undo_takes_the_preview_away(arm: Any) -> None:
    bpy.ops.ed.undo_push(message="before")
    assert bpy.ops.sinew.preview_spread() == {"FINISHED"}
    bpy.ops.ed.undo_push(message="preview")
    bpy.ops.ed.undo()
    assert "Sinew Spread" not in bpy.data.objects["Arm"].vertex_groups


def test_an_empty_group_is_told(arm: Any) -> None:
    arm.vertex_groups[GROUP].remove(list(range(len(arm.data.vertices))))
    with pytest.raises(RuntimeError, match="paint a few"):
        bpy.ops.sinew.preview_spread()
