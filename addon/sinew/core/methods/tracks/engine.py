"""The engine of a bake of cloth: simulates the shell along its input, from store to store."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ...bake import contact, told_contact, told_edits
from ...bake.beginning import Beginning, lead
from ...bake.course import Around, Course, Sources
from ...bake.method import Show, Told
from ...bake.move import Move
from ...bake.report import numbers_of
from ...bake.results import added, carry, local, world
from ...bake.shot import Shot
from ...bake.store import Store
from ...geometry.connected import connected_pieces
from .carry import Carrier
from .guide import make_averages
from .material import fold_length
from .painted import paint_of

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_STANDING = 2.0  # times Settle: so long cloth stands on what it meets before it begins
_COARSE = 3.0  # edges of so many folds' length are seen


@dataclass(frozen=True)
class ClothNumbers(contact.CollisionNumbers):
    """What is known of a finished sample of cloth."""

    follow_max: float = 0.0  # how far what is pinned is off
    residual: float = 0.0  # how far a mean that holds is from where the guide has it, metres
    lagging: float = 0.0  # means that pull with all they may
    lag: float = 0.0  # how far they are off, metres
    rounds: float = 0.0
    substeps: float = 0.0
    fallbacks: float = 0.0  # steps retaken by implicit Euler
    unconverged: float = 0.0
    unsettled: float = 0.0  # a settled start that was not found


def make_engine(shot: Shot, store: Store | None, monitor: Any) -> ClothEngine:
    from .cloth import Cloth  # it needs the native module

    paint = paint_of(shot)
    averages = make_averages(
        shot.rest, shot.triangles, paint.regions, paint.groups, paint.hats, turns=shot.settings.region_turns,
        pointwise=shot.settings.guide_points, paired=paint.paired,
    )  # fmt: skip
    cloth = Cloth(
        shot.rest if paint.undeformed is None else paint.undeformed, shot.triangles, paint.follow, shot.settings,
        shot.sample_rate, averages=averages, material=paint.material, warp=paint.warp, gravity=shot.gravity,
        monitor=monitor,
    )  # fmt: skip
    return ClothEngine(shot, cloth)


class ClothShow(Show):
    """The cloth as it was simulated, and what rides on it."""

    def __init__(self, shot: Shot) -> None:
        self._shot, self._settings = shot, shot.settings
        self._follow = paint_of(shot).follow
        self._carriers: list[Carrier] = []
        self._edited: Any = None  # a ClothEdits, once there are edits

    def use(self, settings: Any) -> None:
        self._settings = settings

    def edited(self, store: Store) -> Any:
        """The edits of these settings, on a bake: a ClothEdits."""
        if self._edited is None:
            from .edited import ClothEdits  # it needs the native module

            self._edited = ClothEdits(store, self._shot)
        self._edited.is_live, self._edited.look = self.is_live, self.look
        self._edited.use(store, self._settings)
        return self._edited

    def show(self, store: Store, index: int) -> list[npt.NDArray[np.float32]]:
        given, amount = world(store, index), float(store.read("amount", index)[0, 0]) * self._settings.amount
        shown = given + amount * (store.read("simulated", index) - given)
        if self._settings.edits:
            shown = self.edited(store).frame(index, shown)
        if self._shot.passengers and not self._carriers:
            first = world(store, 0)
            self._carriers = [Carrier(one, first, self._shot.triangles) for one in self._shot.passengers]
        carried = carry(store, index, [partial(carrier.surface, given, shown) for carrier in self._carriers])
        return [local(store, index, shown), *carried]

    def measure(self, store: Store, index: int, offsets: Floats) -> dict[str, float]:
        return {**added(offsets), "follow_max": float(offsets[self._follow >= 1.0].max(initial=0.0))}

    def about(self, store: Store, size: float) -> dict[str, Any]:
        followed = max((numbers.follow_max for numbers in numbers_of(store)), default=0.0)
        return {
            "follow_error": {"max": followed, "max_relative": followed / size},
            "edits": self.edited(store).about(size) if self._settings.edits else None,
        }


def make_show(shot: Shot, store: Store) -> ClothShow:
    return ClothShow(shot)


class ClothEngine(ClothShow):
    preparing = "preparing"

    def __init__(self, shot: Shot, cloth: Any) -> None:
        super().__init__(shot)
        self._cloth, self.size = cloth, float(cloth.size)
        start = "" if shot.settings.simulate else "moving"
        sources = Sources(world, self._acting, self._stored_state, self._stand)
        self._course = Course(shot, cloth, cloth.areas, sources, start)

    def counts(self) -> dict[str, int]:
        rows = self._cloth.rows
        return {
            "rows": rows.count,
            "row_entries": len(rows.points),
            "inner": self._cloth.inner,
            "fields": paint_of(self._shot).fields,
            "reshaped": int(paint_of(self._shot).reshaped),
            "paired": len(paint_of(self._shot).groups or {}) if paint_of(self._shot).paired else 0,
            **({} if self._collided is None else self._collided.counts()),
        }

    def constants(self) -> dict[str, Array]:
        rows = self._cloth.rows
        named = {f"row_{name}": getattr(rows, name) for name in ("start", "points", "weights")}
        met = self._collided.obstacles if self._collided is not None else None
        return {"follow": self._follow, **named, **(met.constants() if met is not None and met.count else {})}

    def notes(self) -> dict[str, Any]:
        return {}

    def prepare(self, store: Store, index: int, available: int) -> int:
        return 1  # the input is what it follows

    @property
    def _collided(self) -> contact.Collided | None:
        return paint_of(self._shot).collided

    def begin(self, store: Store, index: int, pulse: Callable[[], None]) -> int:
        if self._collided is not None and self._cloth.body is None and self._shot.settings.simulate:
            self._cloth.collide(self._collided, contact.obstacles_at(store, 0))
        return self._course.begin(store, index, pulse)

    def _stand(self, store: Store, first: int, settled: Any, is_wanted: Callable[[], bool]) -> Beginning | None:
        """Cloth that meets things settles on them: led there from its undeformed shape, and standing for a while."""
        if self._cloth.body is None:
            return None
        pose, rate = world(store, first), self._shot.sample_rate
        outer = self._acting(store, (None, first, first, None))
        came, stands = max(round(rate), 1), round(_STANDING * self._shot.settings.calm * rate)
        way = self._cloth.approach(pose, pose, came)
        acting = way.acting(outer, outer)
        return lead(self._cloth, way.at, lambda i: world(store, first + i), acting, came + stands, is_wanted)

    def move(self, store: Store, index: int) -> Move | None:
        return self._course.move(store, index)

    def advance(self, store: Store, index: int, moved: Any) -> ClothNumbers:
        arrived = self._course.advance(store, index, moved)
        state, positions = arrived.state, arrived.positions
        if arrived.repeats:
            positions = store.read("simulated", 0)
        store.write("simulated", index, positions)
        store.write("velocity", index, state.velocities)
        store.write("inner", index, state.inner)
        step, numbers, points = arrived.step, arrived.about, b""
        if step is not None:
            names = ("residual", "lagging", "lag", "rounds", "substeps", "fallbacks", "unconverged")
            numbers = numbers | {name: float(getattr(step, name)) for name in names}
        if step is not None and step.touched is not None:
            numbers = numbers | contact.numbers_of(step.touched)
            points = self._cloth.points(step.touched).packed()
        if self._cloth.body is not None:
            store.write_piece(contact.STATE, index, state.contact)
            store.write_piece(contact.POINTS, index, points)
        return dataclasses.replace(ClothNumbers(), **numbers)

    def _acting(self, store: Store, around: Around) -> Any:
        """What acts beside the input on a way."""
        from .cloth import Acting

        before, begin, end, after = around

        def read(name: str, *samples: int | None) -> Any:
            if name not in store.own_inputs:
                return None
            return tuple(store.read(name, end if index is None else index) for index in samples)

        acting = Acting(
            read("fields", begin, end), shapes=read("undeformed", begin, end),
            paired=read("paired", before, begin, end, after),
        )  # fmt: skip
        if self._cloth.body is None:
            return acting
        ends = (contact.obstacles_at(store, begin), contact.obstacles_at(store, end))
        return dataclasses.replace(acting, ends=ends, collides=contact.is_active(store, begin, end))

    def _stored_state(self, store: Store, index: int) -> Any:
        from .cloth import State

        pressed = store.read_piece(contact.STATE, index) if self._cloth.body is not None else b""
        positions, velocities, inner = (store.read(name, index) for name in ("simulated", "velocity", "inner"))
        return State(positions, velocities, inner, pressed)

    def summary(self, store: Store) -> dict[str, Any]:
        marks, cloth = numbers_of(store), self._cloth
        off = max((numbers.residual for numbers in marks), default=0.0)
        touched = told_contact.summary(self._shot, store)
        let_go = [] if touched is None else told_contact.notes(touched, self._shot.settings)
        return {
            "contact": touched,
            "cloth": {
                "regions": cloth.rows.count,
                "followed_vertices": cloth.about["followed_vertices"],
                "mass": cloth.about["mass"],
                "substeps": cloth.about["substeps"],
                "residual_relative": off / self.size,
                "lagging": int(max((numbers.lagging for numbers in marks), default=0)),
                "lag_relative": max((numbers.lag for numbers in marks), default=0.0) / self.size,
                "rounds": sum(numbers.rounds for numbers in marks) / max(1, len(marks)),
            },
            "warnings": [*self._warnings(marks), *let_go],
        }

    def _warnings(self, marks: Any) -> list[str]:
        found = []
        repeated = self._cloth.about["dependent_rows"]
        if repeated:
            names = ", ".join(self._cloth.averages.names[row] for row in repeated[:5])
            found.append(
                f"{names} {'follows' if len(repeated) == 1 else 'follow'} by what others hold already, or hold nothing "
                "that can move: left out of the averages."
            )
        if self._shot.settings.simulate:
            found += self._holds()
        edge, fold = self._cloth.loose_edge, fold_length(self._shot.settings, self._shot.gravity)
        if self._shot.settings.simulate and edge > _COARSE * fold:
            found.append(
                f"Edges of the cloth are {100 * edge:.1f} cm long and folds of this material {100 * fold:.1f} cm: it "
                "crumples along its edges. Make a finer mesh by Flesh Out, or raise Wrinkle Size."
            )
        if any(numbers.unsettled for numbers in marks):
            found.append("The cloth found no rest in the first pose and starts as near to it as it came.")
        return found


    def _holds(self) -> list[str]:
        """What of the cloth nothing holds, or whether all of it is pinned."""
        triangles = self._cloth.triangles
        used, corners = np.unique(triangles, return_inverse=True)
        corners = corners.reshape(-1, 3)
        if (self._follow[used] >= 1.0).all():
            return ["All of the cloth is pinned, so it only follows its animation: paint Pin Group 0 where it hangs."]
        held = self._follow > 0.0
        held[self._cloth.rows.points] = True
        pieces = connected_pieces(len(used), np.concatenate([corners[:, :2], corners[:, 1:]]))
        is_held = np.bincount(pieces, held[used]) > 0.0
        if not is_held.any():
            return ["Nothing holds the cloth, so it falls: paint a Pin Group, or set Regions."]
        if not is_held.all():
            loose = f"{(~is_held).sum()} of the {len(is_held)} pieces of the cloth"
            return [f"Nothing holds {loose}, so that they fall: paint them in the Pin Group, or set Regions."]
        return []


def tell(report: Mapping[str, Any]) -> Told:
    cloth = report["cloth"]
    held = f"{cloth['regions']} averages held to {cloth['residual_relative']:.0e} of size" if cloth["regions"] else ""
    lags = f"{cloth['lagging']} of them at most lag by Most Pull, by up to {100 * cloth['lag_relative']:.2f} % of size"
    weighs = f"{cloth['mass']:.2f} kg, {cloth['substeps']} steps a sample"
    pinned = f"{cloth['followed_vertices']} vertices pinned, off by {percent_of(report['follow_error'])}"
    told = (*told_contact.lines(report.get("contact")), *told_edits.lines(report.get("edits")))
    if not report["settings"].get("simulate", True):  # it is only edited
        return Told("", told, told)
    lines = (*filter(None, (held, lags if cloth["lagging"] else "", weighs, pinned)), *told)
    return Told(f"{cloth['regions']} regions", lines, lines)


def percent_of(error: Mapping[str, float]) -> str:
    return f"{100 * error['max_relative']:.4f} % of size"
