"""A bake in a thread of its own, for a Blender with a window: samples are put in from the main thread, which then only
watches."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from ..base.errors import Cancelled
from . import run as baking
from .clock import Clock
from .shot import Sample, Shot
from .spool import Spool


class Working:
    """Work in a thread that never touches bpy, watched and stopped from the main thread."""

    total: int

    def __init__(self, total: int) -> None:
        self.total = total
        self.outcome: baking.Outcome | None = None
        self.error: BaseException | None = None
        self.ready: tuple[str, Path] | None = None  # id and folder, once they can be played while the bake goes on
        self.progress: tuple[str, int, int, float] = ("Preparing", 0, total, -1.0)
        self._cancelled = threading.Event()
        self._thread: threading.Thread

    def _start(self, work: Callable[[], baking.Outcome]) -> None:
        self._thread = threading.Thread(target=self._run, args=(work,), name="sinew job", daemon=True)
        self._thread.start()

    def cancel(self) -> None:
        """Asks it to stop soon; finished frames stay on the disk."""
        self._cancelled.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has come to its end, waiting that long at most (None: as long as it takes)."""
        self._thread.join(seconds)
        return self.ended

    @property
    def ended(self) -> bool:
        return not self._thread.is_alive()

    def result(self) -> baking.Outcome:
        """What an ended job made; raises what went wrong."""
        if self.error is not None:
            raise self.error
        if self.outcome is None:
            raise Cancelled("The bake was stopped before its first frame: bake again.")
        return self.outcome

    def _run(self, work: Callable[[], baking.Outcome]) -> None:
        try:
            self.outcome = work()
        except KeyboardInterrupt:
            self.error = Cancelled("Stopped: bake again to continue.")
        except Exception as error:  # noqa: BLE001 (the main thread raises it, with its traceback)
            self.error = error

    def _tell(self, stage: str, done: int, total: int, left: float) -> None:
        self.progress = (stage, done, total, left)
        if self._cancelled.is_set():
            raise KeyboardInterrupt  # the bake takes it as Ctrl+C: it ends in order and keeps what is finished


class Job(Working):
    """Bakes `shot` into a folder under `root` as samples arrive."""

    def __init__(self, shot: Shot, root: Path, temporary: Path, previous: str = "", clock: Clock | None = None) -> None:
        """Samples that wait lie in a file in the folder `temporary`."""
        super().__init__(shot.samples)
        self._spool = Spool(temporary)
        self._start(lambda: self._bake(shot, root, previous, clock))

    def put(self, sample: Sample) -> None:
        self._spool.put(sample)

    def end_of_samples(self) -> None:
        self._spool.end()

    def cancel(self) -> None:
        super().cancel()
        self._spool.cancel()

    def _bake(self, shot: Shot, root: Path, previous: str, clock: Clock | None) -> baking.Outcome:
        try:
            return baking.bake(
                shot, self._spool, root, previous=previous, progress=self._tell, clock=clock, ready=self._is_ready
            )
        finally:
            self._spool.close()

    def _is_ready(self, bake_id: str, folder: Path) -> None:
        self.ready = (bake_id, folder)


class RemakeJob(Working):
    """Calls `work(progress)`, which makes the results of a finished bake anew."""

    def __init__(self, work: Callable[[baking.Progress], baking.Outcome]) -> None:
        super().__init__(1)
        self._start(lambda: work(self._tell))
