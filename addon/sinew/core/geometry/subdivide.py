"""Faces cut into smaller ones that lie in them: a triangle into four, any other face into one at each corner. Nothing
is rounded: every new point is a mean of old ones, and so is what is given at corners."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .sparse import Rows, summed

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Faces:
    """Polygons: the corners of one after the other. What no face has is kept as a point."""

    points: int  # how many there are
    sizes: Ints  # (f,) corners of each face
    corners: Ints  # (sum of sizes,) their points


@dataclass(frozen=True)
class Subdivided:
    faces: Faces
    mix: Rows  # new points of old ones; old points come first, as they were
    corner_mix: Rows  # new corners of old ones
    origin: Ints  # (f,) the old face of each new one


def subdivide(faces: Faces, levels: int) -> Subdivided:
    """So many times over, at least once."""
    done = _once(faces)
    for _ in range(levels - 1):
        finer = _once(done.faces)
        done = Subdivided(
            finer.faces, finer.mix.after(done.mix), finer.corner_mix.after(done.corner_mix), done.origin[finer.origin]
        )
    return done


def edges_of(faces: Faces) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Ends (k, 2) of each edge, sorted, and (corners,) the edge from each corner to the next of its face."""
    following = faces.corners[_next(faces.sizes)]
    low, high = np.minimum(faces.corners, following), np.maximum(faces.corners, following)
    keys, edge = np.unique(low.astype(np.int64) * faces.points + high, return_inverse=True)
    return np.stack(np.divmod(keys, max(faces.points, 1)), axis=1), edge.ravel()


def _next(sizes: Ints) -> Any:
    """(corners,) the number of the next corner in the same face."""
    ends = np.cumsum(sizes)
    following = np.arange(1, int(sizes.sum()) + 1)
    following[ends - 1] = ends - sizes
    return following


def _once(faces: Faces) -> Subdivided:
    n, sizes, corners = faces.points, faces.sizes, faces.corners
    ends, edge = edges_of(faces)
    count = len(corners)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    following = _next(sizes)
    before = np.empty(count, np.int64)
    before[following] = np.arange(count)
    is_triangle = sizes == 3
    centred = np.flatnonzero(~is_triangle)  # faces with a new point in their middle
    middle = np.full(len(sizes), -1)
    middle[centred] = n + len(ends) + np.arange(len(centred))

    # A face at each corner: the corner, the middle of the edge that leaves it, the middle of the face, that of the edge
    # that comes. In a triangle the middle is a face of its own.
    one = np.arange(count)
    quads = one[~is_triangle[owner]]
    small = one[is_triangle[owner]]
    inner = small.reshape(-1, 3)
    new = np.concatenate([
        np.stack([corners[quads], n + edge[quads], middle[owner[quads]], n + edge[before[quads]]], axis=1).ravel(),
        np.stack([corners[small], n + edge[small], n + edge[before[small]]], axis=1).ravel(),
        (n + edge[inner]).ravel(),
    ])  # fmt: skip
    counts = (len(quads), len(small), len(inner))
    new_sizes = np.repeat([4, 3, 3], counts).astype(np.int32)
    origin = np.concatenate([owner[quads], owner[small], owner[inner[:, 0]]]).astype(np.int32)

    # Points: the old ones, middles of edges, middles of faces.
    within = owner[quads]
    rows = np.concatenate([np.arange(n), np.repeat(n + np.arange(len(ends)), 2), middle[within]])
    points = np.concatenate([np.arange(n), ends.ravel(), corners[quads]])
    weights = np.concatenate([np.ones(n), np.full(2 * len(ends), 0.5), 1.0 / sizes[within]])
    mix = summed(rows, points, weights, n + len(ends) + len(centred))

    corner_mix = _corner_mix(sizes, owner, following, before, quads, small, inner)
    return Subdivided(Faces(mix.count, new_sizes, new.astype(np.int32)), mix, corner_mix, origin)


def _corner_mix(sizes: Ints, owner: Any, following: Any, before: Any, quads: Any, small: Any, inner: Any) -> Rows:
    """New corners of old ones of the same face: itself, half way to the next, all of them, half way to the last."""
    rows, points, weights = [], [], []

    def add(row: Any, point: Any, weight: Any) -> None:
        rows.append(row)
        points.append(point)
        weights.append(np.broadcast_to(np.asarray(weight, np.float64), np.shape(row)))

    def half(row: Any, one: Any) -> None:
        add(row, one, 0.5)
        add(row, following[one], 0.5)

    first = 4 * np.arange(len(quads))
    add(first, quads, 1.0)
    half(first + 1, quads)
    polygon = owner[quads]
    begin = (np.cumsum(sizes) - sizes)[polygon]
    of_polygon = np.repeat(first + 2, sizes[polygon])
    within = np.arange(len(of_polygon)) - np.repeat(np.cumsum(sizes[polygon]) - sizes[polygon], sizes[polygon])
    add(of_polygon, np.repeat(begin, sizes[polygon]) + within, np.repeat(1.0 / sizes[polygon], sizes[polygon]))
    half(first + 3, before[quads])
    first = 4 * len(quads) + 3 * np.arange(len(small))
    add(first, small, 1.0)
    half(first + 1, small)
    half(first + 2, before[small])
    first = 4 * len(quads) + 3 * len(small) + 3 * np.arange(len(inner))
    for k in range(3):
        half(first + k, inner[:, k])
    return summed(np.concatenate(rows), np.concatenate(points), np.concatenate(weights))
