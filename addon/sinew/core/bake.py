"""The bake: samples come in on the calling thread, a second thread fits, simulates and writes.

    source (main thread) -> bounded queue -> worker: input slot, fit i, state i-1, result i-1, mark i-1

A state needs the fit of one sample ahead, so results trail the samples by one. All that the worker needs later it
reads back from the store, so memory does not grow with the number of frames, and a continued bake computes from
the same bits as one that ran through.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from . import bakes
from . import store as stores
from .bake_worker import Worker
from .errors import Cancelled, OutOfMemory, StoreError
from .report import Clock, build_report
from .shot import Sample, Shot, sample_hash
from .store import Manifest, Store

Floats = npt.NDArray[np.float64]
Progress = Callable[[str, int, int, float], None]  # stage, done, total, seconds left (negative: not known)

_QUEUE_LENGTH = 4


@dataclass(frozen=True)
class Outcome:
    """A complete bake."""

    id: str
    folder: Path
    report: dict[str, Any]
    unchanged: bool  # the bake that was there already is still right


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
    old: Store | None = None
    try:
        store = bakes.open_unfinished(root, shot, identity)
        old = _open_previous(root, previous, shot, identity) if store is None else None
        drawn: Iterable[Sample] = []
        amounts: list[float] = []
        if old is not None:
            amounts, drawn = _take_unchanged(old, shot, iterator, progress)
            owner = (old.manifest.owner_file, old.manifest.owner_object)
            if owner == shot.owner and _is_result_of(old, shot, amounts):
                return Outcome(old.manifest.id, old.folder, old.manifest.report, True)
        if old is not None and (len(amounts) == shot.samples or old.manifest.build == shot.build):
            enricher = _make_enricher(shot, old, clock, progress)
            store = _create(root, shot, identity, enricher, old.manifest.build)
            store.copy_from(old, len(amounts))
            for index, amount in enumerate(amounts):
                store.write("amount", index, np.full((1, 1), amount))
        else:
            if old is not None:
                # Frames of another build are not continued: all is computed anew from the samples that were drawn.
                drawn = itertools.chain(_replayed(old, amounts), drawn)
                amounts = []
            enricher = _make_enricher(shot, store, clock, progress)
            if store is None:
                store = _create(root, shot, identity, enricher, shot.build)
        store.describe(
            settings=shot.settings.as_dict(), frame_start=shot.frame_start, frame_end=shot.frame_end, complete=False
        )
        worker = Worker(store, shot, enricher, clock, taken=len(amounts))
        _run(worker, itertools.chain(drawn, iterator), shot.samples, progress)
        report = build_report(shot, store, enricher, clock)
        store.complete(report)
        return Outcome(store.manifest.id, store.folder, report, False)
    except MemoryError as error:
        raise OutOfMemory("There is too little memory for this mesh: lower the resolution and bake again.") from error
    finally:
        iterator.close()
        for opened in (store, old):
            if opened is not None:
                opened.close()


def check_inputs(store: Store, shot: Shot, source: Iterable[Sample]) -> tuple[int, str] | None:
    """Compares samples with those that a bake was made from: the first that differs and what of it, or None."""
    for sample in source:
        mark = store.marks[sample.index] if sample.index < len(store.marks) else None
        if mark is None or mark.input != sample_hash(sample):
            return sample.index, "animation"
        if mark.result != shot.result_key(sample.amount):
            return sample.index, "amount"
        if mark.data != store.digest(sample.index):
            return sample.index, "data"
    return None


def _is_result_of(old: Store, shot: Shot, amounts: list[float]) -> bool:
    """Whether a complete bake is what the shot asks for, given the amounts of all its samples that are unchanged."""
    return len(amounts) == shot.samples == old.manifest.samples and all(
        mark is not None and mark.result == shot.result_key(amount)
        for mark, amount in zip(old.marks, amounts, strict=True)
    )


def _open_previous(root: Path, previous: str, shot: Shot, identity: str) -> Store | None:
    """A complete bake of the same thing to take frames over from: `previous`, or one that no saved file knows of,
    because its .blend could not be saved."""
    for manifest in sorted(bakes.manifests(root), key=lambda manifest: manifest.id != previous):
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


def _take_unchanged(
    old: Store, shot: Shot, iterator: Iterator[Sample], progress: Progress | None
) -> tuple[list[float], list[Sample]]:
    """Draws samples while they are as in the old bake. The amount of each old frame that stays valid, and the samples
    drawn that are not among these (two at most)."""
    recent: list[Sample] = []
    amounts: list[float] = []
    for sample in iterator:
        recent = [*recent[-1:], sample]
        amounts.append(sample.amount)
        index = sample.index
        mark = old.marks[index] if index < old.manifest.samples else None
        if mark is None or mark.input != sample_hash(sample) or mark.data != old.digest(index):
            # The state before the first change has seen one sample ahead.
            kept = max(0, index - 1)
            return amounts[:kept], [drawn for drawn in recent if drawn.index >= kept]
        if progress:
            progress("Comparing", index + 1, shot.samples, -1.0)
    # A shorter range: the last state has seen a sample that no longer exists.
    kept = shot.samples if shot.samples == old.manifest.samples else max(0, shot.samples - 1)
    return amounts[:kept], [drawn for drawn in recent if drawn.index >= kept]


class Engine(NamedTuple):
    """The classes that do the work, and which native module they use."""

    enricher: Any
    cage: Any
    monitor: Any
    version: str
    build: str


def _replayed(old: Store, amounts: list[float]) -> Iterator[Sample]:
    """The first samples again, from a bake that holds the same input."""
    for index, amount in enumerate(amounts):
        positions, matrix = old.read("input", index), old.read("matrix", index)
        yield Sample(index, positions.astype(np.float32, copy=False), matrix.astype(np.float64, copy=False), amount)


def load_engine() -> Engine:
    """A sentence where the native module is missing."""
    from .cage import Cage
    from .enrich import Enricher
    from .native import Monitor, build, module

    return Engine(Enricher, Cage, Monitor, str(getattr(module, "__version__", "")), build())


def _make_enricher(shot: Shot, store: Store | None, clock: Clock, progress: Progress | None) -> Any:
    """Builds the cage and what is computed once from it, in a thread, so that this one can watch and stop it."""
    engine = load_engine()
    cage = None
    if store is not None:
        cage = engine.cage(*(store.constant(f"cage_{name}") for name in ("vertices", "tets", "binding", "weights")))
    monitor = engine.monitor()
    with clock.stage("cage"), concurrent.futures.ThreadPoolExecutor(1, "sinew cage") as pool:
        future = pool.submit(
            engine.enricher, shot.rest, shot.triangles, shot.follow, shot.settings, shot.sample_rate,
            gravity=shot.gravity, cage=cage, monitor=monitor,
        )  # fmt: skip
        try:
            while concurrent.futures.wait([future], timeout=0.1).not_done:
                stage, done, total = monitor.progress()
                if progress and total > 0:
                    progress(stage, min(done, total), total, -1.0)
            return future.result()
        except KeyboardInterrupt:
            monitor.cancel()
            raise Cancelled("Stopped while the cage was built: no frame is finished yet, bake again.") from None


def _create(root: Path, shot: Shot, identity: str, enricher: Any, build: str) -> Store:
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
        build=build,
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


def _run(worker: Worker, source: Iterable[Sample], total: int, progress: Progress | None) -> None:
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

    def __init__(self, worker: Worker, total: int, progress: Progress | None) -> None:
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
