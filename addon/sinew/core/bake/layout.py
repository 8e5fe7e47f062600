"""Which files a bake has: names and shapes by the counts of its manifest, never by what stands in it."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..base import disk
from ..base.errors import StoreError
from . import fields
from .manifest import Manifest

EXTENSIONS = {"<f4": "f32", "<f8": "f64", "<i4": "i32"}


def result_names(passengers: int) -> list[str]:
    """Names (without .pc2) of the files that the body and its passengers play."""
    return ["result", *(f"passenger_{index}" for index in range(passengers))]


@dataclass(frozen=True)
class Slot:
    """One of the files that have a slot for each sample."""

    file_name: str
    shape: tuple[int, int]
    kind: str

    @property
    def size(self) -> int:
        return math.prod(self.shape) * np.dtype(self.kind).itemsize


BODY_SLOTS = ("input", "matrix", "amount", "fields", "follow_now", "fitted", "simulated", "velocity")


def slots(manifest: Manifest) -> dict[str, Slot]:
    shapes: dict[str, tuple[tuple[int, int], str]] = {
        "input": ((manifest.vertices, 3), "<f4"),
        "matrix": ((4, 4), "<f8"),
        "amount": ((1, 1), "<f8"),
        **dict.fromkeys(("fitted", "simulated", "velocity"), ((manifest.cage_vertices, 3), "<f8")),
    }
    if manifest.fields:
        shapes["fields"] = ((manifest.fields, fields.WIDTH), "<f8")
    if manifest.animated_follow:
        shapes["follow_now"] = ((manifest.vertices, 1), "<f4")
    for index, entry in enumerate(manifest.passengers):
        shapes[f"passenger_{index}_input"] = ((entry.vertices, 3), "<f4")
        shapes[f"passenger_{index}_matrix"] = ((4, 4), "<f8")
    return {name: Slot(f"{name}.{EXTENSIONS[kind]}", shape, kind) for name, (shape, kind) in shapes.items()}


def result_counts(manifest: Manifest) -> dict[str, int]:
    counts = [manifest.vertices, *(entry.vertices for entry in manifest.passengers)]
    return dict(zip(result_names(len(manifest.passengers)), counts, strict=True))


def constant_shapes(manifest: Manifest) -> dict[str, tuple[tuple[int, ...], str]]:
    passengers: dict[str, tuple[tuple[int, ...], str]] = {}
    for index, entry in enumerate(manifest.passengers):
        for name in ("rest", "first"):
            passengers[f"passenger_{index}_{name}"] = ((entry.vertices, 3), "<f8")
        passengers[f"passenger_{index}_shells"] = ((entry.vertices,), "<i4")
    parts: dict[str, tuple[tuple[int, ...], str]] = {}
    if manifest.has_parts:
        parts = dict.fromkeys(("tracked", "rigid"), ((manifest.vertices,), "<i4"))
    if manifest.has_safe:
        parts["cage_safe"] = ((manifest.cage_vertices, 3), "<f8")
    if manifest.has_inside:
        parts["cage_follow"] = ((manifest.cage_vertices,), "<f8")
    return {
        **passengers,
        **parts,
        "rest": ((manifest.vertices, 3), "<f8"),
        "triangles": ((manifest.triangles, 3), "<i4"),
        "follow": ((manifest.vertices,), "<f8"),
        "cage_vertices": ((manifest.cage_vertices, 3), "<f8"),
        "cage_tets": ((manifest.tets, 4), "<i4"),
        "cage_binding": ((manifest.vertices,), "<i4"),
        "cage_weights": ((manifest.vertices, 4), "<f8"),
    }


def total_size(manifest: Manifest) -> int:
    samples = sum(slot.size for slot in slots(manifest).values())
    results = sum(12 * count for count in result_counts(manifest).values())
    shapes = constant_shapes(manifest).values()
    fixed = sum(math.prod(shape) * np.dtype(kind).itemsize for shape, kind in shapes)
    return fixed + (samples + results + 1024) * manifest.samples + 65_536


def sizes(manifest: Manifest) -> dict[str, int]:
    """Names and bytes of the files that a manifest's counts ask for, but those that play."""
    expected = {
        f"{name}.{EXTENSIONS[kind]}": math.prod(shape) * np.dtype(kind).itemsize
        for name, (shape, kind) in constant_shapes(manifest).items()
    }
    for slot in slots(manifest).values():
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
