"""The bake: samples come in on the calling thread, a second thread fits, simulates and writes.

    source (main thread) -> bounded queue -> worker: input slot, fit i, state i-1, result i-1, mark i-1

A state needs the fit of one sample ahead, so results trail the samples by one. All that the worker needs later it
reads back from the store, so memory does not grow with the number of frames, and a continued bake computes from
the same bits as one that ran through.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import store as stores
from .errors import BadInput, Cancelled, OutOfMemory, StoreError
from .report import Clock, build_report
from .settings import Settings
from .store import Manifest, Store

Floats = npt.NDArray[np.float64]
Progress = Callable[[str, int, int, float], None]  # stage, done, total, seconds left (negative: not known)

_QUEUE_LENGTH = 4
# These change the result of a simulation, not the simulation; the input's hashes speak for the range.
_RESULT_SETTINGS = ("amount", "maximum_offset", "detail")
_RANGE_SETTINGS = ("frame_start", "frame_end", "follow_group", "rest_frame", "gravity")


@dataclass(frozen=True)
class Sample:
    """One sample of the input: local positions (t, 3) float32 and the 4x4 matrix to world metres."""

    index: int
    positions: npt.NDArray[np.float32]
    matrix: Floats


@dataclass(frozen=True)
class Shot:
    """What a bake is made of, but its frames. Positions in world metres."""

    rest: Floats  # (t, 3)
    triangles: npt.NDArray[np.int32]  # (m, 3)
    follow: Floats  # (t,), 0 free .. 1 follows exactly
    settings: Settings
    samples: int  # number of samples, preroll included
    first_frame: int  # frame of sample 0
    frame_start: int  # range that plays
    frame_end: int
    frame_rate: float  # frames a second
    gravity: tuple[float, float, float]
    owner_file: str
    owner_object: str
    native: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def sample_rate(self) -> float:
        return self.frame_rate * self.settings.samples

    @property
    def owner(self) -> tuple[str, str]:
        return (self.owner_file, self.owner_object)

    def identity(self) -> str:
        """Hash of everything that the simulated motion depends on but the frames."""
        settings = self.settings.as_dict()
        for key in (*_RESULT_SETTINGS, *_RANGE_SETTINGS):
            del settings[key]
        text = json.dumps([stores.SCHEMA, self.native, settings, self.sample_rate, self.gravity, self.first_frame])
        return stores.hash_arrays(self.rest, self.triangles, self.follow, np.frombuffer(text.encode(), np.uint8))

    def result_key(self) -> str:
        """Hash of what the result depends on beside the simulation."""
        settings = self.settings.as_dict()
        text = json.dumps([settings[key] for key in _RESULT_SETTINGS])
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class StoredState:
    """A state of the simulation as read back from the store: cage (n, 3), metres and m/s."""

    positions: Floats
    velocities: Floats


@dataclass(frozen=True)
class Outcome:
    """A complete bake."""

    id: str
    folder: Path
    report: dict[str, Any]
    unchanged: bool  # the bake that was there already is still right


def sample_hash(sample: Sample) -> str:
    return stores.hash_arrays(sample.positions, sample.matrix)


def bake(
    shot: Shot,
    source: Iterable[Sample],
    root: Path,
    *,
    previous: str = "",
    progress: Progress | None = None,
    clock: Clock | None = None,
) -> Outcome:
    """Bakes into a folder under `root`. `source` yields the samples in order and runs on the calling thread.

    An interrupted bake of the same thing is continued. `previous` is the id of the complete bake that this one
    replaces: what is unchanged is taken over from it, and it is not written to. KeyboardInterrupt (Ctrl+C) ends in
    Cancelled with all finished frames kept.
    """
    clock = clock or Clock()
    identity = shot.identity()
    iterator = clock.timed("sampling", source)
    store: Store | None = None
    try:
        store = stores.open_unfinished(root, shot.owner_file, shot.owner_object, identity, shot.samples)
        old = _open_previous(root, previous, shot, identity) if store is None else None
        drawn: list[Sample] = []
        kept = 0
        if old is not None:
            with old:
                kept, drawn = _count_unchanged(old, shot, iterator, progress)
                same_result = kept and all(mark is not None and mark.result == shot.result_key() for mark in old.marks)
                owner = (old.manifest.owner_file, old.manifest.owner_object)
                if kept == shot.samples == old.manifest.samples and same_result and owner == shot.owner:
                    return Outcome(old.manifest.id, old.folder, old.manifest.report, True)
                enricher = _make_enricher(shot, old, clock)
                store = _create(root, shot, identity, enricher)
                store.copy_from(old, kept)
        else:
            enricher = _make_enricher(shot, store, clock)
            if store is None:
                store = _create(root, shot, identity, enricher)
        store.describe(
            settings=shot.settings.as_dict(), frame_start=shot.frame_start, frame_end=shot.frame_end, complete=False
        )
        worker = _Worker(store, shot, enricher, clock, taken=kept)
        _run(worker, itertools.chain(drawn, iterator), shot.samples, progress)
        report = build_report(shot, store, enricher, clock)
        store.complete(report)
        return Outcome(store.manifest.id, store.folder, report, False)
    except MemoryError as error:
        raise OutOfMemory("There is too little memory for this mesh: lower the resolution and bake again.") from error
    finally:
        iterator.close()
        if store is not None:
            store.close()


def check_inputs(store: Store, source: Iterable[Sample]) -> int | None:
    """Compares samples with those that a bake was made from: the first that differs, or None."""
    for sample in source:
        mark = store.marks[sample.index] if sample.index < len(store.marks) else None
        if mark is None or mark.input != sample_hash(sample):
            return sample.index
    return None


def _open_previous(root: Path, previous: str, shot: Shot, identity: str) -> Store | None:
    """A complete bake of the same thing to take frames over from: `previous`, or one that no saved file knows of because
    its .blend was lost before it was saved."""
    for manifest in sorted(stores.manifests(root), key=lambda manifest: manifest.id != previous):
        known = manifest.id == previous or (manifest.owner_file, manifest.owner_object) == shot.owner
        if known and manifest.complete and manifest.identity == identity:
            try:
                opened = Store.open(root, manifest.id)
            except StoreError:
                continue
            if opened.done == manifest.samples:
                return opened
            opened.close()
    return None


def _count_unchanged(
    old: Store, shot: Shot, iterator: Iterator[Sample], progress: Progress | None
) -> tuple[int, list[Sample]]:
    """Draws samples while they are as in the old bake. The number of old frames that stay valid, and the samples drawn
    that are not among these (two at most)."""
    recent: list[Sample] = []
    for sample in iterator:
        recent = [*recent[-1:], sample]
        index = sample.index
        mark = old.marks[index] if index < old.manifest.samples else None
        if mark is None or mark.input != sample_hash(sample) or mark.data != old.digest(index):
            # The state before the first change has seen one sample ahead.
            kept = max(0, index - 1)
            return kept, [drawn for drawn in recent if drawn.index >= kept]
        if progress:
            progress("Comparing", index + 1, shot.samples, -1.0)
    # A shorter range: the last state has seen a sample that no longer exists.
    kept = shot.samples if shot.samples == old.manifest.samples else max(0, shot.samples - 1)
    return kept, [drawn for drawn in recent if drawn.index >= kept]


def load_engine() -> tuple[Any, Any, str]:
    """The classes Enricher and Cage and the version of the native module; a sentence where it is missing."""
    from .cage import Cage
    from .enrich import Enricher
    from .native import module

    return Enricher, Cage, str(getattr(module, "__version__", ""))


def _make_enricher(shot: Shot, store: Store | None, clock: Clock) -> Any:
    make_enricher, make_cage, _ = load_engine()
    cage = None
    if store is not None:
        cage = make_cage(*(store.constant(f"cage_{name}") for name in ("vertices", "tets", "binding", "weights")))
    with clock.stage("cage"):
        return make_enricher(
            shot.rest, shot.triangles, shot.follow, shot.settings, shot.sample_rate, gravity=shot.gravity, cage=cage
        )


def _create(root: Path, shot: Shot, identity: str, enricher: Any) -> Store:
    cage = enricher.cage
    manifest = Manifest(
        id="",
        owner_file=shot.owner_file,
        owner_object=shot.owner_object,
        vertices=len(shot.rest),
        triangles=len(shot.triangles),
        cage_vertices=len(cage.vertices),
        tets=len(cage.tets),
        samples=shot.samples,
        samples_per_frame=shot.settings.samples,
        first_frame=shot.first_frame,
        frame_start=shot.frame_start,
        frame_end=shot.frame_end,
        frame_rate=float(shot.sample_rate),
        identity=identity,
        topology=stores.hash_arrays(shot.triangles),
        native=shot.native,
        settings=shot.settings.as_dict(),
    )
    constants = {
        "rest": shot.rest,
        "triangles": shot.triangles,
        "follow": shot.follow,
        "cage_vertices": cage.vertices,
        "cage_tets": cage.tets,
        "cage_binding": cage.binding,
        "cage_weights": cage.weights,
    }
    return Store.create(root, manifest, constants)


class _Worker:
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
        self._result_key = shot.result_key()
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
            if mark is not None and mark.result != self._result_key and not self.cancelled.is_set():
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
                for name in ("restarted", "rounds", "substeps", "inverted", "fallbacks"):
                    numbers[name] = float(getattr(step, name))
        store.write("simulated", index, state.positions)
        store.write("velocity", index, state.velocities)
        fit = self._fits.get(index)
        if fit is None:
            # The fit of a kept sample whose state must be computed anew: its numbers come with it, its bits stay.
            guess = fitted(index - 1)
            fit = self.enricher.fit(self._world(index), guess)
        numbers |= {"fit_rms": fit.rms, "fit_max": fit.max, "fit_rounds": fit.rounds}
        numbers["fit_inverted"] = _count_inverted(store.read("fitted", index), self.enricher.cage.tets)
        numbers.setdefault("inverted", _count_inverted(state.positions, self.enricher.cage.tets))
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
            surface = self.enricher.surface(
                store.read("fitted", index), store.read("simulated", index), world, self.shot.settings.amount
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
        store.mark_done(index, self._result_key, numbers)

    def _world(self, index: int) -> Floats:
        return _transform(self.store.read("matrix", index), self.store.read("input", index).astype(np.float64))


def _run(worker: _Worker, source: Iterable[Sample], total: int, progress: Progress | None) -> None:
    """Feeds the worker's thread from this one, until all is done, one of the two fails, or Ctrl+C."""
    waiting: queue.Queue[Sample | None] = queue.Queue(_QUEUE_LENGTH)
    failure: list[BaseException] = []
    finished = threading.Event()

    def work() -> None:
        try:
            while (sample := waiting.get()) is not None and not worker.cancelled.is_set():
                worker.take(sample)
            if not worker.cancelled.is_set():
                worker.finish()
        except BaseException as error:  # noqa: BLE001 (handed to the main thread, which raises it)
            failure.append(error)
        finally:
            finished.set()

    clock = _LeftClock(worker, total, progress)
    thread = threading.Thread(target=work, name="sinew bake")
    thread.start()
    try:
        for sample in itertools.chain(source, [None]):
            while not finished.is_set():
                try:
                    waiting.put(sample, timeout=0.2)
                    break
                except queue.Full:
                    clock.tell()
            clock.tell()
            if finished.is_set():
                break
        while not finished.wait(0.2):
            clock.tell()
        clock.tell(force=True)
    except KeyboardInterrupt:
        raise Cancelled(
            f"Stopped: {worker.done} of {total} samples are finished and kept, bake again to continue."
        ) from None
    finally:
        if not finished.is_set():
            worker.cancelled.set()
            while not finished.is_set():
                try:
                    waiting.put(None, timeout=0.05)
                except queue.Full:
                    continue
                break
        thread.join()
    if failure:
        raise failure[0]


class _LeftClock:
    """Tells progress a few times a second, with the time left."""

    def __init__(self, worker: _Worker, total: int, progress: Progress | None) -> None:
        self._worker, self._total, self._progress = worker, total, progress
        self._start = time.monotonic()
        self._told = 0.0

    def tell(self, force: bool = False) -> None:
        now = time.monotonic()
        if self._progress is None or (now - self._told < 0.25 and not force):
            return
        self._told = now
        left = -1.0
        if self._worker.computed >= 2:
            left = (now - self._start) / self._worker.computed * (self._total - self._worker.done)
        self._progress("Baking", self._worker.done, self._total, left)


def _transform(matrix: Floats, points: Floats) -> Floats:
    return points @ matrix[:3, :3].T + matrix[:3, 3]


def _count_inverted(positions: Floats, tets: npt.NDArray[np.int32]) -> float:
    corners = positions[tets]
    edges = corners[:, 1:] - corners[:, :1]
    return float(np.count_nonzero(np.einsum("ij,ij->i", np.cross(edges[:, 0], edges[:, 1]), edges[:, 2]) <= 0))
