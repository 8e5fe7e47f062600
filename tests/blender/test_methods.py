"""A fake method of a few lines in Blender: it bakes, alone and in a group with flesh, and shows its panel."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import scenes
import sinew
from fake_layout import draw
from inside import baked_samples, save, shown_at
from panel_use import add_setup, item, state_now
from sinew import setups
from sinew.core.bake import folders
from sinew.core.bake.settings import BakeSettings
from sinew.core.base.settings import setting
from sinew.scene import setup
from sinew.ui.setup import state

sys.path.append(str(Path(__file__).resolve().parents[1] / "core"))
import fake_method  # noqa: E402

FRAMES = 6


@dataclass(frozen=True)
class TrailSettings(BakeSettings):
    lag: float = setting(0.5, "How far it trails", low=0.0, high=1.0, label="Lag")


@pytest.fixture
def trail() -> Iterator[None]:
    with fake_method.registered(TrailSettings):
        sinew.register()
        try:
            yield
        finally:
            sinew.unregister()


@pytest.fixture
def ball(trail: None, tmp_path: Path) -> Any:
    scenes.reset_scene()
    ob = scenes.build_ball(divisions=3, frames=FRAMES)
    save(tmp_path / "ball.blend")
    return ob


def target() -> Any:
    return setups.Target(Path(bpy.data.filepath))


def test_it_bakes_plays_and_is_checked(ball: Any) -> None:
    outcome = setups.bake_object("Ball", {}, target(), method="trail")
    assert outcome.report["method"] == "trail" and "It trails." in outcome.report["warnings"]
    played = baked_samples(outcome.folder)
    for frame in range(1, FRAMES + 1):
        assert np.array_equal(shown_at(ball, frame), played[frame - 1])
    ball.modifiers["Sinew"].show_viewport = False
    assert np.abs(shown_at(ball, 3) - played[2]).max() > 0.01
    ball.modifiers["Sinew"].show_viewport = True
    (entry,) = setup.load()
    assert entry.method == "trail" and setups.check_object(entry, target()) is None
    assert setups.bake_object("Ball", {}, target()).unchanged  # by the method of its setup


@pytest.mark.once
def test_a_group_of_two_methods_is_baked_by_one_job(ball: Any) -> None:
    blob = scenes.build_blob(divisions=4, frames=FRAMES)
    wanted = [setups.Wanted("Ball", {}, "trail"), setups.Wanted("Blob", {"resolution": 5, "substeps": 1})]
    outcomes = setups.bake_objects(wanted, target())
    assert [outcome.report["method"] for outcome in outcomes] == ["trail", "enrich"]
    for ob, outcome in zip((ball, blob), outcomes, strict=True):
        assert np.array_equal(shown_at(ob, 4), baked_samples(outcome.folder)[3])
    assert {entry.object_name: entry.method for entry in setup.load()} == {"Ball": "trail", "Blob": "enrich"}
    alone = setups.bake_object("Blob", {"resolution": 5, "substeps": 1}, setups.Target(target().root / "other.blend"))
    assert np.array_equal(baked_samples(alone.folder), baked_samples(outcomes[1].folder))


@pytest.mark.once
def test_two_objects_of_one_world_are_baked_by_one_job_checked_and_played(ball: Any) -> None:
    blob = scenes.build_blob(divisions=4, frames=FRAMES)
    quick = {"resolution": 5, "substeps": 1}
    wanted = [setups.Wanted(name, quick, "enrich", world="one") for name in ("Ball", "Blob")]
    outcomes = setups.bake_objects(wanted, target())
    manifests = [folders.read_manifest(outcome.folder.parent, outcome.id) for outcome in outcomes]
    assert manifests[0] and manifests[1] and manifests[0].together == manifests[1].together != ""
    for ob, outcome in zip((ball, blob), outcomes, strict=True):
        assert np.array_equal(shown_at(ob, 4), baked_samples(outcome.folder)[3])
    assert [setups.check_object(entry, target()) for entry in setup.load()] == [None, None]
    assert all(outcome.unchanged for outcome in setups.bake_objects(wanted, target()))
    entry = next(entry for entry in setup.load() if entry.object_name == "Blob")
    entry.settings["jiggle"] = 2.0
    assert "have changed" in (setups.check_object(entry, target()) or "")


def test_a_command_reads_values_as_those_of_the_setups_method(ball: Any, capsys: Any) -> None:
    from sinew.command import main

    def ran(*words: str) -> tuple[int, str]:
        code = main([words[0], bpy.data.filepath, "--object", "Ball", *words[1:]])
        return code, capsys.readouterr().err

    assert ran("bake", "--method", "trail")[0] == 0
    assert ran("bake", "--set", "lag=0.25")[0] == 0
    assert [entry.settings for entry in setup.load()] == [{"lag": 0.25}]
    assert 'no setting "jiggle"' in ran("bake", "--set", "jiggle=2")[1]
    code, told = ran("bake", "--preset", "jelly")
    assert code == 1 and 'The preset "jelly" is one of enrich, and this is baked by trail' in told
    code, told = ran("fit", "--set", "resolution=5")
    assert code == 1 and '"Ball" is baked by Trail, which has nothing to try: choose its setup of Flesh.' in told
    assert [entry.settings for entry in setup.load()] == [{"lag": 0.25}]


def test_its_panel_shows_its_settings_and_bakes(ball: Any) -> None:
    from sinew.ui.enrich import panel as flesh
    from sinew.ui.setup import panel

    bpy.context.view_layer.objects.active = ball
    bpy.ops.sinew.add(method="trail")
    layout = draw(panel.SINEW_PT_setup)
    assert {"lag", "amount", "use_gravity"} <= set(layout.properties) and "jiggle" not in layout.properties
    assert "sinew.bake" in layout.operators
    assert panel.SINEW_PT_frames.poll(bpy.context) and not flesh.SINEW_PT_follow.poll(bpy.context)
    preview = draw(panel.SINEW_PT_preview).properties
    assert "preview_frames" in preview and "preview_resolution" not in preview
    item().lag = 0.25
    (entry,) = setup.load()
    assert entry.settings == {"lag": 0.25}
    assert bpy.ops.sinew.bake() == {"FINISHED"}
    assert any("Baked" in label for label in draw(panel.SINEW_PT_setup).labels)
    assert any("one trail" in label for label in draw(panel.SINEW_PT_report).labels)


def test_a_preset_of_it_tells_its_own_values(ball: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from sinew.ui.setup import presets

    monkeypatch.setattr(presets, "folder", lambda: tmp_path)
    bpy.context.view_layer.objects.active = ball
    bpy.ops.sinew.add(method="trail")
    item().amount = 0.5
    assert bpy.ops.sinew.add_preset(name="Late") == {"FINISHED"}
    (made,) = presets.presets.load_own(tmp_path).values()
    assert made.method == "trail"

    class Values:
        name, own = made.name, True

    assert "Amount 0.5" in presets.SINEW_OT_apply_preset.description(bpy.context, Values)


def test_an_object_has_several_setups_and_shows_the_chosen_one(ball: Any) -> None:
    from sinew.ui.setup import panel

    add_setup(ball.name)
    item().jiggle = 2.0
    bpy.context.view_layer.objects.active = ball
    assert draw(panel.SINEW_PT_setup).operators.count("sinew.choose") == 1
    bpy.ops.sinew.add(method="trail")
    flesh, trailing = setup.all_of(ball, bpy.context.scene)
    assert (flesh.method, trailing.method) == ("enrich", "trail") and flesh.settings["jiggle"] == 2.0
    assert "lag" in draw(panel.SINEW_PT_setup).properties
    bpy.ops.sinew.choose(id=flesh.id)
    assert "jiggle" in draw(panel.SINEW_PT_setup).properties
    assert setup.find_of(ball, bpy.context.scene).id == flesh.id
    for method in ("trail", "enrich"):
        outcome = setups.bake_object("Ball", {"resolution": 5} if method == "enrich" else {}, target(), method=method)
        assert np.array_equal(shown_at(ball, 3), baked_samples(outcome.folder)[2])
    bakes = {entry.method: entry.bake for entry in setup.all_of(ball, bpy.context.scene)}
    assert len(set(bakes.values())) == 2 and all(bakes.values())
    for entry in (trailing, flesh):  # the bake of the chosen one plays, and nothing is simulated for it
        bpy.ops.sinew.choose(id=entry.id)
        folder = target().root / bakes[entry.method]
        assert np.array_equal(shown_at(ball, 3), baked_samples(folder)[2])
        assert state_now().kind == state.BAKED
    bpy.ops.sinew.remove()
    assert [entry.method for entry in setup.all_of(ball, bpy.context.scene)] == ["trail"]
