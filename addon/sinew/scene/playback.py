"""Plays a bake by Blender's own Mesh Cache modifier, so that a file renders where Sinew is not installed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bpy

from . import compat, file, stack

_DRIVEN = ("factor", "eval_frame")


@dataclass(frozen=True)
class Repeat:
    """A cycle of so many frames, which goes on before and after the range."""

    period: int
    before: bool
    after: bool


def attach(
    ob: Any,
    cache: Path,
    *,
    place: int,
    first_frame: int,
    frame_start: int,
    frame_end: int,
    samples: int,
    repeat: Repeat | None = None,
) -> None:
    """Adds or updates the one modifier that plays `cache`; outside frame_start..frame_end the input plays, or the cycle
    repeats."""
    modifier = stack.own_modifier(ob)
    plays_already = modifier is not None and cache_path(ob) == cache
    if modifier is None:
        modifier = ob.modifiers.new(stack.MODIFIER_NAME, "MESH_CACHE")
        modifier.name = stack.MODIFIER_NAME
    modifier.cache_format = "PC2"
    modifier.filepath = relative(cache)
    modifier.interpolation = "LINEAR"
    modifier.deform_mode = "OVERWRITE"
    modifier.time_mode = "FRAME"
    modifier.play_mode = "SCENE" if repeat is None else "CUSTOM"
    modifier.frame_start = float(first_frame * samples)
    modifier.frame_scale = float(samples)
    if not plays_already:  # else the artist may have chosen to see the input meanwhile
        modifier.show_viewport = modifier.show_render = True
    compat.move_modifier(ob, modifier, place)
    for name in _DRIVEN:
        modifier.driver_remove(name)
    modifier.factor = 1.0
    ends = [] if repeat is not None and repeat.before else [f"frame >= {frame_start}"]
    ends += [] if repeat is not None and repeat.after else [f"frame <= {frame_end}"]
    if ends:
        _drive(modifier, "factor", " and ".join(ends))
    if repeat is not None:
        passed = f"(frame - {first_frame})"
        whole = f"{repeat.period} * floor({passed} / {repeat.period})"
        _drive(modifier, "eval_frame", f"{samples} * ({passed} - {whole})")
    ob.update_tag()


def _drive(modifier: Any, name: str, expression: str) -> None:
    """By numbers and the frame alone, which is evaluated even where scripts are disabled."""
    curve = modifier.driver_add(name)
    curve.driver.type = "SCRIPTED"
    curve.driver.expression = expression
    for point_modifier in list(curve.modifiers):
        curve.modifiers.remove(point_modifier)


def detach(ob: Any) -> bool:
    """Removes the modifier with its drivers and nothing else. True if there was one."""
    modifier = stack.own_modifier(ob)
    if modifier is None:
        return False
    for name in _DRIVEN:
        modifier.driver_remove(name)
    ob.modifiers.remove(modifier)
    return True


def cache_path(ob: Any) -> Path | None:
    """The file that our modifier plays, absolute; None without a modifier."""
    modifier = stack.own_modifier(ob)
    return None if modifier is None else Path(bpy.path.abspath(modifier.filepath))


def bake_id(ob: Any) -> str:
    """Id of the bake that our modifier plays: the name of the folder of its file; "" without a modifier."""
    path = cache_path(ob)
    return "" if path is None else path.parent.name


def absolute(path: str) -> str:
    return str(bpy.path.abspath(path))


def relative(path: Path) -> str:
    # Before the file is saved for the first time there is nothing to be relative to, and what was chosen as a place of
    # its own stays there when the file moves.
    chosen = file.chosen_folder()
    is_apart = chosen != "" and not chosen.startswith("//") and path.is_relative_to(os.path.abspath(chosen))
    return bpy.path.relpath(str(path)) if bpy.data.filepath and not is_apart else str(path)


def _playing() -> Iterator[tuple[Any, Path]]:
    """Our modifiers in the open file, each with the file that it plays."""
    for ob in bpy.data.objects:
        modifier = stack.own_modifier(ob) if ob.type == "MESH" else None
        if modifier is not None:
            yield modifier, Path(absolute(modifier.filepath))


def folders() -> Iterator[Path]:
    """The bake folders that objects of the open file play, where they exist."""
    for _, path in _playing():
        if path.is_file():
            yield Path(os.path.normpath(path.parent))


def is_passenger(ob: Any) -> bool:
    """Whether an object plays its part of the bake of another one."""
    path = cache_path(ob)
    return path is not None and path.name.startswith("passenger_")


def played() -> Iterator[str]:
    """The ids of all bakes that objects of the open file play."""
    return (path.parent.name for _, path in _playing())


def play_file(ob: Any, cache: Path) -> None:
    """Another file of the same vertices in place of the one that our modifier plays."""
    modifier = stack.own_modifier(ob)
    if modifier is not None:
        modifier.filepath = relative(cache)
        ob.update_tag()


def repath(old: Path, new: Path) -> None:
    """After a bake folder has moved: modifiers that play a file in it play it where it is now."""
    for modifier, path in _playing():
        if os.path.normpath(path.parent) == os.path.normpath(old):
            modifier.filepath = relative(new / path.name)
