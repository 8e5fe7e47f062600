"""The bake of objects without a window: as in one, samples go to a job in a thread of its own, and this one watches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ..core.bake import run as baking
from ..core.bake.before import Progress
from ..core.bake.job import Job
from ..core.base.errors import Error
from ..scene import file, setup
from ..scene.steps import finished
from .sampling import Sampling
from .target import Target, sentences
from .together import join_touching, leave_all, sample_together, share_worlds

_LOOK = 0.2  # seconds between two looks at the job


@dataclass(frozen=True)
class Wanted:
    """What to bake: an object, values that go over the settings of its setup, a method ("": that of its setup), and a
    world: those of one name are simulated together, as its bodies ("": it is simulated with those that it touches)."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    method: str = ""
    world: str = ""


def bake_object(
    name: str,
    values: dict[str, Any],
    target: Target,
    progress: Progress | None = None,
    *,
    method: str = "",
    resample: bool = False,
) -> baking.Outcome:
    """Bakes an object and attaches the result. `values` go over the settings of the object's setup, if it has one.
    `resample`: its frames are played also where an earlier bake holds them.

    The open file gets its modifier only after the bake is complete; nothing is saved.
    """
    return bake_objects([Wanted(name, values, method)], target, progress, resample=resample)[0]


def bake_objects(
    wanted: Sequence[Wanted], target: Target, progress: Progress | None = None, *, resample: bool = False
) -> list[baking.Outcome]:
    """The same of a group that is computed together, by one job; with setups whose bodies touch these."""
    works = [
        Sampling(one.name, one.values, target, method=one.method, world=one.world, resample=resample) for one in wanted
    ]
    works += finished(join_touching(works, target, resample=resample))
    try:
        job = _sampled(works, target, progress)
        try:
            while not job.wait(_LOOK):
                _tell(progress, *job.progress)
        except BaseException as error:
            _stop(job, error)
            raise
        outcomes = job.result()
        _tell(progress, *job.progress)
    except BaseException:
        for work in works:
            work.discard()
        raise
    for work, outcome in zip(works, outcomes, strict=True):
        _store_values(work)
        with sentences():
            if work.play is not None:
                work.play.attach(outcome)
    return outcomes[: len(wanted)]


def _sampled(works: Sequence[Sampling], target: Target, progress: Progress | None) -> Job:
    """A job that has all its samples: what is wrong with the last frame is told here, and nothing comes of it."""
    entered: list[Sampling] = []
    sampled: Sequence[Sampling] = ()
    try:
        for work in works:
            entered.append(work.__enter__())
        share_worlds(works)
        for work in works:
            for _ in work.prepare():
                pass
        job = Job([work.plan for work in works], target.root, file.temporary_folder())
        try:
            for done, (number, sample) in enumerate(sample_together(works), start=1):
                if isinstance(sample, Error):
                    raise sample
                job.put(sample, number)
                _tell(progress, "Sampling", done, job.total, -1.0)
                if job.ended:
                    job.result()
            job.end_of_samples()
            sampled = works
        except BaseException as error:
            _stop(job, error)
            raise
    finally:
        leave_all(entered, sampled)
    return job


def _stop(job: Job, reason: BaseException) -> None:
    job.cancel()
    job.wait()
    if isinstance(reason, KeyboardInterrupt):
        job.result()  # says what is kept


def _tell(progress: Progress | None, stage: str, done: int, total: int, left: float) -> None:
    if progress:
        progress(stage, done, total, left)


def _store_values(work: Sampling) -> None:
    """Keeps the settings that a bake was made with, as its setup's."""
    found = setup.find_by_id(work.setup_id)
    if found is not None:
        entry, ob, scene = found
        entry.settings = work.settings.changed()
        setup.save_of(ob, entry, scene)
