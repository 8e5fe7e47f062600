"""Times of the stages of a bake."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Generator, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


class Clock:
    """Seconds spent in each stage. Stages on different threads overlap, so they need not add up to the total."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.calls: dict[str, int] = {}
        self._start = time.monotonic()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.monotonic()
        try:
            yield
        finally:
            self.add(name, time.monotonic() - start)

    def add(self, name: str, seconds: float) -> None:
        """A stage was gone through in that time."""
        with self._lock:
            self.seconds[name] = self.seconds.get(name, 0.0) + seconds
            self.calls[name] = self.calls.get(name, 0) + 1

    def timed(self, name: str, items: Iterable[Item]) -> Generator[Item, None, None]:
        """The same items; the time that it takes to get each counts."""
        iterator = iter(items)
        try:
            while True:
                with self.stage(name):
                    try:
                        item = next(iterator)
                    except StopIteration:
                        return
                yield item
        finally:
            if hasattr(iterator, "close"):
                iterator.close()

    @property
    def total(self) -> float:
        return time.monotonic() - self._start
