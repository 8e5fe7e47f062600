"""The way of a simulation through the samples of a bake: how it begins, where it is cut and begins anew, and a loop
that closes. The same for every method that simulates one sample after the other along its input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .beginning import Beginning, Cycle, close_cycle, find_cycle, lead, settle
from .cuts import Cuts, Simulated, window_of
from .move import Move
from .results import world
from .shot import Shot
from .store import Store

Floats = npt.NDArray[np.float64]


class Planned(Simulated, Protocol):
    """A simulation whose step may be taken beside those of others: planned, moved, finished."""

    is_settled: bool  # whether the last `settle` found its rest

    def plan(self, state: Any, window: Any, outer: Any) -> Any:
        """What is to be done on the way between the two middle poses of a window: it has a `move`."""

    def finish(self, plan: Any, moved: Any) -> tuple[Any, Any]:
        """The state that came of a plan, and what happened on the way."""

    def approach(self, pose: Any, following: Any, count: int) -> Any:
        """The way from the rest shape to the first pose over so many samples: `at(i)`, `count`, and `acting(outer,
        following)`: what acts from each of them on, from what does on the first pose and on the next."""


Around = tuple[int | None, int, int, int | None]  # samples: before a way, its begin and end, and after it


@dataclass(frozen=True)
class Sources:
    """Where a course reads, from the store: the input (n, 3) of a sample as the simulation sees it, what acts beside
    it on a way between two samples, and a state that is stored."""

    pose: Callable[[Store, int], Floats]
    outer: Callable[[Store, Around], Any]
    state: Callable[[Store, int], Any]
    # Where a body that settled in its first pose (a sample) would not stand so: how it begins instead. None: it does.
    stand: Callable[[Store, int, Any, Callable[[], bool]], Beginning | None] = lambda *_: None


@dataclass(frozen=True)
class Arrived:
    """The state of a sample; `positions` are blended where a loop leaves a gap, and at its end `repeats` the first.
    `step` and `plan` are None where no step was taken."""

    state: Any
    positions: Floats
    step: Any
    plan: Any
    about: dict[str, float]  # numbers of every method
    repeats: bool = False


class Course:
    def __init__(self, shot: Shot, simulated: Planned, weights: Floats, sources: Sources, start: str = "") -> None:
        """`weights` (t,): how much each vertex of the body counts where a cut is told; `start`: how it begins, "" as
        the setting says."""
        self._shot, self._simulated, self._weights, self._from = shot, simulated, weights, sources
        self._start = start or shot.settings.start
        self._beginning = Beginning(None)
        self._is_settled = True
        self._cycle: Cycle | None = None
        self._cuts: Cuts | None = None
        self._window: Any = None  # of the sample that is computed, ...
        self._plan: Any = None  # ... and what is to be done there; None at a cut
        self._last: tuple[int, Any] | None = None  # a state that is blended where it is stored

    def begin(self, store: Store, index: int, pulse: Callable[[], None]) -> int:
        """How it begins: also looked for by a bake that is continued, where a cycle asks for it. From which sample it
        must go on really."""
        settings, samples, simulated = self._shot.settings, self._shot.samples, self._simulated

        def is_wanted() -> bool:
            pulse()
            return True

        def pose(i: int) -> Floats:
            return self._from.pose(store, i)

        def later(i: int) -> Floats:
            return pose(first + i)

        def outer(i: int) -> Any:
            return self._outer(store, i)

        self._last = None
        if settings.loop:
            self._cycle = find_cycle(pose, samples, simulated.size, settings.samples)
            self._cuts = cuts = self._find_cuts(store, self._cycle.period)
            begun = store.marks[0]
            if index > 0 and begun is not None and begun.numbers.gap == 0.0:
                self._beginning = Beginning(None)  # found before the interruption, and closed
            else:
                self._beginning = close_cycle(simulated, pose, outer, self._cycle, cuts, is_wanted)
            if self._beginning.gap is not None:
                # What is stored further on is blended and cannot be continued.
                return min(index, self._cycle.blended_from)
            return index
        self._cuts = cuts = self._find_cuts(store)
        first = cuts.first
        if index > first:
            return index
        if self._start == "settled" and samples > 1:
            self._beginning = settle(simulated, later, outer(first), is_wanted)
            self._is_settled = simulated.is_settled
            stands = self._from.stand(store, first, self._beginning.state, is_wanted)
            if stands is not None:
                self._beginning, self._is_settled = stands, True
        elif self._start == "rest" and samples > 1:
            count = settings.preroll * settings.samples or round(self._shot.sample_rate)
            way = simulated.approach(later(0), later(1), max(count, 1))
            acting = way.acting(outer(first), outer(first + 1))
            self._beginning = lead(simulated, way.at, later, acting, way.count, is_wanted)
        else:
            self._beginning = Beginning(simulated.begin(later(0), later(1) if samples > 1 else None))
        return index

    def _find_cuts(self, store: Store, period: int | None = None) -> Cuts:
        """Of all samples, or of a loop."""
        shot = self._shot

        def pose(i: int) -> Floats | None:
            return world(store, i) if i < shot.samples else None

        begins = (shot.frame_start - shot.first_frame) * shot.settings.samples
        return Cuts(
            pose, self._weights, self._simulated.size, a_frame=shot.settings.samples, played_from=begins, period=period
        )

    def move(self, store: Store, index: int) -> Move | None:
        """What the simulation does on the way to sample `index`; None: nothing."""
        assert self._cuts is not None
        self._plan = None
        if index <= self._cuts.first:
            return None
        self._window = window_of(index, lambda i: self._pose(store, i), self._cuts)
        if self._window[1] is None:
            return None
        self._plan = self._simulated.plan(self._before(store, index), self._window, self._outer(store, index))
        move: Move | None = self._plan.move
        return move

    def advance(self, store: Store, index: int, moved: Any) -> Arrived:
        """The state of sample `index`, given what came of its move."""
        assert self._cuts is not None
        cycle, gap, first = self._cycle, self._beginning.gap, self._cuts.first
        about: dict[str, float] = {}
        step = plan = None
        if index < first:
            state = self._simulated.begin(self._pose(store, index))  # a pose of its own, before the take begins
        elif index == first:
            state = self._beginning.state
            about = {"unsettled": float(not self._is_settled), "gap": float(gap is not None)}
            about["restarted"] = float(first > 0)
            if cycle is not None:
                about |= {"cycles": float(self._beginning.cycles), "seam": self._beginning.seam}
                about |= {"period": float(cycle.period), "kink": float(cycle.has_kink)}
        elif self._plan is None:  # a cut: it begins anew
            state = self._simulated.begin(*self._window[2:])
            about["restarted"] = 1.0
        else:
            plan = self._plan
            state, step = self._simulated.finish(plan, moved)
        positions, repeats = state.positions, False
        if gap is not None and cycle is not None:
            self._last = (index, state)  # the next one goes on from it, not from what is blended
            positions, repeats = cycle.closed(index, positions, gap), index == cycle.period
        return Arrived(state, positions, step, plan, about, repeats)

    def _at(self, index: int) -> int | None:
        """The sample of that number, of a loop that of the cycle."""
        if self._cycle is not None:
            return self._cycle.index(index)
        return index if 0 <= index < self._shot.samples else None

    def _pose(self, store: Store, index: int) -> Floats | None:
        there = self._at(index)
        return None if there is None else self._from.pose(store, there)

    def _outer(self, store: Store, index: int) -> Any:
        before, begin, end, after = (self._at(index + k) for k in (-2, -1, 0, 1))
        return self._from.outer(store, (before, begin or 0, end or 0, after))

    def _before(self, store: Store, index: int) -> Any:
        if self._last is not None and self._last[0] == index - 1:
            return self._last[1]
        return self._from.state(store, index - 1)
