"""Smooth shapes by distance functions, and meshes of them by surface nets: numpy alone."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin

import numpy as np

Distance = Callable[[np.ndarray], np.ndarray]  # of points (..., 3): negative inside


def ellipsoid(p: np.ndarray, center: tuple, radii: tuple) -> np.ndarray:
    """Near enough to the distance, exact on the surface."""
    q = (p - center) / radii
    outer = np.sqrt((q * q).sum(-1))
    inner = np.sqrt(((q / radii) ** 2).sum(-1))
    return outer * (outer - 1.0) / np.maximum(inner, 1e-9)


def round_cone(p: np.ndarray, a: tuple, b: tuple) -> np.ndarray:
    """A capsule whose radius runs from a[3] to b[3]."""
    start, along = np.asarray(a[:3]), np.subtract(b[:3], a[:3])
    t = np.clip((p - start) @ along / (along @ along), 0.0, 1.0)
    gap = p - start - t[..., None] * along
    return np.sqrt((gap * gap).sum(-1)) - (a[3] + t * (b[3] - a[3]))


def chain(p: np.ndarray, balls: list) -> np.ndarray:
    d = round_cone(p, balls[0], balls[1])
    for a, b in zip(balls[1:], balls[2:]):
        d = blend(d, round_cone(p, a, b), 0.02)
    return d


def blend(a: np.ndarray, b: np.ndarray, k: float) -> np.ndarray:
    """Union whose seam is rounded over the length k."""
    h = np.maximum(k - np.abs(a - b), 0.0) / k
    return np.minimum(a, b) - h * h * k * 0.25


def mirrored_lines(reach: float, step: float) -> np.ndarray:
    """Grid lines along x: no sample on x = 0 keeps the mesh symmetric."""
    half = step * (np.arange(np.ceil(reach / step)) + 0.5)
    return np.concatenate([-half[::-1], half])


def surface_nets(distance: Distance, lines: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Quads around the zero level of a distance function, over grid lines along x, y, z: one vertex in each cell that
    the surface crosses."""
    grid = np.stack(np.meshgrid(*lines, indexing="ij"), axis=-1)
    value = np.concatenate([distance(slab) for slab in np.array_split(grid, 8)])
    inside = value < 0
    cells = np.array(value.shape) - 1
    total, crossings = np.zeros((*cells, 3)), np.zeros(cells)
    edges = []
    for axis in range(3):
        near = [slice(None)] * 3
        near[axis] = slice(0, -1)
        far = [slice(None)] * 3
        far[axis] = slice(1, None)
        index = np.argwhere(inside[tuple(near)] != inside[tuple(far)])
        other = index + np.eye(3, dtype=int)[axis]
        a, b = value[tuple(index.T)], value[tuple(other.T)]
        share = (a / (a - b))[:, None]
        point = (1 - share) * grid[tuple(index.T)] + share * grid[tuple(other.T)]
        b_axis, c_axis = (axis + 1) % 3, (axis + 2) % 3
        corners = []
        for db, dc in ((0, 0), (1, 0), (1, 1), (0, 1)):
            cell = index.copy()
            cell[:, b_axis] -= db
            cell[:, c_axis] -= dc
            np.add.at(total, tuple(cell.T), point)
            np.add.at(crossings, tuple(cell.T), 1)
            corners.append(np.ravel_multi_index(tuple(cell.T), cells))
        quad = np.stack(corners, axis=1)
        quad[a > 0] = quad[a > 0][:, ::-1]
        edges.append(quad)
    used = np.flatnonzero(crossings.ravel())
    number = np.full(crossings.size, -1)
    number[used] = np.arange(len(used))
    vertices = total.reshape(-1, 3)[used] / crossings.ravel()[used, None]
    return vertices, number[np.concatenate(edges)]


def neighbour_sums(faces: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Undirected edges of quads as two index arrays (both directions), and each vertex's number of neighbours."""
    pairs = np.concatenate([faces[:, (i, (i + 1) % 4)] for i in range(4)])
    pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    return pairs[:, 0], pairs[:, 1], np.bincount(pairs[:, 0], minlength=count)


def neighbour_mean(values: np.ndarray, edges: tuple[np.ndarray, np.ndarray, np.ndarray]) -> np.ndarray:
    here, there, degree = edges
    columns = [np.bincount(here, values[there, k], minlength=len(values)) for k in range(values.shape[1])]
    return np.stack(columns, axis=1) / np.maximum(degree, 1)[:, None]


def project(distance: Distance, p: np.ndarray, most: float) -> np.ndarray:
    """One Newton step towards the surface, by no more than `most` along an axis of slope 1."""
    eps = 1e-5
    here = distance(p)
    slope = np.stack([distance(p + eps * axis) - here for axis in np.eye(3)], axis=-1) / eps
    step = here / np.maximum((slope * slope).sum(1), 0.25)
    return p - np.clip(step, -most, most)[:, None] * slope


def even_out(distance: Distance, vertices: np.ndarray, faces: np.ndarray, rounds: int, step: float) -> np.ndarray:
    """Smoothing along the surface and projection onto it, by turns."""
    edges = neighbour_sums(faces, len(vertices))
    for _ in range(rounds):
        vertices = vertices + 0.6 * (neighbour_mean(vertices, edges) - vertices)
        vertices = project(distance, vertices, 0.3 * step)
    vertices = project(distance, project(distance, vertices, 0.3 * step), 0.3 * step)
    return vertices + 0.5 * (neighbour_mean(vertices, edges) - vertices)


def cap(rows: int, columns: int, reach: float, closed: bool) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """A unit ball's cap around +Z down to the polar angle `reach`; `closed`: the whole ball."""
    points, faces = [(0.0, 0.0, 1.0)], []
    polar = np.linspace(0.0, pi if closed else reach, rows + 1)[1 : rows if closed else None]
    for t in polar:
        points += [(sin(t) * cos(a), sin(t) * sin(a), cos(t)) for a in 2 * pi * np.arange(columns) / columns]
    for j in range(columns):
        k = (j + 1) % columns
        faces.append((0, 1 + j, 1 + k))
        for i in range(len(polar) - 1):
            low, high = 1 + i * columns, 1 + (i + 1) * columns
            faces.append((low + j, high + j, high + k, low + k))
        if closed:
            base = 1 + (len(polar) - 1) * columns
            faces.append((len(points), base + k, base + j))
    if closed:
        points.append((0.0, 0.0, -1.0))
    return np.array(points), faces


def frame_to(direction: tuple | np.ndarray) -> np.ndarray:
    """A rotation whose third column is `direction`."""
    z = np.asarray(direction, float) / np.linalg.norm(direction)
    x = np.cross((0.0, 0.0, 1.0) if abs(z[2]) < 0.9 else (0.0, 1.0, 0.0), z)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z], axis=1)
