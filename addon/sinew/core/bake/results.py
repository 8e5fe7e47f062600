"""The results of a bake: from what is stored to what plays."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from ..geometry.place import inverse, placed
from .clock import Clock
from .method import Show
from .numbers import Numbers
from .shot import Floats, Shot
from .store import Store


@dataclass
class Results:
    """Makes the result of a sample, that of the body and those of its passengers, and marks it as done."""

    store: Store
    shot: Shot
    shown: Show
    clock: Clock

    def write(self, index: int, key: str, numbers: Numbers) -> None:
        """`numbers` about the simulation are marked too, with new ones about the result."""
        store = self.store
        with self.clock.stage("detail"):
            positions = self.made(index)
            shown = placed(store.read("matrix", index), positions[0].astype(np.float64))
            offsets = np.linalg.norm(shown - world(store, index), axis=1)
        for name, part in zip(store.result_names, positions, strict=True):
            store.write_result(index, part, name)
        about_result = self.shown.measure(store, index, offsets)
        store.mark_done(index, key, dataclasses.replace(numbers, **about_result))

    def show(self, settings: Any) -> None:
        """From now on with other result settings."""
        self.shot = dataclasses.replace(self.shot, settings=settings)
        self.shown.use(settings)

    def made(self, index: int) -> list[npt.NDArray[np.float32]]:
        """What will play at a sample: the body, then its passengers, each in its own space."""
        return self.shown.show(self.store, index)


def added(offsets: Floats) -> dict[str, float]:
    """The numbers of every method about a result, from how far vertices are from their input."""
    return {"added_max": float(offsets.max(initial=0.0)), "added_square": mean_square(offsets)}


def mean_square(lengths: Floats) -> float:
    return float(np.mean(lengths**2)) if len(lengths) else 0.0


def world(store: Store, index: int, name: str = "") -> Floats:
    """The input in world metres: of the body, or of `passenger_0_` and so on."""
    return placed(store.read(f"{name}matrix", index), store.read(f"{name}input", index).astype(np.float64))


def local(store: Store, index: int, surface: Floats, name: str = "") -> npt.NDArray[np.float32]:
    """World metres in the space of the object, as they will be played."""
    points = placed(inverse(store.read(f"{name}matrix", index)), surface)
    if not np.isfinite(points).all():
        raise BadInput(
            f"The result at sample {index} is not finite: check that the animation has no absurd jumps there."
        )
    return points.astype(np.float32)


def carry(store: Store, index: int, carriers: Sequence[Callable[[Floats], Floats]]) -> list[npt.NDArray[np.float32]]:
    """The passengers of a sample: each from its input in the world, by what carries it."""
    named = [(f"passenger_{number}_", carrier) for number, carrier in enumerate(carriers)]
    return [local(store, index, carrier(world(store, index, name)), name) for name, carrier in named]
