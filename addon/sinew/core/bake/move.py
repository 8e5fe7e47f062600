"""What a simulation does from one sample to the next, alone or with others as bodies of one world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Move:
    """One interval of a native simulation."""

    simulation: Any
    arguments: tuple[Any, ...]  # of its `advance`; the state among them is written to
    monitor: Any = None

    def alone(self) -> Any:
        """Takes it; the numbers that come of it."""
        return self.simulation.advance(*self.arguments, *self._watched)

    @property
    def _watched(self) -> tuple[Any, ...]:
        return () if self.monitor is None else (self.monitor,)


class World:
    """The simulations of setups that share a world, which they are bodies of."""

    def __init__(self) -> None:
        self._ensembles: dict[tuple[int, ...], Any] = {}

    def advance(self, moves: Sequence[Move | None]) -> list[Any]:
        """Takes the moves of all setups at once; a setup without one has nothing to do, and gets None."""
        moving = [move for move in moves if move is not None]
        if len(moving) < 2:
            return [move and move.alone() for move in moves]
        ensemble = self._ensemble([move.simulation for move in moving])
        numbers = iter(ensemble.advance([move.arguments for move in moving], *moving[0]._watched))
        return [move and next(numbers) for move in moves]

    def _ensemble(self, simulations: list[Any]) -> Any:
        """Made once for each company: who restarts after a cut sits out a sample."""
        key = tuple(id(simulation) for simulation in simulations)
        if key not in self._ensembles:
            self._ensembles[key] = make_ensemble(simulations)
        return self._ensembles[key]


def make_ensemble(simulations: list[Any]) -> Any:
    from ..base.native import module  # takes a moment the first time

    return module.Ensemble(simulations)
