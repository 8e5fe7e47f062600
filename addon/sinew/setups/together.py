"""Several setups that are sampled in one pass over the timeline."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from typing import Any

from ..core.bake.method import check_room, find
from ..core.bake.shot import Sample
from ..core.base.errors import Error
from ..scene import relations, setup
from ..scene.errors import SceneError
from ..scene.sampler import Playhead
from ..scene.steps import Steps
from .collisions import does_collide, meets, pushes
from .passengers import carried_now
from .sampling import Sampling
from .target import Target, sentences
from .worlds import worlds_in_steps


def join_touching(works: Sequence[Sampling], target: Target, *, resample: bool = False) -> Steps[list[Sampling]]:
    """Lets those of some works whose bodies touch share a world, and makes those of further setups that they touch. The
    scene's frame is as it was afterwards."""
    free = {work.name: work for work in works if not work.world}
    scene = setup.current_scene()
    before, part = scene.frame_current, scene.frame_subframe
    settings = {name: (work.method, work.settings) for name, work in free.items()}
    try:
        groups = yield from worlds_in_steps(settings, scene)
    finally:
        if (scene.frame_current, scene.frame_subframe) != (before, part):
            scene.frame_set(before, subframe=part)
    further = []
    for group in groups:
        world = " ".join(group) if len(group) > 1 else ""
        for name in group:
            if name in free:
                free[name].world = world
            else:
                further.append(Sampling(name, {}, target, world=world, resample=resample))
    return further


def share_worlds(works: Sequence[Sampling]) -> None:
    """Before they are prepared: what the bodies of one world meet, all of them meet."""
    worlds: dict[str, list[Sampling]] = {}
    for work in works:
        worlds.setdefault(work.world or f" {work.name}", []).append(work)
    for company in worlds.values():
        if len(company) > 1:
            check_room([work.method for work in company])
            with sentences():
                met = meets([(work.ob, work.settings) for work in company], setup.current_scene())
            for work in company:
                work.join(met, tuple(sorted(other.name for other in company if other is not work)))


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
        if not relations.referring_to(others) & set(moved[name]) and not _meets_later(name, moved, scene):
            free.append(name)
    return free or list(names[:1])


def _meets_later(name: str, moved: dict[str, list[Any]], scene: Any) -> bool:
    """Whether a body collides with what another will move, with which it is not simulated together."""
    settings = _settings_of(scene.objects[name], scene)
    if settings is None or not does_collide(settings):
        return False
    try:
        met = set(meets([(scene.objects[name], settings)], scene).objects)
    except SceneError:  # the bake will tell
        return False
    for other in moved:
        theirs = _settings_of(scene.objects[other], scene)
        together = pushes(settings) and theirs is not None and pushes(theirs)
        if other != name and not together and met & set(moved[other]):
            return True
    return False


def _settings_of(ob: Any, scene: Any) -> Any:
    entry = setup.find_of(ob, scene)
    return None if entry is None else find(entry.method).settings().replace(entry.settings)


def _moved_by(ob: Any, scene: Any) -> list[Any]:
    """The objects that play the bake of one."""
    settings = _settings_of(ob, scene)
    return [ob, *(other for other, _ in carried_now(ob, scene, settings))] if settings is not None else [ob]
