"""A bake in a thread of its own, for a Blender with a window: samples are put in from the main thread, which then only
watches."""

from __future__ import annotations

import threading
from pathlib import Path

from . import bake as baking
from .errors import Cancelled
from .report import Clock
from .shot import Sample, Shot
from .spool import Spool


class Job:
    """Bakes `shot` into a folder under `root` as samples arrive. It never touches bpy."""

    def __init__(self, shot: Shot, root: Path, temporary: Path, previous: str = "", clock: Clock | None = None) -> None:
        """Samples that wait lie in a file in the folder `temporary`."""
        self.total = shot.samples
        self.outcome: baking.Outcome | None = None
        self.error: BaseException | None = None
        self.ready: tuple[str, Path] | None = None  # id and folder, once they can be played while the bake goes on
        self.progress: tuple[str, int, int, float] = ("Preparing", 0, shot.samples, -1.0)
        self._cancelled = threading.Event()
        self._spool = Spool(temporary)
        self._thread = threading.Thread(
            target=self._work, args=(shot, root, previous, clock), name="sinew job", daemon=True
        )
        self._thread.start()

    def put(self, sample: Sample) -> None:
        self._spool.put(sample)

    def end_of_samples(self) -> None:
        self._spool.end()

    def cancel(self) -> None:
        """Asks it to stop soon; finished frames stay on the disk."""
        self._cancelled.set()
        self._spool.cancel()

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

    def _work(self, shot: Shot, root: Path, previous: str, clock: Clock | None) -> None:
        try:
            self.outcome = baking.bake(
                shot, self._spool, root, previous=previous, progress=self._tell, clock=clock, ready=self._is_ready
            )
        except KeyboardInterrupt:
            self.error = Cancelled("Stopped: bake again to continue.")
        except Exception as error:  # noqa: BLE001 (the main thread raises it, with its traceback)
            self.error = error
        finally:
            self._spool.close()

    def _is_ready(self, bake_id: str, folder: Path) -> None:
        self.ready = (bake_id, folder)

    def _tell(self, stage: str, done: int, total: int, left: float) -> None:
        self.progress = (stage, done, total, left)
        if self._cancelled.is_set():
            raise KeyboardInterrupt  # the bake takes it as Ctrl+C: it ends in order and keeps what is finished
