"""What a simulation does from one sample to the next, alone or with others as bodies of one world."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# Of the bodies of a world, where they differ: the smallest, and what one of them has.
_SMALLEST = ("gap", "separate")
_ANY = ("keep_input", "strict", "soft_collider")


@dataclass(frozen=True)
class Touch:
    """What a body that collides brings to its move, in the words of the native module's Contact."""

    # As long as the simulation lives.
    member: Mapping[str, Any]
    obstacles: Sequence[Mapping[str, Any]]  # those of all bodies of a world are the same
    meets: Sequence[bool]  # which of them it does not pass through
    settings: Mapping[str, Any]
    ignored: Array  # (k, 2) groups of the member, by the numbers of their bits, that do not collide
    carried: Mapping[str, Any] | None = None  # an obstacle that it brings along and nobody else meets
    # Of this interval.
    surfaces: tuple[Any, Any, Any, Any] = (None, None, None, None)
    ways: Sequence[tuple[Any, Any]] = ()  # of the obstacles
    carried_way: tuple[Any, Any] | None = None
    state: bytes = b""  # b"": at a start and after a cut
    active: bool = True


@dataclass(frozen=True)
class Touched:
    """What came of a move with a touch."""

    numbers: Any
    state: bytes
    report: Mapping[str, Any]
    member: int  # the place of the body in the report's `surfaces`


@dataclass(frozen=True)
class Move:
    """One interval of a native simulation."""

    simulation: Any
    arguments: tuple[Any, ...]  # of its `advance`; the state among them is written to
    monitor: Any = None
    touch: Touch | None = None

    def alone(self) -> Any:
        """Takes it, as one that touches nothing; the numbers that come of it."""
        return self.simulation.advance(*self.arguments, *self.watched)

    @property
    def watched(self) -> tuple[Any, ...]:
        return () if self.monitor is None else (self.monitor,)


@dataclass(frozen=True)
class _Together:
    """Simulations that are advanced as one, and what they meet."""

    ensemble: Any
    contact: Any = None
    simulations: list[Any] = field(default_factory=list)  # kept, for they are known by their id


class World:
    """The simulations of setups that share a world, which they are bodies of."""

    def __init__(self) -> None:
        self._made: dict[tuple[int, ...], _Together] = {}

    def advance(self, moves: Sequence[Move | None]) -> list[Any]:
        """Takes the moves of all setups at once; a setup without one has nothing to do, and gets None. Of a move with a
        touch comes a Touched, of another its numbers."""
        moving = [move for move in moves if move is not None]
        touches = [move.touch for move in moving]
        if len(moving) < 2 and not any(touches):
            return [move and move.alone() for move in moves]
        together = self._together(moving, touches)
        who = "".join(map(_who, moves)).encode() + b" "
        if together.contact is not None:
            _lead(together.contact, touches, who)
        numbers = together.ensemble.advance([move.arguments for move in moving], *moving[0].watched)
        results = iter(_touched(together.contact, touches, numbers, who))
        return [move and next(results) for move in moves]

    def _together(self, moving: Sequence[Move], touches: Sequence[Touch | None]) -> _Together:
        """Made once for each company: who restarts after a cut sits out a sample."""
        simulations = [move.simulation for move in moving]
        key = tuple(id(simulation) for simulation in simulations)
        if key not in self._made:
            contact = make_contact(touches) if any(touches) else None
            met = () if contact is None else (contact,)
            self._made[key] = _Together(make_ensemble(simulations, *met), contact, simulations)
        return self._made[key]


def _who(move: Move | None) -> str:
    """What a setup is to the others in an interval: nothing, a body that meets none, or one that does."""
    return "-" if move is None else "01"[move.touch is not None and move.touch.active]


def _lead(contact: Any, touches: Sequence[Touch | None], who: bytes) -> None:
    """What they meet on the way. What was touched in the last interval counts if it was by the same bodies."""
    first = next(touch for touch in touches if touch is not None)
    known = first.state[len(who) :] if first.state.startswith(who) else None
    surfaces = [touch and touch.surfaces for touch in touches]
    active = [touch is not None and touch.active for touch in touches]
    carried = [touch.carried_way for touch in touches if touch is not None and touch.carried_way is not None]
    contact.lead(surfaces, [*first.ways, *carried], known, active)


def _touched(contact: Any, touches: Sequence[Touch | None], numbers: Sequence[Any], who: bytes) -> list[Any]:
    """What came of each move."""
    if contact is None:
        return list(numbers)
    state, report = who + contact.state(), contact.report()
    each = enumerate(zip(touches, numbers, strict=True))
    return [one if touch is None else Touched(one, state, report, member) for member, (touch, one) in each]


def make_ensemble(simulations: list[Any], *met: Any) -> Any:
    from ..base.native import module  # takes a moment the first time

    return module.Ensemble(simulations, *met)


def make_contact(touches: Sequence[Touch | None]) -> Any:
    from ..base.native import module

    told = [touch for touch in touches if touch is not None]
    settings = {**told[0].settings, **{name: min(one.settings[name] for one in told) for name in _SMALLEST}}
    settings |= {name: any(one.settings[name] for one in told) for name in _ANY}
    members: list[dict[str, Any] | None] = []
    ignored, bits = [], 0
    for touch in touches:
        if touch is None:
            members.append(None)
            continue
        groups = touch.member.get("groups")  # each body's own
        members.append({**touch.member, "groups": None if groups is None else _shifted(groups, bits)})
        ignored.append(touch.ignored + bits)
        bits += int(touch.ignored.max(initial=-1)) + 1
    met = []
    for number, obstacle in enumerate(told[0].obstacles):
        who = [member for member, touch in enumerate(touches) if touch is not None and touch.meets[number]]
        met.append({**obstacle, "members": np.array(who, np.int32)})
    for member, touch in enumerate(touches):
        if touch is not None and touch.carried is not None:
            met.append({**touch.carried, "members": np.array([member], np.int32)})
    pairs = np.concatenate(ignored).astype(np.int32).reshape(-1, 2)
    return module.Contact(members, met, settings, pairs if len(pairs) else None)


def _shifted(groups: Array, bits: int) -> Array:
    return (groups.view(np.uint32) << np.uint32(bits)).view(np.int32)
