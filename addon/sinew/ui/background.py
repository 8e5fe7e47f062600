"""Results for panels and overlays that take too long for a redraw: asked for at every one, made beside it.

    value = results.get("Counting", (scene, object), key, prepare)

`key` says what the value is made from. `prepare()` looks at the scene and returns the function that makes the value,
in a thread. Until it is there, the answer is None; when it has come, everything is drawn anew.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import bpy

from ..core.base.errors import Error
from ..core.base.task import Task
from . import handlers

_LOOK = 0.1  # seconds between two looks at the threads


@dataclass
class _Entry:
    key: Hashable = None
    value: Any = None
    error: str = ""
    task: Task | None = None
    task_key: Hashable = None


class Results:
    """Values by what they are and whose; one thread at a time for each."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, _Entry] = {}

    def get(
        self, what: str, whose: Hashable, key: Hashable, prepare: Callable[[], Callable[[Any], Any]]
    ) -> Any | None:
        """The value for `key`, or None while it is being made or where that failed."""
        entry = self._entries.setdefault((what, whose), _Entry())
        self._collect(entry)
        if entry.key != key and entry.task is None:
            try:
                entry.task, entry.task_key = Task(what, prepare()), key
                _watch()
            except Error as error:
                entry.key, entry.value, entry.error = key, None, str(error)
        return entry.value if entry.key == key else None

    def last(self, what: str, whose: Hashable) -> Any | None:
        """The last value, be it of an older key."""
        entry = self._entries.get((what, whose))
        if entry is None:
            return None
        self._collect(entry)
        return entry.value

    def error(self, what: str, whose: Hashable) -> str:
        """Why there is no value, as a sentence, or ""."""
        entry = self._entries.get((what, whose))
        return entry.error if entry is not None else ""

    @property
    def is_busy(self) -> bool:
        for entry in self._entries.values():
            self._collect(entry)
        return any(entry.task is not None for entry in self._entries.values())

    def wait(self, seconds: float = 60.0) -> None:
        """For scripts and tests: until all threads have ended."""
        for entry in self._entries.values():
            if entry.task is not None:
                entry.task.wait(seconds)
            self._collect(entry)

    def forget(self) -> None:
        """Stops the threads and drops all values."""
        for entry in self._entries.values():
            if entry.task is not None:
                entry.task.cancel()
        self._entries.clear()

    def _collect(self, entry: _Entry) -> None:
        if entry.task is None or not entry.task.ended:
            return
        task, entry.task, entry.key = entry.task, None, entry.task_key
        try:
            entry.value, entry.error = task.result(), ""
        except Error as error:
            entry.value, entry.error = None, str(error)


results = Results()


def redraw() -> None:
    """Draws viewports, timelines and properties anew."""
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if area.type in ("PROPERTIES", "VIEW_3D", "DOPESHEET_EDITOR"):
                area.tag_redraw()


def _look() -> float | None:
    if results.is_busy:
        return _LOOK
    redraw()
    return None


def _watch() -> None:
    if not bpy.app.background and not bpy.app.timers.is_registered(_look):
        bpy.app.timers.register(_look, first_interval=_LOOK)


def _before_load(*_: object) -> None:
    results.forget()


_HANDLERS = {"load_pre": _before_load}


def register() -> None:
    handlers.add(_HANDLERS)


def unregister() -> None:
    results.forget()
    handlers.remove(_HANDLERS)
    if bpy.app.timers.is_registered(_look):
        bpy.app.timers.unregister(_look)
