"""The bake of a setup, or of a group of setups that are computed together.

    sampling (Blender's thread) -> Spool -> here: input slots of all that waits; then prepare i, state i-1, result i-1

A state may need what is prepared of samples ahead, so results trail the samples. All that is needed later is read back
from the store, so memory does not grow with the number of frames, and a continued bake computes from the same bits as
one that ran through. The setups of a group go on sample by sample, side by side; each has its own method, folder and
results, and what was finished of each stays when the group is interrupted. Those that share a world are simulated
together, as its bodies: what changes of one is computed anew for all of them.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import Cancelled, OutOfMemory
from ..base.hashes import hash_arrays
from . import folders
from .before import (
    Found,
    Member,
    Progress,
    Ready,
    Samples,
    acquainted,
    carried_over,
    grouped,
    is_kept,
    look,
    take_unchanged,
)
from .clock import Clock
from .company import Company
from .manifest import Manifest
from .method import Engine
from .report import build_report
from .shot import Sample, Shot
from .splice import Splice
from .spool import Given
from .store import Store
from .worker import Worker

Watch = Callable[[Any], None]  # is given the monitors of work that can be cancelled from another thread

_OFTEN = 0.25  # seconds between two words of progress


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
    whole: bool = False,
) -> Outcome:
    """Bakes one setup into a folder under `root`. `source` has the samples in order."""
    member = Member(shot, Given(source), previous, clock, ready=ready, whole=whole)
    return bake_group([member], root, progress=progress)[0]


def bake_group(
    members: Sequence[Member], root: Path, *, progress: Progress | None = None, watch: Watch | None = None
) -> list[Outcome]:
    """Bakes setups side by side, each into a folder under `root`.

    An interrupted bake of the same thing is continued. KeyboardInterrupt (also from `progress` and from a source) ends
    in Cancelled with all finished frames kept; so does cancelling a monitor, which `watch` is given as soon as it is
    there, and which ends a frame that takes long in its middle.
    """
    with contextlib.ExitStack() as stack:
        try:
            found = look(acquainted(members), root, stack)
            for one in found:
                one.taken = take_unchanged(one, progress)
            bakes = [
                _unchanged(one) if is_kept(one, found) else _open(one, root, stack, progress, watch) for one in found
            ]
            _run([one for one in bakes if isinstance(one, _Bake)], progress)
            return [one if isinstance(one, Outcome) else one.finish() for one in bakes]
        except MemoryError as error:
            raise OutOfMemory(
                f"There is too little memory for this mesh: {members[0].shot.method.saving} and bake again."
            ) from error


def _unchanged(found: Found) -> Outcome:
    assert found.old is not None
    return Outcome(found.old.manifest.id, found.old.folder, found.old.manifest.report, True)


class _Bake:
    """One setup of a group whose store is open."""

    def __init__(self, member: Member, samples: Samples, worker: Worker) -> None:
        self.shot, self.ready, self.samples, self.worker = member.shot, member.ready, samples, worker
        self.world = member.world
        self._more = True  # samples are to come

    def feed(self, wait: bool) -> None:
        """Takes in what waits; `wait`: until there is something."""
        while self._more:
            sample = self.samples.next(wait)
            if sample is not None:
                self.worker.take(sample)
            if self.worker.has_all or self.samples.ended:
                self._more = False
                self.worker.end_of_samples()
                if self.ready:
                    self.ready(self.worker.store.manifest.id, self.worker.store.folder)
            if sample is None or wait:
                return

    @property
    def has_more(self) -> bool:
        """Whether samples are to come."""
        return self._more

    def finish(self) -> Outcome:
        store = self.worker.store
        report = build_report(self.shot, store, self.worker.engine, self.worker.clock)
        store.complete(report)
        return Outcome(store.manifest.id, store.folder, report, False)


def _open(
    found: Found, root: Path, stack: contextlib.ExitStack, progress: Progress | None, watch: Watch | None
) -> _Bake:
    """The bake of one setup, begun or continued."""
    shot, store, old = found.member.shot, found.store, found.old
    engine = _make_engine(shot, store or old, found.clock, progress, watch)
    if store is None:
        store = _create(root, shot, found, engine)
        stack.callback(store.close)
    if old is not None:
        store.copy_from(old, found.taken if found.member.whole else carried_over(old, shot))
    store.describe(
        settings=shot.settings.as_dict(), frame_start=shot.frame_start, frame_end=shot.frame_end, complete=False
    )
    splice = Splice(old, shot.method.ahead(shot.settings)) if old is not None and _may_splice(found, old) else None
    return _Bake(found.member, found.samples, Worker(store, shot, engine, found.clock, found.taken, splice))


def _may_splice(found: Found, old: Store) -> bool:
    """Whether what comes after changed frames may be taken from the old bake: of a body that is alone."""
    shot = found.member.shot
    is_alone = not shot.company and not shot.settings.loop
    alike = old.manifest.complete and old.manifest.samples == shot.samples
    return shot.method.splices and is_alone and alike and not found.member.whole


def _make_engine(
    shot: Shot, store: Store | None, clock: Clock, progress: Progress | None, watch: Watch | None
) -> Engine:
    """Makes what is computed once, in a thread, so that this one can watch and stop it."""
    shot.method.version()  # a sentence where what it needs is missing
    monitor = shot.method.monitor()
    if watch:
        watch(monitor)
    making = shot.method.making
    timed = clock.stage(making) if making else contextlib.nullcontext()
    with timed, concurrent.futures.ThreadPoolExecutor(1, "sinew engine") as pool:
        future = pool.submit(shot.method.engine, shot, store, monitor)
        try:
            while concurrent.futures.wait([future], timeout=0.1).not_done:
                stage, done, total = monitor.progress()
                if progress and total > 0:
                    progress(stage, min(done, total), total, -1.0)
            return future.result()
        except (KeyboardInterrupt, Cancelled):
            monitor.cancel()
            when = f"while the {making} was built" if making else "before the first frame"
            raise Cancelled(f"Stopped {when}: no frame is finished yet, bake again.") from None


def _create(root: Path, shot: Shot, found: Found, engine: Engine) -> Store:
    manifest = Manifest(
        id="",
        method=shot.method.name,
        owner_file=shot.owner_file,
        owner_setup=shot.owner_setup,
        owner_object=shot.owner_object,
        vertices=len(shot.rest),
        triangles=len(shot.triangles),
        counts=engine.counts(),
        samples=shot.samples,
        samples_per_frame=shot.settings.samples,
        first_frame=shot.first_frame,
        frame_start=shot.frame_start,
        frame_end=shot.frame_end,
        frame_rate=float(shot.sample_rate),
        identity=found.identity,
        topology=hash_arrays(shot.triangles),
        native=shot.native,
        build=shot.build,
        settings=shot.settings.as_dict(),
        report=engine.notes(),
        passengers=folders.entries(shot),
        is_preview=shot.is_preview,
        company=shot.company,
        together=found.together,
    )
    constants: dict[str, Any] = {"rest": shot.rest, "triangles": shot.triangles, **engine.constants()}
    for index, passenger in enumerate(shot.passengers):
        for name in ("rest", "first", "shells"):
            constants[f"passenger_{index}_{name}"] = getattr(passenger, name)
        if passenger.triangles is not None:
            constants[f"passenger_{index}_triangles"] = passenger.triangles
    return Store.create(root, manifest, constants)


def _run(bakes: Sequence[_Bake], progress: Progress | None) -> None:
    """Brings them to their end, side by side, until one fails or Ctrl+C."""
    clock = _LeftClock(bakes, progress)
    companies = _companies(bakes)
    for one in bakes:
        one.worker.pulse = clock.tell
    clock.tell(force=True)  # before anyone is told that frames arrive, and takes what an engine told for frames
    try:
        while True:
            for one in bakes:
                one.feed(wait=False)
            for company in companies:
                company.fall_in_line()  # a changed sample sends a worker back
            ready = [company for company in companies if company.can_step]
            waiting = [one for one in bakes if one.has_more]
            if ready:
                min(ready, key=lambda company: company.done).step()
            elif waiting:
                waiting[0].feed(wait=True)
            else:
                break
            clock.tell()
        clock.tell(force=True)
        for one in bakes:
            one.worker.finish_late(functools.partial(_tell_late, progress, one.shot.samples))
    except (KeyboardInterrupt, Cancelled):
        word = "frames" if all(one.shot.settings.samples == 1 for one in bakes) else "samples"
        raise Cancelled(
            f"Stopped: {clock.done} of {clock.total} {word} are finished and kept, bake again to continue."
        ) from None


def _tell_late(progress: Progress | None, total: int, done: int) -> None:
    if progress:
        progress("Showing", done, total, -1.0)


def _companies(bakes: Sequence[_Bake]) -> list[Company]:
    """In an order that does not depend on who is named first, nor on later names: what is kept of a contact counts by
    it."""

    def by_owner(number: int) -> tuple[str, str]:
        manifest = bakes[number].worker.store.manifest
        return manifest.owner_object, manifest.owner_setup

    groups = grouped([one.world for one in bakes])
    return [Company([bakes[number].worker for number in sorted(numbers, key=by_owner)]) for numbers in groups]


class _LeftClock:
    """Tells progress a few times a second, with the time left."""

    def __init__(self, bakes: Sequence[_Bake], progress: Progress | None) -> None:
        self._workers, self._progress = [one.worker for one in bakes], progress
        self.total = sum(one.shot.samples for one in bakes)
        self._start = time.monotonic()
        self._told = 0.0

    @property
    def done(self) -> int:
        return sum(worker.done for worker in self._workers)

    def tell(self, force: bool = False) -> None:
        now = time.monotonic()
        if self._progress is None or not self._workers or (now - self._told < _OFTEN and not force):
            return
        self._told = now
        left = -1.0
        computed = sum(worker.computed for worker in self._workers)
        if computed >= 2:
            left = (now - self._start) / computed * (self.total - self.done)
        self._progress("Baking", self.done, self.total, left)
