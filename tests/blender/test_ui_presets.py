"""The presets menu: apply, keep, remove."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import panel_use
import pytest
from sinew.core.methods import presets as core_presets
from sinew.ui.setup import presets, properties


@pytest.fixture
def item(arm: Any, tmp_path: Path, monkeypatch: Any) -> Any:
    monkeypatch.setattr(presets, "folder", lambda: tmp_path / "presets" / "sinew")
    return panel_use.item()


def test_the_users_presets_lie_with_those_of_blender() -> None:
    assert presets.folder().parts[-2:] == ("presets", "sinew")


def test_every_preset_sets_the_look_and_nothing_else(item: Any) -> None:
    item.resolution, item.samples, item.preroll, item.energy = 9, "2", 3, "stvk"
    item.use_frame_end, item.frame_end = True, 33
    item.follow_group = "upper"
    for name, preset in core_presets.load_all().items():
        if preset.method != "enrich":
            with pytest.raises(RuntimeError, match="is a preset of"):
                bpy.ops.sinew.apply_preset(name=name)
            continue
        assert bpy.ops.sinew.apply_preset(name=name) == {"FINISHED"}
        for key, value in preset.values.items():
            assert getattr(item, key) == pytest.approx(value), (name, key)
        kept = properties.settings_of(item)
        assert (kept.resolution, kept.samples, kept.preroll, kept.frame_end) == (9, 2, 3, 33)
        assert (kept.follow_group, kept.energy) == ("upper", "stvk")


def test_artists_presets_take_a_material_away_again(item: Any) -> None:
    bpy.ops.sinew.apply_preset(name="rubber")
    assert item.young > 0.0
    bpy.ops.sinew.apply_preset(name="heavy")
    assert item.young == 0.0 and item.jiggle == pytest.approx(1.6)


def test_a_preset_is_kept_listed_applied_and_removed(item: Any) -> None:
    item.jiggle, item.maximum_offset = 2.5, 0.25
    assert bpy.ops.sinew.add_preset(name='  My "soft" Ears/é ') == {"FINISHED"}
    (own,) = core_presets.load_own(presets.folder()).values()
    assert own.label == 'My "soft" Ears/é' and own.values["jiggle"] == 2.5
    bpy.ops.sinew.apply_preset(name="natural")
    assert item.maximum_offset == 0.0
    bpy.ops.sinew.apply_preset(name=own.name, own=True)
    assert item.jiggle == 2.5 and item.maximum_offset == 0.25
    item.jiggle = 2.0
    bpy.ops.sinew.add_preset(name=own.label)
    (own,) = core_presets.load_own(presets.folder()).values()
    assert own.values["jiggle"] == 2.0
    assert bpy.ops.sinew.remove_preset(name=own.name) == {"FINISHED"}
    assert core_presets.load_own(presets.folder()) == {}
    with pytest.raises(RuntimeError, match="gone"):
        bpy.ops.sinew.apply_preset(name=own.name, own=True)


def test_a_preset_without_a_name_is_refused(item: Any) -> None:
    with pytest.raises(RuntimeError, match="type one"):
        bpy.ops.sinew.add_preset(name=" / ")


def test_applying_can_be_undone(item: Any) -> None:
    assert "UNDO" in presets.SINEW_OT_apply_preset.bl_options
    assert "UNDO" not in presets.SINEW_OT_add_preset.bl_options  # a file is not undone


def test_the_tooltip_says_what_it_will_look_like(item: Any) -> None:
    class Values:
        name, own = "heavy", False

    told = presets.SINEW_OT_apply_preset.description(bpy.context, Values)
    assert "slow swings" in told and "Jiggle 1.6" in told
