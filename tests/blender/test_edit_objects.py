"""Edit Motion on what comes from elsewhere: an Alembic cache, a point cache, a character linked from a library."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import scenes
from inside import load, save, shown_at
from panel_use import FRAMES, item, state_now
from sinew.ui.edit import stored
from sinew.ui.setup import properties, state
from test_ui_edit import AT, world

BY = np.array([0.0, 0.1, 0.05])


def places(ob: Any) -> Any:
    """All frames, in the world."""
    return np.array([world(ob, shown_at(ob, frame)) for frame in range(1, FRAMES + 1)])


def check_pulled_and_cleared(ob: Any) -> None:
    """As an artist edits it: the animation stays as it is, a pull lands, the rest follows, and Clear takes all back."""
    bpy.context.view_layer.objects.active = ob
    given = places(ob)
    assert np.ptp(given, axis=0).max() > 0.05, "it is animated"
    assert bpy.ops.sinew.edit_motion() == {"FINISHED"}
    assert state_now().kind == state.BAKED, state_now().text
    assert np.abs(places(ob) - given).max() < 1e-5, "nothing is simulated"
    tip = int(np.argmax(given[0][:, 2]))
    assert bpy.ops.sinew.pull(vertex=tip, frame=AT, offset=BY) == {"FINISHED"}
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    moved = places(ob) - given
    assert np.linalg.norm(moved[AT - 1, tip] - BY) < 1e-3
    assert np.linalg.norm(moved[[AT - 2, AT], tip], axis=1).min() > 0.02, "frames beside follow"
    bpy.ops.sinew.clear_edits()
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    assert np.abs(places(ob) - given).max() < 1e-5


@pytest.mark.skipif("alembic_export" not in dir(bpy.ops.wm), reason="this Blender is built without Alembic")
def test_an_alembic_cache_is_pulled(registered: None, tmp_path: Path) -> None:
    scenes.reset_scene()
    scenes.build_two_bone_arm(frames=FRAMES)
    cache = str(tmp_path / "arm.abc")
    bpy.ops.wm.alembic_export(filepath=cache, start=1, end=FRAMES, as_background_job=False)
    scenes.reset_scene()
    scenes.set_frames(1, FRAMES)
    save(tmp_path / "shot.blend")
    assert bpy.ops.wm.alembic_import(filepath=cache, as_background_job=False) == {"FINISHED"}
    scenes.set_frames(1, FRAMES)
    ob = next(ob for ob in bpy.data.objects if ob.type == "MESH")
    assert [modifier.type for modifier in ob.modifiers] == ["MESH_SEQUENCE_CACHE"]
    check_pulled_and_cleared(ob)


def test_a_point_cache_is_pulled(registered: None, tmp_path: Path) -> None:
    scenes.reset_scene()
    scenes.build_two_bone_arm(frames=FRAMES)
    ob = bpy.data.objects["Arm"]
    given = [shown_at(ob, frame) for frame in range(1, FRAMES + 1)]
    write_pc2(tmp_path / "arm.pc2", given)
    ob.modifiers.clear()
    cache = ob.modifiers.new("Cache", "MESH_CACHE")
    cache.cache_format, cache.filepath, cache.frame_start = "PC2", str(tmp_path / "arm.pc2"), 1.0
    save(tmp_path / "shot.blend")
    check_pulled_and_cleared(ob)


def write_pc2(path: Path, frames: list[Any]) -> None:
    head = struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(frames[0]), 0.0, 1.0, len(frames))
    path.write_bytes(head + np.array(frames, "<f4").tobytes())


def link_character(tmp_path: Path) -> Any:
    """A shot with an override of a character of another file: its mesh, which is not this file's."""
    scenes.reset_scene()
    scenes.build_two_bone_arm(frames=FRAMES)
    collection = bpy.data.collections.new("Character")
    for ob in list(bpy.context.scene.collection.objects):
        bpy.context.scene.collection.objects.unlink(ob)
        collection.objects.link(ob)
    bpy.context.scene.collection.children.link(collection)
    library = save(tmp_path / "library.blend")
    scenes.reset_scene()
    scenes.set_frames(1, FRAMES)
    (tmp_path / "shot").mkdir()
    save(tmp_path / "shot" / "shot.blend")
    with bpy.data.libraries.load(str(library), link=True) as (_, wanted):
        wanted.collections = ["Character"]
    wanted.collections[0].override_hierarchy_create(bpy.context.scene, bpy.context.view_layer, do_fully_editable=True)
    return bpy.context.scene.objects["Arm"]


@pytest.mark.skipif(bpy.app.version < (4, 2), reason="older ones change an override when they read it: it looks stale")
def test_a_linked_character_is_pulled_and_its_library_stays(registered: None, tmp_path: Path) -> None:
    ob = link_character(tmp_path)
    library = (tmp_path / "library.blend").read_bytes()
    assert ob.override_library is not None and ob.data.library is not None
    check_pulled_and_cleared(ob)
    tip = int(np.argmax(places(ob)[0][:, 2]))
    bpy.ops.sinew.pull(vertex=tip, frame=AT, offset=BY)
    assert bpy.ops.sinew.apply_edits() == {"FINISHED"}
    applied = places(ob)
    save(tmp_path / "shot" / "shot.blend")
    load(tmp_path / "shot" / "shot.blend")
    properties.refresh()
    ob = bpy.context.scene.objects["Arm"]
    bpy.context.view_layer.objects.active = ob
    assert np.array_equal(places(ob), applied)
    assert len(stored.edits_of(item()).handles) == 1 and not stored.is_pending(item())
    assert (tmp_path / "library.blend").read_bytes() == library
