"""Regions of a cage whose average motion follows the input exactly, while the rest of their motion is free."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from ..cage.view import all_edges

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_ROUNDS = 8  # of moving centres to the middle of their regions
_SPECK = 0.01  # of the free flesh: smaller pieces, left over between followed vertices, are no regions


def average_regions(vertices: Floats, tets: Ints, wanted: npt.NDArray[np.bool_], count: int) -> Ints:
    """The region (n,) of each cage vertex, -1 for none: about `count` connected ones of the `wanted` vertices (n,), at
    least one for each piece that is more than a speck."""
    if not wanted.any():
        raise BadInput("No flesh is free where averages are to follow: choose another group, or set their number to 0.")
    edges = all_edges(tets)
    edges = edges[wanted[edges].all(axis=1)]
    lengths = np.linalg.norm(vertices[edges[:, 0]] - vertices[edges[:, 1]], axis=1)
    pieces, piece = np.unique(_connected(len(vertices), edges)[wanted], return_inverse=True)
    members = [np.flatnonzero(wanted)[piece == number] for number in range(len(pieces))]
    seeds: list[int] = []
    for own in members:
        if len(own) < _SPECK * wanted.sum():
            continue
        seeds += _spread_seeds(vertices[own], own, max(1, round(count * len(own) / wanted.sum())))
    for _ in range(_ROUNDS):
        regions = _grown(len(vertices), edges, lengths, seeds)
        seeds = [_middle(vertices, np.flatnonzero(regions == number)) for number in range(len(seeds))]
    return _grown(len(vertices), edges, lengths, seeds)


def _connected(count: int, edges: Ints) -> npt.NDArray[np.int64]:
    """The lowest vertex of the piece that each belongs to."""
    lowest = np.arange(count)
    while True:
        before = lowest.copy()
        for a, b in ((0, 1), (1, 0)):
            np.minimum.at(lowest, edges[:, a], lowest[edges[:, b]])
        lowest = lowest[lowest]
        if (lowest == before).all():
            return lowest


def _spread_seeds(points: Floats, own: npt.NDArray[np.int64], count: int) -> list[int]:
    """So many vertices far from each other."""
    chosen = [int(np.linalg.norm(points - points.mean(axis=0), axis=1).argmax())]
    distance = np.linalg.norm(points - points[chosen[0]], axis=1)
    while len(chosen) < min(count, len(points)):
        chosen.append(int(distance.argmax()))
        distance = np.minimum(distance, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return [int(own[index]) for index in chosen]


def _grown(count: int, edges: Ints, lengths: Floats, seeds: list[int]) -> Ints:
    """The number of the seed that is nearest along the edges, -1 where none can be reached: regions are connected."""
    distance, region = np.full(count, np.inf), np.full(count, -1, np.int32)
    distance[seeds], region[seeds] = 0.0, np.arange(len(seeds))
    while True:
        before = distance.copy()
        for a, b in ((edges[:, 0], edges[:, 1]), (edges[:, 1], edges[:, 0])):
            through = distance[a] + lengths
            np.minimum.at(distance, b, through)
            nearer = (through == distance[b]) & (distance[b] < before[b])
            region[b[nearer]] = region[a[nearer]]
        if (distance == before).all():
            return region


def _middle(vertices: Floats, own: npt.NDArray[np.int64]) -> int:
    """The vertex of a region that is nearest to its centre."""
    points = vertices[own]
    return int(own[np.linalg.norm(points - points.mean(axis=0), axis=1).argmin()])
