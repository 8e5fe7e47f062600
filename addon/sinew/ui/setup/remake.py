"""A finished bake shown otherwise, with nothing simulated."""

from __future__ import annotations

from typing import Any

from ... import setups
from ...core.bake.job import RemakeJob
from ...core.bake.report import frames_text
from ..work import Work
from . import live, saving, state


class RemakeWork(Work):
    """A bake shown otherwise."""

    title = "Show Bake Otherwise"
    stopped = "Stopped: the bake is as it was."

    def __init__(self, name: str, where: setups.Target) -> None:
        live.end()
        self._remake = setups.ObjectRemake(name, where)
        super().__init__(name, self._remake.setup_id)
        self._looking = self._remake.look()

    def step(self) -> bool:
        if next(self._looking, self) is not self:
            return True
        self.job = RemakeJob(self._remake.run)
        return False

    def abandon(self) -> None:
        self._looking.close()

    def is_welcome(self) -> str:
        return self._remake.is_welcome()

    def finish(self, outcomes: Any) -> str:
        (outcome,) = outcomes
        saving.remember(self._remake.bake)
        self._remake.attach(outcome)
        state.forget()
        return "Nothing has changed" if outcome.unchanged else f"Applied to {frames_text(outcome.report['frames'])}"
