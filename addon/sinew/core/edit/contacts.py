"""What an edit must not pull apart, nor into each other: contacts of the motion with a floor, with other meshes and of
its own parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.native import module

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Mesh = tuple[Floats, Ints]  # vertices (v, 3), triangles (m, 3)

_TOUCHES = 0.004  # of size: nearer than this two surfaces touch
_LEAST = 1e-12
_FEW = 8  # of a frame
# Parts of one surface touch where they look at each other, and were so many edges apart at rest.
_FACING, _APART = -0.3, 4.0


@dataclass(frozen=True)
class Broken:
    """What an edit does to a contact: so much (metres) is to be taken back along a direction (3,)."""

    vertex: int
    frame: float
    amount: float
    direction: Floats
    from_one_side: bool  # it may go farther than that
    against: int = -1  # the vertex of the same surface that it touches: only what is between the two counts


@dataclass(frozen=True)
class Near:
    """The vertices that an edit could bring to what is around them, at a frame. Gaps are negative inside."""

    vertices: Ints  # (k,)
    places: Floats  # (k, 3) without the edit
    gaps: Floats  # (k,)
    normals: Floats  # (k, 3)
    touches: npt.NDArray[np.bool_]  # (k,)


@dataclass(frozen=True)
class Own:
    """Vertices that touch other parts of their own surface, at a frame."""

    vertices: Ints  # (k,)
    against: Ints  # (k,) the nearest vertex of the other part
    gaps: Floats  # (k,)
    normals: Floats  # (k, 3) of the other part

    def of(self, some: Sequence[int]) -> Own:
        chosen = list(some)
        return Own(self.vertices[chosen], self.against[chosen], self.gaps[chosen], self.normals[chosen])


class Contacts:
    """The contacts of a motion. `surface` tells what is shown at a frame without the edit (t, 3), `meshes` what is
    around it then. `kind`: "above", "slide" or "pin" (`handles.CONTACTS`); `floor`: its height, None: there is none;
    `parts`: the surface at rest (t, 3) and its triangles, if its own parts are to keep their contacts too."""

    def __init__(
        self,
        kind: str,
        frames: Sequence[float],
        surface: Callable[[float], Floats],
        size: float,
        *,
        floor: float | None = None,
        meshes: Callable[[float], Sequence[Mesh]] = lambda frame: (),
        parts: Mesh | None = None,
        kept_off: float = 0.0,
        looks: int = 60,
    ) -> None:
        """`frames`: those that are looked at, so many times at most; `kept_off`: metres that are left between surfaces
        that touch."""
        self.kind, self.frames, self.looks = kind, list(frames), looks
        self._touch = _TOUCHES * size + kept_off
        self._surface, self._floor, self._meshes = surface, floor, meshes
        self._parts = parts if parts is None else (parts[0], looking_out(*parts))
        self._near: dict[tuple[float, float], Near] = {}
        self._own: dict[float, Own | None] = {}
        self._outsides: dict[float, list[float]] = {}  # of each mesh: 1 where its faces look out, else -1

    def near(self, frame: float, reach: float) -> Near:
        """Those that a move of `reach` metres could bring into contact, or a few more."""
        # In steps: a pull that is dragged farther finds what is known already.
        reach = self._touch * 2.0 ** math.ceil(math.log2(max(reach / self._touch, 1.0)))
        if (frame, reach) not in self._near:
            places = self._surface(frame)
            gaps, normals = self._gaps(frame, places)
            some = np.flatnonzero(gaps < max(reach, self._touch)).astype(np.int32)
            touches = gaps[some] < self._touch
            self._near[frame, reach] = Near(some, places[some], gaps[some], normals[some], touches)
        return self._near[frame, reach]

    def own(self, frame: float, is_one: Callable[[int, int], bool]) -> Own | None:
        """The contacts of the surface with itself; None: it has none. `is_one`: of which two vertices nothing can be
        asked."""
        if frame not in self._own:
            found = find_own(self._surface(frame), *self._parts, self._touch) if self._parts is not None else None
            pairs = list(zip(found.vertices.tolist(), found.against.tolist(), strict=True)) if found is not None else []
            some = [k for k, pair in enumerate(pairs) if not is_one(*pair)]
            self._own[frame] = found.of(some) if found is not None and some else None
        return self._own[frame]

    def entered(self, frame: float, ways: Floats, is_one: Callable[[int, int], bool], margin: float) -> list[Broken]:
        """The worst of what a surface that is moved so far (t, 3) runs into of itself, where it did not before."""
        if self._parts is None:
            return []
        places, own = self._surface(frame), self.own(frame, is_one)
        found = find_entered(places, places + ways, *self._parts)
        known = set(own.vertices.tolist()) if own is not None else set()
        amounts = margin - found.gaps
        pairs = list(zip(found.vertices.tolist(), found.against.tolist(), strict=True))
        return [
            Broken(pairs[k][0], frame, float(amounts[k]), found.normals[k], True, pairs[k][1])
            for k in worst_of(amounts)
            if pairs[k][0] not in known and not is_one(*pairs[k])
        ]

    def touching(
        self, frame: float, most: int, pulled: npt.NDArray[np.bool_], is_one: Callable[[int, int], bool]
    ) -> list[Broken]:
        """So many of what touches at a frame, apart from each other, as what is to be kept: nothing is off yet."""
        near, own = self.near(frame, self._touch), self.own(frame, is_one)
        touches = np.flatnonzero(near.touches)
        vertices, normals = near.vertices[touches], near.normals[touches]
        places, against = near.places[touches], np.full(len(touches), -1)
        if own is not None:
            vertices, against = np.concatenate([vertices, own.vertices]), np.concatenate([against, own.against])
            normals = np.concatenate([normals, own.normals])
            places = np.concatenate([places, self._surface(frame)[own.vertices]])
        if not len(vertices):
            return []
        size = float(np.ptp(places, axis=0).max())
        chosen = farthest_of(np.concatenate([places, 0.5 * size * normals], axis=1), most)
        return [
            Broken(
                int(vertices[k]), frame, 0.0, way, self.kind == "above" or bool(pulled[vertices[k]]), int(against[k])
            )
            for k in chosen
            for way in (ways_across(normals[k]) if self.kind == "pin" else normals[k : k + 1])
        ]

    def beyond(self, frame: float, start: Floats, goal: Floats, margin: float) -> Floats:
        """How far (3,) a goal is to be taken back that no contact would let a point come to: nothing comes nearer than
        `margin` metres that was not."""
        gaps, normals = self._gaps(frame, np.stack([start, goal]))
        back: Floats = max(0.0, min(float(gaps[0]), margin) - float(gaps[1])) * normals[1]
        return back

    def broken(
        self, frame: float, near: Near, moved: Floats, pulled: npt.NDArray[np.bool_], margin: float
    ) -> list[Broken]:
        """The worst that moves (k, 3) of the near vertices do to their contacts. What is itself `pulled` (k,) may come
        off, and does not sink in: nothing comes nearer than `margin` metres that was not."""
        kept = near.touches & ~pulled & (self.kind in ("slide", "pin"))
        amounts, ways = self._drawn_apart(moved, near.normals, kept)
        others = np.flatnonzero(~kept & (np.linalg.norm(moved, axis=1) > np.maximum(near.gaps - margin, _LEAST)))
        if len(others):
            gaps, normals = self._gaps(frame, near.places[others] + moved[others])
            # What has come to the other side of something thin goes back to its own.
            own = near.gaps[others] + (near.normals[others] * moved[others]).sum(axis=1)
            is_through = ((normals * near.normals[others]).sum(axis=1) < 0.0) & (own < gaps)
            gaps = np.where(is_through, own, gaps)
            ways[others] = np.where(is_through[:, None], near.normals[others], normals)
            amounts[others] = np.minimum(near.gaps[others], margin) - gaps
        return [
            Broken(int(near.vertices[k]), frame, float(amounts[k]), ways[k], not kept[k]) for k in worst_of(amounts)
        ]

    def broken_own(self, frame: float, own: Own, between: Floats, pulled: npt.NDArray[np.bool_]) -> list[Broken]:
        """The same of contacts of the surface with itself, by moves (k, 3) of vertices seen from what they touch."""
        kept = ~pulled & (self.kind in ("slide", "pin"))
        amounts, ways = self._drawn_apart(between, own.normals, kept)
        others = np.flatnonzero(~kept)
        nearer = -(between[others] * own.normals[others]).sum(axis=1)
        amounts[others], ways[others] = nearer - np.maximum(own.gaps[others], 0.0), own.normals[others]
        return [
            Broken(int(own.vertices[k]), frame, float(amounts[k]), ways[k], not kept[k], int(own.against[k]))
            for k in worst_of(amounts)
        ]

    def _drawn_apart(self, moved: Floats, normals: Floats, kept: npt.NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """How far what is kept is moved away from where it is to stay (k,), and the way back (k, 3)."""
        amounts, ways = np.zeros(len(moved)), np.zeros((len(moved), 3))
        away = moved if self.kind == "pin" else (moved * normals).sum(axis=1)[:, None] * normals
        amounts[kept] = np.linalg.norm(away[kept], axis=1)
        ways[kept] = -away[kept] / np.maximum(amounts[kept], _LEAST)[:, None]
        return amounts, ways

    def _gaps(self, frame: float, points: Floats) -> tuple[Floats, Floats]:
        """How far points (k, 3) are from what is nearest to them, and where it pushes them to (k, 3)."""
        gaps, normals = np.full(len(points), np.inf), np.zeros((len(points), 3))
        if self._floor is not None:
            gaps, normals = points[:, 2] - self._floor, np.tile([0.0, 0.0, 1.0], (len(points), 1))
        meshes = [mesh for mesh in self._meshes(frame) if len(mesh[1])]
        for mesh, outside in zip(meshes, self._outside(frame, meshes), strict=True):
            other, ways = gaps_to(mesh, points)
            other, ways = outside * other, outside * ways
            nearer = other < gaps
            gaps, normals = np.where(nearer, other, gaps), np.where(nearer[:, None], ways, normals)
        return gaps, normals

    def _outside(self, frame: float, meshes: Sequence[Mesh]) -> list[float]:
        """Faces may look either way: outside is where most of the body is."""
        if frame not in self._outsides:
            places = self._surface(frame) if meshes else np.zeros((0, 3))
            sides = [float(np.median(gaps_to(mesh, places)[0])) for mesh in meshes]
            self._outsides[frame] = [-1.0 if side < 0.0 else 1.0 for side in sides]
        return self._outsides[frame]


def farthest_of(points: Floats, most: int) -> list[int]:
    """So many points (k, d) that lie apart, each the farthest from those before it."""
    chosen: list[int] = []
    apart = np.full(len(points), np.inf)
    while len(chosen) < min(most, len(points)) and apart.max() > 1e-9:
        chosen.append(int(apart.argmax()) if chosen else 0)
        apart = np.minimum(apart, np.linalg.norm(points - points[chosen[-1]], axis=1))
    return chosen


def ways_across(normal: Floats) -> Floats:
    """A direction and two across it (3, 3)."""
    ways: Floats = np.linalg.svd(normal[None])[2]
    return np.concatenate([normal[None], ways[1:]])


def worst_of(amounts: Floats) -> list[int]:
    return [int(k) for k in np.argsort(-amounts, kind="stable")[:_FEW] if amounts[k] > _LEAST]


def find_own(places: Floats, rest: Floats, triangles: Ints, touch: float) -> Own:
    """Vertices of a surface that are nearer than `touch` metres to another part of it: one that looks at them, that at
    rest was far from them or looked at them too, and that is not beside them in the faces, as in a crease."""
    used = np.unique(triangles)
    edge = float(np.median(np.linalg.norm(places[triangles[:, 0]] - places[triangles[:, 1]], axis=1)))
    radius = float(np.hypot(touch, edge))
    used = used[may_meet(places[used], _normals(places, triangles)[used], radius)]
    if not len(used):
        return Own(np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0), np.zeros((0, 3)))
    v, w = (used[k] for k in pairs_within(places[used], radius))
    (apart, gaps, faces, normals), (was, was_off, faced, _) = (_seen(x, triangles, v, w) for x in (places, rest))
    is_other = (was > np.maximum(2.0 * apart, _APART * edge)) | ((was_off > 0.0) & (faced < _FACING))
    some = np.flatnonzero((faces < _FACING) & (np.abs(gaps) < touch) & is_other)
    some = some[np.lexsort((w[some], apart[some], v[some]))]
    some = some[~_beside(triangles, v[some], w[some])]
    some = some[np.unique(v[some], return_index=True)[1]]  # of each the nearest
    return Own(v[some].astype(np.int32), w[some].astype(np.int32), gaps[some], normals[some])


def find_entered(places: Floats, moved: Floats, rest: Floats, triangles: Ints, deep: float = 1.0) -> Own:
    """Vertices of a closed surface that were moved into another part of it, so many edges deep at most."""
    triangles = looking_out(rest, triangles)
    edge = float(np.median(np.linalg.norm(rest[triangles[:, 0]] - rest[triangles[:, 1]], axis=1)))
    found = find_own(moved, rest, triangles, deep * edge)
    _, before, _, _ = _seen(places, triangles, found.vertices, found.against)
    return found.of(np.flatnonzero((found.gaps < 0.0) & (before > 0.0)).tolist())


def looking_out(rest: Floats, triangles: Ints) -> Ints:
    """The triangles of a closed surface, turned round if they look in; an open one has no outside."""
    a, b, c = (rest[triangles[:, i]] - rest.mean(axis=0) for i in range(3))
    faces = np.cross(b - a, c - a)
    is_open = np.linalg.norm(faces.sum(axis=0)) > 1e-6 * np.linalg.norm(faces, axis=1).sum()
    return triangles if is_open or (faces * a).sum() >= 0.0 else np.ascontiguousarray(triangles[:, ::-1])


def _beside(triangles: Ints, v: Ints, w: Ints) -> npt.NDArray[np.bool_]:
    """Which pairs of vertices (k,) share an edge, or are neighbours of one vertex."""
    ends = np.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])]).astype(np.int64)
    count = int(triangles.max(initial=0)) + 1
    keys = np.unique(np.concatenate([ends[:, 0] * count + ends[:, 1], ends[:, 1] * count + ends[:, 0]]))
    start = np.searchsorted(keys // count, np.arange(count + 1))
    counts = start[v + 1] - start[v]
    pair = np.repeat(np.arange(len(v)), counts)
    at = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(start[v], counts)
    shared = (keys[at] % count) * count + w[pair]
    found = np.isin(v.astype(np.int64) * count + w, keys)
    found[pair[np.isin(shared, keys)]] = True
    return found


def _normals(places: Floats, triangles: Ints) -> Floats:
    """Where vertices look (t, 3)."""
    faces = np.cross(*(places[triangles[:, i]] - places[triangles[:, 0]] for i in (1, 2)))
    corners = triangles.ravel()
    sums = [np.bincount(corners, np.repeat(faces[:, axis], 3), len(places)) for axis in range(3)]
    normals: Floats = np.stack(sums, axis=1)
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), _LEAST)


def _seen(places: Floats, triangles: Ints, v: Ints, w: Ints) -> tuple[Floats, Floats, Floats, Floats]:
    """Of pairs of vertices (k,): how far apart, how far the first is over the face of the second, how much they look
    the same way, and the way that the second looks (k, 3)."""
    normals = _normals(places, triangles)
    way = places[v] - places[w]
    dots = (way * normals[w]).sum(axis=1), (normals[v] * normals[w]).sum(axis=1)
    return np.linalg.norm(way, axis=1), *dots, normals[w]


@dataclass(frozen=True)
class _Cubes:
    """Points (n, 3) by cubes."""

    keys: npt.NDArray[np.int64]  # (n,) of the cube of each
    around: list[int]  # from the key of a cube to those of the 27 at it

    @classmethod
    def of(cls, points: Floats, size: float) -> _Cubes:
        cubes = np.floor((points - points.min(axis=0, initial=0.0)) / size).astype(np.int64) + 1
        sizes = cubes.max(axis=0, initial=0) + 2
        steps = [(int(x - 1), int(y - 1), int(z - 1)) for x, y, z in np.ndindex(3, 3, 3)]
        around = [(x * int(sizes[1]) + y) * int(sizes[2]) + z for x, y, z in steps]
        return cls((cubes[:, 0] * sizes[1] + cubes[:, 1]) * sizes[2] + cubes[:, 2], around)


def pairs_within(points: Floats, radius: float) -> tuple[Ints, Ints]:
    """Both ways, the pairs of points (n, 3) that are nearer than that: by cubes of that size."""
    cubes = _Cubes.of(points, radius)
    keys = cubes.keys
    order = np.argsort(keys, kind="stable")
    ordered, here, there = keys[order], [], []
    for step in cubes.around:
        begin, end = (np.searchsorted(ordered, keys + step, side) for side in ("left", "right"))
        counts = end - begin
        from_ = np.repeat(np.arange(len(points)), counts)
        to = order[np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(begin, counts)]
        is_near = (from_ != to) & (((points[from_] - points[to]) ** 2).sum(axis=1) < radius * radius)
        here.append(from_[is_near])
        there.append(to[is_near])
    return np.concatenate(here), np.concatenate(there)


def may_meet(points: Floats, normals: Floats, radius: float) -> npt.NDArray[np.bool_]:
    """Which points (n,) may have one that looks at them nearer than that: by the bounds of the normals around."""
    cubes = _Cubes.of(points, radius)
    order = np.argsort(cubes.keys, kind="stable")
    filled, first, own = np.unique(cubes.keys[order], return_index=True, return_inverse=True)
    least, most = (reduce.reduceat(normals[order], first, axis=0) for reduce in (np.minimum, np.maximum))
    low, high = least.copy(), most.copy()
    for step in cubes.around:
        at = np.minimum(np.searchsorted(filled, filled + step), len(filled) - 1)
        there = filled[at] == filled + step
        low[there], high[there] = np.minimum(low[there], least[at[there]]), np.maximum(high[there], most[at[there]])
    found = np.empty(len(points), bool)
    found[order] = np.minimum(normals[order] * low[own], normals[order] * high[own]).sum(axis=1) < _FACING
    return found


def gaps_to(mesh: Mesh, points: Floats) -> tuple[Floats, Floats]:
    """Distances (k,) of points from a mesh, negative behind its faces, and the way out of it (k, 3)."""
    vertices, triangles = (np.ascontiguousarray(part, kind) for part, kind in zip(mesh, (np.float64, np.int32)))
    points = np.ascontiguousarray(points, np.float64)
    distances, nearest = np.empty(len(points)), np.empty(len(points), np.int32)
    module.surface_distance(vertices, triangles, points, distances, nearest)
    a, b, c = (vertices[triangles[nearest, i]] for i in range(3))
    faces = np.cross(b - a, c - a)
    faces /= np.maximum(np.linalg.norm(faces, axis=1, keepdims=True), _LEAST)
    ways = points - _closest(a, b, c, points)
    side = np.where((ways * faces).sum(axis=1) < 0.0, -1.0, 1.0)
    lengths = np.linalg.norm(ways, axis=1)
    # On the surface the way is the face's; off it the one to the closest point, which edges round off.
    is_on = lengths < 1e-6 * (1.0 + np.abs(points).max(initial=0.0))
    out = np.where(is_on[:, None], faces, side[:, None] * ways / np.maximum(lengths, _LEAST)[:, None])
    return side * distances, out


def _closest(a: Floats, b: Floats, c: Floats, points: Floats) -> Floats:
    """The point of each triangle that is closest to a point, (k, 3)."""
    best = np.full(len(points), np.inf)
    found = np.empty_like(points)

    def take(candidates: Floats, where: Any = True) -> None:
        nonlocal best
        squares = ((points - candidates) ** 2).sum(axis=1)
        nearer = (squares < best) & where
        best = np.where(nearer, squares, best)
        found[nearer] = candidates[nearer]

    for start, end in ((a, b), (b, c), (c, a)):
        edge = end - start
        t = ((points - start) * edge).sum(axis=1) / np.maximum((edge**2).sum(axis=1), _LEAST**2)
        take(start + np.clip(t, 0.0, 1.0)[:, None] * edge)
    normals = np.cross(b - a, c - a)
    squares = np.maximum((normals**2).sum(axis=1), _LEAST**2)
    flat = points - (((points - a) * normals).sum(axis=1) / squares)[:, None] * normals
    shares = [(np.cross(q - p, flat - p) * normals).sum(axis=1) >= 0.0 for p, q in ((a, b), (b, c), (c, a))]
    take(flat, np.logical_and.reduce(shares))
    return found


def choose_worst(broken: Sequence[Broken], places: Callable[[Broken], Floats], apart: float, most: int) -> list[Broken]:
    """The worst few, each on another frame or `apart` metres from those before it."""
    chosen: list[Broken] = []
    for one in sorted(broken, key=lambda b: (-b.amount, b.frame, b.vertex)):
        if len(chosen) == most or (chosen and one.amount < 0.3 * chosen[0].amount):
            break
        if all(
            abs(one.frame - other.frame) > 2.0 or float(np.linalg.norm(places(one) - places(other))) > apart
            for other in chosen
        ):
            chosen.append(one)
    return chosen
