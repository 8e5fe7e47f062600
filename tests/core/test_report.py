"""What a report says of a bake by the real engine: numbers that can be counted anew from its files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import shots
from bodies import box_surface
from sinew.core.bake import run
from sinew.core.bake.shot import Sample
from sinew.core.bake.store import Store
from sinew.core.cage.welds import Labels
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings


def folding_bar() -> tuple[Any, Any, list[Any]]:
    """A bar along x that folds in its middle, beyond what a solid can."""
    vertices, triangles = box_surface((16, 4, 4), (2.0, 0.5, 0.5))
    vertices = vertices - vertices.mean(axis=0)
    frames = []
    for degrees in (0.0, 60.0, 120.0, 170.0, 130.0, 90.0):
        angle = np.radians(degrees)
        c, s = np.cos(angle), np.sin(angle)
        turned = vertices @ np.array([[c, 0, -s], [0, 1, 0], [s, 0, c]]).T
        frames.append(np.where(vertices[:, :1] > 0.0, turned, vertices))
    return vertices, triangles, frames


def baked(folder: Any, follow: Any) -> run.Outcome:
    vertices, triangles, frames = folding_bar()
    labels = Labels(("root", "elbow", "tip"), np.digitize(vertices[:, 0], [-0.4, 0.4]).astype(np.int32))
    settings = Settings(resolution=10)
    shot = shots.make_shot(vertices, triangles, follow(vertices), len(frames), settings=settings, labels=labels)
    samples = (Sample(i, frame.astype(np.float32), np.eye(4)) for i, frame in enumerate(frames))
    return run.bake(shot, samples, folder)


def inside_out(store: Store, index: int) -> Any:
    corners = store.read("fitted", index)[store.constant("cage_tets")]
    return np.linalg.det(corners[:, 1:] - corners[:, :1]) < 0.0


def test_fitted_tets_inside_out_are_told_where_flesh_is_free_with_count_frame_and_part(tmp_path: Any) -> None:
    outcome = baked(tmp_path, lambda vertices: np.where(vertices[:, 0] < -0.9, 1.0, 0.0))
    told = [note for note in outcome.report["warnings"] if "inside out at" in note]
    with Store.open(tmp_path, outcome.id) as store:
        counts = [int(inside_out(store, index).sum()) for index in range(store.manifest.samples)]
    assert outcome.report["inverted_tets"]["fitted"] == sum(counts)
    assert max(counts) > 5 and counts[0] == 0
    frame = int(np.argmax(counts)) + 1
    assert len(told) == 1 and f"folds {max(counts)} tets" in told[0] and f"frame {frame} (elbow" in told[0]


def test_those_that_follow_the_input_anyway_are_not(tmp_path: Any) -> None:
    outcome = baked(tmp_path, lambda vertices: np.where(vertices[:, 0] < 0.9, 1.0, 0.0))
    inverted = outcome.report["inverted_tets"]
    assert inverted["fitted"] > 5 and inverted["fitted_free"]["total"] < inverted["fitted"]
    assert not [note for note in outcome.report["warnings"] if "inside out at" in note]


def test_added_motion_is_that_of_all_vertices_on_all_frames(tmp_path: Any) -> None:
    outcome = baked(tmp_path, lambda vertices: np.select([vertices[:, 0] < 0.0, vertices[:, 1] < 0.0], [1.0, 0.6], 0.4))
    with Store.open(tmp_path, outcome.id) as store:
        follow, count = store.constant("follow"), store.manifest.samples
        offsets = np.array([store.read_result(i).astype(float) - store.read("input", i) for i in range(count)])
    lengths, added = np.linalg.norm(offsets, axis=2), outcome.report["added_motion"]
    assert np.isclose(added["max"], lengths.max(), rtol=1e-4)
    assert np.isclose(added["rms"], np.sqrt(np.mean(lengths**2)), rtol=1e-4)
    assert np.isclose(added["free_rms"], np.sqrt(np.mean(lengths[:, follow < 0.5] ** 2)), rtol=1e-4)
    assert added["free_vertices"] == (follow < 0.5).sum() and 0.0 < added["rms"] < added["free_rms"] < added["max"]


@pytest.mark.parametrize("found", [True, False])
def test_a_settled_start_that_was_not_found_is_told(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, found: bool
) -> None:
    settle = Enricher.settle

    def settled(self: Enricher, *arguments: Any) -> Any:
        positions = settle(self, *arguments)
        assert self.is_settled
        self.is_settled = found
        return positions

    monkeypatch.setattr(Enricher, "settle", settled)
    vertices, triangles, frames = folding_bar()
    follow = np.where(vertices[:, 0] < -0.9, 1.0, 0.0)
    settings = Settings(resolution=10, start="settled", keep_pose=0.5)
    shot = shots.make_shot(vertices, triangles, follow, 3, settings=settings)
    samples = (Sample(i, frame.astype(np.float32), np.eye(4)) for i, frame in enumerate(frames[:3]))
    told = run.bake(shot, samples, tmp_path).report["warnings"]
    assert any("found no rest" in note for note in told) != found
