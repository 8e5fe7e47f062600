"""A function that runs beside Blender, in a thread of its own that never touches bpy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .errors import Cancelled


class Task:
    """Calls `work(monitor)`; the monitor counts what native code has done and stops it when cancelled."""

    def __init__(self, title: str, work: Callable[[Any], Any]) -> None:
        self.error: BaseException | None = None
        self._title = title
        self._value: Any = None
        self._monitor: Any = None
        self._cancelled = False
        self._told: tuple[str, int, int] | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), name=f"sinew {title.lower()}", daemon=True)
        self._thread.start()

    @property
    def progress(self) -> tuple[str, int, int, float]:
        """What is done, how much of how much, and the seconds left (negative: not known)."""
        stage, done, total = self._monitor.progress() if self._monitor is not None else ("", 0, 1)
        stage, done, total = self._told or (stage, done, total)
        return stage or self._title, min(done, total), max(1, total), -1.0

    def tell(self, stage: str, done: int, total: int) -> None:
        """For work that is not native: how far it is."""
        self._told = (stage, done, total)

    @property
    def ended(self) -> bool:
        return not self._thread.is_alive()

    def cancel(self) -> None:
        self._cancelled = True
        if self._monitor is not None:
            self._monitor.cancel()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has come to its end, waiting that long at most (None: as long as it takes)."""
        self._thread.join(seconds)
        return self.ended

    def result(self) -> Any:
        """What an ended task returned; raises what went wrong."""
        if self.error is not None:
            raise self.error
        return self._value

    def _run(self, work: Callable[[Any], Any]) -> None:
        try:
            from .native import Monitor  # takes a moment the first time; a sentence where the module is missing

            self._monitor = Monitor()
            self._check()
            self._value = work(self._monitor)
            self._check()  # work that is not native does not look
        except Cancelled:
            self.error = Cancelled(f"{self._title} was stopped.")
        except Exception as error:  # noqa: BLE001 (the main thread raises it, with its traceback)
            self.error = error

    def _check(self) -> None:
        if self._cancelled:
            raise Cancelled
