"""The bake of several setups: the timeline is played once for all of them, then one is simulated after the other, those
whose bodies touch together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import bpy

from ... import setups
from ...core.bake.job import RowJob
from ...core.bake.run import Outcome
from ...core.bake.shot import Sample
from ...core.base.errors import BadInput, Error
from ...scene import file
from .. import job_operator
from ..job_operator import JobOperator
from ..work import Work
from . import live, properties, state
from .bake import SampledWork, brought_home, show_arrived

names: list[str] = []  # of the objects that are baked next


class TogetherWork(SampledWork):
    """What is wrong with one setup is told at the end, and does not stop the others."""

    title = "Bake All Sinew"
    job: RowJob | None = None

    def __init__(self, names: list[str], where: setups.Target, *, resample: bool = False) -> None:
        self._where, self._resample = where, resample
        self._errors: list[Error] = []
        self._entered: list[setups.Sampling] = []
        for name in names:
            try:
                self._entered.append(setups.Sampling(name, {}, where, resample=resample).__enter__())
            except Error as error:
                self._errors.append(error)
        self._members: list[setups.Sampling] = list(self._entered)  # those that are baked, as the job numbers them
        self._check_left()
        super().__init__(names[0], self._members[0].setup_id)
        if len(names) == 1:
            self.title = "Bake Sinew"
        self._preparation = self._prepare()
        self._samples: Iterator[tuple[int, Sample | Error]] = iter(())
        self._shown: list[int] = []  # samples of each whose arrival was shown
        self._attached: set[int] = set()

    @property
    def object_names(self) -> list[str]:
        return [member.name for number, member in enumerate(self._members) if number not in self._attached]

    def frames(self, done: int, object_name: str) -> int:
        samples = [member.shot.samples for member in self._members]
        for number, member in enumerate(self._members):
            if member.name == object_name and self.job is not None:
                shot = member.shot
                return state.frames_of(self.job.done_of(number, samples), shot, shot.settings.samples)
        return 0

    def _sample(self, job: RowJob) -> bool:
        number, taken = next(self._samples, (0, None))
        if taken is None:
            results = job.results
            self._leave([one for i, one in enumerate(self._members) if not isinstance(results[i], Error)])
            job.end_of_samples()
            return False
        if isinstance(taken, Error):
            job.drop(number, taken)
            self._members[number].discard()
        else:
            job.put(taken, number)
            self.sampled += 1
        return True

    def _prepare(self) -> Iterator[None]:
        further = yield from setups.join_touching(self._members, self._where, resample=self._resample)
        for member in further:
            self._entered.append(member.__enter__())
            self._members.append(member)
        setups.share_worlds(self._members)
        for member in list(self._members):
            try:
                yield from member.prepare()
            except Error as error:
                self._members.remove(member)
                self._errors.append(error)
                member.discard()
        self._check_left()

    def _begin(self) -> None:
        self.total = sum(member.shot.samples for member in self._members)
        self._shown = [0 for _ in self._members]
        self._samples = setups.sample_together(self._members)
        self.job = RowJob([member.plan for member in self._members], self._where.root, file.temporary_folder())

    def _leave(self, sampled: list[setups.Sampling]) -> None:
        entered, self._entered = self._entered, []
        setups.leave_all(entered, sampled)

    def _check_left(self) -> None:
        if not self._members:
            raise self._errors[0]

    def abandon(self) -> None:
        for steps in (self._preparation, self._samples):
            if hasattr(steps, "close"):
                steps.close()
        self._leave([])

    def discard(self) -> None:
        for member in self._members:
            member.discard()

    def is_welcome(self) -> str:
        reasons = [member.play.is_welcome() for member in self._members if member.play is not None]
        return reasons[0] if reasons and all(reasons) else ""

    def arrive(self) -> None:
        """Plays what is ready, and attaches what is finished."""
        job = self.job
        if job is None:
            return
        samples = [member.shot.samples for member in self._members]
        for number, member in enumerate(self._members):
            play, ready, result = member.play, job.ready[number], job.results[number]
            if play is None or number in self._attached:
                continue
            if isinstance(result, Outcome):
                self._attach(number, play, result)
            elif ready is not None:
                bake_id, folder = ready
                done = job.done_of(number, samples)
                self._shown[number] = show_arrived(play, bake_id, folder, self._shown[number], done)

    def _attach(self, number: int, play: setups.Play, outcome: Outcome) -> None:
        self._attached.add(number)
        try:
            play.attach(outcome)
        except Error as error:
            self._errors.append(error)
        properties.refresh()
        state.forget()

    def finish(self, outcomes: Any) -> str:
        self.arrive()
        results = self.job.results if self.job is not None else []
        errors = [*self._errors, *(one for one in results if isinstance(one, Error))]
        text = f"Baked {len(outcomes)} objects" if len(outcomes) != 1 else "Baked 1 object"
        if outcomes and all(outcome.unchanged for outcome in outcomes) and not errors:
            text = "Nothing has changed since the last bake"
        if brought_home(self._where):
            text += ": save the file once more, so that it knows where their bakes lie"
        if errors:
            raise BadInput(f"{text}, but not all. {errors[0]}")
        return text


class SINEW_OT_bake_together(JobOperator, bpy.types.Operator):
    bl_idname = "sinew.bake_together"
    bl_label = "Bake Together"
    bl_description = "Bake several setups whose timeline is played once for all of them"
    bl_options = {"REGISTER", "UNDO", "INTERNAL"}

    @classmethod
    def poll(cls, context: Any) -> bool:
        return not job_operator.is_running()

    def prepare(self, context: Any) -> Work:
        live.end()
        return TogetherWork(list(names), state.target())
