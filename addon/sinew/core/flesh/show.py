"""What is shown of a simulated cage: how much of its motion, where, and the surface on it. None of it simulates, so it
can be made anew from a finished bake: balance after the bake, amount, maximum offset, detail."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bake.shot import Passenger
from ..base.errors import BadInput
from ..base.native import module
from ..cage.cage import Cage
from ..geometry.surface import areas_and_size
from ..paint.parts import Parts
from .carry import Carrier
from .completion import Completion
from .settings import Settings

Floats = npt.NDArray[np.float64]


class Shown:
    """Makes the shown cage and surface of a body. `after` (t,) says where `follow_after` draws the finished motion back
    to the input; None: everywhere. What the simulation followed stays where it is: `follow` (t,) on the surface and
    `cage_follow` (n,) inside, NaN where the surface decides; None: everywhere."""

    def __init__(
        self,
        cage: Cage,
        rest: Floats,
        triangles: npt.NDArray[np.int32],
        follow: Floats,
        settings: Settings,
        *,
        after: Any = None,
        parts: Parts | None = None,
        cage_follow: Floats | None = None,
    ) -> None:
        if after is not None and not (np.min(after, initial=1.0) >= 0.0 and np.max(after, initial=0.0) <= 1.0):
            raise BadInput("The weights of After the Bake must lie between 0 (simulated) and 1 (the input).")
        self.cage = cage
        self.settings = settings
        self.areas, self.size = areas_and_size(rest, triangles)
        self._follow, self.cage_follow = follow, cage_follow
        self._after = None if after is None else np.ascontiguousarray(after, np.float64)
        self.completion: Completion | None = None
        if parts is not None and not parts.is_plain:
            self.completion = Completion(cage, rest, triangles, self.areas, parts)
        self._rebalance: Any = None
        self._lock = threading.Lock()

    def moved(self, fitted: Floats, simulated: Floats, amount: float = 1.0) -> Floats:
        """The cage that is shown: between the fitted and the simulated one, within the maximum offset."""
        offset = amount * (self.balanced(fitted, simulated) - fitted)
        limit = self.settings.maximum_offset * self.size
        if limit > 0.0:
            # leaves small offsets as they are and keeps the cage within the limit
            ratio = np.linalg.norm(offset, axis=1, keepdims=True) / limit
            offset = offset / (1.0 + ratio**4) ** 0.25
        return np.ascontiguousarray(fitted + offset if offset.any() else fitted)

    def balanced(self, fitted: Floats, simulated: Floats) -> Floats:
        """The simulated cage (n, 3), drawn back to the fitted one after the bake; exact at both ends."""
        strength = self.settings.follow_after
        if strength == 0.0 or simulated is fitted:
            return simulated
        result = np.empty_like(simulated)
        with self._lock:  # it works in memory of its own
            if self._rebalance is None:
                self._rebalance = module.Rebalance(self.cage.native, self.areas, self._follow, self.cage_follow)
                if self._after is not None:
                    self._rebalance.set_weights(self.areas, self._after)
            self._rebalance.frame(np.ascontiguousarray(fitted), np.ascontiguousarray(simulated), strength, result)
        return result

    def surface(self, fitted: Floats, simulated: Floats, sampled: Any, amount: float = 1.0) -> Floats:
        """The surface (t, 3) of a simulated cage, with the detail of the input frame `sampled` (t, 3)."""
        moved, limit = self.moved(fitted, simulated, amount), self.settings.maximum_offset * self.size
        return self.drawn(fitted, moved, sampled, limit)

    def drawn(self, fitted: Floats, moved: Floats, sampled: Any, limit: float = 0.0) -> Floats:
        """The surface of the cage that is shown, as far as `limit` metres from the input; 0: any way."""
        sampled = np.ascontiguousarray(sampled, np.float64)
        result = np.empty_like(sampled)
        detail = sampled if self.settings.detail else None
        how = self.settings.interpolation
        module.apply_detail(self.cage.native, np.ascontiguousarray(fitted), moved, detail, how, result)
        if limit > 0.0 and self.settings.detail:
            # Detail turns with the flesh and may reach a little farther than the cage.
            length = np.linalg.norm(result - sampled, axis=1, keepdims=True)
            far = length[:, 0] > limit
            result[far] = sampled[far] + (limit / length[far]) * (result[far] - sampled[far])
        return result if self.completion is None else self.completion.apply(moved, result, sampled, how)

    def carrier(self, passenger: Passenger, fitted: Floats) -> Carrier:
        """What carries a passenger, given the fitted cage of the first sample."""
        return Carrier(self.cage, passenger, fitted)

    def cage_with(self, carriers: Sequence[Carrier]) -> Cage:
        """The cage carrying the body and, after it, what others carry on it."""
        bound = [self.cage, *(one.cage for one in carriers)]
        binding, weights = (np.concatenate([getattr(one, name) for one in bound]) for name in ("binding", "weights"))
        return Cage(self.cage.vertices, self.cage.tets, binding, weights)
