"""Edit Motion on flesh: what resists the handles, and a mesh animation edited over arrays."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bake.edited import StoredEdits
from ..bake.results import world
from ..bake.shot import Shot
from ..bake.store import Store
from ..base.native import module
from ..cage.cage import Cage
from ..cage.safe import measure_filling
from ..edit.body import Body
from ..edit.contacts import Mesh, find_entered
from ..edit.editor import Editor
from ..edit.handles import Edits, Handle
from ..edit.motion import NOTHING_AROUND, EditedMotion, check_follow
from ..paint.weights import spread_over_cage
from .enricher import Enricher
from .painted import paint_of
from .report import inside_out
from .settings import Settings
from .show import Shown

Floats = npt.NDArray[np.float64]

_DEEP = 3.0  # edges: what is pulled deeper into other parts of the body is told by what is less deep beside it
# Damping as in the simulation: so much of it, of 2 at Jiggle, is inner.
_INNER = 1.5


def body_of(
    cage: Cage,
    rest: Floats,
    triangles: npt.NDArray[np.int32],
    areas: Floats,
    settings: Settings,
    size: float,
    follow: Floats,
    cage_follow: Floats | None = None,
    monitor: Any = None,
) -> Body:
    """What the flesh of a cage is made of, by Jiggle and Settle, where the follow weights leave it free."""
    young, mass, drive = np.empty(len(cage.tets)), np.empty(len(cage.vertices)), np.empty(len(cage.vertices))
    fixed = np.empty(len(cage.vertices), np.int32)
    fill, thickness = measure_filling(cage, rest, triangles, None, monitor)
    native = {name: getattr(settings, name) for name in module.Enrich.options if hasattr(settings, name)}
    native |= {"transition": settings.transition * size, "size": size, "gravity": (0.0, 0.0, 0.0)}
    paint: dict[str, Any] = {"follow": follow, "cage_follow": cage_follow, "fill": fill, "thickness": thickness}
    frequency = module.Enrich.material(cage.native, areas, native, paint, young, mass, drive, fixed, monitor)
    omega = 2.0 * math.pi * frequency
    ratio = math.log(20.0) / (omega * settings.settle)
    drag, damping = (2.0 - _INNER) * ratio * omega, _INNER * ratio / omega
    if settings.young > 0.0:
        drag, damping = settings.damping_mass, settings.damping_stiffness or damping
    return Body(
        mass, drive, fixed, drag, damping, frequency, young=young, poisson=settings.poisson, energy=settings.energy
    )


class Moment:
    """A frame that is edited: the input surface on its fitted cage, as the method shows it."""

    def __init__(
        self,
        cage: Cage,
        fitted: Floats,
        shown: Floats,
        sampled: Floats | None,
        interpolation: str,
        drawn_back: Floats | None = None,
    ) -> None:
        """`sampled` (t, 3) is None where the surface has no detail; `drawn_back` (t, 3): what the surface is shown off
        its cage."""
        self.shape, self._drawn_back = shown, drawn_back
        self._carried, self._fitted, self._sampled, self._how = cage, fitted, sampled, interpolation
        self._few: dict[tuple[int, ...], Cage] = {}

    def places(self, shape: Floats, vertices: Sequence[int]) -> Floats:
        chosen, whole = tuple(vertices), self._carried
        if chosen not in self._few:
            few = np.array(chosen)
            self._few[chosen] = Cage(whole.vertices, whole.tets, whole.binding[few], whole.weights[few])
        result = np.empty((len(chosen), 3))
        detail = None if self._sampled is None else np.ascontiguousarray(self._sampled[list(chosen)], np.float64)
        fitted, moved = np.ascontiguousarray(self._fitted), np.ascontiguousarray(shape)
        module.apply_detail(self._few[chosen].native, fitted, moved, detail, self._how, result)
        return result if self._drawn_back is None else result + self._drawn_back[list(chosen)]


class FleshEdits(StoredEdits):
    """On the cage as it is shown."""

    shown_by = ("amount", "follow_after", "maximum_offset")

    def __init__(self, store: Store, shot: Shot, shown: Shown) -> None:
        super().__init__(store, shot, shown.cage, shown.size)
        self._shown = shown

    def _plain(self, index: int, amount: float) -> Floats:
        store = self._store
        return self._shown.moved(store.read("fitted", index), store.read("simulated", index), amount)

    def _posed(self, index: int, shape: Floats) -> Moment:
        fitted = self._store.read("fitted", index)
        sampled = world(self._store, index) if self._settings.detail else None
        back = self._drawn_back(index)
        return Moment(self._shown.cage, fitted, shape, sampled, self._settings.interpolation, back)

    def _drawn(self, index: int, shape: Floats) -> Floats:
        drawn = self._shown.drawn(self._store.read("fitted", index), shape, world(self._store, index))
        back = self._drawn_back(index)
        return drawn if back is None else drawn + back

    def _drawn_back(self, index: int) -> Floats | None:
        """How far the surface without edits is drawn back from its cage (t, 3), by the largest offset; None: not."""
        limit = self._settings.maximum_offset * self.size
        if limit == 0.0 or not self._settings.detail:
            return None
        fitted, sampled, shape = self._store.read("fitted", index), world(self._store, index), self._shape_of(index)
        back: Floats = self._shown.drawn(fitted, shape, sampled, limit) - self._shown.drawn(fitted, shape, sampled)
        return back

    def _body(self, free: bool) -> Body:
        shot, shown = self._shot, self._shown
        paint = paint_of(shot)
        follow, inside = paint.follow, shown.cage_follow
        if free:
            follow, inside = np.zeros_like(follow), None
        body = body_of(shown.cage, shot.rest, shot.triangles, shown.areas, shot.settings, shown.size, follow, inside)
        if paint.masks.region is None:
            return body
        within: Body = body.within(spread_over_cage(shown.cage, shown.areas, paint.masks.region))
        return within

    def _folds(self, before: Floats, after: Floats) -> int:
        tets = self._shown.cage.tets
        return int((inside_out(after, tets) & ~inside_out(before, tets)).sum())

    def _enters(self, before: Floats, after: Floats) -> bool:
        return len(find_entered(before, after, self._shot.rest, self._shot.triangles, _DEEP).vertices) > 0


class EditedFrames(EditedMotion):
    """A mesh animation, edited over arrays: as flesh in a cage that is fitted to every frame."""

    def __init__(
        self,
        rest: Any,
        triangles: Any,
        frames: Sequence[Any],
        follow: Any = None,
        settings: Settings | None = None,
        frame_rate: float = 24.0,
        *,
        region: Any = None,
        edits: Edits | None = None,
        meshes: Callable[[float], Sequence[Mesh]] = NOTHING_AROUND,
    ) -> None:
        """`region` (t,): where the edit may act, 1, and where not, 0; None: everywhere. What follows exactly stays."""
        check_follow(follow, rest)
        settings = (settings or Settings()).replace({"simulate": False})
        self._enricher = Enricher(rest, triangles, follow, settings, frame_rate)
        self._fits, self._moments = dict[int, Floats](), dict[int, Moment]()
        one = self._enricher
        rest = np.ascontiguousarray(rest, np.float64)
        triangles = np.ascontiguousarray(triangles, np.int32).reshape(-1, 3)
        body = body_of(one.cage, rest, triangles, one.shown.areas, settings, one.size, one.follow, one.cage_follow)
        if region is not None:
            body = body.within(spread_over_cage(one.cage, one.shown.areas, np.asarray(region, np.float64)))
        editor = Editor(one.cage, body, frame_rate, hold=(edits or Edits()).hold)
        super().__init__(frames, editor, one.size, (rest, triangles), edits, meshes)

    def _drawn(self, index: int, moved: Floats) -> Floats:
        return self._enricher.shown.drawn(self._fit(index), moved, self._frames[index])

    def _fit(self, index: int) -> Floats:
        """From the one before it, as in a bake, so that a frame does not depend on the order of asking."""
        first = max((known for known in self._fits if known <= index), default=-1)
        for at in range(first + 1, index + 1):
            guess, before = self._fits.get(at - 1), self._fits.get(at - 2)
            self._fits[at] = self._enricher.fit(self._frames[at], guess, before).positions
        return self._fits[index]

    def _posed(self, index: int) -> Moment:
        if index not in self._moments:
            settings, fitted = self._enricher.settings, self._fit(index)
            sampled = np.asarray(self._frames[index], np.float64) if settings.detail else None
            self._moments[index] = Moment(self._enricher.cage, fitted, fitted, sampled, settings.interpolation)
        return self._moments[index]


def edit(
    rest: Any,
    triangles: Any,
    frames: Sequence[Any],
    handles: Sequence[Handle],
    follow: Any = None,
    frame_rate: float = 24.0,
    **more: Any,
) -> EditedFrames:
    """A mesh animation with handles pulled: a sequence of surfaces (t, 3). `more`: settings, region, or fields of
    `Edits`."""
    names = [field.name for field in dataclasses.fields(Edits) if field.name != "handles"]
    how = {name: more.pop(name) for name in names if name in more}
    edits = Edits(handles=tuple(handles), **how)
    if edits.free:
        follow = np.zeros(len(rest))
    return EditedFrames(rest, triangles, frames, follow, frame_rate=frame_rate, edits=edits, **more)
