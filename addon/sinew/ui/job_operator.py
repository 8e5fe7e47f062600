"""The one way in which long work runs in a window.

    sampling    modal: one step of the scene a tick, or as many as are short, everything else waits, Esc cancels
    working     a thread; the artist goes on, a timer watches, and Cancel in the panel stops it
    finishing   the result is written back, by name, if the scene is still the one that was sampled

In the background, or called from a script, `execute` does the same in one go. There is one piece of work at a time.
"""

from __future__ import annotations

import time
from typing import Any

import bpy

from ..core.bake.job import Working
from ..core.base.errors import Cancelled, Error
from ..core.base.task import Task
from ..scene import compat
from . import handlers
from .work import Work

_TICK = 0.01  # seconds between two steps of sampling
_BUDGET = 0.05  # seconds of a tick after which no further step is begun
_WATCH = 0.25  # seconds between two looks at the thread
_PATIENCE = 60.0  # seconds to wait for a thread that was told to stop
COUNTED_STAGES = ("Baking", "Comparing", "Showing")  # of a job, which goes over samples then


class _Running:
    """The work that is under way, and how the last one ended."""

    work: Work | None = None
    sampling = False
    object_name = ""  # whose message it is
    message = ""
    failed = False
    reason = ""  # why the work is being stopped; its thread has still to end
    is_failure = False  # whether that is an error


running = _Running()


def is_running(object_name: str = "") -> bool:
    return running.work is not None and (not object_name or object_name in running.work.object_names)


def progress() -> tuple[float, str]:
    """How far the work is, 0 to 1, and as a text."""
    work = running.work
    if work is None:
        return 0.0, ""
    if work.job is None:
        return work.sampled / work.total, "Preparing"
    if running.sampling:
        return work.sampled / max(1, work.total), f"Sampling: {work.count(work.sampled, work.total)}"
    stage, done, total, left = work.job.progress
    counted = stage in COUNTED_STAGES
    text = f"{stage}: {work.count(done, total)}" if counted else f"{stage} {100 * done // max(1, total)} %"
    if left >= 0:
        minutes, seconds = divmod(round(left), 60)
        text += f", {minutes} min {seconds:02d} s left" if minutes else f", {seconds} s left"
    return done / max(1, total), text


def done_frames(object_name: str) -> int:
    """Frames that the running bake has finished of an object."""
    work = running.work
    if work is None or work.job is None or work.job.progress[0] not in COUNTED_STAGES:
        return 0
    return work.frames(work.job.progress[1], object_name)


class JobOperator:
    """Base of operators that do long work. `bl_options` should hold UNDO."""

    _timer: Any = None
    _own: Work | None = None  # what this operator has begun

    def prepare(self, context: Any) -> Work:
        """Checks everything and begins. Raises `Error` with the scene untouched."""
        raise NotImplementedError

    def invoke(self: Any, context: Any, event: Any) -> Any:
        if bpy.app.background or context.window is None:
            return self.execute(context)
        if self._begin(context) is None:
            return {"CANCELLED"}
        self._timer = context.window_manager.event_timer_add(_TICK, window=context.window)
        context.window_manager.modal_handler_add(self)
        context.window.cursor_modal_set("WAIT")
        return {"RUNNING_MODAL"}

    def modal(self: Any, context: Any, event: Any) -> Any:
        work = running.work
        if work is None:
            self._leave(context)  # it was stopped from elsewhere: another file, the add-on was disabled
            return {"CANCELLED"}
        if event.type == "ESC" and event.value == "PRESS":
            self._leave(context)
            let_go(work.stopped)
            self.report({"INFO"}, work.stopped)
            return {"CANCELLED"}
        if event.type != "TIMER":
            return {"RUNNING_MODAL"}
        try:
            more = _step(work)
        except Error as error:
            self._leave(context)
            let_go(str(error), failed=True)
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}
        except BaseException:
            self._leave(context)
            stop("Sinew met an error of its own: see the console.", failed=True)
            raise
        _show()
        if more:
            return {"RUNNING_MODAL"}
        self._leave(context)
        running.sampling = False
        bpy.app.timers.register(watch, first_interval=_WATCH)
        return {"CANCELLED"}  # finished would be an undo step of its own: there is one, when the result has come

    def execute(self: Any, context: Any) -> Any:
        work = self._begin(context)
        if work is None:
            return {"CANCELLED"}
        try:
            while work.step():
                pass
            if work.job is not None:
                work.job.wait()
                work.job.result()
            _finish()
        except Error as error:
            stop(str(error), failed=True)
        except BaseException:
            stop("Stopped.", failed=True)
            raise
        running.sampling = False
        self.report({"ERROR" if running.failed else "INFO"}, running.message)
        return {"CANCELLED" if running.failed else "FINISHED"}

    def cancel(self: Any, context: Any) -> None:
        """Blender ends a modal operator so when its window closes."""
        self._leave(context)
        stop("Stopped: the window was closed.")

    def _begin(self: Any, context: Any) -> Work | None:
        if running.work is not None:
            self.report({"ERROR"}, "A bake is running: wait for it, or cancel it.")
            return None
        running.message, running.failed, running.object_name = "", False, context.object.name if context.object else ""
        try:
            running.work = self._own = self.prepare(context)
        except Error as error:
            running.message, running.failed = str(error), True
            self.report({"ERROR"}, str(error))
            return None
        running.sampling = True
        return running.work

    def _leave(self: Any, context: Any) -> None:
        if self._timer is not None:
            context.window_manager.event_timer_remove(self._timer)
            self._timer = None
            if context.window is not None:
                context.window.cursor_modal_restore()


def _step(work: Work) -> bool:
    """As many steps as fit into a tick: every redraw costs more than a short one. False when sampling is over."""
    end = time.monotonic() + _BUDGET
    while work.step():
        if time.monotonic() > end:
            return True
    return False


def stop(message: str, *, failed: bool = False) -> None:
    """Ends the work that is under way, waits for its thread and takes back what it made in the scene."""
    work, running.work = running.work, None
    sampling, running.sampling = running.sampling, False
    running.reason = ""
    if work is None:
        return
    if work.job is not None:
        work.job.cancel()
        work.job.wait(_PATIENCE)
        message = message if failed else _kept(work.job, message)
    work.abandon()
    if sampling:  # later the artist may have gone on from what was made
        work.discard()
    running.message, running.failed = message, failed
    _show()


def let_go(message: str, *, failed: bool = False) -> None:
    """Ends the work without waiting for its thread: the scene is free at once, and a timer sees the thread end."""
    work, sampling = running.work, running.sampling
    if work is None or work.job is None or work.job.ended:
        stop(message, failed=failed)
        return
    work.job.cancel()
    running.sampling = False
    work.abandon()
    if sampling:
        work.discard()
    running.reason, running.is_failure = message, failed
    bpy.app.timers.register(watch, first_interval=_WATCH)
    _show()


def tell_failure(object_name: str, message: str) -> None:
    """Says in the panel of an object what was wrong, without any work."""
    running.message, running.failed, running.object_name = message, True, object_name


def forget_message() -> None:
    """What was said last has been overtaken."""
    running.message, running.failed = "", False


def end_thread() -> None:
    """Stops the thread of the work under way and waits for it, without a look at the scene."""
    work, running.work = running.work, None
    if work is not None and work.job is not None:
        work.job.cancel()
        work.job.wait(_PATIENCE)


def request_stop() -> None:
    """Asks the thread to stop; the timer sees it end."""
    if running.work is not None and running.work.job is not None:
        running.work.job.cancel()


def watch() -> float | None:
    """Called by a timer while the thread works. The seconds until the next call, or None when it is over."""
    work = running.work
    if work is None or work.job is None:
        return None
    if not work.job.ended and not running.reason:
        running.reason, running.is_failure = work.is_welcome(), True
        if running.reason:
            work.job.cancel()  # and is looked at again, without waiting for it
    if compat.is_rendering() or (work.job.ended and compat.is_tool_running()):
        return _WATCH  # nothing in the scene may change now
    if not work.job.ended:
        if not running.reason:
            work.arrive()
        _show()
        return _WATCH
    was_stopped = bool(running.reason)
    _finish()
    if work.title and not was_stopped:
        bpy.ops.ed.undo_push(message=work.title)
    _show()
    return None


def _finish() -> None:
    """The thread has ended: writes its result back, or says why there is none."""
    work, running.work = running.work, None
    reason, running.reason = running.reason, ""
    if work is None or work.job is None:
        return
    running.failed = False
    if reason:
        running.message, running.failed = reason, running.is_failure
        if not running.failed:
            running.message = _kept(work.job, reason)
        return
    try:
        running.message = work.finish(work.job.result())
    except Cancelled as error:
        work.arrive()  # it may have ended before anything was shown
        running.message = str(error)
    except Error as error:
        running.message, running.failed = str(error), True
    except Exception:
        running.message, running.failed = "Sinew met an error of its own: see the console.", True
        raise


def _kept(job: Working | Task, message: str) -> str:
    return str(job.error) if isinstance(job.error, Cancelled) else message


def _show() -> None:
    """Brings panel and status bar up to date."""
    text = f"Sinew: {progress()[1]}" + (" (Esc to stop)" if running.sampling else "") if running.work else None
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        window.workspace.status_text_set(text)
        for area in window.screen.areas:
            if area.type in ("PROPERTIES", "STATUSBAR", "DOPESHEET_EDITOR"):
                area.tag_redraw()


def _before_load(*_: object) -> None:
    stop("Stopped: another file was opened.")
    running.message = ""


def _after_undo(*_: object) -> None:
    if running.work is None:
        forget_message()


_HANDLERS = {"load_pre": _before_load, "undo_post": _after_undo, "redo_post": _after_undo}


def register() -> None:
    handlers.add(_HANDLERS)


def unregister() -> None:
    stop("Stopped: Sinew was disabled.")
    handlers.remove(_HANDLERS)
    if bpy.app.timers.is_registered(watch):
        bpy.app.timers.unregister(watch)


def wait_until_over(seconds: float) -> bool:
    """For scripts and tests: whether the work that is under way came to its end within that time."""
    end = time.monotonic() + seconds
    while running.work is not None and time.monotonic() < end:
        if watch() is not None:
            time.sleep(0.05)
    return running.work is None
