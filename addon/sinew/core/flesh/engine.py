"""The engine of a bake of flesh: fits a cage to every sample, simulates it and shows the surface on it, from store to
store. A state needs the fit of one sample ahead, and the frames by which a cut is told."""

from __future__ import annotations

import concurrent.futures
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..bake import contact
from ..bake.beginning import Beginning, lead
from ..bake.course import Around, Course, Sources
from ..bake.method import Show
from ..bake.move import Move
from ..bake.report import numbers_of, played_numbers, root_mean
from ..bake.results import added, carry, local, mean_square, world
from ..bake.shot import Shot
from ..bake.store import Store
from ..bake.worn import Worn
from .outer import Met, Outer
from .painted import paint_of
from .report import free_tets, inside_out, sound, summary

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_MET = 1e-6  # of size: what is no farther from where it was moves as it did
_STANDING = 2.0  # times Settle: so long a body stands on what it meets before it begins


@dataclass(frozen=True)
class FleshNumbers(contact.CollisionNumbers):
    """What is known of a finished sample of flesh."""

    follow_max: float = 0.0  # how far what follows exactly is off
    free_square: float = 0.0  # mean of the squares of what is added where the weight is below a half
    fit_rms: float = 0.0  # of the cage from the surface, metres
    fit_max: float = 0.0
    fit_rounds: float = 0.0
    rounds: float = 0.0
    substeps: float = 0.0
    fallbacks: float = 0.0  # steps retaken by implicit Euler
    unsettled: float = 0.0  # a settled start that was not found
    repaired: float = 0.0  # tets drawn back to their sound fitted shape
    fit_inverted: float = 0.0  # tets that are inside out
    fit_inverted_free: float = 0.0  # those of them that flesh may move
    inverted: float = 0.0
    inverted_only: float = 0.0  # where the fit has them sound


@dataclass(frozen=True)
class StoredState:
    """A state of the simulation as read back from the store: cage (n, 3), metres and m/s."""

    positions: Floats
    velocities: Floats
    contact: bytes = b""


class Classes(NamedTuple):
    """The classes that do the work: they need the native module."""

    enricher: Any
    cage: Any
    shown: Any
    edits: Any
    monitor: Any


def load_classes() -> Classes:
    """A sentence where the native module is missing."""
    from ..base.native import Monitor
    from ..cage.cage import Cage
    from .edited import FleshEdits
    from .enricher import Enricher
    from .show import Shown

    return Classes(Enricher, Cage, Shown, FleshEdits, Monitor)


def version() -> str:
    from ..base.native import module

    return str(getattr(module, "__version__", ""))


def stored_cage(store: Store, cage_class: Any) -> Any:
    cage = cage_class(*(store.constant(f"cage_{name}") for name in ("vertices", "tets", "binding", "weights")))
    cage.note = str(store.manifest.report.get("cage_note", ""))
    cage.safe_vertices = store.constant("cage_safe") if store.manifest.counts["safe"] else None
    return cage


def make_engine(shot: Shot, store: Store | None, monitor: Any) -> FleshEngine:
    """With the cage of a bake, if there is one."""
    classes, paint = load_classes(), paint_of(shot)
    enricher = classes.enricher(
        shot.rest, shot.triangles, paint.follow, shot.settings, shot.sample_rate, gravity=shot.gravity,
        cage=None if store is None else stored_cage(store, classes.cage), safe=paint.safe, parts=paint.parts,
        regions=paint.regions, after=paint.masks.after, monitor=monitor,
    )  # fmt: skip
    return FleshEngine(shot, enricher)


def make_show(shot: Shot, store: Store) -> FleshShow:
    """What shows a finished bake: it needs neither fit nor simulation."""
    classes, paint = load_classes(), paint_of(shot)
    shown = classes.shown(
        stored_cage(store, classes.cage), shot.rest, shot.triangles, paint.follow, shot.settings,
        after=paint.masks.after, parts=paint.parts,
        cage_follow=store.constant("cage_follow") if store.manifest.counts["inside"] else None,
    )  # fmt: skip
    return FleshShow(shot, shown)


class FleshShow(Show):
    """The surface on the simulated cage, edited, and the passengers that it carries."""

    def __init__(self, shot: Shot, shown: Any) -> None:
        """`shown`: a Shown."""
        self._shot, self.shown, self._settings = shot, shown, shot.settings
        self._paint = paint_of(shot)
        self._carriers: list[Any] = []
        self._edited: Any = None  # a StoredEdits, once there are edits

    def use(self, settings: Any) -> None:
        self._settings = self.shown.settings = settings

    def edited(self, store: Store) -> Any:
        """The edits of these settings, on a bake: a StoredEdits."""
        if self._edited is None:
            self._edited = load_classes().edits(store, self._shot, self.shown)
        self._edited.is_live, self._edited.look = self.is_live, self.look
        self._edited.use(store, self._settings)
        return self._edited

    def show(self, store: Store, index: int) -> list[npt.NDArray[np.float32]]:
        fitted = store.read("fitted", index)
        amount = float(store.read("amount", index)[0, 0]) * self._settings.amount
        moved = self.shown.moved(fitted, store.read("simulated", index), amount)
        edits = self.edited(store) if self._settings.edits else None
        edited = moved if edits is None else edits.frame(index, moved)
        if edits is not None and edited is not moved:
            surface, moved = edits.surface(index, edited), edited
        else:
            limit = self._settings.maximum_offset * self.shown.size
            surface = self.shown.drawn(fitted, moved, world(store, index), limit)
        return [local(store, index, surface), *self._carry(store, index, fitted, moved)]

    def measure(self, store: Store, index: int, offsets: Floats) -> dict[str, float]:
        animated = "follow_now" in store.own_inputs
        follow = store.read("follow_now", index) if animated else self._paint.follow
        seen = self._paint.seen
        return {
            **added(offsets[seen]),
            "follow_max": float(offsets[follow >= 1.0].max(initial=0.0)),
            "free_square": mean_square(offsets[seen & (follow < 0.5)]),
        }

    def about(self, store: Store, size: float) -> dict[str, Any]:
        followed = max((numbers.follow_max for numbers in numbers_of(store)), default=0.0)
        free_rms = root_mean([numbers.free_square for numbers in played_numbers(self._shot, store)])
        return {
            "follow_error": {"max": followed, "max_relative": followed / size},
            "added_motion": {
                "free_rms": free_rms,  # of vertices with a weight below a half; the others are of all
                "free_rms_relative": free_rms / size,
                "free_vertices": int((self._paint.seen & (self._paint.follow < 0.5)).sum()),
            },
            "edits": self.edited(store).about(size) if self._settings.edits else None,
        }

    def _carry(self, store: Store, index: int, fitted: Floats, moved: Floats) -> list[npt.NDArray[np.float32]]:
        """The passengers on the cage that is shown."""
        if self._shot.passengers and not self._carriers:
            first = store.read("fitted", 0)
            self._carriers = [self.shown.carrier(passenger, first) for passenger in self._shot.passengers]
        how = self._settings.interpolation
        return carry(store, index, [partial(one.surface, fitted, moved, interpolation=how) for one in self._carriers])


class FleshEngine(FleshShow):
    """Over an Enricher, which works on arrays."""

    preparing = "fitting"

    def __init__(self, shot: Shot, enricher: Any) -> None:
        super().__init__(shot, enricher.shown)
        self._enricher = enricher
        self.size: float = enricher.size
        self._fits: dict[int, FleshNumbers] = {}  # numbers of the fits of this run
        self._pool = concurrent.futures.ThreadPoolExecutor(1, "sinew fit")
        self._coming: tuple[int, Any] | None = None  # the sample that is being fitted, and its future
        self._free: Array | None = None
        self._worn = Worn.of(shot)
        sources = Sources(_fitted, self._outer, self._stored_state, self._stand)
        self._course = Course(shot, enricher, enricher.seen, sources, _start(shot.settings))

    def counts(self) -> dict[str, int]:
        cage = self._enricher.cage
        return {
            "cage_vertices": len(cage.vertices),
            "tets": len(cage.tets),
            "parts": int(self._paint.parts is not None),
            "safe": int(cage.safe_vertices is not None),
            "inside": int(self._enricher.cage_follow is not None),
            "fields": self._paint.fields,
            "animated": int(self._shot.settings.follow_animated and not self._shot.settings.free_body),
            **({} if self._paint.collided is None else self._paint.collided.counts()),
        }

    def constants(self) -> dict[str, Array]:
        cage, parts = self._enricher.cage, self._paint.parts
        constants: dict[str, Array] = {"follow": self._paint.follow}
        constants |= {f"cage_{name}": getattr(cage, name) for name in ("vertices", "tets", "binding", "weights")}
        if parts is not None:
            constants |= {"tracked": parts.tracked, "rigid": parts.rigid}
        if cage.safe_vertices is not None:
            constants["cage_safe"] = cage.safe_vertices
        if self._enricher.cage_follow is not None:
            constants["cage_follow"] = self._enricher.cage_follow
        if self._paint.collided is not None and self._paint.collided.obstacles.count:
            constants |= self._paint.collided.obstacles.constants()
        return constants

    def notes(self) -> dict[str, Any]:
        return {"cage_note": self._enricher.cage.note}

    def prepare(self, store: Store, index: int, available: int) -> int:
        """Fits a sample, from the two before it; the next one is fitted meanwhile, beside the simulation."""
        fit = self._fit(store, index)
        store.write("fitted", index, fit.positions)
        self._fits[index] = _fit_numbers(fit)
        if index + 1 < available:
            following, before = world(store, index + 1), store.read("fitted", index - 1) if index > 0 else None
            coming = self._pool.submit(self._enricher.fit, following, fit.positions, before, aside=True)
            self._coming = (index + 1, coming)
        return 1

    def _fit(self, store: Store, index: int) -> Any:
        """From the same files as the one that is coming, so with the same bits."""
        (coming, future), self._coming = self._coming or (-1, None), None
        fit = future.result() if future is not None else None  # it is done before another begins: they share their room
        if coming == index:
            return fit
        guess, earlier = (store.read("fitted", i) if i >= 0 else None for i in (index - 1, index - 2))
        return self._enricher.fit(world(store, index), guess, earlier)

    def begin(self, store: Store, index: int, pulse: Callable[[], None]) -> int:
        self._collide(store)
        return self._course.begin(store, index, pulse)

    def _collide(self, store: Store) -> None:
        """What the body meets, if it does."""
        read, settings, parts = self._paint.collided, self._shot.settings, self._paint.parts
        if read is None or not settings.simulate or self._enricher.body is not None:
            return
        first = contact.obstacles_at(store, 0)
        whole = None if parts is None or parts.is_plain else parts.tracked & (parts.rigid < 0)
        worn, rest, bound = self._worn, self._shot.rest, {}
        if worn.added:
            carriers = [self.shown.carrier(one, store.read("fitted", 0)) for one in worn.passengers.values()]
            self._enricher.worn, bound = carriers, {"cage": self.shown.cage_with(carriers).native}
            rest = np.concatenate([rest, *(one.rest for one in carriers)])
            whole = None if whole is None else np.concatenate([whole, np.ones(worn.added, bool)])
        self._enricher.body = contact.Body(
            settings, rest, worn.triangles(self._shot.triangles), self.size, worn.painted(read), first, whole,
            carried=self._carried_along(), bound=bound,
        )  # fmt: skip

    def _carried_along(self) -> Any:
        """Triangles (k, 3) that go as the input does and that flesh does not pass through; None: there are none."""
        return None

    def _met(self, store: Store, around: Around) -> Met | None:
        """What the body meets on a way."""
        if self._enricher.body is None:
            return None
        surfaces = tuple(None if i is None else self._worn.surface(partial(world, store, i)) for i in around)
        ends = tuple(contact.obstacles_at(store, i) for i in around[1:3])
        active = contact.is_active(store, *around[1:3])
        return Met((surfaces[0], surfaces[1], surfaces[2], surfaces[3]), (ends[0], ends[1]), active)

    def _stand(self, store: Store, first: int, settled: Any, is_wanted: Callable[[], bool]) -> Beginning | None:
        """Where flesh that has settled runs through something: settled by standing still in the first pose on it."""
        pose, sample = _fitted(store, first), contact.obstacles_at(store, first)
        surface = self._worn.surface(partial(world, store, first))
        if not self._enricher.runs_through(pose, settled.positions, surface, sample):
            return None
        still = self._outer(store, (None, first, first, None))
        outer = dataclasses.replace(still, met=Met((surface,) * 4, (sample, sample)))
        count = max(round(_STANDING * self._shot.settings.settle * self._shot.sample_rate), 4)

        def follows(index: int) -> Floats:
            return _fitted(store, first + index)

        return lead(self._enricher, lambda i: pose, follows, lambda i: outer, count, is_wanted)

    def move(self, store: Store, index: int) -> Move | None:
        return self._course.move(store, index)

    def advance(self, store: Store, index: int, moved: Any) -> FleshNumbers:
        arrived = self._course.advance(store, index, moved)
        state, step, about, positions = arrived.state, arrived.step, arrived.about, arrived.positions
        if not self._shot.settings.simulate:
            about.pop("restarted", None)
        points: contact.Points | None = None
        if step is not None:
            about |= {name: float(getattr(step, name)) for name in ("rounds", "substeps", "repaired", "fallbacks")}
            if step.touched is not None:
                about |= contact.numbers_of(step.touched)
                points = contact.points_of(step.touched, arrived.plan.ride)
        if arrived.repeats:
            # The same to the bit, fit included: detail asks where a cage is exactly the fitted one.
            store.write("fitted", index, store.read("fitted", 0))
            positions = store.read("simulated", 0)
        store.write("simulated", index, positions)
        store.write("velocity", index, state.velocities)
        if self._enricher.body is not None:
            store.write_piece(contact.STATE, index, state.contact)
            store.write_piece(contact.POINTS, index, b"" if points is None else points.packed())
        if index not in self._fits:
            # The fit of a kept sample whose state must be computed anew: its numbers come with it, its bits stay.
            self._fits[index] = _fit_numbers(self._fit(store, index))
        if self._free is None:
            self._free = free_tets(self._enricher)
        cage, fit = self._enricher.cage, store.read("fitted", index)
        fit_inverted, inverted = inside_out(fit, cage.tets), inside_out(positions, cage.tets)
        return dataclasses.replace(
            self._fits[index],
            **about,
            fit_inverted=float(fit_inverted.sum()),
            fit_inverted_free=float((fit_inverted & self._free).sum()),
            inverted=float(inverted.sum()),
            inverted_only=float((inverted & sound(fit, cage.vertices, cage.tets)).sum()),
        )

    def has_met(self, store: Store, old: Store, index: int) -> bool:
        most = _MET * self.size
        within = {"fitted": most, "simulated": most, "velocity": most * self._shot.sample_rate}
        return all(np.abs(store.read(name, index) - old.read(name, index)).max() <= by for name, by in within.items())

    def summary(self, store: Store) -> dict[str, Any]:
        return summary(self._shot, store, self._enricher)

    def _outer(self, store: Store, around: Around) -> Outer:
        """What acts beside the input on a way."""
        names = [name for name in ("fields", "follow_now") if name in store.own_inputs]
        read = {name: tuple(store.read(name, i) for i in around[1:3]) for name in names}
        return Outer(read.get("fields"), read.get("follow_now"), self._met(store, around))

    def _stored_state(self, store: Store, index: int) -> StoredState:
        kept = store.read_piece(contact.STATE, index) if self._enricher.body is not None else b""
        return StoredState(store.read("simulated", index), store.read("velocity", index), kept)


def _start(settings: Any) -> str:
    """How it begins: what nothing holds has no rest in the air, and what is only fitted is not led."""
    can_begin = not settings.free_body and (settings.simulate or settings.start != "rest")
    return str(settings.start) if can_begin else "moving"


def _fitted(store: Store, index: int) -> Floats:
    return store.read("fitted", index)


def _fit_numbers(fit: Any) -> FleshNumbers:
    return FleshNumbers(fit_rms=fit.rms, fit_max=fit.max, fit_rounds=fit.rounds)

