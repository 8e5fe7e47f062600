"""Rows of the guide: weighted means of the cloth's vertices that stay where the animation has them (methods, 2). Each
sums to one, so that a shift of the cloth is a shift of its means.

The guide is the cloth's own animation, or another mesh. Where the cloth is that mesh with its faces subdivided, the
guide carries it: what it says of a row is what the row says of the carried cloth. A mesh of any other making says where
those groups are that are painted on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.errors import BadInput
from ...base.native import module
from ...geometry.sparse import Rows, stacked
from ...geometry.subdivide import Faces, edges_of, subdivide
from ...geometry.triangles import triangle_areas

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Share = tuple[Ints, Floats]  # points, and how much of each is under a test function

_ROUNDS = 40  # of finding regions, at most
_MOST_LEVELS = 5
_NARROW = 1e-6  # of the cloth's size: a patch that is narrower than that does not tell which way it lies


@dataclass(frozen=True)
class Averages:
    rows: Rows
    names: Sequence[str]  # of the rows, for sentences
    first_group: int  # from this one on they are of painted groups

    def wanted(self, pose: Floats, paired: Floats | None) -> Floats:
        """(rows, 3) where they are to be in a pose; `paired`: where a guide has the groups that both have."""
        places = self.rows.means(pose)
        if paired is not None:
            places[self.first_group :] = paired
        return places


def find_regions(
    poses: Sequence[Floats], triangles: Ints, count: int, flat: float, monitor: Any = None
) -> Ints:
    """(m,) the region of each triangle: about `count` connected patches that are compact or flat in all poses (t, 3).
    Pieces that hang on no other have one each at least."""
    regions = np.empty(len(triangles), np.int32)
    frames = np.ascontiguousarray(np.concatenate(poses), np.float64)
    count = min(count, len(triangles))
    module.regions_of(frames, len(poses[0]), triangles, count, 1.0 - flat, _ROUNDS, regions, monitor)
    return regions


def find_levels(guide: Faces, points: int, edges: Ints) -> Rows | None:
    """How a guide carries a cloth with so many vertices and these edges (k, 2): None where it is not the guide with all
    its faces subdivided, by 0 to 5 levels."""
    own = np.sort(np.sort(edges.astype(np.int64), axis=1) @ np.array([points, 1]))
    every = np.arange(guide.points + 1, dtype=np.int32)
    faces, mix = guide, Rows(every, every[:-1], np.ones(guide.points))
    for level in range(_MOST_LEVELS + 1):
        if faces.points == points:
            ends = edges_of(faces)[0]
            return mix if np.array_equal(np.sort(ends @ np.array([points, 1])), own) else None
        if faces.points > points or level == _MOST_LEVELS:
            return None
        finer = subdivide(faces, 1)
        faces, mix = finer.faces, finer.mix.after(mix)
    return None


def make_averages(
    rest: Floats,
    triangles: Ints,
    regions: Ints | None = None,
    groups: Mapping[str, Floats] | None = None,
    hats: Rows | None = None,
    *,
    turns: bool = False,
    pointwise: bool = False,
    paired: bool = False,
) -> Averages:
    """Of regions of triangles (m,), each constant on its own; of painted weights (t,), linear between vertices; of the
    hats of a guide's vertices, given how these carry the cloth's; `pointwise`: in place of a hat its tip. `turns`: with
    their first moments, so that a patch keeps the way that it lies too; but of groups that are `paired` with those of a
    guide, which tells their places alone."""
    areas = triangle_areas(rest, triangles)
    shares: list[Share] = []
    names: list[str] = []
    if regions is not None:
        for number in range(int(regions.max(initial=-1)) + 1):
            own = regions == number
            shares.append(_share(np.bincount(triangles[own].ravel(), np.repeat(areas[own] / 3.0, 3), len(rest))))
            names.append(f"Region {number + 1}")
    if hats is not None:
        under = np.bincount(triangles.ravel(), np.repeat(areas / 3.0, 3), len(rest))
        of_vertex = hats.transposed()
        for number in range(of_vertex.count):
            entries = of_vertex.entries(number)
            points = of_vertex.points[entries]
            share = of_vertex.weights[entries] * under[points]
            if share.any():
                tip = share > 0.0 if not pointwise else points == number  # the guide's own vertices come first
                shares.append((points[tip], share[tip]))
                names.append(f"Vertex {number} of the guide")
    first = len(names)
    for name, painted in (groups or {}).items():
        shares.append(_share(_under(painted, rest, triangles, areas)))
        names.append(f'Group "{name}"')
        if not len(shares[-1][0]):
            raise BadInput(f'Nothing is painted in the group "{name}", which is to follow on average: paint it.')
    rows = [Rows(np.array([0, len(points)], np.int32), points, share / share.sum()) for points, share in shares]
    if turns:
        turned = first if paired else len(shares)
        for (points, share), name in zip(shares[:turned], names[:turned], strict=True):
            for along in _moments(rest[points], share):
                rows.append(Rows(np.array([0, len(points)], np.int32), points, along))
                names.append(f"{name}, the way it lies")
        rows, names = [*rows[:first], *rows[len(shares) :], *rows[first : len(shares)]], [
            *names[:first],
            *names[len(shares) :],
            *names[first : len(shares)],
        ]
        first = len(rows) - len(groups or {})
    return Averages(stacked(rows), names, first)


def _under(painted: Floats, rest: Floats, triangles: Ints, areas: Floats) -> Floats:
    """The mass matrix of linear triangles: a sixth of the area at a corner, a twelfth at its neighbours."""
    corners = painted[triangles]
    share = (areas / 12.0)[:, None] * (corners + corners.sum(axis=1, keepdims=True))
    return np.asarray(np.bincount(triangles.ravel(), share.ravel(), len(rest)), np.float64)


def _share(counted: npt.NDArray[Any]) -> Share:
    share = np.asarray(counted, np.float64)
    points = np.flatnonzero(share > 0.0).astype(np.int32)
    return points, share[points]


def _moments(places: Floats, share: Floats) -> list[Floats]:
    """Weights (n,) along the two longer axes of a patch, which sum to nothing, and give as much as it is wide."""
    mass = share / share.sum()
    from_middle = places - mass @ places
    spread, axes = np.linalg.eigh((mass[:, None] * from_middle).T @ from_middle)
    least = _NARROW * max(float(np.ptp(places, axis=0).max(initial=0.0)), 1e-300)
    return [
        mass * (from_middle @ axes[:, k]) / np.sqrt(spread[k])
        for k in (2, 1)
        if len(places) > 3 - k and spread[k] > least * least
    ]
