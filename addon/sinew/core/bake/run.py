"""The bake: samples come in on the calling thread, a second thread fits, simulates and writes.

    source (main thread) -> bounded queue -> worker: input slots of all that waits; then fit i, state i-1, result i-1

A state needs the fit of one sample ahead, so results trail the samples by one. All that the worker needs later it
reads back from the store, so memory does not grow with the number of frames, and a continued bake computes from
the same bits as one that ran through.
"""

from __future__ import annotations

import concurrent.futures
import functools
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

from ..base.errors import Cancelled, OutOfMemory
from ..base.hashes import hash_arrays
from . import folders
from .clock import Clock
from .manifest import Manifest
from .report import build_report
from .shot import Sample, Shot, sample_hash, stored_sample
from .store import Store
from .worker import Worker

Floats = npt.NDArray[np.float64]
Progress = Callable[[str, int, int, float], None]  # stage, done, total, seconds left (negative: not known)
Ready = Callable[[str, Path], None]  # id and folder, from the worker's thread

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
    ready: Ready | None = None,
) -> Outcome:
    """Bakes into a folder under `root`. `source` yields the samples in order and runs on the calling thread.

    An interrupted bake of the same thing is continued. `previous` is the id of the complete bake that this one
    replaces: what is unchanged is taken over from it, and it is not written to. `ready` is told the folder as soon as
    it can be played: it then shows the input where frames are not finished yet. KeyboardInterrupt (Ctrl+C) ends in
    Cancelled with all finished frames kept.
    """
    clock = clock or Clock()
    identity = shot.identity()
    iterator = clock.timed("sampling", source)
    store: Store | None = None
    old: Store | None = None
    try:
        store = folders.open_unfinished(root, shot, identity)
        old = folders.open_source(root, previous, shot, identity) if store is None else None
        drawn: Iterable[Sample] = []
        taken = 0
        if old is not None:
            taken, drawn = _take_unchanged(old, shot, iterator, progress)
            is_enough = shot.is_preview or not old.manifest.is_preview
            if taken == shot.samples and old.manifest.complete and old.manifest.owner == shot.owner and is_enough:
                return Outcome(old.manifest.id, old.folder, old.manifest.report, True)
        if old is not None and (taken == shot.samples or old.manifest.build == shot.build):
            enricher = _make_enricher(shot, old, clock, progress)
            store = _create(root, shot, identity, enricher, old.manifest.build)
            store.copy_from(old, _carried_over(old, shot))
        else:
            if old is not None:
                # Frames of two builds are never mixed: all is computed anew from the samples that were drawn.
                drawn = itertools.chain(map(functools.partial(stored_sample, old), range(taken)), drawn)
                taken = 0
            enricher = _make_enricher(shot, store, clock, progress)
            if store is None:
                store = _create(root, shot, identity, enricher, shot.build)
        store.describe(
            settings=shot.settings.as_dict(), frame_start=shot.frame_start, frame_end=shot.frame_end, complete=False
        )
        worker = Worker(store, shot, enricher, clock, taken=taken)
        _run(worker, itertools.chain(drawn, iterator), shot.samples, progress, ready)
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
        if mark.result != shot.result_key(sample):
            return sample.index, "amount"
        if mark.data != store.digest(sample.index):
            return sample.index, "data"
    return None


def _take_unchanged(
    old: Store, shot: Shot, iterator: Iterator[Sample], progress: Progress | None
) -> tuple[int, list[Sample]]:
    """Draws samples while all about them is as in the old bake: how many are, and the one that is not, if any."""
    for sample in iterator:
        index = sample.index
        mark = old.marks[index] if index < old.manifest.samples else None
        if (
            mark is None
            or (mark.input, mark.result) != (sample_hash(sample), shot.result_key(sample))
            or mark.data != old.digest(index)
            or index >= _carried_over(old, shot)
        ):
            return index, [sample]
        if progress:
            progress("Comparing", index + 1, shot.samples, -1.0)
    return shot.samples, []


def _carried_over(old: Store, shot: Shot) -> int:
    """How many samples of an old bake are those of a new one, if their input is. The state of a sample has seen the one
    ahead, so the last one that two ranges share counts only if it is the last of both; a loop has seen all."""
    before, now = old.manifest.samples, shot.samples
    if before == now:
        return now
    return 0 if shot.settings.loop else max(0, min(before, now) - 1)


class Engine(NamedTuple):
    """The classes that do the work, and which native module they use."""

    enricher: Any
    cage: Any
    monitor: Any
    version: str
    build: str


def load_engine() -> Engine:
    """A sentence where the native module is missing."""
    from ..base.native import Monitor, build, module
    from ..cage.cage import Cage
    from ..methods.enrich.engine import Enricher

    return Engine(Enricher, Cage, Monitor, str(getattr(module, "__version__", "")), build())


def _make_enricher(shot: Shot, store: Store | None, clock: Clock, progress: Progress | None) -> Any:
    """Builds the cage and what is computed once from it, in a thread, so that this one can watch and stop it."""
    engine = load_engine()
    cage = None
    if store is not None:
        cage = engine.cage(*(store.constant(f"cage_{name}") for name in ("vertices", "tets", "binding", "weights")))
        cage.note = str(store.manifest.report.get("cage_note", ""))
        cage.safe_vertices = store.constant("cage_safe") if store.manifest.has_safe else None
    monitor = engine.monitor()
    with clock.stage("cage"), concurrent.futures.ThreadPoolExecutor(1, "sinew cage") as pool:
        future = pool.submit(
            engine.enricher, shot.rest, shot.triangles, shot.follow, shot.settings, shot.sample_rate,
            gravity=shot.gravity, cage=cage, safe=shot.safe, parts=shot.parts, regions=shot.regions, after=shot.after,
            monitor=monitor,
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
        owner_setup=shot.owner_setup,
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
        topology=hash_arrays(shot.triangles),
        native=shot.native,
        build=build,
        settings=shot.settings.as_dict(),
        report={"cage_note": cage.note},  # for the report, should the bake be continued
        passengers=folders.entries(shot),
        is_preview=shot.is_preview,
        fields=shot.fields,
        animated_follow=shot.settings.follow_animated,
        has_parts=shot.parts is not None,
        has_safe=cage.safe_vertices is not None,
        has_inside=enricher.cage_follow is not None,
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
    if shot.parts is not None:
        constants |= {"tracked": shot.parts.tracked, "rigid": shot.parts.rigid}
    if cage.safe_vertices is not None:
        constants["cage_safe"] = cage.safe_vertices
    if enricher.cage_follow is not None:
        constants["cage_follow"] = enricher.cage_follow
    for index, passenger in enumerate(shot.passengers):
        for name in ("rest", "first", "shells"):
            constants[f"passenger_{index}_{name}"] = getattr(passenger, name)
    return Store.create(root, manifest, constants)


def _run(
    worker: Worker, source: Iterable[Sample], total: int, progress: Progress | None, ready: Ready | None
) -> None:
    """Feeds the worker's thread from this one, until all is done, one of the two fails, or Ctrl+C."""
    waiting: queue.Queue[Sample | None] = queue.Queue(_QUEUE_LENGTH)
    failure: list[BaseException] = []
    finished = threading.Event()

    def work() -> None:
        try:
            more = True
            while not worker.cancelled.is_set():
                try:
                    sample = waiting.get(block=more and not worker.can_step) if more else None
                except queue.Empty:  # nothing waits, so there is time for a step
                    worker.step()
                    continue
                if sample is not None:
                    worker.take(sample)
                elif more:
                    more = False
                    worker.end_of_samples()
                    if ready:
                        ready(worker.store.manifest.id, worker.store.folder)
                elif not worker.step():
                    break
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
            f"Stopped: {worker.done} of {total} {_word(worker)} are finished and kept, bake again to continue."
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


def _word(worker: Worker) -> str:
    return "frames" if worker.shot.settings.samples == 1 else "samples"


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
