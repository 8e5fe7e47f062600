"""Rows are told apart as numpy would, and other threads go on meanwhile."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.geometry.rows import number_rows, unique_pairs


@pytest.mark.parametrize("columns", [1, 2, 5])
@pytest.mark.parametrize("kind", [int, float])
def test_equal_rows_have_one_number(columns: int, kind: type) -> None:
    rows = np.random.default_rng(3).integers(-3, 3, (400, columns)).astype(kind)
    assert np.array_equal(number_rows(rows), np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1))


def test_pairs_are_there_once() -> None:
    pairs = np.random.default_rng(4).integers(0, 12, (300, 2)).astype(np.int32)
    assert np.array_equal(unique_pairs(pairs), np.unique(pairs, axis=0))
    assert unique_pairs(pairs[:0]).shape == (0, 2) and len(number_rows(np.zeros((0, 3)))) == 0
