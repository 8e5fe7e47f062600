"""What the panel says about a setup: cheap enough to be asked at every redraw."""

from __future__ import annotations

import os
import textwrap
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from ... import setups
from ...core.bake.manifest import MANIFEST_LIMIT, Manifest, is_id
from ...core.bake.method import find
from ...core.bake.report import frames_text, told
from ...core.bake.store import Store
from ...core.base import disk
from ...core.base.errors import Error
from ...core.base.settings import BODY, RESULT, SIMULATION
from ...scene import playback, setup, stack
from . import properties

NOTHING, BAKED, STALE, LOST = "NOTHING", "BAKED", "STALE", "LOST"
UNFINISHED, PREVIEW = "UNFINISHED", "PREVIEW"
ALARMING = (STALE, LOST)  # what plays is not what the scene asks for
_KEPT = 1.0  # seconds for which a fingerprint is not taken again


@dataclass(frozen=True)
class State:
    """How a setup stands: one of the words above, a sentence, and the lines of the last report."""

    kind: str
    text: str
    report: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


_fingerprints: dict[tuple[Any, ...], tuple[float, dict[str, str]]] = {}
_manifests: dict[str, tuple[int, Manifest]] = {}
_remakes: dict[tuple[Any, ...], tuple[float, str]] = {}
_counts: dict[str, tuple[int, int]] = {}  # by the id of an unfinished bake


def target() -> setups.Target:
    """Where the open file keeps its bakes."""
    return setups.Target(Path(bpy.data.filepath) if bpy.data.filepath else None)


def bake_of(item: Any) -> tuple[Path, Manifest] | None:
    """The folder of all bakes and the manifest of the one that is played, which may still be under way."""
    entry = setup.find_of(item.object, item.id_data)
    if entry is None or not entry.bake:
        return None
    root = setups.bake_root(item.object, entry, target())
    try:
        return root, manifest_of(root, entry.bake)
    except Error:
        return None


def why_not_remake(ob: Any, scene: Any) -> str:
    """Why the bake cannot be shown otherwise without a new one, or ""; looked at once in a while."""
    entry = setup.find_of(ob, scene)
    key = (entry.id, entry.bake, str(entry.settings)) if entry is not None else ()
    known = _remakes.get(key)
    if known is None or time.monotonic() - known[0] > _KEPT:
        _remakes.clear()
        known = _remakes[key] = (time.monotonic(), setups.why_not_remake(ob, scene, target()))
    return known[1]


def of(item: Any) -> State:
    """The state of a setup that is not being baked."""
    scene, ob = item.id_data, item.object
    entry = setup.find_of(ob, scene)
    if entry is None or not entry.bake:
        return State(NOTHING, "Not baked yet")
    try:
        manifest = manifest_of(setups.bake_root(ob, entry, target()), entry.bake)
        is_by_us = manifest.is_by(find(manifest.method).build())
    except Error as error:
        return State(LOST, _lost(ob, entry) or str(error))
    report, notes = _report(manifest)
    modifier = stack.own_modifier(ob)
    path = playback.cache_path(ob)
    if modifier is None or path is None:
        return State(LOST, f'The modifier "{stack.MODIFIER_NAME}" is gone: bake again', report, notes)
    if not path.is_file():
        told = _lost(ob, entry) or f"The file of the bake is missing: bake again, or bring {path} back"
        return State(LOST, told, report, notes)
    if path.parent.name != entry.bake and path.parent.name in {one.bake for one in setup.all_of(ob, scene)}:
        return State(STALE, "Another setup of this object plays: Bake plays this one", report, notes)
    settings = properties.settings_of(item)
    span = f"frames {manifest.frame_start} to {manifest.frame_end}"
    if not manifest.complete:
        counted = count_frames(_done(path.parent, manifest), manifest, manifest.samples_per_frame)
        return State(UNFINISHED, f"{counted}: Bake continues", report, notes)
    if manifest.is_preview:
        return State(PREVIEW, f"Preview, {span}, coarse: Bake makes the real one", report, notes)
    if not is_by_us:
        told = "Sinew's engine has changed since: it plays as it was, Bake computes it anew"
        return State(STALE, told, report, notes)
    in_scene, in_result = _changed_scene(ob, scene, settings, entry)
    reason = _changed_setting(settings, manifest, BODY, SIMULATION) or in_scene or _changed_company(scene, manifest)
    if reason:
        return State(STALE, f"{reason}: bake again", report, notes)
    reason = _changed_setting(settings, manifest, RESULT) or in_result
    if reason:
        return State(STALE, f"{reason}: Bake shows it on all frames, with nothing simulated", report, notes)
    return State(BAKED, f"Baked, {span}", report, notes)


def together_with(item: Any) -> list[str]:
    """Names of the objects that the last bake of a setup was simulated with."""
    entry = setup.find_of(item.object, item.id_data)
    try:
        found = manifest_of(setups.bake_root(item.object, entry, target()), entry.bake) if entry else None
    except Error:
        return []
    return [str(name) for name in found.report.get("together", [])] if found is not None else []


def _changed_company(scene: Any, manifest: Manifest) -> str:
    """What has changed of those that a bake was simulated with, as a sentence or ""."""
    for name in manifest.report.get("together", []):
        ob = scene.objects.get(name)
        entry = setup.find_of(ob, scene)
        if ob is None or entry is None:
            return f'"{name}", which it was simulated with, is gone'
        try:
            theirs = manifest_of(setups.bake_root(ob, entry, target()), entry.bake)
        except Error:
            return f'The bake of "{name}", which it was simulated with, is gone'
        settings = properties.settings_from(entry)
        if theirs.together != manifest.together:
            return f'"{name}", which it was simulated with, was baked otherwise'
        reason = _changed_setting(settings, theirs, BODY, SIMULATION) or _changed_scene(ob, scene, settings, entry)[0]
        if reason:
            return f'{reason} of "{name}", which it is simulated with'
    return ""


def _lost(ob: Any, entry: setup.Setup) -> str:
    """That the folder is missing in which the modifier looks for its bake, which may be another than this file's; ""
    where it is there."""
    path = playback.cache_path(ob)
    if path is None or path.parent.name != entry.bake or path.parent.is_dir():
        return ""
    folder = os.path.normpath(path.parent)
    return f"The bake folder is missing: bake again, or bring {folder} back"


def frames_of(samples: int, shot: Any, samples_per_frame: int) -> int:
    """How many frames of a shot, or of a bake, so many samples make; those of a preroll do not count."""
    return max(0, -(-samples // samples_per_frame) - (shot.frame_start - shot.first_frame))


def count_frames(samples: int, shot: Any, samples_per_frame: int) -> str:
    """The same as a text: 15 of 81 frames."""
    return f"{frames_of(samples, shot, samples_per_frame)} of {frames_text(shot.frame_end - shot.frame_start + 1)}"


def done_frames(folder: Path, manifest: Manifest) -> int:
    """Frames of an unfinished bake that are there."""
    return frames_of(_done(folder, manifest), manifest, manifest.samples_per_frame)


def wrapped(text: str, width: int) -> list[str]:
    """Lines that fit a region of that many pixels."""
    scale = bpy.context.preferences.system.ui_scale or 1.0
    return textwrap.wrap(text, max(20, int(width / (6.5 * scale)) - 8))


def forget() -> None:
    """Another file is open."""
    _fingerprints.clear()
    _remakes.clear()
    _manifests.clear()
    _counts.clear()


def manifest_of(root: Path, bake: str) -> Manifest:
    """Read again only when the file has changed."""
    path = root / bake / "manifest.json"
    with disk.sentences(path):
        changed = os.stat(path).st_mtime_ns if is_id(bake) else 0
    known = _manifests.get(str(path))
    if known is None or known[0] != changed:
        known = (changed, Manifest.from_json(disk.read_json(path, MANIFEST_LIMIT), root / bake))
        _manifests[str(path)] = known
    return known[1]


def _done(folder: Path, manifest: Manifest) -> int:
    """Finished samples of a bake, counted again only when its log has changed."""
    try:
        changed = os.stat(folder / "frames.jsonl").st_mtime_ns
        known = _counts.get(manifest.id)
        if known is None or known[0] != changed:
            with Store.open(folder.parent, manifest.id) as store:
                known = _counts[manifest.id] = (changed, store.done)
        return known[1]
    except (OSError, Error):
        return 0


def _report(manifest: Manifest) -> tuple[tuple[str, ...], tuple[str, ...]]:
    try:
        return tuple(told(manifest.report)), tuple(manifest.report["warnings"])
    except (KeyError, TypeError, ValueError):
        return (), ()  # of another version


def _changed_setting(settings: Any, manifest: Manifest, *belongs: str) -> str:
    for one in settings.differing(manifest.settings):
        if one.belongs in belongs:
            return f"{one.label} has changed"
    return ""


def _changed_scene(ob: Any, scene: Any, settings: Any, entry: setup.Setup) -> tuple[str, str]:
    """What has changed, as a sentence or "": of what is simulated, and of what is only shown."""
    looked_at = setups.reading_of(entry.method).marks(ob, settings)
    groups = tuple(one.groups for one in looked_at.values())
    key = (scene.name, ob.name, entry.method, groups, setups.frame_range(scene, settings))
    now = time.monotonic()
    known = _fingerprints.get(key)
    if known is None or now - known[0] > _KEPT:
        marks = setups.marks_of(ob, scene, entry.method, settings)
        # What takes long is asked for less often: one part in fifty of the time at most.
        known = _fingerprints[key] = (now + 50 * (time.monotonic() - now), marks)
    shown = {name: mark for name, mark in entry.fingerprint.items() if setups.is_of_result(entry.method, name)}
    found = [setups.changed(entry.method, part, known[1]) for part in (_without(entry.fingerprint, shown), shown)]
    simulated, result = (sentences[0] if sentences else "" for sentences in found)
    return simulated, result


def _without(marks: Mapping[str, str], others: Collection[str]) -> dict[str, str]:
    return {name: mark for name, mark in marks.items() if name not in others}
