"""Where a garment follows the body that wears it: at waist, collar and cuffs, where it hugs the skin; hems and loose
cloth are free. Without a body: along its upper border."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base.native import module
from ..geometry.connected import connected_pieces

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_HUGS, _FREE = 0.004, 0.012  # of the body's size: nearer it follows exactly, farther not at all
_TOP = 0.04  # of a piece's height: what hangs by its upper border follows there
_SMOOTHED = 3  # rounds over neighbours: no lonely pins


def garment_follow(rest: Floats, edges: Ints, up: Floats, body: tuple[Floats, Ints] | None = None) -> Floats:
    """(t,) 1 follows exactly, 0 is free. `up`: against gravity; `body`: vertices and triangles of what wears it, at
    rest as the garment is."""
    follow = np.zeros(len(rest))
    if body is not None and len(body[1]):
        size = float(np.ptp(body[0], axis=0).max())
        distances, nearest = np.empty(len(rest)), np.empty(len(rest), np.int32)
        module.surface_distance(*_arrays(body), np.ascontiguousarray(rest), distances, nearest)
        follow = np.clip((_FREE * size - np.abs(distances)) / ((_FREE - _HUGS) * size), 0.0, 1.0)
        follow = _smoothed(follow, edges)
    heights = rest @ (up / max(float(np.linalg.norm(up)), 1e-300))
    pieces = connected_pieces(len(rest), edges)
    for piece in np.unique(pieces):
        own = pieces == piece
        if follow[own].max() < 0.5:  # it hangs by something
            high, low = heights[own].max(), heights[own].min()
            follow[own & (heights >= high - _TOP * (high - low))] = 1.0
    return np.where(follow > 0.95, 1.0, np.where(follow < 0.05, 0.0, follow))


def _arrays(body: tuple[Floats, Ints]) -> tuple[Floats, Ints]:
    return np.ascontiguousarray(body[0], np.float64), np.ascontiguousarray(body[1], np.int32)


def _smoothed(weights: Floats, edges: Ints) -> Floats:
    count = np.maximum(np.bincount(edges.ravel(), minlength=len(weights)), 1)
    for _ in range(_SMOOTHED):
        sums = np.bincount(edges[:, 0], weights[edges[:, 1]], len(weights))
        sums += np.bincount(edges[:, 1], weights[edges[:, 0]], len(weights))
        weights = 0.5 * (weights + sums / count)
    return weights
