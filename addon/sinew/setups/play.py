"""Bakes on the objects that play them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..core.bake import folders
from ..core.bake.layout import result_names
from ..core.bake.manifest import Manifest
from ..core.bake.run import Outcome
from ..core.bake.shot import Shot
from ..core.base.errors import BadInput
from ..scene import playback, setup, stack
from ..scene.file import BESIDE
from .reading import reading_of
from .target import Target, bake_root


@dataclass(frozen=True)
class Play:
    """What is left to do with a bake when the scene is free again: to play it on the objects that were sampled. It
    holds names and ids only, so the scene may change while work goes on elsewhere."""

    name: str  # of the object when it was sampled
    setup_id: str
    target: Target
    shot: Shot
    samples: int  # in each frame
    is_preview: bool
    previous: str  # id of the last complete bake
    carried: Mapping[str, str]  # ids and names of those that are carried, in the order of the shot
    places: Sequence[int]  # of our modifier on the body and on those
    vertices: Sequence[int]  # of their meshes
    makes: bool  # a vertex group was made
    fingerprint: dict[str, str] = field(default_factory=dict)

    def is_welcome(self) -> str:
        """Why the result can no longer be used, or ""."""
        found = setup.find_by_id(self.setup_id)
        if found is None:
            return f'"{self.name}" or its setup was deleted, so its bake was stopped.'
        if found[1].type != "MESH" or len(found[1].data.vertices) != self.vertices[0]:
            return f'The mesh of "{found[1].name}" was edited during the bake, so it was stopped: bake again.'
        return ""

    def show(self, bake_id: str, folder: Path) -> None:
        """Plays the folder on the objects while its frames arrive. The last complete bake stays on the disk."""
        self._attach(bake_id, folder, self.previous, {})

    def attach(self, outcome: Outcome) -> None:
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
        objects = [ob, *(choices.get(key, scene.objects.get(name)) for key, name in self.carried.items())]
        detach_strangers(scene, {entry.bake, entry.previous, self.previous} - {""}, objects)
        for index, (carried, name) in enumerate(zip(objects, result_names(len(self.carried)), strict=True)):
            if carried is None or len(carried.data.vertices) != self.vertices[index]:
                continue  # a passenger that was deleted or edited meanwhile
            repeat = repeat_of(report, self.samples)
            play(carried, folder / f"{name}.pc2", self.places[index], self.shot, self.samples, repeat)
        if self.makes:
            reading_of(entry.method).make_again(ob, self.shot.painted)  # where undo has taken it back
        entry.bake, entry.previous, entry.fingerprint = bake_id, previous, self.fingerprint
        setup.save_of(ob, entry, scene)


def objects_of(ob: Any, scene: Any) -> list[Any]:
    """The body and its passengers that play its bake now."""
    entry = setup.find_of(ob, scene)
    bake = entry.bake if entry else ""
    carried = [one.object for one in entry.passengers] if entry else []
    return [ob, *(other for other in carried if other is not None and playback.bake_id(other) == bake != "")]


def playing_modifiers(ob: Any, scene: Any) -> list[Any]:
    """The modifiers of ours by which they play it."""
    modifiers = (stack.own_modifier(playing) for playing in objects_of(ob, scene))
    return [modifier for modifier in modifiers if modifier is not None]


def delete_bake(ob: Any, scene: Any, target: Target) -> None:
    """Removes the modifiers that play a setup's bake, and nothing else; a preview or an unfinished bake gives way to
    the complete one before it. Folders go when the file is saved."""
    entry = setup.find_of(ob, scene)
    root, manifest = (target.root, None) if entry is None else find_previous(ob, entry, target)
    if entry is None or manifest is None or entry.previous == entry.bake:
        clear(ob, scene)
        return
    _play_stored(ob, scene, entry, root, manifest, entry.bake)
    # What it was made from is not known any more; its settings and `check` tell whether it is stale.
    entry.bake, entry.previous, entry.fingerprint = manifest.id, "", {}
    setup.save_of(ob, entry, scene)


def play_chosen(ob: Any, scene: Any, target: Target) -> bool:
    """Where another setup of the object plays, the bake of the chosen one takes its place. Whether it did."""
    entry, now = setup.find_of(ob, scene), playback.bake_id(ob)
    others = {one.bake for one in setup.all_of(ob, scene)} - {"", entry.bake if entry is not None else ""}
    path = playback.cache_path(ob)
    if entry is None or not entry.bake or now not in others or path is None:
        return False
    for root in dict.fromkeys((path.parent.parent, target.root)):
        manifest = folders.read_manifest(root, entry.bake)
        if manifest is not None:
            _play_stored(ob, scene, entry, root, manifest, now)
            return True
    return False


def _play_stored(ob: Any, scene: Any, entry: setup.Setup, root: Path, manifest: Manifest, instead_of: str) -> None:
    """A bake that lies there plays on its objects, and what played on them before on none."""
    carried = [next((c.object for c in entry.passengers if c.object.name == one.object_name), None)
               for one in manifest.passengers]  # fmt: skip
    detach_strangers(scene, {instead_of}, [ob, *carried])
    for other, name in zip([ob, *carried], result_names(len(carried)), strict=True):
        if other is not None:
            place = _place_now(other)
            samples = manifest.samples_per_frame
            repeat = repeat_of(manifest.report, samples)
            play(other, root / manifest.id / f"{name}.pc2", place, manifest, samples, repeat)


def clear(ob: Any, scene: Any) -> None:
    """Removes the modifiers that play a setup's bakes, also the bake that a preview was played in place of."""
    entry = setup.find_of(ob, scene)
    playback.detach(ob)
    if entry is not None:
        detach_strangers(scene, {entry.bake, entry.previous} - {""}, [])
        _unmake(ob, entry)
        entry.bake, entry.previous, entry.fingerprint = "", "", {}
        setup.save_of(ob, entry, scene)


def find_previous(ob: Any, entry: setup.Setup, target: Target) -> tuple[Path, Manifest | None]:
    """The complete bake that a preview or an unfinished one is played in place of, beside this file or where it lay
    when it was replaced."""
    roots = [target.root, bake_root(ob, entry, target)]
    roots += [Path(playback.absolute(entry.previous_root))] if entry.previous_root else []
    for root in roots:
        manifest = folders.read_manifest(root, entry.previous)
        if manifest is not None:
            return root, manifest
    return target.root, None


def _unmake(ob: Any, entry: setup.Setup) -> None:
    """A vertex group that a bake has made goes with it, unless the artist has painted it since."""
    if entry.made_group:
        reading_of(entry.method).unmake(ob, entry.made_group)
    entry.made_group = ""


def forget_deleted() -> None:
    """Drops the setups of deleted objects, and their passengers show their input again."""
    for entry in setup.drop_deleted():
        for scene in setup.all_scenes():
            detach_strangers(scene, {entry.bake, entry.previous} - {""}, [])


def finish(target: Target, keep: Collection[str] = ()) -> None:
    """To be called when the .blend is saved: bakes that it does not play any more are deleted, but for `keep`."""
    if target.blend is not None:
        for folder in playback.folders():
            if folder.parent != target.root:
                folders.note_user(folder, target.blend)
        folders.remove_leftovers(target.root, target.blend.name, {*played(), *keep}, home=target.blend.parent)


def played() -> set[str]:
    """The ids of all bakes that the open file plays or could go back to."""
    return {*setup.played(), *playback.played()}


def clean_up(target: Target, keep: Collection[str] = ()) -> int:
    """Deletes the bakes of the file that it does not play, here and in the folder beside it, but for `keep`. The bytes
    that are free then."""
    if target.blend is None:
        return 0
    freed = 0
    for root in {target.root, target.blend.parent / BESIDE}:
        before = sum(folders.disk_use(root).values())
        folders.remove_leftovers(root, target.blend.name, {*played(), *keep}, home=target.blend.parent)
        freed += before - sum(folders.disk_use(root).values())
    return freed


def repeat_of(report: dict[str, Any], samples: int) -> playback.Repeat | None:
    """How a bake with so many samples a frame repeats outside of its range, by its report; None where it does not."""
    loop = report.get("loop") or {}
    before, after = loop.get("repeats", (False, False))
    return playback.Repeat(loop["period"] // samples, before, after) if before or after else None


def play(
    ob: Any, path: Path, place: int, shot: Shot | Manifest, samples: int, repeat: playback.Repeat | None = None
) -> None:
    playback.attach(
        ob,
        path,
        place=min(place, len(stack.others(ob))),
        first_frame=shot.first_frame,
        frame_start=shot.frame_start,
        frame_end=shot.frame_end,
        samples=samples,
        repeat=repeat,
    )


def detach_strangers(scene: Any, played: set[str], kept: list[Any]) -> None:
    """Removes our modifier from objects that play one of these bakes and are not among those that will."""
    for ob in scene.objects:
        # A duplicate of the body plays on: it is no passenger.
        if ob.type == "MESH" and ob not in kept and playback.is_passenger(ob) and playback.bake_id(ob) in played:
            playback.detach(ob)


def _place_now(ob: Any) -> int:
    """Where our modifier is, or belongs as far as that can be told without a look at other frames."""
    own = stack.own_modifier(ob)
    return stack.find_place(ob, ()) if own is None else list(ob.modifiers).index(own)
