"""The connected pieces of a mesh."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_FILM = 0.1  # of a piece's edges: more of them on its border, and it encloses nothing


def connected_pieces(count: int, edges: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(count,) the number of the connected piece of each vertex, from 0, given edges (k, 2)."""
    label = np.arange(count)  # of each vertex one of its piece with no higher number; in the end the lowest
    while True:
        one, other = label[edges[:, 0]], label[edges[:, 1]]
        apart = one != other
        if not apart.any():
            break
        edges, one, other = edges[apart], one[apart], other[apart]
        label[np.maximum(one, other)] = np.minimum(one, other)  # of several neighbours any will do
        while not np.array_equal(label, further := label[label]):
            label = further
    return np.unique(label, return_inverse=True)[1].reshape(-1)


def closed_shells(count: int, triangles: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """(count,) whether a vertex is of a connected piece that encloses something: hardly any of its edges has one side
    only. Lashes, hair cards and tear lines do not."""
    edges = np.sort(np.concatenate([triangles[:, :2], triangles[:, 1:], triangles[:, [2, 0]]]), axis=1)
    pieces = connected_pieces(count, edges)
    different, sides = np.unique(edges, axis=0, return_counts=True)
    of, number = pieces[different[:, 0]], int(pieces.max(initial=0)) + 1
    all_edges = np.bincount(of, minlength=number)
    single = np.bincount(of, sides == 1, number)
    closed: npt.NDArray[np.bool_] = ((single < _FILM * all_edges) & (all_edges > 0))[pieces]
    return closed
