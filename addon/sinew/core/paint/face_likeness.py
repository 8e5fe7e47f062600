"""Whether shape keys are those of a face, by what they do and whatever they are called; asked when a setup is added, so
it takes a moment at most."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .face import length_of, robust_rigid_fit

Floats = npt.NDArray[np.float64]

_FEWEST = 8  # keys
_POINTS = 1500  # of the mesh, evenly, that tell whether a key turns something as a whole
_BEGIN = 0.8  # of the largest motion: what is turned is sought from what moves so far
_OUTLIER = 0.06  # of its motion: a point that is off by more hardly counts
_TURNED = np.radians(3.0)  # a jaw opens by more, ...
_MOST_TURNED = np.radians(60.0)  # ... and by less
_SHARE = 0.01  # of the points: so many a jaw carries, at least, ...
_MOST_SHARE = 0.6  # ... and at most: what turns more is no part of a head
_CELL = 0.05  # of the length of what keys move: points in a cell lie together
_APART = 0.6  # of the largest motion: so far lips go apart


def looks_like_face(points: npt.NDArray[np.float32], moves: npt.NDArray[np.float32]) -> bool:
    """One of the keys' moves (k, t, 3) turns a part as a whole, as opening a jaw does, and takes points apart that lie
    together, as lips do."""
    moving = moves[np.abs(moves).max(axis=(1, 2), initial=0.0) > 0.0]
    if len(moving) < _FEWEST:
        return False
    longest = np.abs(moving).max(axis=(0, 2))
    part = points[longest > 0.1 * longest.max()]
    size = length_of(part.astype(np.float64), np.ones(len(part)))
    some = np.arange(0, len(points), -(-len(points) // _POINTS))
    return any(
        _turns(points[some].astype(np.float64), move[some].astype(np.float64)) and _parts(points, move, size)
        for move in moving
    )


def _turns(points: Floats, move: Floats) -> bool:
    length = np.linalg.norm(move, axis=1)
    if not length.max() > 0.0:
        return False
    scale = np.maximum(_OUTLIER * length, 1e-3 * length.max())
    begin = length > _BEGIN * length.max()
    motion, agreement = robust_rigid_fit(points, points + move, np.ones(len(points)), begin, scale)
    share = float((agreement * (length > 0.5 * length.max())).mean())
    return _TURNED < motion.angle < _MOST_TURNED and _SHARE < share < _MOST_SHARE


def _parts(points: npt.NDArray[np.float32], move: npt.NDArray[np.float32], size: float) -> bool:
    length = np.linalg.norm(move, axis=1)
    way = move[length.argmax()] / length.max()
    along = move @ way / length.max()
    cells = np.floor((points - points.min(axis=0)) / (_CELL * size)).astype(np.int64)
    _, cell = np.unique(cells, axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    count = int(cell.max()) + 1
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, cell, along)
    np.maximum.at(high, cell, along)
    return bool((high - low).max() > _APART)
