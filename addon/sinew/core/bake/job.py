"""A bake in a thread of its own: samples are put in from the main thread, which then only watches."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..base.errors import Cancelled, Error
from . import run as baking
from .before import Member, Progress
from .clock import Clock
from .shot import Sample, Shot
from .spool import Spool


class Working:
    """Work in a thread that never touches bpy, watched and stopped from the main thread."""

    total: int

    def __init__(self, total: int) -> None:
        self.total = total
        self.outcomes: list[baking.Outcome] = []
        self.error: BaseException | None = None
        self.progress: tuple[str, int, int, float] = ("Preparing", 0, total, -1.0)
        self._cancelled = threading.Event()
        self._monitors: list[Any] = []  # of native work
        self._over = threading.Event()  # a thread whose `join` was interrupted counts as dead to Python

    def _start(self, work: Callable[[], list[baking.Outcome]]) -> None:
        threading.Thread(target=self._run, args=(work,), name="sinew job", daemon=True).start()

    def cancel(self) -> None:
        """Asks it to stop soon, in the middle of a frame too; finished frames stay on the disk."""
        self._cancelled.set()
        for monitor in list(self._monitors):
            monitor.cancel()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has come to its end, waiting that long at most (None: as long as it takes)."""
        return self._over.wait(seconds)

    @property
    def ended(self) -> bool:
        return self._over.is_set()

    def result(self) -> list[baking.Outcome]:
        """What an ended job made, of each setup; raises what went wrong."""
        if self.error is not None:
            raise self.error
        if not self.outcomes:
            raise Cancelled("The bake was stopped before its first frame: bake again.")
        return self.outcomes

    def _run(self, work: Callable[[], list[baking.Outcome]]) -> None:
        try:
            self.outcomes = work()
        except KeyboardInterrupt:
            self.error = Cancelled("Stopped: bake again to continue.")
        except Exception as error:  # noqa: BLE001 (the main thread raises it, with its traceback)
            self.error = error
        finally:
            self._over.set()

    def _watch(self, monitor: Any) -> None:
        self._monitors.append(monitor)
        if self._cancelled.is_set():
            monitor.cancel()

    def _tell(self, stage: str, done: int, total: int, left: float) -> None:
        self.progress = (stage, done, total, left)
        if self._cancelled.is_set():
            raise KeyboardInterrupt  # the bake takes it as Ctrl+C: it ends in order and keeps what is finished


@dataclass(frozen=True)
class Plan:
    """One setup of a job: what is baked, the id of the complete bake that it replaces, and its clock."""

    shot: Shot
    previous: str = ""
    clock: Clock | None = None
    whole: bool = False  # see Member
    world: str = ""  # plans of one name are simulated together; "": alone


class Job(Working):
    """Bakes a group of setups, each into a folder under `root`, as samples arrive."""

    def __init__(self, plans: Sequence[Plan], root: Path, temporary: Path) -> None:
        """Samples that wait lie in files in the folder `temporary`."""
        super().__init__(sum(plan.shot.samples for plan in plans))
        self.ready: list[tuple[str, Path] | None] = [None for _ in plans]  # id and folder, once they can be played
        self._spools = [Spool(temporary) for _ in plans]
        self._start(lambda: self._bake(plans, root))

    def put(self, sample: Sample, member: int = 0) -> None:
        self._spools[member].put(sample)

    def end_of_samples(self) -> None:
        for spool in self._spools:
            spool.end()

    def cancel(self) -> None:
        super().cancel()
        for spool in self._spools:
            spool.cancel()

    def _bake(self, plans: Sequence[Plan], root: Path) -> list[baking.Outcome]:
        members = [
            Member(
                plan.shot, spool, plan.previous, plan.clock, plan.world, plan.whole,
                functools.partial(self._is_ready, number),
            )
            for number, (plan, spool) in enumerate(zip(plans, self._spools, strict=True))
        ]
        try:
            return self._bake_all(members, root)
        finally:
            for spool in self._spools:
                spool.close()

    def _bake_all(self, members: Sequence[Member], root: Path) -> list[baking.Outcome]:
        return baking.bake_group(members, root, progress=self._tell, watch=self._watch)

    def _is_ready(self, member: int, bake_id: str, folder: Path) -> None:
        self.ready[member] = (bake_id, folder)


class RowJob(Job):
    """Bakes setups one after the other, those of one world together, so that memory is needed for one at a time. What
    is wrong with one does not stop the others: it stands in its place among the results."""

    def __init__(self, plans: Sequence[Plan], root: Path, temporary: Path) -> None:
        self.results: list[baking.Outcome | Error | None] = [None for _ in plans]  # as they come
        self._before = 0  # samples of those that are over
        super().__init__(plans, root, temporary)

    def drop(self, member: int, reason: Error) -> None:
        """No more samples will come of one, and nothing of it."""
        self.results[member] = reason
        self._spools[member].cancel()

    def done_of(self, member: int, samples: Sequence[int]) -> int:
        """How many samples of one are done; `samples`: of each."""
        return min(max(self.progress[1] - sum(samples[:member]), 0), samples[member])

    def _bake_all(self, members: Sequence[Member], root: Path) -> list[baking.Outcome]:
        for numbers in _rows(members):
            try:
                row = [members[number] for number in numbers]
                outcomes = baking.bake_group(row, root, progress=self._tell_of_row, watch=self._watch)
                for number, outcome in zip(numbers, outcomes, strict=True):
                    self.results[number] = outcome
            except (Error, KeyboardInterrupt) as error:
                if self._cancelled.is_set():
                    raise
                for number in numbers:
                    self.results[number] = self.results[number] or Error(str(error))
            self._before += sum(members[number].shot.samples for number in numbers)
        made = [one for one in self.results if isinstance(one, baking.Outcome)]
        if not made:
            raise next(one for one in self.results if isinstance(one, Error))
        return made

    def _tell_of_row(self, stage: str, done: int, total: int, left: float) -> None:
        if stage != "Baking":
            self._tell(stage, done, total, left)
            return
        others = self.total - self._before - total
        pace = left / max(1, total - done)
        self._tell(stage, self._before + done, self.total, left + pace * others if left >= 0 else left)


def _rows(members: Sequence[Member]) -> list[list[int]]:
    """The numbers of those that are baked together, in order."""
    rows: dict[str, list[int]] = {}
    for number, member in enumerate(members):
        rows.setdefault(member.world or f" {number}", []).append(number)
    return list(rows.values())


class RemakeJob(Working):
    """Calls `work(progress)`, which makes the results of a finished bake anew."""

    def __init__(self, work: Callable[[Progress], baking.Outcome]) -> None:
        super().__init__(1)
        self._start(lambda: [work(self._tell)])
