"""Bones that an animation without an armature moves as if it had: what keeps its shape over the poses is a bone's.

Points spread evenly over the surface are carried by rigid motions or by a blend of a few, as skin is near a joint. As
long as some are not, one motion more is taken from around a point: the one that carries most of what is left. Where two
meet, their joint is the point that both take to one place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..geometry.solid import Solid

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_POINTS = 1500  # of the surface, that motions are found with
_PATCH = 16  # of them that give a motion
_CARRIED = 0.004  # of size: points that are nearer to where motions take them are carried
_MOST = 48  # motions
_TRIED = 120  # of them, around which a motion is looked for
_FEWEST = 6  # points that tell a motion
_BLEND = 3  # motions at most that carry a point
_SPARED = 0.75  # of the points that one carries: if the others carry so many nearly as well, it is not needed
_EASE = 1.5  # times as far off, nearly as well
_ROUNDS = 3  # of finding motions from what they carry
_SPECK = 0.002  # of the cells: smaller groups are noise
_BORDER = 0.02  # of size: over which skin goes from one bone to the next


@dataclass(frozen=True)
class Motions:
    """Rigid motions (c, f, ..) over poses; `skin` (k, c) says which of them carry a cell."""

    turns: Floats
    shifts: Floats
    skin: Floats

    def joint(self, one: int, other: int, near: Floats) -> Floats:
        """The place at rest that two motions take to the same places: about `near` where many are."""
        turn = (self.turns[one] - self.turns[other]).reshape(-1, 3)
        shift = (self.shifts[one] - self.shifts[other]).reshape(-1)
        square = turn.T @ turn
        weak = 0.02 * float(np.trace(square)) + 1e-12
        place: Floats = np.linalg.solve(square + weak * np.eye(3), weak * near - turn.T @ shift)
        return place


def motions_of(solid: Solid, rest: Floats, poses: Sequence[Floats], triangles: npt.NDArray[np.int32]) -> Motions | None:
    """None where nothing moves but the whole."""
    size = solid.axes.size

    def at(cells: Ints, positions: Floats) -> Floats:
        corners = solid.axes.to_body(positions)[triangles[solid.triangle[cells]]]
        return np.einsum("kc,kci->ki", solid.share[cells], corners) / size

    some = _spread(solid, _POINTS)
    before, after = at(some, rest), np.stack([at(some, pose) for pose in poses])
    turns, shifts = _found(before, after)
    if len(turns) < 2:
        return None
    every = np.arange(solid.count)
    skin = _carried(_away(turns, shifts, at(every, rest), np.stack([at(every, pose) for pose in poses])))[0]
    best = _connected(solid, solid.smoothed(skin, 0.5 * _BORDER * size).argmax(axis=1))
    kept, best = np.unique(best, return_inverse=True)
    if len(kept) < 2:
        return None
    origin = kept % len(turns)
    skin = solid.smoothed(np.eye(len(kept))[best.reshape(-1)], _BORDER * size)
    return Motions(turns[origin], shifts[origin] * size, skin)


def _spread(solid: Solid, count: int) -> Ints:
    """About so many cells of the surface, in an order of which any beginning is spread all over it; mirror images go
    together."""
    near = np.flatnonzero(solid.depth < solid.cell)
    i, j, k = np.rint(np.abs(solid.centres[near] / solid.cell)).astype(np.int64).T
    mixed = (i * 73_856_093 ^ j * 19_349_663 ^ k * 83_492_791) % 1_000_003
    order = np.argsort(mixed, kind="stable")
    return near[order[mixed[order] <= np.sort(mixed)[:count][-1]]]


def _found(before: Floats, after: Floats) -> tuple[Floats, Floats]:
    """The turns (c, f, 3, 3) and shifts (c, f, 3) of motions that carry points (n, 3) over poses (f, n, 3)."""
    motions = _fitted(before, after, np.ones((1, len(before))))
    away = _away(*motions, before, after)
    # What is around some of the points; of these, what carries most that is not carried yet.
    far = ((before[:_TRIED, None] - before) ** 2).sum(axis=2)
    patches = far <= 1.001 * np.partition(far, _PATCH, axis=1)[:, _PATCH : _PATCH + 1]
    more = _fitted(before, after, patches.astype(np.float64))
    ways = _away(*more, before, after)
    for step in range(_MOST):
        left = _carried(away)[1]
        if ((left**2).sum(axis=1) > _CARRIED**2 * len(after)).sum() < _SPECK * len(before):
            break
        best = [int(_part_of_the_way(ways, left)[1].sum(axis=1).argmax())]
        motions = np.concatenate([motions[0], more[0][best]]), np.concatenate([motions[1], more[1][best]])
        away = np.concatenate([away, ways[best]])
        if step % 4 == 3:
            motions = _refitted(before, after, away)
            away = _away(*motions, before, after)
    for _ in range(_ROUNDS):
        motions = _refitted(before, after, away)
        away = _away(*motions, before, after)
    return _needed(away, motions)


def _refitted(before: Floats, after: Floats, away: Floats) -> tuple[Floats, Floats]:
    """Motions of what each of them carries alone."""
    own = (_carried(away)[0] > 0.9).T.astype(np.float64)
    own = own[own.sum(axis=1) >= _FEWEST]
    return _fitted(before, after, own)


def _needed(away: Floats, motions: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Without those whose points the others carry as well."""
    kept = np.arange(len(away))
    for c in np.argsort(_carried(away)[0].sum(axis=0), kind="stable"):
        others = kept[kept != c]
        if not len(others):
            break
        own = _carried(away[kept])[0][:, kept == c][:, 0] > 0.5
        left = (_carried(away[others][:, own])[1] ** 2).sum(axis=1) if own.any() else np.zeros(1)
        if np.quantile(left, _SPARED) < (_EASE * _CARRIED) ** 2 * away.shape[2] / 3:
            kept = others
    return motions[0][kept], motions[1][kept]


def _part_of_the_way(away: Floats, left: Floats) -> tuple[Floats, Floats]:
    """How far (c, n) to go from what is left (n, 3f) to each motion, and by how much less is left then, squared."""
    own = np.einsum("ni,ni->n", left, left)
    both = np.einsum("cni,ni->cn", away, left)
    length = np.maximum(own - 2.0 * both + np.einsum("cni,cni->cn", away, away), 1e-18)
    part = np.clip((own - both) / length, 0.0, 1.0)
    return part, part * (2.0 * (own - both) - part * length)


def _carried(away: Floats) -> tuple[Floats, Floats]:
    """From where each motion takes each point (c, n, 3f), away from where it goes: how much of which motion carries it
    (n, c), and what is left (n, 3f)."""
    count, total, _ = away.shape
    first, every = np.einsum("cni,cni->cn", away, away).argmin(axis=0), np.arange(total)
    skin = np.zeros((total, count))
    skin[every, first] = 1.0
    left = away[first, every]
    for _ in range(_BLEND - 1):
        part, gain = _part_of_the_way(away, left)
        best = gain.argmax(axis=0)
        share = part[best, every][:, None]
        left = left + share * (away[best, every] - left)
        skin *= 1.0 - share
        skin[every, best] += share[:, 0]
    return skin, left


def _away(turns: Floats, shifts: Floats, before: Floats, after: Floats) -> Floats:
    taken = np.einsum("cfij,nj->cnfi", turns, before, optimize=True) + shifts[:, None]
    away: Floats = (taken - after.transpose(1, 0, 2)).reshape(len(turns), len(before), -1)
    return away


def _fitted(before: Floats, after: Floats, own: Floats) -> tuple[Floats, Floats]:
    """The motions of points that each has so much (c, n) of."""
    own = own / own.sum(axis=1, keepdims=True)
    middle, aims = own @ before, np.einsum("cn,fni->cfi", own, after, optimize=True)
    products = np.einsum("cn,fni,nj->cfij", own, after, before, optimize=True)
    products = products - aims[..., :, None] * middle[:, None, None, :] + 1e-12 * np.eye(3)
    left, _, right = np.linalg.svd(products)
    left[..., :, 2] *= np.linalg.det(left @ right)[..., None]
    turns = left @ right
    return turns, aims - np.einsum("cfij,cj->cfi", turns, middle)


def _connected(solid: Solid, best: Ints) -> Ints:
    """Groups cut into parts that hang together; specks go with what is around them."""
    count = int(best.max()) + 1
    for _ in range(8):
        result = best.copy()
        specks = np.zeros(solid.count, bool)
        for c in range(count):
            part = solid.parts_of(best == c)
            sizes = np.bincount(part[part >= 0])
            if not len(sizes):
                continue
            for number, cells in enumerate(sizes):
                own = part == number
                if cells < _SPECK * solid.count:
                    specks |= own
                elif number != int(sizes.argmax()):
                    result[own] = c + count * (1 + number)
        if not specks.any():
            break
        away = np.eye(count)[best]
        away[specks] = 0.0
        away = solid.smoothed(away, 4.0 * solid.cell)
        best = np.where(specks, away.argmax(axis=1), best)
    return result
