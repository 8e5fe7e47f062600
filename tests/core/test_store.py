from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sinew.core.bake import folders
from sinew.core.bake.manifest import Manifest
from sinew.core.bake.store import Store
from sinew.core.base import disk
from sinew.core.base.errors import StoreError
from sinew.core.flesh.engine import FleshNumbers

SAMPLES = 4


def manifest(**changes: Any) -> Manifest:
    values = {
        "id": "",
        "owner_file": "shot.blend",
        "owner_setup": "5e70",
        "owner_object": "Body",
        "vertices": 5,
        "triangles": 2,
        "method": "enrich",
        "counts": {"cage_vertices": 4, "tets": 1, "parts": 0, "safe": 0, "inside": 0, "fields": 0, "animated": 0},
        "samples": SAMPLES,
        "samples_per_frame": 1,
        "first_frame": 1,
        "frame_start": 1,
        "frame_end": SAMPLES,
        "frame_rate": 24.0,
        "identity": "abc",
        "topology": "def",
        "native": "1",
        "build": "0",
    }
    return Manifest(**{**values, **changes})


def constants() -> dict[str, Any]:
    return {
        "rest": np.zeros((5, 3)),
        "triangles": np.zeros((2, 3), np.int32),
        "follow": np.ones(5),
        "cage_vertices": np.arange(12.0).reshape(4, 3),
        "cage_tets": np.array([[0, 1, 2, 3]], np.int32),
        "cage_binding": np.zeros(5, np.int32),
        "cage_weights": np.full((5, 4), 0.25),
    }


def fill(made: Store, indices: range) -> None:
    random = np.random.default_rng(7)
    for index in indices:
        made.write("input", index, random.normal(size=(5, 3)))
        made.write("matrix", index, np.eye(4))
        made.mark_sampled(index, f"hash{index}")
        for name in ("fitted", "simulated", "velocity"):
            made.write(name, index, random.normal(size=(4, 3)))
        made.write_result(index, np.full((5, 3), index, np.float32))
        made.mark_done(index, "key", FleshNumbers(fit_rms=0.5, fit_max=float("nan")))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "sinew"


@pytest.fixture
def folder(root: Path) -> Path:
    with Store.create(root, manifest(), constants()) as made:
        fill(made, range(3))
        return made.folder


def edit(folder: Path, **changes: Any) -> None:
    data = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**data, **changes}))


def test_what_was_written_is_read_back_after_reopening(root: Path, folder: Path) -> None:
    with Store.open(root, folder.name) as opened:
        assert opened.done == 3
        assert np.array_equal(opened.constant("cage_vertices"), constants()["cage_vertices"])
        assert np.array_equal(opened.read_result(2), np.full((5, 3), 2, np.float32))
        assert opened.marks[1] is not None and opened.marks[1].input == "hash1"
        assert opened.marks[1].numbers == FleshNumbers(fit_rms=0.5)
        assert opened.marks[1].data == opened.digest(1)


def test_every_bake_gets_an_id_of_its_own(root: Path) -> None:
    ids = set()
    for _ in range(5):
        with Store.create(root, manifest(), constants()) as made:
            ids.add(made.manifest.id)
    assert len(ids) == 5


def test_a_second_writer_is_kept_out_until_the_first_ends(root: Path, folder: Path) -> None:
    with Store.open(root, folder.name, writable=True):
        with pytest.raises(StoreError, match="Another bake"):
            Store.open(root, folder.name, writable=True)
        Store.open(root, folder.name).close()
    Store.open(root, folder.name, writable=True).close()


@pytest.mark.parametrize("tail", [b'{"frame":3,"torn', b"\xff\xfe\n", b"[1]\n", b'{"frame":99,"input":"x"}\n', b"{}\n"])
def test_a_torn_or_strange_line_is_ignored_and_removed(root: Path, folder: Path, tail: bytes) -> None:
    log = folder / "frames.jsonl"
    good = log.read_bytes()
    log.write_bytes(good + tail)
    with Store.open(root, folder.name, writable=True) as opened:
        assert opened.done == 3
        fill(opened, range(3, 4))
    assert log.read_bytes().startswith(good) and tail not in log.read_bytes()
    with Store.open(root, folder.name) as opened:
        assert opened.done == 4


def test_opening_shows_the_input_where_a_result_was_not_finished(root: Path, folder: Path) -> None:
    with Store.open(root, folder.name, writable=True) as opened:
        opened.write("input", 3, np.full((5, 3), 9.0))
        opened.mark_sampled(3, "hash3")
        opened.write_result(3, np.full((5, 3), np.nan, np.float32))
    with Store.open(root, folder.name, writable=True) as opened:
        assert np.array_equal(opened.read_result(3), np.full((5, 3), 9, np.float32))
        assert np.array_equal(opened.read_result(2), np.full((5, 3), 2, np.float32))


def test_voided_frames_stay_voided_after_reopening(root: Path, folder: Path) -> None:
    with Store.open(root, folder.name, writable=True) as opened:
        opened.void_from(1)
    with Store.open(root, folder.name) as opened:
        assert opened.done == 1


@pytest.mark.parametrize(
    "changes",
    [
        {"vertices": -5}, {"vertices": 0}, {"vertices": 2**40}, {"vertices": 2**31 - 1}, {"samples": 2**31 - 1},
        {"samples": 5}, {"tets": 10**9}, {"triangles": -1}, {"vertices": 5.0}, {"vertices": True}, {"vertices": "5"},
        {"id": "../../etc"}, {"id": "/etc/passwd"}, {"id": "0" * 16}, {"schema": 1}, {"schema": None},
        {"settings": []}, {"complete": 1}, {"frame_rate": 0.0}, {"first_frame": 2**40}, {"extra": 1},
        {"samples_per_frame": 0}, {"frame_rate": 1e308},
    ],
)  # fmt: skip
def test_a_hostile_manifest_is_answered_with_a_sentence(root: Path, folder: Path, changes: dict[str, Any]) -> None:
    edit(folder, **changes)
    with pytest.raises(StoreError, match="bake again"):
        Store.open(root, folder.name)


@pytest.mark.parametrize("text", ["", "{", "null", "[" * 100_000, '{"a": NaN}', "\x00", '"' + "a" * 100])
def test_a_manifest_that_is_no_table_is_answered_with_a_sentence(root: Path, folder: Path, text: str) -> None:
    (folder / "manifest.json").write_text(text)
    with pytest.raises(StoreError, match="bake again"):
        Store.open(root, folder.name)


def test_a_huge_manifest_is_not_read(root: Path, folder: Path) -> None:
    with open(folder / "manifest.json", "r+b") as file:
        file.truncate(10**12)
    with pytest.raises(StoreError, match="too large"):
        Store.open(root, folder.name)


@pytest.mark.parametrize("bake_id", ["..", "../x", "/etc", "", "0" * 15, "0" * 17, "0000000000000000\n", "A" * 16])
def test_an_id_that_is_a_path_is_refused(root: Path, folder: Path, bake_id: str) -> None:
    with pytest.raises(StoreError):
        Store.open(root, bake_id)


@pytest.mark.parametrize("name", ["manifest.json", "input.f32", "result.pc2", "frames.jsonl", "simulated.f64", "lock"])
def test_links_inside_a_folder_are_not_followed(root: Path, folder: Path, name: str, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (folder / name).rename(outside)
    before = outside.read_bytes()
    (folder / name).symlink_to(outside)
    with pytest.raises(StoreError):
        Store.open(root, folder.name, writable=True)
    assert outside.read_bytes() == before


def test_a_folder_that_is_a_link_is_not_opened(root: Path, folder: Path) -> None:
    (root / ("1" * 16)).symlink_to(folder)
    with pytest.raises(StoreError, match="missing"):
        Store.open(root, "1" * 16)


def test_a_pipe_in_place_of_a_file_does_not_hang(root: Path, folder: Path) -> None:
    (folder / "manifest.json").unlink()
    os.mkfifo(folder / "manifest.json")
    with pytest.raises(StoreError, match="ordinary"):
        Store.open(root, folder.name)


@pytest.mark.parametrize("name", ["input.f32", "fitted.f64", "rest.f64", "cage_tets.i32", "result.pc2"])
def test_a_file_of_wrong_size_or_a_missing_one_is_named(root: Path, folder: Path, name: str) -> None:
    with open(folder / name, "r+b") as file:
        file.truncate(7)
    with pytest.raises(StoreError, match=name):
        Store.open(root, folder.name)
    (folder / name).unlink()
    with pytest.raises(StoreError, match=name):
        Store.open(root, folder.name)


def test_a_full_disk_is_named_and_finished_frames_stay(root: Path, folder: Path, monkeypatch) -> None:
    with Store.open(root, folder.name, writable=True) as opened:

        class Full:
            def seek(self, *_: int) -> None: ...

            def write(self, _: bytes) -> None:
                raise OSError(errno.ENOSPC, "No space left on device")

            def close(self) -> None: ...

        monkeypatch.setitem(opened._files, "input", Full())
        with pytest.raises(StoreError, match="full"):
            opened.write("input", 3, np.zeros((5, 3)))
    with Store.open(root, folder.name) as opened:
        assert opened.done == 3


def test_a_bake_that_cannot_fit_on_the_disk_is_refused_before_it_starts(root: Path) -> None:
    with pytest.raises(StoreError, match="too full"):
        Store.create(root, manifest(vertices=2**31 - 1, samples=10**6), constants())
    assert not root.exists()


def test_a_failed_creation_leaves_nothing(root: Path) -> None:
    with pytest.raises(ValueError, match="follow"):
        Store.create(root, manifest(), {**constants(), "follow": np.ones(4)})
    assert not root.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder_is_named(root: Path) -> None:
    root.mkdir()
    root.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(StoreError, match="permissions"):
        Store.create(root, manifest(), constants())


def test_denied_access_becomes_a_sentence() -> None:
    with pytest.raises(StoreError, match="permissions"), disk.sentences("/x"):
        raise OSError(errno.EROFS, "Read-only file system")


def test_only_the_owner_removes_a_bake(root: Path, folder: Path) -> None:
    assert not folders.remove(root, folder.name, "other.blend")
    assert folder.is_dir()
    assert folders.remove(root, folder.name, "shot.blend")
    assert not folder.exists()


def test_a_bake_in_use_is_not_removed(root: Path, folder: Path) -> None:
    with Store.open(root, folder.name, writable=True):
        assert not folders.remove(root, folder.name, "shot.blend")
    assert folder.is_dir()


def test_leftovers_of_the_same_setup_go_and_others_stay(root: Path, folder: Path) -> None:
    others = []
    for changes in ({}, {"owner_setup": "0a70"}, {"owner_file": "b.blend"}):
        with Store.create(root, manifest(**changes), constants()) as made:
            others.append(made.manifest.id)
    folders.remove_leftovers(root, "shot.blend", {others[0]}, setups={"5e70"})
    assert sorted(os.listdir(root)) == sorted(others)


def test_a_moved_bake_belongs_to_the_file_beside_it(root: Path, folder: Path) -> None:
    target = root.parent / "elsewhere" / "sinew"
    assert folders.move(root, folder.name, target, "saved.blend") == target / folder.name
    assert not folder.exists()
    with Store.open(target, folder.name) as store:
        assert store.manifest.owner_file == "saved.blend" and store.done == 3


def test_the_manifest_is_replaced_in_one_step(root: Path, folder: Path, monkeypatch) -> None:
    before = (folder / "manifest.json").read_bytes()

    def failing(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    with Store.open(root, folder.name, writable=True) as opened:
        monkeypatch.setattr(os, "replace", failing)
        with pytest.raises(StoreError):
            opened.complete({})
    assert (folder / "manifest.json").read_bytes() == before
    assert not [name for name in os.listdir(folder) if name.endswith(".new")]
