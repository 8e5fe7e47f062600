"""What an operator hands over to `job_operator`: a long piece of work on one setup."""

from __future__ import annotations

from typing import Any

from ..core.bake.job import Working
from ..core.base.task import Task
from ..scene import setup


class Work:
    """It holds names and ids, never pointers into the scene."""

    title = ""  # of the undo step; "" where the scene is not changed
    stopped = "Stopped."  # what is said after Esc
    sampled, total = 0, 1
    job: Working | Task | None = None  # the thread, once it works

    def __init__(self, name: str, setup_id: str) -> None:
        self._name, self.setup_id = name, setup_id

    @property
    def object_name(self) -> str:
        """Of the object, as it is called now."""
        found = setup.find_by_id(self.setup_id)
        return found[1].name if found is not None else self._name

    @property
    def object_names(self) -> list[str]:
        """Of all objects that it works on."""
        return [self.object_name]

    def count(self, done: int, total: int) -> str:
        """How far it is, for the panel, of so many pieces of sampling or of the thread's work."""
        return f"{done} of {total}"

    def frames(self, done: int, object_name: str) -> int:
        """Frames of the bake of an object that are there after so many pieces."""
        return 0

    def step(self) -> bool:
        """One short piece of the sampling. False when it is over; the scene is then as it was."""
        return False

    def abandon(self) -> None:
        """Stops sampling and puts the scene back, if that has not happened yet."""

    def arrive(self) -> None:
        """Called now and then while the thread works: shows what has come so far."""

    def is_welcome(self) -> str:
        """Why the result can no longer be used, or ""."""
        found = setup.find_by_id(self.setup_id)
        return "" if found is not None else f'"{self._name}" or its setup was deleted, so the work on it was dropped.'

    def finish(self, outcome: Any) -> str:
        """Writes the result back. A sentence for the artist."""
        raise NotImplementedError

    def discard(self) -> None:
        """Takes back what was made in the scene, when nothing comes of the work."""
