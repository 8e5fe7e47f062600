"""Missing frames of the input: those that the artist names are not looked at, and bridged from the good ones around."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..base.errors import BadInput
from ..geometry.between import Between
from ..geometry.turns import Cubic, TurnCurve, nearest_rotation
from .shot import Carried, Sample


def parse_frames(text: str) -> frozenset[int]:
    """Frames written as 12, 15-18; a sentence where they are not."""
    found: set[int] = set()
    for part in text.replace(";", ",").split(","):
        first, dash, last = part.strip().lstrip("-").partition("-")
        sign = -1 if part.strip().startswith("-") else 1
        if not part.strip():
            continue
        try:
            begin = sign * int(first)
            end = int(last) if dash else begin
        except ValueError:
            raise BadInput(f'"{part.strip()}" names no frames: write missing frames as 12, 15-18.') from None
        if end < begin or end - begin > 100_000:
            raise BadInput(f'"{part.strip()}" is no range of frames: write missing frames as 12, 15-18.')
        found.update(range(begin, end + 1))
    return frozenset(found)


def bridge(source: Iterable[Sample], count: int) -> Iterator[Sample]:
    """All `count` samples, where `source` leaves some out: on smooth curves through those before and after. At the ends
    the nearest one is held."""
    before: Sample | None = None  # the one before `last`
    last: Sample | None = None
    closing: Sample | None = None  # the first after a gap: what comes next says how the curve arrives there
    for sample in source:
        if closing is not None:
            yield from _between(before, last, closing, sample)
            before, last, closing = last, closing, None
            yield last
        if last is None or sample.index == last.index + 1:
            if last is None:
                yield from (_at(sample, index) for index in range(sample.index))
            before, last = last, sample
            yield sample
        else:
            closing = sample
    if closing is not None:
        yield from _between(before, last, closing, None)
        last = closing
        yield last
    if last is not None:
        yield from (_at(last, index) for index in range(last.index + 1, count))


def _between(before: Sample | None, a: Sample | None, b: Sample, after: Sample | None) -> Iterator[Sample]:
    """The samples between a and b, on curves with the slopes that the neighbours give. The body and its passengers move
    as one in the world, so that they stay together."""
    assert a is not None
    given = (before, a, b, after)
    times = [0 if sample is None else sample.index for sample in given]
    worlds: list[Any] = [None if sample is None else _world(sample) for sample in given]
    cloud = Between(times, *worlds)
    frames = [
        _Frame(times, *(None if sample is None else _parts(sample)[number][1] for sample in given))
        for number in range(1 + len(a.carried))
    ]
    ends = np.cumsum([len(positions) for positions, _ in _parts(a)])[:-1]
    for index in range(a.index + 1, b.index):
        t = (index - a.index) / (b.index - a.index)
        matrices = [frame.at(t) for frame in frames]
        collide = [False, *(one.collides for one in a.carried)]
        body, *carried = (
            Carried(_local(matrix, points), matrix, collides)
            for matrix, points, collides in zip(matrices, np.split(cloud.at(t), ends), collide, strict=True)
        )
        amount = a.amount + t * (b.amount - a.amount)
        yield Sample(index, body.positions, body.matrix, amount, tuple(carried), a.read)


def _parts(sample: Sample) -> list[tuple[Any, Any]]:
    """Positions and matrices of the body and its passengers."""
    return [(sample.positions, sample.matrix), *((one.positions, one.matrix) for one in sample.carried)]


def _world(sample: Sample) -> Any:
    return np.concatenate([points.astype(np.float64) @ m[:3, :3].T + m[:3, 3] for points, m in _parts(sample)])


def _local(matrix: Any, points: Any) -> Any:
    return np.linalg.solve(matrix[:3, :3], (points - matrix[:3, 3]).T).T.astype(np.float32)


class _Frame:
    """Matrices of an object on its way: what turns in them turns, the rest moves on cubics."""

    def __init__(self, times: list[int], *matrices: Any) -> None:
        looks: list[tuple[Any, Any]] = [(None, None) if matrix is None else _apart(matrix) for matrix in matrices]
        self._turns = TurnCurve(times, *(turn for turn, _ in looks))
        self._rests = Cubic(times, *(rest for _, rest in looks))

    def at(self, t: float) -> Any:
        return _turn(self._turns.at(t), self._rests.at(t))


def _apart(matrix: Any) -> tuple[Any, Any]:
    """How a matrix turns, and what remains of it. A mirrored object turns as its mirror image does."""
    turn = nearest_rotation(np.sign(np.linalg.det(matrix)) * matrix[:3, :3])
    return turn, _turn(turn.T, matrix)


def _turn(turn: Any, matrix: Any) -> Any:
    """A matrix whose axes are turned, and not its place."""
    turned = np.array(matrix, np.float64)
    turned[:3, :3] = turn @ turned[:3, :3]
    return turned


def _at(sample: Sample, index: int) -> Sample:
    return dataclasses.replace(sample, index=index)
