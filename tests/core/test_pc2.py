from __future__ import annotations

import struct

import numpy as np
import pytest
from sinew.core.bake import pc2
from sinew.core.base.errors import StoreError


def whole_file(path, vertices: int = 5, samples: int = 3) -> pc2.Header:
    header = pc2.Header(vertices, samples)
    with open(path, "w+b") as file:
        pc2.write_header(file, header)
    return header


def test_slots_come_back_as_written_in_any_order(tmp_path) -> None:
    header = whole_file(tmp_path / "a.pc2")
    shapes = np.random.default_rng(1).normal(size=(3, 5, 3)).astype(np.float32)
    with open(tmp_path / "a.pc2", "r+b") as file:
        for index in (2, 0, 1):
            pc2.write_slot(file, header, index, shapes[index])
    with open(tmp_path / "a.pc2", "rb") as file:
        assert pc2.read_header(file, "a") == header
        for index in range(3):
            assert np.array_equal(pc2.read_slot(file, header, index), shapes[index])


def test_the_layout_is_that_of_the_format(tmp_path) -> None:
    header = whole_file(tmp_path / "a.pc2", 1, 1)
    with open(tmp_path / "a.pc2", "r+b") as file:
        pc2.write_slot(file, header, 0, np.array([[1, 2, 3]], np.float32))
    expected = b"POINTCACHE2\0" + struct.pack("<iiffi", 1, 1, 0.0, 1.0, 1) + struct.pack("<fff", 1, 2, 3)
    assert (tmp_path / "a.pc2").read_bytes() == expected


@pytest.mark.parametrize(
    ("vertices", "samples"), [(-1, 3), (5, -3), (0, 3), (5, 0), (2**31 - 1, 2**31 - 1), (6, 3), (5, 4), (-5, -3)]
)
def test_counts_that_do_not_fit_the_file_are_refused(tmp_path, vertices: int, samples: int) -> None:
    whole_file(tmp_path / "a.pc2")
    with open(tmp_path / "a.pc2", "r+b") as file:
        file.seek(16)
        file.write(struct.pack("<i", vertices))
        file.seek(28)
        file.write(struct.pack("<i", samples))
        file.flush()
        with pytest.raises(StoreError):
            pc2.read_header(file, "a")


@pytest.mark.parametrize("data", [b"", b"POINTCACHE2\0", b"x" * 200])
def test_other_files_are_refused(tmp_path, data: bytes) -> None:
    (tmp_path / "a.pc2").write_bytes(data)
    with open(tmp_path / "a.pc2", "rb") as file, pytest.raises(StoreError):
        pc2.read_header(file, "a")


def test_slots_outside_the_file_are_refused(tmp_path) -> None:
    header = whole_file(tmp_path / "a.pc2")
    with open(tmp_path / "a.pc2", "r+b") as file:
        for index in (-1, 3):
            with pytest.raises(StoreError):
                pc2.read_slot(file, header, index)
            with pytest.raises(IndexError):
                pc2.write_slot(file, header, index, np.zeros((5, 3), np.float32))
        with pytest.raises(ValueError):
            pc2.write_slot(file, header, 0, np.zeros((4, 3), np.float32))
