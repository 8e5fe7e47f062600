"""The results of a bake: from the fitted and simulated cages in a store to what plays."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from ..methods.enrich.settings import Settings
from .clock import Clock
from .shot import Floats, Shot
from .store import Store


@dataclass
class Results:
    """Makes the result of a sample, that of the body and those of its passengers, and marks it as done."""

    store: Store
    shot: Shot
    shown: Any  # makes the surface of a cage: a Shown, or an Enricher
    clock: Clock
    _carriers: list[Any] = field(default_factory=list)

    def write(self, index: int, key: str, numbers: Mapping[str, float]) -> None:
        """`numbers` about the simulation are marked too, with new ones about the result."""
        store = self.store
        with self.clock.stage("detail"):
            positions = self.made(index)
            world = self.world(index)
            shown = _transform(store.read("matrix", index), positions[0].astype(np.float64))
            offset = np.linalg.norm(shown - world, axis=1)
        for name, part in zip(store.result_names, positions, strict=True):
            store.write_result(index, part, name)
        follow = store.read("follow_now", index)[:, 0] if store.manifest.animated_follow else self.shot.follow
        free = offset[follow < 0.5]
        about_result = {
            "follow_max": float(offset[follow >= 1.0].max(initial=0.0)),
            "added_max": float(free.max(initial=0.0)),
            "added_square": float(np.mean(free**2)) if len(free) else 0.0,
        }
        store.mark_done(index, key, {**numbers, **about_result})

    def show(self, settings: Settings) -> None:
        """From now on with other result settings. Only with a Shown."""
        self.shot = dataclasses.replace(self.shot, settings=settings)
        self.shown.settings = settings

    def made(self, index: int) -> list[npt.NDArray[np.float32]]:
        """What will play at a sample: the body, then its passengers, each in its own space."""
        store = self.store
        fitted, simulated = store.read("fitted", index), store.read("simulated", index)
        amount = float(store.read("amount", index)[0, 0]) * self.shot.settings.amount
        surface = self.shown.surface(fitted, simulated, self.world(index), amount)
        return [self._local(index, surface), *self._carry(index, fitted, simulated, amount)]

    def world(self, index: int, name: str = "") -> Floats:
        """The input in world metres: of the body, or of `passenger_0_` and so on."""
        matrix = self.store.read(f"{name}matrix", index)
        return _transform(matrix, self.store.read(f"{name}input", index).astype(np.float64))

    def _carry(self, index: int, fitted: Floats, simulated: Floats, amount: float) -> list[npt.NDArray[np.float32]]:
        """The passengers on the simulated cage."""
        if not self.shot.passengers:
            return []
        names = [f"passenger_{number}_" for number in range(len(self.shot.passengers))]
        if not self._carriers:
            first = self.store.read("fitted", 0)
            self._carriers = [self.shown.carrier(passenger, first) for passenger in self.shot.passengers]
        moved = self.shown.moved(fitted, simulated, amount)
        how = self.shot.settings.interpolation
        return [
            self._local(index, carrier.surface(fitted, moved, self.world(index, name), how), name)
            for carrier, name in zip(self._carriers, names, strict=True)
        ]

    def _local(self, index: int, surface: Floats, name: str = "") -> npt.NDArray[np.float32]:
        """World metres in the space of the object, as they will be played."""
        local = _transform(_inverse(self.store.read(f"{name}matrix", index)), surface)
        if not np.isfinite(local).all():
            raise BadInput(
                f"The result at sample {index} is not finite: check that the animation has no absurd jumps there."
            )
        return local.astype(np.float32)


# Without BLAS, whose threads take longer to wake up than these take.


def _transform(matrix: Floats, points: Floats) -> Floats:
    x, y, z = points.T
    moved = np.empty_like(points)
    for k in range(3):
        moved[:, k] = matrix[k, 0] * x + matrix[k, 1] * y + matrix[k, 2] * z + matrix[k, 3]
    return moved


def _inverse(matrix: Floats) -> Floats:
    """Of a matrix of an object, whose last row is 0, 0, 0, 1."""
    (a, b, c, x), (d, e, f, y), (g, h, i, z), _ = matrix.tolist()
    first, second, third = e * i - f * h, f * g - d * i, d * h - e * g
    rows = (
        (first, c * h - b * i, b * f - c * e),
        (second, a * i - c * g, c * d - a * f),
        (third, b * g - a * h, a * e - b * d),
    )
    volume = a * first + b * second + c * third
    scale = 1.0 / volume if volume else math.nan
    return scale * np.array([[p, q, r, -p * x - q * y - r * z] for p, q, r in rows])
