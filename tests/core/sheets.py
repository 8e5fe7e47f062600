"""Cloth for tests: sheets, and guides that move them."""

from __future__ import annotations

from typing import Any

import numpy as np


def sheet(columns: int, rows: int, edge: float) -> tuple[Any, Any]:
    """Vertices (t, 3) in the plane and triangles (m, 3), all equilateral; x from 0 on, both ends straight."""
    points = [
        (i * edge * np.sqrt(0.75), (j + 0.5 * (i % 2)) * edge, 0.0) for i in range(columns + 1) for j in range(rows + 1)
    ]
    sides = []
    for i in range(columns):
        for j in range(rows):
            a = i * (rows + 1) + j
            b = a + rows + 1
            sides += [(a, b, b + 1), (a, b + 1, a + 1)] if i % 2 else [(a, b, a + 1), (a + 1, b, b + 1)]
    return np.array(points), np.array(sides, np.int32)


def waving(rest: Any, time: float) -> Any:
    """A guide that travels, turns and waves."""
    angle = 0.4 * np.sin(3.0 * time)
    turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
    pose = rest + np.array([0.0, 0.0, 1.0]) * (0.06 * np.sin(6.0 * time + 4.0 * rest[:, :1]))
    return pose @ turn.T + np.array([0.2 * np.sin(4.0 * time), 0.0, 0.0])
