"""What is known of a finished sample, in numbers: of a class, so that a misspelt name is no zero."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

Kind = TypeVar("Kind", bound="Numbers")


@dataclass(frozen=True)
class Numbers:
    """Those of every method; a method's own class adds to them. Lengths in metres."""

    added_max: float = 0.0  # how far a vertex got from the input
    added_square: float = 0.0  # mean of the squares, of all vertices
    spliced: float = 0.0  # 1: taken over from the bake before, which it has met (core/bake/splice.py)
    restarted: float = 0.0  # the input jumps here, so the simulation started anew
    # Of the first sample, where the frames are one cycle.
    period: float = 0.0  # samples
    cycles: float = 0.0  # simulated before the one that is kept
    seam: float = 0.0  # what they leave open, as a fraction of size
    gap: float = 0.0  # 1: that was blended away
    kink: float = 0.0  # 1: the input changes its speed abruptly where it begins anew

    def kept(self) -> dict[str, float]:
        """What a log keeps: neither zeros nor what is not finite, which cannot be told in JSON."""
        values = {name: float(value) for name, value in dataclasses.asdict(self).items()}
        return {name: value for name, value in values.items() if value and math.isfinite(value)}


def read_numbers(kind: type[Kind], values: Mapping[str, Any]) -> Kind:
    """From a log, of another version perhaps: what is not known is left out."""
    known = {field.name for field in dataclasses.fields(kind)}
    return kind(**{name: float(value) for name, value in values.items() if name in known})
