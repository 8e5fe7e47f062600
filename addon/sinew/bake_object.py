"""From an object of the open file to a bake that plays on it: the one place where scene and core meet."""

from __future__ import annotations

import contextlib
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
from .scene import fingerprint, playback, sample, setup, stack
from .scene.errors import SceneError

FOLLOW_GROUP = "Sinew Follow"


@dataclass(frozen=True)
class Target:
    """The .blend that will play the bake, which need not be the one that is open."""

    blend: Path

    @property
    def root(self) -> Path:
        return self.blend.parent / "sinew"


class ObjectBake:
    """A bake of one object, from the first look at the scene to the modifier that plays it.

    A context manager: inside, the object shows its input, frames are sampled and the current frame changes; on leaving,
    the scene is as it was. It holds names only, so the scene may change while the work goes on elsewhere.
    """

    def __init__(self, name: str, values: dict[str, Any], target: Target) -> None:
        """`values` go over the settings of the object's setup, if it has one."""
        self.name = name
        self.target = target
        self.scene_name = setup.scene_name()
        self.clock = Clock()
        with _sentences():
            ob = sample.find_object(name)
            existing = setup.find(name)
            self.settings = Settings().replace(existing.settings if existing else {}).replace(values)
            self.previous = existing.bake if existing else ""
            self._made_group = FOLLOW_GROUP not in ob.vertex_groups
            self._sampler = _sampler(ob, self.settings)
            self._sampler.__enter__()
            try:
                with self.clock.stage("rest"):
                    self.shot = _shot(self._sampler, self.settings, target, make_group=True)
                self._fingerprint: dict[str, str] = {}
                self._vertices = len(ob.data.vertices)
                self._place = self._sampler.place
            except BaseException:
                self._sampler.__exit__()
                self.discard()
                raise

    def __enter__(self) -> ObjectBake:
        return self

    def __exit__(self, *error: object) -> None:
        self._sampler.__exit__()
        ob = setup.find_object(self.name, self.scene_name)
        if ob is not None and error[:1] in ((), (None,)):
            group = follow_group(ob, self.settings)
            self._fingerprint = fingerprint.take(ob, group, self.shot.frame_start, self.shot.frame_end)

    def samples(self) -> Iterator[Sample]:
        """The frames, each when it is asked for."""
        with _sentences():
            for taken in self._sampler.frames():
                yield Sample(*taken)

    def discard(self) -> None:
        """Takes back what the bake made in the scene, when nothing came of it."""
        ob = setup.find_object(self.name, self.scene_name)
        if self._made_group and ob is not None:
            sample.remove_group(ob, FOLLOW_GROUP)

    def attach(self, outcome: baking.Outcome) -> None:
        """Plays the result on the object and keeps the setup, if the scene is still the one that was sampled."""
        ob = setup.find_object(self.name, self.scene_name)
        if ob is None or ob.type != "MESH" or len(ob.data.vertices) != self._vertices:
            raise BadInput(f'"{self.name}" was deleted, renamed or edited during the bake: bake again.')
        playback.attach(
            ob,
            outcome.folder / "result.pc2",
            place=min(self._place, len(stack.others(ob))),
            first_frame=self.shot.first_frame,
            frame_start=self.shot.frame_start,
            frame_end=self.shot.frame_end,
            samples=self.settings.samples,
        )
        entry = setup.Setup(self.name, outcome.id, self.settings.changed(), self._fingerprint)
        setup.save(entry, self.scene_name)


def bake_object(
    name: str,
    values: dict[str, Any],
    target: Target,
    progress: baking.Progress | None = None,
) -> baking.Outcome:
    """Bakes an object and attaches the result. `values` go over the settings of the object's setup, if it has one.

    The open file gets its setup and modifier only after the bake is complete; nothing is saved.
    """
    work = ObjectBake(name, values, target)
    try:
        with work:
            with work.clock.stage("checking"):
                for taken in work.samples():  # a bad last frame is told before hours of work
                    if progress:
                        progress("Checking", taken.index + 1, work.shot.samples, -1.0)
            outcome = baking.bake(
                work.shot, work.samples(), target.root, previous=work.previous, progress=progress, clock=work.clock
            )
    except BaseException:
        work.discard()
        raise
    with _sentences():
        work.attach(outcome)
    return outcome


@dataclass(frozen=True)
class Body:
    """An object at rest and what a bake would follow now. Made from the scene; what it computes needs none."""

    rest: sample.Rest
    weights: Any | None  # (t,) of the follow group; None where there is none

    def follow(self) -> Any:
        """The weights (t,), those of the group or automatic ones."""
        return _sharpened(_automatic(self.rest) if self.weights is None else self.weights)


def look_at(name: str, values: dict[str, Any]) -> Body:
    """Looks at an object where it is now, without setting a frame unless its rest shape is that of one."""
    with _sentences():
        ob = sample.find_object(name)
        settings = Settings().replace(values)
        group = follow_group(ob, settings)
        if settings.rest_frame is None:
            return Body(*sample.rest_now(ob, group))
        with _sampler(ob, settings) as sampler:
            return Body(sampler.rest(), sampler.group(group) if group else None)


def make_follow_group(name: str, values: dict[str, Any]) -> str:
    """Writes the automatic follow weights into a vertex group that the artist can paint on. The group's name."""
    with _sentences():
        ob = sample.find_object(name)
        with _sampler(ob, Settings().replace(values)) as sampler:
            rest = sampler.rest()
            if not rest.base_first:
                raise BadInput(f'A modifier of "{name}" makes new vertices first: paint a follow group by hand.')
            if not sample.write_group(ob, FOLLOW_GROUP, _automatic(rest)):
                raise BadInput(f'"{name}" is linked and cannot keep a vertex group: make it in its own file.')
    return FOLLOW_GROUP


def follow_group(ob: Any, settings: Settings) -> str:
    """The vertex group that a bake follows; "" when it makes one."""
    return settings.follow_group or (FOLLOW_GROUP if FOLLOW_GROUP in ob.vertex_groups else "")


@contextlib.contextmanager
def _sentences() -> Iterator[None]:
    """Errors of the scene become ours."""
    try:
        yield
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
    group = follow_group(ob, settings)
    if not group:
        follow = _automatic(rest)
        if make_group and rest.base_first and sample.write_group(ob, FOLLOW_GROUP, follow):
            group = FOLLOW_GROUP
    if group:
        # Read back from the evaluated mesh, also what was just written: the next bake starts from the same bits.
        follow = sampler.group(group)
    follow = _sharpened(follow)
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


def _sharpened(follow: Any) -> Any:
    """What a subdivision interpolates between ones must stay exactly one."""
    return np.where(follow > 1.0 - 1e-4, 1.0, np.where(follow < 1e-4, 0.0, follow))


def _automatic(rest: sample.Rest) -> Any:
    bones = [Segment(bone.name, bone.head, bone.tail, bone.parent, bone.is_leaf) for bone in rest.bones]
    return automatic_follow(rest.positions, rest.triangles, rest.edges, bones, rest.skin)


def setups() -> Iterator[setup.Setup]:
    """The setups of the open file's scene."""
    yield from setup.load()
