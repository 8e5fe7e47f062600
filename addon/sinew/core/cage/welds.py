"""What the cage holds together although the animation takes it apart: parts that lie near each other at rest and share
tets, while the surface between them is far around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..geometry.connected import connected_pieces
from ..geometry.rows import number_rows, unique_pairs
from .settings import CageSettings

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[Any]
Flags = npt.NDArray[np.bool_]

# All in lengths of the cage's edges around the place.
_APART = 1.0  # that the animation takes two parts away from each other
_LOOSE = 4.0  # the same for loose shells, which hold on to what they lie in or on: eyes roll, clothes slide
_AROUND = 3.0  # parts that the surface connects within this are one
_PROBED = 1.5  # one look is enough for places nearer to each other than this

_MOST_PROBES = 40
_MOST_NAMED = 3
_SAFE = "a Safe Frame or Safe Shape Key in which they are well apart"
_FACING_AWAY = -0.5  # cosine: flesh lies between the two, not air, as in an ear that swells


@dataclass(frozen=True)
class Labels:
    """What the parts of a body are called: the number (t,) of each vertex's name, -1 where it has none."""

    names: tuple[str, ...]
    numbers: npt.NDArray[np.int32]


@dataclass(frozen=True)
class Weld:
    """Two parts that share tets: vertices of each there, and how far apart they get, metres."""

    first: Ints
    second: Ints
    apart: float


def make_labels(names: Sequence[str], weights: npt.NDArray[Any]) -> Labels:
    """By the largest of the weights (t, names)."""
    numbers = np.where(weights.max(axis=1, initial=0.0) > 0.0, weights.argmax(axis=1) if len(names) else 0, -1)
    return Labels(tuple(names), numbers.astype(np.int32))


def find_welds(
    cage: Any, rest: Floats, triangles: Ints, poses: Sequence[Floats], seen: Flags | None = None
) -> list[Weld]:
    """The worst first. `poses` (t, 3) are frames of the animation; `seen` (t,) is where they are right."""
    corners = cage.tets[cage.binding]
    if seen is not None:
        corners = corners[seen]
    vertices = np.flatnonzero(seen) if seen is not None else np.arange(len(rest))
    if not len(vertices) or not poses:
        return []
    order = np.argsort(corners.ravel(), kind="stable")
    places, starts = np.unique(corners.ravel()[order], return_index=True)
    shared = _Shared(places, starts, np.repeat(vertices, 4)[order])
    lengths = _edge_lengths(cage)[places]
    grown = np.max([shared.growth(rest, pose) for pose in poses], axis=0) / np.maximum(lengths, 1e-30)
    left = np.where(grown > 0.5 * _APART, grown, 0.0)
    if not left.any():
        return []
    surface, middles, found = _Surface(rest, triangles, poses), cage.vertices[places], []
    for _ in range(_MOST_PROBES):
        worst = int(np.argmax(left))
        if left[worst] <= 0.0:
            break
        left[_squares(middles - middles[worst]) < (_PROBED * lengths[worst]) ** 2] = 0.0
        weld = surface.probe(shared.of(worst), middles[worst], lengths[worst])
        if weld is not None:
            found.append(weld)
    return sorted(found, key=lambda weld: -weld.apart)


def near_parts(separate: Any) -> list[Weld]:
    """The parts that a cage with separate parts tells apart: it has several vertices in one place for them. Those that
    are near each other over the largest part of the surface first."""
    place = number_rows(separate.vertices)
    corners = separate.tets[separate.binding].ravel()
    carried = unique_pairs(np.stack([place[corners], corners], axis=1))  # cage vertices that carry something
    again = np.flatnonzero(carried[1:, 0] == carried[:-1, 0])
    vertices = np.repeat(np.arange(len(separate.binding)), 4)
    order = np.argsort(corners, kind="stable")
    ends = np.cumsum(np.bincount(corners, minlength=len(separate.vertices)))
    counts = np.diff(ends, prepend=0)
    shared = np.minimum(counts[carried[again, 1]], counts[carried[again + 1, 1]])

    def part(vertex: int) -> Ints:
        return vertices[order[ends[vertex] - counts[vertex] : ends[vertex]]]

    worst = again[np.argsort(-shared, kind="stable")[:_MOST_PROBES]]
    return [Weld(part(carried[one, 1]), part(carried[one + 1, 1]), 0.0) for one in worst]


def look_at_rest(
    cage: Any, rest: Floats, triangles: Ints, settings: CageSettings, labels: Labels | None, monitor: Any = None
) -> str:
    """A sentence about parts that lie so near each other that they share tets, before there is an animation to tell
    whether that matters; "" where each has its own."""
    if cage.safe_vertices is not None or (settings.separate_parts and not _is_of_gmsh(settings, cage)):
        return ""
    from .cage import build_cage  # it needs the native module

    welds = near_parts(build_cage(rest, triangles, settings.resolution, monitor=monitor))
    if not welds:
        return ""
    return f"{_listed(welds, labels)} share tets of the cage. Should they move apart, {_advice(settings, cage)}."


def name_parts(welds: Sequence[Weld], labels: Labels | None) -> list[str]:
    """What is welded, for a sentence."""
    found: dict[str, None] = {}
    for weld in welds:
        one, other = (_name(part, labels) for part in (weld.first, weld.second))
        if one and other and one != other:
            found[" and ".join(sorted((one, other)))] = None
        else:
            whose = f" of {one or other}" if one or other else ""
            places = sorted((int(weld.first[0]), int(weld.second[0])))
            found.setdefault(f"parts{whose} around vertices {places[0]} and {places[1]}")
            if not whose:
                break  # one place is enough to look at
    return list(found)


def where(cage: Any, tets: Flags, labels: Labels | None) -> str:
    """The parts that some of the cage's tets belong to, those with most vertices first; "" where nothing is named."""
    if labels is None:
        return ""
    corner = np.zeros(len(cage.vertices), bool)
    corner[cage.tets[tets]] = True
    numbers = labels.numbers[corner[cage.tets[cage.binding]].any(axis=1)]
    counts = np.bincount(numbers[numbers >= 0], minlength=len(labels.names))
    most = np.argsort(-counts, kind="stable")[:_MOST_NAMED]
    return ", ".join(labels.names[number] for number in most if counts[number])


def sentence(welds: Sequence[Weld], labels: Labels | None, settings: CageSettings, cage: Any) -> str:
    """For an artist; "" where nothing is welded."""
    if not welds:
        return ""
    return (
        f"Welded: {_listed(welds, labels)} share tets of the cage, which hold them together where the animation takes "
        f"them apart: {_advice(settings, cage)}."
    )


def _listed(welds: Sequence[Weld], labels: Labels | None) -> str:
    named = name_parts(welds, labels)
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return "; ".join(named[:_MOST_NAMED]) + more


def _advice(settings: CageSettings, cage: Any) -> str:
    if _is_of_gmsh(settings, cage):
        return f"choose the lattice mesher, for Gmsh does not separate parts, or {_SAFE}"
    if not settings.separate_parts:
        return f"switch Separate Parts on, or choose {_SAFE}"
    return f"raise the resolution, or choose {_SAFE}"


def _is_of_gmsh(settings: CageSettings, cage: Any) -> bool:
    return settings.mesher == "gmsh" and "Gmsh" not in cage.note  # which says why it could not


def _name(part: Ints, labels: Labels | None) -> str:
    if labels is None:
        return ""
    numbers = labels.numbers[part]
    known = numbers[numbers >= 0]
    return labels.names[int(np.bincount(known).argmax())] if len(known) else ""


@dataclass(frozen=True)
class _Shared:
    """The surface vertices that each cage vertex takes part in carrying, in the order of the cage vertices."""

    places: Ints
    starts: Ints
    vertices: Ints

    def of(self, index: int) -> Ints:
        end = self.starts[index + 1] if index + 1 < len(self.starts) else None
        return np.unique(self.vertices[self.starts[index] : end])

    def growth(self, rest: Floats, pose: Floats) -> Floats:
        """How far the pose takes a vertex away from the middle of those that share its cage vertex, at most."""
        away = self._from_middle(pose) - self._from_middle(rest)
        return np.asarray(np.maximum.reduceat(away, self.starts))

    def _from_middle(self, pose: Floats) -> Floats:
        counts = np.diff(np.append(self.starts, len(self.vertices)))
        points = pose[self.vertices]
        middles = np.add.reduceat(points, self.starts) / counts[:, None]
        return np.asarray(np.sqrt(_squares(points - np.repeat(middles, counts, axis=0))))


class _Surface:
    def __init__(self, rest: Floats, triangles: Ints, poses: Sequence[Floats]) -> None:
        self._rest, self._poses, self._triangles = rest, poses, triangles
        # Vertices in one place in every pose are one: seams are no gaps, lips that touch at rest are.
        size = float(np.ptp(rest, axis=0).max(initial=0.0)) or 1.0
        places = np.concatenate([np.rint(pose / (1e-6 * size)) for pose in (rest, *poses)], axis=1).astype(np.int64)
        self._one = number_rows(places)
        sides = self._one[np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])]
        self._edges = unique_pairs(np.sort(sides, axis=1))
        self._shells: Ints | None = None
        self._turned = np.sign(_volume(rest, triangles))

    def probe(self, shared: Ints, middle: Floats, length: float) -> Weld | None:
        """The two parts among the vertices `shared` of one cage vertex that get farthest apart."""
        near = _squares(self._rest - middle) < (_AROUND * length) ** 2
        near[shared] = True
        inside = np.zeros(len(self._rest), bool)
        inside[self._one[near]] = True
        edges = self._edges[inside[self._edges[:, 0]] & inside[self._edges[:, 1]]]
        number = np.cumsum(inside) - 1
        labels = connected_pieces(int(inside.sum()), number[edges])[number[self._one[shared]]]
        parts = [shared[labels == label] for label in np.unique(labels)]
        middles = np.array([[pose[part].mean(axis=0) for part in parts] for pose in (self._rest, *self._poses)])
        best: Weld | None = None
        for i, one in enumerate(parts):
            ways = np.linalg.norm(middles[:, i + 1 :] - middles[:, i, None], axis=2)
            apart = ways[1:] - ways[0]  # (poses, those after it) how much farther than at rest
            for j in np.flatnonzero(apart.max(axis=0) > (best.apart if best is not None else 0.0)):
                worst = int(apart[:, j].argmax())
                weld = Weld(one, parts[i + 1 + j], float(apart[worst, j]))
                if (best is None or weld.apart > best.apart) and self._is_weld(weld, self._poses[worst], length):
                    best = weld
        return best

    def _is_weld(self, weld: Weld, pose: Floats, length: float) -> bool:
        least = _APART if self._are_one_shell(weld.first[0], weld.second[0]) else _LOOSE
        return weld.apart >= least * length and not self._is_flesh_between(weld.first, weld.second, pose)

    def _are_one_shell(self, one: int, other: int) -> bool:
        if self._shells is None:
            self._shells = connected_pieces(len(self._rest), self._edges)[self._one]
        return bool(self._shells[one] == self._shells[other])

    def _is_flesh_between(self, one: Ints, other: Ints, pose: Floats) -> bool:
        """Whether the two look away from each other."""
        way = pose[other].mean(axis=0) - pose[one].mean(axis=0)
        cosines = [_cosine(self._normal(part, pose), sign * way) for part, sign in ((one, 1), (other, -1))]
        return max(cosines) < _FACING_AWAY

    def _normal(self, part: Ints, pose: Floats) -> Floats:
        """Outwards, of the triangles around the part."""
        inside = np.zeros(len(self._rest), bool)
        inside[part] = True
        own = self._triangles[inside[self._triangles].any(axis=1)]
        a, b, c = (pose[own[:, i]] for i in range(3))
        return np.asarray(self._turned * np.cross(b - a, c - a).sum(axis=0))


def _volume(rest: Floats, triangles: Ints) -> float:
    a, b, c = (rest[triangles[:, i]] - rest.mean(axis=0) for i in range(3))
    return float(np.einsum("ij,ij->", a, np.cross(b, c)))


def _squares(rows: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def _cosine(one: Floats, other: Floats) -> float:
    return float(one @ other / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-300))


def _edge_lengths(cage: Any) -> Floats:
    """(n,) the mean length of the edges around each cage vertex."""
    count = len(cage.vertices)
    total, number = np.zeros(count), np.zeros(count)
    for a in range(4):
        for b in range(4):
            if a != b:
                lengths = np.linalg.norm(cage.vertices[cage.tets[:, a]] - cage.vertices[cage.tets[:, b]], axis=1)
                total += np.bincount(cage.tets[:, a], lengths, count)
                number += np.bincount(cage.tets[:, a], minlength=count)
    return np.asarray(total / np.maximum(number, 1.0))
