"""What an animator sees of a finished bake, in numbers: how far edges stretch, whether parts keep their volume, whether
offsets swing or pop, and how much there is to see. All of it compares each frame with the same frame of the input.

Frames are (T, t, 3); lengths that come back are fractions of the body's size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

SEEN = 0.005  # smaller offsets may do as they like: fraction of size
SWING = 1.5  # of the second difference of a swing at Jiggle: what an offset may have
GRAVITY = 9.81 / 2.0  # in bodies' sizes per s²: that of a body of 2 m
LIVELY = 0.3  # g: where the input accelerates by more, there must be something to see


@dataclass(frozen=True)
class Motion:
    """Numbers of one bake."""

    stretch: float  # 99.9th percentile over edges and frames of the length over that of the input
    volume_min: float  # of the closed parts over those of the input
    volume_max: float
    pop: float  # the largest second difference of an offset, over what a swing may have: at most 1
    pops: int  # vertices and frames at which it is more
    push: float  # g: 90th percentile over frames of the input's acceleration on the free part, as if it were 2 m tall
    seen_median: float  # largest offset of each free part: the median of them
    seen_most: float  # and the largest

    @property
    def is_lively(self) -> bool:
        return self.push > LIVELY


def measure(
    inputs: Floats,
    results: Floats,
    triangles: Ints,
    follow: Floats,
    size: float,
    jiggle: float,
    frame_rate: float,
    parts: Sequence[npt.NDArray[np.int64]] = (),
) -> Motion:
    """`parts`: the vertices of each part that should swing; without, each piece of free flesh is one."""
    low, high = volumes(inputs, results, triangles, size)
    ratios = pops(inputs, results, size, jiggle, frame_rate)
    largest = np.linalg.norm(results - inputs, axis=2).max(axis=0) / size
    seen = [largest[part].max() for part in parts or free_parts(triangles, follow)]
    return Motion(
        stretch=stretch(inputs, results, triangles),
        volume_min=low,
        volume_max=high,
        pop=float(ratios.max(initial=0.0)),
        pops=int((ratios > 1.0).sum()),
        push=push(inputs[:, follow < 0.5], size, frame_rate),
        seen_median=float(np.median(seen)) if seen else 0.0,
        seen_most=float(max(seen, default=0.0)),
    )


def stretch(inputs: Floats, results: Floats, triangles: Ints) -> float:
    edges = _edges(triangles)
    before, after = (np.linalg.norm(np.diff(frames[:, edges], axis=2)[:, :, 0], axis=2) for frames in (inputs, results))
    lengths = np.divide(after, before, out=np.ones_like(after), where=before > 0.0)
    return float(np.percentile(lengths, 99.9))


def volumes(inputs: Floats, results: Floats, triangles: Ints, size: float) -> tuple[float, float]:
    """The least and the most of the volume of a closed part over that of the input. Parts that are next to nothing (a
    cube of a hundredth of the size) do not count."""
    ratios = [1.0]
    for part in _closed_parts(triangles):
        before, after = (_volumes(frames, part) for frames in (inputs, results))
        real = np.abs(before) > (0.01 * size) ** 3
        ratios += list(after[real] / before[real])
    return min(ratios), max(ratios)


def pops(inputs: Floats, results: Floats, size: float, jiggle: float, frame_rate: float) -> Floats:
    """(T - 2, t) the second difference of each offset over what a swing of Jiggle and the input itself may have; 0
    where an offset is never seen."""
    offsets = results - inputs
    largest = np.linalg.norm(offsets, axis=2).max(axis=0)
    bend, own = (np.linalg.norm(np.diff(frames, n=2, axis=0), axis=2) for frames in (offsets, inputs))
    allowed = SWING * (2.0 * math.sin(math.pi * jiggle / frame_rate)) ** 2 * largest + own
    ratios: Floats = np.where(largest > SEEN * size, bend / np.maximum(allowed, 1e-300), 0.0)
    return ratios


def push(inputs: Floats, size: float, frame_rate: float) -> float:
    if len(inputs) < 3 or inputs.shape[1] == 0:
        return 0.0
    bend = np.linalg.norm(np.diff(inputs, n=2, axis=0), axis=2) * frame_rate**2
    return float(np.percentile(np.sqrt((bend**2).mean(axis=1)), 90)) / (GRAVITY * size)


def _edges(triangles: Ints) -> Ints:
    pairs = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    unique: Ints = np.unique(pairs, axis=0)
    return unique


def _volumes(frames: Floats, triangles: Ints) -> Floats:
    a, b, c = (frames[:, triangles[:, k]] for k in range(3))
    signed: Floats = np.einsum("ijk,ijk->i", np.cross(a, b), c) / 6.0
    return signed


def free_parts(triangles: Ints, follow: Floats) -> list[Ints]:
    """Vertices of each connected piece of free flesh; those with less than a tenth of it are crumbs."""
    free = triangles[(follow[triangles] < 0.5).all(axis=1)]
    pieces = [np.unique(piece) for piece in _pieces(free)]
    return [piece for piece in pieces if len(piece) >= 0.1 * (follow < 0.5).sum()]


def _pieces(triangles: Ints) -> list[Ints]:
    """Triangles that hang together through vertices."""
    label = np.arange(triangles.max(initial=-1) + 1)
    while True:  # each vertex takes the smallest label around it
        least = label[triangles].min(axis=1)
        before = label.copy()
        np.minimum.at(label, triangles, least[:, None])
        label = label[label]
        if (label == before).all():
            break
    owner = label[triangles[:, 0]]
    return [triangles[owner == name] for name in np.unique(owner)]


def _closed_parts(triangles: Ints) -> list[Ints]:
    """Connected pieces of which every edge lies between two triangles that agree about the outside."""
    parts = []
    for part in _pieces(triangles):
        edges = part[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        directed, counts = np.unique(edges, axis=0, return_counts=True)
        both = {(int(a), int(b)) for a, b in directed}
        if (counts == 1).all() and all((b, a) in both for a, b in both):
            parts.append(part)
    return parts
