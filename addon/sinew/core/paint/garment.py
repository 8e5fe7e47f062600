"""Where a garment follows the body that wears it: at waist, collar and cuffs, where it hugs the skin or is sewn to it;
hems and loose cloth are free. Characters of games have no skin under their clothes: there it follows down to its waist,
where it is narrowest. Without a body: along its upper border."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.native import module
from ..geometry.connected import connected_pieces

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_HUGS, _FREE = 0.004, 0.012  # of the body's size: nearer it follows exactly, farther not at all
_TOP = 0.04  # of a piece's height: what hangs by its upper border follows there
_SMOOTHED = 3  # rounds over neighbours
_SLICES = 24  # of a piece, from top to bottom
_HOLLOW = 0.25  # of them: with skin in fewer, there is no body under a garment
_NARROWER = 0.03  # of its width: a waist is narrower by that than what is above and below
_HEM, _RING = 0.2, 0.3  # of its height: the lower end; of the mean distance to its middle: what is nearer is no ring
_HIPS = 0.3  # of the way from the waist to the hem: over these it becomes free


def garment_follow(
    rest: Floats, edges: Ints, up: Floats, body: tuple[Floats, Ints] | None = None, monitor: Any = None
) -> Floats:
    """(t,) 1 follows exactly, 0 is free. `up`: against gravity; `body`: vertices and triangles of what wears it, at
    rest as the garment is."""
    up = up / max(float(np.linalg.norm(up)), 1e-300)
    follow = np.zeros(len(rest))
    if body is not None and len(body[1]):
        size = float(np.ptp(body[0], axis=0).max())
        distances, nearest = np.empty(len(rest)), np.empty(len(rest), np.int32)
        module.surface_distance(*_arrays(body), np.ascontiguousarray(rest), distances, nearest, monitor)
        follow = np.clip((_FREE * size - np.abs(distances)) / ((_FREE - _HUGS) * size), 0.0, 1.0)
        # A seam is one row of vertices and stays; a vertex that hugs alone does not.
        is_pin = (follow >= 1.0) & (_largest_beside(follow, edges) >= 0.5)
        follow = np.where(is_pin, 1.0, _smoothed(follow, edges))
    heights = rest @ up
    pieces = connected_pieces(len(rest), edges)
    for piece in np.unique(pieces):
        own = np.flatnonzero(pieces == piece)
        within = np.isin(edges[:, 0], own)
        local = np.searchsorted(own, edges[within]).astype(np.int32)
        follow[own[_touched_hem(rest[own], local, follow[own], heights[own])]] = 0.0
        high, low = heights[own].max(), heights[own].min()
        if follow[own].max() < 0.5:  # it hangs by something
            follow[own[heights[own] >= high - _TOP * (high - low)]] = 1.0
        elif body is not None and _is_hollow(rest[own], body[0], up):
            waist = _waist(rest[own], up)
            hips = _HIPS * (waist - low)
            above = np.clip((heights[own] - (waist - hips)) / max(hips, 1e-300), 0.0, 1.0)
            follow[own] = np.maximum(follow[own], above * above * (3.0 - 2.0 * above))
    return np.where(follow > 0.95, 1.0, np.where(follow < 0.05, 0.0, follow))


def _slices(points: Floats, up: Floats) -> tuple[npt.NDArray[np.intp], Floats]:
    """Which slice each point is in, 0 at the top, and the points as seen from above."""
    heights = points @ up
    high, low = float(heights.max()), float(heights.min())
    numbers = np.minimum(((high - heights) / max(high - low, 1e-300) * _SLICES).astype(np.intp), _SLICES - 1)
    return numbers, points - heights[:, None] * up


def _is_hollow(piece: Floats, body: Floats, up: Floats) -> bool:
    """Whether hardly any slice of its upper half has skin in its middle."""
    numbers, level = _slices(piece, up)
    heights, high = body @ up, float((piece @ up).max())
    depth = (high - float((piece @ up).min())) / _SLICES
    filled, looked_at = 0, 0
    for number in range(_SLICES // 2):
        own = level[numbers == number]
        if len(own) < 3:
            continue
        there = (heights <= high - number * depth) & (heights > high - (number + 1) * depth)
        middle, half = own.mean(axis=0), 0.4 * np.ptp(own, axis=0)
        beside = np.abs(body[there] - heights[there][:, None] * up - middle)
        filled += bool((beside <= half + 1e-12).all(axis=1).any())
        looked_at += 1
    return looked_at > 0 and filled < _HOLLOW * looked_at


def _waist(piece: Floats, up: Floats) -> float:
    """The height at which it is narrowest between wider parts, such as chest and hem; of a skirt that of its top."""
    numbers, level = _slices(piece, up)
    heights = piece @ up
    high, low = float(heights.max()), float(heights.min())
    widths = np.full(_SLICES, np.nan)
    for number in range(_SLICES):
        own = level[numbers == number]
        if len(own) >= 3:
            widths[number] = float(np.linalg.norm(own - own.mean(axis=0), axis=1).mean())
    there = np.flatnonzero(np.isfinite(widths))
    deepest, waist = _NARROWER * float(np.nanmax(widths)), high
    for k in range(1, len(there) - 1):
        beside = min(widths[there[:k]].max(), widths[there[k + 1 :]].max())
        if beside - widths[there[k]] > deepest:
            deepest = float(beside - widths[there[k]])
            waist = high - (there[k] + 0.5) / _SLICES * (high - low)
    return waist


def _touched_hem(points: Floats, edges: Ints, follow: Floats, heights: Floats) -> npt.NDArray[np.intp]:
    """Vertices of patches near the lower end that lie against the skin on one side: a thigh or a hand, and no cuff,
    which goes all around."""
    inside = follow > 0.0
    patches = connected_pieces(len(points), edges[inside[edges].all(axis=1)])
    low = heights.min() + _HEM * np.ptp(heights)
    found = []
    for patch in np.unique(patches[inside & (heights <= low)]):
        own = np.flatnonzero((patches == patch) & inside)
        reach = np.linalg.norm(points[own] - points[own].mean(axis=0), axis=1)
        if reach.min() < _RING * max(float(reach.mean()), 1e-300) and heights[own].max() < heights.max():
            found.append(own)
    return np.concatenate([np.zeros(0, np.intp), *found])


def _largest_beside(weights: Floats, edges: Ints) -> Floats:
    largest = np.zeros(len(weights))
    np.maximum.at(largest, edges[:, 0], weights[edges[:, 1]])
    np.maximum.at(largest, edges[:, 1], weights[edges[:, 0]])
    return largest


def _arrays(body: tuple[Floats, Ints]) -> tuple[Floats, Ints]:
    return np.ascontiguousarray(body[0], np.float64), np.ascontiguousarray(body[1], np.int32)


def _smoothed(weights: Floats, edges: Ints) -> Floats:
    count = np.maximum(np.bincount(edges.ravel(), minlength=len(weights)), 1)
    for _ in range(_SMOOTHED):
        sums = np.bincount(edges[:, 0], weights[edges[:, 1]], len(weights))
        sums += np.bincount(edges[:, 1], weights[edges[:, 0]], len(weights))
        weights = 0.5 * (weights + sums / count)
    return weights
