"""What a method reads from the scene beside the frames: weights, painted regions, what acts from outside. A method that
registers nothing here reads nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from ..core.bake.method import Painted, Unpainted
from ..core.bake.missing import parse_frames
from ..scene.fingerprint import Painting, exact_weights
from ..scene.groups import remove_group, write_group
from ..scene.sampler import PassengerRest, Rest, Sampler
from ..scene.steps import Steps


class Outer(Protocol):
    """Read on every frame that is sampled."""

    @property
    def is_there(self) -> bool:
        """Whether there is anything to read."""

    def read(self) -> Mapping[str, Any]:
        """The arrays of the current frame, as the method's layout names its inputs."""


class Nothing:
    is_there = False

    def read(self) -> Mapping[str, Any]:
        return {}


@dataclass(frozen=True)
class Read:
    painted: Painted = field(default_factory=Unpainted)
    outer: Outer = field(default_factory=Nothing)
    made: str = ""  # mark of a vertex group that was made; "": none was


def _read_nothing(sampler: Sampler, rest: Rest, settings: Any, make: bool) -> Steps[Read]:
    yield
    return Read()


def _nothing_shown(ob: Any, settings: Any) -> Steps[Any]:
    yield
    return None


# Told in lines: of the name of an object, values that go over its settings, and a progress as a bake has it.
Rehearse = Callable[[str, dict[str, Any], Any], Sequence[str]]


@dataclass(frozen=True)
class Reading:
    """Each is given an object of the scene and the settings; `read` a sampler, the rest shape, the settings, and
    whether it may make a vertex group for the artist to paint on."""

    read: Callable[[Sampler, Rest, Any, bool], Steps[Read]] = _read_nothing
    check: Callable[[Any, Any], None] = lambda ob, settings: None  # raises where something chosen is not there
    # What of the scene results depend on now, for the method's own record; and settings with which all of it is read
    # that they may depend on soon, while an artist moves sliders.
    shown: Callable[[Any, Any], Steps[Any]] = _nothing_shown
    whole: Callable[[Any], Any] = lambda settings: settings
    # What is looked at to see that a bake is stale, by name; what is said of each, and which of it is of the results.
    marks: Callable[[Any, Any], Mapping[str, Painting]] = lambda ob, settings: {}
    reasons: Mapping[str, str] = field(default_factory=dict)
    of_result: tuple[str, ...] = ()
    # The vertex group that reading makes: whether it would, made again as a record has it, and taken away (only if it
    # is as it was made, by its mark; "": in any case).
    makes: Callable[[Any, Any], bool] = lambda ob, settings: False
    make_again: Callable[[Any, Any], None] = lambda ob, painted: None
    unmake: Callable[[Any, str], None] = lambda ob, made: None
    suits: Callable[[Any], bool] = lambda ob: False  # whether an object is plainly for this method; asked at once
    # Whether an object that is only edited, and not simulated, is plainly for this method; asked at once.
    suits_edits: Callable[[Any], bool] = lambda ob: False
    # (p,) which vertices of a passenger, given at rest, are not carried but stay as its own animation has them.
    leaves: Callable[[PassengerRest], Any] = lambda rest: np.zeros(len(rest.positions), bool)
    groups: tuple[str, ...] = ()  # vertex groups that count without a setting that names them
    # What may be tried before hours are spent on a bake; None: nothing.
    rehearse: Rehearse | None = None


@dataclass(frozen=True)
class MadeGroup:
    """The vertex group that reading makes of the weights by which a body follows."""

    name: str

    def again(self, ob: Any, painted: Any) -> None:
        if self.name not in ob.vertex_groups:
            write_group(ob, self.name, painted.follow)

    def unmake(self, ob: Any, made: str) -> None:
        if self.name in ob.vertex_groups and made in ("", exact_weights(ob, self.name)):
            remove_group(ob, self.name)


_readings: dict[str, Reading] = {}


def register(method: str, reading: Reading) -> None:
    _readings[method] = reading


def method_that_suits(ob: Any) -> str:
    """The method that an object is plainly for; "": that which is taken where nobody says."""
    return next((name for name, reading in _readings.items() if reading.suits(ob)), "")


def method_to_edit(ob: Any) -> str:
    """The same for one that is only edited."""
    return next((name for name, reading in _readings.items() if reading.suits_edits(ob)), "")


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
