"""Whether a surface encloses a body or is a sheet."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_OPEN = 0.3


def is_sheet(vertices: Any, triangles: Any) -> bool:
    """Whether what would close its borders is a good part of it: a curtain, a leaf, a flag. A body with holes for neck
    and eyes is none."""
    vertices, triangles = np.asarray(vertices, np.float64), np.asarray(triangles, np.int64).reshape(-1, 3)
    if not len(triangles):
        return False
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    _, first, counts = np.unique(np.sort(sides, axis=1), axis=0, return_index=True, return_counts=True)
    border = sides[first[counts == 1]]
    closing = 0.0
    loops = _loops(border)
    for loop in np.unique(loops):
        own = border[loops == loop]
        middle = vertices[np.unique(own)].mean(axis=0)
        closing += _area(vertices[own[:, 0]], vertices[own[:, 1]], middle)
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    return closing > _OPEN * _area(a, b, c)


def _area(a: Floats, b: Floats, c: Floats) -> float:
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum()) / 2.0


def _loops(border: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """(k,) to which piece of the border each side belongs."""
    _, ends = np.unique(border, return_inverse=True)
    ends = ends.reshape(-1, 2)
    label = np.arange(ends.max(initial=-1) + 1)
    while True:
        least = np.minimum(label[ends[:, 0]], label[ends[:, 1]])
        spread = label.copy()
        np.minimum.at(spread, ends.ravel(), np.repeat(least, 2))
        spread = spread[spread]
        if (spread == label).all():
            found: npt.NDArray[np.int64] = label[ends[:, 0]]
            return found
        label = spread
