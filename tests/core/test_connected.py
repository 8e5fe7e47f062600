"""Connected pieces are those that a plain search finds, and long ways take no longer than short ones."""

from __future__ import annotations

import numpy as np
import pytest
from sinew.core.geometry.connected import connected_pieces

pytestmark = pytest.mark.once


def searched(count: int, edges: np.ndarray) -> list[int]:
    """The same by walking from each vertex that was not seen yet."""
    beside: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        beside[a].append(b)
        beside[b].append(a)
    piece = [-1] * count
    for start in range(count):
        if piece[start] < 0:
            number, waiting = max(piece) + 1, [start]
            while waiting:
                vertex = waiting.pop()
                if piece[vertex] < 0:
                    piece[vertex] = number
                    waiting += beside[vertex]
    return piece


@pytest.mark.parametrize("seed", range(30))
def test_pieces_are_those_of_a_plain_search(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 60))
    edges = random.integers(0, count, (int(random.integers(0, 50)), 2))
    assert connected_pieces(count, edges).tolist() == searched(count, edges)


def test_a_long_way_in_any_order_is_one_piece() -> None:
    way = np.random.default_rng(0).permutation(50_000)
    cut = np.stack([way[:-1], way[1:]], axis=1)[np.arange(49_999) != 20_000]
    pieces = connected_pieces(50_001, cut)
    assert len(set(pieces[way[:20_001]])) == len(set(pieces[way[20_001:]])) == 1
    assert pieces.max() == 2 and pieces[50_000] == 2
