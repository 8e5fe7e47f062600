"""Work that needs no more of the scene than a look at an object at rest."""

from __future__ import annotations

from typing import Any

from ...core.base.task import Task
from ...scene.steps import Steps
from .. import job_operator
from ..job_operator import JobOperator
from ..work import Work
from . import properties


class LookWork(Work):
    """Looks in steps; then `make` runs in a thread."""

    name = ""  # of the work, for its progress

    def __init__(self, item: Any, **values: Any) -> None:
        """`values` go over the settings of the setup."""
        super().__init__(item.object.name, properties.key_of(item))
        self._looking = self.look({**properties.values_of(item), **values})

    def look(self, values: dict[str, Any]) -> Steps[Any]:
        """With the values of the settings."""
        raise NotImplementedError

    def step(self) -> bool:
        try:
            next(self._looking)
        except StopIteration as end:
            body = end.value
            self.job = Task(self.name, lambda monitor: self.make(body, monitor))
            return False
        return True

    def make(self, body: Any, monitor: Any) -> Any:
        """In a thread, from what was looked at."""
        raise NotImplementedError

    def abandon(self) -> None:
        self._looking.close()


class LookOperator(JobOperator):
    """Base of operators for a look, which Esc may end at any time."""

    def modal(self: Any, context: Any, event: Any) -> Any:
        """The artist goes on while the thread works, and Esc still stops it."""
        running = job_operator.running
        if running.sampling:
            answer = super().modal(context, event)
            if running.sampling or running.reason:
                return answer
        if running.work is not self._own:
            return {"FINISHED"}
        if event.type == "ESC" and event.value == "PRESS":
            job_operator.request_stop()
            return {"RUNNING_MODAL"}
        return {"PASS_THROUGH"}
