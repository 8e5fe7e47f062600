"""The worker of a bake: takes samples in order and brings the store as far as they allow, when its company says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ..base.errors import BadInput
from .clock import Clock
from .method import Engine, Splicing
from .move import Move
from .numbers import Numbers
from .results import Results
from .shot import Sample, Shot, sample_hash, stored_sample
from .splice import Splice
from .store import Store


class Worker:
    """Takes samples in order and brings the store as far as they allow, step by step."""

    def __init__(
        self, store: Store, shot: Shot, engine: Engine, clock: Clock, taken: int = 0, splice: Splice | None = None
    ) -> None:
        """The first `taken` samples are in the store already, with the results that they should have."""
        self.store = store
        self.shot = shot
        self.engine = engine
        self.clock = clock
        self.computed = 0  # samples finished in this run, for the time left
        self.pulse: Callable[[], None] = lambda: None  # called now and then in long work; it may raise
        self._available = taken  # samples that were taken in
        self._prepared = store.done  # samples that have what their state is computed from
        self._state = store.done  # samples that have a state, result and mark
        self._ahead = shot.method.ahead(shot.settings)
        self._begun = False
        self._splice = splice
        for index in range(taken if splice is not None else 0):
            splice.see(index, store.sampled[index] or "")  # type: ignore[union-attr]
        self._keys: dict[int, str] = {}  # what the results of samples should depend on
        self._results = Results(store, shot, engine, clock)
        self._early = shot.early()
        if self._early is not shot:
            self._results.show(self._early.settings)

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
        if self._splice is not None:
            self._splice.see(index, input_hash)
        key = self._keys[index] = self._early.result_key(sample)
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
        for name, values in sample.read.items():
            store.write(name, index, values)
        store.mark_sampled(index, input_hash)
        store.show_input(index)
        self._available += 1

    def _void(self, index: int) -> None:
        """A sample has changed, or is damaged. The states that have looked ahead to it have seen it too."""
        self._prepared = min(self._prepared, index)
        start = 0 if self.shot.settings.loop else min(self._state, max(0, index - self._ahead))
        self.go_back(start)
        for before in range(start, index):
            self.store.show_input(before)

    @property
    def has_all(self) -> bool:
        return self._available == self.shot.samples

    def end_of_samples(self) -> None:
        if not self.has_all:
            raise BadInput(f"Only {self._available} of {self.shot.samples} samples could be taken: bake again.")

    @property
    def prepared(self) -> int:
        """Samples that have what their state is computed from."""
        return self._prepared

    @property
    def computes(self) -> int:
        """The sample whose state is computed next."""
        return self._state

    @property
    def can_prepare(self) -> bool:
        return self._prepared < self._available and self._knows_enough

    @property
    def _knows_enough(self) -> bool:
        """What is taken over must not depend on when samples come."""
        return self._splice is None or self.has_all

    @property
    def can_advance(self) -> bool:
        if self._state >= min(self._prepared, self._available) or not self._knows_enough:
            return False
        if self.shot.settings.loop:  # its beginning depends on its end
            return self._prepared == self.shot.samples
        return self._state + self._ahead < self._prepared or self._prepared == self.shot.samples

    def prepare(self) -> None:
        """Makes what the next states are computed from, for one sample or a few."""
        with self.clock.stage(self.engine.preparing):
            self._prepared += self.engine.prepare(self.store, self._prepared, self._available)

    def begin(self) -> bool:
        """Before a sample is computed. False where that must be an earlier one than it was to be."""
        if self._begun:
            return True
        start = self.engine.begin(self.store, self._state, self.pulse)
        is_there = start >= self._state
        if not is_there:
            self.go_back(start)
        self._begun = True
        return is_there

    def go_back(self, index: int) -> None:
        """Samples from `index` on are to be computed anew, and the engine begins there."""
        self._begun = False
        for later in range(index, self._state):
            mark = self.store.marks[later]
            if mark is not None:
                self._keys.setdefault(later, mark.result)
        self._state = index
        self.store.void_from(index)

    def move(self) -> Move | None:
        """What its simulation does on the way to the next sample."""
        return self.engine.move(self.store, self._state)

    def advance(self, moved: Any) -> Numbers:
        """Computes the state of the next sample from the one before."""
        return self.engine.advance(self.store, self._state, moved)

    def finish(self, numbers: Numbers) -> None:
        """Writes the result of that sample."""
        self._results.write(self._state, self._keys[self._state], numbers)
        self._state += 1
        self.computed += 1
        if self._splice is not None:
            self._take_over(self._splice)

    def _take_over(self, splice: Splice) -> None:
        """Where the state has met that of the bake before, the next samples are those of that."""
        begin, old = self._state, splice.old
        end = splice.end(begin)
        if end == begin or not cast(Splicing, self.engine).has_met(self.store, old, begin - 1):
            return
        for index in range(begin, end):
            mark = old.marks[index]
            if mark is None or not self.store.take_state(old, index):
                break
            self._results.write(index, self._keys[index], dataclasses.replace(mark.numbers, spliced=1.0))
            self._state = index + 1
            self.pulse()
        self._prepared = max(self._prepared, self._state)
        self._begun = self._begun and self._state == begin

    def finish_late(self, pulse: Callable[[int], None]) -> None:
        """Results that depend on all samples take the place of those that could be seen before. `pulse` is told how
        many are made, and may raise."""
        if self._early is self.shot:
            return
        self._results.show(self.shot.settings)
        for index in range(self.shot.samples):
            mark = self.store.marks[index]
            assert mark is not None
            key = self.shot.result_key(stored_sample(self.store, index))
            self._results.write(index, key, mark.numbers)
            pulse(index + 1)
