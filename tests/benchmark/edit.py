"""Edit Motion in figures, one row a line: name, ours, the paper's (or what is demanded), unit.

    PYTHONPATH=addon:tests/core:examples build/env/45/bin/python tests/benchmark/edit.py [PART ...]

Parts: times, bake, table, exact, landing, contact,
bending.

Times are of a bar of 20,400 tets that is held at one end, bent more from frame to frame, with eight handles on eight
frames. The paper's are those of its bridge: 31,746 tets, 240 frames, on six cores. The table has our own shapes of the
paper's examples, at its numbers of elements, with its times beside them."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import motions
import numpy as np
from bodies import box_surface, box_tets
from shots import make_shot
from sinew.core.bake import remake, run
from sinew.core.bake.shot import Sample
from sinew.core.bake.store import Store
from sinew.core.cage.cage import Cage
from sinew.core.edit.body import Body
from sinew.core.edit.editor import Editor
from sinew.core.edit.handles import Edits, Handle
from sinew.core.flesh.settings import Settings
from test_edit import (
    HERTZ,
    MOMENTS,
    PULLS,
    RATE,
    RATIOS,
    Bar,
    Moment,
    banded,
    basis_error,
    changed_frames,
    green,
    kernel_error,
    oracle_error,
    pulled,
    rate_and_order_errors,
    turned_error,
)
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


def measure_bake() -> None:
    """A finished bake in its folder, as the tool in the window has it: to open it, its first handle, a move of that to
    the vertices of the shown frame with their detail, and all frames."""
    rest, triangles = box_surface((68, 20, 20), (3.4, 1.0, 1.0))
    tip, count = int(np.argmax(rest @ [1.0, 0.01, 0.01])), 240
    follow = (rest[:, 0] < 0.05).astype(float)
    settings = Settings(resolution=24, simulate=False)
    bend = rest[:, 0] ** 2

    def samples() -> Iterator[Sample]:
        for f in range(count):
            sway = 0.1 * np.sin(f / 12.0) * bend
            yield Sample(f, (rest + np.stack([0 * bend, sway, 0 * bend], 1)).astype(np.float32), np.eye(4), 1.0)

    def pulled_by(height: float) -> Settings:
        edits = Edits(handles=(Handle((tip,), 100.0, (0.0, 0.0, height)),))
        return settings.replace({"edits": edits.to_text()})

    with tempfile.TemporaryDirectory() as folder:
        baked = run.bake(make_shot(rest, triangles, follow, count, settings=settings), samples(), Path(folder))
        tell("edit_bake_tets", float(baked.report["tets"]), 0.0, "")

        def opened() -> Any:
            store = Store.open(baked.folder.parent, baked.id)
            results = remake.results_of(store, remake.stored_shot(store, settings))
            results.shown.is_live = True  # type: ignore[attr-defined]
            edited = results.shown.edited(store)  # type: ignore[attr-defined]
            edited.prepare()
            return results, edited

        opens, firsts, drags = [], [], []
        for _ in range(3):
            begin = time.perf_counter()
            results, edited = opened()
            opens.append(time.perf_counter() - begin)
            edited.goes_on = True
            for k in range(6):
                wanted = pulled_by(0.2 + 0.01 * k)
                moves = firsts if k == 0 else drags
                moves.append(seconds(lambda: (results.show(wanted), results.made(99))))  # noqa: B023
            results.store.close()
        tell("edit_open_s", min(opens), PAPER["open"], "s")
        tell("edit_handle_ms", 1e3 * min(firsts), PAPER["handle"], "ms")
        tell("edit_drag_ms", 1e3 * min(drags), PAPER["drag"], "ms")
        took = seconds(lambda: remake.remake(baked.folder.parent, baked.id, pulled_by(0.3)))
        tell("edit_apply_ms", 1e3 * took / count, 0.0, "ms a frame, with its file")


# The paper's table: elements, and its seconds for modes and launch, a Green's function, and a frame (U z and warp).
TABLE = {
    "beam": (375, 1.9 + 3.5, 0.29, 8e-5 + 5e-4),
    "bridge": (31_746, 774.0 + 10.1, 0.41, 0.019 + 0.028),
    "bird": (2_160, 26.0 + 2.5, 0.22, 0.0006 + 0.0038),
    "dragon": (48_010, 383.0 + 35.0, 0.82, 0.014 + 0.057),
    "curtain": (2_400, 7.3 + 1.8, 0.08, 0.0006 + 0.008),
}
# Of our cages, so that they have as many tets.
RESOLUTIONS = {"beam": 8, "bridge": 72, "bird": 18, "dragon": 60, "curtain": 0}


def measure_table() -> None:
    """Our shapes of the paper's examples with its numbers of elements; the handles of a drag are one move."""
    for name, (elements, launch, handle, frame) in TABLE.items():
        motion = motions.ALL[name]()
        edited = motion.edited(RESOLUTIONS[name])
        one = edited.editor
        tell(f"edit_{name}_elements", float(len(one.carrier.cells)), elements, "")
        tell(f"edit_{name}_open_s", min(seconds(lambda: Editor(one.carrier, one.body, RATE)) for _ in range(2)),  # noqa: B023
             launch, "s")  # fmt: skip
        at = motion.shown[0]
        moment, handles = edited._posed(at), tuple(motion.drag(1.0 / motion.steps))
        fresh = Editor(one.carrier, one.body, RATE)
        first = seconds(
            lambda: fresh.solve(Edits(handles=handles), lambda f: edited._posed(round(f)), goes_on=True, polish=False)  # noqa: B023
        )
        tell(f"edit_{name}_handle_ms", 1e3 * first / len(handles), 1e3 * handle, "ms")
        shown = min(seconds(lambda: fresh.frame(at + 1, moment.shape)) for _ in range(5))  # noqa: B023
        tell(f"edit_{name}_frame_ms", 1e3 * shown, 1e3 * frame, "ms")


def measure_exact() -> None:
    tell("edit_identity", changed_frames(), 0.0, "frames whose bits changed")
    tell("edit_kernel", max(kernel_error(hertz, ratio) for hertz in HERTZ for ratio in RATIOS), 1e-12, "")
    tell("edit_turned", turned_error(), 1e-9, "of size")
    rates, order = rate_and_order_errors()
    tell("edit_fps", rates, 1e-9, "of size")
    tell("edit_order", order, 1e-6, "of size")
    edit, own = oracle_error()
    tell("edit_oracle", edit, 1e-3, f"of the paper's system made finer, itself exact to {own:.1e}")
    measure_green()
    for case in PULLS:
        worst = max(basis_error(moment, case) for moment in MOMENTS)
        tell(f"edit_basis_{case.lower()}", 100 * worst, 1.0, "% of the edit by all modes")


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
    tell("edit_green", worst, 1e-3, "of the banded solve")


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


PARTS = {
    "times": measure_times,
    "bake": measure_bake,
    "table": measure_table,
    "exact": measure_exact,
    "landing": measure_landing,
    "contact": measure_contact,
    "bending": measure_bending,
}

if __name__ == "__main__":
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
