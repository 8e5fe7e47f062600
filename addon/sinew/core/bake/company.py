"""Setups whose simulations are bodies of one world: their workers compute the same sample at the same time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Sequence

from .move import World
from .worker import Worker


class Company:
    """Workers that share a world; one that works alone is a company of one."""

    def __init__(self, workers: Sequence[Worker]) -> None:
        self.workers = tuple(workers)
        self._world = World()
        self.fall_in_line()

    @property
    def done(self) -> int:
        return min(worker.done for worker in self.workers)

    @property
    def can_step(self) -> bool:
        """Whether there is work that needs no further sample."""
        return any(worker.can_prepare for worker in self.workers) or self._can_advance

    def step(self) -> None:
        """Computes one sample of each, or prepares one."""
        if self._can_advance:
            self._advance()
        else:
            ready = [worker for worker in self.workers if worker.can_prepare]
            min(ready, key=lambda worker: worker.prepared).prepare()

    @property
    def _can_advance(self) -> bool:
        return all(worker.can_advance for worker in self.workers)

    def fall_in_line(self) -> None:
        """Who is ahead of the others, after an interruption or a change of theirs, computes those samples again: they
        have felt the others. To be called when one may have gone back."""
        least = min(worker.computes for worker in self.workers)
        for worker in self.workers:
            if worker.computes > least:
                worker.go_back(least)

    def _advance(self) -> None:
        with self._shared_time():
            begun = [worker.begin() for worker in self.workers]
            if not all(begun):
                self.fall_in_line()
                return
            moved = self._world.advance([worker.move() for worker in self.workers])
            numbers = [worker.advance(one) for worker, one in zip(self.workers, moved, strict=True)]
        for worker, about in zip(self.workers, numbers, strict=True):
            worker.finish(about)

    @contextlib.contextmanager
    def _shared_time(self) -> Iterator[None]:
        """The time is told of the simulations of all, an equal part each."""
        start = time.monotonic()
        try:
            yield
        finally:
            part = (time.monotonic() - start) / len(self.workers)
            for worker in self.workers:
                worker.clock.add("simulation", part)
