"""An animation enriched over numpy arrays, from frame to frame: what needs no file and no Blender."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..bake.beginning import close_cycle, find_cycle, lead, settle
from ..bake.contact import Body, Collided
from ..bake.cuts import Cuts, go_on
from ..bake.obstacles import gather
from .enricher import Enricher, Floats, State
from .outer import NOTHING, Met, Outer
from .settings import Settings

_KEPT = 8  # frames of a stream: more than a step looks around


def enrich(
    rest: Any,
    triangles: Any,
    frames: Iterable[Any],
    follow: Any = None,
    frame_rate: float = 24.0,
    *,
    obstacles: Iterable[tuple[Any, Any]] = (),
    **settings: Any,
) -> Iterator[Floats]:
    """Enriches an animation: yields the surface (t, 3) of each input frame, reading three frames ahead; a loop is
    read whole.

    `follow` (t,) is 1 where the input is followed exactly, 0 where physics is free; None takes automatic weights.
    Settings are those of `Settings`, by name: enrich(rest, triangles, frames, follow, jiggle=2.0, settle=1.0). With
    collide=True the body meets itself, the ground if that is on, and `obstacles`: points (v, 3) and triangles (m, 3)
    that stand still.
    """
    enricher = Enricher(rest, triangles, follow, Settings().replace(settings), frame_rate)
    met = _collide(enricher, rest, triangles, obstacles)

    def fitted() -> Iterator[tuple[Any, Floats]]:
        guess: Floats | None = None
        before: Floats | None = None
        for frame in frames:
            guess, before = enricher.fit(frame, guess, before).positions, guess
            yield frame, guess

    if enricher.settings.loop:
        yield from _enrich_cycle(enricher, list(fitted()), met)
        return
    row = _Row(fitted())
    cuts = Cuts(lambda i: row.at(i)[0], enricher.seen, enricher.size)
    state: State | None = None
    index = 0
    while row.at(index)[0] is not None:
        frame, fit = row.at(index)
        if index < cuts.first:
            state = enricher.begin(fit)
        elif index == cuts.first:
            state = _begun(enricher, fit, row.at(index + 1)[1])
        else:
            state, _ = go_on(enricher, state, index, lambda i: row.at(i)[1], cuts, met(lambda i: row.at(i)[0], index))
        yield enricher.surface(fit, state.positions, frame, enricher.settings.amount)
        index += 1


def _collide(
    enricher: Enricher, rest: Any, triangles: Any, meshes: Iterable[tuple[Any, Any]]
) -> Callable[[Callable[[int], Any], int], Outer]:
    """Has a body meet what stands still, if it collides; what tells of its way to a frame, given the frames."""
    settings = enricher.settings
    if not settings.collide or not settings.simulate:
        return lambda frame, index: NOTHING
    still = [_Still(np.asarray(points, np.float32), np.asarray(sides, np.int32)) for points, sides in meshes]
    read = Collided(obstacles=gather(still), ground=settings.ground_height if settings.ground else None)
    here = (np.tile(np.eye(4), (len(still), 1)), None)
    rest, triangles = np.asarray(rest, np.float64), np.asarray(triangles, np.int32).reshape(-1, 3)
    enricher.body = Body(settings, rest, triangles, enricher.size, read, here)

    def met(frame: Callable[[int], Any], index: int) -> Outer:
        before, begin, end, after = (frame(index + k) for k in (-2, -1, 0, 1))
        return Outer(met=Met((before, begin, end, after), (here, here)))

    return met


@dataclass(frozen=True)
class _Still:
    """An obstacle as `gather` takes it."""

    shape: Any
    triangles: Any
    name: str = ""
    thickness: float = 0.0
    friction: float | None = None

    @property
    def vertices(self) -> int:
        return len(self.shape)


def _begun(enricher: Enricher, first: Floats, second: Floats | None) -> State:
    """The state at the first frame, as the setting `start` has it."""
    settings = enricher.settings
    if second is None or settings.start == "moving" or not settings.simulate:
        return enricher.begin(first, second)
    fitted = (first, second).__getitem__
    if settings.start == "settled":
        begun = settle(enricher, fitted, NOTHING, lambda: True)
    else:
        count = settings.preroll or max(round(1.0 / enricher.interval), 1)
        way = enricher.approach(first, second, count)
        begun = lead(enricher, way.at, fitted, lambda i: NOTHING, count, lambda: True)
    state: State = begun.state
    return state


def _enrich_cycle(
    enricher: Enricher, fitted: list[tuple[Any, Floats]], met: Callable[[Callable[[int], Any], int], Outer]
) -> Iterator[Floats]:
    """The frames of one cycle, given with their fits, simulated so that it ends as it began."""
    cycle = find_cycle(lambda i: fitted[i][1], len(fitted), enricher.size)

    def at(i: int) -> Floats:
        return fitted[cycle.index(i)][1]

    def outer(i: int) -> Outer:
        return met(lambda k: fitted[cycle.index(k)][0], i)

    cuts = Cuts(lambda i: fitted[i][0], enricher.seen, enricher.size, period=cycle.period)
    begun = close_cycle(enricher, at, outer, cycle, cuts, lambda: True)
    state, first = begun.state, begun.state.positions
    for index, (frame, fit) in enumerate(fitted):
        if index > 0:
            state, _ = go_on(enricher, state, index, at, cuts, outer(index))
        positions = state.positions
        if begun.gap is not None:
            positions = cycle.closed(index, positions, begun.gap) if index < cycle.period else first
        yield enricher.surface(fit, positions, frame, enricher.settings.amount)


class _Row:
    """Frames and their fits by number, read as far as they are asked for; only the last ones are kept."""

    def __init__(self, items: Iterator[tuple[Any, Floats]]) -> None:
        self._items, self._kept, self._count = items, dict[int, tuple[Any, Any]](), 0

    def at(self, index: int) -> tuple[Any, Any]:
        """A pair of None where there is no such frame."""
        while self._count <= index and (item := next(self._items, None)) is not None:
            self._kept[self._count] = item
            self._kept.pop(self._count - _KEPT, None)
            self._count += 1
        return self._kept.get(index, (None, None))
