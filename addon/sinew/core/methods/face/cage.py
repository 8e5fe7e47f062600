"""A cage for a mouth (methods, section 4): teeth and eyes stay out of it, it is built with the jaw open so that lips
have tets of their own, its cells are as fine as flesh of a face needs, and it ends a little below the flesh."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...cage.cage import Cage
from ...cage.safe import make_cage
from ...paint.face import SOFT
from .painted import FacePaint, Floats, Ints, distance_to, face_of, mobile_triangles

CELL = 0.035  # of the face: flesh is some cells thick
_CELLS = (12, 96)  # along the longest side of what is built
_BELOW = 1.0  # cells below the flesh that are kept: bone that it hangs on
_AROUND = 0.35  # of the face: what is farther from soft skin is left out where a cage is built
_LARGER = 1.6  # times what is soft and around it: a mesh that is no larger is taken whole


def make_face_cage(rest: Floats, triangles: Ints, paint: FacePaint, settings: Any, monitor: Any = None) -> Cage:
    """The cage of the soft parts of a face. Vertices that it does not carry hold on to some tet, and nobody asks where
    that goes."""
    face = face_of(paint)
    built_from = triangles[(face.carrier[triangles] == SOFT).all(axis=1)]
    built_from = _near(rest, built_from, paint)
    used = np.unique(built_from)
    points, sides, closing = _closed(rest, used, built_from, paint.safe)
    longest = float(np.ptp(points, axis=0).max())
    cell = CELL * face.size if settings.resolution == 0 else longest / settings.resolution
    resolution = int(np.clip(np.ceil(longest / cell), *_CELLS))
    below = _BELOW * longest / resolution

    def part(cage: Cage, surface: Floats) -> tuple[Cage, npt.NDArray[np.bool_]]:
        return _part_of(cage, _kept(cage, surface, sides, used, paint, below))

    cage = make_cage(points, sides, settings.replace({"resolution": resolution}), closing, monitor, part)
    return _carrying_all(cage, rest, used)


def follow_inside(rest: Floats, triangles: Ints, paint: FacePaint, cage: Cage) -> Floats:
    """(n,) 1 for cage vertices that lie deeper than flesh, 0 in it."""
    face = face_of(paint)
    beyond = _beyond(rest, mobile_triangles(triangles, face), face.depth, cage.vertices)
    return np.where(beyond > 0.0, 1.0, 0.0)


def on_cage(rest: Floats, triangles: Ints, values: Floats, cage: Cage) -> Floats:
    """(n,) values (t,) of the surface at the cage vertices nearest to it."""
    _, nearest = distance_to(rest, triangles, cage.vertices)
    there: Floats = values[triangles[nearest]].mean(axis=1)
    return there


def _beyond(surface: Floats, mobile: Ints, depth: Floats, points: Floats) -> Floats:
    """(p,) how far points lie below the flesh of triangles, whose depth (t,) is at their vertices; negative in it."""
    if not len(mobile):
        return np.full(len(points), np.inf)
    distances, nearest = distance_to(surface, mobile, points)
    beyond: Floats = distances - depth[mobile[nearest]].mean(axis=1)
    return beyond


def _near(rest: Floats, triangles: Ints, paint: FacePaint) -> Ints:
    """Of a whole body, the triangles around the face."""
    face = face_of(paint)
    soft = rest[face.is_free]
    low, high = soft.min(axis=0) - _AROUND * face.size, soft.max(axis=0) + _AROUND * face.size
    if np.ptp(rest[np.unique(triangles)], axis=0).max() <= _LARGER * (high - low).max():
        return triangles
    inside = ((rest > low) & (rest < high)).all(axis=1)
    near: Ints = triangles[inside[triangles].any(axis=1)]
    return near


def _closed(
    rest: Floats, used: npt.NDArray[np.intp], triangles: Ints, safe: Floats | None
) -> tuple[Floats, Ints, Floats | None]:
    """The vertices `used` with their triangles, open borders closed by fans, at rest and in the safe pose: a neck that
    is cut is full, not a tube."""
    number = np.full(len(rest), -1, np.int32)
    number[used] = np.arange(len(used), dtype=np.int32)
    sides = number[triangles]
    points, opened = rest[used], None if safe is None else safe[used]
    edges = np.concatenate([sides[:, [0, 1]], sides[:, [1, 2]], sides[:, [2, 0]]])
    twins = set(map(tuple, edges.tolist()))
    border = {a: b for a, b in edges.tolist() if (b, a) not in twins}
    fans: list[list[int]] = []
    middles: list[list[int]] = []
    while border:
        start, loop = next(iter(border)), []
        at = start
        while at in border:
            loop.append(at)
            at = border.pop(at)
        if len(loop) > 2 and at == start:
            centre = len(points) + len(middles)
            middles.append(loop)
            fans += [[b, a, centre] for a, b in zip(loop, [*loop[1:], loop[0]], strict=True)]
    if middles:
        points = np.concatenate([points, [points[loop].mean(axis=0) for loop in middles]])
        sides = np.concatenate([sides, np.array(fans, np.int32)])
        if opened is not None:
            opened = np.concatenate([opened, [opened[loop].mean(axis=0) for loop in middles]])
    return np.ascontiguousarray(points), np.ascontiguousarray(sides, np.int32), opened


def _kept(
    cage: Cage, surface: Floats, sides: Ints, used: npt.NDArray[np.intp], paint: FacePaint, below: float
) -> npt.NDArray[np.bool_]:
    """(e,) the tets that carry skin which is asked for, and those in flesh or a little below it. The surface begins
    with the vertices `used`."""
    face, parts = face_of(paint), paint.parts
    assert parts is not None
    depth = np.concatenate([face.depth[used], np.zeros(len(surface) - len(used))])
    free = np.concatenate([face.is_free[used], np.zeros(len(surface) - len(used), bool)])
    beyond = _beyond(surface, sides[free[sides].any(axis=1)], depth, cage.vertices)
    kept: npt.NDArray[np.bool_] = (beyond[cage.tets] < below).any(axis=1)
    kept[cage.binding[: len(used)][parts.tracked[used]]] = True
    return kept


def _part_of(cage: Cage, kept: npt.NDArray[np.bool_]) -> tuple[Cage, npt.NDArray[np.bool_]]:
    """A cage of some of the tets, and which vertices it carries: those whose tet is gone hold on to the first one."""
    corners = np.unique(cage.tets[kept])
    number = np.full(len(cage.vertices), -1, np.int32)
    number[corners] = np.arange(len(corners), dtype=np.int32)
    place = np.where(kept, np.cumsum(kept) - 1, 0)
    carried = kept[cage.binding]
    weights = np.where(carried[:, None], cage.weights, 0.25)
    part = Cage(cage.vertices[corners], number[cage.tets[kept]], place[cage.binding], weights)
    part.note = cage.note
    return part, carried


def _carrying_all(cage: Cage, rest: Floats, used: npt.NDArray[np.intp]) -> Cage:
    """The same tets with all vertices of the mesh, of which it was built around some."""
    binding, weights = np.zeros(len(rest), np.int32), np.full((len(rest), 4), 0.25)
    binding[used], weights[used] = cage.binding[: len(used)], cage.weights[: len(used)]
    whole = Cage(cage.vertices, cage.tets, binding, weights)
    whole.note, whole.safe_vertices = cage.note, cage.safe_vertices
    return whole
