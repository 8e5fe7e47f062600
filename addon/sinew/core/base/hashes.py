"""Hashes of arrays."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def hash_arrays(*arrays: Array) -> str:
    """A hash over the bytes of arrays (and their shapes)."""
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()
