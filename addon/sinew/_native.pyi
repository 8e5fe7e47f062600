"""The C module (native/python). Arrays are C-contiguous float64 or int32 of the shape that is asked for; those that a
call writes to are the caller's. n: cage vertices, e: tets, t: surface vertices, m: triangles."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int32]

__version__: str

SOUND_VOLUME: float  # of that at rest: a fitted tet below it is as good as inside out
STEP_ANGLE: float  # radians of the jiggle's phase in one automatic substep
SURFACE_GROUPS: float  # vertex groups that may be named to ignore each other
TERMS_MOST: float  # kinds of energy in one world, of all its bodies
WEIGHT_EXACT: float  # a follow weight from here on is 1

def use_errors(
    bad_input: type[Exception],
    out_of_memory: type[Exception],
    cancelled: type[Exception],
    numeric_failure: type[Exception],
) -> None: ...
def info() -> dict[str, Any]: ...
def set_threads(count: int) -> None: ...
def vertex_areas(
    positions: Floats, triangles: Ints, areas: Floats, monitor: Monitor | None = None, /
) -> float: ...
def surface_distance(
    positions: Floats,
    triangles: Ints,
    points: Floats,
    distances: Floats,
    nearest: Ints,
    monitor: Monitor | None = None,
    /,
) -> None: ...
def apply_detail(
    cage: Cage, fitted: Floats, simulated: Floats, input: Floats | None, interpolation: str, result: Floats
) -> None: ...
def cage_weights(
    cage: Cage,
    areas: Floats,
    follow: Floats,
    cage_follow: Floats | None,
    result: Floats,
    monitor: Monitor | None = None,
    /,
) -> None: ...
def spread_weights(
    cage: Cage, areas: Floats, weights: Floats, inside: Floats, monitor: Monitor | None = None, /
) -> None: ...

def mend_tets(
    positions: Floats, tets: Ints, leashes: Floats, goal: float, rounds: int, monitor: Monitor | None = None
) -> None: ...

def regions_of(
    poses: Floats,
    vertices: int,
    triangles: Ints,
    count: int,
    compact: float,
    rounds: int,
    regions: Ints,
    monitor: Monitor | None = None,
    /,
) -> int:
    """Cuts a surface into connected patches that are compact (1) or flat (0) in all poses (poses x vertices, 3): the
    region of each triangle, and how many there are."""

def crossings(meshes: list[tuple[Floats, Ints]], own: bool = True, monitor: Monitor | None = None, /) -> bytes:
    """Edges of (points, triangles) that run through triangles, of other meshes and (`own`) of the same. int32, k x 5,
    ascending: the edge's mesh and its two points, the triangle's mesh and its number there."""

def pair_distances(points: Floats, edges: bool, distances: Floats, /) -> None:
    """Of k pairs, points (k, 12): a point and the corners of a triangle, or (`edges`) the ends of two edges."""

def pair_times(begin: Floats, end: Floats, edges: bool, gap: float, times: Floats, /) -> None:
    """While such pairs go straight from `begin` (time 0) to `end` (1): up to when each is proved to stay farther apart
    than a tenth of the gap, or 0.9 of its distance at the begin where that is less; 2: on the whole way."""

class Monitor:
    """Watches and cancels native work from another thread."""

    def cancel(self) -> None: ...
    def check(self) -> None: ...
    def progress(self) -> tuple[str, int, int]: ...

class Cage:
    """Tets around a surface, and the interpolation that carries it. Immutable."""

    def __new__(
        cls, rest: Floats, triangles: Ints, resolution: int, separate_parts: bool, monitor: Monitor | None = None
    ) -> Cage: ...
    @classmethod
    def restore(cls, vertices: Floats, tets: Ints, binding: Ints, weights: Floats) -> Cage: ...
    def read(self, vertices: Floats, tets: Ints, binding: Ints, weights: Floats) -> None: ...
    def interpolate(self, cage_values: Floats, surface: Floats) -> None: ...
    def bind(self, cage_positions: Floats, points: Floats, binding: Ints, weights: Floats) -> None: ...
    def counts(self) -> tuple[int, int, int]: ...
    def fill(
        self, rest: Floats, triangles: Ints, fill: Floats, thickness: Floats, monitor: Monitor | None = None
    ) -> None: ...
    def min_dihedral(self) -> float: ...

class Fit:
    """Fits a cage to surface frames."""

    def __new__(cls, cage: Cage, areas: Floats, settings: dict[str, Any]) -> Fit: ...
    def frame(
        self,
        surface: Floats,
        has_guess: bool,
        positions: Floats,
        before: Floats | None = None,
        monitor: Monitor | None = None,
        /,
    ) -> tuple[float, float, int, int]: ...

class Simulation:
    """What can be advanced, alone or in an ensemble."""

    def advance(self, *move: Any) -> tuple[int, int, int, int, int, int]: ...

class Ensemble:
    """Several simulations as bodies of one world."""

    substeps: int  # of an interval
    def __new__(cls, simulations: list[Any], contact: Contact | None = None) -> Ensemble: ...
    def advance(
        self, moves: list[tuple[Any, ...]], monitor: Monitor | None = None, /
    ) -> list[tuple[int, int, int, int, int, int]]: ...

class Contact:
    """What the simulations of one ensemble meet: each other's surfaces, their own, and obstacles. One that collides
    alone is an ensemble of one, with a contact of one member. Before each `Ensemble.advance` comes `lead`;
    afterwards `state` is what a checkpoint keeps beside positions and velocities (the same bits go on from it),
    and `report` tells what happened.

    members, one for each simulation, in their order (None: it does not collide), and obstacles are dicts:
        rest        Floats (t, 3): the surface at rest; within a surface no gap is wanted that is more than half of its
                    own distances there. Of an obstacle where it is first
        triangles   Ints (m, 3), of the surface's own points: for a member those of its cage's embedding
        thickness   Floats (t,) or None: metres around each point; None is 0
        friction    Floats (t,) or None: the coefficient at each point, of a pair the root of the product; None is
                    settings["friction"]
        groups      Ints (t,) or None: a bit for each group that a point is in; see `ignored`
        Members only:
        cage        Cage whose embedding carries the surface, in place of the simulation's own: the same tets
        interpolation   "phong" or "linear": how the exported surface hangs on its cage
        self_collision, body_collision   bool: with its own surface, with those of other members; both at first
        Obstacles only:
        members     Ints (k,) or None: who meets it; None is all
    The ground is an obstacle: a large box.

    settings (names in `options`), lengths in metres:
        gap 0.001          distance that is kept beside the thicknesses
        friction 0.4       where a surface says nothing
        separate 1.0       m/s: what overlaps is driven apart no faster
        keep_input         bool: no pair is held farther apart than the input has it
        strict             bool: no pinch is let go, the kinematic side gives way instead; implies soft_collider
        soft_collider      bool: kinematic points give way where flesh is pinched between them
    ignored: Ints (k, 2): pairs of groups, by the numbers of their bits (32 at most), that do not collide."""

    options: tuple[str, ...]
    def __new__(
        cls,
        members: list[dict[str, Any] | None],
        obstacles: list[dict[str, Any]],
        settings: dict[str, Any],
        ignored: Ints | None = None,
    ) -> Contact: ...
    def lead(
        self,
        surfaces: list[tuple[Floats | None, Floats, Floats, Floats | None] | None],
        obstacles: list[tuple[Floats, Floats]],
        state: bytes | None = None,
        active: list[bool] | None = None,
    ) -> None:
        """The next interval: of each member the input's surface (before, begin, end, after), the first and last
        None at a start or a cut, as its cage's move has them; of each obstacle its points at the begin and the
        end, straight in between. `state`: that of the last interval; None at a start and after a cut: overlaps are
        looked for anew. `active`: whether each member meets something in this interval; None: all do. The arrays
        are kept until the ensemble has advanced."""
    def state(self) -> bytes:
        """After an interval: what the next one needs. A start without it forgets multipliers and what is exempt."""
    def report(self) -> dict[str, Any]:
        """Of the last interval. Numbers: planes (at its end), ccds, rounds (outer ones, each ends with a ccd) in so
        many stages, partial_steps, exempt (pairs of regions that are let overlap), pinched, intersections (edges
        through triangles at its end, exempt ones included). Arrays as bytes, at its end, for np.frombuffer:
        points, normals, forces (float64, k x 3, k x 3, k: of the planes that press; a normal points from the
        second surface to the first), surfaces (int32, k x 2: member index, or count of members + obstacle index),
        exempt_points (float64, k x 3), exempt_surfaces (int32, k x 2: the surface of each, twice)."""

class Enrich(Simulation):
    """The constrained simulation of a fitted cage."""

    options: tuple[str, ...]  # names of the settings that it takes
    def __new__(
        cls,
        cage: Cage,
        areas: Floats,
        settings: dict[str, Any],
        paint: dict[str, Floats | Ints | None],
        monitor: Monitor | None = None,
    ) -> Enrich: ...
    def advance(  # type: ignore[override]
        self,
        before: Floats | None,
        begin: Floats,
        end: Floats,
        after: Floats | None,
        positions: Floats,
        velocities: Floats,
        acceleration: Floats | None = None,
        inner: Floats | Monitor | None = None,
        light: Floats | Monitor | None = None,
        firmness: Floats | Monitor | None = None,
        monitor: Monitor | None = None,
        /,
    ) -> tuple[int, int, int, int, int, int]:
        """`light` (4 n, 3): how far expressions alone have moved the cage at before, begin, end and after, from any
        place; velocities are those of the rest of its motion. `firmness` (2, tets): factors of the stiffness of the
        cage's tets at begin, which are those of the end before, and at end; linear between, within 0.1 and 20."""
    def settle(
        self,
        pose: Floats,
        positions: Floats,
        acceleration: Floats | None = None,
        monitor: Monitor | None = None,
        firmness: Floats | None = None,
        /,
    ) -> tuple[int, int]: ...
    def carry(
        self, before: Floats, start: Floats, pose: Floats, positions: Floats, monitor: Monitor | None = None, /
    ) -> tuple[int, int]: ...
    def follow(self, begin: Floats, end: Floats) -> None: ...
    @staticmethod
    def material(
        cage: Cage,
        areas: Floats,
        settings: dict[str, Any],
        paint: dict[str, Floats | Ints | None],
        young: Floats,
        mass: Floats,
        drive: Floats,
        fixed: Ints,
        monitor: Monitor | None = None,
        /,
    ) -> float: ...
    def cage_weights(self, out: Floats) -> None: ...
    def summary(self) -> dict[str, Any]: ...

class Tracks(Simulation):
    """A thin shell that follows a guide on average. `shell`: triangles, rest, stretch, bend, weight, yield, follow,
    row_start, row_points, row_weights; calm and warp."""

    options: tuple[str, ...]  # names of the settings that it takes
    def __new__(
        cls, shell: dict[str, Floats | Ints | None], settings: dict[str, Any], monitor: Monitor | None = None
    ) -> Tracks: ...
    def advance(
        self,
        before: Floats | None,
        begin: Floats,
        end: Floats,
        after: Floats | None,
        positions: Floats,
        velocities: Floats,
        inner: Floats,
        acceleration: Floats | None = None,
        wind: Floats | None = None,
        targets: Floats | None = None,
        monitor: Monitor | None = None,
        /,
    ) -> tuple[int, int, int, int, int, int]: ...
    def begin(self, inner: Floats, /) -> None: ...
    def reshape(self, begin: Floats | None, end: Floats | None, /) -> None: ...
    def settle(
        self,
        pose: Floats,
        targets: Floats | None,
        inner: Floats,
        positions: Floats,
        acceleration: Floats | None = None,
        monitor: Monitor | None = None,
        /,
    ) -> tuple[int, int]: ...
    def summary(self) -> dict[str, Any]: ...

class Rebalance:
    """Draws a finished simulation back to its input."""

    def __new__(
        cls,
        cage: Cage,
        areas: Floats,
        follow: Floats,
        cage_follow: Floats | None = None,
        monitor: Monitor | None = None,
    ) -> Rebalance: ...
    def set_weights(self, areas: Floats, weights: Floats, monitor: Monitor | None = None, /) -> None: ...
    def frame(
        self, fitted: Floats, simulated: Floats, strength: float, result: Floats, monitor: Monitor | None = None, /
    ) -> None: ...

class Edit:
    """A finished motion, pulled by h handles."""

    options: tuple[str, ...]  # names of the settings that `solve` takes
    def __new__(
        cls,
        cage: Cage,
        settings: dict[str, Any],
        body: dict[str, Floats | Ints | None],
        monitor: Monitor | None = None,
    ) -> Edit: ...
    @classmethod
    def shell(
        cls,
        vertices: Floats,
        triangles: Ints,
        settings: dict[str, Any],
        body: dict[str, Floats | Ints | None],
        monitor: Monitor | None = None,
        /,
    ) -> Edit: ...
    def solve(
        self,
        settings: dict[str, Any],
        times: Floats,
        shown: Floats,  # (h, 3 n)
        patches: Floats,  # (h, n)
        points: Floats,  # (h, n)
        targets: Floats,
        directions: Floats,
        bounds: Ints,
        give: Floats,
        missed: Floats,
        monitor: Monitor | None = None,
        /,
    ) -> tuple[int, float, int]: ...
    def frame(self, time: float, shown: Floats, result: Floats, /) -> None: ...
    def field(self, time: float, result: Floats, /) -> None: ...
    def frequencies(self, squared: Floats, /) -> int: ...
    @staticmethod
    def kernel(omega: float, ratio: float, distances: Floats, values: Floats, /) -> None: ...
    @staticmethod
    def green(settings: dict[str, Any], squared: float, times: Floats, values: Floats, /) -> None: ...

class World:
    """The bare engine: tets of one material, some vertices fixed."""

    def __new__(
        cls,
        vertices: Floats,
        tets: Ints,
        fixed: Ints,
        young: float,
        poisson: float,
        density: float,
        energy: str,
        gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
        damping_mass: float = 0.0,
        damping_stiffness: float = 0.0,
    ) -> World: ...
    def evaluate(self, positions: Floats, gradients: Floats, stiffness: Floats) -> float: ...
    def settle(
        self, positions: Floats, tolerance: float, max_rounds: int, monitor: Monitor | None = None
    ) -> tuple[int, int]: ...
    def frequencies(self, out: Floats, monitor: Monitor | None = None) -> None: ...
    def step(
        self,
        positions: Floats,
        velocities: Floats,
        interval: float,
        count: int,
        scheme: str,
        newton_rounds: int,
        tolerance: float,
        monitor: Monitor | None = None,
        /,
    ) -> tuple[int, int]: ...
    def masses(self, out: Floats) -> None: ...
