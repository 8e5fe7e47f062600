"""The connected pieces of a mesh."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def connected_pieces(count: int, edges: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """(count,) the number of the connected piece of each vertex, from 0, given edges (k, 2)."""
    label = np.arange(count)
    if not len(edges):
        return label
    while True:
        low = np.minimum(label[edges[:, 0]], label[edges[:, 1]])
        before = label.copy()
        np.minimum.at(label, edges[:, 0], low)
        np.minimum.at(label, edges[:, 1], low)
        label = label[label]
        if np.array_equal(before, label):
            break
    return np.unique(label, return_inverse=True)[1].reshape(-1)
