"""Whether a surface is a sheet, or encloses a body."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

_OPEN = 0.3
_CLOSED = 0.01
# Of a ball's volume under as much surface, squared: people and animals have 0.08 and more, a quilt of 5 cm 0.01, a
# shirt with an inner side 0.0001.
_THICK = 0.02


def is_sheet(vertices: Any, triangles: Any) -> bool:
    """Whether what would close its borders is a good part of it: a curtain, a leaf, a flag. A body with holes for neck
    and eyes is none."""
    vertices, triangles = _surface(vertices, triangles)
    return _closing(vertices, triangles) > _OPEN * _area(*_corners(vertices, triangles))


def is_solid(vertices: Any, triangles: Any) -> bool:
    """Whether it is closed and has room inside: an animal, a cushion. A bag with a mouth is none, nor is a shirt with
    an inner side."""
    vertices, triangles = _surface(vertices, triangles)
    a, b, c = _corners(vertices - vertices.mean(axis=0) if len(vertices) else vertices, triangles)
    area, volume = _area(a, b, c), abs(float(np.einsum("ij,ij->", np.cross(a, b), c))) / 6.0
    is_thick = 36.0 * np.pi * volume**2 > _THICK * area**3 > 0.0
    return is_thick and _closing(vertices, triangles) <= _CLOSED * area


def _surface(vertices: Any, triangles: Any) -> tuple[Floats, npt.NDArray[np.int64]]:
    return np.asarray(vertices, np.float64), np.asarray(triangles, np.int64).reshape(-1, 3)


def _corners(vertices: Floats, triangles: npt.NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    return a, b, c


def _closing(vertices: Floats, triangles: npt.NDArray[np.int64]) -> float:
    """The area of what would close its borders."""
    sides = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    _, first, counts = np.unique(np.sort(sides, axis=1), axis=0, return_index=True, return_counts=True)
    border = sides[first[counts == 1]]
    closing = 0.0
    loops = _loops(border)
    for loop in np.unique(loops):
        own = border[loops == loop]
        middle = vertices[np.unique(own)].mean(axis=0)
        closing += _area(vertices[own[:, 0]], vertices[own[:, 1]], middle)
    return closing


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
