"""Bake, Preview, Cancel and Delete Bake."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

from ... import setups
from ...core.bake.job import Job
from ...core.bake.report import duration_text, frames_text
from ...core.bake.shot import Sample
from ...scene import file, setup, stack
from ...scene.objects import why_not
from .. import job_operator
from ..classes import asking, needs, registering, unless
from ..job_operator import JobOperator
from ..work import Work
from . import live, operators, properties, saving, state
from .remake import RemakeWork


class SampledWork(Work):
    """A bake: what is sampled in the scene, a step after the other, goes to a job."""

    stopped = "Stopped: the frames that are finished stay, bake again to continue."
    _preparation: Iterator[None]

    def step(self) -> bool:
        if self.job is None:
            if next(self._preparation, self) is self:
                self._begin()
            return True
        if self.job.ended and self.job.error is not None:
            raise self.job.error
        return self._sample(self.job)

    def _begin(self) -> None:
        """The shots are known: frames can be computed as soon as they are sampled."""
        raise NotImplementedError

    def _sample(self, job: Any) -> bool:
        """Hands the next sample over. False where there are no more."""
        raise NotImplementedError


class BakeWork(SampledWork):
    """The bake of one object and its passengers."""

    title = "Bake Sinew"
    job: Job | None = None

    def __init__(
        self, name: str, where: setups.Target, *, is_preview: bool = False, resample: bool = False
    ) -> None:
        self._where = where
        self._sampling = setups.Sampling(name, {}, where, is_preview=is_preview, resample=resample)
        self._play: setups.Play | None = None
        super().__init__(name, self._sampling.setup_id)
        with contextlib.ExitStack() as scene:
            scene.enter_context(self._sampling)
            self._scene = scene.pop_all()  # it is left when all frames are sampled, or the work is abandoned
        self._preparation = self._sampling.prepare()
        self._samples: Iterator[Sample] = self._sampling.samples()
        self._shown = 0  # samples whose arrival was shown

    def count(self, done: int, total: int) -> str:
        shot = self._sampling.shot
        return state.count_frames(done, shot, shot.settings.samples)

    def frames(self, done: int, object_name: str) -> int:
        shot = self._sampling.shot
        return state.frames_of(done, shot, shot.settings.samples)

    def _sample(self, job: Job) -> bool:
        taken = next(self._samples, None)
        if taken is not None:
            job.put(taken)
            self.sampled += 1
            return True
        self._scene.close()
        self._play = self._sampling.play
        job.end_of_samples()
        return False

    def _begin(self) -> None:
        self.total = self._sampling.shot.samples
        self.job = Job([self._sampling.plan], self._where.root, file.temporary_folder())

    def abandon(self) -> None:
        for steps in (self._preparation, self._samples):
            steps.close()  # type: ignore[attr-defined]
        self._scene.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
        self._scene = contextlib.ExitStack()

    def is_welcome(self) -> str:
        return self._play.is_welcome() if self._play is not None else super().is_welcome()

    def arrive(self) -> None:
        """Plays the folder as soon as it holds all the input, and draws the current frame again when it has come."""
        if self.job is not None and self.job.ready[0] is not None and self._play is not None:
            self._shown = show_arrived(self._play, *self.job.ready[0], self._shown, self.job.progress[1])

    def finish(self, outcomes: Any) -> str:
        (outcome,) = outcomes
        if self._play is not None:
            self._play.attach(outcome)
        properties.refresh()
        state.forget()
        if brought_home(self._where):
            return "Baked: save the file once more, so that it knows where its bake lies"
        if outcome.unchanged:
            return "Nothing has changed since the last bake"
        what = "Preview of" if self._sampling.is_preview else "Baked"
        report = outcome.report
        text = f"{what} {frames_text(report['frames'])} in {duration_text(report['seconds']['total'])}"
        return f"{text}; nothing that moves has changed, so none was played" if report["from_stored"] else text

    def discard(self) -> None:
        self._sampling.discard()


def show_arrived(play: setups.Play, bake_id: str, folder: Path, shown: int, done: int) -> int:
    """Plays a folder that holds all its input, and draws the current frame again if it is among the samples that have
    come since `shown` were there. How many are, now."""
    found = setup.find_by_id(play.setup_id)
    if found is None:
        return shown
    entry, ob, scene = found
    if entry.bake != bake_id or stack.own_modifier(ob) is None:
        saving.remember(entry.bake)
        play.show(bake_id, folder)
        properties.refresh()
    current = (scene.frame_current - play.shot.first_frame) * play.shot.settings.samples
    if shown <= current < done:
        for playing in setups.objects_of(ob, scene):
            playing.update_tag()
    return done


def brought_home(where: setups.Target) -> bool:
    """Whether a file that had no name was saved while its bake ran, which now lies beside it."""
    home = state.target().blend
    if where.blend is not None or home is None:
        return False
    saving.bring_home(home)
    return True


def _is_baked(context: Any) -> bool:
    entry = setup.find_of(context.object, context.scene)
    return stack.own_modifier(context.object) is not None or bool(entry and entry.bake)


_can_bake = (operators.can_look, unless(lambda context: why_not(context.object)))


class SINEW_OT_bake(JobOperator, bpy.types.Operator):
    bl_idname = "sinew.bake"
    bl_label = "Bake"
    bl_description = "Simulate the frame range and play the result. An interrupted bake is continued"
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(*_can_bake)

    @classmethod
    def description(cls, context: Any, values: Any) -> str:
        if values.resample:
            return "Play every frame of the animation again and bake, also where nothing that moves seems changed"
        return str(cls.bl_description)

    def prepare(self: Any, context: Any) -> Work:
        live.end()
        if not self.resample and setups.is_remake_enough(context.object, context.scene, state.target()):
            return RemakeWork(context.object.name, state.target())
        if setups.may_share(context.object.name, context.scene):
            from .bake_together import TogetherWork  # it shows what arrives as this module does

            return TogetherWork([context.object.name], state.target(), resample=self.resample)
        return BakeWork(context.object.name, state.target(), resample=self.resample)


class SINEW_OT_preview(JobOperator, bpy.types.Operator):
    bl_idname = "sinew.preview"
    bl_label = "Preview"
    bl_description = (
        "Simulate a few frames coarsely, for a quick look: the timeline's preview range, or from the current "
        "frame on. The last bake stays and comes back with Delete Preview"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(*_can_bake)

    def prepare(self, context: Any) -> Work:
        live.end()
        return BakeWork(context.object.name, state.target(), is_preview=True)


class SINEW_OT_cancel(bpy.types.Operator):
    bl_idname = "sinew.cancel"
    bl_label = "Cancel"
    bl_description = "Stop the bake. Finished frames stay and play, and Bake continues from there"

    poll = asking(needs(lambda context: job_operator.is_running(), "No bake is running"))

    def execute(self, context: Any) -> Any:
        job_operator.request_stop()
        return {"FINISHED"}


class SINEW_OT_delete_bake(bpy.types.Operator):
    bl_idname = "sinew.delete_bake"
    bl_label = "Delete Bake"
    bl_description = (
        "Remove the modifiers that play the bake, and nothing else: the input plays again. "
        "A preview gives way to the bake before it. The files go when the file is saved"
    )
    bl_options = {"REGISTER", "UNDO"}

    poll = asking(operators.has_idle_setup, needs(_is_baked, "There is no bake"))

    def execute(self, context: Any) -> Any:
        entry = setup.find_of(context.object, context.scene)
        if entry is not None:
            saving.remember(entry.bake)
        job_operator.forget_message()
        setups.delete_bake(context.object, context.scene, state.target())
        state.forget()
        return {"FINISHED"}


_props: Any = bpy.props  # the stubs say that its functions return nothing
SINEW_OT_bake.__annotations__ = {
    "resample": _props.BoolProperty(
        name="Play All Frames",
        description="Play all frames, also where an earlier bake holds them",
        default=False,
        options={"SKIP_SAVE"},
    )
}
CLASSES = (SINEW_OT_bake, SINEW_OT_preview, SINEW_OT_cancel, SINEW_OT_delete_bake)
register, unregister = registering(CLASSES)
