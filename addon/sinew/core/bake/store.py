"""Bake folders: where the frames of a bake live, so that no animation is ever held in memory.

`<folder of the .blend>/sinew/<id>/` holds

    manifest.json   what the bake is: counts, range, hashes, settings, whether it is complete
    frames.jsonl    one line when a sample was taken and one when its result was written; only ever appended to
    rest.f64, triangles.i32                                  constants of the bake
    input.f32       for each sample the mesh as Blender gave it, local space
    matrix.f64      for each sample the 4x4 matrix from local space to world metres
    amount.f64      for each sample how much of the simulated motion is used, as keyframed
    result.pc2      what the Mesh Cache modifier plays
    passenger_<n>*  the same for each mesh that is carried along, and what its modifier plays
    and the constants, inputs, what is prepared, and states of its method: its layout.py says which

Samples are fixed slots, but for pieces of a state, whose length differs: these lie in a file one after the other, and a
slot says where. A frame's line is appended after its data was written, so a kill at any moment leaves
every finished frame readable. File names are fixed: nothing in a manifest can point elsewhere.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..base import disk
from ..base.errors import StoreError
from ..base.hashes import hash_arrays
from . import layout, pc2
from .manifest import MANIFEST_LIMIT, Manifest, is_id
from .method import find
from .numbers import Numbers, read_numbers

_LINE_LIMIT = 16_384

Array = npt.NDArray[Any]


@dataclass
class Mark:
    """One finished sample: hash of its input, of its stored data, of what the result depends on, and numbers."""

    input: str
    data: str
    result: str
    numbers: Numbers


class Store:
    """One bake folder. Use as a context manager; one thread at a time."""

    def __init__(self, folder: Path, manifest: Manifest, lock: disk.FolderLock | None) -> None:
        self.folder = folder
        self.manifest = manifest
        self._lock = lock
        self._files: dict[str, BinaryIO] = {}
        self._owned: set[str] = set()  # files that are shared with no other bake
        self._log: BinaryIO | None = None
        self.marks: list[Mark | None] = [None] * manifest.samples
        self.sampled: list[str | None] = [None] * manifest.samples
        self.layout = layout.of(manifest)
        self.own_inputs = tuple(layout.of_method(manifest).inputs)  # what its method reads on every frame
        self._slots = layout.slots(self.layout)
        self._piece_files = {name: f"{name}.bin" for name in self.layout.pieces}
        self._kind = find(manifest.method).numbers
        self._headers = {
            name: pc2.Header(vertices, manifest.samples, float(manifest.first_frame))
            for name, vertices in layout.result_counts(manifest).items()
        }

    # Making and opening

    @staticmethod
    def create(root: Path, manifest: Manifest, constants: Mapping[str, Array]) -> Store:
        """A new, empty, locked bake folder under `root` with an id of its own (that of `manifest` is replaced)."""
        with disk.sentences(root):
            there = next(path for path in (root, *root.parents) if path.is_dir())
            disk.check_free_space(there, layout.total_size(manifest))
            root.mkdir(parents=True, exist_ok=True)
            manifest = dataclasses.replace(manifest, id=secrets.token_hex(8))
            folder = root / manifest.id
            folder.mkdir()
        store: Store | None = None
        try:
            store = Store(folder, manifest, disk.FolderLock(folder))
            for name, (shape, kind) in store.layout.constants.items():
                data = np.ascontiguousarray(constants[name], dtype=kind)
                if data.shape != shape:
                    raise ValueError(f"{name} has shape {data.shape}, not {shape}")
                disk.write_atomically(folder / f"{name}.{layout.EXTENSIONS[kind]}", data.tobytes())
            for slot in store._slots.values():
                with disk.open_regular(folder / slot.file_name, "w+b") as file, disk.sentences(folder):
                    file.truncate(slot.size * manifest.samples)
            for name, header in store._headers.items():
                with disk.open_regular(folder / f"{name}.pc2", "w+b") as file, disk.sentences(folder):
                    pc2.write_header(file, header)
            for name in ("frames.jsonl", *store._piece_files.values()):
                disk.open_regular(folder / name, "w+b").close()
            store.save_manifest()
            store._open_files(writable=True)
            return store
        except BaseException:
            if store is not None:
                store.close()
            shutil.rmtree(folder, ignore_errors=True)
            with contextlib.suppress(OSError):
                root.rmdir()  # if this was to be its first bake
            raise

    @staticmethod
    def fork(root: Path, other: Store, **changes: Any) -> Store:
        """A new, locked, unfinished bake folder that holds what another one holds; `changes` are of its manifest. Files
        are shared by hard links, where the disk has them, until one of the two bakes writes to them."""
        manifest = dataclasses.replace(other.manifest, **{**changes, "id": secrets.token_hex(8), "complete": False})
        folder = root / manifest.id
        with disk.sentences(root):
            results = sum(12 * count for count in layout.result_counts(manifest).values())
            disk.check_free_space(root, results * manifest.samples)
            folder.mkdir()
        try:
            with disk.sentences(folder):
                shutil.copyfile(other.folder / "frames.jsonl", folder / "frames.jsonl")
            results_files = (f"{name}.pc2" for name in other.result_names)
            for name in (*layout.sizes(manifest), *results_files, *other._piece_files.values()):
                disk.share(other.folder / name, folder / name)
            text = json.dumps(dataclasses.asdict(manifest), indent=1, allow_nan=False)
            disk.write_atomically(folder / "manifest.json", text.encode())
            return Store.open(root, manifest.id, writable=True)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    @staticmethod
    def open(root: Path, bake_id: str, *, writable: bool = False) -> Store:
        """An existing folder, every size checked. Writable: locked, and unfinished results show their input."""
        if not is_id(bake_id):
            raise StoreError("The bake's id is damaged: bake again.")
        folder = root / bake_id
        if not disk.is_plain_folder(folder):
            raise StoreError(f"The bake folder {folder} is missing: bake again, or bring the folder back.")
        lock = disk.FolderLock(folder) if writable else None
        store: Store | None = None
        try:
            manifest = Manifest.from_json(disk.read_json(folder / "manifest.json", MANIFEST_LIMIT), folder)
            if manifest.id != bake_id:
                raise StoreError(f"{folder} is a copy of bake {manifest.id} under another name: bake again.")
            layout.check_sizes(folder, manifest)
            store = Store(folder, manifest, lock)
            store._open_files(writable)
            store._read_log(writable)
            if writable:
                store._repair()
            return store
        except BaseException:
            if store is not None:
                store.close()
            elif lock is not None:
                lock.release()
            raise

    def close(self) -> None:
        for file in [*self._files.values(), *([self._log] if self._log else [])]:
            with contextlib.suppress(OSError):
                file.close()
        self._files, self._log = {}, None
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Data

    def constant(self, name: str) -> Array:
        """rest, triangles, passenger_0_rest and so on, and what its method adds."""
        shape, kind = self.layout.constants[name]
        path = self.folder / f"{name}.{layout.EXTENSIONS[kind]}"
        with disk.open_regular(path, "rb") as file, disk.sentences(self.folder):
            raw = file.read(math.prod(shape) * np.dtype(kind).itemsize)
        if len(raw) != math.prod(shape) * np.dtype(kind).itemsize:
            raise StoreError(f"{self.folder} is damaged ({name} is too short): delete it and bake again.")
        return np.frombuffer(raw, dtype=kind).reshape(shape).copy()

    def read(self, name: str, index: int) -> Array:
        """Slot `index` of input, matrix, amount, passenger_0_input and so on, or of what its method adds."""
        slot = self._slots[name]
        file = self._files[name]
        with disk.sentences(self.folder):
            file.seek(self._checked(index) * slot.size)
            raw = file.read(slot.size)
        if len(raw) != slot.size:
            raise StoreError(f"{self.folder} is damaged ({name} is too short): delete it and bake again.")
        return np.frombuffer(raw, dtype=slot.kind).reshape(slot.shape).copy()

    def write(self, name: str, index: int, values: Array) -> None:
        slot = self._slots[name]
        data = np.ascontiguousarray(values, dtype=slot.kind)
        if data.shape != slot.shape:
            raise ValueError(f"{name} has shape {data.shape}, not {slot.shape}")
        file = self._own(name, slot.file_name)
        with disk.sentences(self.folder):
            file.seek(self._checked(index) * slot.size)
            file.write(data.tobytes())
            file.flush()

    def read_piece(self, name: str, index: int) -> bytes:
        """What of any length a sample has; b"" where there is nothing, or it is damaged."""
        begin, size = (int(number) for number in self.read(layout.place_of(name), index))
        file = self._files[name]
        with disk.sentences(self.folder):
            if not 0 <= begin <= begin + size <= file.seek(0, os.SEEK_END):
                return b""
            file.seek(begin)
            return file.read(size)

    def write_piece(self, name: str, index: int, data: bytes) -> None:
        """Where the sample had one before, if it fits there, or else at the end of the file."""
        begin, size = (int(number) for number in self.read(layout.place_of(name), index))
        file = self._own(name, self._piece_files[name])
        with disk.sentences(self.folder):
            end = file.seek(0, os.SEEK_END)
            begin = begin if len(data) <= size and 0 <= begin <= end - size else end
            file.seek(begin)
            file.write(data)
            file.flush()
        self.write(layout.place_of(name), index, np.array([begin, len(data)], np.float64))

    def read_result(self, index: int, name: str = "result") -> npt.NDArray[np.float32]:
        """What is played at sample `index`: by the body, or by `passenger_0` and so on."""
        with disk.sentences(self.folder):
            return pc2.read_slot(self._files[name], self._headers[name], index, str(self.folder / f"{name}.pc2"))

    def write_result(self, index: int, positions: npt.NDArray[np.float32], name: str = "result") -> None:
        file = self._own(name, f"{name}.pc2")
        with disk.sentences(self.folder):
            pc2.write_slot(file, self._headers[name], index, positions)

    @property
    def result_names(self) -> list[str]:
        """Those of the body and of its passengers, without .pc2."""
        return list(self._headers)

    def show_input(self, index: int) -> None:
        """Until a sample is computed, its input is what plays."""
        for name in self._headers:
            self.write_result(index, self.read("input" if name == "result" else f"{name}_input", index), name)

    # Marks

    def mark_sampled(self, index: int, input_hash: str) -> None:
        self._append({"sampled": index, "input": input_hash})
        self.sampled[index] = input_hash

    def mark_done(self, index: int, result_key: str, numbers: Numbers) -> None:
        """Says that all data of a sample is written."""
        mark = Mark(self.sampled[index] or "", self.digest(index), result_key, numbers)
        self._append({"frame": index, **vars(mark), "numbers": numbers.kept()})
        self.marks[index] = mark

    def void_from(self, index: int) -> None:
        """Marks of samples `index` and later no longer count."""
        if any(mark is not None for mark in self.marks[index:]):
            self._append({"void": index})
            self.marks[index:] = [None] * (len(self.marks) - index)

    @property
    def done(self) -> int:
        """Number of finished samples before the first unfinished one."""
        return next((i for i, mark in enumerate(self.marks) if mark is None), len(self.marks))

    def digest(self, index: int) -> str:
        """Hash of the data that a mark vouches for."""
        made = (self.read(name, index) for name in (*self.layout.prepared, *self.layout.state))
        pieces = (np.frombuffer(self.read_piece(name, index), np.uint8) for name in self._piece_files)
        return hash_arrays(*made, *pieces, *(self.read_result(index, name) for name in self._headers))

    def copy_from(self, other: Store, count: int) -> None:
        """Takes over the first `count` samples of another bake of the same body, as far as they are finished and sound.
        Passengers come along if they are the same ones; else their slots stay empty."""
        alike = self.manifest.passengers == other.manifest.passengers
        for index in range(count):
            mark = other.marks[index]
            if mark is None or mark.data != other.digest(index):
                return
            places = {layout.place_of(name) for name in self._piece_files}
            for name in self._slots if alike else filter(layout.is_of_body, self._slots):
                if name not in places:
                    self.write(name, index, other.read(name, index))
            for name in self._piece_files:
                self.write_piece(name, index, other.read_piece(name, index))
            for name in self._headers if alike else ("result",):
                self.write_result(index, other.read_result(index, name), name)
            self.mark_sampled(index, mark.input)
            self.mark_done(index, mark.result, mark.numbers)

    def take_state(self, other: Store, index: int) -> bool:
        """Takes what is prepared of a sample, and its state, from another bake of the same body; False where that is
        not sound."""
        mark = other.marks[index]
        if mark is None or mark.data != other.digest(index):
            return False
        places = {layout.place_of(name) for name in self._piece_files}
        for name in (*self.layout.prepared, *self.layout.state):
            if name not in places:
                self.write(name, index, other.read(name, index))
        for name in self._piece_files:
            self.write_piece(name, index, other.read_piece(name, index))
        return True

    def complete(self, report: dict[str, Any]) -> None:
        """Everything is on the disk: say so."""
        with disk.sentences(self.folder):
            for file in [*self._files.values(), *([self._log] if self._log else [])]:
                file.flush()
                os.fsync(file.fileno())
        self.manifest = dataclasses.replace(self.manifest, complete=True, report=report)
        self.save_manifest()

    def describe(self, **changes: Any) -> None:
        """Changes what the manifest says, where it says something else."""
        manifest = dataclasses.replace(self.manifest, **changes)
        if manifest != self.manifest:
            self.manifest = manifest
            self.save_manifest()

    def save_manifest(self) -> None:
        text = json.dumps(dataclasses.asdict(self.manifest), indent=1, allow_nan=False)
        disk.write_atomically(self.folder / "manifest.json", text.encode())

    # Inside

    def _own(self, name: str, file_name: str) -> BinaryIO:
        """The file of that name, from now on shared with no other bake."""
        if name not in self._owned and disk.is_shared(self.folder / file_name):
            self._files[name].close()
            disk.unshare(self.folder / file_name)
            self._files[name] = disk.open_regular(self.folder / file_name, "r+b")
        self._owned.add(name)
        return self._files[name]

    def _checked(self, index: int) -> int:
        if not 0 <= index < self.manifest.samples:
            raise IndexError(f"sample {index} of {self.manifest.samples}")
        return index

    def _open_files(self, writable: bool) -> None:
        mode = "r+b" if writable else "rb"
        named = {name: slot.file_name for name, slot in self._slots.items()}
        for name, file_name in {**named, **self._piece_files}.items():
            self._files[name] = disk.open_regular(self.folder / file_name, mode)
        for name, expected in self._headers.items():
            path = self.folder / f"{name}.pc2"
            self._files[name] = disk.open_regular(path, mode)
            header = pc2.read_header(self._files[name], str(path))
            if (header.vertices, header.samples) != (expected.vertices, expected.samples):
                raise StoreError(f"{path} does not belong to this bake: bake again.")
        self._log = disk.open_regular(self.folder / "frames.jsonl", mode)
        self._log.seek(0, os.SEEK_END)

    def _append(self, line: dict[str, Any]) -> None:
        if self._log is None:
            raise StoreError(f"The bake folder {self.folder} is closed.")
        with disk.sentences(self.folder):
            self._log.write(json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n")
            self._log.flush()

    def _read_log(self, writable: bool) -> None:
        if self._log is None:
            return
        self._log.seek(0)
        end = 0
        with disk.sentences(self.folder):
            while line := self._log.readline(_LINE_LIMIT):
                if not line.endswith(b"\n") or not self._apply(line):
                    break
                end += len(line)
            # A torn or strange line and what follows it count for nothing, and must not precede new lines.
            if writable:
                self._log.truncate(end)
            self._log.seek(end)

    def _apply(self, line: bytes) -> bool:
        """Takes in one line of the log; False where it makes no sense."""
        try:
            data = disk.parse_json(line, self.folder)
        except StoreError:
            return False
        if not isinstance(data, dict):
            return False
        index = data.get("sampled", data.get("frame", data.get("void")))
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < self.manifest.samples:
            return False
        if "void" in data:
            self.marks[index:] = [None] * (len(self.marks) - index)
            return True
        if not isinstance(data.get("input"), str):
            return False
        if "sampled" in data:
            self.sampled[index] = data["input"]
            return True
        numbers = data.get("numbers")
        if not isinstance(data.get("data"), str) or not isinstance(data.get("result"), str):
            return False
        if not isinstance(numbers, dict) or not all(isinstance(n, (int, float)) for n in numbers.values()):
            return False
        self.marks[index] = Mark(data["input"], data["data"], data["result"], read_numbers(self._kind, numbers))
        return True

    def _repair(self) -> None:
        """A kill may have torn a result in the middle: such slots show their input until they are computed."""
        for index, (mark, sampled) in enumerate(zip(self.marks, self.sampled, strict=True)):
            if mark is None and sampled is not None:
                self.show_input(index)

