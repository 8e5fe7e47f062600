"""The state in which a simulation begins: in motion, settled in the first pose, led there from rest, or where a cycle
closes.

A cycle is simulated over and over until its end meets its beginning. Where it does not within the cycles that it is
given, the rest is told as a gap, to be blended over the end of the cycle.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from .cuts import Cuts, Simulated, go_on

Floats = npt.NDArray[np.float64]
Poses = Callable[[int], Floats]  # the input (n, 3) of a sample, as the simulation sees it

_MOST_CYCLES = 20
_CLOSED = 5e-4  # of size: how near the end of a cycle comes to its beginning
_SAME = 2e-3  # of size: the last sample repeats the first one
_JUMP = 4.0  # times the largest step beside it: the input does not come back to its beginning
_BLENDED = 0.25  # share of a cycle over which a gap is blended
_KINK = 3.0  # times the largest change of speed elsewhere: the input does not go on at the seam as it came


@dataclass(frozen=True)
class Gap:
    """What a cycle leaves open: (n, 3) from its end to its beginning, and by how much their steps a sample differ."""

    way: Floats
    step: Floats


@dataclass(frozen=True)
class Cycle:
    """Samples 0..period-1, after which the input begins anew; `count` samples are asked for."""

    period: int
    count: int
    has_kink: bool = False  # the input changes its speed abruptly where it begins anew

    def index(self, i: int) -> int:
        return i % self.period

    def closed(self, i: int, positions: Floats, gap: Gap) -> Floats:
        """Positions of sample `i` with their share of a gap, so that the last ones lead to the first."""
        start = (1.0 - _BLENDED) * self.period
        t = min(max((i - start) / (self.period - start), 0.0), 1.0)
        arriving = t * t * (t - 1.0) * (self.period - start)  # 0 at both ends, and its last slope is one a sample
        blended: Floats = positions + t * t * (3.0 - 2.0 * t) * gap.way + arriving * gap.step
        return blended

    @property
    def blended_from(self) -> int:
        """The first sample that takes some of a gap."""
        return int((1.0 - _BLENDED) * self.period)


@dataclass(frozen=True)
class Beginning:
    state: Any  # of the first sample
    cycles: int = 0  # simulated before the one that is kept
    seam: float = 0.0  # how far the end of a cycle is from its beginning, as a fraction of size
    gap: Gap | None = None  # to be blended over the end, where the seam is too wide


def find_cycle(poses: Poses, count: int, size: float, a_frame: int = 1) -> Cycle:
    """How the samples repeat, of which there are so many a frame; a sentence where they do not."""
    if count < 4:
        raise BadInput("A loop needs at least four frames: lengthen the range, or turn loop off.")
    closing = _rms(poses(count - 1) - poses(0))
    if closing < _SAME * size:
        return Cycle(count - 1, count, _has_kink(poses, count - 1, size))
    beside = max(_rms(poses(count - 1) - poses(count - 2)), _rms(poses(1) - poses(0)), _SAME * size)
    if closing > _JUMP * beside:
        raise BadInput(
            "The animation does not come back to where it begins, so it is no loop: choose the frames of one cycle (a "
            "walk must be on the spot), or turn loop off."
        )
    if a_frame > 1:
        raise BadInput("With several samples in each frame the last frame of a loop repeats its first: add one frame.")
    return Cycle(count, count, _has_kink(poses, count, size))


def _has_kink(poses: Poses, period: int, size: float) -> bool:
    """Whether the input arrives at the seam with another speed than it leaves with, as after half a cycle."""
    last, before = poses(0), poses(period - 1)
    changes = []
    for i in range(1, period + 1):
        now = poses(i % period)
        changes.append(_rms(now - 2.0 * last + before))
        last, before = now, last
    # where the last sample meets the first, the change beside the seam is not to be trusted either
    return changes[0] > max(_KINK * max(changes[1 : period - 1]), _SAME * size)


def close_cycle(
    simulated: Simulated,
    poses: Poses,
    outer: Callable[[int], Any],
    cycle: Cycle,
    cuts: Cuts,
    is_wanted: Callable[[], bool],
) -> Beginning:
    """Simulates cycles until one ends as it began. `is_wanted` is asked before every step; where it says no, the
    beginning so far comes back and is not to be used."""

    def at(i: int) -> Floats:
        return poses(cycle.index(i))

    state = simulated.begin(at(0), at(1))
    for cycles in range(1, _MOST_CYCLES + 1):
        before = state.positions
        for i in range(cycle.period):
            if not is_wanted():
                return Beginning(state)
            state, _ = go_on(simulated, state, i + 1, at, cuts, outer(i + 1))
        seam = _largest(before - state.positions) / simulated.size
        if seam < _CLOSED:
            return Beginning(state, cycles, seam)
    # One cycle more tells what the kept one will leave open.
    first = state
    for i in range(cycle.period):
        if not is_wanted():
            return Beginning(state)
        state, _ = go_on(simulated, state, i + 1, at, cuts, outer(i + 1))
    gap = Gap(first.positions - state.positions, simulated.interval * (first.velocities - state.velocities))
    return Beginning(first, _MOST_CYCLES, _largest(gap.way) / simulated.size, gap)


def settle(simulated: Simulated, poses: Poses, outer: Any, is_wanted: Callable[[], bool]) -> Beginning:
    """At rest in the first pose, and from there on moving with the input."""
    pose = poses(0)
    moving = simulated.begin(pose, poses(1))
    if not is_wanted():
        return Beginning(moving)
    return Beginning(dataclasses.replace(moving, positions=simulated.settle(pose, outer)))


def lead(
    simulated: Simulated,
    way: Poses,
    poses: Poses,
    outer: Callable[[int], Any],
    count: int,
    is_wanted: Callable[[], bool],
) -> Beginning:
    """Begins in the rest pose and leads the body on a way of `count` samples to the first pose, where it arrives with
    a motion of its own. `outer(i)`: what acts from sample i of the way on."""

    @functools.lru_cache(maxsize=4)
    def at(i: int) -> Floats:
        return way(i) if i < count else poses(i - count)

    state = simulated.begin(at(0))
    for i in range(count):
        if not is_wanted():
            break
        state, _ = simulated.advance(state, (at(max(i - 1, 0)), at(i), at(i + 1), at(i + 2)), outer(i))
    return Beginning(state)


def _largest(rows: Floats) -> float:
    return float(np.linalg.norm(rows, axis=1).max())


def _rms(rows: Floats) -> float:
    return float(np.sqrt((rows**2).sum() / len(rows)))
