"""Edit Motion in figures: `PYTHONPATH=addon:tests/core python tests/benchmark/edit.py`, one row a line: name, ours, the
paper's (or what is demanded), unit.

Times are of a bar of 20,400 tets that is held at one end, bent more from frame to frame, with eight handles on eight
frames. The paper's are those of its bridge: 31,746 tets, 240 frames, on six cores."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from bodies import box_tets
from sinew.core.cage.cage import Cage
from sinew.core.edit.body import Body
from sinew.core.edit.editor import Editor
from sinew.core.edit.handles import Edits, Handle
from test_edit import RATE, Bar, Moment, banded, basis_error, green, pulled
from test_edit_contacts import LONGEST, Standing

PAPER = {"open": 784.0, "handle": 410.0, "drag": 48.0}  # s, ms, ms


def tell(name: str, ours: float, yardstick: float, unit: str) -> None:
    print(f"{name},{ours:.6g},{yardstick:.6g},{unit}", flush=True)


def seconds(work: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def long_bar() -> tuple[Cage, Body]:
    vertices, tets = box_tets((34, 10, 10), (3.4, 1.0, 1.0))
    owner, weights = np.zeros(len(vertices), np.int32), np.zeros((len(vertices), 4))
    for e, tet in enumerate(tets):
        for i, v in enumerate(tet):
            owner[v], weights[v] = e, np.eye(4)[i]
    mass = np.full(len(vertices), 3400.0 / len(vertices))
    fixed = (vertices[:, 0] < 1e-9).astype(np.int32)
    body = Body(mass, np.zeros(len(vertices)), fixed, 0.5, 0.02, 1.0, young=np.full(len(tets), 1e5))
    return Cage(vertices, tets, owner, weights), body


def measure_times() -> None:
    cage, body = long_bar()
    vertices = cage.vertices
    x = vertices[:, 0]
    moments = {float(f): Moment(vertices + np.stack([0 * x, 0.002 * f * x**2, 0 * x], 1)) for f in range(0, 240, 6)}
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    editor, tip = Editor(cage, body, RATE), int(np.argmax(vertices @ [1.0, 0.01, 0.01]))

    def solve(one: Editor, *handles: Handle) -> None:
        one.solve(Edits(handles=handles), moments.__getitem__, goes_on=True, polish=False)

    handles = [Handle((tip,), 24.0 * (k + 1), (0.0, 0.0, 0.2 * (-1) ** k)) for k in range(8)]
    for count in range(1, 8):
        solve(editor, *handles[:count])
    tell("edit_eighth_handle_ms", 1e3 * seconds(lambda: solve(editor, *handles)), PAPER["handle"], "ms")
    many = []
    for k in range(8):
        moved = Handle((tip,), 192.0, (0.0, 0.0, -0.2 + 0.01 * k))
        shown = moments[192.0].shape
        many.append(seconds(lambda h=moved, s=shown: (solve(editor, *handles[:7], h), editor.frame(192.0, s))))  # type: ignore[misc]
    tell("edit_drag_of_eight_ms", 1e3 * min(many[1:]), PAPER["drag"], "ms")
    tell("edit_memory_mb", (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024, 100.0, "MB")
    tell("edit_open_s", min(seconds(lambda: Editor(cage, body, RATE)) for _ in range(3)), PAPER["open"], "s")
    firsts = []
    for _ in range(3):
        fresh = Editor(cage, body, RATE)
        firsts.append(seconds(lambda fresh=fresh: solve(fresh, handles[0])))  # type: ignore[misc]
    tell("edit_handle_ms", 1e3 * min(firsts), PAPER["handle"], "ms")
    one = Editor(cage, body, RATE)
    drags = []
    for k in range(12):
        handle = Handle((tip,), 24.0, (0.0, 0.0, 0.2 + 0.01 * k))
        shown = moments[24.0].shape
        drags.append(seconds(lambda h=handle, s=shown: (solve(one, h), one.frame(24.0, s))))  # type: ignore[misc]
    tell("edit_drag_ms", 1e3 * min(drags[1:]), PAPER["drag"], "ms")
    tell("edit_apply_ms", 1e3 * min(seconds(lambda f=f: editor.frame(f, moments[f].shape)) for f in moments), 0.0, "ms")


def measure_landing() -> None:
    """Pulls of 0.4 of the length on a bar that is bent by up to 270 degrees, of targets within its reach."""
    bar, random, missed, rounds = Bar(), np.random.default_rng(3), 0.0, 0
    for degrees in (0.0, 90.0, 180.0, 270.0):
        shown = bar.bent(degrees)
        for _ in range(10):
            way = random.normal(size=3)
            way *= 0.4 / np.linalg.norm(way)
            if np.linalg.norm(shown[bar.tip] + way - [0, 0.05, 0.05]) > 0.98:
                continue
            editor = bar.editor()
            landed = editor.solve(pulled(bar, shown, way), lambda f, s=shown: Moment(s), polish=False)
            moved = editor.frame(24.0, shown)
            missed = max(missed, float(np.linalg.norm(moved[bar.tip] - shown[bar.tip] - way)))
            rounds = max(rounds, landed.rounds)
    tell("edit_landing", missed, 1e-4, "of size")
    tell("edit_landing_rounds", rounds, 10, "")


def measure_green() -> None:
    """What an impulse does to a mode between held ends, against a banded solve of 12,000 steps."""
    worst, length = 0.0, 3.0
    for hertz in (0.5, 2.0, 6.0):
        for ratio in (0.05, 0.4):
            squared = (2 * np.pi * hertz) ** 2
            damping = 2 * ratio * np.sqrt(squared)
            times, fine = banded(squared, damping, length, 12_000, 4_000, held=True)
            found = green(squared, times, length / 3, drag=damping, damping=1e-12, begin=0.0, end=length)
            worst = max(worst, float(np.abs(found - fine).max() / np.abs(fine).max()))
    tell("edit_oracle", worst, 1e-3, "")
    tell("edit_basis", 100 * max(map(basis_error, (1.0, 1.1, 1.6))), 1.0, "% of the edit by all modes")


def measure_contact() -> None:
    """A bar that nothing holds sways on the floor and is pulled at its top: what its lower end is off, of the pull."""
    for kind, most in (("above", 50), ("slide", 50), ("pin", 100)):
        bar = Standing()
        seconds_taken = time.perf_counter()
        landed, moves = bar.pulled(bar.contacts(kind))
        seconds_taken = time.perf_counter() - seconds_taken
        below = moves[:, bar.below]
        off = np.linalg.norm(below, axis=2) if kind == "pin" else np.abs(below[..., 2])
        if kind == "above":
            off = np.maximum(0.0, -np.array([one.shape[:, 2] for one in bar.moments.values()]) - moves[..., 2])
        name = "edit_contact" if kind == "slide" else f"edit_contact_{kind}"
        tell(name, 100 * float(off.max()) / LONGEST, 1.0, "% of the pull")
        tell(f"{name}_rows", landed.contact_rows, most, "")
        tell(f"{name}_s", seconds_taken, 0.0, "s")


def measure_bending() -> None:
    """What a pull of a held bar's tip does to its middle, and what is left a frame later."""
    bar = Bar()
    editor = bar.editor()
    editor.solve(pulled(bar, bar.vertices, (0.0, 0.0, 0.05)), lambda f: Moment(bar.vertices))
    now, later = (editor.frame(f, bar.vertices) - bar.vertices for f in (24.0, 25.0))
    tell("edit_middle", 100 * now[bar.middle, 2] / now[bar.tip, 2], 0.0, "% of the tip: 25 to 40")
    tell("edit_frame_later", 100 * later[bar.tip, 2] / now[bar.tip, 2], 0.0, "% left: over 50")


if __name__ == "__main__":
    measure_times()
    measure_landing()
    measure_green()
    measure_contact()
    measure_bending()
