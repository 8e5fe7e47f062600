"""The way of a cage from its rest pose to the first pose of an animation, over the frames before it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base.native import module
from ..geometry.turns import nearest_rotation
from .cage import Cage, Floats

_ARRIVAL = 0.25  # of the way: its end, over which it takes on the motion of the animation


class Approach:
    """Poses of the cage at samples 0 (at rest, placed where the first pose is) to `count` (the first pose). What turns
    on the way keeps its lengths: rotations and stretches are blended apart, as after a bake."""

    def __init__(self, cage: Cage, pose: Floats, following: Floats, count: int) -> None:
        """`following` is the pose of the first sample after `pose`."""
        middle, centre = cage.vertices.mean(axis=0), pose.mean(axis=0)
        turn = nearest_rotation((pose - centre).T @ (cage.vertices - middle))
        self.count = count
        self._rest = np.ascontiguousarray((cage.vertices - middle) @ turn.T + centre)
        self._pose = np.ascontiguousarray(pose)
        self._step = following - pose
        surface = len(cage.binding)
        self._blend = module.Rebalance(cage.native, np.ones(surface), np.zeros(surface))

    def at(self, index: int) -> Floats:
        t = min(max(index / self.count, 0.0), 1.0)
        u = max(1.0 - (1.0 - t) / _ARRIVAL, 0.0)
        arriving = u * u * (u - 1.0) * _ARRIVAL * self.count  # 0 at both ends, and its last slope is one a sample
        blended: Floats = self._between(t * t * (3.0 - 2.0 * t)) + arriving * self._step
        return blended

    def acting(self, outer: Any, following: Any) -> Callable[[int], Any]:
        """What acts on the first pose acts on all of the way."""
        return lambda index: outer

    def _between(self, part: float) -> Floats:
        """Between rest (0) and pose (1). The nearer one is drawn to the other: a strong pull would hold places, on
        straight ways."""
        if part in (0.0, 1.0):
            return self._pose if part else self._rest
        result = np.empty_like(self._pose)
        ends = (self._rest, self._pose) if part > 0.5 else (self._pose, self._rest)
        self._blend.frame(ends[0], ends[1], min(part, 1.0 - part), result)
        return result
