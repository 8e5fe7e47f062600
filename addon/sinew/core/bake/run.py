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
import dataclasses
import functools
import itertools
import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import BadInput, Cancelled, OutOfMemory
from ..base.hashes import hash_arrays
from . import folders
from .clock import Clock
from .company import Company
from .manifest import Manifest
from .method import Engine
from .report import build_report
from .shot import Sample, Shot, sample_hash
from .spool import Given, Source
from .store import Store
from .worker import Worker

Progress = Callable[[str, int, int, float], None]  # stage, done, total, seconds left (negative: not known)
Ready = Callable[[str, Path], None]  # id and folder of a bake
Watch = Callable[[Any], None]  # is given the monitors of work that can be cancelled from another thread

_OFTEN = 0.25  # seconds between two words of progress


@dataclass(frozen=True)
class Outcome:
    """A complete bake."""

    id: str
    folder: Path
    report: dict[str, Any]
    unchanged: bool  # the bake that was there already is still right


@dataclass(frozen=True)
class Member:
    """One setup of a group. `previous` is the id of the complete bake that this one replaces: what is unchanged is
    taken over from it, and it is not written to."""

    shot: Shot
    source: Source
    previous: str = ""
    clock: Clock | None = None
    world: str = ""  # those of one name are simulated together; "": alone
    ready: Ready | None = None  # told the folder as soon as it can be played: it shows the input where nothing is done


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
    """Bakes one setup into a folder under `root`. `source` has the samples in order."""
    member = Member(shot, Given(source), previous, clock, ready=ready)
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
            found = _look(_acquainted(members), root, stack)
            for one in found:
                one.taken = _take_unchanged(one, progress)
            bakes = [
                one.outcome() if _is_kept(one, found) else _open(one, root, stack, progress, watch) for one in found
            ]
            _run([one for one in bakes if isinstance(one, _Bake)], progress)
            return [one if isinstance(one, Outcome) else one.finish() for one in bakes]
        except MemoryError as error:
            raise OutOfMemory(
                f"There is too little memory for this mesh: {members[0].shot.method.saving} and bake again."
            ) from error


class _Bake:
    """One setup of a group whose store is open."""

    def __init__(self, member: Member, samples: _Samples, worker: Worker) -> None:
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


class _Samples:
    """A source, to which a sample can be put back; the time that it takes to get each counts."""

    def __init__(self, source: Source, clock: Clock) -> None:
        self._source, self._clock = source, clock
        self._back: Sample | None = None

    def put_back(self, sample: Sample) -> None:
        """It comes next."""
        self._back = sample

    def next(self, wait: bool) -> Sample | None:
        if self._back is not None:
            sample, self._back = self._back, None
            return sample
        with self._clock.stage("sampling"):
            return self._source.next(wait)

    @property
    def ended(self) -> bool:
        return self._back is None and self._source.ended


def _acquainted(members: Sequence[Member]) -> list[Member]:
    """The members, each with what its company is part of its identity: it feels them."""
    known = [member.shot.identity() for member in members]
    acquainted = list(members)
    for company in _grouped([member.world for member in members]):
        _check_company([members[number] for number in company])
        for number in company:
            others = sorted(known[other] for other in company if other != number)
            shot = dataclasses.replace(members[number].shot, company=tuple(others))
            acquainted[number] = dataclasses.replace(members[number], shot=shot)
    return acquainted


def _check_company(company: Sequence[Member]) -> None:
    for one, other in itertools.combinations([member.shot for member in company], 2):
        ranges = [(shot.first_frame, shot.samples, shot.sample_rate) for shot in (one, other)]
        wrong = ranges[0] != ranges[1] or one.settings.loop or other.settings.loop
        advice = "frame range and samples a frame, and no loop" if wrong else _not_shared(one, other)
        if advice:
            raise BadInput(
                f'"{one.owner_object}" and "{other.owner_object}" are simulated together: give them the same {advice}.'
            )


def _not_shared(one: Shot, other: Shot) -> str:
    """Label of a setting that the bodies of a world must have as one, and these have not; "" without one."""
    mine, theirs = (shot.method.shares(shot.settings) for shot in (one, other))
    differing = (name for name, value in mine.items() if theirs.get(name, value) != value)
    return next((str(one.settings.find(name).label) for name in differing), "")


class _Found:
    """What there is of a bake before it goes on."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self.clock = member.clock or Clock()
        self.samples = _Samples(member.source, self.clock)
        self.identity = member.shot.identity()
        self.together = ""  # the token of its company; "": it has none
        self.store: Store | None = None  # of an interrupted bake of the same thing
        self.old: Store | None = None  # of a complete one, which this one replaces
        self.taken = 0  # first samples whose input, and all else, is as it was

    @property
    def is_unchanged(self) -> bool:
        """Whether the bake that was there already is still right."""
        shot, old = self.member.shot, self.old
        if old is None or self.taken < shot.samples or not old.manifest.complete:
            return False
        return old.manifest.owner == shot.owner and (shot.is_preview or not old.manifest.is_preview)

    def outcome(self) -> Outcome:
        assert self.old is not None
        return Outcome(self.old.manifest.id, self.old.folder, self.old.manifest.report, True)


def _is_kept(one: _Found, found: Sequence[_Found]) -> bool:
    """Whether a bake stays as it is: those of one world do together, or none."""
    world = one.member.world
    return all(other.is_unchanged for other in found if other is one or (world and other.member.world == world))


def _look(members: Sequence[Member], root: Path, stack: contextlib.ExitStack) -> list[_Found]:
    """What there is of each. Those that share a world go on from bakes that were made together, or begin anew: one
    that was made with another bake of a companion has felt what that one did then."""
    found: dict[int, _Found] = {}
    for numbers in _grouped([member.world for member in members]):
        company = [members[number] for number in numbers]
        found |= zip(numbers, _look_together(company, root, stack), strict=True)
    return [found[number] for number in range(len(members))]


def _look_together(company: Sequence[Member], root: Path, stack: contextlib.ExitStack) -> list[_Found]:
    found = [_Found(member) for member in company]
    bakes = [folders.bakes_of(root, one.member.previous, one.member.shot, one.identity) for one in found]
    made = {
        token: [[manifest for manifest in some if manifest.together == token] for some in bakes]
        for token in _tokens(bakes)
    }
    for token, some in made.items():
        shots = [member.shot for member in company]
        stores = _all_or_none(map(functools.partial(folders.open_unfinished, root), some, shots), stack)
        if stores:
            for one, store in zip(found, stores, strict=True):
                one.together, one.store = token, store
            return found
    begun = secrets.token_hex(8) if len(company) > 1 else ""
    sources = (_all_or_none(map(functools.partial(folders.open_source, root), some), stack) for some in made.values())
    olds = next(filter(None, sources), None)
    for number, one in enumerate(found):
        one.together, one.old = begun, olds[number] if olds else None
    return found


def _tokens(bakes: Sequence[Sequence[Manifest]]) -> list[str]:
    """Those that every member of a company has a bake with, the best first; "" is that of one who is alone."""
    first = [manifest.together for manifest in bakes[0]]
    shared = [token for token in first if all(token in {one.together for one in some} for some in bakes)]
    return [token for token in dict.fromkeys(shared) if bool(token) == (len(bakes) > 1)]


def _all_or_none(stores: Iterable[Store | None], stack: contextlib.ExitStack) -> list[Store]:
    """The open stores of a whole company; none where one of them is missing."""
    opened = list(stores)
    there = [store for store in opened if store is not None]
    if len(there) == len(opened):
        for store in there:
            stack.callback(store.close)
        return there
    for store in there:
        store.close()
    return []


def _grouped(worlds: Sequence[str]) -> list[list[int]]:
    """Who is simulated with whom, as places in the list; "" is simulated alone."""
    groups: dict[str, list[int]] = {}
    for number, world in enumerate(worlds):
        groups.setdefault(world or f" {number}", []).append(number)
    return list(groups.values())


def _open(
    found: _Found, root: Path, stack: contextlib.ExitStack, progress: Progress | None, watch: Watch | None
) -> _Bake:
    """The bake of one setup, begun or continued."""
    shot, store, old = found.member.shot, found.store, found.old
    engine = _make_engine(shot, store or old, found.clock, progress, watch)
    if store is None:
        store = _create(root, shot, found, engine)
        stack.callback(store.close)
    if old is not None:
        store.copy_from(old, _carried_over(old, shot))
    store.describe(
        settings=shot.settings.as_dict(), frame_start=shot.frame_start, frame_end=shot.frame_end, complete=False
    )
    return _Bake(found.member, found.samples, Worker(store, shot, engine, found.clock, taken=found.taken))


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


def _take_unchanged(found: _Found, progress: Progress | None) -> int:
    """Draws samples while all about them is as in the old bake: how many are."""
    shot, old, samples = found.member.shot, found.old, found.samples
    if old is None:
        return 0
    while (sample := samples.next(wait=True)) is not None:
        index = sample.index
        mark = old.marks[index] if index < old.manifest.samples else None
        if (
            mark is None
            or (mark.input, mark.result) != (sample_hash(sample), shot.result_key(sample))
            or mark.data != old.digest(index)
            or index >= _carried_over(old, shot)
        ):
            samples.put_back(sample)
            return index
        if progress:
            progress("Comparing", index + 1, shot.samples, -1.0)
    return shot.samples


def _carried_over(old: Store, shot: Shot) -> int:
    """How many samples of an old bake are those of a new one, if their input is. The state of a sample has looked
    ahead, so the last that two ranges share count only if they are the last of both; a loop has seen
    all."""
    before, now = old.manifest.samples, shot.samples
    if before == now:
        return now
    return 0 if shot.settings.loop else max(0, min(before, now) - shot.method.ahead(shot.settings))


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


def _create(root: Path, shot: Shot, found: _Found, engine: Engine) -> Store:
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

    groups = _grouped([one.world for one in bakes])
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
