"""The current frame of a finished bake as the settings of its results want it, while they change and until Apply.

The frame is computed from the bake folder and written into a small file of its own, which the modifiers play meanwhile;
the bake is not touched. Nothing of it may stay in a file or a render: before saving, rendering and after an undo the
modifiers play the bake again.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy

from ... import setups
from ...core.bake import pc2, remake
from ...core.bake.results import Results
from ...core.bake.store import Store
from ...core.base.errors import Cancelled, Error
from ...core.base.settings import RESULT
from ...core.base.task import Task
from ...scene import compat, file, playback, setup
from ...scene.steps import finished
from .. import handlers, job_operator
from . import properties, state

_NAME = "sinew-live"  # of the temporary folder
_TICK = 0.04  # seconds between two looks at the sliders
_LOOK = 0.5  # seconds between two looks at what it depends on in the scene
_PATIENCE = 30.0  # seconds without a change after which nobody looks any more


@dataclass
class _Live:
    """A finished bake whose current frame is shown otherwise."""

    setup_id: str
    bake: str
    marks: dict[str, str]  # of what it depends on in the scene
    reading: Task  # opens the bake, which takes a moment
    results: Results | None = None
    shown: tuple[Any, ...] = ()  # what was shown last: sample and settings
    working: Task | None = None  # makes what takes longer: of `shown` when it has ended
    made: int = 0  # how often other settings have been shown
    changed: float = field(default_factory=time.monotonic)  # when it was shown last
    looked: float = field(default_factory=time.monotonic)  # at the scene


class _Session:
    live: _Live | None = None
    error = ""


session = _Session()


@dataclass
class Use:
    """What an artist has in the hand that shows bakes otherwise for longer: then nothing that takes a moment is done in
    between, what is shown stays over an undo, and more of a bake is prepared when it is opened."""

    is_on: Callable[[], bool]
    prepare: Callable[[Results], None]


uses: list[Use] = []


def is_busy() -> bool:
    """Whether something is being made in a thread, so that the open bake is not to be asked."""
    return session.live is not None and session.live.working is not None


def touch(item: Any) -> None:
    """A result setting has changed: shows the current frame, if that can be done without a new bake."""
    entry = setup.find_of(item.object, item.id_data)
    if entry is None or job_operator.is_running() or compat.is_rendering():
        return
    if session.live is None or (session.live.setup_id, session.live.bake) != (entry.id, entry.bake):
        end()
        if setups.why_not_remake(item.object, item.id_data, state.target()):
            return
        session.live = _begin(item.object, entry)
    _look_again()


def opened(item: Any) -> Results | None:
    """The results of a finished bake, opened now if they are not yet; None where it cannot be shown otherwise."""
    touch(item)
    live = session.live
    if live is None:
        return None
    live.reading.wait()
    if live.working is not None:
        live.working.wait()
    show(at_once=True)
    return live.results if session.live is live else None


def _repaint(live: _Live) -> None:
    """Looks whether what it depends on in the scene has changed, and reads it again."""
    found = setup.find_by_id(live.setup_id)
    if found is not None and live.reading.ended and live.working is None and _marks(found[1], found[0]) != live.marks:
        if live.results is not None:
            live.results.store.close()
        session.live = _begin(found[1], found[0])


def _marks(ob: Any, entry: setup.Setup) -> dict[str, str]:
    settings = setups.reading_of(entry.method).whole(properties.settings_from(entry))
    return setups.marks_of_result(ob, entry.method, settings)


def _begin(ob: Any, entry: setup.Setup) -> _Live | None:
    settings = properties.settings_from(entry)
    try:
        reading = setups.reading_of(entry.method)
        shown = finished(reading.shown(ob, reading.whole(settings)))
    except Error as error:
        session.error = str(error)
        return None
    root = state.target().root
    preparing = [use.prepare for use in uses if use.is_on()]

    def read(_: Any) -> Results:
        store = Store.open(root, entry.bake)
        results = remake.results_of(store, remake.stored_shot(store, settings, shown))
        results.shown.is_live = True
        for prepare in preparing:
            prepare(results)
        return results

    session.error = ""
    return _Live(entry.id, entry.bake, _marks(ob, entry), Task("Reading the bake", read))


def show(*, at_once: bool = False) -> bool:
    """Shows the current frame as the settings want it now. False while the bake is still being read, or what takes a
    moment is being made, which `at_once` does not do in a thread."""
    live = session.live
    found = setup.find_by_id(live.setup_id) if live is not None else None
    if live is None or found is None or found[0].bake != live.bake:
        end()
        return True
    if live.results is None:
        if not live.reading.ended:
            return False
        try:
            live.results = live.reading.result()
        except Error as error:
            session.error = str(error)
            end()
            return True
    entry, ob, scene = found
    results, index = live.results, index_now(scene)
    if live.working is not None:
        if not live.working.ended:
            return False
        _finish(live)
        if session.live is not live:
            return True
    wanted = properties.settings_from(entry)
    settings = results.shot.settings.replace(wanted.part(RESULT))
    if live.shown == (index, settings):
        return True
    is_same = live.shown[1:] == (settings,)
    if not (is_same or at_once or bpy.app.background) and any(use.is_on() for use in uses):
        live.working = Task("Showing", lambda monitor: _make(results, settings, index, monitor))
        live.changed = time.monotonic()
        _look_again()
        return False
    results.show(settings)
    _play(scene, entry, results, index)
    live.shown, live.changed, live.made = (index, settings), time.monotonic(), live.made + (not is_same)
    return True


def _make(results: Results, settings: Any, index: int, monitor: Any) -> tuple[int, Any]:
    """Brings results to other settings, in a thread."""
    results.shown.look = lambda *_: monitor.check()
    try:
        results.show(settings)
        results.made(index)
    finally:
        results.shown.look = None
    return index, settings


def _finish(live: _Live) -> None:
    """What a thread has made is at hand now: to show it takes no longer than another frame."""
    working, live.working = live.working, None
    assert working is not None
    try:
        live.shown, live.made = (None, working.result()[1]), live.made + 1
    except Cancelled:
        live.shown = ()
    except Error as error:
        session.error = str(error)
        end()


def _look_again() -> None:
    if not bpy.app.background and not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=0.0)


def show_again() -> None:
    """The same frame with the same settings, which mean something else now."""
    if session.live is not None:
        session.live.shown = ()
        show()


def index_now(scene: Any) -> int:
    """The sample of the bake that is shown otherwise, on the current frame."""
    assert session.live is not None and session.live.results is not None
    manifest = session.live.results.store.manifest
    samples = manifest.samples_per_frame
    now = scene.frame_current + scene.frame_subframe
    index = round((now - manifest.first_frame) * samples)
    repeat = setups.repeat_of(manifest.report, samples)
    if repeat is not None:
        index %= repeat.period * samples
    return int(min(max(index, 0), manifest.samples - 1))


def _play(scene: Any, entry: setup.Setup, results: Results, index: int) -> None:
    made = dict(zip(results.store.result_names, results.made(index), strict=True))
    play_frame(scene, entry, made)


def play_frame(scene: Any, entry: setup.Setup, made: Mapping[str, Any]) -> None:
    """Writes local positions by the names of results, and has the modifiers play them. A file of one sample plays on
    every frame."""
    folder = _folder(entry.id)
    folder.mkdir(parents=True, exist_ok=True)
    for name, positions in made.items():
        with open(folder / f"{name}.pc2", "w+b") as target:
            header = pc2.Header(len(positions), 1)
            pc2.write_header(target, header)
            pc2.write_slot(target, header, 0, positions)
    for playing in scene.objects:
        path = playback.cache_path(playing) if playing.type == "MESH" else None
        if path is not None and path.stem in made and path.parent.name in (entry.bake, folder.name):
            playback.play_file(playing, folder / path.name)


def end() -> None:
    """The modifiers play their bakes again."""
    live, session.live = session.live, None
    if live is not None and live.working is not None:
        live.working.cancel()
        live.working.wait()
    if live is not None and live.results is None and live.reading.wait(1.0) and live.reading.error is None:
        live.results = live.reading.result()
    if live is not None and live.results is not None:
        live.results.store.close()
    restore()


def restore() -> None:
    """Whatever plays the live frame plays its bake again, also what undo has brought back."""
    for ob in bpy.data.objects:
        path = playback.cache_path(ob) if ob.type == "MESH" else None
        if path is None or path.parent.parent.name != _NAME:
            continue
        found = setup.find_by_id(path.parent.name)
        if found is not None and found[0].bake:
            playback.play_file(ob, state.target().root / found[0].bake / path.name)


def _folder(setup_id: str) -> Path:
    return file.temporary_folder() / _NAME / setup_id


def _tick() -> float | None:
    live = session.live
    if live is None:
        return None
    if job_operator.is_running() or compat.is_rendering():
        end()
        return None
    with contextlib.suppress(Error):
        if time.monotonic() - live.looked > _LOOK:
            live.looked = time.monotonic()
            _repaint(live)
        show()
    return _TICK if session.live is not None and time.monotonic() - session.live.changed < _PATIENCE else None


def _before_frame(*_: object) -> None:
    if session.live is not None and session.live.results is not None and not compat.is_rendering():
        with contextlib.suppress(Error):
            show()


def _end(*_: object) -> None:
    end()


def _after_undo(*_: object) -> None:
    """What is in use goes on with what the settings are now, unless it is of another bake."""
    live = session.live
    if live is None or bpy.app.background or not any(use.is_on() for use in uses):
        end()
        return
    if live.working is not None:
        live.working.cancel()
        live.working.wait()
    live.shown = ()
    restore()
    with contextlib.suppress(Error):
        show()


_ENDING = ("save_pre", "render_init", "load_pre", "load_post")
_UNDOING = ("undo_post", "redo_post")
_HANDLERS = {
    "frame_change_pre": _before_frame, **dict.fromkeys(_ENDING, _end), **dict.fromkeys(_UNDOING, _after_undo)
}  # fmt: skip


def register() -> None:
    properties.on_result_change.append(touch)
    handlers.add(_HANDLERS)


def unregister() -> None:
    end()
    properties.on_result_change.remove(touch)
    handlers.remove(_HANDLERS)
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
