"""A body as cells of a grid: which are inside, how deep they lie, how thick the body is there.

The grid lies along the body's own axes, so that it does not matter how the body stands in the world, and it is made of
where the surface is, not of its triangles: winding, holes and density do not matter either.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.hashes import hash_arrays
from ..base.kept import Kept
from .connected import connected_pieces

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_CELLS = 300_000  # of the box around the body
_SEALED = 0.9  # of a cell: nearer ones close the view
_SHEET = 0.6  # of a cell: cells nearer to the surface are part of the body, so that it holds together where it is thin
_BEYOND = 1.0  # cells: the surface is told the thickness of what lies below it
_EVEN = 1e-3  # of a cell: balls so alike, as mirror images are, are as large; rounding decides between none
_HIDDEN = 8  # of 26 directions: a cell that sees the border in no more is inside
_INWARDS = 1.25  # of a cell: so far from the surface it is told on which side a cell lies
_ODD = 1.0137  # no plane of the body falls between cells because of its size alone
_ALIKE = 0.8  # of the longer axis' variance: the axes lie where the body is symmetric, or else anywhere
_ROUND = 1e-5  # of the mean reach: what leans less, leans by rounding alone
_DIGITS = 9  # of directions: the rest is rounding, which no cell may depend on
# Points on a triangle, by the shares of its corners, that give integrals up to the third power exactly.
_PLACES = np.array([[1 / 3, 1 / 3, 1 / 3], [0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])
_PLACE_WEIGHTS = np.array([-27 / 48, 25 / 48, 25 / 48, 25 / 48])
_AROUND = [step for step in itertools.product((-1, 0, 1), repeat=3) if any(step)]
_FACES = [step for step in _AROUND if sum(map(abs, step)) == 1]


@dataclass(frozen=True)
class Axes:
    """The body's own place: middle and principal axes (rows) of its surface."""

    middle: Floats
    turn: Floats
    size: float  # of the longest side of the box along the axes

    def to_body(self, points: Floats) -> Floats:
        own: Floats = (points - self.middle) @ self.turn.T
        return own


def own_axes(positions: Floats, triangles: npt.NDArray[np.int32]) -> Axes:
    """Of the area, not of the vertices: the same for any triangles of one surface."""
    corners = positions[triangles]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    if area.sum() <= 0.0:
        corners, area = np.repeat(positions[:, None], 3, axis=1), np.ones(len(positions))
    area = area / area.sum()
    centres = corners.mean(axis=1)
    middle = area @ centres
    # The integral of x x^T over a triangle is that of its corners and, nine times as heavy, its centre, over twelve.
    arms = np.concatenate([corners - middle, 3.0 * (centres - middle)[:, None]], axis=1)
    spread = (np.repeat(area / 12.0, 4)[:, None] * arms.reshape(-1, 3)).T @ arms.reshape(-1, 3)
    lengths, columns = np.linalg.eigh(spread)
    turn = columns.T[::-1]
    places = np.einsum("qc,mci->mqi", _PLACES, corners - middle).reshape(-1, 3)
    heavy = np.outer(area, _PLACE_WEIGHTS).reshape(-1, 1) * places
    lean = (heavy.T @ (places[:, :, None] * places[:, None, :]).reshape(-1, 9)).reshape(3, 3, 3)
    for first, second in ((0, 1), (1, 2)):
        if lengths[2 - second] > _ALIKE * lengths[2 - first] and lengths[0] < _ALIKE * lengths[2]:
            least = (_ROUND * float(np.sqrt(lengths.sum())) ** 3) ** 2
            turn[[first, second]] = _symmetric(turn[first], turn[second], turn[3 - first - second], lean, least)
    # Each axis points to where the body reaches farther from its middle.
    ways = np.einsum("ijk,ai,aj,ak->a", lean, turn, turn, turn)
    turn = np.round(turn * np.where(ways < 0.0, -1.0, 1.0)[:, None], _DIGITS)
    size = float(np.ptp((positions - middle) @ turn.T, axis=0).max())
    return Axes(middle, turn, size)


def _symmetric(a: Floats, b: Floats, other: Floats, lean: Floats, least: float) -> Floats:
    """Of two axes along which a body is about as long, which could lie at any angle: the normal of the plane to whose
    sides it leans least, and the one beside it. One that leans by less than `least` to any side is as good as round,
    and any axes will do, but always the same."""
    low, high = 0.0, np.pi
    for _ in range(8):
        angles = np.linspace(low, high, 181)
        normals = np.outer(np.cos(angles), a) + np.outer(np.sin(angles), b)
        besides = np.outer(-np.sin(angles), a) + np.outer(np.cos(angles), b)
        third = np.broadcast_to(other, normals.shape)
        uneven = np.zeros(len(angles))
        for x, y, share in (
            (normals, normals, 1.0), (besides, besides, 3.0), (third, third, 3.0), (besides, third, 6.0)
        ):  # fmt: skip
            uneven += share * np.einsum("ijk,ai,aj,ak->a", lean, normals, x, y, optimize=True) ** 2
        if low == 0.0 and uneven.max() < least:
            across = np.cross(other, np.eye(3)[int(np.abs(np.round(other, _DIGITS)).argmin())])
            across = across / np.linalg.norm(across)
            return np.stack([across, np.cross(other, across)])
        best, step = angles[int(uneven.argmin())], angles[1] - angles[0]
        low, high = best - 2.0 * step, best + 2.0 * step
    return np.stack([np.cos(best) * a + np.sin(best) * b, -np.sin(best) * a + np.cos(best) * b])


class Solid:
    """The cells of a body, numbered; arrays over cells are (k,)."""

    def __init__(self, positions: Floats, triangles: npt.NDArray[np.int32], monitor: Any = None) -> None:
        self.axes = own_axes(positions, triangles)
        own = self.axes.to_body(positions)
        # As far to both sides of the middle: a mirrored body has the mirrored cells.
        reach = np.abs(own).max(axis=0)
        box = float(np.prod(2.0 * reach + 0.05 * self.axes.size))
        self.cell = cell = _ODD * max((box / _CELLS) ** (1 / 3), self.axes.size / 160)
        half = np.ceil(reach / cell).astype(int) + 2
        self.shape = (2 * int(half[0]) + 1, 2 * int(half[1]) + 1, 2 * int(half[2]) + 1)
        self.origin: Floats = -(half + 0.5) * cell
        places = np.stack(np.meshgrid(*(np.arange(n) for n in self.shape), indexing="ij"), -1)
        centres = self.origin + (places.reshape(-1, 3) + 0.5) * cell
        gap, triangle = np.full(len(centres), np.inf), np.zeros(len(centres), np.int64)

        def measure(cells: Ints) -> None:
            gap[cells], triangle[cells] = _distances(own, triangles, centres[cells], monitor)

        near = self._near(own, triangles)
        measure(near)
        sealed = gap <= _SEALED * cell
        outside = ~sealed & (_ways_out(sealed.reshape(self.shape)).ravel() > _HIDDEN)
        measure(np.flatnonzero(~outside & ~np.isfinite(gap)))
        known = np.flatnonzero(np.isfinite(gap))
        touch, share = np.zeros((len(gap), 3)), np.zeros((len(gap), 3))
        touch[known], share[known] = _nearest_points(own, triangles, centres[known], triangle[known])
        away = (centres - touch) / np.maximum(gap, 1e-12 * cell)[:, None]
        inside = np.where(sealed, ~outside[self._flat(touch + _INWARDS * cell * away)], ~outside)
        solid = inside | (gap <= _SHEET * cell)
        self.count = int(solid.sum())
        self.number = np.full(solid.size, -1)
        self.number[solid] = np.arange(self.count)
        self.centres: Floats = centres[solid]
        self.depth: Floats = np.where(inside, gap, 0.0)[solid]
        self.triangle, self.share = triangle[solid], share[solid]  # nearest on the surface, and where on it
        self.around = [self._beside(solid, step) for step in _AROUND]
        self.faces = [self.around[_AROUND.index(step)] for step in _FACES]
        self.ball = self._balls(np.maximum(self.depth, 0.35 * cell))
        self.thick: Floats = np.maximum(self.depth, 0.35 * cell)[self.ball]

    def _near(self, own: Floats, triangles: npt.NDArray[np.int32]) -> Ints:
        """Cells that may be near enough to the surface to matter beside it."""
        marked = np.zeros(self.shape, bool)
        marked.ravel()[self._flat(_points_on(own, triangles, 0.7 * self.cell))] = True
        for axis in range(3):
            for _ in range(2):
                wide = np.moveaxis(marked, axis, 0).copy()
                np.moveaxis(marked, axis, 0)[1:] |= wide[:-1]
                np.moveaxis(marked, axis, 0)[:-1] |= wide[1:]
        return np.flatnonzero(marked)

    def _flat(self, points: Floats) -> Ints:
        """The place in the grid of the cells that points lie in."""
        places = np.floor((points - self.origin) / self.cell).astype(np.int64)
        flat: Ints = np.ravel_multi_index(tuple(np.clip(places, 0, np.array(self.shape) - 1).T), self.shape)
        return flat

    def _beside(self, solid: npt.NDArray[np.bool_], step: tuple[int, ...]) -> Ints:
        """(k,) the cell beside each one, or itself where there is none."""
        there = np.flatnonzero(solid) + int(np.dot(step, (self.shape[1] * self.shape[2], self.shape[2], 1)))
        found = self.number[there]
        beside: Ints = np.where(found >= 0, found, np.arange(self.count))
        return beside

    def _balls(self, depth: Floats) -> Ints:
        """(k,) the middle of the largest ball in the body that holds a cell: every ball is handed on as far as it
        reaches, and to the surface beyond it."""
        radius, ball = depth.copy(), np.arange(self.count)
        active = np.arange(self.count)
        while len(active):
            grown = np.zeros(self.count, bool)
            for beside in self.faces:
                to = beside[active]
                mine = ball[active]
                larger = radius[active] > radius[to] + _EVEN * self.cell
                to, mine = to[larger], mine[larger]
                apart = ((self.centres[mine] - self.centres[to]) ** 2).sum(axis=1)
                inside = apart <= (depth[mine] + _BEYOND * self.cell) ** 2
                to, mine = to[inside], mine[inside]
                radius[to], ball[to] = depth[mine], mine
                grown[to] = True
            active = np.flatnonzero(grown)
        return ball

    def distance_from(self, sources: Ints) -> Floats:
        """How far each cell is from the sources, through the body; infinite where no way leads."""
        lengths = [self.cell * float(np.sqrt(np.dot(step, step))) for step in _AROUND]
        far = np.full(self.count, np.inf)
        far[sources] = 0.0
        active = np.asarray(sources)
        while len(active):
            nearer = np.zeros(self.count, bool)
            for beside, length in zip(self.around, lengths, strict=True):
                to, way = beside[active], far[active] + length
                shorter = way < far[to]
                far[to[shorter]] = way[shorter]
                nearer[to[shorter]] = True
            active = np.flatnonzero(nearer)
        return far

    def parts_of(self, some: npt.NDArray[np.bool_]) -> Ints:
        """(k,) the number of the connected part that each of some cells is in, -1 for the others."""
        inside = np.flatnonzero(some)
        number = np.full(self.count, -1)
        number[inside] = np.arange(len(inside))
        pairs = np.concatenate([np.stack([number[inside], number[beside[inside]]], axis=1) for beside in self.faces])
        number[inside] = connected_pieces(len(inside), pairs[pairs[:, 1] >= 0])
        return number

    def smoothed(self, values: Floats, length: float) -> Floats:
        """Values (k,) or (k, n) without features shorter than about `length`."""
        rounds = int(np.ceil((length / self.cell) ** 2 * 1.5))
        for _ in range(rounds):
            values = 0.4 * values + 0.1 * sum(values[beside] for beside in self.faces)
        return values

    def at(self, points: Floats, values: Floats) -> Floats:
        """What values (k,) of cells are at points of the surface: those of the cells around, by how near they are."""
        own = (self.axes.to_body(points) - self.origin) / self.cell - 0.5
        low = np.floor(own).astype(np.int64)
        part = own - low
        total, weight = np.zeros(len(points)), np.zeros(len(points))
        for corner in itertools.product((0, 1), repeat=3):
            place = np.clip(low + corner, 0, np.array(self.shape) - 1)
            cell = self.number[np.ravel_multi_index(tuple(place.T), self.shape)]
            share = np.prod(np.where(corner, part, 1.0 - part), axis=1) * (cell >= 0)
            total += share * values[np.maximum(cell, 0)]
            weight += share
        found: Floats = total / np.maximum(weight, 1e-12)
        return found

    def within(self, points: Floats, values: Floats) -> Floats:
        """The values (k,) of the cells that points of the cells' space lie in, of those that lie in any."""
        cells = self.number[self._flat(points)]
        return values[cells[cells >= 0]]

    def plane(self, least: float) -> int:
        """The axis across which so much of the body is its own mirror image, -1 for none."""
        share = [float((self.mirrored(axis) >= 0).mean()) for axis in range(3)]
        best = int(np.argmax(share))
        return best if share[best] >= least else -1

    def mirrored(self, axis: int) -> Ints:
        """(k,) the cell on the other side of the middle plane across an axis, -1 where there is none."""
        places = np.stack(np.unravel_index(np.flatnonzero(self.number >= 0), self.shape), axis=1)
        places[:, axis] = self.shape[axis] - 1 - places[:, axis]
        other: Ints = self.number[np.ravel_multi_index(tuple(places.T), self.shape)]
        return other


KEPT = 2  # bodies: tens of megabytes each
_solids = Kept[Solid](KEPT)


def solid_of(positions: Floats, triangles: npt.NDArray[np.int32], monitor: Any = None) -> Solid:
    """The cells of a body. Weights, cores and the next bake ask for the same ones: they are kept."""
    return _solids.get(hash_arrays(positions, triangles), lambda: Solid(positions, triangles, monitor))


def _distances(
    positions: Floats, triangles: npt.NDArray[np.int32], points: Floats, monitor: Any
) -> tuple[Floats, Ints]:
    from ..base.native import module  # not everybody who imports us has it

    distances, nearest = np.empty(len(points)), np.empty(len(points), np.int32)
    surface = np.ascontiguousarray(positions), np.ascontiguousarray(triangles, np.int32)
    module.surface_distance(*surface, np.ascontiguousarray(points), distances, nearest, monitor)
    return distances, nearest.astype(np.int64)


def _nearest_points(
    positions: Floats, triangles: npt.NDArray[np.int32], points: Floats, triangle: Ints
) -> tuple[Floats, Floats]:
    """The place on its triangle that is nearest to each point, and the shares (.., 3) of its corners there."""
    corners = positions[triangles[triangle]]
    a, ab, ac = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    best = np.full(len(points), np.inf)
    share = np.zeros((len(points), 3))
    share[:, 0] = 1.0
    aa, cc, cross = (ab * ab).sum(1), (ac * ac).sum(1), (ab * ac).sum(1)
    to = points - a
    pa, pc = (to * ab).sum(1), (to * ac).sum(1)
    area = aa * cc - cross**2
    v, w = (cc * pa - cross * pc) / np.maximum(area, 1e-300), (aa * pc - cross * pa) / np.maximum(area, 1e-300)
    over = (v >= 0) & (w >= 0) & (v + w <= 1) & (area > 1e-12 * aa * cc)
    share[over] = np.stack([1 - v - w, v, w], axis=1)[over]
    best[over] = 0.0
    for i, j in ((0, 1), (1, 2), (2, 0)):
        start, way = corners[:, i], corners[:, j] - corners[:, i]
        t = np.clip(((points - start) * way).sum(1) / np.maximum((way * way).sum(1), 1e-300), 0.0, 1.0)
        apart = ((points - start - t[:, None] * way) ** 2).sum(1)
        closer = apart < best
        best[closer] = apart[closer]
        share[closer] = 0.0
        share[closer, i], share[closer, j] = 1.0 - t[closer], t[closer]
    return np.einsum("pk,pki->pi", share, corners), share


def _points_on(positions: Floats, triangles: npt.NDArray[np.int32], spacing: float) -> Floats:
    """Points on all triangles no farther apart than `spacing`."""
    points = [positions]
    corners = positions[triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1, initial=0.0)
    steps = np.clip(np.ceil(longest / spacing), 1, 256).astype(int)
    for count in np.unique(steps[steps > 1]):
        some = corners[steps == count]
        for i, j in itertools.product(range(count + 1), repeat=2):
            if i + j <= count:
                u, v = i / count, j / count
                points.append(some[:, 0] * (1 - u - v) + some[:, 1] * u + some[:, 2] * v)
    return np.concatenate(points)


def _ways_out(closed: npt.NDArray[np.bool_]) -> Ints:
    """In how many of 26 directions each cell sees the border of the grid past the closed ones: bodies are often open at
    the neck or the eyes, so what is inside is what is hidden."""
    ways = np.zeros(closed.shape, np.int64)
    for step in _AROUND:
        axis = int(np.argmax(np.abs(step)))
        order = (axis, *(other for other in range(3) if other != axis))
        ahead, i, j = (step[other] for other in order)
        free = np.pad(np.transpose(~closed, order), ((0, 0), (1, 1), (1, 1)), constant_values=True)
        seen = free[:, 1:-1, 1:-1]
        rows, columns = seen.shape[1:]
        for k in range(1, len(free)) if ahead < 0 else range(len(free) - 2, -1, -1):
            seen[k] &= free[k + ahead, 1 + i : 1 + i + rows, 1 + j : 1 + j + columns]
        ways += np.transpose(seen, np.argsort(order))
    return ways
