"""ENRICH over numpy arrays: fit a cage to every frame, simulate it under the painted weights, bring the detail back.

An Enricher holds nothing that changes: fitted cages and states come in and go out, so a bake can stop after any frame
and go on from its files with the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bake.contact import Body
from ..bake.fields import push_of
from ..bake.move import Move, Touch, Touched, World
from ..bake.shot import Passenger
from ..base.errors import BadInput
from ..base.native import module
from ..cage.approach import Approach
from ..cage.cage import Cage
from ..cage.safe import make_cage, measure_filling
from ..geometry.crossings import find_crossings
from ..geometry.surface import areas_and_size
from ..paint.averages import average_regions
from ..paint.follow import automatic_follow
from ..paint.parts import AS_INPUT, Parts
from ..paint.regions import GROUPS, Regions, cage_follow
from ..paint.weights import cage_weights, spread_over_cage
from .carry import Carrier
from .outer import NOTHING, Outer
from .settings import Settings
from .show import Shown

Floats = npt.NDArray[np.float64]
Window = tuple[Floats | None, Floats, Floats, Floats | None]

# In artist's units gravity acts as on a body of this size, metres, so that a tiny character and a huge one sag alike;
# real materials feel it as it is. Force fields are made for their scene and stay as they are.
_REFERENCE_SIZE = 2.0
_FIELD_ROUNDS = 4  # of settling under force fields, which change with the place


@dataclass(frozen=True)
class Fit:
    """A cage fitted to one frame: positions (n, 3); rms and max distance from the surface in metres."""

    positions: Floats
    rms: float
    max: float
    rounds: int
    inverted: int


@dataclass(frozen=True)
class State:
    """Positions (n, 3) in metres and velocities (n, 3) in m/s of the simulated cage, these without what of the body's
    travel is not felt."""

    positions: Floats
    velocities: Floats
    contact: bytes = b""  # what presses where, as the native module has it


@dataclass(frozen=True)
class Step:
    """What happened between two frames."""

    rounds: int = 0
    substeps: int = 0
    inverted: int = 0  # simulated tets turned inside out
    fallbacks: int = 0  # steps retaken by implicit Euler
    unconverged: int = 0
    repaired: int = 0  # tets that came out inside out and were drawn back to their sound fitted shape
    touched: Touched | None = None  # of a body that collides


@dataclass(frozen=True)
class Plan:
    """The way from one frame to the next: a move of the simulation, or none."""

    state: State  # at its end: at once, or when the move has been taken
    end: Floats  # (n, 3) the input there ...
    target: Floats | None = None  # ... as the simulation sees it, ...
    ride: Any = 0.0  # ... from a place that went so far
    move: Move | None = None
    light: Floats | None = None  # (n, 3) velocity there of what has no inertia, which the simulation does not know of


class Enricher:
    """Fits, simulates and details one body.

    rest (t, 3) metres and triangles (m, 3) are the undeformed surface, follow (t,) its weights: 1 follows the input
    exactly, 0 is free; None takes automatic ones. frame_rate is the number of input frames a second.
    """

    def __init__(
        self,
        rest: Any,
        triangles: Any,
        follow: Any = None,
        settings: Settings | None = None,
        frame_rate: float = 24.0,
        *,
        gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
        cage: Cage | None = None,
        safe: Any = None,
        parts: Parts | None = None,
        regions: Regions | None = None,
        after: Any = None,
        inside: Any = None,
        hollow: bool = False,
        one_material: bool = False,
        unfold: bool = False,
        monitor: Any = None,
    ) -> None:
        """`parts` says which vertices carry input and which are rigid; None: all carry input, and none is rigid.
        `regions` says where flesh is firmer, calmer, heavier or limper; None: nowhere.
        `after` (t,) is where the setting `follow_after` acts; None: everywhere.
        `safe` (t, 3) is the body in a pose in which its near parts are apart, to build the cage in; None: at rest.
        `inside` (n,) says what follows of the cage's own vertices, NaN where the surface decides; None: the regions.
        `one_material`: Jiggle is that of what gives way most; without it, of every part.
        `hollow`: the cage is a layer under the surface, so that nothing tells how much of it the body fills.
        `unfold`: fitted tets that come out inside out are turned right."""
        self.settings = settings or Settings()
        self._one_material = one_material
        if not (np.isfinite(frame_rate) and frame_rate > 0.0):
            raise BadInput(f"The frame rate is {frame_rate}: give a number of frames a second.")
        if follow is not None and not (np.min(follow, initial=1.0) >= 0.0 and np.max(follow, initial=0.0) <= 1.0):
            raise BadInput("Follow weights must lie between 0 (free) and 1 (follows exactly).")
        rest = np.ascontiguousarray(rest, np.float64)
        triangles = np.ascontiguousarray(triangles, np.int32).reshape(-1, 3)
        areas, self.size = areas_and_size(rest, triangles, monitor)
        self.follow: Floats = np.ascontiguousarray(
            automatic_follow(rest, triangles, monitor=monitor) if follow is None else follow, np.float64
        )
        self.interval = 1.0 / frame_rate
        needs = None if self.settings.follow_animated else self.follow
        self.cage = cage or make_cage(rest, triangles, self.settings, safe, monitor, follow=needs)
        if len(self.cage.binding) != len(rest):
            raise BadInput("The cage carries another number of vertices than the mesh has: build the cage again.")
        if parts is not None and not parts.tracked.any():
            raise BadInput("No vertex carries input: paint some into the group of tracked vertices.")
        regions = regions or Regions()
        self.cage_follow = cage_follow(self.cage, regions) if inside is None else inside
        self.shown = Shown(
            self.cage, rest, triangles, self.follow, self.settings,
            after=after, parts=parts, cage_follow=self.cage_follow,
        )  # fmt: skip
        self._completion = self.shown.completion
        self.seen: Floats = areas if parts is None else np.where(parts.tracked, areas, 0.0)  # (t,) areas with input
        shape = {"smoothing": self.settings.smoothing, "size": self.size, "unfold": unfold}
        self._fit = module.Fit(self.cage.native, self.seen, shape)
        self._monitor = monitor
        self._world = World()  # of this body alone
        # Set by whoever has read what it meets. Surfaces of a body that collides have those of its `worn` after it.
        self.body: Body | None = None
        self.worn: Sequence[Carrier] = ()
        self._simulation: Any = None
        self.is_settled = True
        if not self.settings.simulate:
            return
        paint = self._painted(regions, parts)
        if not hollow:
            paint["fill"], paint["thickness"] = measure_filling(self.cage, rest, triangles, safe, monitor)
        carried = areas if parts is None else np.where(parts.rigid == AS_INPUT, 0.0, areas)
        self._simulation = module.Enrich(self.cage.native, carried, self._native_settings(gravity), paint, monitor)

    def _native_settings(self, gravity: tuple[float, float, float]) -> dict[str, Any]:
        """The settings that the native simulation takes, in its units."""
        settings = self.settings
        weight = 1.0 if settings.young > 0.0 or settings.free_body else self.size / _REFERENCE_SIZE
        values = {name: getattr(settings, name) for name in module.Enrich.options if hasattr(settings, name)}
        return values | {
            "transition": settings.transition * self.size,
            "gravity": tuple(weight * g for g in settings.gravity or gravity),
            "interval": self.interval,
            "size": self.size,
            "animated": settings.follow_animated and not settings.free_body,
            "one_material": self._one_material,
            "keep_pose": 0.0 if settings.free_body else settings.keep_pose,  # it would hang in the air
        }

    def _painted(self, regions: Regions, parts: Parts | None) -> dict[str, Any]:
        """What the native simulation is told of the painted regions."""
        bone = parts.rigid >= 0 if parts is not None else np.zeros(0, bool)
        return {
            "follow": self.follow,
            "cage_follow": self.cage_follow,
            "averages": self._averages(regions.average) if self.settings.average_regions > 0 else None,
            "bone": bone.astype(np.float64) if bone.any() else None,
            **{name: getattr(regions, name) for name in GROUPS},
        }

    def _averages(self, painted: Floats | None) -> Any:
        """The region of each cage vertex whose average motion is that of the input."""
        cage, areas = self.cage, self.shown.areas
        wanted = cage_weights(cage, areas, self.follow, self.cage_follow, self._monitor) < 1.0
        if painted is not None:
            wanted &= spread_over_cage(cage, areas, painted, self._monitor) >= 0.5
        return average_regions(cage.vertices, cage.tets, wanted, self.settings.average_regions)

    def fit(self, surface: Any, guess: Any = None, before: Any = None, *, aside: bool = False) -> Fit:
        """The cage that carries `surface` (t, 3) best; `guess`: the fit of the frame before, None for the first.

        With `before`, the fit of the frame before that, the search starts where the motion goes on. `aside`: in a
        thread beside other work of this Enricher, unwatched, for a monitor serves one; never two fits at a time."""
        positions = np.zeros_like(self.cage.vertices) if guess is None else np.array(guess, np.float64, order="C")
        seen, monitor = self._seen(surface), None if aside else self._monitor
        return Fit(positions, *self._fit.frame(seen, guess is not None, positions, before, monitor))

    def _seen(self, surface: Any) -> Floats:
        """What of a frame the cage is fitted to."""
        seen = self._completion.input(surface) if self._completion is not None else surface
        return np.ascontiguousarray(seen, np.float64)

    def _touching(self, surface: Floats) -> Floats:
        """The same with what it wears."""
        own = len(self.follow)
        return np.concatenate([self._seen(surface[:own]), surface[own:]]) if self.worn else self._seen(surface)

    def begin(self, fitted: Floats, fitted_next: Floats | None = None) -> State:
        """The state at the first frame: on the input and moving with it."""
        velocities = np.zeros_like(fitted) if fitted_next is None else (fitted_next - fitted) / self.interval
        if self.settings.free_body:
            return State(np.array(fitted), velocities + self._thrown(fitted))
        if self._rides:
            velocities -= self._ride(velocities)
        return State(np.array(fitted), velocities)

    def _thrown(self, positions: Floats) -> Floats:
        """The velocities (n, 3) of a free body that is thrown from a place."""
        centre = positions[self.cage.tets].mean(axis=(0, 1))
        turning = np.cross(2.0 * np.pi * np.array(self.settings.initial_spin), positions - centre)
        thrown: Floats = turning + self.settings.initial_velocity
        return thrown

    def advance(self, state: State, window: Window, outer: Outer = NOTHING) -> tuple[State, Step]:
        """From frame i to i + 1, with window = (fitted[i-1] or None, fitted[i], fitted[i+1], fitted[i+2] or None): None
        at the ends, and what lies across a cut (core/bake/cuts.py)."""
        plan = self.plan(state, window, outer)
        return self.finish(plan, self._world.advance([plan.move])[0])

    def plan(self, state: State, window: Window, outer: Outer = NOTHING) -> Plan:
        """What is to be done on that way."""
        before, begin, end, after = window
        if self._simulation is None:  # only fitted
            return Plan(self.begin(end, after), end)
        positions, velocities = np.array(state.positions), np.array(state.velocities)
        target, ride = end, np.zeros(3)
        rides = [np.zeros(3)] * 4
        if self._rides:  # all is seen from a place that rides along
            rides = [np.zeros(3) if frame is None else self._ride(frame - begin) for frame in window]
            ride = rides[2]
            target = end - ride
            before = None if before is None else before - rides[0]
            after = None if after is None else after - rides[3]
        if outer.follow is not None:
            self._simulation.follow(*(np.ascontiguousarray(weights, np.float64) for weights in outer.follow))
        push = self._push(outer, positions, velocities + ride / self.interval)
        light = None if outer.light is None else outer.light(window)
        arguments: tuple[Any, ...] = (before, begin, target, after, positions, velocities, push)
        leaving = None
        if light is not None:
            entering, leaving = _slopes(light, window, self.interval)
            velocities -= entering
            light = np.ascontiguousarray(light.reshape(-1, 3))
        if light is not None or outer.firmness is not None:
            arguments = (*arguments, None, light, outer.firmness)
        touch = self._touch(state, window, outer, rides)
        move = Move(self._simulation, arguments, self._monitor, touch)
        return Plan(State(positions, velocities), end, target, ride, move, leaving)

    def _touch(self, state: State, window: Window, outer: Outer, rides: list[Any]) -> Touch | None:
        """What a body that collides meets on the way; its surface is seen from where its cage is."""
        met = outer.met
        if self.body is None or met is None:
            return None
        seen = zip(window, met.surfaces, rides, strict=True)
        surfaces = [
            None if pose is None or surface is None else np.ascontiguousarray(self._touching(surface) - ride)
            for pose, surface, ride in seen
        ]
        inputs = np.asarray(met.surfaces[1], np.float64), np.asarray(met.surfaces[2], np.float64)
        return self.body.touch(surfaces, met.ends, state.contact, met.active, rides[2], inputs)

    def finish(self, plan: Plan, numbers: Any) -> tuple[State, Step]:
        """What came of a plan, given the numbers of its move."""
        if plan.move is None:
            return plan.state, Step()
        touched, numbers = (numbers, numbers.numbers) if isinstance(numbers, Touched) else (None, numbers)
        positions = plan.state.positions
        if self._rides:  # what follows stays exactly on the input
            positions = np.where(positions == plan.target, plan.end, positions + plan.ride)
        rounds, unconverged, fallbacks, substeps, inverted, repaired = numbers
        step = Step(
            rounds=rounds,
            substeps=substeps,
            inverted=inverted,
            fallbacks=fallbacks,
            unconverged=unconverged,
            repaired=repaired,
            touched=touched,
        )
        velocities = plan.state.velocities if plan.light is None else plan.state.velocities + plan.light
        return State(positions, velocities, b"" if touched is None else touched.state), step

    def settle(self, pose: Floats, outer: Outer = NOTHING) -> Floats:
        """The cage (n, 3) at rest in a pose (n, 3) that stands still; `is_settled` tells whether it was found."""
        positions, still = np.array(pose), np.zeros_like(pose)
        self.is_settled = True
        if self._simulation is None:
            return positions
        if outer.follow is not None:
            self._simulation.follow(*(np.ascontiguousarray(weights, np.float64) for weights in outer.follow))
        pose = np.ascontiguousarray(pose)
        firmness = None if outer.firmness is None else outer.firmness[1]
        for _ in range(1 if outer.fields is None else _FIELD_ROUNDS):
            push = self._push(outer, positions, still)
            _, found = self._simulation.settle(pose, positions, push, self._monitor, firmness)
            self.is_settled = bool(found)
        return positions

    def carried(self, before: Floats, simulated: Floats, pose: Floats) -> Floats:
        """Where flesh that is `simulated` (n, 3) about the fitted cage `before` (n, 3) is about another one, `pose`
        (n, 3): its forces leave as much there, so that it is accelerated alike."""
        positions = pose + (simulated - before)
        start = positions.copy()
        if self._simulation is None:
            return positions
        arrays = (np.ascontiguousarray(array) for array in (before, simulated, pose))
        _, found = self._simulation.carry(*arrays, positions, self._monitor)
        return positions if found else start

    def runs_through(self, fitted: Floats, positions: Floats, sampled: Any, obstacles: Any) -> bool:
        """Whether a cage has the surface run through something that the input, `sampled` (t, 3), with what it wears
        after it, does not run through, with obstacles as a sample says of them; or has led a point of it through
        something: a sheet that is wholly behind what it was before runs through nothing any more."""
        body = self.body
        if body is None:
            return False

        def found(surface: Floats) -> set[tuple[int, ...]]:
            meshes = body.meshes(surface, obstacles, sampled)
            edges, triangles = find_crossings(meshes, body.self_collision, self._monitor)
            return set(map(tuple, np.hstack([edges, triangles]).tolist()))

        sizes = [len(self.follow), *(len(one.cage.binding) for one in self.worn)]
        own, *parts = np.split(sampled, np.cumsum(sizes)[:-1])
        how = self.settings.interpolation
        worn = [one.surface(fitted, positions, part, how) for one, part in zip(self.worn, parts, strict=True)]
        drawn = np.concatenate([self.shown.drawn(fitted, positions, own), *worn])
        before = self._touching(sampled)
        if not found(drawn) <= found(before):
            return True
        each = np.arange(len(drawn), dtype=np.int32)
        ways = np.stack([each, each + len(each), each + 2 * len(each)], axis=1)  # as edges: triangles with no area
        met = body.meshes(drawn, obstacles, sampled)[1:]
        edges, _ = find_crossings([(np.concatenate([before, drawn, drawn]), ways), *met], False, self._monitor)
        return bool((edges[:, 0] == 0).any())

    def approach(self, pose: Floats, following: Floats, count: int) -> Approach:
        """The way of the cage from rest to the first pose (n, 3), over so many samples."""
        return Approach(self.cage, pose, following, count)

    def _push(self, outer: Outer, positions: Floats, velocities: Floats) -> Floats | None:
        """The acceleration (n, 3) of force fields."""
        if outer.fields is None:
            return None
        rows, rows_next = outer.fields
        return self.settings.fields * push_of(rows, rows_next, positions, velocities, self.interval)

    @property
    def _rides(self) -> bool:
        return self.settings.travel != 1.0 and not self.settings.free_body

    def _ride(self, ways: Floats) -> Floats:
        """What of ways (n, 3) of the body flesh does not feel, because it is carried along."""
        ridden: Floats = (1.0 - self.settings.travel) * ways.mean(axis=0)
        return ridden

    def surface(self, fitted: Floats, simulated: Floats, sampled: Any, amount: float = 1.0) -> Floats:
        """The surface (t, 3) of a simulated cage, with the detail of the input frame `sampled` (t, 3)."""
        return self.shown.surface(fitted, simulated, sampled, amount)

    def carrier(self, passenger: Passenger, fitted: Floats) -> Carrier:
        """What carries a passenger, given the fitted cage of the first sample."""
        return self.shown.carrier(passenger, fitted)

    def moved(self, fitted: Floats, simulated: Floats, amount: float = 1.0) -> Floats:
        """The cage that is shown: between the fitted and the simulated one, within the maximum offset."""
        return self.shown.moved(fitted, simulated, amount)

    def cage_weights(self) -> Floats:
        """The follow weight of every cage vertex; 1 follows exactly."""
        weights = np.ones(len(self.cage.vertices))
        if self._simulation is None:
            return weights
        self._simulation.cage_weights(weights)
        return weights

    def summary(self) -> dict[str, Any]:
        """Numbers about cage and material for a report."""
        return {
            "tets": len(self.cage.tets),
            "cage_vertices": len(self.cage.vertices),
            "min_dihedral": self.cage.min_dihedral,
            **(self._simulation.summary() if self._simulation is not None else {}),
        }


def _slopes(light: Floats, window: Window, interval: float) -> tuple[Floats, Floats]:
    """The velocities (n, 3) at both ends of the interval of a curve through four poses, as native/dynamics has it."""
    before, begin, end, after = light
    step = end - begin
    first = step if window[0] is None else 0.5 * (end - before)
    last = step if window[3] is None else 0.5 * (after - begin)
    return first / interval, last / interval
