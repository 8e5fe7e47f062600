"""The worker of a bake: takes samples in order and brings the store as far as they allow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..base.errors import BadInput
from .clock import Clock
from .method import Engine
from .results import Results
from .shot import Sample, Shot, sample_hash
from .store import Store


class Worker:
    """Takes samples in order and brings the store as far as they allow, step by step."""

    def __init__(self, store: Store, shot: Shot, engine: Engine, clock: Clock, taken: int = 0) -> None:
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
        self._begun = False
        self._keys: dict[int, str] = {}  # what the results of samples should depend on
        self._results = Results(store, shot, engine, clock)

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
        """A sample has changed, or is damaged. The states that have looked ahead to it have seen it too."""
        self._begun = False
        self._prepared = min(self._prepared, index)
        self._state = 0 if self.shot.settings.loop else min(self._state, max(0, index - self.engine.ahead))
        for before in range(self._state, index):
            mark = self.store.marks[before]
            if mark is not None:
                self._keys.setdefault(before, mark.result)
            self.store.show_input(before)
        self.store.void_from(self._state)

    @property
    def has_all(self) -> bool:
        return self._available == self.shot.samples

    def end_of_samples(self) -> None:
        if not self.has_all:
            raise BadInput(f"Only {self._available} of {self.shot.samples} samples could be taken: bake again.")

    @property
    def can_step(self) -> bool:
        """Whether there is work that needs no further sample."""
        return self._can_advance or self._prepared < self._available

    def step(self) -> bool:
        """Prepares or computes one sample. False when there is nothing to do before the next sample comes."""
        if self._can_advance:
            self._advance(self._state)
        elif self._prepared < self._available:
            with self.clock.stage(self.engine.preparing):
                self._prepared += self.engine.prepare(self.store, self._prepared, self._available)
        else:
            return False
        return True

    @property
    def _can_advance(self) -> bool:
        if self._state >= min(self._prepared, self._available):
            return False
        if self.shot.settings.loop:  # its beginning depends on its end
            return self._prepared == self.shot.samples
        return self._state + self.engine.ahead < self._prepared or self._prepared == self.shot.samples

    def _advance(self, index: int) -> None:
        """Computes the state of sample `index` from the one before, and its result."""
        with self.clock.stage("simulation"):
            if not self._begun:
                start = self.engine.begin(self.store, index, self.pulse)
                self._begun = True
                if start < index:
                    self._state = start
                    self.store.void_from(start)
                    return
            numbers = self.engine.advance(self.store, index)
        self._results.write(index, self._keys[index], numbers)
        self._state = index + 1
        self.computed += 1
