"""What there is of a bake before it goes on: earlier bakes of the same thing, and how much of them is still right.

Setups that share a world are a company: they go on from bakes that were made together, or begin anew.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import BadInput
from . import folders
from .clock import Clock
from .manifest import Manifest
from .shot import Sample, Shot, sample_hash
from .spool import Source
from .store import Store

Progress = Callable[[str, int, int, float], None]  # stage, done, total, seconds left (negative: not known)
Ready = Callable[[str, Path], None]  # id and folder of a bake


@dataclass(frozen=True)
class Member:
    """One setup of a group. `previous` is the id of the complete bake that this one replaces: what is unchanged is
    taken over from it, and it is not written to."""

    shot: Shot
    source: Source
    previous: str = ""
    clock: Clock | None = None
    world: str = ""  # those of one name are simulated together; "": alone
    whole: bool = False  # nothing is taken over from a bake that has been spliced, and this one is not
    ready: Ready | None = None  # told the folder as soon as it can be played: it shows the input where nothing is done


class Samples:
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


def acquainted(members: Sequence[Member]) -> list[Member]:
    """The members, each with what its company is part of its identity: it feels them."""
    known = [member.shot.identity() for member in members]
    acquainted = list(members)
    for company in grouped([member.world for member in members]):
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


class Found:
    """What there is of a bake before it goes on."""

    def __init__(self, member: Member) -> None:
        self.member = member
        self.clock = member.clock or Clock()
        self.samples = Samples(member.source, self.clock)
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


def is_kept(one: Found, found: Sequence[Found]) -> bool:
    """Whether a bake stays as it is: those of one world do together, or none."""
    world = one.member.world
    return all(other.is_unchanged for other in found if other is one or (world and other.member.world == world))


def look(members: Sequence[Member], root: Path, stack: contextlib.ExitStack) -> list[Found]:
    """What there is of each. Those that share a world go on from bakes that were made together, or begin anew: one
    that was made with another bake of a companion has felt what that one did then."""
    found: dict[int, Found] = {}
    for numbers in grouped([member.world for member in members]):
        company = [members[number] for number in numbers]
        found |= zip(numbers, _of_company(company, root, stack), strict=True)
    return [found[number] for number in range(len(members))]


def _of_company(company: Sequence[Member], root: Path, stack: contextlib.ExitStack) -> list[Found]:
    found = [Found(member) for member in company]
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


def grouped(worlds: Sequence[str]) -> list[list[int]]:
    """Who is simulated with whom, as places in the list; "" is simulated alone."""
    groups: dict[str, list[int]] = {}
    for number, world in enumerate(worlds):
        groups.setdefault(world or f" {number}", []).append(number)
    return list(groups.values())


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


def take_unchanged(found: Found, progress: Progress | None) -> int:
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
            or index >= carried_over(old, shot)
            or (found.member.whole and mark.numbers.spliced)
        ):
            samples.put_back(sample)
            return index
        if progress:
            progress("Comparing", index + 1, shot.samples, -1.0)
    return shot.samples


def carried_over(old: Store, shot: Shot) -> int:
    """How many samples of an old bake are those of a new one, if their input is. The state of a sample has looked
    ahead, so the last that two ranges share count only if they are the last of both; a loop has seen
    all."""
    before, now = old.manifest.samples, shot.samples
    if before == now:
        return now
    return 0 if shot.settings.loop else max(0, min(before, now) - shot.method.ahead(shot.settings))
