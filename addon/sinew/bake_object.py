"""From an object of the open file to a bake that plays on it: the one place where scene and core meet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .core import bake as baking
from .core import bakes
from .core.errors import BadInput, Error
from .core.follow import Segment, automatic_follow
from .core.report import Clock
from .core.settings import Settings
from .core.shot import Sample, Shot
from .core.store import Store
from .scene import playback, sample, setup, stack
from .scene.errors import SceneError

FOLLOW_GROUP = "Sinew Follow"


@dataclass(frozen=True)
class Target:
    """The .blend that will play the bake, which need not be the one that is open."""

    blend: Path

    @property
    def root(self) -> Path:
        return self.blend.parent / "sinew"


def bake_object(
    name: str,
    values: dict[str, Any],
    target: Target,
    progress: baking.Progress | None = None,
) -> baking.Outcome:
    """Bakes an object and attaches the result. `values` go over the settings of the object's setup, if it has one.

    The open file gets its setup and modifier only after the bake is complete; nothing is saved.
    """
    try:
        ob = sample.find_object(name)
        had_group = FOLLOW_GROUP in ob.vertex_groups
        existing = setup.find(name)
        settings = Settings().replace(existing.settings if existing else {}).replace(values)
        previous = existing.bake if existing else ""
        clock = Clock()
        try:
            with _sampler(ob, settings) as sampler:
                with clock.stage("rest"):
                    shot = _shot(sampler, settings, target, make_group=True)
                with clock.stage("checking"):
                    for checked, _ in enumerate(sampler.frames()):  # a bad last frame is told before hours of work
                        if progress:
                            progress("Checking", checked + 1, shot.samples, -1.0)
                source = (Sample(*taken) for taken in sampler.frames())
                outcome = baking.bake(shot, source, target.root, previous=previous, progress=progress, clock=clock)
                place = sampler.place
        except BaseException:
            if not had_group:
                sample.remove_group(ob, FOLLOW_GROUP)
            raise
        playback.attach(
            ob,
            outcome.folder / "result.pc2",
            place=place,
            first_frame=shot.first_frame,
            frame_start=shot.frame_start,
            frame_end=shot.frame_end,
            samples=settings.samples,
        )
        setup.save(setup.Setup(name, outcome.id, settings.changed()))
        return outcome
    except SceneError as error:
        raise BadInput(str(error)) from error


def finish(name: str, target: Target, bake_id: str) -> None:
    """To be called when the .blend that plays the bake is saved: bakes that it has replaced are deleted."""
    bakes.remove_leftovers(target.root, target.blend.name, name, keep=bake_id)


def check_object(entry: setup.Setup, target: Target) -> str | None:
    """What is wrong with a setup's bake, as a sentence, or None. Samples the animation anew."""
    if not entry.object_name:
        return "The object of a setup was deleted: remove the setup."
    try:
        ob = sample.find_object(entry.object_name)
        if not entry.bake:
            return f'"{ob.name}" has no bake yet: bake it.'
        modifier = stack.own_modifier(ob)
        with Store.open(target.root, entry.bake) as store:
            manifest = store.manifest
            if not manifest.complete or store.done != manifest.samples:
                return f'The bake of "{ob.name}" is not complete: bake again.'
            if modifier is None:
                return f'"{ob.name}" has no modifier "{stack.MODIFIER_NAME}": bake again.'
            path = playback.cache_path(ob)
            if path is None or path.resolve() != (store.folder / "result.pc2").resolve():
                return f'The modifier "{stack.MODIFIER_NAME}" of "{ob.name}" plays another file ({path}): bake again.'
            settings = Settings().replace(entry.settings)
            with _sampler(ob, settings) as sampler:
                shot = _shot(sampler, settings, target, make_group=False)
                if len(shot.rest) != manifest.vertices:
                    return (
                        f'"{ob.name}" has {len(shot.rest)} vertices and its bake {manifest.vertices}: bake again.'
                    )
                if shot.samples != manifest.samples or shot.first_frame != manifest.first_frame:
                    return f'The frame range of "{ob.name}" is not the baked one: bake again.'
                if shot.identity() != manifest.identity:
                    return f'The mesh, the follow weights or the settings of "{ob.name}" have changed: bake again.'
                source = (Sample(*taken) for taken in sampler.frames())
                changed = baking.check_inputs(store, shot, source)
                if changed is not None:
                    frame = shot.first_frame + changed[0] / settings.samples
                    if changed[1] == "data":
                        return f'The bake of "{ob.name}" is damaged at frame {frame:g}: bake again.'
                    what = "The animation" if changed[1] == "animation" else "Amount, Maximum Offset or Detail"
                    return f'{what} of "{ob.name}" changed at frame {frame:g}: bake again.'
    except (SceneError, Error) as error:
        return str(error)
    return None


def _sampler(ob: Any, settings: Settings) -> sample.Sampler:
    return sample.Sampler(
        ob,
        frame_start=settings.frame_start,
        frame_end=settings.frame_end,
        samples=settings.samples,
        preroll=settings.preroll,
        rest_frame=settings.rest_frame,
    )


def _shot(sampler: sample.Sampler, settings: Settings, target: Target, *, make_group: bool) -> Shot:
    """What to bake. `make_group`: automatic follow weights become a vertex group that the artist can paint on."""
    rest = sampler.rest()
    ob = sampler.ob
    group = settings.follow_group or (FOLLOW_GROUP if FOLLOW_GROUP in ob.vertex_groups else "")
    if not group:
        bones = [Segment(bone.name, bone.head, bone.tail, bone.parent, bone.is_leaf) for bone in rest.bones]
        follow = automatic_follow(rest.positions, rest.triangles, rest.edges, bones, rest.skin)
        if make_group and rest.base_first and sample.write_group(ob, FOLLOW_GROUP, follow):
            group = FOLLOW_GROUP
    if group:
        # Read back from the evaluated mesh, also what was just written: the next bake starts from the same bits.
        follow = sampler.group(group)
    # What a subdivision interpolates between ones must stay exactly one.
    follow = np.where(follow > 1.0 - 1e-4, 1.0, np.where(follow < 1e-4, 0.0, follow))
    engine = baking.load_engine()
    return Shot(
        rest=rest.positions,
        triangles=rest.triangles,
        follow=follow,
        settings=settings,
        samples=sampler.count,
        first_frame=sampler.first_frame,
        frame_start=sampler.frame_start,
        frame_end=sampler.frame_end,
        frame_rate=sampler.frame_rate,
        gravity=sampler.gravity if settings.gravity is None else settings.gravity,
        owner_file=target.blend.name,
        owner_object=ob.name,
        native=engine.version,
        build=engine.build,
        warnings=tuple(sampler.warnings),
    )


def setups() -> Iterator[setup.Setup]:
    """The setups of the open file's scene."""
    yield from setup.load()
