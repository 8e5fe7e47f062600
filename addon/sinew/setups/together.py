"""Several setups that are sampled in one pass over the timeline."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.bake.method import find
from ..core.bake.shot import Sample
from ..core.base.errors import Error
from ..scene import relations, setup
from ..scene.sampler import Playhead
from .passengers import carried_now
from .sampling import Sampling


def leave_all(entered: Sequence[Sampling], sampled: Sequence[Sampling]) -> None:
    """Leaves the scene, which is as it was then, and says of those that were sampled how their results are played. Two
    may carry the same object, so all are left first, the last one before the others."""
    for work in reversed(entered):
        work.leave()
    for work in sampled:
        work.conclude()


def sample_together(works: Sequence[Sampling]) -> Iterator[tuple[int, Sample | Error]]:
    """The samples of all, each with the number of its setup: a frame is gone to once for all of them. What is wrong
    with one is told in place of its further samples."""
    playhead = Playhead()
    rows = []
    for work in works:
        work.use(playhead)
        rows.append(work.samples())
    heads = [(work.time_of(0), number) for number, work in enumerate(works)]
    heapq.heapify(heads)
    while heads:
        _, number = heapq.heappop(heads)
        try:
            sample = next(rows[number], None)
        except Error as error:
            yield number, error
            continue
        if sample is not None:
            yield number, sample
            heapq.heappush(heads, (works[number].time_of(sample.index + 1), number))


def independent(names: Sequence[str], scene: Any) -> list[str]:
    """Those of some objects that look at none of the others, whose results they would see only later; the first one
    where all look at each other."""
    moved = {name: _moved_by(scene.objects[name], scene) for name in names}
    free = []
    for name in names:
        others = [ob for other in names if other != name for ob in moved[other]]
        if not relations.referring_to(others) & set(moved[name]):
            free.append(name)
    return free or list(names[:1])


def _moved_by(ob: Any, scene: Any) -> list[Any]:
    """The objects that play the bake of one."""
    entry = setup.find_of(ob, scene)
    settings = find(entry.method).settings().replace(entry.settings) if entry is not None else None
    return [ob, *(other for other, _ in carried_now(ob, scene, settings))] if settings is not None else [ob]
