"""Small bodies that the tests of the engine share."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


def box_tets(cells: tuple[int, int, int], size: tuple[float, float, float]) -> tuple[Floats, Ints]:
    """A box of cells, each cut into six tets along its diagonal."""
    nx, ny, nz = cells
    grid = np.stack(np.meshgrid(*(np.arange(n + 1) for n in cells), indexing="ij"), -1).reshape(-1, 3)
    vertices = grid / np.array(cells) * np.array(size)

    def index(p: npt.NDArray[np.int64]) -> int:
        return int((p[0] * (ny + 1) + p[1]) * (nz + 1) + p[2])

    tets = []
    for corner in itertools.product(range(nx), range(ny), range(nz)):
        for order in itertools.permutations(range(3)):
            path = [np.array(corner)]
            for axis in order:
                path.append(path[-1] + np.eye(3, dtype=int)[axis])
            tet = [index(p) for p in path]
            a, b, c, d = vertices[tet]
            if np.linalg.det(np.stack([b - a, c - a, d - a])) < 0:
                tet[2], tet[3] = tet[3], tet[2]
            tets.append(tet)
    return vertices, np.array(tets, np.int32)


def box_surface(cells: tuple[int, int, int], size: tuple[float, float, float]) -> tuple[Floats, Ints]:
    """The surface of a box as triangles, its vertices a regular grid on each side."""
    vertices, tets = box_tets(cells, size)
    faces: dict[tuple[int, ...], tuple[int, ...]] = {}
    for tet in tets:
        for corners in ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1)):
            face = tuple(int(tet[c]) for c in corners)
            key = tuple(sorted(face))
            if key in faces:
                del faces[key]
            else:
                faces[key] = face
    triangles = np.array(list(faces.values()), np.int32)
    used, inverse = np.unique(triangles, return_inverse=True)
    return vertices[used], inverse.reshape(-1, 3).astype(np.int32)


def composite(cage: Any, rest: Floats, triangles: Ints) -> tuple[Floats, Floats]:
    """What the flesh in its tets makes of a cage: mass at its vertices for a density of 1 (n,), and how much of the
    flesh's modulus each tet has (e,)."""
    fill, thickness = cage.filling(rest, triangles)
    corners = cage.vertices[cage.tets]
    mass = fill * np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0
    edges = [np.linalg.norm(corners[:, i] - corners[:, j], axis=1) for i in range(4) for j in range(i)]
    slender = 1.1 * np.mean(edges, axis=0) / thickness
    masses = np.bincount(cage.tets.ravel(), np.repeat(mass / 4.0, 4), len(cage.vertices))
    return masses, fill / (1.0 + 0.7 * slender**2)


def rotation(axis: tuple[float, float, float], angle: float) -> Floats:
    """Rotation matrix about an axis through the origin."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def sphere(
    rings: int = 24, segments: int = 36, radii: tuple[float, float, float] = (1.0, 1.0, 1.0)
) -> tuple[Floats, Ints]:
    """A closed ellipsoid with single poles."""
    rows = [np.array([[0.0, 0.0, 1.0]])]
    for ring in range(1, rings):
        polar = np.pi * ring / rings
        around = 2 * np.pi * np.arange(segments) / segments
        z = np.full(segments, np.cos(polar))
        rows.append(np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), z], 1))
    rows.append(np.array([[0.0, 0.0, -1.0]]))
    vertices = np.concatenate(rows)
    last = len(vertices) - 1
    triangles = []
    for k in range(segments):
        following = (k + 1) % segments
        triangles.append([0, 1 + k, 1 + following])
        for ring in range(rings - 2):
            a, b = 1 + ring * segments + k, 1 + ring * segments + following
            triangles += [[a, a + segments, b], [b, a + segments, b + segments]]
        base = 1 + (rings - 2) * segments
        triangles.append([last, base + following, base + k])
    return vertices * np.array(radii), np.array(triangles, np.int32)


def rod(radius: float, length: float, around: int = 24, along: int = 40) -> tuple[Floats, Ints]:
    """A closed cylinder along x from the origin."""
    turn = 2 * np.pi * np.arange(around) / around
    ring = np.stack([np.zeros(around), radius * np.cos(turn), radius * np.sin(turn)], 1)
    rings = [ring + (x, 0.0, 0.0) for x in np.linspace(0.0, length, along + 1)]
    vertices = np.concatenate([*rings, [[0.0, 0.0, 0.0], [length, 0.0, 0.0]]])
    here, there = np.arange(around), (np.arange(around) + 1) % around
    rows, last = around * np.arange(along)[:, None], around * along
    a, b, c, d = rows + here, rows + there, rows + around + there, rows + around + here
    middle = len(vertices) - 2
    triangles = [
        np.stack([a, b, c], -1).reshape(-1, 3),
        np.stack([a, c, d], -1).reshape(-1, 3),
        np.stack([np.full(around, middle), there, here], -1),
        np.stack([np.full(around, middle + 1), last + here, last + there], -1),
    ]
    return vertices, np.concatenate(triangles).astype(np.int32)
