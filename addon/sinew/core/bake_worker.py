"""The worker of a bake: takes samples in order and brings the store as far as they allow."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import BadInput
from .report import Clock
from .shot import Floats, Sample, Shot, sample_hash
from .store import Store


@dataclass(frozen=True)
class StoredState:
    """A state of the simulation as read back from the store: cage (n, 3), metres and m/s."""

    positions: Floats
    velocities: Floats


class Worker:
    """Takes samples in order and brings the store as far as they allow."""

    def __init__(self, store: Store, shot: Shot, enricher: Any, clock: Clock, taken: int = 0) -> None:
        """The first `taken` samples are in the store already and need no look at their input."""
        self.store = store
        self.shot = shot
        self.enricher = enricher
        self.clock = clock
        self.computed = 0  # frames finished in this run, for the time left
        self.cancelled = threading.Event()
        self._available = taken  # samples that were taken in
        self._fitted = store.done  # samples that have a fit
        self._state = store.done  # samples that have a state, result and mark
        self._fits: dict[int, Any] = {}  # the last few Fit objects, for their numbers
        self._free = shot.follow < 0.5
        self._exact = shot.follow >= 1.0

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
        store.write("amount", index, np.full((1, 1), sample.amount))
        if mark is not None and mark.input == input_hash and mark.data == store.digest(index):
            self._available += 1
            return
        if store.sampled[index] not in (None, input_hash) or mark is not None:
            # Changed, or damaged. The state before has seen this sample too.
            self._fitted = min(self._fitted, index)
            self._state = min(self._state, max(0, index - 1))
            store.void_from(self._state)
        store.write("input", index, sample.positions)
        store.write("matrix", index, sample.matrix)
        store.write_result(index, sample.positions)
        store.mark_sampled(index, input_hash)
        self._available += 1
        self._advance(last=False)

    def finish(self) -> None:
        if self._available != self.shot.samples:
            raise BadInput(f"Only {self._available} of {self.shot.samples} samples could be taken: bake again.")
        self._advance(last=True)
        # Kept frames whose Amount or the like has changed since.
        for index, mark in enumerate(self.store.marks):
            if self.cancelled.is_set():
                break
            if mark is not None and mark.result != self.shot.result_key(self._amount(index)):
                self._write_result(index, mark.numbers)

    def _advance(self, last: bool) -> None:
        while self._fitted < self._available and not self.cancelled.is_set():
            self._fit(self._fitted)
            while self._state + 1 < self._fitted and not self.cancelled.is_set():
                self._simulate(self._state)
        while last and self._state < self._available and not self.cancelled.is_set():
            self._simulate(self._state)

    def _fit(self, index: int) -> None:
        with self.clock.stage("fitting"):
            guess = self.store.read("fitted", index - 1) if index > 0 else None
            fit = self.enricher.fit(self._world(index), guess)
        self.store.write("fitted", index, fit.positions)
        self._fits[index] = fit
        for old in [key for key in self._fits if key < index - 3]:
            del self._fits[old]
        self._fitted = index + 1

    def _simulate(self, index: int) -> None:
        """Computes the state of sample `index` from the one before, and its result."""
        store = self.store
        count = self.shot.samples

        def fitted(i: int) -> Floats | None:
            return store.read("fitted", i) if 0 <= i < count else None

        numbers: dict[str, float] = {}
        with self.clock.stage("simulation"):
            if index == 0:
                state = self.enricher.begin(fitted(0), fitted(1))
            else:
                window = (fitted(index - 2), fitted(index - 1), fitted(index), fitted(index + 1))
                state, step = self.enricher.advance(self._stored_state(index - 1), window)
                for name in ("restarted", "rounds", "substeps", "repaired", "fallbacks"):
                    numbers[name] = float(getattr(step, name))
        store.write("simulated", index, state.positions)
        store.write("velocity", index, state.velocities)
        fit = self._fits.get(index)
        if fit is None:
            # The fit of a kept sample whose state must be computed anew: its numbers come with it, its bits stay.
            guess = fitted(index - 1)
            fit = self.enricher.fit(self._world(index), guess)
        numbers |= {"fit_rms": fit.rms, "fit_max": fit.max, "fit_rounds": fit.rounds}
        fit_inverted = _inverted(store.read("fitted", index), self.enricher.cage.tets)
        inverted = _inverted(state.positions, self.enricher.cage.tets)
        numbers["fit_inverted"] = float(fit_inverted.sum())
        numbers["inverted"] = float(inverted.sum())
        numbers["inverted_only"] = float((inverted & ~fit_inverted).sum())
        self._write_result(index, numbers)
        self._state = index + 1
        self.computed += 1

    def _stored_state(self, index: int) -> StoredState:
        return StoredState(self.store.read("simulated", index), self.store.read("velocity", index))

    def _write_result(self, index: int, numbers: dict[str, float]) -> None:
        store = self.store
        with self.clock.stage("detail"):
            matrix = store.read("matrix", index)
            world = self._world(index)
            amount = self._amount(index)
            surface = self.enricher.surface(
                store.read("fitted", index), store.read("simulated", index), world, amount * self.shot.settings.amount
            )
            local = _transform(np.linalg.inv(matrix), surface)
            if not np.isfinite(local).all():
                raise BadInput(
                    f"The result at sample {index} is not finite: check that the animation has no absurd jumps there."
                )
            result = local.astype(np.float32)
            offset = np.linalg.norm(_transform(matrix, result.astype(np.float64)) - world, axis=1)
        store.write_result(index, result)
        numbers = dict(numbers)
        numbers["follow_max"] = float(offset[self._exact].max(initial=0.0))
        free = offset[self._free]
        numbers["added_max"] = float(free.max(initial=0.0))
        numbers["added_square"] = float(np.mean(free**2)) if len(free) else 0.0
        store.mark_done(index, self.shot.result_key(amount), numbers)

    def _amount(self, index: int) -> float:
        return float(self.store.read("amount", index)[0, 0])

    def _world(self, index: int) -> Floats:
        return _transform(self.store.read("matrix", index), self.store.read("input", index).astype(np.float64))


def _transform(matrix: Floats, points: Floats) -> Floats:
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def _inverted(positions: Floats, tets: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Which tets are inside out."""
    corners = positions[tets]
    edges = corners[:, 1:] - corners[:, :1]
    inside_out: npt.NDArray[np.bool_] = np.einsum("ij,ij->i", np.cross(edges[:, 0], edges[:, 1]), edges[:, 2]) < 0.0
    return inside_out
