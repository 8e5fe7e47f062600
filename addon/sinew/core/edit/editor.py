"""Edits over arrays: from handles on a surface to the edited shape of any moment."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from .body import Body, Carrier, Posed, Shell, cell_size, frames_of
from .contacts import Broken, Contacts, choose_worst
from .handles import Edits, Handle

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

LANDED = 1e-5  # of size: how near handles come to where they are pulled
_NEAR = 1e-4  # the same while one is dragged: a tenth of a pixel
_POLISHES = 4  # the carrier lands first, then the surface on it with its detail
_SLIPS = 0.003  # of the longest pull: what contacts may be off, ...
_CLEAR = 1.5 * _SLIPS  # ... and how far from others what is brought near is to stay: off by that, it is not in them
_MOST_ROWS = {"above": 48, "slide": 48, "pin": 96}  # that keep contacts
_AT_ONCE = 2  # contacts that are held after a look at all frames
# What a contact gives of its way, and a handle that contacts are against at first and at last.
_GIVES, _GIVES_WAY = 1e-3, 1e3
# Contacts are held one after the other; but where after half of those that may be something is off by so many times
# what is asked for, ...
_HOPELESS = 10.0
# ... all are held at once: so many on a frame and in the whole, each giving so much of its way; what joins them after a
# look; looks, and how many more until one is nearly the best; what may be off of the longest pull then.
_EACH, _MOST_AT_ONCE, _STIFF, _JOINING = 10, 400, 1e-4, 12
_TRIES_AT_ONCE, _MORE_AT_ONCE, _NEARLY, _KEPT = 7, 6, 1.2, 0.05
# After so many looks in which no contact that is off was a new one, or handles missed by so much of the longest pull,
# they are at odds.
_PATIENCE, _AT_ODDS = 4, 0.05
_TRIES = 4  # looks before handles give way more
_BEARS = 3.0  # times as far off as is asked for is borne before handles give way
_TURNED = 0.98  # cosine: by more than that a contact looks elsewhere
_CLOSE = 0.25  # of the radius of handles: that of contacts, which lie side by side
_ROUGHLY = 5  # rounds of Newton between two looks
_STRIDE, _MOST_STRIDES = 0.025, 16  # of size: a longer pull is gone in steps, so many at most
_ON_THE_WAY = 3  # looks at each of these steps at what runs into other parts of the body
_MOST_PULLED = 12  # frames of handles that are looked at for that
_FARTHEST = 2.0  # of size: no handle is pulled farther, and what is missed is told
_WILD = 3.0  # times as far as without contacts: farther than that nothing may end that they move
_ALIKE = 1.0  # of the two patches of a contact, which add up to 2: less than that is not in both
_HANGS = 0.1  # of a vertex: less than this on what can move cannot bring it anywhere
_ABLE = 0.2  # of a vertex: less than this hangs on what can move, and it goes with what is held


Look = Callable[[str, int, int], None]  # stage, done, of how much; raises to stop


@dataclass(frozen=True)
class Landed:
    """How handles ended: of each that acts, how far its vertices are from where they were pulled, metres."""

    missed: tuple[float, ...]
    rounds: int = 0
    shapes: int = 0
    slipped: float = 0.0  # metres that a contact is off, at most ...
    slipped_share: float = 0.0  # ... and of the longest pull
    contact_rows: int = 0


@dataclass(eq=False)
class _Row:
    """A handle at one frame."""

    handle: int
    vertices: tuple[int, ...]
    radius: float
    frame: float
    posed: Posed
    start: Floats  # (3,) where its vertices' mean is without the edit
    goal: Floats  # (3,) of its vertices' mean
    target: Floats  # (3,) of the same on the carrier
    beyond: float  # metres that it is pulled farther than anything is
    direction: Floats = field(default_factory=lambda: np.zeros(3))  # not 0: only along it
    is_bound: bool = False  # and it may go farther
    against: tuple[int, ...] = ()  # vertices whose mean it is seen from: it tells of what is between the two
    give: float = 0.0  # what it misses by alone, of its way
    pushed: float = 0.0  # metres that its target lies beyond its goal, for what it gives


def _look_away(stage: str, done: int, total: int) -> None:
    """Nobody asks."""


class Editor:
    """Edits the motion of one body. `frame_rate`: frames a second; frame 0 is at time 0."""

    def __init__(
        self, carrier: Carrier, body: Body | Shell, frame_rate: float, *, hold: float = 2.0, monitor: Any = None
    ) -> None:
        self.carrier, self.body, self.frame_rate = carrier, body, frame_rate
        self.size = float(np.ptp(carrier.vertices, axis=0).max())
        self._native = body.native(carrier, hold, monitor)
        self._monitor = monitor
        self._patches: dict[tuple[Any, ...], tuple[Floats, Floats]] = {}
        self.radius = 2.0 * cell_size(carrier)  # of a handle that has none of its own
        self._close = _CLOSE * self.radius
        self._is_none = True
        self._look: Look = _look_away
        self._held: list[_Row] = []  # contacts, in the order in which they were found
        self._pulled_at: set[float] = set()  # frames of handles, or some of many
        self._goals: dict[tuple[float, tuple[int, ...]], tuple[float, ...]] = {}  # of the last handles
        corners = carrier.vertices[carrier.cells[carrier.binding]]
        self._rest: Floats = np.einsum("vi,via->va", carrier.weights, corners)  # the surface

    def solve(
        self,
        edits: Edits,
        posed: Callable[[float], Posed],
        *,
        period: float = 0.0,
        goes_on: bool = False,
        polish: bool = True,
        contacts: Contacts | None = None,
        look: Look | None = None,
    ) -> Landed:
        """Finds the edit of these handles; `posed` tells what is shown at a frame. `period`: seconds of a loop.
        `goes_on`: from the last edit, as while a handle is dragged; otherwise it depends on nothing but the handles."""
        self._is_none = not edits.acting
        self._look = look or _look_away
        before, self._goals = self._goals, {}
        if not goes_on or contacts is None or self._is_none:
            self._held = []
        if self._is_none:
            return Landed(())
        rows = [row for number, handle in enumerate(edits.acting) for row in self._rows(number, handle, posed)]
        if contacts is not None:
            clear = _CLEAR * self._longest(rows)
            for row in rows:
                back = contacts.beyond(row.frame, row.start, row.goal, clear)
                row.goal, row.target = row.goal + back, row.target + back
                row.beyond += float(np.linalg.norm(back))
        self._goals = {(row.frame, row.vertices): tuple(row.goal) for row in rows}
        settings = self._settings(edits, period)
        settings |= {"tolerance": _NEAR if goes_on else LANDED, "goes_on": goes_on, "is_quick": goes_on}
        frames = sorted({row.frame for row in rows})
        self._pulled_at = set(frames[:: math.ceil(len(frames) / _MOST_PULLED)])
        landing = self._approach(rows, settings, contacts, posed) if polish and not goes_on else settings
        missed, rounds, shapes = self._land([*rows, *self._held], landing, polish)
        slipped = 0.0
        if contacts is not None:
            frames = contacts.frames
            if goes_on:  # on the frame that is looked at
                frames = [row.frame for row in rows if before.get((row.frame, row.vertices)) != tuple(row.goal)]
            missed, slipped = self._keep(contacts, frames, rows, posed, settings, missed, polish)
        worst = [
            max(float(missed[k]) + row.beyond for k, row in enumerate(rows) if row.handle == number)
            for number in range(len(edits.acting))
        ]
        share = slipped / self._longest(rows) if slipped else 0.0
        return Landed(tuple(worst), rounds, shapes, slipped, share, len(self._held))

    @staticmethod
    def _longest(rows: Sequence[_Row]) -> float:
        """The longest pull, metres."""
        return max(float(np.linalg.norm(row.goal - row.start)) for row in rows)

    def _approach(
        self,
        rows: list[_Row],
        settings: dict[str, Any],
        contacts: Contacts | None,
        posed: Callable[[float], Posed],
    ) -> dict[str, Any]:
        """Long pulls are gone in steps, as the mouse does: what is bent or pressed together may give way to several
        sides, and stays with the one that a drag finds. What runs into another part of the body on the way is held
        there: at the end it may be through. The settings that go on from there."""
        how = {**settings, "tolerance": 10.0 * _NEAR, "rounds": _ROUGHLY}
        longest = self._longest(rows)
        steps = min(math.ceil(longest / (_STRIDE * self.size)), _MOST_STRIDES)
        for step in range(1, steps):
            left = step / steps - 1.0
            way = [dataclasses.replace(row, target=row.target + left * (row.goal - row.start)) for row in rows]
            self._land([*way, *self._held], how, False)
            how["goes_on"] = True
            for _ in range(_ON_THE_WAY):
                if contacts is None or not self._hold_entered(contacts, posed, longest):
                    break
                self._land([*way, *self._held], how, False)
        return {**settings, "goes_on": how["goes_on"]}

    def _land(self, rows: list[_Row], settings: dict[str, Any], polish: bool) -> tuple[Floats, int, int]:
        """How far each row is missed, rounds and shapes."""
        weights = [self._weights_of(row) for row in rows]
        arrays = (
            np.array([row.frame / self.frame_rate for row in rows]),
            np.array([row.posed.shape.ravel() for row in rows]),
            np.array([patch for patch, _ in weights]),
            np.array([point for _, point in weights]),
        )
        directions = np.array([row.direction for row in rows])
        bounds = np.array([row.is_bound for row in rows], np.int32)
        give = np.array([row.give for row in rows])
        pulled = [k for k, row in enumerate(rows) if row.handle >= 0]
        rounds = shapes = 0
        for polishing in range(_POLISHES + 1 if polish else 1):
            self._look("Landing", polishing, _POLISHES + 1)
            targets, missed = np.array([row.target for row in rows]), np.empty(len(rows))
            how = {**settings, "goes_on": settings["goes_on"] or polishing > 0}
            done, _, shapes = self._native.solve(how, *arrays, targets, directions, bounds, give, missed, self._monitor)
            rounds += done
            if not polish:
                break
            left = {k: rows[k].goal - self._mean(rows[k]) for k in pulled}
            missed[pulled] = [np.linalg.norm(left[k]) for k in pulled]
            if missed[pulled].max() <= 2.0 * LANDED * self.size or polishing == _POLISHES:
                break
            for k in pulled:
                rows[k].target = rows[k].target + left[k]
        return missed, rounds, shapes

    def _keep(
        self,
        contacts: Contacts,
        frames: Sequence[float],
        rows: list[_Row],
        posed: Callable[[float], Posed],
        settings: dict[str, Any],
        missed: Floats,
        polish: bool,
    ) -> tuple[Floats, float]:
        """Holds the contacts that are off most, a few after each look, until none is; how far handles are missed then,
        and what the worst contact is off. Where a few are not enough, as for a body that nothing else holds, all that
        touches is held at once. Where handles and contacts cannot both be, handles give way, ten times as much after
        each try: one that gives way altogether leaves the contacts of the input, and where even that does not help
        nothing is edited."""
        longest = self._longest(rows)
        how, looks, wanted = settings, 1, _SLIPS * longest
        if not settings["goes_on"]:
            how, looks = {**settings, "goes_on": True, "tolerance": _NEAR, "rounds": _ROUGHLY}, contacts.looks
        patches = [self._weights(row.vertices, row.radius)[0] > 0.0 for row in rows]
        pulled = np.logical_or.reduce(patches)[self.carrier.cells[self.carrier.binding]].any(axis=1)

        def look() -> tuple[list[Broken], float, float]:
            """What is off, by how much at most, and how far anything is moved there."""
            looked = []
            for done, frame in enumerate(frames):
                self._look("Keeping Contacts", done, len(frames))
                looked.append(self._broken(contacts, frame, longest, posed, pulled))
            broken = [one for some, _ in looked for one in some]
            worst = max((one.amount for one in broken), default=0.0)
            return broken, worst, max((way for _, way in looked), default=0.0)

        def is_good() -> bool:
            """Contacts are kept, and it is nearer to where it is pulled than without the edit."""
            is_near = float(missed[: len(rows)].max()) <= longest + LANDED * self.size
            return is_near and farthest <= calm and slipped <= _BEARS * wanted

        broken, slipped, farthest = look()
        calm, since = _WILD * max(farthest, longest), 0
        for _ in range(looks):
            room = _MOST_ROWS[contacts.kind] - len(self._held)
            if slipped <= wanted or farthest > 10.0 * calm or room <= 0 or since == _PATIENCE:
                break
            if len(self._held) >= room and slipped > _HOPELESS * wanted and not settings["goes_on"]:
                break
            is_new = self._hold(broken, min(_AT_ONCE, room), posed)
            missed, _, _ = self._land([*rows, *self._held], how, False)
            broken, slipped, farthest = look()
            since = 0 if is_new and missed[: len(rows)].max() < _AT_ODDS * longest else since + 1
        if is_good():
            if not (polish and self._held):
                return missed, slipped
            targets = [row.target for row in rows]
            for again in (True, False):
                # The surface lands on its goals; where that throws all else about, the carrier near them will do.
                landing = {**settings, "goes_on": True} if again else {**how, "goes_on": False}
                missed, _, _ = self._land([*rows, *self._held], landing, again)
                broken, slipped, farthest = look()
                if is_good():
                    return missed, slipped
                for row, target in zip(rows, targets, strict=True):
                    row.target = target
        all_held = [] if settings["goes_on"] else self._touching(contacts, frames, posed, pulled)
        if all_held:
            self._held, how, best = all_held, {**how, "goes_on": False, "is_steady": True}, np.inf
            for tried in range(_TRIES_AT_ONCE + _MORE_AT_ONCE):
                missed, _, _ = self._land([*rows, *self._held], how, False)
                how["goes_on"] = True
                broken, slipped, farthest = look()
                best = min(best, slipped)
                if (
                    farthest > 10.0 * calm
                    or slipped <= wanted
                    or (tried >= _TRIES_AT_ONCE and slipped <= _NEARLY * best)
                ):
                    break
                self._push()
                self._hold(broken, _JOINING, posed, _STIFF)
            if is_good() or (max(slipped, missed[: len(rows)].max()) < _KEPT * longest and farthest <= calm):
                return missed, slipped
        if settings["goes_on"] or is_good():
            return missed, slipped
        give, self._held = _GIVES, []
        while not is_good() and give < _GIVES_WAY:
            # From no edit, with nothing left of what contacts pushed against a wilder one.
            how = {**how, "goes_on": False, "is_steady": False}
            for row in rows:
                row.give = give
            for row in self._held:
                row.pushed, row.target = 0.0, row.goal
            for _ in range(_TRIES):
                missed, _, _ = self._land([*rows, *self._held], how, False)
                how["goes_on"] = True
                broken, slipped, farthest = look()
                if is_good() or farthest > 10.0 * calm:
                    break
                self._push()
                self._hold(broken, min(_JOINING, _MOST_ROWS[contacts.kind] - len(self._held)), posed, _GIVES)
            give *= 10.0
        if not is_good():
            self._is_none, self._held = True, []
            missed, slipped = np.array([np.linalg.norm(row.goal - row.start) for row in rows]), 0.0
        return missed, slipped

    def _hold(self, broken: Sequence[Broken], room: int, posed: Callable[[float], Posed], give: float = 0.0) -> bool:
        """Some of the contacts that are off most are held; of one that is held already and looks elsewhere by now, the
        way. Whether there were any."""
        is_new = False
        others = []
        for one in broken:
            against = self._movable(one.against)
            same = (one.frame, (one.vertex,), against)
            own = [k for k, row in enumerate(self._held) if (row.frame, row.vertices, row.against) == same]
            if any(abs(float(self._held[k].direction @ one.direction)) > _TURNED for k in own):
                continue
            if own and one.from_one_side:
                self._held[own[0]] = self._contact(one, posed, give)
                is_new = True
            elif not self.why_not((one.vertex,), self._close):
                others.append(one)
        for one in choose_worst(others, lambda one: self._rest[one.vertex], self.radius, room):
            self._held.append(self._contact(one, posed, give))
            is_new = True
        return is_new

    def _hold_entered(self, contacts: Contacts, posed: Callable[[float], Posed], longest: float) -> bool:
        """Holds some of what runs into other parts of the body. Whether there was any."""
        entered = []
        for frame in sorted(self._pulled_at):
            shape = posed(frame).shape
            entered += self._entered(contacts, frame, self.frame(frame, shape) - shape, longest)
        room = min(_AT_ONCE, _MOST_ROWS[contacts.kind] // 2 - len(self._held))
        return room > 0 and self._hold(entered, room, posed)

    def _touching(
        self,
        contacts: Contacts,
        frames: Sequence[float],
        posed: Callable[[float], Posed],
        pulled: npt.NDArray[np.bool_],
    ) -> list[_Row]:
        """All contacts of the motion, as rows that keep them: some of each frame, of so many frames as there is room
        for."""
        found = {frame: contacts.touching(frame, _EACH, pulled, self._is_one) for frame in frames}
        touched = [frame for frame in frames if found[frame]]
        stride = max(1, math.ceil(sum(map(len, found.values())) / _MOST_AT_ONCE))
        return [
            self._contact(one, posed, _STIFF, posed(frame).shape)
            for frame in touched[::stride]
            for one in found[frame]
            if not self.why_not((one.vertex,), self._close)
        ]

    def _push(self) -> None:
        """Contacts that give push harder where they are still off, and less where they push too far."""
        for row in self._held:
            _, point = self._weights_of(row)
            off = float((row.goal - point @ self.frame(row.frame, row.posed.shape)) @ row.direction)
            row.pushed = max(row.pushed + off, 0.0) if row.is_bound else row.pushed + off
            row.target = row.goal + row.pushed * row.direction

    def _broken(
        self,
        contacts: Contacts,
        frame: float,
        longest: float,
        posed: Callable[[float], Posed],
        pulled: npt.NDArray[np.bool_],
    ) -> tuple[list[Broken], float]:
        """The contacts of a frame that are off, and how far anything near them is moved."""
        near, shape = contacts.near(frame, 2.0 * longest), posed(frame).shape
        way = self.frame(frame, shape) - shape
        # Where the edit does nearly nothing, nobody looks what touches.
        own = contacts.own(frame, self._is_one) if np.abs(way).max() > _SLIPS * longest else None
        broken: list[Broken] = []
        farthest = 0.0
        if len(near.vertices):
            ways = self._ways(near.vertices, way)
            farthest = float(np.linalg.norm(ways, axis=1).max())
            broken += contacts.broken(frame, near, ways, pulled[near.vertices], _CLEAR * longest)
        if own is not None:
            ways, other = self._ways(own.vertices, way), self._ways(own.against, way)
            farthest = max(farthest, float(np.linalg.norm(ways, axis=1).max()))
            broken += contacts.broken_own(frame, own, ways - other, pulled[own.vertices] | pulled[own.against])
        broken += self._entered(contacts, frame, way, longest)
        return broken, farthest

    def _entered(self, contacts: Contacts, frame: float, way: Floats, longest: float) -> list[Broken]:
        """What of a body runs into other parts of it by its carrier's way, on a frame where it is pulled."""
        if frame not in self._pulled_at or self.carrier.cells.shape[1] == 3:
            return []
        vertices = np.arange(len(self.carrier.binding), dtype=np.int32)
        return contacts.entered(frame, self._ways(vertices, way), self._is_one, _CLEAR * longest)

    def _ways(self, vertices: Ints, way: Floats) -> Floats:
        """How far vertices (k, 3) of the surface go where the carrier goes so far (n, 3)."""
        binding, weights = self.carrier.cells[self.carrier.binding[vertices]], self.carrier.weights[vertices]
        ways: Floats = np.einsum("ki,kia->ka", weights, way[binding])
        ways[(weights * (self.body.fixed[binding] == 0)).sum(axis=1) < _ABLE] = 0.0
        return ways

    def _contact(self, one: Broken, posed: Callable[[float], Posed], give: float, shape: Floats | None = None) -> _Row:
        """A row that takes back what the present edit, or what leads to a `shape`, does to a contact."""
        moment = posed(one.frame)
        moved = self.frame(one.frame, moment.shape) if shape is None else shape
        nothing = np.zeros(3)
        what = (-1, (one.vertex,), self._close, one.frame, moment, nothing, nothing, nothing, 0.0)
        row = _Row(*what, direction=one.direction, is_bound=one.from_one_side, give=give)
        row.against = self._movable(one.against)
        _, point = self._weights_of(row)
        row.start = row.goal = row.target = point @ moved + one.amount * one.direction
        return row

    def _movable(self, vertex: int) -> tuple[int, ...]:
        """A vertex, if it can be moved."""
        return (vertex,) if vertex >= 0 and not self.why_not((vertex,), self._close) else ()

    def _is_one(self, vertex: int, other: int) -> bool:
        """Whether the carrier moves two vertices so much alike that nothing between them can be asked for."""
        if not (self._movable(vertex) and self._movable(other)):
            return False
        apart = self._weights((vertex,), self._close)[0] - self._weights((other,), self._close)[0]
        return float(np.abs(apart).sum()) < _ALIKE

    def frame(self, frame: float, shown: Floats) -> Floats:
        """The edited shape (n, 3) of a frame that is shown so; itself where nothing is edited."""
        if self._is_none:
            return shown
        result = np.empty_like(shown)
        self._native.frame(frame / self.frame_rate, np.ascontiguousarray(shown), result)
        return result

    def why_not(self, vertices: tuple[int, ...], radius: float) -> str:
        """Why vertices cannot be pulled, or ""."""
        try:
            self._weights(vertices, radius)
        except BadInput as error:
            return str(error)
        return ""

    def turn_at(self, vertices: tuple[int, ...], radius: float, shown: Floats) -> Floats:
        """The rotation (3, 3) of the flesh around vertices of a shape that is shown so."""
        return self._turn(self._weights(vertices, radius)[0], shown)

    def _settings(self, edits: Edits, period: float) -> dict[str, Any]:
        settings: dict[str, Any] = {
            "drag": self.body.drag, "damping": self.body.damping, "wiggle": edits.wiggle, "spread": edits.spread,
            "period": period,
        }  # fmt: skip
        if edits.range is not None and period == 0.0:
            settings |= {"begin": edits.range[0] / self.frame_rate, "end": edits.range[1] / self.frame_rate}
        return settings

    def _rows(self, number: int, handle: Handle, posed: Callable[[float], Posed]) -> list[_Row]:
        rows = []
        frames = handle.frames
        for number_of, frame in enumerate(frames):
            moment = posed(frame)
            patch, point = self._weights(handle.vertices, handle.radius)
            at = moment.places(moment.shape, handle.vertices).mean(axis=0)
            pulled = handle.path[number_of] if len(handle.path) == len(frames) else handle.by
            by = np.array(pulled, np.float64)
            if handle.axes == "place":
                by = by - at
            elif handle.axes == "body":
                by = self._turn(patch, moment.shape) @ by
            by = handle.influence * by
            wanted = float(np.linalg.norm(by))
            beyond = max(0.0, wanted - _FARTHEST * self.size)
            by *= 1.0 - beyond / wanted if beyond else 1.0
            what = (number, handle.vertices, handle.radius, frame, moment)
            rows.append(_Row(*what, at, at + by, point @ moment.shape + by, beyond))
        return rows

    def _mean(self, row: _Row) -> Floats:
        moved = self.frame(row.frame, row.posed.shape)
        mean: Floats = row.posed.places(moved, row.vertices).mean(axis=0)
        return mean

    def _turn(self, patch: Floats, shown: Floats) -> Floats:
        """The rotation (3, 3) of the flesh around a handle."""
        around = self.carrier.cells[(patch[self.carrier.cells] > 0.0).any(axis=1)]
        rest, now = frames_of(self.carrier.vertices[around]), frames_of(shown[around])
        gradients = now @ np.linalg.inv(rest)
        left, _, right = np.linalg.svd((patch[around].sum(axis=1)[:, None, None] * gradients).sum(axis=0))
        left[:, 2] *= np.sign(np.linalg.det(left @ right))
        turn: Floats = left @ right
        return turn

    def _weights_of(self, row: _Row) -> tuple[Floats, Floats]:
        patch, point = self._weights(row.vertices, row.radius)
        if not row.against:
            return patch, point
        other = self._weights(row.against, row.radius)
        return patch - other[0], point - other[1]

    def _weights(self, vertices: tuple[int, ...], radius: float) -> tuple[Floats, Floats]:
        """What is pulled of the carrier (n,), and what is to land (n,)."""
        key = (vertices, radius)
        if key not in self._patches:
            if max(vertices) >= len(self.carrier.binding):
                raise BadInput(f"Vertex {max(vertices)} is not there: the mesh has {len(self.carrier.binding)}.")
            point = np.zeros(len(self.carrier.vertices))
            patch = np.zeros(len(self.carrier.vertices))
            for vertex in vertices:
                cell, weights = self.carrier.cells[self.carrier.binding[vertex]], self.carrier.weights[vertex]
                np.add.at(point, cell, weights / len(vertices))
                patch += self._patch(cell, weights @ self.carrier.vertices[cell], radius or self.radius)
            share = float(point[self.body.fixed == 0].sum())
            if not patch.any() or share < _HANGS:
                # What hangs on little would have to throw that about to land.
                how = " hangs nearly all on what" if patch.any() and share > 0.0 else ""
                raise BadInput(
                    f"Vertex {vertices[0]}{how} follows the animation exactly, so it cannot be pulled: free it, or "
                    "pull another one."
                )
            self._patches[key] = (patch / patch.sum(), point)
        return self._patches[key]

    def _patch(self, cell: Ints, centre: Floats, radius: float) -> Floats:
        """What is around a point that is connected there, the less the farther."""
        distance = ((self.carrier.vertices - centre) ** 2).sum(axis=1)
        radius = max(radius, 1.01 * float(np.sqrt(distance[cell].min())))
        near = distance < radius**2
        reached = np.zeros(len(near), bool)
        reached[cell] = near[cell]
        cells = self.carrier.cells[near[self.carrier.cells].any(axis=1)]
        while True:
            grown = reached.copy()
            grown[cells[reached[cells].any(axis=1)]] = True
            grown &= near
            if (grown == reached).all():
                break
            reached = grown
        weights = (1.0 - distance / radius**2) ** 2 * self.body.mass
        found: Floats = np.where(reached & (self.body.fixed == 0), weights, 0.0)
        return found
