"""Hands and eyes in a real window of Blender: finds buttons by what they do, clicks, types, drags, takes pictures.

Everything is a generator of the seconds to wait, because Blender must work in between:

    def story(window: Window) -> Steps:
        yield from window.click("sinew.add")                 # the button of an operator
        yield from window.set_number(".jiggle", "4")         # a field, by the end of its data path
        assert ...

    run(story)                                               # then Blender ends: exit code 0, or 9 after an error

Needs --enable-event-simulate. A button is found by moving the mouse over the region and asking Blender what is under
it, so nothing here knows where it lies.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

import bpy

Steps = Generator[float, None, None]
PAUSE = 0.06  # seconds in which Blender answers an event
ROW = 16  # pixels: less than the height of a button
COLUMNS = (0.72, 0.25, 0.5, 0.93)  # of the region's width: fields first, then buttons in rows of two or three
FIELD = 0.6  # of the region's width: the middle of a field, also of one with a button beside it
EMPTY = "nothing is under the mouse"


class NotFound(AssertionError):
    """No such button shows."""


class Window:
    """The first window. Pictures go into `pictures`; without it none are taken."""

    def __init__(self, pictures: Path | None = None) -> None:
        self.pictures = pictures
        self._seen: dict[str, tuple[int, int]] = {}  # what was under the mouse, and where
        self.mouse = (0, 0)

    @property
    def window(self) -> Any:
        return bpy.context.window_manager.windows[0]

    def area(self, kind: str) -> Any:
        areas = [area for area in self.window.screen.areas if area.type == kind]
        return max(areas, key=lambda area: area.width * area.height)

    def region(self, kind: str, name: str = "WINDOW") -> Any:
        return next(region for region in self.area(kind).regions if region.type == name)

    def call(self, operator: Any, *arguments: Any, area: str = "PROPERTIES", **values: Any) -> Any:
        """Runs an operator as if the mouse were in that editor."""
        with bpy.context.temp_override(window=self.window, area=self.area(area), region=self.region(area)):
            return operator(*arguments, **values)

    # Events

    def event(self, kind: str, value: str = "PRESS", **more: Any) -> None:
        self.window.event_simulate(type=kind, value=value, x=self.mouse[0], y=self.mouse[1], **more)

    def move(self, x: float, y: float) -> Steps:
        self.mouse = (int(x), int(y))
        self.event("MOUSEMOVE", "NOTHING")
        yield PAUSE

    def key(self, kind: str, **modifiers: bool) -> Steps:
        self.event(kind, "PRESS", **modifiers)
        yield PAUSE
        self.event(kind, "RELEASE", **modifiers)
        yield PAUSE

    def type_text(self, text: str) -> Steps:
        kinds = {".": "PERIOD", " ": "SPACE", "-": "MINUS", "/": "SLASH", "_": "MINUS"}
        digits = dict(zip("0123456789", "ZERO ONE TWO THREE FOUR FIVE SIX SEVEN EIGHT NINE".split(), strict=True))
        for letter in text:
            kind = kinds.get(letter) or digits.get(letter) or letter.upper()
            self.event(kind, "PRESS", unicode=letter)
            yield PAUSE / 2
            self.event(kind, "RELEASE")
            yield PAUSE / 2

    def press_mouse(self) -> Steps:
        self.event("LEFTMOUSE", "PRESS")
        yield 0.12
        self.event("LEFTMOUSE", "RELEASE")
        yield 0.25

    def drag(self, points: list[tuple[float, float]]) -> Steps:
        yield from self.move(*points[0])
        self.event("LEFTMOUSE", "PRESS")
        yield PAUSE
        for point in points[1:]:
            yield from self.move(*point)
        self.event("LEFTMOUSE", "RELEASE")
        yield 0.3

    # Buttons

    def under_mouse(self, area: str) -> str:
        """What the button under the mouse does: `sinew.bake(...)`, or a data path."""
        manager = bpy.context.window_manager
        for ask, values in ((bpy.ops.ui.copy_python_command_button, {}), (bpy.ops.ui.copy_data_path_button, {})):
            manager.clipboard = EMPTY
            try:
                self.call(ask, area=area, **values)
            except RuntimeError:
                continue  # there is no such button
            if manager.clipboard != EMPTY:
                return manager.clipboard.removeprefix("bpy.ops.")
        return ""

    def find(self, wanted: str, area: str = "PROPERTIES", columns: tuple[float, ...] = COLUMNS) -> Steps:
        """Moves the mouse onto the button, scrolling to it if need be, and lets it rest there."""
        region = self.region(area)
        known = self._place(wanted)
        if known:
            # Where it was, or a few rows away because the panel grew or shrank.
            x, y = known
            for offset in (0, *(sign * row * ROW for row in range(1, 10) for sign in (-1, 1))):
                is_inside = region.y < y + offset < region.y + region.height
                if is_inside and (yield from self._look(x, y + offset, wanted, area)):
                    return
        for scroll in range(6):
            yield from self.move(region.x + region.width / 2, region.y + region.height / 2)
            # The first time as the artist left it, then from the top down.
            for _ in range(0 if scroll == 0 else 40 if scroll == 1 else 6):
                self.event("WHEELUPMOUSE" if scroll == 1 else "WHEELDOWNMOUSE")
                yield 0.01
            yield 0.3
            for part in columns:
                for y in range(region.y + region.height - ROW // 2, region.y, -ROW):
                    if (yield from self._look(region.x + part * region.width, y, wanted, area)):
                        return
        raise NotFound(f"no button for {wanted} shows")

    def _look(self, x: float, y: float, wanted: str, area: str) -> Generator[float, None, bool]:
        """Whether the wanted button is there. All that is seen is remembered."""
        before, self.mouse = self.mouse, (int(x), int(y))
        self.event("MOUSEMOVE", "NOTHING")
        yield 0.015
        found = self.under_mouse(area)
        if found:
            self._seen[found] = self.mouse
        if not matches(found, wanted):
            return False
        # Blender may still be answering for the place before this one: see which it was, with the mouse at rest.
        for place in (self.mouse, before):
            yield from self.move(*place)
            yield 0.2
            if matches(self.under_mouse(area), wanted):
                self._seen = {key: value for key, value in self._seen.items() if not matches(key, wanted)}
                self._seen[found] = place
                return True
        return False

    def _place(self, wanted: str) -> tuple[int, int] | None:
        return next((place for found, place in self._seen.items() if matches(found, wanted)), None)

    def click(self, wanted: str, area: str = "PROPERTIES", columns: tuple[float, ...] = COLUMNS) -> Steps:
        yield from self.find(wanted, area, columns)
        yield from self.press_mouse()

    def set_number(self, path: str, text: str) -> Steps:
        """Types a number into a field of the scene; once more if a busy Blender missed the first key, as one does."""
        for attempt in range(4):
            yield from self.key("ESC")  # out of a field that an earlier key may have opened late
            yield from self.find(path)
            field = self.under_mouse("PROPERTIES")
            # Into the middle of the field: at its ends are arrows, which Return would press.
            region = self.region("PROPERTIES")
            yield from self.move(region.x + FIELD * region.width, self.mouse[1])
            yield from self.key("RET")
            yield 0.15 + 0.3 * attempt
            yield from self.key("A", ctrl=True)
            yield from self.type_text(text)
            yield from self.key("RET")
            yield 0.3
            if abs(bpy.context.scene.path_resolve(field) - float(text)) < 1e-5:
                return
        raise AssertionError(f"{text} could not be typed into {path}")

    def copy_under_mouse(self) -> Generator[float, None, str]:
        """As `under_mouse`, with the key that copies a button's command: also for menus, which belong to no editor."""
        bpy.context.window_manager.clipboard = EMPTY
        yield from self.key("C", ctrl=True)
        return str(bpy.context.window_manager.clipboard).removeprefix("bpy.ops.")

    def open_menu(self, name: str, points: Iterable[tuple[float, float]]) -> Steps:
        """Clicks the button that opens a menu or popover of that name; it is one of these points."""
        for point in points:
            yield from self.move(*point)
            if name in (yield from self.copy_under_mouse()):
                yield from self.press_mouse()
                yield 0.3
                return
        raise NotFound(f"no button opens {name}")

    def click_in_menu(self, wanted: str, beside: float = 0.0) -> Steps:
        """Clicks an entry of the menu that has just opened above or below the mouse, and a little beside it."""
        left, top = self.mouse
        above, upward = range(24, 60, ROW), False
        for offset in above:
            yield from self.move(left + beside, top + offset)
            upward = upward or (yield from self.copy_under_mouse()) != EMPTY
        for offset in range(24, 600, ROW):
            y = top + offset if upward else top - offset
            if not 0 < y < self.window.height:
                break
            yield from self.move(left + beside, y)
            yield PAUSE
            if matches((yield from self.copy_under_mouse()), wanted):
                yield from self.press_mouse()
                yield 0.3
                return
        raise NotFound(f"no entry for {wanted} shows in the menu")

    # Looking

    def wait_until(self, condition: Callable[[], Any], seconds: float = 60.0, what: str = "") -> Steps:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"waited {seconds:.0f} s in vain{': ' + what if what else ''}"
            yield 0.1

    def picture(self, name: str) -> Steps:
        if self.pictures is not None:
            self.take(self.pictures / f"{name}.png")
        yield 0.0

    def take(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["import", "-window", "root", str(path)], check=False)

    def reports(self) -> str:
        """All that Blender has reported, one line each."""
        area = self.area("OUTLINER")
        area.type = "INFO"
        self.call(bpy.ops.info.select_all, action="SELECT", area="INFO")
        self.call(bpy.ops.info.report_copy, area="INFO")
        area.type = "OUTLINER"
        return bpy.context.window_manager.clipboard


def matches(found: str, wanted: str) -> bool:
    """`.jiggle` is the end of a data path, `sinew.show(result=True` the beginning of a call."""
    if wanted.startswith("."):
        return f".{found}".endswith(wanted)
    return found.startswith(wanted if "(" in wanted else f"{wanted}(")


def run(story: Callable[[Window], Steps]) -> None:
    """Begins when the window is up. SINEW_PICTURES names the folder for pictures; a failure leaves one in TMPDIR."""
    folder = os.environ.get("SINEW_PICTURES")
    window = Window(Path(folder) if folder else None)
    steps = story(window)

    def tick() -> float | None:
        try:
            wait = next(steps, None)
        except BaseException:  # noqa: BLE001 (Blender would go on after any exception, for ever)
            traceback.print_exc()
            window.take(Path(os.environ.get("SINEW_FAILURE", "/tmp/sinew-failure.png")))
            sys.stderr.flush()
            sys.stdout.flush()
            os._exit(9)
        if wait is None:
            print("the story is over", flush=True)
            os._exit(0)
        return wait

    bpy.app.timers.register(tick, first_interval=2.0, persistent=True)
