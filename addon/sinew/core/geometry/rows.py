"""Equal rows of an array. Column by column, because numpy lets other threads wait while it sorts whole rows: a window
would stand still for a second."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def number_rows(rows: npt.NDArray[Any]) -> Ints:
    """A number for each row (n, k), the same for equal ones, in the order of the rows when they are sorted."""
    numbers = np.zeros(len(rows), np.int64)
    for column in rows.T:
        values = np.unique(column, return_inverse=True)[1].reshape(-1)
        numbers = np.unique(numbers * (len(rows) + 1) + values, return_inverse=True)[1].reshape(-1)
    return numbers


def unique_pairs(pairs: npt.NDArray[Any]) -> Ints:
    """Each pair (n, 2) of indices once, sorted."""
    count = int(pairs.max(initial=0)) + 1
    keys = np.unique(pairs[:, 0].astype(np.int64) * count + pairs[:, 1])
    return np.stack(np.divmod(keys, count), axis=1)
