"""Bakes of an older schema open, play, continue and are re-balanced: tests/data/schema_3 was made by the version before
methods were several."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from sinew.core.bake import fields, folders, remake
from sinew.core.bake.manifest import SCHEMA
from sinew.core.bake.report import lines, told
from sinew.core.bake.shot import stored_sample
from sinew.core.bake.store import Store
from sinew.core.flesh.settings import Settings
from sinew.core.methods.enrich import METHOD

OLD = Path(__file__).resolve().parents[1] / "data" / "schema_3"
(BAKE,) = (folder.name for folder in (OLD / "sinew").iterdir())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    shutil.copytree(OLD / "sinew", tmp_path / "sinew")
    return tmp_path / "sinew"


def test_the_data_is_of_an_older_schema() -> None:
    assert json.loads((OLD / "sinew" / BAKE / "manifest.json").read_text())["schema"] == 3 < SCHEMA


def test_an_older_bake_opens_with_all_its_frames(root: Path) -> None:
    with Store.open(root, BAKE) as store:
        manifest = store.manifest
        assert (manifest.schema, manifest.method) == (SCHEMA, "enrich")
        counts = {"cage_vertices": 51, "tets": 104, "parts": 1, "safe": 0, "inside": 0, "fields": 0, "animated": 0}
        assert manifest.counts == counts
        assert store.done == manifest.samples == 6
        for index, mark in enumerate(store.marks):
            assert mark is not None and mark.data == store.digest(index)
        assert store.marks[1].numbers.fit_rms > 0.0 and store.marks[0].numbers.restarted == 0.0
        assert store.constant("tracked").shape == (56,)
    assert lines(manifest.report)[0] == "Arm: 6 frames, 56 vertices, 104 tets"
    assert "104 tets" in told(manifest.report)[0]


def test_reading_leaves_an_older_bake_as_it_is_and_writing_raises_its_schema(root: Path) -> None:
    before = (root / BAKE / "manifest.json").read_bytes()
    with Store.open(root, BAKE):
        pass
    assert (root / BAKE / "manifest.json").read_bytes() == before
    with Store.open(root, BAKE, writable=True) as store:
        store.describe(owner_file="other.blend")
    data = json.loads((root / BAKE / "manifest.json").read_text())
    assert data["schema"] == SCHEMA and data["method"] == "enrich" and "tets" not in data
    found = folders.read_manifest(root, BAKE)
    assert found is not None and found.owner_file == "other.blend"


@pytest.mark.parametrize("schema", [4, 5])
def test_bakes_of_the_schemas_between_open_with_what_acts_from_outside(root: Path, schema: int) -> None:
    path = root / BAKE / "manifest.json"
    with Store.open(root, BAKE, writable=True) as store:
        store.describe(owner_file="other.blend")
        follow = np.random.default_rng(0).random((6, 56)).astype("<f4")
        (store.folder / "fields.f64").write_bytes(np.full(6 * 2 * fields.WIDTH, 0.5).tobytes())
        (store.folder / "follow_now.f32").write_bytes(follow.tobytes())
    data = json.loads(path.read_text())
    for name in ("fields", "animated"):
        del data["counts"][name]
    data |= {"schema": schema, "fields": 2, "animated_follow": True}
    if schema == 4:
        del data["company"], data["together"]
    path.write_text(json.dumps(data))
    with Store.open(root, BAKE) as store:
        assert store.own_inputs == ("fields", "follow_now") and store.manifest.company == ()
        for index in range(6):
            sample = stored_sample(store, index)
            assert np.array_equal(sample.read["follow_now"], follow[index])
            assert (sample.read["fields"] == 0.5).all() and sample.read["fields"].shape == (2, fields.WIDTH)


def test_an_older_engine_is_told_from_this_one(root: Path) -> None:
    with Store.open(root, BAKE) as store:
        assert not store.manifest.is_by(METHOD.build())


def test_an_older_bake_is_rebalanced(root: Path) -> None:
    with Store.open(root, BAKE) as store:
        given = [store.read("input", index) for index in range(6)]
        played = [store.read_result(index) for index in range(6)]
        shot = remake.stored_shot(store, Settings(), None)
        again = remake.results_of(store, shot)
        for index in range(6):  # shown anew with its own settings it is what it was
            for made, name in zip(again.made(index), store.result_names, strict=True):
                assert np.abs(made - store.read_result(index, name)).max() < 1e-6
    assert max(np.abs(one - other).max() for one, other in zip(given, played, strict=True)) > 0.01
    outcome = remake.remake(root, BAKE, Settings(follow_after=1.0))
    with Store.open(root, outcome.id) as store:
        for index in range(6):
            # But for its rigid part, which is a body's best fit to the input.
            assert np.abs(store.read_result(index) - given[index]).max() < 1e-3


@pytest.mark.parametrize("missing", ["tets", "samples", "identity"])
def test_a_damaged_older_manifest_is_refused_in_a_sentence(root: Path, missing: str) -> None:
    path = root / BAKE / "manifest.json"
    data = json.loads(path.read_text())
    del data[missing]
    path.write_text(json.dumps(data))
    with pytest.raises(folders.StoreError, match="damaged"):
        Store.open(root, BAKE)
