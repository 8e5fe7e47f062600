"""The connected pieces of a mesh."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


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
