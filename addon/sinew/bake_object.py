"""From an object of the open file to a bake that plays on it: the one place where scene and core meet."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .core import bake as baking
from .core import bakes
from .core.errors import BadInput, Error
from .core.follow import Segment, automatic_follow
from .core.report import Clock
from .core.settings import Settings
from .core.shells import connected_pieces
from .core.shot import Carried, Passenger, Sample, Shot
from .core.store import Manifest, Store, result_names
from .scene import file, fingerprint, passengers, playback, sample, setup, stack
from .scene.errors import SceneError
from .scene.sample import Steps

FOLLOW_GROUP = "Sinew Follow"

Result = TypeVar("Result")


@dataclasses.dataclass(frozen=True)
class Target:
    """Where bakes lie: beside the .blend that will play them, which need not be the one that is open. A file that was
    never saved has a temporary folder."""

    blend: Path | None

    @property
    def root(self) -> Path:
        if self.blend is None:
            return file.temporary_folder() / "sinew"
        return self.blend.parent / "sinew"

    @property
    def file_name(self) -> str:
        return "" if self.blend is None else self.blend.name


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
        self._choices: list[setup.PassengerChoice] = []  # their objects are looked up anew, by id
        self._carried: dict[str, str] = {}  # ids and names of those that are carried, in the order of the shot
        self._vertices: list[int] = []
        with _sentences():
            scene = setup.current_scene()
            ob = sample.find_object(name)
            existing = setup.find_of(ob, scene)
            self.setup_id = existing.id if existing and existing.id else setup.id_for(target.file_name, name)
            self.settings = Settings().replace(existing.settings if existing else {}).replace(values)
            self.previous = _last_complete(existing, target) if existing else ""
            self._made_group = FOLLOW_GROUP not in ob.vertex_groups
            self._sampler = _sampler(ob, _preview_of(self.settings) if is_preview else self.settings)

    def __enter__(self) -> ObjectBake:
        try:
            with self.clock.stage("rest"), _sentences():
                self._sampler.__enter__()
        except BaseException:
            self.discard()
            raise
        return self

    def prepare(self) -> Iterator[None]:
        """Looks at rest shape, weights and passengers, in short steps. The shot is there after the last one."""
        with self.clock.stage("rest"), _sentences():
            settings = _preview_of(self.settings) if self.is_preview else self.settings
            rest = yield from self._sampler.rest_in_steps()
            follow = yield from _follow_in_steps(self._sampler, rest, settings, make_group=True)
            carried = yield from self._add_passengers()
            self.shot = _shot(self._sampler, rest, follow, settings, self.target, self.setup_id, carried)
            self.shot = dataclasses.replace(self.shot, is_preview=self.is_preview)
            subjects = (self._sampler.body, *self._sampler.passengers)
            self._places = [subject.place for subject in subjects]
            self._vertices = [len(subject.ob.data.vertices) for subject in subjects]

    def _add_passengers(self) -> Steps[list[Passenger]]:
        carried = []
        ob, scene = self._sampler.ob, setup.current_scene()
        self._choices = _choices(ob, scene, self.settings)
        bones = {bone.name for rig in stack.armatures(ob) for bone in rig.data.bones if bone.use_deform}
        for choice in self._choices:
            if choice.use:
                passenger = _add_passenger(self._sampler, choice, bones)
                if passenger is not None:
                    carried.append(passenger)
                    self._carried[choice.id] = choice.object.name
                yield
        return carried

    def __exit__(self, *error: object) -> None:
        self._sampler.__exit__()
        if error[:1] not in ((), (None,)):
            return
        # From here on the artist may rename, move and edit: the setup has the pointers.
        ob, scene = self._sampler.ob, setup.current_scene()
        entry = setup.find_of(ob, scene) or setup.Setup(self.name, settings=self.settings.changed())
        entry.id, entry.passengers = self.setup_id, self._choices
        setup.save_of(ob, entry, scene)
        self._fingerprint = _fingerprint(ob, self.settings, self.shot, self._choices)
        self._choices = []

    def samples(self) -> Iterator[Sample]:
        """The frames, each when it is asked for."""
        with _sentences():
            for taken in self._sampler.frames():
                yield _sample(taken)

    def discard(self) -> None:
        """Takes back what the bake made in the scene, when nothing came of it."""
        ob = sample.named(self.name)
        if self._made_group and ob is not None:
            sample.remove_group(ob, FOLLOW_GROUP)

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
        self._attach(bake_id, folder, self.previous if self.previous != bake_id else "")

    def attach(self, outcome: baking.Outcome) -> None:
        """Plays the result on the objects and keeps the setup, if the scene is still the one that was sampled."""
        unwelcome = self.is_welcome()
        if unwelcome:
            raise BadInput(unwelcome)
        self._attach(outcome.id, outcome.folder, self.previous if self.is_preview else "")

    def _attach(self, bake_id: str, folder: Path, previous: str) -> None:
        found = setup.find_by_id(self.setup_id)
        if found is None:
            return
        entry, ob, scene = found
        choices = {choice.id: choice.object for choice in entry.passengers}
        # Undo may have taken back that they were listed.
        objects = [ob, *(choices.get(key, scene.objects.get(name)) for key, name in self._carried.items())]
        _detach_strangers(scene, {entry.bake, entry.previous, self.previous} - {""}, objects)
        for index, (carried, name) in enumerate(zip(objects, result_names(len(self._carried)), strict=True)):
            if carried is None or len(carried.data.vertices) != self._vertices[index]:
                continue  # a passenger that was deleted or edited meanwhile
            _play(carried, folder / f"{name}.pc2", self._places[index], self.shot, self.settings.samples)
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
    with _sentences():
        work.attach(outcome)
    return outcome


def store_values(name: str, work: ObjectBake) -> None:
    """Keeps the settings that a bake was made with, as its setup's."""
    ob, scene = sample.named(name), setup.current_scene()
    entry = setup.find_of(ob, scene)
    if entry is not None:
        entry.settings = work.settings.changed()
        setup.save_of(ob, entry, scene)


@dataclasses.dataclass(frozen=True)
class Body:
    """An object at rest and what a bake would follow now. Made from the scene; what it computes needs none."""

    rest: sample.Rest
    weights: Any | None  # (t,) of the follow group; None where there is none

    def follow(self) -> Any:
        """The weights (t,), those of the group or automatic ones."""
        return _sharpened(_automatic(self.rest) if self.weights is None else self.weights)


def look_at(name: str, values: dict[str, Any]) -> Body:
    """Looks at an object where it is now, without setting a frame unless its rest shape is that of one."""
    return sample.finished(look_in_steps(name, values))


def look_in_steps(name: str, values: dict[str, Any]) -> Steps[Body]:
    with _sentences():
        ob = sample.find_object(name)
        settings = Settings().replace(values)
        group = follow_group(ob, settings)
        if settings.rest_frame is None:
            rest, weights = yield from sample.rest_now(ob, group)
            return Body(rest, weights)
        with _sampler(ob, settings) as sampler:
            rest = yield from sampler.rest_in_steps()
            return Body(rest, (yield from sampler.group_in_steps(group)) if group else None)


def make_follow_group(name: str, values: dict[str, Any]) -> str:
    """Writes the automatic follow weights into a vertex group that the artist can paint on. The group's name."""
    with _sentences():
        ob = sample.find_object(name)
        with _sampler(ob, Settings().replace(values)) as sampler:
            rest = sampler.rest()
            if not rest.base_first:
                raise BadInput(f'A modifier of "{name}" makes new vertices first: paint a follow group by hand.')
            if sample.why_no_group(ob):
                raise BadInput(sample.why_no_group(ob))
            sample.write_group(ob, FOLLOW_GROUP, _automatic(rest))
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


def delete_bake(ob: Any, scene: Any, target: Target) -> None:
    """Removes the modifiers that play a setup's bake, and nothing else; a preview or an unfinished bake gives way to
    the complete one before it. Folders go when the file is saved."""
    entry = setup.find_of(ob, scene)
    if entry is None:
        playback.detach(ob)
        return
    root = bake_root(ob, entry, target)
    manifest = bakes.read_manifest(root, entry.previous)
    if manifest is None:
        _detach_strangers(scene, {entry.bake, entry.previous} - {""}, [])
        playback.detach(ob)
        entry.bake, entry.previous, entry.fingerprint = "", "", {}
    else:
        carried = [next((c.object for c in entry.passengers if c.object.name == one.object_name), None)
                   for one in manifest.passengers]  # fmt: skip
        _detach_strangers(scene, {entry.bake}, [ob, *carried])
        for other, name in zip([ob, *carried], result_names(len(carried)), strict=True):
            if other is not None:
                place = _place_now(other)
                _play(other, root / manifest.id / f"{name}.pc2", place, manifest, manifest.samples_per_frame)
        # What it was made from is not known any more; its settings and `check` tell whether it is stale.
        entry.bake, entry.previous, entry.fingerprint = manifest.id, "", {}
    setup.save_of(ob, entry, scene)


def _place_now(ob: Any) -> int:
    """Where our modifier is, or belongs as far as that can be told without a look at other frames."""
    own = stack.own_modifier(ob)
    return stack.find_place(ob, ()) if own is None else list(ob.modifiers).index(own)


def _play(ob: Any, path: Path, place: int, shot: Shot | Manifest, samples: int) -> None:
    playback.attach(
        ob,
        path,
        place=min(place, len(stack.others(ob))),
        first_frame=shot.first_frame,
        frame_start=shot.frame_start,
        frame_end=shot.frame_end,
        samples=samples,
    )


def new_setup(ob: Any, scene: Any) -> setup.Setup:
    """A setup with its passengers found."""
    entry = setup.Setup(ob.name, id=setup.new_id())
    entry.passengers = _choices(ob, scene, Settings())
    return entry


def find_passengers(ob: Any, scene: Any) -> int:
    """Lists meshes that hang on the same armature and are not listed yet. How many there were."""
    entry = setup.find_of(ob, scene)
    if entry is None:
        return 0
    listed = len(entry.passengers)
    entry.passengers = _choices(ob, scene, Settings())
    setup.save_of(ob, entry, scene)
    return len(entry.passengers) - listed


def objects_of(ob: Any, scene: Any) -> list[Any]:
    """The body and its passengers that play its bake now."""
    entry = setup.find_of(ob, scene)
    bake = entry.bake if entry else ""
    carried = [one.object for one in entry.passengers] if entry else []
    return [ob, *(other for other in carried if other is not None and playback.bake_id(other) == bake != "")]


def finish(target: Target, keep: Collection[str] = ()) -> None:
    """To be called when the .blend is saved: bakes that it does not play any more are deleted, but for `keep`."""
    if target.blend is not None:
        played = {*setup.played(), *playback.played(), *keep}
        bakes.remove_leftovers(target.root, target.blend.name, played)


def check_object(entry: setup.Setup, target: Target) -> str | None:
    """What is wrong with a setup's bake, as a sentence, or None. Samples the animation anew."""
    if not entry.object_name:
        return "The object of a setup was deleted: remove the setup."
    try:
        ob = sample.find_object(entry.object_name)
        if not entry.bake:
            return f'"{ob.name}" has no bake yet: bake it.'
        with Store.open(bake_root(ob, entry, target), entry.bake) as store:
            return _check_store(ob, entry, target, store)
    except (SceneError, Error) as error:
        return str(error)


def bake_root(ob: Any, entry: setup.Setup, target: Target) -> Path:
    """The folder in which the bake of a setup lies: that of the file its modifier plays (after Save As into another
    folder, or an append, it is not beside the .blend), else the usual one."""
    path = playback.cache_path(ob)
    if path is not None and path.parent.name == entry.bake and path.is_file():
        return path.parent.parent
    return target.root


def _check_store(ob: Any, entry: setup.Setup, target: Target, store: Store) -> str | None:
    manifest = store.manifest
    if manifest.is_preview:
        return f'"{ob.name}" plays a preview: bake it.'
    if not manifest.complete or store.done != manifest.samples:
        return f'The bake of "{ob.name}" is not complete: bake again.'
    if stack.own_modifier(ob) is None:
        return f'"{ob.name}" has no modifier "{stack.MODIFIER_NAME}": bake again.'
    path = playback.cache_path(ob)
    if path is None or path.resolve() != (store.folder / "result.pc2").resolve():
        return f'The modifier "{stack.MODIFIER_NAME}" of "{ob.name}" plays another file ({path}): bake again.'
    settings = Settings().replace(entry.settings)
    with _sampler(ob, settings) as sampler:
        rest = sampler.rest()
        follow = sample.finished(_follow_in_steps(sampler, rest, settings, make_group=False))
        bones = {bone.name for rig in stack.armatures(ob) for bone in rig.data.bones if bone.use_deform}
        choices = [choice for choice in _choices(ob, setup.current_scene(), settings) if choice.use]
        carried = [one for choice in choices if (one := _add_passenger(sampler, choice, bones)) is not None]
        shot = _shot(sampler, rest, follow, settings, target, entry.id, carried)
        if len(shot.rest) != manifest.vertices:
            return f'"{ob.name}" has {len(shot.rest)} vertices and its bake {manifest.vertices}: bake again.'
        if shot.samples != manifest.samples or shot.first_frame != manifest.first_frame:
            return f'The frame range of "{ob.name}" is not the baked one: bake again.'
        if shot.identity() != manifest.identity:
            return f'The mesh, the follow weights or the settings of "{ob.name}" have changed: bake again.'
        if bakes.entries(shot) != manifest.passengers:
            return f'The passengers of "{ob.name}" have changed: bake again.'
        changed = baking.check_inputs(store, shot, (_sample(taken) for taken in sampler.frames()))
    if changed is None:
        return None
    frame = shot.first_frame + changed[0] / settings.samples
    if changed[1] == "data":
        return f'The bake of "{ob.name}" is damaged at frame {frame:g}: bake again.'
    what = "The animation" if changed[1] == "animation" else "Amount, Max Offset, Detail or a passenger"
    return f'{what} of "{ob.name}" changed at frame {frame:g}: bake again.'


def _sampler(ob: Any, settings: Settings) -> sample.Sampler:
    return sample.Sampler(
        ob,
        frame_start=settings.frame_start,
        frame_end=settings.frame_end,
        samples=settings.samples,
        preroll=settings.preroll,
        rest_frame=settings.rest_frame,
    )


def _preview_of(settings: Settings) -> Settings:
    """A coarse cage and few frames: those of the timeline's preview range, or from the current frame on."""
    scene = setup.current_scene()
    first = scene.frame_start if settings.frame_start is None else settings.frame_start
    last = scene.frame_end if settings.frame_end is None else settings.frame_end
    if scene.use_preview_range:
        start, end = scene.frame_preview_start, scene.frame_preview_end
    else:
        start = min(max(scene.frame_current, first), max(first, last - settings.preview_frames + 1))
        end = min(last, start + settings.preview_frames - 1)
    coarse = settings.preview_resolution
    resolution = min(settings.resolution, coarse) if settings.resolution else coarse
    return settings.replace(
        {"resolution": resolution, "frame_start": start, "frame_end": max(start, end), "preroll": 0}
    )


def _last_complete(entry: setup.Setup, target: Target) -> str:
    """Id of the last complete bake of a setup, which may not be what it plays now; "" without one."""
    for bake in (entry.bake, entry.previous):
        manifest = bakes.read_manifest(target.root, bake)
        if manifest is not None and manifest.complete and not manifest.is_preview:
            return bake
    return ""


def _choices(ob: Any, scene: Any, settings: Settings) -> list[setup.PassengerChoice]:
    """The passengers of a setup: those in its list, then those found automatically."""
    entry = setup.find_of(ob, scene)
    own = setup.objects(scene)  # what has a setup of its own goes its own way
    listed = [
        choice
        for choice in (entry.passengers if entry else [])
        if choice.object.name in scene.objects and choice.object not in own
    ]
    if not settings.passengers:
        return listed
    known = [choice.object for choice in listed]
    found = passengers.find(ob, scene, own)
    return [*listed, *(setup.PassengerChoice(other) for other in found if other not in known)]


def _add_passenger(sampler: sample.Sampler, choice: setup.PassengerChoice, bones: set[str]) -> Passenger | None:
    """One that cannot be carried is left out, and the report says so: the body is what counts."""
    ob = choice.object
    try:
        rest = sampler.add_passenger(ob)
    except SceneError as error:
        sampler.body.warnings.append(f"{ob.name} is not carried along. {error}")
        return None
    rigid = passengers.is_rigid(ob, bones) if choice.mode == setup.AUTOMATIC else choice.mode == setup.RIGID
    pieces = connected_pieces(len(rest.positions), rest.edges).astype(np.int32)
    return Passenger(ob.name, rest.positions, rest.first, pieces, rigid)


def _detach_strangers(scene: Any, played: set[str], kept: list[Any]) -> None:
    """Removes our modifier from objects that play one of these bakes and are not among those that will."""
    for ob in scene.objects:
        if ob.type == "MESH" and ob not in kept and playback.bake_id(ob) in played:
            playback.detach(ob)


def _sample(taken: Any) -> Sample:
    index, positions, matrix, amount, carried = taken
    return Sample(index, positions, matrix, amount, tuple(Carried(*one) for one in carried))


def _follow_in_steps(sampler: sample.Sampler, rest: sample.Rest, settings: Settings, *, make_group: bool) -> Steps[Any]:
    """The follow weights. `make_group`: automatic ones become a vertex group that the artist can paint on."""
    ob = sampler.ob
    group = follow_group(ob, settings)
    if not group:
        follow = yield from _in_thread(lambda: _automatic(rest))
        if make_group and rest.base_first and sample.write_group(ob, FOLLOW_GROUP, follow):
            group = FOLLOW_GROUP
        yield
    others = sample.sharers(ob)
    if group and others:
        sampler.body.warnings.append(
            f'The follow group "{group}" belongs to the mesh "{ob.data.name}", which "{others[0]}" has too: painting '
            "it changes both."
        )
    if group:
        # Read back from the evaluated mesh, also what was just written: the next bake starts from the same bits.
        follow = yield from sampler.group_in_steps(group)
    return _sharpened(follow)


def _in_thread(function: Callable[[], Result]) -> Steps[Result]:
    """Steps that only wait, a hundredth of a second each, while a thread computes something."""
    results: list[Result] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(function())
        except BaseException as error:  # noqa: BLE001 (raised below, in the thread that waits)
            errors.append(error)

    thread = threading.Thread(target=work, name="sinew preparation", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.01)
        yield
    if errors:
        raise errors[0]
    return results[0]


def _shot(
    sampler: sample.Sampler,
    rest: sample.Rest,
    follow: Any,
    settings: Settings,
    target: Target,
    setup_id: str,
    carried: list[Passenger],
) -> Shot:
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
        owner_file=target.file_name,
        owner_object=sampler.ob.name,
        owner_setup=setup_id,
        passengers=tuple(carried),
        native=engine.version,
        build=engine.build,
        warnings=tuple(sampler.warnings),
    )


def _fingerprint(ob: Any, settings: Settings, shot: Shot, choices: list[setup.PassengerChoice]) -> dict[str, str]:
    carried = [(choice.object, choice.mode) for choice in choices if choice.use]
    return fingerprint.take(ob, follow_group(ob, settings), shot.frame_start, shot.frame_end, carried=carried)


def _sharpened(follow: Any) -> Any:
    """What a subdivision interpolates between ones must stay exactly one."""
    return np.where(follow > 1.0 - 1e-4, 1.0, np.where(follow < 1e-4, 0.0, follow))


def carried_now(ob: Any, scene: Any, settings: Settings) -> list[tuple[Any, str]]:
    """What a bake would carry along now, and how."""
    return [(choice.object, choice.mode) for choice in _choices(ob, scene, settings) if choice.use]


def _automatic(rest: sample.Rest) -> Any:
    bones = [Segment(bone.name, bone.head, bone.tail, bone.parent, bone.is_leaf) for bone in rest.bones]
    return sample.rounded(automatic_follow(rest.positions, rest.triangles, rest.edges, bones, rest.skin))


def setups() -> Iterator[setup.Setup]:
    """The setups of the open file's scene."""
    yield from setup.load()
