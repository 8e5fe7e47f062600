"""The worker of a bake: takes samples in order and brings the store as far as they allow."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from .beginning import Beginning, Cycle, close_cycle, find_cycle, lead, settle
from .clock import Clock
from .outer import Outer
from .results import Results
from .shot import Floats, Sample, Shot, sample_hash
from .store import Store


@dataclass(frozen=True)
class StoredState:
    """A state of the simulation as read back from the store: cage (n, 3), metres and m/s."""

    positions: Floats
    velocities: Floats


class Worker:
    """Takes samples in order and brings the store as far as they allow, step by step."""

    def __init__(self, store: Store, shot: Shot, enricher: Any, clock: Clock, taken: int = 0) -> None:
        """The first `taken` samples are in the store already, with the results that they should have."""
        self.store = store
        self.shot = shot
        self.enricher = enricher
        self.clock = clock
        self.computed = 0  # frames finished in this run, for the time left
        self.cancelled = threading.Event()
        self._available = taken  # samples that were taken in
        self._fitted = store.done  # samples that have a fit
        self._state = store.done  # samples that have a state, result and mark
        self._fits: dict[int, dict[str, float]] = {}  # numbers of the fits of this run
        self._beginning: Beginning | None = None
        self._cycle: Cycle | None = None
        self._keys: dict[int, str] = {}  # what the results of samples should depend on
        self._results = Results(store, shot, enricher, clock)
        self._last: tuple[int, Any] | None = None

    @property
    def done(self) -> int:
        return min(self._state, self._available)

    def take(self, sample: Sample) -> None:
        index, store = sample.index, self.store
        if index != self._available or sample.positions.shape != (store.manifest.vertices, 3):
            raise BadInput(
                f"The number of vertices changes at sample {index}: apply or remove the modifier that changes it."
            )
        input_hash = sample_hash(sample)
        mark = store.marks[index]
        key = self._keys[index] = self.shot.result_key(sample)
        store.write("amount", index, np.full((1, 1), sample.amount))
        for number, carried in enumerate(sample.carried):
            store.write(f"passenger_{number}_input", index, carried.positions)
            store.write(f"passenger_{number}_matrix", index, carried.matrix)
        if mark is not None and mark.input == input_hash and mark.data == store.digest(index):
            self._available += 1
            if mark.result != key:  # Amount or a passenger has changed, not the simulation
                self._results.write(index, key, mark.numbers)
            return
        if store.sampled[index] not in (None, input_hash) or mark is not None:
            self._void(index)
        store.write("input", index, sample.positions)
        store.write("matrix", index, sample.matrix)
        if store.manifest.fields:
            store.write("fields", index, sample.fields)
        if sample.follow is not None:
            store.write("follow_now", index, sample.follow.reshape(-1, 1))
        store.mark_sampled(index, input_hash)
        store.show_input(index)
        self._available += 1

    def _void(self, index: int) -> None:
        """A sample has changed, or is damaged. The state before has seen it too."""
        self._fitted = min(self._fitted, index)
        self._state = 0 if self.shot.settings.loop else min(self._state, max(0, index - 1))
        for before in range(self._state, index):
            mark = self.store.marks[before]
            if mark is not None:
                self._keys.setdefault(before, mark.result)
            self.store.show_input(before)
        self.store.void_from(self._state)

    def end_of_samples(self) -> None:
        if self._available != self.shot.samples:
            raise BadInput(f"Only {self._available} of {self.shot.samples} samples could be taken: bake again.")

    @property
    def can_step(self) -> bool:
        """Whether there is work that needs no further sample."""
        return self._can_simulate or self._fitted < self._available

    def step(self) -> bool:
        """Fits or simulates one sample. False when there is nothing to do before the next sample comes."""
        if self._can_simulate:
            self._simulate(self._state)
        elif self._fitted < self._available:
            self._fit(self._fitted)
        else:
            return False
        return True

    @property
    def _can_simulate(self) -> bool:
        if self._state >= min(self._fitted, self._available):
            return False
        if self.shot.settings.loop:  # its beginning depends on its end
            return self._fitted == self.shot.samples
        return self._state + 1 < self._fitted or self._fitted == self.shot.samples

    def _fit(self, index: int) -> None:
        """Fits a sample, or two where the second is there already and both start from the same ones."""
        with self.clock.stage("fitting"):
            last, before, ahead = _fitted_before(index)
            if index > 1 and ahead == 1 and index + 1 < self._available:
                surfaces = self._results.world(index), self._results.world(index + 1)
                guess, earlier = (self.store.read("fitted", i) for i in (last, before))
                fits = self.enricher.fit_pair(surfaces, guess, earlier)
            else:
                fits = (self._fit_sample(index),)
        for number, fit in enumerate(fits, start=index):
            self.store.write("fitted", number, fit.positions)
            self._fits[number] = _fit_numbers(fit)
        self._fitted = index + len(fits)

    def _fit_sample(self, index: int) -> Any:
        last, before, ahead = _fitted_before(index)
        guess, earlier = (self.store.read("fitted", i) if i >= 0 else None for i in (last, before))
        return self.enricher.fit(self._results.world(index), guess, earlier, ahead)

    def _simulate(self, index: int) -> None:
        """Computes the state of sample `index` from the one before, and its result."""
        store = self.store
        count = self.shot.samples

        def fitted(i: int) -> Floats | None:
            if self._cycle is not None:
                return store.read("fitted", self._cycle.index(i))
            return store.read("fitted", i) if 0 <= i < count else None

        numbers: dict[str, float] = {}
        with self.clock.stage("simulation"):
            beginning = self._begin(index)
            if self.cancelled.is_set() or self._state != index:
                return
            if index == 0:
                state = beginning.state
                numbers["gap"] = float(beginning.gap is not None)
                if self._cycle is not None:
                    numbers |= {"cycles": float(beginning.cycles), "seam": beginning.seam}
                    numbers |= {"period": float(self._cycle.period), "kink": float(self._cycle.has_kink)}
            else:
                window = (fitted(index - 2), fitted(index - 1), fitted(index), fitted(index + 1))
                state, step = self.enricher.advance(self._state_before(index), window, self._outer(index))
                for name in ("restarted", "rounds", "substeps", "repaired", "fallbacks"):
                    numbers[name] = float(getattr(step, name))
        positions = state.positions
        if beginning.gap is not None and self._cycle is not None:
            self._last = (index, state)  # the next one goes on from it, not from what is blended
            positions = self._cycle.closed(index, positions, beginning.gap)
            if index == self._cycle.period:
                # The same to the bit, fit included: detail asks where a cage is exactly the fitted one.
                store.write("fitted", index, store.read("fitted", 0))
                positions = store.read("simulated", 0)
        store.write("simulated", index, positions)
        store.write("velocity", index, state.velocities)
        if index not in self._fits:
            # The fit of a kept sample whose state must be computed anew: its numbers come with it, its bits stay.
            self._fits[index] = _fit_numbers(self._fit_sample(index))
        numbers |= self._fits[index]
        fit_inverted = _inverted(store.read("fitted", index), self.enricher.cage.tets)
        inverted = _inverted(positions, self.enricher.cage.tets)
        numbers["fit_inverted"] = float(fit_inverted.sum())
        numbers["inverted"] = float(inverted.sum())
        numbers["inverted_only"] = float((inverted & ~fit_inverted).sum())
        self._results.write(index, self._keys[index], numbers)
        self._state = index + 1
        self.computed += 1

    def _outer(self, index: int) -> Outer:
        """What acts beside the input on the way to sample `index`."""
        manifest, store = self.store.manifest, self.store
        ends = [max(0, index - 1), index]
        if self._cycle is not None:
            ends = [self._cycle.index(index - 1), self._cycle.index(index)]
        rows = tuple(store.read("fields", i) for i in ends) if manifest.fields else None
        follow = tuple(store.read("follow_now", i)[:, 0] for i in ends) if manifest.animated_follow else None
        return Outer(rows, follow)

    def _begin(self, index: int) -> Beginning:
        """How the simulation begins: looked for once, also by a bake that is continued, where a cycle asks for it."""
        settings = self.shot.settings
        if self._beginning is None:

            def fitted(i: int) -> Floats:
                return self.store.read("fitted", i)

            def go_on() -> bool:
                return not self.cancelled.is_set()

            if settings.loop:
                self._cycle = find_cycle(fitted, self.shot.samples, self.enricher.size, settings.samples)
                first = self.store.marks[0]
                if index > 0 and first is not None and first.numbers.get("gap") == 0.0:
                    self._beginning = Beginning(None)  # found before the interruption, and closed
                else:
                    self._beginning = close_cycle(self.enricher, fitted, self._outer, self._cycle, go_on)
                if self._beginning.gap is not None and index > self._cycle.blended_from:
                    # What is stored there is blended and cannot be continued.
                    self._state = self._cycle.blended_from
                    self.store.void_from(self._state)
            elif index == 0 and settings.start == "settled" and self.shot.samples > 1:
                self._beginning = settle(self.enricher, fitted, self._outer(0), go_on)
            elif index == 0 and settings.start == "rest" and self.shot.samples > 1 and settings.simulate:
                count = settings.preroll * settings.samples or round(self.shot.sample_rate)
                self._beginning = lead(self.enricher, fitted, self._outer(0), max(count, 1), go_on)
            else:
                second = fitted(1) if self.shot.samples > 1 else None
                self._beginning = Beginning(self.enricher.begin(fitted(0), second))
        return self._beginning

    def _state_before(self, index: int) -> Any:
        if self._last is not None and self._last[0] == index - 1:
            return self._last[1]
        return self._stored_state(index - 1)

    def _stored_state(self, index: int) -> StoredState:
        return StoredState(self.store.read("simulated", index), self.store.read("velocity", index))


def _fitted_before(index: int) -> tuple[int, int, int]:
    """The two samples whose fits the search for this one starts from (negative: there is none), and how far the later
    one is behind. From the third sample on they go in pairs, which need nothing of each other: by number alone, so that
    the bits do not depend on when a sample came."""
    ahead = 2 if index > 2 and index % 2 == 1 else 1
    return index - ahead, index - ahead - 1, ahead


def _fit_numbers(fit: Any) -> dict[str, float]:
    return {"fit_rms": fit.rms, "fit_max": fit.max, "fit_rounds": fit.rounds}


def _inverted(positions: Floats, tets: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Which tets are inside out."""
    corners = positions[tets]
    edges = corners[:, 1:] - corners[:, :1]
    inside_out: npt.NDArray[np.bool_] = np.einsum("ij,ij->i", np.cross(edges[:, 0], edges[:, 1]), edges[:, 2]) < 0.0
    return inside_out
