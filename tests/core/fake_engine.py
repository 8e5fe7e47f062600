"""An engine of a few lines with the interface of the real one: one tet, a damped spring. For quick tests."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
from sinew.core.bake import move


class FakeCage:
    note = ""
    safe_vertices = None

    def __init__(self, vertices: Any, tets: Any, binding: Any, weights: Any) -> None:
        self.vertices, self.tets, self.binding, self.weights = vertices, tets, binding, weights


class FakeMonitor:
    def __init__(self) -> None:
        self.cancelled = threading.Event()

    def cancel(self) -> None:
        self.cancelled.set()

    def progress(self) -> tuple[str, int, int]:
        return "Building", 1, 4


class FakeSimulation:
    """Takes the moves of an enricher, and together with others of a whole company of them."""

    @staticmethod
    def advance(enricher: Any, state: Any, window: Any) -> Any:
        return enricher.advance(state, window)


class FakeEnricher:
    """The cage moves rigidly with the mean of the surface; the simulated one lags behind it. Counts its work."""

    fits = 0
    steps = 0
    delay = 0.0
    repaired = 0
    cage_follow = None
    body = None

    def __init__(
        self,
        rest: Any,
        triangles: Any,
        follow: Any,
        settings: Any,
        frame_rate: float,
        *,
        gravity: Any,
        cage: Any,
        safe: Any = None,
        parts: Any = None,
        regions: Any = None,
        after: Any = None,
        monitor: Any = None,
    ) -> None:
        tet = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
        weights = np.full((len(rest), 4), 0.25)
        self.cage = cage or FakeCage(tet, np.array([[0, 1, 2, 3]], np.int32), np.zeros(len(rest), np.int32), weights)
        self.shown = self  # it shows its cages itself
        self.size = float(np.ptp(rest, axis=0).max())
        self.follow = follow
        self.seen = np.ones(len(rest))
        self.rate = frame_rate
        self.monitor = monitor

    def fit(self, surface: Any, guess: Any = None, before: Any = None, *, aside: bool = False) -> Any:
        FakeEnricher.fits += 1
        time.sleep(self.delay)
        start = 0.0 if guess is None else 1e-3 * guess.mean()  # depends on the guess, as the real one does
        return SimpleNamespace(positions=self.cage.vertices + surface.mean(axis=0) + start, rms=0.1, max=0.2, rounds=3)

    def begin(self, fitted: Any, fitted_next: Any = None) -> Any:
        velocities = np.zeros_like(fitted) if fitted_next is None else (fitted_next - fitted) * self.rate
        return SimpleNamespace(positions=fitted.copy(), velocities=velocities)

    def plan(self, state: Any, window: Any, outer: Any = None) -> Any:
        arguments = (self, state, window)
        return SimpleNamespace(move=move.Move(FakeSimulation, arguments), arguments=arguments)

    def finish(self, plan: Any, numbers: Any) -> Any:
        return numbers

    def advance(self, state: Any, window: Any, outer: Any = None) -> Any:
        FakeEnricher.steps += 1
        before, here, there, after = window
        ahead = np.zeros_like(there) if after is None else 0.01 * (after - there)
        past = np.zeros_like(there) if before is None else 0.01 * (here - before)
        velocities = 0.8 * state.velocities + 5.0 * (there - state.positions) + ahead + past
        positions = state.positions + velocities / self.rate
        step = SimpleNamespace(rounds=2, substeps=1, inverted=0, touched=None, repaired=self.repaired, fallbacks=0)
        return SimpleNamespace(positions=positions, velocities=velocities), step

    def moved(self, fitted: Any, simulated: Any, amount: float = 1.0) -> Any:
        return fitted + amount * (simulated - fitted)

    def carrier(self, passenger: Any, fitted: Any) -> Any:
        def surface(fitted: Any, moved: Any, sampled: Any, interpolation: str) -> Any:
            return sampled + (moved - fitted).mean(axis=0)

        return SimpleNamespace(surface=surface)

    def drawn(self, fitted: Any, moved: Any, sampled: Any, limit: float = 0.0) -> Any:
        return sampled + (1.0 - self.follow)[:, None] * (moved - fitted).mean(axis=0)

    def cage_weights(self) -> Any:
        return np.zeros(len(self.cage.vertices))

    def summary(self) -> dict[str, Any]:
        return {"tets": 1, "young": (1.0, np.float64(2.0))}


def install(monkeypatch: Any) -> type[FakeEnricher]:
    from sinew.core.flesh import engine

    classes = engine.Classes(FakeEnricher, FakeCage, None, None, FakeMonitor)
    monkeypatch.setattr(engine, "load_classes", lambda: classes)
    monkeypatch.setattr(FakeEnricher, "fits", 0)
    monkeypatch.setattr(FakeEnricher, "steps", 0)
    monkeypatch.setattr(FakeEnricher, "delay", 0.0)
    return FakeEnricher
