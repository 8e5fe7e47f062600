"""The engine of a bake of flesh: fits a cage to every sample, simulates it and shows the surface on it, from store to
store. A state needs the fit of one sample ahead, and the frames by which a cut is told."""

from __future__ import annotations

import concurrent.futures
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...bake.beginning import Beginning, Cycle, close_cycle, find_cycle, lead, settle
from ...bake.cuts import Cuts, window_of
from ...bake.method import Show
from ...bake.move import Move
from ...bake.numbers import Numbers
from ...bake.outer import Outer
from ...bake.results import local, world
from ...bake.shot import Shot
from ...bake.store import Store
from .report import free_tets, inside_out, sound, summary

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class FleshNumbers(Numbers):
    """What is known of a finished sample of flesh."""

    fit_rms: float = 0.0  # of the cage from the surface, metres
    fit_max: float = 0.0
    fit_rounds: float = 0.0
    rounds: float = 0.0
    substeps: float = 0.0
    fallbacks: float = 0.0  # steps retaken by implicit Euler
    unsettled: float = 0.0  # a settled start that was not found
    repaired: float = 0.0  # tets drawn back to their sound fitted shape
    fit_inverted: float = 0.0  # tets that are inside out
    fit_inverted_free: float = 0.0  # those of them that flesh may move
    inverted: float = 0.0
    inverted_only: float = 0.0  # where the fit has them sound


@dataclass(frozen=True)
class StoredState:
    """A state of the simulation as read back from the store: cage (n, 3), metres and m/s."""

    positions: Floats
    velocities: Floats


class Classes(NamedTuple):
    """The classes that do the work: they need the native module."""

    enricher: Any
    cage: Any
    shown: Any
    monitor: Any


def load_classes() -> Classes:
    """A sentence where the native module is missing."""
    from ...base.native import Monitor
    from ...cage.cage import Cage
    from .enricher import Enricher
    from .show import Shown

    return Classes(Enricher, Cage, Shown, Monitor)


def version() -> str:
    from ...base.native import module

    return str(getattr(module, "__version__", ""))


def stored_cage(store: Store, cage_class: Any) -> Any:
    cage = cage_class(*(store.constant(f"cage_{name}") for name in ("vertices", "tets", "binding", "weights")))
    cage.note = str(store.manifest.report.get("cage_note", ""))
    cage.safe_vertices = store.constant("cage_safe") if store.manifest.counts["safe"] else None
    return cage


def make_engine(shot: Shot, store: Store | None, monitor: Any) -> FleshEngine:
    """With the cage of a bake, if there is one."""
    classes = load_classes()
    enricher = classes.enricher(
        shot.rest, shot.triangles, shot.follow, shot.settings, shot.sample_rate, gravity=shot.gravity,
        cage=None if store is None else stored_cage(store, classes.cage), safe=shot.safe, parts=shot.parts,
        regions=shot.regions, after=shot.after, monitor=monitor,
    )  # fmt: skip
    return FleshEngine(shot, enricher)


def make_show(shot: Shot, store: Store) -> FleshShow:
    """What shows a finished bake: it needs neither fit nor simulation."""
    classes = load_classes()
    shown = classes.shown(
        stored_cage(store, classes.cage), shot.rest, shot.triangles, shot.follow, shot.settings, after=shot.after,
        parts=shot.parts, cage_follow=store.constant("cage_follow") if store.manifest.counts["inside"] else None,
    )  # fmt: skip
    return FleshShow(shot, shown)


class FleshShow(Show):
    """The surface on the simulated cage, and the passengers that it carries. `shown`: a Shown, or an Enricher."""

    def __init__(self, shot: Shot, shown: Any) -> None:
        self._shot, self.shown, self._settings = shot, shown, shot.settings
        self._carriers: list[Any] = []

    def use(self, settings: Any) -> None:
        self._settings = self.shown.settings = settings

    def show(self, store: Store, index: int) -> list[npt.NDArray[np.float32]]:
        fitted, simulated = store.read("fitted", index), store.read("simulated", index)
        amount = float(store.read("amount", index)[0, 0]) * self._settings.amount
        surface = self.shown.surface(fitted, simulated, world(store, index), amount)
        return [local(store, index, surface), *self._carry(store, index, fitted, simulated, amount)]

    def _carry(
        self, store: Store, index: int, fitted: Floats, simulated: Floats, amount: float
    ) -> list[npt.NDArray[np.float32]]:
        """The passengers on the simulated cage."""
        if not self._shot.passengers:
            return []
        if not self._carriers:
            first = store.read("fitted", 0)
            self._carriers = [self.shown.carrier(passenger, first) for passenger in self._shot.passengers]
        moved = self.shown.moved(fitted, simulated, amount)
        how = self._settings.interpolation
        return [
            local(store, index, carrier.surface(fitted, moved, world(store, index, name), how), name)
            for carrier, name in ((one, f"passenger_{number}_") for number, one in enumerate(self._carriers))
        ]


class FleshEngine(FleshShow):
    """Over an Enricher, which works on arrays."""

    preparing = "fitting"

    def __init__(self, shot: Shot, enricher: Any) -> None:
        super().__init__(shot, enricher)
        self._enricher = enricher
        self.size: float = enricher.size
        self._fits: dict[int, FleshNumbers] = {}  # numbers of the fits of this run
        self._pool = concurrent.futures.ThreadPoolExecutor(1, "sinew fit")
        self._coming: tuple[int, Any] | None = None  # the sample that is being fitted, and its future
        self._beginning = Beginning(None)
        self._is_settled = True
        self._cycle: Cycle | None = None
        self._cuts: Cuts | None = None
        self._free: Array | None = None
        self._window: Any = None  # of the sample that is computed, ...
        self._plan: Any = None  # ... and what is to be done there; None at a cut
        self._last: tuple[int, Any] | None = None  # a state that is blended where it is stored

    def counts(self) -> dict[str, int]:
        cage = self._enricher.cage
        return {
            "cage_vertices": len(cage.vertices),
            "tets": len(cage.tets),
            "parts": int(self._shot.parts is not None),
            "safe": int(cage.safe_vertices is not None),
            "inside": int(self._enricher.cage_follow is not None),
        }

    def constants(self) -> dict[str, Array]:
        cage, parts = self._enricher.cage, self._shot.parts
        constants = {f"cage_{name}": getattr(cage, name) for name in ("vertices", "tets", "binding", "weights")}
        if parts is not None:
            constants |= {"tracked": parts.tracked, "rigid": parts.rigid}
        if cage.safe_vertices is not None:
            constants["cage_safe"] = cage.safe_vertices
        if self._enricher.cage_follow is not None:
            constants["cage_follow"] = self._enricher.cage_follow
        return constants

    def notes(self) -> dict[str, Any]:
        return {"cage_note": self._enricher.cage.note}

    def prepare(self, store: Store, index: int, available: int) -> int:
        """Fits a sample, from the two before it; the next one is fitted meanwhile, beside the simulation."""
        fit = self._fit(store, index)
        store.write("fitted", index, fit.positions)
        self._fits[index] = _fit_numbers(fit)
        if index + 1 < available:
            following, before = world(store, index + 1), store.read("fitted", index - 1) if index > 0 else None
            coming = self._pool.submit(self._enricher.fit, following, fit.positions, before, aside=True)
            self._coming = (index + 1, coming)
        return 1

    def _fit(self, store: Store, index: int) -> Any:
        """From the same files as the one that is coming, so with the same bits."""
        (coming, future), self._coming = self._coming or (-1, None), None
        fit = future.result() if future is not None else None  # it is done before another begins: they share their room
        if coming == index:
            return fit
        guess, earlier = (store.read("fitted", i) if i >= 0 else None for i in (index - 1, index - 2))
        return self._enricher.fit(world(store, index), guess, earlier)

    def begin(self, store: Store, index: int, pulse: Callable[[], None]) -> int:
        """How the simulation begins: also looked for by a bake that is continued, where a cycle asks for it."""
        settings, samples = self._shot.settings, self._shot.samples

        def is_wanted() -> bool:
            pulse()
            return True

        def fitted(i: int) -> Floats:
            return store.read("fitted", i)

        def later(i: int) -> Floats:
            return fitted(first + i)

        def outer(i: int) -> Outer:
            return self._outer(store, i)

        self._last = None
        if settings.loop:
            self._cycle = find_cycle(fitted, samples, self.size, settings.samples)
            self._cuts = cuts = self._find_cuts(store, self._cycle.period)
            begun = store.marks[0]
            if index > 0 and begun is not None and begun.numbers.gap == 0.0:
                self._beginning = Beginning(None)  # found before the interruption, and closed
            else:
                self._beginning = close_cycle(self._enricher, fitted, outer, self._cycle, cuts, is_wanted)
            if self._beginning.gap is not None:
                # What is stored further on is blended and cannot be continued.
                return min(index, self._cycle.blended_from)
            return index
        self._cuts = cuts = self._find_cuts(store)
        first = cuts.first
        if index > first:
            return index
        if settings.start == "settled" and samples > 1:
            self._beginning = settle(self._enricher, later, outer(first), is_wanted)
            self._is_settled = self._enricher.is_settled
        elif settings.start == "rest" and samples > 1 and settings.simulate:
            count = settings.preroll * settings.samples or round(self._shot.sample_rate)
            self._beginning = lead(self._enricher, later, outer(first), max(count, 1), is_wanted)
        else:
            second = later(1) if samples > 1 else None
            self._beginning = Beginning(self._enricher.begin(later(0), second))
        return index

    def _find_cuts(self, store: Store, period: int | None = None) -> Cuts:
        """Of all samples, or of a loop."""
        shot = self._shot

        def pose(i: int) -> Floats | None:
            return world(store, i) if i < shot.samples else None

        begins = (shot.frame_start - shot.first_frame) * shot.settings.samples
        return Cuts(
            pose, self._enricher.seen, self.size, a_frame=shot.settings.samples, played_from=begins, period=period
        )

    def move(self, store: Store, index: int) -> Move | None:
        assert self._cuts is not None
        self._plan = None
        if index <= self._cuts.first:
            return None
        self._window = window_of(index, lambda i: self._fitted(store, i), self._cuts)
        if self._window[1] is None:
            return None
        self._plan = self._enricher.plan(self._state_before(store, index), self._window, self._outer(store, index))
        move: Move | None = self._plan.move
        return move

    def _fitted(self, store: Store, index: int) -> Floats | None:
        if self._cycle is not None:
            return store.read("fitted", self._cycle.index(index))
        return store.read("fitted", index) if 0 <= index < self._shot.samples else None

    def advance(self, store: Store, index: int, moved: Any) -> FleshNumbers:
        assert self._cuts is not None
        cycle, gap, first = self._cycle, self._beginning.gap, self._cuts.first
        about: dict[str, float] = {}
        if index < first:
            state = self._enricher.begin(self._fitted(store, index))  # a pose of its own, before the take begins
        elif index == first:
            state = self._beginning.state
            about["unsettled"] = float(not self._is_settled)
            about |= {"gap": float(gap is not None), "restarted": float(first > 0 and self._shot.settings.simulate)}
            if cycle is not None:
                about |= {"cycles": float(self._beginning.cycles), "seam": self._beginning.seam}
                about |= {"period": float(cycle.period), "kink": float(cycle.has_kink)}
        elif self._plan is None:  # a cut: it begins anew
            state = self._enricher.begin(*self._window[2:])
            about["restarted"] = float(self._shot.settings.simulate)
        else:
            state, step = self._enricher.finish(self._plan, moved)
            for name in ("rounds", "substeps", "repaired", "fallbacks"):
                about[name] = float(getattr(step, name))
        positions = state.positions
        if gap is not None and cycle is not None:
            self._last = (index, state)  # the next one goes on from it, not from what is blended
            positions = cycle.closed(index, positions, gap)
            if index == cycle.period:
                # The same to the bit, fit included: detail asks where a cage is exactly the fitted one.
                store.write("fitted", index, store.read("fitted", 0))
                positions = store.read("simulated", 0)
        store.write("simulated", index, positions)
        store.write("velocity", index, state.velocities)
        if index not in self._fits:
            # The fit of a kept sample whose state must be computed anew: its numbers come with it, its bits stay.
            self._fits[index] = _fit_numbers(self._fit(store, index))
        if self._free is None:
            self._free = free_tets(self._enricher)
        cage, fit = self._enricher.cage, store.read("fitted", index)
        fit_inverted, inverted = inside_out(fit, cage.tets), inside_out(positions, cage.tets)
        return dataclasses.replace(
            self._fits[index],
            **about,
            fit_inverted=float(fit_inverted.sum()),
            fit_inverted_free=float((fit_inverted & self._free).sum()),
            inverted=float(inverted.sum()),
            inverted_only=float((inverted & sound(fit, cage.vertices, cage.tets)).sum()),
        )

    def summary(self, store: Store) -> dict[str, Any]:
        return summary(self._shot, store, self._enricher)

    def _outer(self, store: Store, index: int) -> Outer:
        """What acts beside the input on the way to sample `index`."""
        manifest = store.manifest
        ends = [max(0, index - 1), index]
        if self._cycle is not None:
            ends = [self._cycle.index(index - 1), self._cycle.index(index)]
        rows = tuple(store.read("fields", i) for i in ends) if manifest.fields else None
        follow = tuple(store.read("follow_now", i)[:, 0] for i in ends) if manifest.animated_follow else None
        return Outer(rows, follow)

    def _state_before(self, store: Store, index: int) -> Any:
        if self._last is not None and self._last[0] == index - 1:
            return self._last[1]
        return StoredState(store.read("simulated", index - 1), store.read("velocity", index - 1))


def _fit_numbers(fit: Any) -> FleshNumbers:
    return FleshNumbers(fit_rms=fit.rms, fit_max=fit.max, fit_rounds=fit.rounds)

