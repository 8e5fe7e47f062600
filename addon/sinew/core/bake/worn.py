"""Passengers that collide, such as a shirt between arm and belly: with the body that carries them they are one surface,
first the vertices of the body, then theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from .contact import Collided
from .shot import Passenger, Shot

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Worn:
    """Who collides with the body, by their numbers among the passengers of a shot."""

    count: int  # vertices of the body
    passengers: dict[int, Passenger]

    @staticmethod
    def of(shot: Shot) -> Worn:
        return Worn(len(shot.rest), {k: one for k, one in enumerate(shot.passengers) if one.collides})

    @property
    def added(self) -> int:
        """Vertices beside those of the body."""
        return sum(len(one.rest) for one in self.passengers.values())

    def triangles(self, body: Ints) -> Ints:
        found, first = [body], self.count
        for one in self.passengers.values():
            if one.triangles is not None:
                found.append(one.triangles + np.int32(first))
            first += len(one.rest)
        return np.concatenate(found)

    def surface(self, place: Callable[[str], Floats]) -> Floats:
        """All of it; `place` gives the body by "", passengers by `passenger_0_` and so on."""
        return np.concatenate([place(""), *(place(f"passenger_{number}_") for number in self.passengers)])

    def parts(self, surface: Any) -> Sequence[Any]:
        """The body and each of them."""
        return np.split(surface, np.cumsum([self.count, *(len(one.rest) for one in self.passengers.values())])[:-1])

    def painted(self, collided: Collided) -> Collided:
        """What is read of the body, which is painted: they have all of its thickness and friction, in no group."""
        if not self.added:
            return collided
        friction, thickness = (self._more(one, 1.0) for one in (collided.friction, collided.thickness))
        ignored = {name: self._more(one, 0.0) for name, one in (collided.ignored or {}).items()}
        return replace(collided, friction=friction, thickness=thickness, ignored=ignored or None)

    def _more(self, weights: Any, value: float) -> Any:
        return None if weights is None else np.concatenate([weights, np.full(self.added, value)])
