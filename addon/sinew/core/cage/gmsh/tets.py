"""Measures of tets: boundary, volumes, angles and shape."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_FACES = ((1, 2, 3), (0, 3, 2), (0, 1, 3), (0, 2, 1))  # opposite each corner, counter-clockwise seen from outside


def boundary(tets: Ints) -> Ints:
    """The faces (m, 3) that only one tet has, in the order of tets."""
    faces = np.stack([tets[:, face] for face in _FACES], axis=1).reshape(-1, 3)
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    outer: Ints = faces[np.sort(first[count == 1])]
    return outer


def volumes(vertices: Floats, tets: Ints) -> Floats:
    """Signed volumes (e,)."""
    a, b, c, d = np.moveaxis(vertices[tets], 1, 0)
    found: Floats = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6.0
    return found


def barycentric(corners: Floats, points: Floats) -> Floats:
    """Weights (p, 4) of the points (p, 3) in their tets (p, 4, 3)."""
    sides = np.moveaxis(corners[:, 1:] - corners[:, :1], 1, 2)
    weights = np.linalg.solve(sides, (points - corners[:, 0])[:, :, None])[:, :, 0]
    found: Floats = np.concatenate([1.0 - weights.sum(axis=1, keepdims=True), weights], axis=1)
    return found


def least_angles(corners: Floats) -> Floats:
    """Smallest dihedral angle in degrees of tets (..., 4, 3); -1 for a flat one, less the more it is inside out."""
    normals = np.stack([
        np.cross(corners[..., b, :] - corners[..., a, :], corners[..., c, :] - corners[..., a, :])
        for a, b, c in _FACES
    ], axis=-2)  # fmt: skip
    lengths = np.linalg.norm(normals, axis=-1, keepdims=True)
    normals = normals / np.maximum(lengths, 1e-300)
    cosines = -np.einsum("...ik,...jk->...ij", normals, normals)
    cosines[..., range(4), range(4)] = -1.0
    angles: Floats = np.degrees(np.arccos(np.clip(cosines.max(axis=(-2, -1)), -1.0, 1.0)))
    height = np.einsum("...i,...i->...", normals[..., 3, :], corners[..., 3, :] - corners[..., 0, :])
    size = np.linalg.norm(corners - corners.mean(axis=-2, keepdims=True), axis=-1).max(axis=-1)
    return np.where(height < 0.0, angles, -1.0 - 90.0 * height / np.maximum(size, 1e-300))


def radius_ratios(vertices: Floats, tets: Ints) -> Floats:
    """Three times the radius of the inscribed over that of the circumscribed sphere: 1 is regular, 0 flat."""
    a, b, c, d = np.moveaxis(vertices[tets], 1, 0)
    u, v, w = b - a, c - a, d - a
    six_volume = np.abs(np.einsum("ij,ij->i", np.cross(u, v), w))
    squares = [np.einsum("ij,ij->i", x, x)[:, None] for x in (u, v, w)]
    center = squares[0] * np.cross(v, w) + squares[1] * np.cross(w, u) + squares[2] * np.cross(u, v)
    areas = sum(np.linalg.norm(np.cross(x, y), axis=1) for x, y in ((u, v), (v, w), (w, u), (v - u, w - u)))
    # r = 3 V / area sum (doubled areas: six_volume / areas), R = |center| / (2 six_volume)
    ratios: Floats = 6.0 * six_volume**2 / np.maximum(areas * np.linalg.norm(center, axis=1), 1e-300)
    return ratios
