"""Edit Motion on flesh: what resists the handles, and a mesh animation edited over arrays."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bake import obstacles
from ..bake.contact import obstacles_at
from ..bake.obstacles import Obstacles
from ..bake.results import world
from ..bake.shot import Shot
from ..bake.store import Store
from ..base.errors import BadInput
from ..base.native import module
from ..cage.cage import Cage
from ..cage.safe import measure_filling
from ..edit.contacts import Contacts, Mesh
from ..edit.editor import Body, Editor, Landed
from ..edit.handles import Edits, Handle, Vector
from ..paint.weights import spread_over_cage
from .enricher import Enricher
from .painted import paint_of
from .report import inside_out
from .settings import Settings
from .show import Shown

Floats = npt.NDArray[np.float64]

# Damping as in the simulation: so much of it, of 2 at Jiggle, is inner.
_INNER = 1.5
# Settings by which the cage is shown that edits act on.
_SHOWN_BY = ("amount", "follow_after", "maximum_offset")
_MOST_CAGES = 64  # that are kept at hand
# While contacts are only to be seen: every so many frames, and so often.
_STRIDE, _LOOKS = 8, 6
_SLIPS = 0.02  # of a pull: what is told of contacts


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
    return Body(young, mass, drive, fixed, drag, damping, frequency, poisson=settings.poisson, energy=settings.energy)


class Moment:
    """A frame that is edited: the input surface on its fitted cage, as the method shows it."""

    def __init__(self, cage: Cage, fitted: Floats, shown: Floats, sampled: Floats | None, interpolation: str) -> None:
        """`sampled` (t, 3) is None where the surface has no detail."""
        self.cage = shown
        self._carried, self._fitted, self._sampled, self._how = cage, fitted, sampled, interpolation
        self._few: dict[tuple[int, ...], Cage] = {}

    def places(self, cage: Floats, vertices: Sequence[int]) -> Floats:
        chosen, whole = tuple(vertices), self._carried
        if chosen not in self._few:
            few = np.array(chosen)
            self._few[chosen] = Cage(whole.vertices, whole.tets, whole.binding[few], whole.weights[few])
        result = np.empty((len(chosen), 3))
        detail = None if self._sampled is None else np.ascontiguousarray(self._sampled[list(chosen)], np.float64)
        fitted, moved = np.ascontiguousarray(self._fitted), np.ascontiguousarray(cage)
        module.apply_detail(self._few[chosen].native, fitted, moved, detail, self._how, result)
        return result


@dataclass(frozen=True)
class _Layer:
    """Edits that act, on those below them."""

    number: int
    editor: Editor


class StoredEdits:
    """The edits of a finished bake: they act on the cage as it would be shown without them."""

    def __init__(self, store: Store, shot: Shot, shown: Shown) -> None:
        self._store, self._shot, self._shown = store, shot, shown
        self._settings: Settings | None = None
        self._bodies: dict[bool, Body] = {}
        self._editors: dict[tuple[int, bool, float], Editor] = {}
        self._layers: list[_Layer] = []
        self._cages: dict[int, Floats] = {}  # of samples, as they are shown without edits
        self.edits = Edits()
        self.landed = Landed(())
        self.left_out: tuple[str, ...] = ()  # sentences about handles that do not act
        self.is_live = False  # frames are only looked at: contacts are kept on some of them, soon
        self.goes_on = False  # a handle is dragged: from the last edit on, and only the cage lands

    def use(self, store: Store, settings: Settings) -> None:
        """From now on with these settings."""
        before, self._store = self._settings, store
        if before == settings:
            return
        if before is None or any(getattr(before, name) != getattr(settings, name) for name in _SHOWN_BY):
            self._cages.clear()
        self._settings = settings
        self.edits, self.left_out = self._fitting(Edits.from_text(settings.edits))
        self._layers, self.landed = [], Landed(())
        for number, wanted in enumerate(self.edits.layers):
            try:
                editor = self._editor(number, wanted)
            except BadInput as error:  # nothing of the body is free
                self.left_out += (str(error),)
                continue
            reasons = {handle: editor.why_not(handle.vertices, handle.radius) for handle in wanted.acting}
            self.left_out += tuple(filter(None, reasons.values()))
            edits = dataclasses.replace(wanted, handles=tuple(one for one, reason in reasons.items() if not reason))
            if not edits.handles:
                continue
            self.landed = editor.solve(
                edits,
                lambda frame, number=number: self._moment_of(self._index_of(frame), number),  # type: ignore[misc]
                period=self._period,
                goes_on=self.goes_on,
                polish=not self.goes_on,
                contacts=self._contacts(edits, number),
            )
            self._layers.append(_Layer(number, editor))
            if not self.goes_on:
                self.left_out += tuple(self._folded(edits, number))
                if self.landed.slipped_share > _SLIPS and not self.is_live:
                    off = f"{100 * self.landed.slipped_share:.2g} % of the pull"
                    self.left_out += (f"Contacts are off by {off}: pull less far, or choose Stay Out.",)

    @property
    def size(self) -> float:
        return self._shown.size

    @property
    def vertex_count(self) -> int:
        return len(self._shot.rest)

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last frame."""
        return self._frame_of(0), self._frame_of(self._store.manifest.samples - 1)

    def unedited(self, index: int) -> Floats:
        """The surface (t, 3) of a sample without any edit, world metres."""
        fitted = self._store.read("fitted", index)
        return self._shown.drawn(fitted, self._cage_of(index), world(self._store, index))

    def settle(self) -> None:
        """The drag has ended: the edit is again what its handles alone say."""
        self.goes_on, self._settings = False, None

    @property
    def radius(self) -> float:
        """Metres around a handle that are pulled as one where it has no radius of its own."""
        return self._editor(self._below, self.edits).radius

    def frame(self, index: int, moved: Floats) -> Floats:
        """The edited cage (n, 3) of a sample that would be shown so; itself where nothing is edited."""
        for layer in self._layers:
            edited = layer.editor.frame(self._frame_of(index), moved)
            moved = moved if (edited == moved).all() else edited
        return moved

    def about(self, size: float) -> dict[str, Any]:
        """For a report."""
        missed = max(self.landed.missed, default=0.0)
        return {
            "handles": len(self.edits.acting),
            "baked_in": len(self.edits.below),
            "missed": missed,
            "missed_relative": missed / size,
            "contact_rows": self.landed.contact_rows,
            "slipped_relative": self.landed.slipped / size,
            "left_out": list(self.left_out),
        }

    def place(self, frame: float, vertices: Sequence[int], *, edited: bool = True) -> Floats:
        """The mean (3,) of vertices at a frame in world metres, with all edits, or with what is below the handles."""
        index = self._index_of(frame)
        moment = self._moment_of(index, self._below + 1 if edited else self._below)
        mean: Floats = moment.places(moment.cage, vertices).mean(axis=0)
        return mean

    def in_axes(self, handle: Handle, axes: str) -> Handle:
        """A handle that pulls to the same place on its frame, told otherwise."""
        at = self.place(handle.frame, handle.vertices, edited=False)
        moment = self._moment_of(self._index_of(handle.frame), self._below)
        turn = self._editor(self._below, self.edits).turn_at(handle.vertices, handle.radius, moment.cage)

        def told(by: Vector) -> Vector:
            offset = np.array(by)
            if handle.axes == "body":
                offset = turn @ offset
            elif handle.axes == "place":
                offset = offset - at
            x, y, z = turn.T @ offset if axes == "body" else offset + at if axes == "place" else offset
            return float(x), float(y), float(z)

        # The places of a way are of other frames, so it is told by its first.
        return dataclasses.replace(handle, axes=axes, by=told(handle.by), path=())

    @property
    def _below(self) -> int:
        """How many layers are baked in."""
        return len(self.edits.layers) - bool(self.edits.acting)

    @property
    def _period(self) -> float:
        """Seconds of a loop; 0: it is none."""
        first = self._store.marks[0]
        return first.numbers.period / self._shot.sample_rate if first is not None and self._shot.settings.loop else 0.0

    def _contacts(self, edits: Edits, number: int) -> Contacts | None:
        """Those of a layer."""
        if not edits.contacts:
            return None
        first, last = self.span
        frames = [float(frame) for frame in range(math.ceil(first), math.floor(last) + 1)]
        looks = {"looks": _LOOKS} if self.is_live else {}
        if self.is_live:
            frames = sorted({*frames[::_STRIDE], *(frame for handle in edits.handles for frame in handle.frames)})

        def surface(frame: float) -> Floats:
            index = self._index_of(frame)
            moment = self._moment_of(index, number)
            return self._shown.drawn(self._store.read("fitted", index), moment.cage, world(self._store, index))

        met, settings = self._obstacles(), self._shot.settings
        kept_off = (settings.collision_distance + settings.thickness) * self.size if settings.collide else 0.0
        kept_off += float(met.thickness.max(initial=0.0))

        def meshes(frame: float) -> list[Mesh]:
            if not met.count:
                return []
            placed = met.placed(*obstacles_at(self._store, self._index_of(frame)))
            return [(placed, met.triangles[met.owners[met.triangles[:, 0]] == k]) for k in range(met.count)]

        return Contacts(
            edits.contacts, frames, surface, self.size, floor=edits.floor, meshes=meshes, kept_off=kept_off, **looks
        )

    def _obstacles(self) -> Obstacles:
        """What the bake collides with."""
        if "obstacle_triangles" not in self._store.layout.constants:
            return obstacles.NONE
        names = ("triangles", "owners", "shapes", "thickness", "friction")
        arrays = {name: self._store.constant(f"obstacle_{name}") for name in names}
        return Obstacles(("",) * len(arrays["thickness"]), **arrays)

    def _folded(self, edits: Edits, number: int) -> Iterator[str]:
        """What is said of handles that pull so far that the body is turned inside out there."""
        for frame in sorted({handle.frame for handle in edits.handles}):
            index = self._index_of(frame)
            tets = self._shown.cage.tets
            before, after = (inside_out(self._moment_of(index, n).cage, tets) for n in (number, number + 1))
            count = int((after & ~before).sum())
            if count:
                yield f"The pull on frame {frame:g} turns {count} cells inside out: pull less far, or widen its radius."

    def _fitting(self, edits: Edits) -> tuple[Edits, tuple[str, ...]]:
        """The edits without handles that this bake has no place for, and what is said of those."""
        manifest, told = self._store.manifest, list[str]()
        if edits.mesh and edits.mesh != manifest.topology:
            count = len(edits.acting) + len(edits.below)
            return Edits(), (f"The mesh has other faces than when it was edited, so {count} handles do not act: clear "
                             "them.",) if count else ()  # fmt: skip
        last = self._frame_of(manifest.samples - 1)

        def kept(one: Edits) -> Edits:
            outside = [
                handle
                for handle in one.acting
                if not (manifest.first_frame <= handle.frame and handle.frames[-1] <= last + 1e-6)
            ]
            told.extend(
                f"The handle at frame {handle.frame:g} lies outside the bake, {manifest.first_frame} to {last:g}."
                for handle in outside
            )
            handles = tuple(handle for handle in one.handles if handle not in outside)
            return dataclasses.replace(one, handles=handles, below=tuple(map(kept, one.below)))

        return kept(edits), tuple(told)

    def _frame_of(self, index: int) -> float:
        return self._store.manifest.first_frame + index / self._store.manifest.samples_per_frame

    def _index_of(self, frame: float) -> int:
        manifest = self._store.manifest
        index = round((frame - manifest.first_frame) * manifest.samples_per_frame)
        return min(max(index, 0), manifest.samples - 1)

    def _cage_of(self, index: int) -> Floats:
        """As it is shown without edits."""
        if index not in self._cages:
            assert self._settings is not None
            store = self._store
            amount = float(store.read("amount", index)[0, 0]) * self._settings.amount
            self._cages[index] = self._shown.moved(store.read("fitted", index), store.read("simulated", index), amount)
            while len(self._cages) > _MOST_CAGES:
                self._cages.pop(next(iter(self._cages)))
        return self._cages[index]


    def _moment_of(self, index: int, layers: int) -> Moment:
        """With the edits of the first so many layers."""
        assert self._settings is not None
        cage = self._cage_of(index)
        for layer in (one for one in self._layers if one.number < layers):
            cage = layer.editor.frame(self._frame_of(index), cage)
        fitted = self._store.read("fitted", index)
        sampled = world(self._store, index) if self._settings.detail else None
        return Moment(self._shown.cage, fitted, cage, sampled, self._settings.interpolation)

    def _editor(self, number: int, edits: Edits) -> Editor:
        """One for each layer: each remembers its own edit."""
        key = (number, edits.free, edits.hold)
        if key not in self._editors:
            shot = self._shot
            self._editors[key] = Editor(self._shown.cage, self._body(edits.free), shot.frame_rate, hold=edits.hold)
        return self._editors[key]

    def _body(self, free: bool) -> Body:
        if free not in self._bodies:
            shot, shown = self._shot, self._shown
            paint = paint_of(shot)
            follow, inside = paint.follow, shown.cage_follow
            if free:
                follow, inside = np.zeros_like(follow), None
            body = body_of(
                shown.cage, shot.rest, shot.triangles, shown.areas, shot.settings, shown.size, follow, inside
            )
            if paint.masks.region is not None:
                body = body.within(spread_over_cage(shown.cage, shown.areas, paint.masks.region))
            self._bodies[free] = body
        return self._bodies[free]


class EditedFrames:
    """A mesh animation, edited over arrays: handles come and go, frames are made as they are asked for."""

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
        meshes: Callable[[float], Sequence[Mesh]] = lambda frame: (),
    ) -> None:
        """`region` (t,): where the edit may act, 1, and where not, 0; None: everywhere. What follows exactly stays.
        `meshes`: what it may touch at a frame, as vertices and triangles, where the edits keep contacts."""
        self.meshes = meshes
        settings = (settings or Settings()).replace({"simulate": False})
        self._enricher = Enricher(rest, triangles, follow, settings, frame_rate)
        self._frames, self._fits = frames, dict[int, Floats]()
        self._moments: dict[int, Moment] = {}
        self.edits = edits or Edits()
        one = self._enricher
        rest = np.ascontiguousarray(rest, np.float64)
        triangles = np.ascontiguousarray(triangles, np.int32).reshape(-1, 3)
        body = body_of(one.cage, rest, triangles, one.shown.areas, settings, one.size, one.follow, one.cage_follow)
        if region is not None:
            body = body.within(spread_over_cage(one.cage, one.shown.areas, np.asarray(region, np.float64)))
        self.editor = Editor(one.cage, body, frame_rate, hold=self.edits.hold)
        self._solved: Edits | None = None
        self.landed = Landed(())

    def pull(self, vertex: int | Sequence[int], frame: int, by: Sequence[float], **more: Any) -> None:
        """A handle: a vertex, or the mean of several, at a frame. `more`: fields of `Handle`."""
        vertices = (vertex,) if isinstance(vertex, int) else tuple(vertex)
        if not 0 <= frame < len(self._frames):
            raise BadInput(f"There is no frame {frame}: the animation has frames 0 to {len(self._frames) - 1}.")
        x, y, z = by
        self.edits = self.edits.with_handles(Handle(vertices, frame, (x, y, z), **more))

    def drag(self, *handles: Handle) -> None:
        """Moves the handles to these, from where they have brought the body: what turns farther than half a turn is
        dragged there in steps."""
        self.edits = dataclasses.replace(self.edits, handles=handles)
        self._solve(goes_on=True)

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, index: int) -> Floats:
        """The edited surface (t, 3) of a frame."""
        self._solve()
        moment, fitted = self._moment(index), self._fit(index)
        moved = self.editor.frame(index, moment.cage)
        if moved is fitted:
            return np.array(self._frames[index], np.float64)
        return self._enricher.shown.drawn(fitted, moved, self._frames[index])

    def __iter__(self) -> Iterator[Floats]:
        return (self[index] for index in range(len(self)))

    def _solve(self, *, goes_on: bool = False) -> None:
        if self._solved != self.edits:
            self.landed = self.editor.solve(
                self.edits,
                lambda frame: self._moment(round(frame)),
                goes_on=goes_on,
                polish=not goes_on,
                contacts=self._contacts(),
            )
            self._solved = self.edits

    def _contacts(self) -> Contacts | None:
        if not self.edits.contacts:
            return None
        frames = [float(index) for index in range(len(self))]
        size, floor = self._enricher.size, self.edits.floor

        def surface(frame: float) -> Floats:
            return np.asarray(self._frames[round(frame)], np.float64)

        return Contacts(self.edits.contacts, frames, surface, size, floor=floor, meshes=self.meshes)

    def _fit(self, index: int) -> Floats:
        """From the one before it, as in a bake, so that a frame does not depend on the order of asking."""
        first = max((known for known in self._fits if known <= index), default=-1)
        for at in range(first + 1, index + 1):
            guess, before = self._fits.get(at - 1), self._fits.get(at - 2)
            self._fits[at] = self._enricher.fit(self._frames[at], guess, before).positions
        return self._fits[index]

    def _moment(self, index: int) -> Moment:
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
