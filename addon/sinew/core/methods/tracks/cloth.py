"""The simulation of a thin shell over arrays: states come in and go out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ...bake.contact import Body, Collided, Points, points_of
from ...bake.cuts import Cuts, go_on
from ...bake.fields import air_of, push_of
from ...bake.move import Move, Touched, World
from ...base.errors import BadInput
from ...base.native import module
from ...geometry.surface import areas_and_size
from ...geometry.triangles import sound_triangles
from ...geometry.turns import nearest_rotation
from .guide import Averages, find_regions, make_averages
from .material import native_material, shell_of
from .settings import Settings

Floats = npt.NDArray[np.float64]
Window = tuple[Any, Any, Any, Any]

_HELD = 1e-9  # of size: a mean that is farther off has let go, by Most Pull
_GRAVITY = 9.81  # m/s²
SWING = 4.0  # Hz: at which Settle is meant
_ARRIVAL = 0.25  # of the way to the first pose: its end, over which it takes on the motion of the animation


@dataclass(frozen=True)
class State:
    """World metres and m/s (t, 3), and what hinges carry (k, 1): creases, and how much stiffer they are; None: as they
    are made."""

    positions: Floats
    velocities: Floats
    inner: Floats | None = None
    contact: bytes = b""  # what presses where, as the native module has it


@dataclass(frozen=True)
class Acting:
    """What acts beside the input on the way to a sample."""

    fields: tuple[Any, Any] | None = None  # rows of core/bake/fields.py at its begin and end
    ends: tuple[Any, Any] | None = None  # what samples say of obstacles there; None: it meets nothing
    collides: bool = True
    shapes: tuple[Floats, Floats] | None = None  # (t, 3) the undeformed shape at its begin and end; None: as built
    paired: tuple[Floats, Floats, Floats, Floats] | None = None  # (groups, 3) where a guide has them, around the way


NOTHING = Acting()


@dataclass(frozen=True)
class Step:
    rounds: int
    unconverged: int
    fallbacks: int
    substeps: int
    residual: float  # metres: how far a mean that holds is from where the guide has it
    lagging: int = 0  # means that pull with all they may, ...
    lag: float = 0.0  # ... and how far they are off, metres
    touched: Touched | None = None  # where it collides


@dataclass(frozen=True)
class Plan:
    state: State  # scaled, written to by the move
    end: Floats  # (t, 3) the input at the end
    wanted: Floats  # (rows, 3) where means are to be there
    move: Move | None = None  # None: it is as animated


@dataclass(frozen=True)
class Approach:
    """The way of the input from the undeformed shape, placed where the first pose is, to that pose. Who wears the cloth
    goes the same way from an own rest pose, so that sleeves do not begin through arms."""

    rest: Floats
    pose: Floats
    step: Floats
    count: int
    place: Callable[[Floats], Floats]  # of what is at rest
    body: Body | None  # with what it meets; None: nothing

    def at(self, index: int) -> Floats:
        return self._between(self.rest, self.pose, self.step, index)

    def acting(self, outer: Acting, following: Acting) -> Callable[[int], Acting]:
        rest = None if self.body is None else self.body.obstacles_at_rest
        if self.body is None or rest is None or outer.ends is None or following.ends is None:
            return lambda index: outer
        pose = self.body.obstacles_placed(outer.ends[1])
        step = self.body.obstacles_placed(following.ends[1]) - pose
        begin = np.where(np.isnan(rest), pose, self.place(rest))

        def end(index: int) -> tuple[None, Floats]:
            return None, self._between(begin, pose, step, index)

        return lambda index: replace(outer, ends=(end(index), end(index + 1)))

    def _between(self, rest: Floats, pose: Floats, step: Floats, index: int) -> Floats:
        t = min(max(index / self.count, 0.0), 1.0)
        u = max(1.0 - (1.0 - t) / _ARRIVAL, 0.0)
        arriving = u * u * (u - 1.0) * _ARRIVAL * self.count
        way: Floats = rest + t * t * (3.0 - 2.0 * t) * (pose - rest) + arriving * step
        return way


class Cloth:
    """All positions in world metres; inside it is as large as Real Size says."""

    def __init__(
        self,
        rest: Any,
        triangles: Any,
        follow: Any,
        settings: Settings,
        frame_rate: float,
        *,
        averages: Averages,
        material: Mapping[str, Floats] | None = None,
        warp: Floats | None = None,
        gravity: tuple[float, float, float] = (0.0, 0.0, -9.81),
        monitor: Any = None,
    ) -> None:
        """`rest` (t, 3) is the undeformed shape; `frame_rate`: input frames a second. `material` (t,): weights of what
        is painted, by what it changes; `warp` (m, 3): of the given triangles."""
        self.settings, self.averages, self.rows, self._monitor = settings, averages, averages.rows, monitor
        self.rest = np.ascontiguousarray(rest, np.float64)
        every = np.ascontiguousarray(triangles, np.int32)
        kept = _sound(self.rest, every)
        self.triangles = np.ascontiguousarray(every[kept])
        self.follow = np.ascontiguousarray(follow, np.float64)
        self.areas, self.size = areas_and_size(self.rest, self.triangles)
        self.interval = 1.0 / frame_rate
        self.is_settled = True
        self._scale = settings.real_size / self.size if settings.real_size > 0.0 else 1.0
        shell = {
            "triangles": self.triangles,
            "rest": np.ascontiguousarray(self._scale * self.rest),
            **shell_of(settings, len(self.rest), material or {}),
            "warp": None if warp is None else np.ascontiguousarray(warp[kept]),
            "follow": self.follow,
        }
        rows = self.rows
        if rows.count:
            shell |= {"row_start": rows.start, "row_points": rows.points, "row_weights": rows.weights}
        omega = 2.0 * math.pi * SWING
        ratio = math.log(20.0) / (omega * settings.calm)
        native = {
            **native_material(settings),
            "drag": ratio * omega,
            "damping": ratio / omega,
            "hold": settings.hold,
            "most_pull": settings.most_pull * _GRAVITY * self._scale * self.size / 2.0,
            "gravity": tuple(settings.gravity or gravity),
            "interval": self.interval,
            "size": self._scale * self.size,
            "substeps": settings.steps,
            "tolerance": settings.precision,
            "scheme": settings.scheme,
            "newton_rounds": settings.newton_rounds,
        }
        self.body: Body | None = None  # set by whoever has read what it meets
        self._world = World()  # of this cloth alone
        self._simulation = module.Tracks(shell, native, monitor)
        self.about = self._simulation.summary()

    @property
    def inner(self) -> int:
        """How many numbers hinges carry."""
        return int(self.about["inner"])

    @property
    def loose_edge(self) -> float:
        """Metres, as it really is: how long the edges of loose cloth are, by their median; 0 where none is."""
        loose = self.triangles[(self.follow[self.triangles] < 1.0).all(axis=1)]
        sides = self.rest[loose] - self.rest[np.roll(loose, 1, axis=1)]
        return float(self._scale * np.median(np.linalg.norm(sides, axis=2))) if len(loose) else 0.0

    def begin(self, pose: Floats, following: Floats | None = None) -> State:
        """On the input and moving with it, as undeformed as it is made."""
        velocities = np.zeros_like(pose) if following is None else (following - pose) / self.interval
        return State(np.array(pose), velocities, self._inner())

    def _inner(self) -> Floats:
        inner = np.empty((self.inner, 1))
        self._simulation.begin(inner)
        return inner

    def collide(self, read: Collided, first: Any) -> None:
        """From now on it meets things; `first`: what the first sample says of obstacles."""
        k = self._scale
        self.body = Body(self.settings, k * self.rest, self.triangles, k * self.size, read, first, scale=k)

    def advance(self, state: State, window: Window, acting: Acting = NOTHING) -> tuple[State, Step]:
        plan = self.plan(state, window, acting)
        return self.finish(plan, self._world.advance([plan.move])[0])

    def plan(self, state: State, window: Window, acting: Acting = NOTHING) -> Plan:
        k = self._scale
        if not self.settings.simulate:
            return Plan(self.begin(window[2], window[3]), window[2], self.rows.means(window[2]))
        inner = self._inner() if state.inner is None else np.array(state.inner)
        inside = State(k * state.positions, k * state.velocities, inner)
        poses = [None if pose is None else np.ascontiguousarray(k * pose) for pose in window]
        targets = self._targets(window, acting)
        arguments = (*poses, inside.positions, inside.velocities, inner, *self._push(acting, state), targets)
        if acting.shapes is not None:
            self._reshape(*acting.shapes)
        touch = None
        if self.body is not None and acting.ends is not None:
            touch = self.body.touch(poses, acting.ends, state.contact, acting.collides)
        wanted = self.averages.wanted(window[2], None if acting.paired is None else acting.paired[2])
        return Plan(inside, window[2], wanted, Move(self._simulation, arguments, self._monitor, touch))

    def finish(self, plan: Plan, moved: Any) -> tuple[State, Step]:
        if plan.move is None:
            return plan.state, Step(0, 0, 0, 0, 0.0)
        touched, numbers = (moved, moved.numbers) if isinstance(moved, Touched) else (None, moved)
        k, (rounds, unconverged, fallbacks, substeps, *_) = self._scale, numbers
        positions = plan.state.positions / k
        if k != 1.0:  # what is pinned is exactly on the input
            positions = np.where((self.follow >= module.WEIGHT_EXACT)[:, None], plan.end, positions)
        pressed = b"" if touched is None else touched.state
        state = State(positions, plan.state.velocities / k, plan.state.inner, pressed)
        off = np.linalg.norm(self.rows.means(positions) - plan.wanted, axis=1)
        lags = off > (_HELD * self.size if self.settings.most_pull > 0.0 else np.inf)
        residual, lag = (float(off[some].max(initial=0.0)) for some in (~lags, lags))
        return state, Step(rounds, unconverged, fallbacks, substeps, residual, int(lags.sum()), lag, touched)

    def _reshape(self, before: Floats, after: Floats) -> None:
        """What is undeformed at the beginning and at the end of a way."""
        self._simulation.reshape(*(np.ascontiguousarray(self._scale * one, np.float64) for one in (before, after)))

    def _targets(self, window: Window, acting: Acting) -> Floats | None:
        """(4 rows, 3) where a guide has the means around a way; None where the input says it. What is beyond a cut is
        not looked at."""
        if acting.paired is None:
            return None
        shown = [window[2] if pose is None else pose for pose in window]
        means = [self.averages.wanted(pose, one) for pose, one in zip(shown, acting.paired, strict=True)]
        return np.ascontiguousarray(self._scale * np.concatenate(means))

    def points(self, touched: Touched) -> Points:
        """Where it is touched, to be looked at."""
        return points_of(touched, scale=self._scale)

    def settle(self, pose: Floats, acting: Acting = NOTHING) -> Floats:
        """(t, 3) at rest in a pose that stands still, touching nothing; `is_settled` tells whether it was found."""
        k = self._scale
        positions = np.ascontiguousarray(k * pose)
        push, _ = self._push(acting, State(pose, np.zeros_like(pose)))
        held, targets = np.array(positions), None
        if acting.paired is not None:
            targets = np.ascontiguousarray(k * self.averages.wanted(pose, acting.paired[2]))
        if acting.shapes is not None:
            self._reshape(acting.shapes[1], acting.shapes[1])
        _, found = self._simulation.settle(held, targets, self._inner(), positions, push, self._monitor)
        self.is_settled = bool(found)
        settled: Floats = positions / k
        return settled

    def approach(self, pose: Floats, following: Floats, count: int) -> Approach:
        middle, centre = self.rest.mean(axis=0), pose.mean(axis=0)
        turn = nearest_rotation((pose - centre).T @ (self.rest - middle))

        def place(points: Floats) -> Floats:
            placed: Floats = (points - middle) @ turn.T + centre
            return placed

        return Approach(place(self.rest), pose, following - pose, count, place, self.body)

    def _push(self, acting: Acting, state: State) -> tuple[Floats | None, Floats | None]:
        """Acceleration and wind (t, 3) of force fields, as large as they are inside."""
        if acting.fields is None:
            return None, None
        rows, rows_next = acting.fields
        blows = self.settings.air > 0.0
        push = push_of(rows, rows_next, state.positions, state.velocities, self.interval, air=not blows)
        wind = air_of(rows, rows_next, state.positions, state.velocities, self.interval) if blows else None
        scale = self._scale * self.settings.wind
        return np.ascontiguousarray(scale * push), None if wind is None else np.ascontiguousarray(scale * wind)


def _sound(rest: Floats, triangles: npt.NDArray[np.int32]) -> npt.NDArray[np.intp]:
    """Which triangles cloth is made of."""
    if not len(triangles):
        raise BadInput("The mesh has no faces: cloth needs a surface.")
    return sound_triangles(rest, triangles)


def drape(
    rest: Any,
    triangles: Any,
    frames: Iterable[Any],
    follow: Any = None,
    frame_rate: float = 24.0,
    **settings: Any,
) -> Iterator[Floats]:
    """Cloth over a mesh animation: yields its vertices (t, 3) on each input frame. `follow` (t,) is 1 where it is
    pinned; None pins nothing. Patches are cut by the frames that are given, which are read whole:
    drape(rest, triangles, frames, pinned, regions=24, bend=1e-5)."""
    chosen = Settings().replace(settings)
    poses = [np.asarray(frame, np.float64) for frame in frames]
    rest, sides = np.asarray(rest, np.float64), np.ascontiguousarray(triangles, np.int32)
    follow = np.zeros(len(rest)) if follow is None else follow
    some = poses[:: max(1, len(poses) // 12)]
    regions = find_regions(some, sides, chosen.regions, chosen.flat) if chosen.regions else None
    averages = make_averages(rest, sides, regions, turns=chosen.region_turns)
    cloth = Cloth(rest, sides, follow, chosen, frame_rate, averages=averages)

    def pose(i: int) -> Floats | None:
        return poses[i] if 0 <= i < len(poses) else None

    cuts = Cuts(pose, cloth.areas, cloth.size)
    state: State | None = None
    for index, frame in enumerate(poses):
        if index <= cuts.first:
            state = cloth.begin(frame, pose(index + 1) if index == cuts.first else None)
        else:
            state, _ = go_on(cloth, state, index, pose, cuts, NOTHING)
        yield frame + chosen.amount * (state.positions - frame)
