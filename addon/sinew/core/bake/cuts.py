"""Cuts: where the input jumps to another place or into another pose from one frame to the next, as where a take begins
after a T-pose, or another one after it. What moved before must not act on what comes after.

A jump is told by the steps around it, in fractions of the body's size: far, or into a pose far from the last one,
however the body is placed and turned, and unlike the steps beside it. Fast motion has fast neighbours, so it is no cut,
nor are poses that are held for some frames each, but for the first one. An answer looks ahead by one whole frame and no
more, so that it does not depend on when a sample comes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Pose = Callable[[int], "Floats | None"]

_FAR = 0.35  # rms way of the body in a step, and how much of it the steps beside it do not share
_UNLIKE = 0.06  # rms distance between two poses, one laid over the other
_TIMES = 4.0  # that of the steps beside it
_BEFORE = 8  # so many before it are looked at
# The same where the animation begins: there is no motion before it that could go on, so a wrong answer costs nothing.
_UNLIKE_FIRST = 0.03
_TIMES_FIRST = 2.5
_MOST_VERTICES = 4000  # a few tell as much as all


@dataclass(frozen=True)
class _Step:
    """From one frame to the next: rms way, rms difference of this way from the one before (None: there is none), and
    how far the poses are apart, one laid over the other. Fractions of size."""

    way: float
    bend: float | None
    unlike: float


class Cuts:
    """Asked in order, or nearly so."""

    def __init__(
        self,
        pose: Pose,
        weights: Floats,
        size: float,
        *,
        a_frame: int = 1,
        played_from: int = 0,
        period: int | None = None,
    ) -> None:
        """`pose(i)`: the vertices (t, 3) of sample i, None where there is none; `weights` (t,): how much each counts;
        `a_frame`: samples in each frame; `played_from`: the sample at which the shot begins, after its preroll;
        `period`: of a loop, in samples."""
        self._pose, self._size, self._a_frame = pose, size, a_frame
        self._picked = slice(None, None, -(-len(weights) // _MOST_VERTICES))
        picked = weights[self._picked]
        total = float(picked.sum())
        self._weights = picked / total if total > 0.0 else np.full(len(picked), 1.0 / len(picked))
        self._beginning = played_from // a_frame + 1 if period is None else -1
        self._period = None if period is None else period // a_frame
        self._poses: dict[int, Floats] = {}
        self._steps: dict[int, _Step] = {}

    @property
    def first(self) -> int:
        """The sample that the simulation starts at: not 0 where the first frame is a pose of its own."""
        return self._a_frame if self._beginning > 0 and self.at(1) else 0

    def at(self, index: int) -> bool:
        """Whether the input jumps on the way to sample `index`, or in the frame that it lies in."""
        frame = -(-index // self._a_frame)
        step, after = self._step(frame), self._step(frame + 1)
        return step is not None and (_goes_far(step, after) or self._is_unlike(frame, step, after))

    def _is_unlike(self, frame: int, step: _Step, after: _Step | None) -> bool:
        is_first = frame <= self._beginning
        least, times = (_UNLIKE_FIRST, _TIMES_FIRST) if is_first else (_UNLIKE, _TIMES)
        if step.unlike <= least:
            return False
        steps = [after, *(self._step(frame - k) for k in range(1, (frame if is_first else _BEFORE) + 1))]
        beside = [one.unlike for one in steps if one is not None]
        return bool(beside) and step.unlike > times * max(beside)

    def _step(self, frame: int) -> _Step | None:
        """To a frame from the one before."""
        key = frame if self._period is None else frame % self._period
        if key not in self._steps:
            end, begin, before = (self._at(frame - k) for k in range(3))
            if end is None or begin is None:
                return None
            way = end - begin
            bend = None if before is None else self._rms(way - (begin - before)) / self._size
            self._steps[key] = _Step(self._rms(way) / self._size, bend, self._unlike(begin, end) / self._size)
        return self._steps[key]

    def _at(self, frame: int) -> Floats | None:
        index = frame * self._a_frame
        if index < 0 and self._period is None:
            return None
        if frame not in self._poses:
            pose = self._pose(index if self._period is None else index % (self._period * self._a_frame))
            if pose is None:
                return None
            while len(self._poses) >= 6:
                del self._poses[next(iter(self._poses))]
            self._poses[frame] = np.asarray(pose, np.float64)[self._picked]
        return self._poses[frame]

    def _rms(self, rows: Floats) -> float:
        return math.sqrt(self._weights @ np.einsum("ij,ij->i", rows, rows))

    def _unlike(self, one: Floats, other: Floats) -> float:
        """The rms distance that is left when one pose is placed and turned to lie over the other as well as it can."""
        one, other = (pose - self._weights @ pose for pose in (one, other))
        left, stretches, right = np.linalg.svd((one * self._weights[:, None]).T @ other)
        stretches[2] *= np.sign(np.linalg.det(left @ right))
        squares = self._rms(one) ** 2 + self._rms(other) ** 2 - 2.0 * float(stretches.sum())
        return math.sqrt(max(squares, 0.0))


def _goes_far(step: _Step, after: _Step | None) -> bool:
    """Far, and unlike the ways before and after it."""
    bends = [bend for bend in (step.bend, after.bend if after is not None else None) if bend is not None]
    return step.way > _FAR and bool(bends) and min(bends) > max(_FAR, 0.5 * step.way)


class Simulated(Protocol):
    """What simulates a body over arrays: states come in and go out. Poses (n, 3) are the input as it sees it."""

    size: float  # of the body, metres
    interval: float  # between two samples, seconds

    def begin(self, pose: Any, following: Any = None) -> Any:
        """The state on the input and moving with it; `following` is the pose of the next sample."""

    def advance(self, state: Any, window: Any, outer: Any) -> tuple[Any, Any]:
        """The state at the end of a way between the two middle poses of a window, and what happened there. `outer`:
        what acts beside the input, as its method has it."""

    def settle(self, pose: Any, outer: Any) -> Any:
        """The places (n, 3) at rest in a pose that stands still."""


def window_of(index: int, poses: Pose, cuts: Cuts) -> tuple[Any, Any, Any, Any]:
    """The two samples that the way to sample `index` joins, between those beside them. Nothing is seen across a cut:
    None there, and beyond the ends, where `poses(i)` is None; where the input jumps to `index`, so is the second."""
    jumps = cuts.at(index)
    before = None if jumps or cuts.at(index - 1) else poses(index - 2)
    after = None if cuts.at(index + 1) else poses(index + 1)
    return before, None if jumps else poses(index - 1), poses(index), after


def go_on(
    simulated: Simulated, state: Any, index: int, poses: Pose, cuts: Cuts, outer: Any
) -> tuple[Any, Any | None]:
    """The state of sample `index` from the one before, and what happened on the way; None where the input jumps and it
    begins anew."""
    window = window_of(index, poses, cuts)
    if window[1] is None:
        return simulated.begin(*window[2:]), None
    state, step = simulated.advance(state, window, outer)
    return state, step
