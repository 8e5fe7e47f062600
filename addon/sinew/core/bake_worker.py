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
        self._fits: dict[int, Any] = {}  # the last few Fit objects, for their numbers
        self._keys: dict[int, str] = {}  # what the results of samples should depend on
        self._carriers: list[Any] = []
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
        key = self._keys[index] = self.shot.result_key(sample)
        store.write("amount", index, np.full((1, 1), sample.amount))
        for number, carried in enumerate(sample.carried):
            store.write(f"passenger_{number}_input", index, carried.positions)
            store.write(f"passenger_{number}_matrix", index, carried.matrix)
        if mark is not None and mark.input == input_hash and mark.data == store.digest(index):
            self._available += 1
            if mark.result != key:  # Amount or a passenger has changed, not the simulation
                self._write_result(index, mark.numbers)
            return
        if store.sampled[index] not in (None, input_hash) or mark is not None:
            self._void(index)
        store.write("input", index, sample.positions)
        store.write("matrix", index, sample.matrix)
        store.mark_sampled(index, input_hash)
        store.show_input(index)
        self._available += 1

    def _void(self, index: int) -> None:
        """A sample has changed, or is damaged. The state before has seen it too."""
        self._fitted = min(self._fitted, index)
        self._state = min(self._state, max(0, index - 1))
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
        return self._state + 1 < self._fitted or self._fitted == self.shot.samples

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
            fitted, simulated = store.read("fitted", index), store.read("simulated", index)
            amount = self._amount(index) * self.shot.settings.amount
            world = self._world(index)
            result = self._local(index, self.enricher.surface(fitted, simulated, world, amount))
            offset = np.linalg.norm(_transform(store.read("matrix", index), result.astype(np.float64)) - world, axis=1)
            carried = self._carry(index, fitted, simulated, amount)
        store.write_result(index, result)
        for number, positions in enumerate(carried):
            store.write_result(index, positions, f"passenger_{number}")
        numbers = dict(numbers)
        numbers["follow_max"] = float(offset[self._exact].max(initial=0.0))
        free = offset[self._free]
        numbers["added_max"] = float(free.max(initial=0.0))
        numbers["added_square"] = float(np.mean(free**2)) if len(free) else 0.0
        store.mark_done(index, self._keys[index], numbers)

    def _carry(self, index: int, fitted: Floats, simulated: Floats, amount: float) -> list[npt.NDArray[np.float32]]:
        """The passengers on the simulated cage, each in its own space."""
        if not self.shot.passengers:
            return []
        names = [f"passenger_{number}_" for number in range(len(self.shot.passengers))]
        if not self._carriers:
            first = self.store.read("fitted", 0)
            self._carriers = [self.enricher.carrier(passenger, first) for passenger in self.shot.passengers]
        moved = self.enricher.moved(fitted, simulated, amount)
        return [
            self._local(index, carrier.surface(fitted, moved, self._world(index, name)), name)
            for carrier, name in zip(self._carriers, names, strict=True)
        ]

    def _local(self, index: int, surface: Floats, name: str = "") -> npt.NDArray[np.float32]:
        """World metres in the space of the object, as they will be played."""
        local = _transform(np.linalg.inv(self.store.read(f"{name}matrix", index)), surface)
        if not np.isfinite(local).all():
            raise BadInput(
                f"The result at sample {index} is not finite: check that the animation has no absurd jumps there."
            )
        return local.astype(np.float32)

    def _amount(self, index: int) -> float:
        return float(self.store.read("amount", index)[0, 0])

    def _world(self, index: int, name: str = "") -> Floats:
        """The input in world metres: of the body, or of `passenger_0_` and so on."""
        matrix = self.store.read(f"{name}matrix", index)
        return _transform(matrix, self.store.read(f"{name}input", index).astype(np.float64))


def _transform(matrix: Floats, points: Floats) -> Floats:
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def _inverted(positions: Floats, tets: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Which tets are inside out."""
    corners = positions[tets]
    edges = corners[:, 1:] - corners[:, :1]
    inside_out: npt.NDArray[np.bool_] = np.einsum("ij,ij->i", np.cross(edges[:, 0], edges[:, 1]), edges[:, 2]) < 0.0
    return inside_out
