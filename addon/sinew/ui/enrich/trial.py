"""Trial Fit: the cage fitted to a few frames, to see before the bake how well it will follow. Nothing is baked."""

from __future__ import annotations

from typing import Any

import bpy

from ...core.flesh import trial
from ...core.flesh.trial import FrameFit, Trial
from ...core.geometry.poses import CANDIDATES
from ...scene.steps import Steps
from ...setups.enrich.trial import trial_in_steps
from .. import handlers
from ..classes import asking
from ..setup import operators, properties
from ..setup.look import LookOperator
from ..work import Work
from . import cage, view

_tried: dict[str, tuple[cage.Built, Trial]] = {}  # by the id of the setup


def find(item: Any) -> Trial | None:
    """The trial of this session, unless mesh or settings have changed since."""
    built, found = _tried.get(properties.key_of(item), (None, None))
    return found if built is not None and not cage.why_stale(item, built) else None


def fit_at(item: Any, frame: float) -> FrameFit | None:
    """The fitted cage of a frame that was tried."""
    found = find(item)
    return found.find(frame) if found is not None else None


def forget() -> None:
    """Another file is open."""
    _tried.clear()


class TrialWork(cage.BuildWork):
    """A cage, fitted to the most different of some frames."""

    name = "Trial fit"
    stopped = "The trial fit was stopped."

    total = CANDIDATES

    def look(self, values: dict[str, Any]) -> Steps[Any]:
        return trial_in_steps(self._name, values)

    def step(self) -> bool:
        self.sampled = min(self.sampled + 1, self.total)
        return super().step()

    def make(self, given: Any, monitor: Any) -> tuple[cage.Built, Trial]:
        built, made = self.build(given.body, monitor)
        rest = given.body.rest
        found = trial.fit_frames(
            rest.positions,
            rest.triangles,
            given.frames,
            self._settings,
            cage=made,
            parts=given.parts,
            labels=given.labels,
            safe=given.body.safe,
            check=monitor.check,
            progress=self._tell,
        )
        return built, found

    def _tell(self, stage: str, done: int, total: int) -> None:
        if self.job is not None:
            self.job.tell(stage, done, total)

    def finish(self, outcome: tuple[cage.Built, Trial]) -> str:
        super().finish(outcome[0])
        _tried[self.setup_id] = outcome
        self.show(view.FITTED)
        return ". ".join(outcome[1].told()[1:])


class SINEW_OT_trial_fit(LookOperator, bpy.types.Operator):
    bl_idname = "sinew.trial_fit"
    bl_label = "Trial Fit"
    bl_description = (
        "Fit the cage to five frames that differ much and say how far it is off, before hours are spent on a bake. "
        "On these frames the fitted cage shows in the viewport. Nothing is baked"
    )
    bl_options = {"REGISTER"}

    poll = asking(operators.can_look)

    def prepare(self, context: Any) -> Work:
        properties.refresh()
        return TrialWork(operators.active_item(context))


def _before_load(*_: object) -> None:
    forget()


_HANDLERS = {"load_pre": _before_load}


def register() -> None:
    bpy.utils.register_class(SINEW_OT_trial_fit)
    handlers.add(_HANDLERS)


def unregister() -> None:
    forget()
    handlers.remove(_HANDLERS)
    bpy.utils.unregister_class(SINEW_OT_trial_fit)
