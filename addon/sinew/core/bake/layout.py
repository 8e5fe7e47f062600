"""Which files a bake has: names and shapes by the counts of its manifest, never by what stands in it."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base import disk
from ..base.errors import BadInput, StoreError
from .manifest import Manifest
from .method import Layout, Shape, find

EXTENSIONS = {"<f4": "f32", "<f8": "f64", "<i4": "i32"}


def result_names(passengers: int) -> list[str]:
    """Names (without .pc2) of the files that the body and its passengers play."""
    return ["result", *(f"passenger_{index}" for index in range(passengers))]


@dataclass(frozen=True)
class Slot:
    """One of the files that have a slot for each sample."""

    file_name: str
    shape: tuple[int, ...]
    kind: str

    @property
    def size(self) -> int:
        return size_of((self.shape, self.kind))


def of_method(manifest: Manifest) -> Layout:
    """The files of a bake that its method has beside those of every bake."""
    try:
        return find(manifest.method).layout(manifest.vertices, manifest.counts)
    except BadInput as error:
        raise StoreError(str(error)) from error
    except KeyError as error:
        raise StoreError(f"The manifest of bake {manifest.id} is damaged ({error} is missing): bake again.") from error


def of(manifest: Manifest) -> Layout:
    """All files of a bake."""
    own = of_method(manifest)
    constants: dict[str, Shape] = {
        "rest": ((manifest.vertices, 3), "<f8"),
        "triangles": ((manifest.triangles, 3), "<i4"),
    }
    inputs: dict[str, Shape] = {
        "input": ((manifest.vertices, 3), "<f4"),
        "matrix": ((4, 4), "<f8"),
        "amount": ((1, 1), "<f8"),
    }
    for index, entry in enumerate(manifest.passengers):
        for name in ("rest", "first"):
            constants[f"passenger_{index}_{name}"] = ((entry.vertices, 3), "<f8")
        constants[f"passenger_{index}_shells"] = ((entry.vertices,), "<i4")
        if entry.triangles:
            constants[f"passenger_{index}_triangles"] = ((entry.triangles, 3), "<i4")
        inputs[f"passenger_{index}_input"] = ((entry.vertices, 3), "<f4")
        inputs[f"passenger_{index}_matrix"] = ((4, 4), "<f8")
    return Layout({**constants, **own.constants}, {**inputs, **own.inputs}, own.prepared, own.state, own.pieces)


def slots(layout: Layout) -> dict[str, Slot]:
    """The files that have a slot for each sample."""
    shapes = {**layout.inputs, **layout.prepared, **layout.state}
    shapes |= {place_of(name): ((2,), "<f8") for name in layout.pieces}
    return {name: Slot(f"{name}.{EXTENSIONS[kind]}", shape, kind) for name, (shape, kind) in shapes.items()}


def place_of(piece: str) -> str:
    """The slot that says where a piece of a sample begins in its file, and how many bytes it has."""
    return f"{piece}_at"


def is_of_body(slot: str) -> bool:
    """Whether a slot is the body's own, and not that of a passenger."""
    return not slot.startswith("passenger_")


def result_counts(manifest: Manifest) -> dict[str, int]:
    counts = [manifest.vertices, *(entry.vertices for entry in manifest.passengers)]
    return dict(zip(result_names(len(manifest.passengers)), counts, strict=True))


def size_of(shape: Shape) -> int:
    """Bytes of an array."""
    return math.prod(shape[0]) * np.dtype(shape[1]).itemsize


def total_size(manifest: Manifest) -> int:
    layout = of(manifest)
    samples = sum(slot.size for slot in slots(layout).values())
    results = sum(12 * count for count in result_counts(manifest).values())
    fixed = sum(size_of(shape) for shape in layout.constants.values())
    return fixed + (samples + results + 1024) * manifest.samples + 65_536


def sizes(manifest: Manifest) -> dict[str, int]:
    """Names and bytes of the files that a manifest's counts ask for, but those that play."""
    layout = of(manifest)
    expected = {f"{name}.{EXTENSIONS[shape[1]]}": size_of(shape) for name, shape in layout.constants.items()}
    for slot in slots(layout).values():
        expected[slot.file_name] = slot.size * manifest.samples
    return expected


def check_sizes(folder: Path, manifest: Manifest) -> None:
    """Every file has exactly the size that the manifest's counts ask for."""
    for file_name, size in sizes(manifest).items():
        with disk.sentences(folder / file_name):
            actual = os.lstat(folder / file_name).st_size
        if actual != size:
            raise StoreError(
                f"{folder / file_name} has {actual} bytes where {size} belong: delete the folder and bake again."
            )
