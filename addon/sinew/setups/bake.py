"""The bake of one object and its passengers."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..core.bake import folders
from ..core.bake import run as baking
from ..core.bake.clock import Clock
from ..core.bake.layout import result_names
from ..core.bake.missing import bridge
from ..core.bake.shot import Carried, Passenger, Sample, Shot
from ..core.base.errors import BadInput
from ..core.methods.enrich import METHOD
from ..core.methods.enrich.settings import Settings
from ..scene import attributes, playback, setup
from ..scene.groups import refuse_group, remove_group, write_group
from ..scene.objects import find_object, named
from ..scene.sampler import Rest, Sampler
from .enrich.body import FOLLOW_GROUP, follow_group, follow_in_steps, parts_in_steps, sampler_of
from .enrich.outer import OuterReader
from .marks import frame_range, marks_of
from .passengers import add_passengers, choices_of
from .play import detach_strangers, find_previous, play, repeat_of
from .target import Target, bake_root, sentences


class ObjectBake:
    """A bake of one object and its passengers, from the first look at the scene to the modifiers that play it.

    A context manager: inside, the objects show their input, frames are sampled and the current frame changes; on
    leaving, the scene is as it was. It holds names and ids only, so the scene may change while work goes on elsewhere.
    """

    def __init__(self, name: str, values: dict[str, Any], target: Target, *, is_preview: bool = False) -> None:
        """`values` go over the settings of the object's setup, if it has one."""
        self.name = name
        self.target = target
        self.clock = Clock()
        self.is_preview = is_preview
        self.shot: Shot
        self._places: list[int] = []
        self._made_weights = ""  # hash of those of the follow group that it made
        self._choices: list[setup.PassengerChoice] = []  # their objects are looked up anew, by id
        self._carried: dict[str, str] = {}  # ids and names of those that are carried, in the order of the shot
        self._vertices: list[int] = []
        with sentences():
            scene = setup.current_scene()
            ob = find_object(name)
            existing = setup.find_of(ob, scene)
            self.setup_id = existing.id if existing and existing.id else setup.id_for(target.file_name, name)
            self.settings = Settings().replace(existing.settings if existing else {}).replace(values)
            self.previous = _last_complete(ob, existing, target) if existing else ""
            if self.settings.follow_group and not attributes.has_weights(ob, self.settings.follow_group):
                refuse_group(ob, self.settings.follow_group)
            self._made_group = not follow_group(ob, self.settings)  # it makes one
            self._used = _preview_of(self.settings) if is_preview else self.settings
            self._sampler = sampler_of(ob, self._used)

    def __enter__(self) -> ObjectBake:
        try:
            with self.clock.stage("rest"), sentences():
                self._sampler.__enter__()
        except BaseException:
            self.discard()
            raise
        return self

    def prepare(self) -> Iterator[None]:
        """Looks at rest shape, weights and passengers, in short steps. The shot is there after the last one."""
        with self.clock.stage("rest"), sentences():
            rest = yield from self._sampler.rest_in_steps()
            follow, self._made_weights = yield from follow_in_steps(self._sampler, rest, self._used, make_group=True)
            parts = yield from parts_in_steps(self._sampler, rest, self._used)
            self._choices = choices_of(self._sampler.ob, setup.current_scene(), self.settings)
            carried = yield from add_passengers(self._sampler, self._choices)
            self._carried = {choice.id: choice.object.name for choice, _ in carried}
            passengers = [passenger for _, passenger in carried]
            self.shot = make_shot(self._sampler, rest, follow, self._used, self.target, self.setup_id, passengers)
            self._outer = OuterReader(self._sampler, self._used, follow)
            told = tuple(self._sampler.warnings)
            repeats = self._sampler.repeats() if self._used.loop else (False, False)
            self.shot = dataclasses.replace(
                self.shot,
                is_preview=self.is_preview,
                fields=self._outer.count,
                warnings=told,
                repeats=repeats,
                **parts,
            )
            subjects = (self._sampler.body, *self._sampler.passengers)
            self._places = [subject.place for subject in subjects]
            self._base_first = rest.base_first
            self._vertices = [len(subject.ob.data.vertices) for subject in subjects]

    def __exit__(self, *error: object) -> None:
        self._sampler.__exit__()
        if error[:1] not in ((), (None,)):
            return
        # From here on the artist may rename, move and edit: the setup has the pointers.
        ob, scene = self._sampler.ob, setup.current_scene()
        entry = setup.find_of(ob, scene) or setup.Setup(self.name, settings=self.settings.changed())
        entry.id, entry.passengers = self.setup_id, self._choices
        entry.made_group = self._made_weights or entry.made_group
        setup.save_of(ob, entry, scene)
        self._fingerprint = marks_of(ob, scene, self.settings)
        self._choices = []

    def samples(self) -> Iterator[Sample]:
        """The frames, each when it is asked for."""
        with sentences():
            yield from samples_of(self._sampler, self._outer)

    def discard(self) -> None:
        """Takes back what the bake made in the scene, when nothing came of it."""
        ob = named(self.name)
        if self._made_group and ob is not None:
            remove_group(ob, FOLLOW_GROUP)

    def is_welcome(self) -> str:
        """Why the result can no longer be used, or ""."""
        found = setup.find_by_id(self.setup_id)
        if found is None:
            return f'"{self.name}" or its setup was deleted, so its bake was stopped.'
        if found[1].type != "MESH" or len(found[1].data.vertices) != self._vertices[0]:
            return f'The mesh of "{found[1].name}" was edited during the bake, so it was stopped: bake again.'
        return ""

    def show(self, bake_id: str, folder: Path) -> None:
        """Plays the folder on the objects while its frames arrive. The last complete bake stays on the disk."""
        self._attach(bake_id, folder, self.previous, {})

    def attach(self, outcome: baking.Outcome) -> None:
        """Plays the result on the objects and keeps the setup, if the scene is still the one that was sampled."""
        unwelcome = self.is_welcome()
        if unwelcome:
            raise BadInput(unwelcome)
        loop = outcome.report.get("loop")
        report = {"loop": loop and {**loop, "repeats": self.shot.repeats}}  # an unchanged bake may repeat now
        self._attach(outcome.id, outcome.folder, self.previous if self.is_preview else "", report)

    def _attach(self, bake_id: str, folder: Path, previous: str, report: dict[str, Any]) -> None:
        found = setup.find_by_id(self.setup_id)
        if found is None:
            return
        entry, ob, scene = found
        previous = previous if previous != bake_id else ""  # a preview that is as fine as the bake is that bake
        if previous and previous == entry.bake:
            root = bake_root(ob, entry, self.target)
            entry.previous_root = playback.relative(root) if root != self.target.root else ""
        choices = {choice.id: choice.object for choice in entry.passengers}
        # Undo may have taken back that they were listed.
        objects = [ob, *(choices.get(key, scene.objects.get(name)) for key, name in self._carried.items())]
        detach_strangers(scene, {entry.bake, entry.previous, self.previous} - {""}, objects)
        for index, (carried, name) in enumerate(zip(objects, result_names(len(self._carried)), strict=True)):
            if carried is None or len(carried.data.vertices) != self._vertices[index]:
                continue  # a passenger that was deleted or edited meanwhile
            repeat = repeat_of(report, self.settings.samples)
            play(carried, folder / f"{name}.pc2", self._places[index], self.shot, self.settings.samples, repeat)
        if self._made_group and FOLLOW_GROUP not in ob.vertex_groups and self._base_first:
            write_group(ob, FOLLOW_GROUP, self.shot.follow)  # undo has taken it back
        entry.bake, entry.previous, entry.fingerprint = bake_id, previous, self._fingerprint
        setup.save_of(ob, entry, scene)


def bake_object(
    name: str,
    values: dict[str, Any],
    target: Target,
    progress: baking.Progress | None = None,
) -> baking.Outcome:
    """Bakes an object and attaches the result. `values` go over the settings of the object's setup, if it has one.

    The open file gets its modifier only after the bake is complete; nothing is saved.
    """
    work = ObjectBake(name, values, target)
    try:
        with work:
            for _ in work.prepare():
                pass
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
    store_values(name, work)
    with sentences():
        work.attach(outcome)
    return outcome


def store_values(name: str, work: ObjectBake) -> None:
    """Keeps the settings that a bake was made with, as its setup's."""
    ob, scene = named(name), setup.current_scene()
    entry = setup.find_of(ob, scene)
    if entry is not None:
        entry.settings = work.settings.changed()
        setup.save_of(ob, entry, scene)


def _preview_of(settings: Settings) -> Settings:
    """A coarse cage and few frames: those of the timeline's preview range, or from the current frame on."""
    scene = setup.current_scene()
    first, last = frame_range(scene, settings)
    if scene.use_preview_range:
        start, end = scene.frame_preview_start, scene.frame_preview_end
    else:
        start = min(max(scene.frame_current, first), max(first, last - settings.preview_frames + 1))
        end = min(last, start + settings.preview_frames - 1)
    shorter = {"frame_start": start, "frame_end": max(start, end), "preroll": 0, "loop": False}
    return settings.replace({**METHOD.coarse(settings), **shorter})


def _last_complete(ob: Any, entry: setup.Setup, target: Target) -> str:
    """Id of the last complete bake of a setup, which may not be what it plays now; "" without one."""
    played = folders.read_manifest(bake_root(ob, entry, target), entry.bake)
    for bake, manifest in ((entry.bake, played), (entry.previous, find_previous(ob, entry, target)[1])):
        if manifest is not None and manifest.complete and not manifest.is_preview:
            return bake
    return ""


def make_shot(
    sampler: Sampler,
    rest: Rest,
    follow: Any,
    settings: Settings,
    target: Target,
    setup_id: str,
    carried: list[Passenger],
) -> Shot:
    version = METHOD.version()
    return Shot(
        rest=rest.positions,
        triangles=rest.triangles,
        follow=follow,
        settings=settings,
        method=METHOD,
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
        native=version.version,
        build=version.build,
        warnings=tuple(sampler.warnings),
    )


def samples_of(sampler: Sampler, outer: OuterReader) -> Iterator[Sample]:
    """All samples, missing ones bridged."""
    taken = (
        Sample(
            index, positions, matrix, amount, tuple(Carried(*one) for one in carried), outer.fields(), outer.follow()
        )
        for index, positions, matrix, amount, carried in sampler.frames()
    )
    return bridge(taken, sampler.count) if sampler.missing else taken
