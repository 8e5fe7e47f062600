"""The closed surface that Gmsh fills: the boundary of the lattice cage, smoothed.

That boundary goes around any mesh, is closed and touches itself nowhere. It is smoothed only as far as the
lattice's tets, moved along, stay positive and hold all of the mesh: so it stays closed and still goes around.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ..cage import Cage
from . import tets as measures

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

_ROUNDS = 30
_SMOOTH, _SWELL = 0.5, -0.53  # a step of smoothing, and one back that keeps thin parts from shrinking
_FARTHEST = 0.5  # cells that a vertex moves
_FLATTEST = 0.1  # of its volume that a tet of the lattice keeps
_RETREATS = 6  # halvings of a step that goes too far, before it is left out
_OFF = 1e-6  # of a cell: farther from the cage's interpolation is outside
_PAIRS = 400_000  # at a time


def make_skin(cage: Cage, held: Floats, cell: float) -> tuple[Floats, Ints]:
    """Vertices (k, 3) and faces (m, 3), counter-clockwise seen from outside, around the points `held` (t, 3)."""
    used, inverse = np.unique(measures.boundary(cage.tets), return_inverse=True)
    faces: Ints = inverse.reshape(-1, 3).astype(np.int32)
    start: Floats = cage.vertices[used]
    step = _smoothed(start, faces) - start
    step *= np.minimum(1.0, _FARTHEST * cell / np.maximum(np.linalg.norm(step, axis=1, keepdims=True), 1e-300))
    share = np.ones((len(used), 1))
    pose = cage.vertices.copy()
    for retreat in range(_RETREATS + len(used)):
        pose[used] = start + share * step
        wrong = _wrong_vertices(cage, pose, held, cell)[used]
        if not (wrong & (share[:, 0] > 0.0)).any():
            break
        share[wrong] *= 0.5 if retreat < _RETREATS else 0.0
    return pose[used], faces


def _smoothed(vertices: Floats, faces: Ints) -> Floats:
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    count = len(vertices)
    degree = np.bincount(sides[:, 0], minlength=count)[:, None]
    for _ in range(_ROUNDS):
        for amount in (_SMOOTH, _SWELL):
            sums = [np.bincount(sides[:, 0], vertices[sides[:, 1], axis], count) for axis in range(3)]
            vertices = vertices + amount * (np.stack(sums, axis=1) / degree - vertices)
    return vertices


def _wrong_vertices(cage: Cage, pose: Floats, held: Floats, cell: float) -> Flags:
    """Corners of lattice tets that became too flat, or that should hold a point and do not."""
    wrong = np.zeros(len(pose), bool)
    flat = measures.volumes(pose, cage.tets) < _FLATTEST * measures.volumes(cage.vertices, cage.tets)
    wrong[cage.tets[flat]] = True
    if not flat.any():  # only then can points be found in it
        bound = cage.bind(held, pose)
        wrong[cage.tets[bound.binding[outside(bound, pose, held, cell)]]] = True
    return wrong


def outside(bound: Cage, pose: Floats, points: Floats, cell: float) -> Flags:
    """Which of the points that were bound to a cage at that pose lie outside it."""
    off: Flags = np.linalg.norm(bound.interpolate(pose) - points, axis=1) > _OFF * cell
    return off


def is_closed(faces: Ints) -> bool:
    """Whether every edge belongs to exactly two faces that agree about which side is out."""
    sides = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]).astype(np.int64)
    base = int(faces.max(initial=0)) + 1
    there, back = sides[:, 0] * base + sides[:, 1], sides[:, 1] * base + sides[:, 0]
    return len(np.unique(there)) == len(there) and np.array_equal(np.sort(there), np.sort(back))


def crosses_itself(vertices: Floats, faces: Ints) -> bool:
    """Whether an edge passes through a face that it does not touch at a corner."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    edges = edges[edges[:, 0] < edges[:, 1]]  # of the two directions of each, one
    low_f, high_f = vertices[faces].min(axis=1), vertices[faces].max(axis=1)
    low_e, high_e = vertices[edges].min(axis=1), vertices[edges].max(axis=1)
    spacing = float((high_f - low_f).max())
    # Two boxes no larger than the spacing meet only if their low corners lie in the same or in neighbouring cells.
    places_f, places_e = (np.floor((low - low_f.min(axis=0)) / spacing).astype(np.int64) + 1 for low in (low_f, low_e))
    counts = places_f.max(axis=0) + 2
    keys_f, keys_e = (np.ravel_multi_index(tuple(places.T), tuple(counts)) for places in (places_f, places_e))
    order = np.argsort(keys_f, kind="stable")
    keys_f = keys_f[order]
    for step in np.ndindex(3, 3, 3):
        shift = int(np.dot(np.array(step) - 1, [counts[1] * counts[2], counts[2], 1]))
        first = np.searchsorted(keys_f, keys_e + shift, "left")
        many = np.searchsorted(keys_f, keys_e + shift, "right") - first
        edge = np.repeat(np.arange(len(edges)), many)
        face = order[np.arange(len(edge)) - np.repeat(np.cumsum(many) - many, many) + np.repeat(first, many)]
        for begin in range(0, len(edge), _PAIRS):
            e, f = edge[begin : begin + _PAIRS], face[begin : begin + _PAIRS]
            near = ((low_e[e] <= high_f[f]) & (low_f[f] <= high_e[e])).all(axis=1)
            near &= (edges[e][:, :, None] != faces[f][:, None, :]).all(axis=(1, 2))
            if _cross(vertices[edges[e[near]]], vertices[faces[f[near]]]).any():
                return True
    return False


def _cross(segments: Floats, triangles: Floats) -> Flags:
    """Whether each segment (p, 2, 3) meets its triangle (p, 3, 3)."""
    (a, b), (p, q, r) = np.moveaxis(segments, 1, 0), np.moveaxis(triangles, 1, 0)

    def side(u: Floats, v: Floats, w: Floats, x: Floats) -> Floats:
        found: Floats = np.einsum("ij,ij->i", np.cross(v - u, w - u), x - u)
        return found

    apart = side(p, q, r, a) * side(p, q, r, b) <= 0.0
    around = np.stack([side(a, b, p, q), side(a, b, q, r), side(a, b, r, p)])
    inside: Flags = (around >= 0.0).all(axis=0) | (around <= 0.0).all(axis=0)
    return apart & inside
