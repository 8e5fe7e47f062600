"""Which vertices of a body carry input, and which are parts that keep their shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..geometry.connected import connected_pieces
from ..geometry.rigid import RigidParts

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_SMALL = 0.1  # of the largest shell's area: smaller ones are loose parts
_WORN = 1 / 3  # of a shell's area: one that wraps so much of the body is worn on it, as shoes and belts are
_HARD = 0.12  # of size: larger ones may be flesh or clothes
_STRAND = 6.0  # times as long as wide
_CLOTH = 0.08  # as thin as that beside its width, and open
_LUMP = 2.5  # times as long as deep at most
_UNEVEN = 0.15  # of a skin weight over a shell that one bone carries
_BENT = 0.002  # of size: how far from rigid the input moves it
_POINTS = 40_000  # on the body, to see how much of it a shell wraps
_MIDDLES = (np.arange(_POINTS) + 0.5) / _POINTS


AS_INPUT = -2  # in place of a number of a rigid part: it stays as the input has it, and no flesh carries it


@dataclass(frozen=True)
class Parts:
    """What of a body is special: (t,) whether a vertex carries input, and the number of its rigid part, -1 for none.
    What is AS_INPUT tells flesh nothing, so it carries no input."""

    tracked: npt.NDArray[np.bool_]
    rigid: npt.NDArray[np.int32]

    @property
    def is_plain(self) -> bool:
        return bool(self.tracked.all() and (self.rigid == -1).all())


def make_parts(tracked: Floats | None, rigid: Floats | None, count: int, edges: npt.NDArray[np.int32]) -> Parts:
    """From the weights (t,) of two vertex groups: from 1/2 on a vertex is in. Rigid vertices that hang together are one
    part."""
    is_tracked = np.ones(count, bool) if tracked is None else tracked >= 0.5
    numbers = np.full(count, -1, np.int32)
    if rigid is not None and (rigid >= 0.5).any():
        inside = rigid >= 0.5
        kept = edges[inside[edges].all(axis=1)] if len(edges) else edges
        pieces = connected_pieces(count, kept)[inside]
        numbers[inside] = np.unique(pieces, return_inverse=True)[1].reshape(-1)
    return Parts(is_tracked, numbers)


def loose_shells(rest: Floats, triangles: Ints, edges: Ints) -> npt.NDArray[np.bool_]:
    """(t,) whether a vertex is of a loose shell that is a small, hard part of the body: teeth, eyes, buttons. Not so
    the largest shell, and shells that are worn around the body, which go with its flesh."""
    loose = np.zeros(len(rest), bool)
    if not len(triangles):
        return loose
    shells = connected_pieces(len(rest), edges)
    of_triangle = shells[triangles[:, 0]]
    areas = np.linalg.norm(_normals(rest[triangles]), axis=1)
    shell_areas = np.bincount(of_triangle, areas, int(shells.max()) + 1)
    largest = shell_areas.argmax()
    body = rest[triangles[of_triangle == largest]]
    chosen = np.searchsorted(np.cumsum(areas[of_triangle == largest]), shell_areas[largest] * _MIDDLES)
    body_points, normals = _points_on(body, chosen.clip(max=len(body) - 1))
    for shell in np.flatnonzero((shell_areas > 0.0) & (shell_areas < _SMALL * shell_areas[largest])):
        inside = shells == shell
        wrapped = shell_areas[largest] / _POINTS * _wrapped(rest[inside], body_points, normals)
        loose |= inside & (wrapped < _WORN * shell_areas[shell])
    return loose


def hard_shells(
    rest: Floats,
    triangles: Ints,
    edges: Ints,
    skin: npt.NDArray[np.float32] | None,
    poses: Callable[[], Iterable[Floats]],
) -> npt.NDArray[np.bool_]:
    """(t,) of loose shells those that are hard by all signs: small, no strands of hair or pieces of cloth, and moved as
    a whole by the input, which the skin tells, or `poses` (t, 3) of a body without bones."""
    hard = loose_shells(rest, triangles, edges)
    if not hard.any():
        return hard
    shells = connected_pieces(len(rest), edges)
    size = float(np.ptp(rest, axis=0).max())
    parts = np.unique(shells[hard])
    sides = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    pairs, uses = np.unique(sides, axis=0, return_counts=True)
    is_open = np.isin(parts, shells[pairs[uses == 1, 0]])
    for part, opened in zip(parts, is_open, strict=True):
        own = np.flatnonzero(shells == part)
        extents = _extents(rest[own])
        # What is as thick as it is long is a button, whatever bends it; longer ones may be flesh that bends.
        is_lump = not opened and extents[0] < _LUMP * extents[2]
        is_whole = skin is None or np.ptp(skin[own], axis=0).max(initial=0.0) < _UNEVEN
        if not _is_hard_shape(extents, bool(opened), size) or not (is_lump or is_whole):
            hard[own] = False
    if skin is None and hard.any():
        own = np.flatnonzero(hard)
        numbers = np.unique(shells[own], return_inverse=True)[1].reshape(-1)
        bent = np.zeros(len(own))
        for pose in poses():
            whole = RigidParts(numbers).moved(rest[own], pose[own], rest[own])
            bent = np.maximum(bent, np.linalg.norm(whole - pose[own], axis=1))
        soft = np.unique(numbers[bent > _BENT * size])
        hard[own[np.isin(numbers, soft)]] = False
    return hard


def followed_pieces(follow: Floats, edges: Ints) -> Floats:
    """(t,) the least weight on the piece that each vertex is of: 1 where all of it follows exactly."""
    pieces = connected_pieces(len(follow), edges)
    least = np.ones(int(pieces.max(initial=0)) + 1)
    np.minimum.at(least, pieces, follow)
    whole: Floats = least[pieces]
    return whole


def _extents(points: Floats) -> Floats:
    """How long, wide and deep a shell is, along its own axes."""
    middle = points - points.mean(axis=0)
    extents: Floats = np.ptp(middle @ np.linalg.svd(middle, full_matrices=False)[2].T, axis=0)
    return extents


def _is_hard_shape(extents: Floats, is_open: bool, size: float) -> bool:
    """Neither large, nor long as a strand, nor thin as a piece of cloth."""
    longest, wide, deep = extents
    is_strand = longest > _STRAND * wide
    is_cloth = is_open and deep < _CLOTH * wide
    return bool(longest < _HARD * size and not is_strand and not is_cloth)


def _normals(corners: Floats) -> Floats:
    """Of triangles (m, 3, 3), as long as their area."""
    normals: Floats = 0.5 * np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return normals


def _points_on(corners: Floats, chosen: npt.NDArray[np.intp]) -> tuple[Floats, Floats]:
    """A point on each chosen triangle of a body, and its normal that points outwards."""
    along, across = np.random.default_rng(0).random((2, len(chosen), 1))
    root = np.sqrt(along)
    a, b, c = corners[chosen].transpose(1, 0, 2)
    normals = _normals(corners)
    volume = ((corners.mean(axis=1) - corners.mean(axis=(0, 1))) * normals).sum()
    return (1.0 - root) * a + root * (1.0 - across) * b + root * across * c, np.copysign(1.0, volume) * normals[chosen]


def _wrapped(shell: Floats, points: Floats, normals: Floats) -> int:
    """How many points lie within the hull of a shell, as far as many directions tell, and look out of it: a socket does
    not."""
    near = ((points >= shell.min(axis=0)) & (points <= shell.max(axis=0))).all(axis=1)
    near &= ((points - shell.mean(axis=0)) * normals).sum(axis=1) > 0.0
    directions = np.random.default_rng(1).normal(size=(3, 200))
    return int((points[near] @ directions <= (shell @ directions).max(axis=0)).all(axis=1).sum())
