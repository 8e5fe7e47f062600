"""Bakes on the objects that play them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from ..core import bakes
from ..core.shot import Shot
from ..core.store import Manifest, result_names
from ..scene import playback, setup, stack
from .target import Target, bake_root


def objects_of(ob: Any, scene: Any) -> list[Any]:
    """The body and its passengers that play its bake now."""
    entry = setup.find_of(ob, scene)
    bake = entry.bake if entry else ""
    carried = [one.object for one in entry.passengers] if entry else []
    return [ob, *(other for other in carried if other is not None and playback.bake_id(other) == bake != "")]


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
        detach_strangers(scene, {entry.bake, entry.previous} - {""}, [])
        playback.detach(ob)
        entry.bake, entry.previous, entry.fingerprint = "", "", {}
    else:
        carried = [next((c.object for c in entry.passengers if c.object.name == one.object_name), None)
                   for one in manifest.passengers]  # fmt: skip
        detach_strangers(scene, {entry.bake}, [ob, *carried])
        for other, name in zip([ob, *carried], result_names(len(carried)), strict=True):
            if other is not None:
                place = _place_now(other)
                play(other, root / manifest.id / f"{name}.pc2", place, manifest, manifest.samples_per_frame)
        # What it was made from is not known any more; its settings and `check` tell whether it is stale.
        entry.bake, entry.previous, entry.fingerprint = manifest.id, "", {}
    setup.save_of(ob, entry, scene)


def finish(target: Target, keep: Collection[str] = ()) -> None:
    """To be called when the .blend is saved: bakes that it does not play any more are deleted, but for `keep`."""
    if target.blend is not None:
        played = {*setup.played(), *playback.played(), *keep}
        bakes.remove_leftovers(target.root, target.blend.name, played)


def play(ob: Any, path: Path, place: int, shot: Shot | Manifest, samples: int) -> None:
    playback.attach(
        ob,
        path,
        place=min(place, len(stack.others(ob))),
        first_frame=shot.first_frame,
        frame_start=shot.frame_start,
        frame_end=shot.frame_end,
        samples=samples,
    )


def detach_strangers(scene: Any, played: set[str], kept: list[Any]) -> None:
    """Removes our modifier from objects that play one of these bakes and are not among those that will."""
    for ob in scene.objects:
        if ob.type == "MESH" and ob not in kept and playback.bake_id(ob) in played:
            playback.detach(ob)


def _place_now(ob: Any) -> int:
    """Where our modifier is, or belongs as far as that can be told without a look at other frames."""
    own = stack.own_modifier(ob)
    return stack.find_place(ob, ()) if own is None else list(ob.modifiers).index(own)
