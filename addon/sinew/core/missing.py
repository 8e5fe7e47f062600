"""Missing frames of the input: those that the artist names are not looked at, and bridged from the good ones around."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .shot import Carried, Sample


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
    """The samples between a and b, by a cubic with the slopes that the neighbours give."""
    assert a is not None
    span = b.index - a.index

    def curve(part: Any) -> Any:
        begin, end = (np.asarray(part(sample), np.float64) for sample in (a, b))
        slope = (end - begin) / span
        rise = slope if before is None else (end - part(before)) / (b.index - before.index)
        fall = slope if after is None else (part(after) - begin) / (after.index - a.index)

        def value(t: float) -> Any:
            s = 1.0 - t
            ends = s * s * (1.0 + 2.0 * t) * begin + t * t * (3.0 - 2.0 * t) * end
            return ends + span * (t * s * s * rise - t * t * s * fall)

        return value

    positions, matrix = curve(lambda sample: sample.positions), curve(lambda sample: sample.matrix)
    carried = [
        (curve(lambda sample, n=n: sample.carried[n].positions), curve(lambda sample, n=n: sample.carried[n].matrix))
        for n in range(len(a.carried))
    ]
    for index in range(a.index + 1, b.index):
        t = (index - a.index) / span
        yield Sample(
            index,
            positions(t).astype(np.float32),
            matrix(t),
            a.amount + t * (b.amount - a.amount),
            tuple(Carried(where(t).astype(np.float32), turn(t)) for where, turn in carried),
            a.fields,
            a.follow,
        )


def _at(sample: Sample, index: int) -> Sample:
    return dataclasses.replace(sample, index=index)
