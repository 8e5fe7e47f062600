"""What a bake tells of its contacts: where and when something was let through, and where the result runs through
something that the animation does not run through."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ..geometry.crossings import find_crossings
from ..geometry.place import placed
from . import obstacles
from .contact import POINTS, Collided, ignored_groups, is_active, obstacles_at, unpacked
from .report import frame_of, numbers_of
from .results import world
from .shot import Shot
from .store import Store
from .worn import Worn

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Crossing = tuple[int, ...]  # mesh and two points of an edge, mesh and a triangle

_MOST_POINTS, _MOST_VERTICES = 60, 5  # that are looked at, and told


def summary(shot: Shot, store: Store) -> dict[str, Any] | None:
    """Numbers for a report; None where it does not collide."""
    if not store.manifest.counts.get("collides", 0):
        return None
    marks = numbers_of(store)
    touching = (index for index, numbers in enumerate(marks) if numbers.planes > 0)
    told: dict[str, Any] = {
        "touching_samples": sum(_is_pressed(store, index) for index in touching),
        "most_planes": int(max((numbers.planes for numbers in marks), default=0)),
        "rounds": int(sum(numbers.contact_rounds for numbers in marks)),
        "ccds": int(sum(numbers.ccds for numbers in marks)),
        "partial_steps": int(sum(numbers.partial_steps for numbers in marks)),
    }
    # Numbers are of the whole world, points of the body alone.
    own = {i for i, numbers in enumerate(marks) if (numbers.exempt or numbers.pinched) and _is_let_through(store, i)}
    alone = not store.manifest.company
    for name in ("exempt", "pinched", "intersections"):
        found = (index for index, numbers in enumerate(marks) if getattr(numbers, name) > 0)
        samples = [index for index in found if alone or index in own]
        told[name] = {
            "samples": len(samples),
            "most": int(max((getattr(numbers, name) for numbers in marks), default=0)),
            "frames": [frame_of(shot, index) for index in samples[:_MOST_VERTICES]],
        }
    told["vertices"] = next(filter(None, (_vertices(store, index) for index in sorted(own)[:_MOST_VERTICES])), [])
    return told


def _is_pressed(store: Store, index: int) -> bool:
    points = unpacked(store.read_piece(POINTS, index))
    return points is not None and len(points.forces) > 0


def _is_let_through(store: Store, index: int) -> bool:
    points = unpacked(store.read_piece(POINTS, index))
    return points is not None and len(points.exempt) > 0


def _vertices(store: Store, index: int) -> list[int]:
    """Of the body, nearest to where it was let through in a sample; the first few."""
    points = unpacked(store.read_piece(POINTS, index))
    if points is None or not len(points.exempt):
        return []
    surface = _shown(store, index)
    looked = points.exempt[:: max(1, len(points.exempt) // _MOST_POINTS)].astype(np.float64)
    nearest = [int(np.square(surface - point).sum(axis=1).argmin()) for point in looked]
    return list(dict.fromkeys(nearest))[:_MOST_VERTICES]


def notes(told: Mapping[str, Any], settings: Any, place: str = "") -> list[str]:
    """The same for an artist. `place`: what the parts are called."""
    found = []
    where = _where(told["vertices"], place)
    if told["exempt"]["samples"]:
        found.append(
            f"What overlaps in the animation, or at the start, was let through {_when(told['exempt'])}{where}: it "
            "collides again once it is apart."
        )
    if told["pinched"]["samples"]:
        cure = "Strict or Soft Collider let what is followed give way instead"
        cure = "raise Distance, or paint lower weights there" if settings.soft_collider or settings.strict else cure
        found.append(f"What was pinched was let go {_when(told['pinched'])}{where}: {cure}.")
    return found


def lines(told: Mapping[str, Any] | None) -> tuple[str, ...]:
    if told is None:
        return ()
    let_go = told["exempt"]["samples"] or told["pinched"]["samples"]
    rest = f"let through {_when(told['exempt'] if told['exempt']['samples'] else told['pinched'])}" if let_go else ""
    touching = told["touching_samples"]
    text = f"Touches in {touching} samples" if touching != 1 else "Touches in 1 sample"
    return (f"{text}, {rest or 'nothing was let through'}",)


def _when(part: Mapping[str, Any]) -> str:
    more = part["samples"] - 1
    return f"from frame {part['frames'][0]:g} on, in {more + 1} samples" if more else f"at frame {part['frames'][0]:g}"


def _where(vertices: list[int], place: str) -> str:
    near = f"near vertices {', '.join(map(str, vertices))}" if vertices else ""
    return f" ({'; '.join(filter(None, (place, near)))})" if place or near else ""


def new_crossings(
    store: Store, shot: Shot, collided: Collided, index: int, others: Sequence[Store] = ()
) -> list[Crossing]:
    """Edges of what plays at a sample that run through triangles, of the body or of what it meets, and do not in the
    animation. Pairs that collide by no setting are not looked at. `others`: bakes of bodies that it was simulated
    with."""
    settings = shot.settings
    if not is_active(store, index):
        return []
    matrices, deformed = obstacles_at(store, index)
    met = []
    if collided.obstacles.count and settings.object_collision and matrices is not None:
        met.append((collided.obstacles.placed(matrices, deformed), collided.obstacles.triangles))
    if collided.ground is not None:
        size = float(np.linalg.norm(np.ptp(shot.rest, axis=0)))
        met.append(obstacles.ground(collided.ground, shot.rest.mean(axis=0), size))
    worn = Worn.of(shot)
    triangles_of_body = worn.triangles(shot.triangles)
    ignored = worn.painted(collided).ignored or {}
    bits, pairs = ignored_groups(settings, ignored, worn.count + worn.added)
    beside = [other for other in others if is_active(other, index)]

    def crossings(place: Callable[[Store, int, str], Floats]) -> set[Crossing]:
        bodies = [(place(other, index, ""), other.constant("triangles")) for other in beside]
        body = (worn.surface(partial(place, store, index)), triangles_of_body)
        edges, triangles = find_crossings([body, *met, *bodies], settings.self_collision)
        rows = np.hstack([edges, triangles])
        rows = rows[(rows[:, 0] == 0) | (rows[:, 3] == 0)]  # not what others do among themselves
        if bits is not None:
            alone = (rows[:, 0] == 0) & (rows[:, 3] == 0)
            others_corners = triangles_of_body[np.where(alone, rows[:, 4], 0)]
            rows = rows[~alone | ~ignores(bits, pairs, rows[:, 1:3], others_corners)]
        return set(map(tuple, rows.tolist()))

    found = crossings(_shown)
    return sorted(found - crossings(world)) if found else []


def _shown(store: Store, index: int, name: str = "") -> Floats:
    """What plays at a sample, in the world: the body, or `passenger_0_` and so on."""
    result = store.read_result(index, name[:-1] or "result")
    return placed(store.read(f"{name}matrix", index), result.astype(np.float64))


def ignores(bits: Ints, pairs: Ints, points: Ints, others: Ints) -> npt.NDArray[np.bool_]:
    """Which points (k, i) and other points (k, j) lie in groups that ignore each other: all of a side in one group."""
    mine, theirs = (np.bitwise_and.reduce(bits.view(np.uint32)[one], axis=1) for one in (points, others))
    found = np.zeros(len(points), bool)
    for one, other in pairs:
        for a, b in ((mine, theirs), (theirs, mine)):
            found |= ((a >> np.uint32(one)) & (b >> np.uint32(other)) & np.uint32(1)).astype(bool)
    return found
