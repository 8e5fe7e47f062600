"""How a body collides: what is read of it at rest, what the native module is told, and what of the contacts is kept to
be looked at. The same for every method."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from . import obstacles
from .collisions import CollisionSettings, pairs_of
from .method import Layout
from .move import Touch, Touched
from .numbers import Numbers
from .obstacles import Obstacles
from .store import Store

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_SEPARATE = 1.0  # of size a second
_MEMBER = 0.5  # a vertex with this weight is in a group
MOST_POINTS = 4000  # of one sample that are kept to be looked at

# The files of a body that collides: what the next interval needs, contacts to be looked at, and whether it collides.
STATE, POINTS, KEYED = "contact", "contact_points", "collide_now"


@dataclass(frozen=True)
class Collided:
    """What is read of a body that collides. Weights (t,) multiply the settings; None: everywhere 1."""

    friction: Floats | None = None
    thickness: Floats | None = None
    ignored: Mapping[str, Floats] | None = None  # weights of the groups that the setting names
    obstacles: Obstacles = obstacles.NONE
    ground: float | None = None  # its height, world metres; None: there is none
    is_keyed: bool = False  # samples say whether it collides

    def counts(self) -> dict[str, int]:
        return {"collides": 1, "collides_keyed": int(self.is_keyed), **self.obstacles.counts()}

    def arrays(self) -> dict[str, Array]:
        """What the simulated motion depends on, by name."""
        painted = {"friction": self.friction, "thickness": self.thickness}
        found: dict[str, Array] = {f"contact {name}": one for name, one in painted.items() if one is not None}
        found |= {f"contact ignored {name}": weights for name, weights in (self.ignored or {}).items()}
        found |= self.obstacles.constants() if self.obstacles.count else {}
        found |= {} if self.obstacles.rest is None else {"contact rest": self.obstacles.rest}
        found |= {} if self.ground is None else {"contact ground": np.array([self.ground])}
        return found | ({"contact keyed": np.ones(1)} if self.is_keyed else {})


def files_of(counts: Mapping[str, int]) -> Layout:
    """Those beside others of a method, by the counts of `Collided`; none where it does not collide."""
    if not counts.get("collides", 0):
        return Layout()
    constants, inputs = obstacles.shapes_of(counts)
    keyed: dict[str, Any] = {KEYED: ((1,), "<f8")} if counts.get("collides_keyed", 0) else {}
    return Layout(constants, {**inputs, **keyed}, pieces=(STATE, POINTS))


def obstacles_at(store: Store, index: int) -> tuple[Any, Any]:
    """What a sample says of them, as Body takes it."""
    names = (obstacles.MATRICES, obstacles.DEFORMED)
    matrices, deformed = (store.read(name, index) if name in store.own_inputs else None for name in names)
    return matrices, deformed


def is_active(store: Store, *indices: int) -> bool:
    """Whether a body collides in all of these samples."""
    return KEYED not in store.own_inputs or all(float(store.read(KEYED, i).min()) > 0.5 for i in indices)


class Body:
    """The surface of a body and what it meets, as the native module takes it. `size` and `rest` (t, 3) in metres;
    `first`: what the first sample says of the obstacles; `parts`: which vertices (t,) collide, None: all; `scale`: so
    many times as large as in the scene the simulation is, `rest` and `size` too; `bound`: what else the
    native module is told of how the surface hangs on the simulation."""

    def __init__(
        self,
        settings: Any,
        rest: Floats,
        triangles: Ints,
        size: float,
        read: Collided,
        first: Any,
        parts: Any = None,
        scale: float = 1.0,
        carried: Any = None,
        bound: Mapping[str, Any] | None = None,
    ) -> None:
        self._obstacles, self._ground, self._scale = read.obstacles, None, scale
        groups, self._ignored = ignored_groups(settings, read.ignored or {}, len(rest))
        whole = triangles if parts is None else triangles[parts[triangles].all(axis=1)]
        self._member = {
            "triangles": np.ascontiguousarray(whole, np.int32),
            "rest": np.ascontiguousarray(rest, np.float64),
            "thickness": _painted(settings.thickness * size, read.thickness, len(rest)),
            "friction": _painted(settings.friction, read.friction, len(rest)),
            "groups": groups,
            "interpolation": "phong",  # what is shown otherwise, after the bake, is not seen
            "self_collision": settings.self_collision,
            "body_collision": settings.object_collision and settings.body_collision,
            **(bound or {}),
        }
        self._starts = np.searchsorted(self._obstacles.owners, np.arange(self._obstacles.count + 1))
        if read.ground is not None:
            self._ground, sides = obstacles.ground(scale * read.ground, rest.mean(axis=0), size)
        placed = self._placed(*first)
        self._dicts = [self._obstacle(number, settings, placed[number]) for number in range(self._obstacles.count)]
        self._meets = [settings.object_collision] * self._obstacles.count
        if self._ground is not None:
            self._dicts.append({"triangles": sides, "rest": self._ground})
            self._meets.append(True)
        self._settings = _native(settings, size)
        self._carried: Any = None  # the vertices, and the obstacle
        if carried is not None and len(carried) and settings.self_collision:
            own = np.unique(carried)
            told = {name: self._member[name][own] for name in ("rest", "thickness", "friction")}
            self._carried = own, {**told, "triangles": np.searchsorted(own, carried).astype(np.int32)}

    def _obstacle(self, number: int, settings: CollisionSettings, placed: Floats) -> dict[str, Any]:
        found, begin, end = self._obstacles, self._starts[number], self._starts[number + 1]
        count = int(end - begin)
        corners = found.triangles
        own = corners[(corners[:, 0] >= begin) & (corners[:, 0] < end)] - begin
        friction = settings.friction if np.isnan(found.friction[number]) else found.friction[number]
        return {
            "triangles": np.ascontiguousarray(own, np.int32),
            "rest": placed,
            "thickness": np.full(count, self._scale * found.thickness[number]),
            "friction": np.full(count, friction),
        }

    def touch(
        self, surfaces: Sequence[Any], ends: Any, state: bytes, active: bool, ride: Any = 0.0, inputs: Any = None
    ) -> Touch:
        """On the way between the two middle surfaces. `ends`: what samples say of the obstacles at the begin and at
        the end. `ride`: how far the place goes from which all is seen. `inputs`: the two surfaces with what is carried
        along; None: they are those in the middle."""
        placed = [self._placed(*end) for end in ends]
        ways = [(a, np.ascontiguousarray(b - ride)) for a, b in zip(*placed, strict=True)]
        own, carried = self._carried or (None, None)
        begin, end = inputs or surfaces[1:3]
        way = None if own is None else (np.ascontiguousarray(begin[own]), np.ascontiguousarray(end[own] - ride))
        told = (self._member, self._dicts, self._meets, self._settings, self._ignored, carried)
        return Touch(*told, tuple(surfaces), ways, way, state, active)

    @property
    def obstacles_at_rest(self) -> Floats | None:
        """(v, 3) world metres, NaN where that is not known; None: nowhere."""
        return self._obstacles.rest

    def obstacles_placed(self, end: Any) -> Floats:
        """(v, 3) world metres, by what a sample says; that is (None, they themselves) where no sample does."""
        matrices, deformed = end
        return np.asarray(deformed) if matrices is None else self._obstacles.placed(matrices, deformed)

    def _placed(self, matrices: Any, deformed: Any) -> list[Floats]:
        """Each obstacle (points, 3) in a sample."""
        placed: list[Floats] = []
        if self._obstacles.count:
            found = self.obstacles_placed((matrices, deformed))
            placed = [np.ascontiguousarray(self._scale * part) for part in np.split(found, self._starts[1:-1])]
        return placed if self._ground is None else [*placed, self._ground]

    def meshes(self, surface: Floats, sample: Any, sampled: Floats) -> list[tuple[Floats, Ints]]:
        """The body and what it meets in a sample, as points and triangles; its input there is `sampled`."""
        met = zip(self._placed(*sample), self._dicts, self._meets, strict=True)
        others = [(points, told["triangles"]) for points, told, meets in met if meets]
        if self._carried is not None:
            own, carried = self._carried
            others.append((np.ascontiguousarray(sampled[own], np.float64), carried["triangles"]))
        return [(np.ascontiguousarray(surface, np.float64), self._member["triangles"]), *others]

    @property
    def self_collision(self) -> bool:
        return bool(self._member["self_collision"])


def _native(settings: Any, size: float) -> dict[str, Any]:
    return {
        "gap": settings.collision_distance * size,
        "friction": settings.friction,
        "separate": _SEPARATE * size,
        **{name: getattr(settings, name) for name in ("keep_input", "strict", "soft_collider")},
    }


def _painted(value: float, weights: Floats | None, count: int) -> Floats:
    return np.full(count, value) if weights is None else np.ascontiguousarray(value * weights, np.float64)


def ignored_groups(settings: Any, weights: Mapping[str, Floats], count: int) -> tuple[Ints | None, Ints]:
    """A bit for each group that a vertex is in (t,), and the pairs (k, 2) of groups that do not collide."""
    pairs = pairs_of(settings.ignored_pairs)
    if not pairs:
        return None, np.zeros((0, 2), np.int32)
    from ..base.native import module

    names, most = list(weights), int(module.SURFACE_GROUPS)
    if len(names) > most:
        raise BadInput(f"More than {most} vertex groups are named to ignore each other: name fewer pairs.")
    bits = np.zeros(count, np.uint32)
    for number, name in enumerate(names):
        bits |= np.where(weights[name] >= _MEMBER, np.uint32(1 << number), np.uint32(0))
    ignored = sorted({tuple(sorted(names.index(name) for name in pair)) for pair in pairs})
    return bits.view(np.int32), np.array(ignored, np.int32).reshape(-1, 2)


@dataclass(frozen=True)
class Points:
    """Contacts of one sample: where, which way the body is pressed, how strongly (newtons); and where it is let go."""

    places: npt.NDArray[np.float32]  # (k, 3) world metres
    normals: npt.NDArray[np.float32]  # (k, 3)
    forces: npt.NDArray[np.float32]  # (k,)
    exempt: npt.NDArray[np.float32]  # (l, 3)

    def packed(self) -> bytes:
        parts = (self.places, self.normals, self.forces, self.exempt)
        return struct.pack("<2i", len(self.forces), len(self.exempt)) + b"".join(part.tobytes() for part in parts)


def unpacked(data: bytes) -> Points | None:
    """None where there is nothing, or what is there is damaged."""
    if len(data) < 8:
        return None
    k, rest = struct.unpack_from("<2i", data)
    if k < 0 or rest < 0 or len(data) != 8 + 4 * (7 * k + 3 * rest):
        return None
    numbers = np.frombuffer(data, "<f4", offset=8)
    places, normals, forces, exempt = np.split(numbers, [3 * k, 6 * k, 7 * k])
    return Points(places.reshape(-1, 3), normals.reshape(-1, 3), forces, exempt.reshape(-1, 3))


def points_of(touched: Touched, ride: Any = 0.0, scale: float = 1.0) -> Points:
    """Those of the body itself, of a world's report: the strongest, if there are very many. `scale`: see Body."""
    report, member = touched.report, touched.member

    def rows(name: str, width: int, kind: Any = np.float64) -> Any:
        found = np.frombuffer(report.get(name, b""), kind)
        return found.reshape(-1, width) if width > 1 else found

    sides = rows("surfaces", 2, np.int32)
    own = np.flatnonzero((sides == member).any(axis=1))
    forces = rows("forces", 1)
    own = np.sort(own[np.argsort(-forces[own], kind="stable")[:MOST_POINTS]])
    away = np.where(sides[own, :1] == member, 1.0, -1.0)
    exempt = rows("exempt_points", 3)[(rows("exempt_surfaces", 2, np.int32) == member).any(axis=1)][:MOST_POINTS]
    places, let_go = rows("points", 3)[own] / scale + ride, exempt / scale + ride
    given = (places, away * rows("normals", 3)[own], forces[own], let_go)
    return Points(*(np.ascontiguousarray(one, "<f4") for one in given))


@dataclass(frozen=True)
class CollisionNumbers(Numbers):
    """What is known of a finished sample of a body that collides; in a world, of all that it is simulated with."""

    planes: float = 0.0  # pairs that touch, or nearly so
    contact_rounds: float = 0.0  # minimisations with them, ...
    contact_stages: float = 0.0  # ... in so many parts of steps
    ccds: float = 0.0  # ways that were tested for what is in them
    partial_steps: float = 0.0  # steps that ended early because something was in the way
    exempt: float = 0.0  # pairs of regions that are let overlap
    pinched: float = 0.0  # pairs that were let go
    intersections: float = 0.0  # edges that run through triangles


def numbers_of(touched: Touched) -> dict[str, float]:
    """What a method keeps of the report of an interval, by the names of its numbers."""
    report = touched.report
    same = ("planes", "ccds", "partial_steps", "exempt", "pinched", "intersections")
    renamed = {f"contact_{name}": float(report.get(name, 0)) for name in ("rounds", "stages")}
    return {**{name: float(report.get(name, 0)) for name in same}, **renamed}
