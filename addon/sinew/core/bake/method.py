"""What a method is to the machinery of a bake: its settings, its files, its engine. Store, worker, job, report, presets
and command know no more of it than stands here.

A method is registered once, by core/methods. To open or make a bake, its method must be known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from .move import Move
from .numbers import Numbers

if TYPE_CHECKING:
    from .settings import BakeSettings
    from .shot import Shot
    from .store import Store

Array = npt.NDArray[Any]
Shape = tuple[tuple[int, ...], str]  # of an array, and its kind: <f4, <f8 or <i4


@dataclass(frozen=True)
class Layout:
    """Which files a bake has, by role: names and shapes by code and counts alone, never from a manifest."""

    constants: Mapping[str, Shape] = field(default_factory=dict)  # one of each
    # One for each sample, (rows, columns).
    inputs: Mapping[str, Shape] = field(default_factory=dict)  # as sampled
    prepared: Mapping[str, Shape] = field(default_factory=dict)  # made from the input alone
    state: Mapping[str, Shape] = field(default_factory=dict)  # what the simulation goes on from
    pieces: tuple[str, ...] = ()  # more of the state: bytes, of any length in each sample


class Painted(Protocol):
    """What a method has read of a body at rest beside its shape: a record of its own. The machinery carries it from the
    scene to the engine, and asks it for nothing but what a bake depends on."""

    def simulated(self) -> Mapping[str, Array]:
        """What the simulated motion depends on, by name."""

    def shown(self, settings: Any) -> list[object]:
        """What results depend on beside that, as JSON knows it."""


class Unpainted:
    """Nothing was read."""

    def simulated(self) -> Mapping[str, Array]:
        return {}

    def shown(self, settings: Any) -> list[object]:
        return []


class Show(Protocol):
    """Makes what plays from what is stored, without a simulation."""

    is_live: bool = False  # a frame is only looked at while something changes: better soon than exact
    look: Callable[[str, int, int], None] | None = None  # told what is being made, and how much of it; raises to stop

    def show(self, store: Store, index: int) -> list[npt.NDArray[np.float32]]:
        """The result of a sample: the body, then its passengers, each in its own space."""

    def measure(self, store: Store, index: int, offsets: npt.NDArray[np.float64]) -> Mapping[str, float]:
        """What of the numbers of a sample is about its result. `offsets` (t,): how far each vertex of the body is from
        its input, metres."""

    def about(self, store: Store, size: float) -> Mapping[str, Any]:
        """What a report says of the results, beside what it says of those of every method; a table is added to that of
        the same name."""

    def use(self, settings: Any) -> None:
        """From now on with other result settings."""


class Engine(Show, Protocol):
    """Computes a bake sample by sample. It reads what it needs from the store and writes there what it makes, so that
    a bake goes on after a kill with the same bits; it keeps nothing else from one sample to the next but copies."""

    size: float  # of the body, metres
    preparing: str  # name of the stage, for a clock

    def counts(self) -> dict[str, int]:
        """What the layout depends on beside the mesh."""

    def constants(self) -> dict[str, Array]:
        """What is computed once and kept: all constants of the layout."""

    def notes(self) -> dict[str, Any]:
        """What a report will say and a bake that is continued could not know."""

    def prepare(self, store: Store, index: int, available: int) -> int:
        """Writes what is prepared for sample `index`, and for more in a row if that is quicker; the first `available`
        are sampled. How many were prepared."""

    def begin(self, store: Store, index: int, pulse: Callable[[], None]) -> int:
        """Before the first `advance` of a run, which computes sample `index`. From which sample it must go on really:
        `index`, or one before it. `pulse` is called now and then and raises where the work is to end."""

    def move(self, store: Store, index: int) -> Move | None:
        """What its simulation does on the way to sample `index`; None: nothing, there or at all."""

    def advance(self, store: Store, index: int, moved: Any) -> Numbers:
        """Writes the state of sample `index` from the one before; that of sample 0 from nothing. `moved`: what came of
        its move, None without one."""

    def summary(self, store: Store) -> dict[str, Any]:
        """What a report says beside what it says of every method; "warnings" among it are added to the others."""


class Splicing(Engine, Protocol):
    """That of a method that `splices`."""

    def has_met(self, store: Store, old: Store, index: int) -> bool:
        """Whether the state of a sample is that of another bake of the same body, but for what nobody could see: its
        next ones may be taken from that."""


@dataclass(frozen=True)
class Told:
    """What is said of a report beside what is said of all, in words."""

    size: str = ""  # how large the problem was
    lines: tuple[str, ...] = ()
    panel: tuple[str, ...] = ()  # the same for an artist, in lines that fit a panel


@dataclass(frozen=True)
class Method:
    name: str  # in manifests, setups and on the command line
    label: str  # for an artist
    description: str
    settings: type[BakeSettings]  # a dataclass of what an artist chooses
    layout: Callable[[int, Mapping[str, int]], Layout]  # from the number of vertices and the counts of an engine
    # Of a shot; with the constants of a bake of the same body, if there is one. May take long, so it has a monitor.
    engine: Callable[[Shot, Store | None, Any], Engine]
    show: Callable[[Shot, Store], Show]  # the results of a finished bake
    version: Callable[[], str]  # of what it needs, or a sentence where that is missing
    build: Callable[[], str]  # id of what computes, known without loading it: two of one version may compute other bits
    monitor: Callable[[], Any]  # of work in a thread: progress() and cancel()
    # What was read of the body of a finished bake; with what of the scene its results depend on now, None: nothing.
    painted: Callable[[Store, Any], Painted] = lambda store, shown: Unpainted()
    # The counts that a manifest of schema 5 or older kept by other names.
    older_counts: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda manifest: {}
    # What a new setup begins with, where that is not the default that all methods share.
    fresh: Mapping[str, Any] = field(default_factory=dict)
    numbers: type[Numbers] = Numbers
    tell: Callable[[Mapping[str, Any]], Told] = lambda report: Told()
    terms: int = 1  # kinds of energy that each body of it has in a world, at most
    ahead: Callable[[Any], int] = lambda settings: 0  # a state has looked at so many samples after its own
    splices: bool = False  # a bake whose input has changed takes from the one before what comes after it
    rehearsal: str = ""  # what may be tried on a few frames before a bake, in words: "what comes of it"
    making: str = ""  # what is made once, before the first sample, for a clock and in sentences
    saving: str = "close other programs"  # what helps where memory is short
    # Changes of the settings of a shot for a quick look; the last argument is a monitor.
    coarse: Callable[[Any, Any], Mapping[str, Any]] = lambda shot, monitor: {}
    # Of the settings, those that only act on results when every sample has its state, with what they are until then.
    late: Callable[[Any], Mapping[str, Any]] = lambda settings: {}
    shares: Callable[[Any], Mapping[str, Any]] = lambda settings: {}  # what all bodies of a world have as one
    roams: Callable[[Any], bool] = lambda settings: False  # whether with them a body leaves its animation


_known: dict[str, Method] = {}


def register(method: Method) -> None:
    """Two may have a setting of one name, if both declare it alike: it is one property and one word of a command. How
    it counts in the hashes of a bake is for each to say: one may have had it from the beginning."""
    for other in _known.values():
        theirs = other.settings.all()
        for name, one in method.settings.all().items():
            if other.name != method.name and replace(theirs.get(name, one), counts=one.counts) != one:
                raise BadInput(
                    f'The methods {other.name} and {method.name} declare the setting "{name}" differently: declare it '
                    "alike, or give it another name."
                )
    _known[method.name] = method


def unregister(name: str) -> None:
    del _known[name]


def check_room(company: Sequence[Method]) -> None:
    """Raises where one world has no room for bodies of these methods, before anything of them is read."""
    from ..base.native import module  # takes a moment the first time

    if sum(method.terms for method in company) > module.TERMS_MOST:
        raise BadInput(
            f"{len(company)} setups touch and would be simulated together, more than there is room for: let some of "
            "them not collide, or take each setup from its world."
        )


def known() -> Sequence[Method]:
    """All methods, in the order in which they were registered."""
    return tuple(_known.values())


def find(name: str) -> Method:
    """The method of that name; "": the one that was registered first, which is taken where nobody says."""
    name = name or next(iter(_known), "")
    if name not in _known:
        there_are = ", ".join(_known) or "none"
        raise BadInput(f'There is no method "{name[:40]}" in this version of Sinew: there are {there_are}.')
    return _known[name]
