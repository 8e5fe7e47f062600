"""From an object of the open file to the shot and the samples of a bake."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from ..core.bake import folders
from ..core.bake.clock import Clock
from ..core.bake.job import Plan
from ..core.bake.method import Method, find
from ..core.bake.missing import bridge
from ..core.bake.shot import Carried, Passenger, Sample, Shot
from ..core.bake.stored import Stored, open_stored
from ..core.base.hashes import hash_arrays
from ..core.edit.handles import Edits
from ..scene import setup
from ..scene.objects import find_object, named
from ..scene.sampler import Playhead, Rest, Sampler
from ..scene.steps import Steps
from .background import in_thread
from .collisions import Meets
from .marks import frame_range, marks_of
from .passengers import add_passengers, choices_of
from .play import Play, find_previous
from .reading import Outer, Read, reading_of, sampler_of
from .target import Target, bake_root, sentences


class Sampling:
    """Takes what a bake is made of out of the scene: the shot, in steps, then its samples.

    A context manager: inside, the objects show their input, frames are sampled and the current frame changes; on
    leaving, the scene is as it was, and `play` is what is left to do with the result.
    """

    def __init__(
        self,
        name: str,
        values: dict[str, Any],
        target: Target,
        *,
        method: str = "",
        world: str = "",
        is_preview: bool = False,
        resample: bool = False,
    ) -> None:
        """`values` go over the settings of the object's setup, if it has one of that method ("": of any). Those of
        one `world` are simulated together. `resample`: the frames are played, also where an earlier bake holds them,
        and nothing is taken over from one that was spliced."""
        self.name, self.target, self.is_preview, self._resample = name, target, is_preview, resample
        self._is_pulled = "edits" in values  # handles are given by numbers of vertices as they are now
        self.world = world
        self._companions: tuple[str, ...] = ()
        self.clock = Clock()
        with sentences():
            scene, ob = setup.current_scene(), find_object(name)
            existing = setup.find_of(ob, scene, method)
            self.method = _meant(existing, method)
            made_id = setup.id_for(target.file_name, name, self.method.name)
            self.setup_id = existing.id if existing and existing.id else made_id
            begun = existing.settings if existing else self.method.fresh
            self.settings = self.method.settings().replace(begun).replace(values)
            self.previous = _last_complete(ob, existing, target) if existing else ""
            self._roots = [target.root, *([bake_root(ob, existing, target)] if existing else [])]
            self._reading = reading_of(self.method.name)
            self._reading.check(ob, self.settings)
            self._makes = self._reading.makes(ob, self.settings)
            self._used = _shortened(self.settings) if is_preview else self.settings
            self._sampler = sampler_of(ob, self._used)
        self._choices: list[setup.PassengerChoice] = []  # their objects are looked up anew, by id
        self._read: Read | None = None
        self._shot: Shot | None = None
        self._stored: Stored | None = None  # the frames, where an earlier bake holds them
        self.play: Play | None = None  # after the last sample

    def __enter__(self) -> Sampling:
        try:
            with self.clock.stage("rest"), sentences():
                self._sampler.__enter__()
        except BaseException:
            self.discard()
            raise
        return self

    def prepare(self) -> Iterator[None]:
        """Looks at rest shape, weights and passengers, in short steps. The shot is there after the last one."""
        sampler = self._sampler
        with self.clock.stage("rest"), sentences():
            rest = yield from sampler.rest_in_steps()
            self._read = read = yield from self._reading.read(sampler, rest, self._used, True)
            self._choices = choices_of(sampler.ob, setup.current_scene(), self.settings, self.setup_id)
            carried = yield from add_passengers(sampler, self._choices, self._reading.leaves, self._used)
            passengers = [passenger for _, passenger in carried]
            shot = make_shot(self.method, sampler, rest, read, self._used, self.target, self.setup_id, passengers)
            if self._is_pulled:
                self.settings = _of_mesh(self.settings, shot.triangles)
                shot = dataclasses.replace(shot, settings=_of_mesh(shot.settings, shot.triangles))
            if self.is_preview:
                whole = shot
                changes = yield from in_thread(lambda monitor: self.method.coarse(whole, monitor))
                shot = dataclasses.replace(shot, settings=shot.settings.replace(changes))
            repeats = sampler.repeats() if self._used.loop else (False, False)
            mark = yield from sampler.mark_in_steps()
            shot = dataclasses.replace(shot, is_preview=self.is_preview, companions=self._companions)
            self._shot = dataclasses.replace(shot, repeats=repeats, input_mark=mark)
            if not self._resample:
                self._stored = yield from self._find_stored(self._shot, read.outer)
                self._shot = dataclasses.replace(self._shot, is_from_stored=self._stored is not None)
            subjects = (sampler.body, *sampler.passengers)
            self._play = Play(
                name=self.name,
                setup_id=self.setup_id,
                target=self.target,
                shot=self._shot,
                samples=self.settings.samples,
                is_preview=self.is_preview,
                previous=self.previous,
                carried={choice.id: choice.object.name for choice, _ in carried},
                places=[subject.place for subject in subjects],
                vertices=[len(subject.ob.data.vertices) for subject in subjects],
                makes=self._makes and rest.base_first,
            )

    def _find_stored(self, shot: Shot, outer: Outer) -> Steps[Stored | None]:
        """The frames of an earlier bake, if they are those of the scene: by the mark, and by some that are compared."""
        sampler = self._sampler
        amounts = sampler.amounts()
        stored = None if amounts is None else open_stored(self._roots, shot, amounts)
        if stored is None:
            return None
        for is_right in itertools.chain(
            stored.is_sound(), stored.agrees(_samples(sampler, outer, shot, stored.looked_at()))
        ):
            yield
            if not is_right:
                stored.close()
                return None
        return stored

    @property
    def shot(self) -> Shot:
        if self._shot is None:
            raise RuntimeError("the shot is not prepared yet")
        return self._shot

    @property
    def plan(self) -> Plan:
        return Plan(self.shot, self.previous, self.clock, self._resample, self.world)

    @property
    def ob(self) -> Any:
        return self._sampler.ob

    def join(self, met: Meets, companions: tuple[str, ...]) -> None:
        """It is simulated with others, by their names, and meets what they meet."""
        self._sampler.meets, self._companions = met, companions

    def use(self, playhead: Playhead) -> None:
        """Goes to frames by one that others go by, too."""
        self._sampler.playhead = playhead

    def time_of(self, index: int) -> float:
        """The frame of a sample."""
        return self.shot.first_frame + index / self.shot.settings.samples

    def samples(self) -> Iterator[Sample]:
        """The frames, each when it is asked for."""
        if self._read is None:
            raise RuntimeError("the shot is not prepared yet")
        if self._stored is not None:
            yield from self._stored.samples()
            return
        with sentences():
            yield from all_samples(self._sampler, self._read.outer, self.shot)

    def __exit__(self, *error: object) -> None:
        self.leave()
        if error[:1] in ((), (None,)):
            self.conclude()

    def leave(self) -> None:
        """Puts the scene back."""
        self._sampler.__exit__()
        if self._stored is not None:
            self._stored.close()

    def conclude(self) -> None:
        """Keeps the setup, and says how the result is played."""
        if self._read is None:
            return
        # From here on the artist may rename, move and edit: the setup has the pointers.
        ob, scene = self._sampler.ob, setup.current_scene()
        found = setup.find_by_id(self.setup_id)
        entry = found[0] if found and found[1] == ob else setup.find_of(ob, scene, self.method.name)
        entry = entry or setup.Setup(self.name, method=self.method.name, settings=self.settings.changed())
        entry.id, entry.passengers = self.setup_id, self._choices
        entry.made_group = self._read.made or entry.made_group
        setup.save_of(ob, entry, scene)
        self.play = dataclasses.replace(self._play, fingerprint=marks_of(ob, scene, self.method.name, self.settings))
        self._choices = []

    def discard(self) -> None:
        """Takes back what was made in the scene, when nothing came of it."""
        ob = named(self.name)
        if self._makes and ob is not None:
            self._reading.unmake(ob, "")


def method_for(name: str, method: str = "") -> Method:
    """What an object is baked by: the method of that name ("": that of its setup)."""
    with sentences():
        return _meant(setup.find_of(find_object(name), setup.current_scene(), method), method)


def _meant(existing: setup.Setup | None, method: str) -> Method:
    return find(method or (existing.method if existing else ""))


def _of_mesh(settings: Any, triangles: Any) -> Any:
    """Settings whose handles, if they have some, are said to be of the mesh with these faces."""
    edits = Edits.from_text(settings.edits).of_mesh(hash_arrays(triangles))
    return settings.replace({"edits": edits.to_text()})


def make_shot(
    method: Method,
    sampler: Sampler,
    rest: Rest,
    read: Read,
    settings: Any,
    target: Target,
    setup_id: str,
    carried: list[Passenger],
) -> Shot:
    return Shot(
        rest=rest.positions,
        triangles=rest.triangles,
        settings=settings,
        method=method,
        samples=sampler.count,
        first_frame=sampler.first_frame,
        frame_start=sampler.frame_start,
        frame_end=sampler.frame_end,
        frame_rate=sampler.frame_rate,
        gravity=sampler.gravity if settings.gravity is None else settings.gravity,
        owner_file=target.file_name,
        owner_object=sampler.ob.name,
        owner_setup=setup_id,
        passengers=tuple(carried),
        painted=read.painted,
        reads=read.outer.is_there,
        native=method.version(),
        build=method.build(),
        warnings=tuple(sampler.warnings),
    )


def all_samples(sampler: Sampler, outer: Outer, shot: Shot) -> Iterator[Sample]:
    """Those of all frames, missing ones bridged."""
    taken = _samples(sampler, outer, shot)
    return bridge(taken, sampler.count) if sampler.missing else taken


def _samples(
    sampler: Sampler, outer: Outer, shot: Shot, indices: Iterable[int] | None = None
) -> Iterator[Sample]:
    collide = [one.collides for one in shot.passengers]
    for index, positions, matrix, amount, carried in sampler.frames(indices):
        passengers = tuple(Carried(*one, collides) for one, collides in zip(carried, collide, strict=True))
        yield Sample(index, positions, matrix, amount, passengers, outer.read())


def _shortened(settings: Any) -> Any:
    """Few frames, for a preview: those of the timeline's preview range, or from the current frame on."""
    scene = setup.current_scene()
    first, last = frame_range(scene, settings)
    if scene.use_preview_range:
        start, end = scene.frame_preview_start, scene.frame_preview_end
    else:
        start = min(max(scene.frame_current, first), max(first, last - settings.preview_frames + 1))
        end = min(last, start + settings.preview_frames - 1)
    return settings.replace({"frame_start": start, "frame_end": max(start, end), "preroll": 0, "loop": False})


def _last_complete(ob: Any, entry: setup.Setup, target: Target) -> str:
    """Id of the last complete bake of a setup, which may not be what it plays now; "" without one."""
    played = folders.read_manifest(bake_root(ob, entry, target), entry.bake)
    for bake, manifest in ((entry.bake, played), (entry.previous, find_previous(ob, entry, target)[1])):
        if manifest is not None and manifest.complete and not manifest.is_preview:
            return bake
    return ""
