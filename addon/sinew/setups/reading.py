"""What a method reads from the scene beside the frames: weights, painted regions, what acts from outside. A method that
registers nothing here reads nothing, and all of the body is free."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..core.bake.fields import no_fields
from ..core.bake.missing import parse_frames
from ..scene.sampler import Rest, Sampler
from ..scene.steps import Steps

FOLLOW_GROUP = "Sinew Follow"  # that a bake makes where the artist has none


class Outer(Protocol):
    """Read on every frame that is sampled."""

    @property
    def count(self) -> int:
        """How many force fields act."""

    def fields(self) -> Any:
        """(count, WIDTH) their rows."""

    def follow(self) -> Any | None:
        """(t,) the weights now; None where they are not animated."""


class Nothing:
    """Acts from outside."""

    count = 0

    def fields(self) -> Any:
        return no_fields()

    def follow(self) -> Any | None:
        return None


@dataclass(frozen=True)
class Read:
    follow: Any  # (t,) 1 follows exactly, 0 is free
    outer: Outer = field(default_factory=Nothing)
    values: Mapping[str, Any] = field(default_factory=dict)  # further ones of a shot
    made_weights: str = ""  # hash of those of the follow group, where one was made


def _read_nothing(sampler: Sampler, rest: Rest, settings: Any, make_group: bool) -> Steps[Read]:
    yield
    return Read(np.zeros(len(rest.positions)))


def _nowhere(ob: Any, settings: Any) -> Steps[Any | None]:
    yield
    return None


@dataclass(frozen=True)
class Reading:
    """Each is given an object of the scene and the settings; `read` a sampler and the rest shape."""

    read: Callable[[Sampler, Rest, Any, bool], Steps[Read]] = _read_nothing
    check: Callable[[Any, Any], None] = lambda ob, settings: None  # raises where something chosen is not there
    makes_group: Callable[[Any, Any], bool] = lambda ob, settings: False
    marks: Callable[[Any, Any], Mapping[str, Any]] = lambda ob, settings: {}  # for scene/fingerprint.take
    after: Callable[[Any, Any], Steps[Any | None]] = _nowhere  # (t,) where a result is drawn back


_readings: dict[str, Reading] = {}


def register(method: str, reading: Reading) -> None:
    _readings[method] = reading


def reading_of(method: str) -> Reading:
    return _readings.get(method, Reading())


def sampler_of(ob: Any, settings: Any) -> Sampler:
    """Samples the frames that the settings of any method ask for."""
    missing = parse_frames(settings.missing_frames)
    sampler = Sampler(
        ob,
        frame_start=settings.frame_start,
        frame_end=settings.frame_end,
        samples=settings.samples,
        preroll=0 if settings.loop or settings.start == "rest" else settings.preroll,
        rest_frame=settings.rest_frame,
        missing=missing,
    )
    outside = sorted(frame for frame in missing if not sampler.first_frame <= frame <= sampler.frame_end)
    if outside:
        sampler.body.warnings.append(
            f"Frame {outside[0]} is said to be missing and is not among those that are baked: check Missing."
        )
    return sampler
