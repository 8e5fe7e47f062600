"""What happens to bakes when the file is saved: those of a file that had no name yet move beside it, and those that it
does not play any more are deleted, but for the last few, so that undo still finds them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import bpy

from ... import setups
from ...core.bake import folders
from ...core.base.errors import Error
from ...scene import compat, playback, setup
from .. import handlers, job_operator
from . import properties, state

recent: deque[str] = deque(maxlen=3)  # ids of bakes that were played a moment ago
_again = False


def remember(bake_id: str) -> None:
    """Undo may come back to this bake, so it outlives the next saving."""
    if bake_id and bake_id not in recent:
        recent.append(bake_id)


def bring_home(blend: Path, busy: Collection[str] = ()) -> bool:
    """Moves the bakes of a file that was not saved until now beside it, but for those still being written to.
    Whether there were any."""
    moved = False
    for bake_id, old, new in _homeless(blend):
        if bake_id in busy:
            continue
        try:
            folders.move(old.parent, bake_id, new.parent, blend.name)
        except Error as error:
            print(f"sinew: {error}")  # no place for a report while saving; the bake stays where it is, and plays
            playback.repath(new, old)
            continue
        playback.repath(old, new)
        moved = True
    if moved:
        state.forget()
    return moved


def _homeless(blend: Path) -> list[tuple[str, Path, Path]]:
    """The bakes of a file that has no name yet: id, folder now, and folder beside the .blend."""
    home, temporary = setups.Target(blend).root, setups.Target(None).root
    played = sorted(set(setup.played()))
    return [(bake_id, temporary / bake_id, home / bake_id) for bake_id in played if (temporary / bake_id).is_dir()]


def _give_copies(blend: Path, busy: Collection[str]) -> None:
    """Save Copy: the file on the disk gets bakes of its own, and the open one, which still has no name, keeps its."""
    for bake_id, old, new in _homeless(blend):
        playback.repath(new, old)
        if bake_id not in busy:
            try:
                folders.copy(old.parent, bake_id, new.parent, blend.name)
            except Error as error:
                print(f"sinew: {error}")


def _busy() -> set[str]:
    """The ids of the bakes that are being written."""
    work = job_operator.running.work
    ready = getattr(work.job, "ready", []) if work is not None else []
    return {one[0] for one in ready if one is not None}


def _before_save(path: Any = None, *_: object) -> None:
    setups.forget_deleted()
    properties.refresh()  # the list points at them too
    if not bpy.data.filepath and isinstance(path, str) and path:
        # What is written must know where its bakes will be; whether it is a copy shows only afterwards.
        for bake_id, old, new in _homeless(Path(path)):
            if bake_id not in _busy():
                playback.repath(old, new)


def _after_save(path: Any = None, *_: object) -> None:
    global _again
    if _again:
        return
    if not bpy.data.filepath:
        if isinstance(path, str) and path:
            _give_copies(Path(path), _busy())
        return
    blend = Path(bpy.data.filepath)
    if bring_home(blend, _busy()) and not compat.SAVING_TELLS_THE_PATH:
        # The paths on the disk are still the old ones.
        _again = True
        try:
            bpy.ops.wm.save_mainfile()
        finally:
            _again = False
    setups.finish(setups.Target(blend), {*recent, *_busy()})


def _after_failure(path: Any = None, *_: object) -> None:
    if not bpy.data.filepath and isinstance(path, str) and path:
        for _bake, old, new in _homeless(Path(path)):
            playback.repath(new, old)


def _after_load(*_: object) -> None:
    recent.clear()


_HANDLERS: dict[str, Callable[..., None]] = {
    "save_pre": _before_save,
    "save_post": _after_save,
    "load_post": _after_load,
}
if compat.SAVING_TELLS_THE_PATH:
    _HANDLERS["save_post_fail"] = _after_failure


def register() -> None:
    handlers.add(_HANDLERS)


def unregister() -> None:
    handlers.remove(_HANDLERS)
