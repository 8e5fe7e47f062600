"""A pass over the tets that Gmsh leaves too flat: the vertices around them move a little, one after the other, to
where the worst tet that they belong to is best. A flat tet would make the simulation stiff and slow."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from . import tets as measures

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

GOAL = 12.0  # degrees: tets below are worked on
_ROUNDS = 12
_STEPS = (0.3, 0.1, 0.03)  # of the mean edge at a vertex
_DIRECTIONS: Floats = np.array([d for d in itertools.product((-1.0, 0.0, 1.0), repeat=3) if any(d)])
_DIRECTIONS /= np.linalg.norm(_DIRECTIONS, axis=1, keepdims=True)


def improve(home: Floats, tets: Ints, leashes: Floats, monitor: Any = None, rounds: int = _ROUNDS) -> Floats:
    """Vertices (n, 3) with larger least angles, no farther from `home` (n, 3) than their leashes (n,). The least angle
    never falls, so tets that were positive stay so, and those that were not may become so."""
    vertices = home.copy()
    stars = _stars(tets, len(vertices))
    for _ in range(rounds):
        angles = measures.least_angles(vertices[tets])
        bad = np.flatnonzero(angles < GOAL)
        moved = False
        for tet in bad[np.argsort(angles[bad], kind="stable")]:
            if monitor is not None:
                monitor.check()
            for vertex in tets[tet]:
                if leashes[vertex] > 0.0:
                    moved |= _move(vertices, tets[stars[vertex]], int(vertex), home[vertex], leashes[vertex])
        if not moved:
            break
    return vertices


def _stars(tets: Ints, count: int) -> list[npt.NDArray[np.int64]]:
    """The tets at each vertex."""
    order = np.argsort(tets.ravel(), kind="stable")
    ends = np.cumsum(np.bincount(tets.ravel(), minlength=count))
    return np.split(order // 4, ends[:-1])


def _move(vertices: Floats, star: Ints, vertex: int, home: Floats, leash: float) -> bool:
    """Tries places around a vertex; whether a better one was found."""
    corners = vertices[star]
    here = vertices[vertex].copy()
    mine = star == vertex
    reach = float(np.linalg.norm(corners - here, axis=2)[~mine].mean())
    best, start = float(measures.least_angles(corners).min()), here
    before = best
    for step in _STEPS:
        places = start + step * reach * _DIRECTIONS
        places = places[np.linalg.norm(places - home, axis=1) <= leash]
        if len(places) == 0:
            continue
        trial = np.repeat(corners[None], len(places), axis=0)
        trial[:, mine] = places[:, None, :]
        worst = measures.least_angles(trial).min(axis=1)
        chosen = int(np.argmax(worst))
        if worst[chosen] > best:
            best, start = float(worst[chosen]), places[chosen]
    vertices[vertex] = start
    return best > before + 1e-3
