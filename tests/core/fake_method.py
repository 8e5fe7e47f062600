"""A method of a few lines, without native code: every vertex trails behind the input by half, and tires of it, so that
its state carries more than places. Vertices may be painted to be lazy, and a breeze may blow that changes from frame to
frame."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from sinew.core.bake import method as methods
from sinew.core.bake.numbers import Numbers
from sinew.core.bake.results import added, local, world
from sinew.core.bake.shot import Shot
from sinew.core.bake.store import Store


@dataclass(frozen=True)
class TrailNumbers(Numbers):
    trail: float = 0.0  # metres


@dataclass(frozen=True)
class TrailPaint:
    lazy: Any  # (t,) how much less of the way each goes
    blows: bool = False

    def simulated(self) -> dict[str, Any]:
        return {"lazy": self.lazy}

    def shown(self, settings: Any) -> list[object]:
        return []


class TrailEngine:
    preparing = "preparing"
    steps = 0
    on_step: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, shot: Shot) -> None:
        self.size = float(np.ptp(shot.rest, axis=0).max())
        self.settings = shot.settings
        self.paint = shot.painted if isinstance(shot.painted, TrailPaint) else TrailPaint(np.zeros(len(shot.rest)))

    def counts(self) -> dict[str, int]:
        return {"trails": 1, "blows": int(self.paint.blows)}

    def constants(self) -> dict[str, Any]:
        return {"weight": np.array([0.5]), "lazy": self.paint.lazy}

    def notes(self) -> dict[str, Any]:
        return {}

    def prepare(self, store: Store, index: int, available: int) -> int:
        store.write("placed", index, world(store, index))
        return 1

    def begin(self, store: Store, index: int, pulse: Callable[[], None]) -> int:
        pulse()
        return index

    def move(self, store: Store, index: int) -> None:
        return None

    def advance(self, store: Store, index: int, moved: Any) -> TrailNumbers:
        TrailEngine.steps += 1
        self.on_step()
        placed = store.read("placed", index)
        before = store.read("trail", index - 1) if index else placed
        tired = store.read("inner", index - 1) if index else np.zeros((len(placed), 1))
        tired = np.maximum(tired, 0.1 * np.linalg.norm(placed - before, axis=1, keepdims=True))
        part = 0.5 * (1.0 - self.paint.lazy[:, None]) / (1.0 + tired)
        blown = store.read("breeze", index) if self.paint.blows else 0.0
        store.write("trail", index, before + part * (placed - before) + blown)
        store.write("inner", index, tired)
        return TrailNumbers(trail=float(np.abs(placed - before).max()))

    def show(self, store: Store, index: int) -> list[Any]:
        shift = self.settings.amount * (store.read("trail", index) - store.read("placed", index))
        names = ["", *(f"passenger_{number}_" for number in range(len(store.result_names) - 1))]
        return [local(store, index, world(store, index, name) + shift.mean(axis=0), name) for name in names]

    def measure(self, store: Store, index: int, offsets: Any) -> dict[str, float]:
        return added(offsets)

    def about(self, store: Store, size: float) -> dict[str, Any]:
        return {}

    def use(self, settings: Any) -> None:
        self.settings = settings

    def summary(self, store: Store) -> dict[str, Any]:
        marks = [mark.numbers for mark in store.marks if mark is not None]
        return {"trail": max(numbers.trail for numbers in marks), "warnings": ["It trails."]}


class FakeMonitor:
    def progress(self) -> tuple[str, int, int]:
        return "", 0, 0

    def cancel(self) -> None:
        pass


def layout(vertices: int, counts: Mapping[str, int]) -> methods.Layout:
    points = ((vertices, 3), "<f8")
    constants = {"weight": ((counts["trails"],), "<f8"), "lazy": ((vertices,), "<f8")}
    inputs = {"breeze": ((1, 3), "<f8")} if counts["blows"] else {}
    state = {"trail": points, "inner": ((vertices, 1), "<f8")}
    return methods.Layout(constants, inputs, prepared={"placed": points}, state=state)


def make(settings: type[Any]) -> methods.Method:
    """`settings`: a class that has those of every bake."""
    return methods.Method(
        name="trail",
        label="Trail",
        description="Trails behind the input",
        settings=settings,
        layout=layout,
        engine=lambda shot, store, monitor: TrailEngine(shot),
        show=lambda shot, store: TrailEngine(shot),
        version=lambda: "1",
        build=lambda: "1",
        monitor=FakeMonitor,
        painted=lambda store, shown: TrailPaint(store.constant("lazy"), bool(store.manifest.counts["blows"])),
        numbers=TrailNumbers,
        tell=lambda report: methods.Told("one trail", (f"trail {report['trail']:.1f} m",), ()),
    )


@contextmanager
def registered(settings: type[Any]) -> Iterator[methods.Method]:
    made = make(settings)
    methods.register(made)
    try:
        yield made
    finally:
        methods.unregister(made.name)


def trail(shot: Shot, made: methods.Method) -> Shot:
    return dataclasses.replace(shot, method=made, painted=methods.Unpainted())
