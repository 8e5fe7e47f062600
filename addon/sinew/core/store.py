"""Bake folders: where the frames of a bake live, so that no animation is ever held in memory.

`<folder of the .blend>/sinew/<id>/` holds

    manifest.json   what the bake is: counts, range, hashes, settings, whether it is complete
    frames.jsonl    one line when a sample was taken and one when its result was written; only ever appended to
    rest.f64, triangles.i32, follow.f64, cage_*.f64|i32      constants of the bake
    input.f32       for each sample the mesh as Blender gave it, local space
    matrix.f64      for each sample the 4x4 matrix from local space to world metres
    amount.f64      for each sample how much of the simulated motion is used, as keyframed
    fitted.f64, simulated.f64, velocity.f64                  for each sample the cage, world metres and m/s
    result.pc2      what the Mesh Cache modifier plays

Samples are fixed slots. A frame's line is appended after its data was written, so a kill at any moment leaves
every finished frame readable. File names are fixed: nothing in a manifest can point elsewhere.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import os
import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from . import disk, pc2
from .errors import StoreError

SCHEMA = 2
MANIFEST_LIMIT = 8_000_000
_LINE_LIMIT = 16_384
_ID = re.compile(r"[0-9a-f]{16}\Z")
_MAX_COUNT = 2**31 - 1
_MAX_SAMPLES = 4_000_000
_SLOTS = {"input": "<f4", "matrix": "<f8", "amount": "<f8", "fitted": "<f8", "simulated": "<f8", "velocity": "<f8"}
_EXTENSIONS = {"<f4": "f32", "<f8": "f64", "<i4": "i32"}

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Manifest:
    """What a bake is. Frozen: a changed one is written as a whole."""

    id: str
    owner_file: str  # name of the .blend that plays it
    owner_object: str
    vertices: int
    triangles: int
    cage_vertices: int
    tets: int
    samples: int  # slots in every file, preroll included
    samples_per_frame: int
    first_frame: int  # frame of slot 0
    frame_start: int  # range that plays
    frame_end: int
    frame_rate: float  # samples a second
    identity: str  # hash of all that the simulation depends on but the input frames
    topology: str  # hash of the triangles
    native: str  # version of the native module
    build: str  # hash of its file: a finished bake outlives a new build, but frames of two are never mixed
    settings: dict[str, Any] = field(default_factory=dict)
    report: dict[str, Any] = field(default_factory=dict)
    complete: bool = False
    units: str = "m"
    schema: int = SCHEMA

    @staticmethod
    def from_json(data: Any, path: Path) -> Manifest:
        """Checks every value: a manifest may come from anywhere."""
        damaged = f"{path} is damaged ({{}}): delete its folder and bake again."
        if not isinstance(data, dict):
            raise StoreError(damaged.format("it is no table"))
        if data.get("schema") != SCHEMA:
            raise StoreError(
                f"{path} was written by another version of Sinew (schema {str(data.get('schema'))[:20]}): bake again."
            )
        names = {f.name: str(f.type) for f in dataclasses.fields(Manifest)}
        if set(data) != set(names):
            raise StoreError(damaged.format("wrong keys"))
        for name, kind in names.items():
            value = data[name]
            expected = {"str": str, "int": int, "bool": bool, "float": (int, float)}.get(kind, dict)
            if not isinstance(value, expected) or (isinstance(value, bool) and kind != "bool"):  # type: ignore[arg-type]
                raise StoreError(damaged.format(name))
        for name in ("vertices", "cage_vertices", "tets", "samples"):
            if not 1 <= data[name] <= _MAX_COUNT:
                raise StoreError(damaged.format(name))
        if data["samples"] > _MAX_SAMPLES:
            raise StoreError(damaged.format("samples"))
        if not 0 <= data["triangles"] <= _MAX_COUNT or data["samples_per_frame"] not in (1, 2, 4):
            raise StoreError(damaged.format("triangles or samples_per_frame"))
        if not 1e-6 <= data["frame_rate"] <= 1e6 or not _ID.match(data["id"]):
            raise StoreError(damaged.format("frame_rate or id"))
        for name in ("first_frame", "frame_start", "frame_end"):
            if abs(data[name]) > 2**24:
                raise StoreError(damaged.format(name))
        return Manifest(**data)


@dataclass
class Mark:
    """One finished sample: hash of its input, of its stored data, of what the result depends on, and numbers."""

    input: str
    data: str
    result: str
    numbers: dict[str, float]


def is_id(text: object) -> bool:
    return isinstance(text, str) and _ID.match(text) is not None


def hash_arrays(*arrays: Array) -> str:
    """A hash over the bytes of arrays (and their shapes)."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


class Store:
    """One bake folder. Use as a context manager; one thread at a time."""

    def __init__(self, folder: Path, manifest: Manifest, lock: disk.FolderLock | None) -> None:
        self.folder = folder
        self.manifest = manifest
        self._lock = lock
        self._files: dict[str, BinaryIO] = {}
        self._log: BinaryIO | None = None
        self.marks: list[Mark | None] = [None] * manifest.samples
        self.sampled: list[str | None] = [None] * manifest.samples
        self._header = pc2.Header(manifest.vertices, manifest.samples, float(manifest.first_frame))

    # Making and opening

    @staticmethod
    def create(root: Path, manifest: Manifest, constants: Mapping[str, Array]) -> Store:
        """A new, empty, locked bake folder under `root` with an id of its own (that of `manifest` is replaced)."""
        with disk.sentences(root):
            disk.check_free_space(next(path for path in (root, *root.parents) if path.is_dir()), _total_size(manifest))
            root.mkdir(parents=True, exist_ok=True)
            manifest = dataclasses.replace(manifest, id=secrets.token_hex(8))
            folder = root / manifest.id
            folder.mkdir()
        store: Store | None = None
        try:
            store = Store(folder, manifest, disk.FolderLock(folder))
            for name, (shape, kind) in _constant_shapes(manifest).items():
                data = np.ascontiguousarray(constants[name], dtype=kind)
                if data.shape != shape:
                    raise ValueError(f"{name} has shape {data.shape}, not {shape}")
                disk.write_atomically(folder / f"{name}.{_EXTENSIONS[kind]}", data.tobytes())
            for name, kind in _SLOTS.items():
                with disk.open_regular(folder / f"{name}.{_EXTENSIONS[kind]}", "w+b") as file, disk.sentences(folder):
                    file.truncate(store._slot_size(name) * manifest.samples)
            with disk.open_regular(folder / "result.pc2", "w+b") as file, disk.sentences(folder):
                pc2.write_header(file, store._header)
            disk.open_regular(folder / "frames.jsonl", "w+b").close()
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
            _check_sizes(folder, manifest)
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
        """rest, triangles, follow, cage_vertices, cage_tets, cage_binding or cage_weights."""
        shape, kind = _constant_shapes(self.manifest)[name]
        with disk.open_regular(self.folder / f"{name}.{_EXTENSIONS[kind]}", "rb") as file, disk.sentences(self.folder):
            raw = file.read(math.prod(shape) * np.dtype(kind).itemsize)
        if len(raw) != math.prod(shape) * np.dtype(kind).itemsize:
            raise StoreError(f"{self.folder} is damaged ({name} is too short): delete it and bake again.")
        return np.frombuffer(raw, dtype=kind).reshape(shape).copy()

    def read(self, name: str, index: int) -> Array:
        """Slot `index` of input, matrix, amount, fitted, simulated or velocity."""
        size = self._slot_size(name)
        file = self._files[name]
        with disk.sentences(self.folder):
            file.seek(self._slot(index) * size)
            raw = file.read(size)
        if len(raw) != size:
            raise StoreError(f"{self.folder} is damaged ({name} is too short): delete it and bake again.")
        return np.frombuffer(raw, dtype=_SLOTS[name]).reshape(self._shape(name)).copy()

    def write(self, name: str, index: int, values: Array) -> None:
        data = np.ascontiguousarray(values, dtype=_SLOTS[name])
        if data.shape != self._shape(name):
            raise ValueError(f"{name} has shape {data.shape}, not {self._shape(name)}")
        file = self._files[name]
        with disk.sentences(self.folder):
            file.seek(self._slot(index) * self._slot_size(name))
            file.write(data.tobytes())
            file.flush()

    def read_result(self, index: int) -> npt.NDArray[np.float32]:
        with disk.sentences(self.folder):
            return pc2.read_slot(self._files["result"], self._header, index, str(self.folder / "result.pc2"))

    def write_result(self, index: int, positions: npt.NDArray[np.float32]) -> None:
        with disk.sentences(self.folder):
            pc2.write_slot(self._files["result"], self._header, index, positions)

    # Marks

    def mark_sampled(self, index: int, input_hash: str) -> None:
        self._append({"sampled": index, "input": input_hash})
        self.sampled[index] = input_hash

    def mark_done(self, index: int, result_key: str, numbers: Mapping[str, float]) -> None:
        """Says that all data of a sample is written. What is not finite cannot be told in JSON and is left out."""
        kept = {name: float(value) for name, value in numbers.items() if np.isfinite(value)}
        mark = Mark(self.sampled[index] or "", self.digest(index), result_key, kept)
        self._append({"frame": index, **dataclasses.asdict(mark)})
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
        cages = (self.read(name, index) for name in ("fitted", "simulated", "velocity"))
        return hash_arrays(*cages, self.read_result(index))

    def copy_from(self, other: Store, count: int) -> None:
        """Takes over the first `count` finished samples of another bake with the same counts."""
        for index in range(count):
            mark = other.marks[index]
            if mark is None:
                raise ValueError(f"sample {index} is not finished")
            for name in _SLOTS:
                self.write(name, index, other.read(name, index))
            self.write_result(index, other.read_result(index))
            self.mark_sampled(index, mark.input)
            self.mark_done(index, mark.result, mark.numbers)

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

    def _shape(self, name: str) -> tuple[int, int]:
        return _slot_shape(self.manifest, name)

    def _slot_size(self, name: str) -> int:
        return _slot_size(self.manifest, name)

    def _slot(self, index: int) -> int:
        if not 0 <= index < self.manifest.samples:
            raise IndexError(f"sample {index} of {self.manifest.samples}")
        return index

    def _open_files(self, writable: bool) -> None:
        mode = "r+b" if writable else "rb"
        for name, kind in _SLOTS.items():
            self._files[name] = disk.open_regular(self.folder / f"{name}.{_EXTENSIONS[kind]}", mode)
        self._files["result"] = disk.open_regular(self.folder / "result.pc2", mode)
        header = pc2.read_header(self._files["result"], str(self.folder / "result.pc2"))
        if (header.vertices, header.samples) != (self._header.vertices, self._header.samples):
            raise StoreError(f"{self.folder / 'result.pc2'} does not belong to this bake: bake again.")
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
        self.marks[index] = Mark(data["input"], data["data"], data["result"], numbers)
        return True

    def _repair(self) -> None:
        """A kill may have torn a result in the middle: such slots show their input until they are computed."""
        for index, (mark, sampled) in enumerate(zip(self.marks, self.sampled, strict=True)):
            if mark is None and sampled is not None:
                self.write_result(index, self.read("input", index))


def _constant_shapes(manifest: Manifest) -> dict[str, tuple[tuple[int, ...], str]]:
    return {
        "rest": ((manifest.vertices, 3), "<f8"),
        "triangles": ((manifest.triangles, 3), "<i4"),
        "follow": ((manifest.vertices,), "<f8"),
        "cage_vertices": ((manifest.cage_vertices, 3), "<f8"),
        "cage_tets": ((manifest.tets, 4), "<i4"),
        "cage_binding": ((manifest.vertices,), "<i4"),
        "cage_weights": ((manifest.vertices, 4), "<f8"),
    }


def _slot_shape(manifest: Manifest, name: str) -> tuple[int, int]:
    if name in ("matrix", "amount"):
        return (4, 4) if name == "matrix" else (1, 1)
    return (manifest.vertices if name == "input" else manifest.cage_vertices, 3)


def _slot_size(manifest: Manifest, name: str) -> int:
    rows, columns = _slot_shape(manifest, name)
    return rows * columns * np.dtype(_SLOTS[name]).itemsize


def _total_size(manifest: Manifest) -> int:
    slot = 12 * manifest.vertices * 2 + 136 + 3 * 24 * manifest.cage_vertices + 1024
    fixed = manifest.vertices * 80 + manifest.triangles * 12 + manifest.cage_vertices * 24 + manifest.tets * 16
    return fixed + slot * manifest.samples + 65_536


def _check_sizes(folder: Path, manifest: Manifest) -> None:
    """Every file has exactly the size that the manifest's counts ask for."""
    expected = {
        f"{name}.{_EXTENSIONS[kind]}": math.prod(shape) * np.dtype(kind).itemsize
        for name, (shape, kind) in _constant_shapes(manifest).items()
    }
    for name, kind in _SLOTS.items():
        expected[f"{name}.{_EXTENSIONS[kind]}"] = _slot_size(manifest, name) * manifest.samples
    for file_name, size in expected.items():
        with disk.sentences(folder / file_name):
            actual = os.lstat(folder / file_name).st_size
        if actual != size:
            raise StoreError(
                f"{folder / file_name} has {actual} bytes where {size} belong: delete the folder and bake again."
            )
