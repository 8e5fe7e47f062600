"""A finished bake shown otherwise: only result settings have changed, so no frame is sampled and no flesh simulated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..core.bake import folders, remake
from ..core.bake import run as baking
from ..core.bake.method import find
from ..core.base.errors import BadInput
from ..core.base.settings import CAGE, RESULT, SIMULATION
from ..scene import fingerprint, playback, setup
from ..scene.objects import find_object
from .marks import marks_of
from .play import objects_of
from .reading import reading_of
from .target import Target, sentences


def why_not_remake(ob: Any, scene: Any, target: Target) -> str:
    """Why the bake of an object cannot be shown otherwise without baking it again, or ""."""
    entry = setup.find_of(ob, scene)
    manifest = folders.read_manifest(target.root, entry.bake) if entry is not None else None
    if entry is None or manifest is None or not manifest.complete or manifest.is_preview:
        return "There is no finished bake: bake first"
    settings = find(entry.method).settings().replace(entry.settings)
    if manifest.owner != (target.file_name, entry.id):
        return "This needs a new bake: press Bake"
    if {CAGE, SIMULATION} & {one.belongs for one in settings.differing(manifest.settings)}:
        return "Other settings have changed too: press Bake"
    marks = marks_of(ob, scene, entry.method, settings)
    found = fingerprint.changed({**entry.fingerprint, "after": marks["after"]}, marks)
    return f"{found[0]}: press Bake" if found else ""


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
    changed = any(one.belongs == RESULT for one in settings.differing(manifest.settings))
    group = _after_group(ob, entry.method, settings)
    return changed or bool(group) and entry.fingerprint.get("after") != fingerprint.take_weights(ob, group)


def _after_group(ob: Any, method: str, settings: Any) -> str:
    return str(reading_of(method).marks(ob, settings).get("after", ""))


class ObjectRemake:
    """The bake of one object, shown otherwise. It holds names and ids only."""

    def __init__(self, name: str, target: Target) -> None:
        with sentences():
            ob, scene = find_object(name), setup.current_scene()
        reason = why_not_remake(ob, scene, target)
        if reason:
            raise BadInput(f"{reason}.")
        entry = setup.find_of(ob, scene)
        assert entry is not None
        self.setup_id, self.bake, self.root = entry.id, entry.bake, target.root
        self.settings = find(entry.method).settings().replace(entry.settings)
        self.after = reading_of(entry.method).after(ob, self.settings)
        self._mark = fingerprint.take_weights(ob, _after_group(ob, entry.method, self.settings))

    def run(self, progress: baking.Progress | None = None) -> baking.Outcome:
        """Needs no scene, so it may run in a thread."""
        return remake.remake(self.root, self.bake, self.settings, self.after, progress=progress)

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
        entry.fingerprint = {**entry.fingerprint, "after": self._mark}
        setup.save_of(ob, entry, scene)
