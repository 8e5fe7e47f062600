"""Trial Fit: numbers before the bake, the fitted cage on the frames that were tried, and nothing left behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
from fake_layout import draw
from inside import run, save
from panel_use import FRAMES, item
from sinew.core.bake.store import Store
from sinew.scene import setup
from sinew.ui import job_operator
from sinew.ui.enrich import cage, overlay, panel, trial, view


def lines() -> list[str]:
    layout = draw(panel.SINEW_PT_cage)
    assert layout is not None
    return list(layout.labels)


def test_a_trial_says_how_well_the_cage_follows_and_bakes_nothing(arm: Any, tmp_path: Path) -> None:
    bpy.context.scene.frame_set(4)
    before = [modifier.name for modifier in arm.modifiers], arm.vertex_groups.keys()
    assert bpy.ops.sinew.trial_fit() == {"FINISHED"}
    assert bpy.context.scene.frame_current == 4 and not (tmp_path / "sinew").exists()
    assert ([modifier.name for modifier in arm.modifiers], arm.vertex_groups.keys()) == before
    found = trial.find(item())
    assert found is not None and len(found.fits) == 5 and 1 <= found.fits[0].frame < found.fits[-1].frame <= FRAMES
    assert 0.0 < found.rms < 0.02 and found.rms < found.worst.max < 0.2
    assert any(line.startswith("Trial fit of frames") for line in lines())
    item().resolution = 9
    assert trial.find(item()) is None and not any("Trial" in line for line in lines())


def test_it_finds_what_the_bake_will_find(arm: Any) -> None:
    bpy.ops.sinew.trial_fit()
    found = trial.find(item())
    bpy.ops.sinew.bake()
    entry = setup.find_of(arm, bpy.context.scene)
    assert entry is not None and found is not None
    root = Path(bpy.data.filepath).parent / "sinew"
    with Store.open(root, entry.bake) as store:
        error = store.manifest.report["fit_error"]
        size = error["rms"] / error["rms_relative"]
        for fit in found.fits:
            baked = error["rms_per_sample"][fit.frame - 1] / size
            assert abs(fit.rms - baked) < 0.2 * baked + 1e-4, fit.frame


def test_the_fitted_cage_shows_on_the_frames_that_were_tried(arm: Any) -> None:
    bpy.ops.sinew.trial_fit()
    found, built = trial.find(item()), cage.find(item())
    assert found is not None and built is not None
    assert item().show_cage and item().cage_shape == view.FITTED
    tried = found.worst
    wire = overlay.wire_of(item(), tried.frame)
    assert wire is not None and np.abs(wire.positions - tried.positions).max() < 1e-6
    other = overlay.wire_of(item(), tried.frame + 0.5)
    assert other is not None and len(other.positions) == len(tried.positions)
    assert np.abs(other.positions - tried.positions).max() > 1e-3, "at rest elsewhere"


def test_esc_while_frames_are_looked_at_restores_the_scene(arm: Any) -> None:
    bpy.context.scene.frame_set(4)
    work = trial.TrialWork(item())
    job_operator.running.work, job_operator.running.sampling = work, True
    for _ in range(6):
        assert work.step()
    assert 0.0 < job_operator.progress()[0] < 1.0
    job_operator.stop("Stopped.")
    assert bpy.context.scene.frame_current == 4 and arm.modifiers["Armature"].show_viewport
    assert trial.find(item()) is None and bpy.ops.sinew.trial_fit() == {"FINISHED"}


@pytest.mark.once
def test_the_command_tries_without_saving(arm: Any, tmp_path: Path) -> None:
    blend = save(tmp_path / "arm.blend")
    before = blend.read_bytes()
    result = run("fit", blend, "--object", "Arm", "--set", "resolution=6")
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("frame ") == 5 and "% max of size" in result.stdout
    assert blend.read_bytes() == before and not (tmp_path / "sinew").exists()
    assert run("fit", blend, "--object", "Nobody").returncode == 1
