"""Sparse painting in Blender: a bake follows what is spread, and the preview shows it as a vertex group."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import scenes
import sinew
from inside import save
from sinew import bake_object
from sinew.core.store import Store
from sinew.scene import setup
from sinew.ui.enrich import properties, state

GROUP = "Few"


@pytest.fixture
def arm(tmp_path: Path) -> Iterator[Any]:
    """An animated arm of which three vertices are painted: two follow, one is free."""
    sinew.register()
    scenes.reset_scene()
    scenes.build_two_bone_arm(frames=6)
    save(tmp_path / "arm.blend")
    ob = bpy.data.objects["Arm"]
    bpy.context.view_layer.objects.active = ob
    assert bpy.ops.sinew.add() == {"FINISHED"}
    positions = np.array([vertex.co for vertex in ob.data.vertices])
    along = int(np.argmax(np.ptp(positions, axis=0)))
    order = np.argsort(positions[:, along])
    group = ob.vertex_groups.new(name=GROUP)
    group.add([int(i) for i in order[:2]], 1.0, "REPLACE")
    group.add([int(order[-1])], 0.0, "REPLACE")
    item = bpy.context.scene.sinew.setups[0]
    item.resolution, item.substeps, item.follow_group, item.spread = 8, 1, GROUP, True
    yield ob
    sinew.unregister()


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
    assert bake_object.check_object(entry, state.target()) is None


def test_a_vertex_painted_free_counts_and_makes_the_bake_stale(arm: Any) -> None:
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    item = properties.find(bpy.context.scene, arm)
    assert item is not None
    state.forget()
    assert state.of(item).kind == state.BAKED
    arm.vertex_groups[GROUP].add([len(arm.data.vertices) // 2], 0.0, "REPLACE")
    state.forget()
    assert "weights" in state.of(item).text
    item.spread = False
    state.forget()
    assert state.of(item).kind == state.STALE


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
