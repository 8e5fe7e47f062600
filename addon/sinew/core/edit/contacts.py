"""What an edit must not pull apart, nor into each other: contacts of the motion with a floor and with other meshes."""

from __future__ import annotations

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


@dataclass(frozen=True)
class Broken:
    """What an edit does to a contact: so much (metres) is to be taken back along a direction (3,)."""

    vertex: int
    frame: float
    amount: float
    direction: Floats
    from_one_side: bool  # it may go farther than that


@dataclass(frozen=True)
class Near:
    """The vertices that an edit could bring to what is around them, at a frame. Gaps are negative inside."""

    vertices: Ints  # (k,)
    places: Floats  # (k, 3) without the edit
    gaps: Floats  # (k,)
    normals: Floats  # (k, 3)
    touches: npt.NDArray[np.bool_]  # (k,)


class Contacts:
    """The contacts of a motion. `surface` tells what is shown at a frame without the edit (t, 3), `meshes` what is
    around it then. `kind`: "above", "slide" or "pin" (`handles.CONTACTS`); `floor`: its height, None: there is none."""

    def __init__(
        self,
        kind: str,
        frames: Sequence[float],
        surface: Callable[[float], Floats],
        size: float,
        *,
        floor: float | None = None,
        meshes: Callable[[float], Sequence[Mesh]] = lambda frame: (),
        kept_off: float = 0.0,
        looks: int = 60,
    ) -> None:
        """`frames`: those that are looked at, so many times at most; `kept_off`: metres that are left between surfaces
        that touch."""
        self.kind, self.frames, self.looks = kind, list(frames), looks
        self._touch = _TOUCHES * size + kept_off
        self._surface, self._floor, self._meshes = surface, floor, meshes
        self._near: dict[tuple[float, float], Near] = {}
        self._outsides: dict[float, list[float]] = {}  # of each mesh: 1 where its faces look out, else -1

    def near(self, frame: float, reach: float) -> Near:
        """Those that a move of `reach` metres could bring into contact."""
        if (frame, reach) not in self._near:
            places = self._surface(frame)
            gaps, normals = self._gaps(frame, places)
            some = np.flatnonzero(gaps < max(reach, self._touch)).astype(np.int32)
            touches = gaps[some] < self._touch
            self._near[frame, reach] = Near(some, places[some], gaps[some], normals[some], touches)
        return self._near[frame, reach]

    def beyond(self, frame: float, start: Floats, goal: Floats) -> Floats:
        """How far (3,) a goal is to be taken back that no contact would let a point come to."""
        gaps, normals = self._gaps(frame, np.stack([start, goal]))
        back: Floats = max(0.0, min(float(gaps[0]), 0.0) - float(gaps[1])) * normals[1]
        return back

    def broken(
        self, frame: float, near: Near, moved: Floats, pulled: npt.NDArray[np.bool_], margin: float
    ) -> list[Broken]:
        """The worst that moves (k, 3) of the near vertices do to their contacts. What is itself `pulled` (k,) may come
        off, and does not sink in: nothing comes nearer than `margin` metres that was not."""
        amounts, ways = np.zeros(len(moved)), np.zeros((len(moved), 3))
        kept = near.touches & ~pulled & (self.kind in ("slide", "pin"))
        away = moved if self.kind == "pin" else (moved * near.normals).sum(axis=1)[:, None] * near.normals
        amounts[kept] = np.linalg.norm(away[kept], axis=1)
        ways[kept] = -away[kept] / np.maximum(amounts[kept], _LEAST)[:, None]
        others = np.flatnonzero(~kept & (np.linalg.norm(moved, axis=1) > np.maximum(near.gaps - margin, _LEAST)))
        if len(others):
            gaps, normals = self._gaps(frame, near.places[others] + moved[others])
            # What has come to the other side of something thin goes back to its own.
            own = near.gaps[others] + (near.normals[others] * moved[others]).sum(axis=1)
            is_through = ((normals * near.normals[others]).sum(axis=1) < 0.0) & (own < gaps)
            gaps = np.where(is_through, own, gaps)
            ways[others] = np.where(is_through[:, None], near.normals[others], normals)
            amounts[others] = np.minimum(near.gaps[others], margin) - gaps
        worst = np.argsort(-amounts, kind="stable")[:_FEW]
        return [
            Broken(int(near.vertices[k]), frame, float(amounts[k]), ways[k], not kept[k])
            for k in worst
            if amounts[k] > _LEAST
        ]

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
