"""A finished bake shown otherwise: only result settings have changed, so no frame is sampled and nothing simulated."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..core.bake import folders, remake
from ..core.bake import run as baking
from ..core.bake.before import Progress
from ..core.bake.manifest import Manifest
from ..core.bake.method import find
from ..core.base.errors import BadInput
from ..core.base.settings import BODY, RESULT, SIMULATION
from ..scene import playback, setup
from ..scene.objects import find_object
from ..scene.sampler import amounts_on
from ..scene.steps import Steps
from .marks import changed, is_of_result, marks_of, marks_of_result
from .play import objects_of
from .reading import reading_of
from .target import Target, bake_root, sentences


def why_not_remake(ob: Any, scene: Any, target: Target) -> str:
    """Why the bake of an object cannot be shown otherwise without baking it again, or ""."""
    entry = setup.find_of(ob, scene)
    manifest = folders.read_manifest(target.root, entry.bake) if entry is not None else None
    if entry is not None and manifest is None and bake_root(ob, entry, target) != target.root:
        return "The bake that plays lies in another folder, beside another file: press Bake"
    if entry is None or manifest is None or not manifest.complete or manifest.is_preview:
        return "There is no finished bake: bake first"
    settings = find(entry.method).settings().replace(entry.settings)
    if manifest.owner_setup != entry.id:  # the file may be another version, whose bake stays as it is
        return f'The bake that plays is that of the setup of "{manifest.owner_object}": press Bake'
    if {BODY, SIMULATION} & {one.belongs for one in settings.differing(manifest.settings)}:
        return "Other settings have changed too: press Bake"
    marks = marks_of(ob, scene, entry.method, settings)
    simulated = {name: mark for name, mark in entry.fingerprint.items() if not is_of_result(entry.method, name)}
    found = changed(entry.method, simulated, marks)
    if not found and is_amount_changed(entry, marks) and _amounts(ob, manifest, settings) is None:
        found = ["Amount is driven, or frames are missing"]
    return f"{found[0]}: press Bake" if found else ""


def is_amount_changed(entry: setup.Setup, marks: Mapping[str, str]) -> bool:
    return entry.fingerprint.get("amount", marks["amount"]) != marks["amount"]


def _amounts(ob: Any, manifest: Manifest, settings: Any) -> list[float] | None:
    """Of each sample of a bake, as they are keyed now; None where a look at the frames is needed."""
    if settings.missing_frames:  # between those around them there is more to it than their keys
        return None
    samples = manifest.samples_per_frame
    with sentences():
        return amounts_on(ob, [manifest.first_frame + index / samples for index in range(manifest.samples)])


def is_remake_enough(ob: Any, scene: Any, target: Target) -> bool:
    """Whether a result setting or its group is all that has changed since the bake of an object, and not the engine."""
    entry = setup.find_of(ob, scene)
    if entry is None or why_not_remake(ob, scene, target):
        return False
    manifest = folders.read_manifest(target.root, entry.bake)
    method = find(entry.method)
    if manifest is None or not manifest.is_by(method.build()):
        return False
    settings = method.settings().replace(entry.settings)
    marks, painted = marks_of_result(ob, entry.method, settings), reading_of(entry.method).marks(ob, settings)
    if is_amount_changed(entry, marks) or any(one.belongs == RESULT for one in settings.differing(manifest.settings)):
        return True
    return any(
        any(painted[name].groups) and entry.fingerprint.get(name) != marks[name]
        for name in reading_of(entry.method).of_result
    )


class ObjectRemake:
    """The bake of one object, shown otherwise: looked at in steps, then run. It holds names and ids only."""

    def __init__(self, name: str, target: Target) -> None:
        with sentences():
            ob, scene = find_object(name), setup.current_scene()
        reason = why_not_remake(ob, scene, target)
        if reason:
            raise BadInput(f"{reason}.")
        entry = setup.find_of(ob, scene)
        assert entry is not None
        self.setup_id, self.bake, self.root, self._file = entry.id, entry.bake, target.root, target.file_name
        self.settings = find(entry.method).settings().replace(entry.settings)
        self._name, self._method = name, entry.method
        self.shown: Any = None  # what the method has read about the results
        self.amounts: list[float] | None = None
        self._marks: dict[str, str] = {}

    def look(self) -> Steps[None]:
        """At what the scene says about the results, in short steps."""
        yield
        ob = find_object(self._name)
        self._marks = marks_of_result(ob, self._method, self.settings)
        manifest = folders.read_manifest(self.root, self.bake)
        self.amounts = _amounts(ob, manifest, self.settings) if manifest is not None else None
        yield
        self.shown = yield from reading_of(self._method).shown(ob, self.settings)

    def run(self, progress: Progress | None = None) -> baking.Outcome:
        """Needs no scene, so it may run in a thread."""
        return remake.remake(
            self.root, self.bake, self.settings, self.shown,
            owner_file=self._file, amounts=self.amounts, progress=progress,
        )  # fmt: skip

    def is_welcome(self) -> str:
        """Why the result can no longer be used, or ""."""
        found = setup.find_by_id(self.setup_id)
        if found is None or found[0].bake != self.bake:
            return "The bake was changed meanwhile, so its new look was dropped: apply again."
        return ""

    def attach(self, outcome: baking.Outcome) -> None:
        """Plays the new bake in place of the old one, which stays on the disk for undo."""
        unwelcome = self.is_welcome()
        found = setup.find_by_id(self.setup_id)
        if unwelcome or found is None:
            raise BadInput(unwelcome)
        entry, ob, scene = found
        for playing in objects_of(ob, scene):
            path = playback.cache_path(playing)
            if path is not None:
                playback.play_file(playing, Path(outcome.folder) / path.name)
        entry.bake = outcome.id
        entry.fingerprint = {**entry.fingerprint, **self._marks}
        setup.save_of(ob, entry, scene)
