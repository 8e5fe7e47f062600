"""A file and a bake of the version before methods were several: they open, play, continue and are re-balanced."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from inside import baked_samples, load, shown_at
from sinew import setups
from sinew.core.bake.store import Store
from sinew.scene import setup
from sinew.scene.steps import finished
from sinew.ui.setup import properties, state

OLD = Path(__file__).resolve().parents[1] / "data" / "schema_3"


@pytest.fixture
def blend(registered: None, tmp_path: Path) -> Path:
    shutil.copytree(OLD, tmp_path / "old")
    load(tmp_path / "old" / "arm.blend")
    return tmp_path / "old" / "arm.blend"


def arm() -> Any:
    return bpy.context.scene.objects["Arm"]


def folder_of(blend: Path) -> Path:
    entry = setup.find_of(arm(), bpy.context.scene)
    assert entry is not None
    return blend.parent / "sinew" / entry.bake


def test_it_plays_and_its_setup_is_one_of_flesh(blend: Path) -> None:
    played = baked_samples(folder_of(blend))
    for frame in range(1, 7):
        assert np.array_equal(shown_at(arm(), frame), played[frame - 1])
    (raw,) = bpy.context.scene[setup.KEY]
    assert raw["schema"] == 2 and "method" not in raw
    (entry,) = setup.load()
    assert (entry.method, entry.settings["rigid_group"], len(entry.passengers)) == ("enrich", "Bony", 1)
    assert (entry.settings["bone_core"], entry.settings["rigid_shells"]) == (0.0, False)  # the defaults of then
    setup.save_of(arm(), entry, bpy.context.scene)
    (raw,) = bpy.context.scene[setup.KEY]
    assert (raw["schema"], raw["method"]) == (setup.SCHEMA, "enrich")


def test_a_bake_of_then_marked_as_of_this_engine_is_continued(blend: Path) -> None:
    """Its files are as they were written then; only who made it is written over, for another engine starts anew."""
    folder = folder_of(blend)
    before = baked_samples(folder)
    made_by_this_engine(folder)
    lines = (folder / "frames.jsonl").read_text().splitlines(keepends=True)
    (folder / "frames.jsonl").write_text("".join(line for line in lines if '"frame":5' not in line))
    outcome = setups.bake_object("Arm", {}, setups.Target(blend))
    assert outcome.id == folder.name and outcome.report["computed"] == 1
    after = baked_samples(folder)
    assert np.array_equal(after[:5], before[:5])
    # by today's flesh, which swings as far and not to the same place
    assert 1e-2 < np.abs(after[5] - shown_input(6)).max() < 2.0 * np.abs(before[5] - shown_input(6)).max()


def made_by_this_engine(folder: Path) -> None:
    """Gives an older bake the marks that this engine would have given it."""
    work = setups.Sampling("Arm", {}, setups.Target(folder.parents[1] / "arm.blend"))
    with work:
        for _ in work.prepare():
            pass
    with Store.open(folder.parent, folder.name, writable=True) as store:
        shot = work.shot
        store.describe(complete=False, native=shot.native, build=shot.build, identity=shot.identity())


def shown_input(frame: int) -> Any:
    arm().modifiers["Sinew"].show_viewport = False
    return shown_at(arm(), frame)


def test_it_is_rebalanced_without_a_new_bake(blend: Path) -> None:
    entry = setup.find_of(arm(), bpy.context.scene)
    assert entry is not None
    old = folder_of(blend)
    entry.settings["follow_after"] = 1.0
    setup.save_of(arm(), entry, bpy.context.scene)
    work = setups.ObjectRemake("Arm", setups.Target(blend))
    finished(work.look())
    outcome = work.run()
    work.attach(outcome)
    assert folder_of(blend).name == outcome.id != old.name
    with Store.open(blend.parent / "sinew", outcome.id) as store:
        assert np.abs(store.read_result(3) - store.read("input", 3)).max() < 1e-3
    assert np.abs(baked_samples(old)[3] - baked_samples(outcome.folder)[3]).max() > 1e-2


def test_an_older_engine_is_not_gone_on_from(blend: Path) -> None:
    """What is finished plays on, and Bake begins anew: today's flesh would leave a seam."""
    before = folder_of(blend)
    entry = setup.find_of(arm(), bpy.context.scene)
    assert entry is not None and "another engine" in str(setups.check_object(entry, setups.Target(blend)))
    item = properties.find(bpy.context.scene, arm())
    assert state.of(item).kind == state.STALE and "engine has changed" in state.of(item).text
    with Store.open(before.parent, before.name, writable=True) as store:
        store.describe(complete=False)
    outcome = setups.bake_object("Arm", {}, setups.Target(blend))
    assert outcome.report["computed"] == 6 and outcome.id != before.name
