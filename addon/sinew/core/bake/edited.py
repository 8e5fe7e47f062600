"""The edits of a finished bake of any method: a layer of its results that acts last."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from ..edit.body import Body, Carrier, Posed, Shell
from ..edit.contacts import Contacts, Mesh
from ..edit.editor import Editor, Landed, Look
from ..edit.handles import Edits, Handle, Vector
from . import obstacles
from .contact import obstacles_at
from .obstacles import Obstacles
from .shot import Shot
from .store import Store
from .told_edits import LANDED, percent

Floats = npt.NDArray[np.float64]

_MOST_SHAPES = 64  # that are kept at hand
# While contacts are only to be seen: every so many frames, and so often.
_STRIDE, _LOOKS = 8, 6
_SLIPS = 0.02  # of a pull: what is told of contacts


@dataclass(frozen=True)
class _Layer:
    """Edits that act, on those below them."""

    number: int
    editor: Editor


class StoredEdits:
    """The edits of a finished bake: they act last, on its carrier as it would be shown without them. What that is, what
    is seen of it and what it resists by, each method tells for itself."""

    shown_by: tuple[str, ...] = ("amount",)  # settings that a shape without edits depends on

    def __init__(self, store: Store, shot: Shot, carrier: Carrier, size: float) -> None:
        self._store, self._shot, self._carrier, self.size = store, shot, carrier, size
        self._settings: Any = None
        self._bodies: dict[bool, Body | Shell] = {}
        self._editors: dict[tuple[int, bool, float], Editor] = {}
        self._layers: list[_Layer] = []
        self._shapes: dict[int, Floats] = {}  # of samples, as they are shown without edits
        self._touching: dict[Any, Contacts] = {}  # of layers: what they found is known while a handle is dragged
        self.edits = Edits()
        self.landed = Landed(())
        self.acting = 0  # handles that are not baked in
        self.left_out: tuple[str, ...] = ()  # sentences about handles that do not act
        self.is_live = False  # frames are only looked at: contacts are kept on some of them, soon
        self.look: Look | None = None
        self.goes_on = False  # a handle is dragged: from the last edit on, and only the carrier lands

    def use(self, store: Store, settings: Any) -> None:
        """From now on with these settings."""
        before, self._store = self._settings, store
        if before == settings:
            return
        if before is None or any(getattr(before, name) != getattr(settings, name) for name in self.shown_by):
            self._shapes.clear()
            self._touching.clear()
        self._settings = settings
        self.edits, self.left_out = self._fitting(Edits.from_text(settings.edits))
        self._layers, self.landed, self.acting = [], Landed(()), 0
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
                look=self.look,
            )
            self._layers.append(_Layer(number, editor))
            self.acting = len(edits.handles) if number == self._below else 0
            if not self.goes_on:
                self.left_out += tuple(self._at_odds(edits, editor))
                self.left_out += () if self.is_live else self._untouched(edits)
                self.left_out += tuple(self._folded(edits, number))
                self.left_out += () if self.is_live else tuple(self._run_into(edits, number))
                if self.landed.slipped_share > _SLIPS and not self.is_live:
                    off = f"{percent(self.landed.slipped_share)} of the pull"
                    way_out = "pull less far" if edits.contacts == "above" else "pull less far, or choose Stay Out"
                    self.left_out += (f"Contacts are off by {off}: {way_out}.",)

    @property
    def vertex_count(self) -> int:
        return len(self._shot.rest)

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last frame."""
        return self._frame_of(0), self._frame_of(self._store.manifest.samples - 1)

    def unedited(self, index: int) -> Floats:
        """The surface (t, 3) of a sample without any edit, world metres."""
        return self._drawn(index, self._shape_of(index))

    def surface(self, index: int, shape: Floats) -> Floats:
        """The surface (t, 3) of a sample on an edited shape, world metres."""
        return self._drawn(index, shape)

    def settle(self) -> None:
        """The drag has ended: the edit is again what its handles alone say."""
        self.goes_on, self._settings = False, None

    def prepare(self) -> None:
        """What the first handle needs."""
        self._editor(self._below, self.edits)

    @property
    def radius(self) -> float:
        """Metres around a handle that are pulled as one where it has no radius of its own."""
        return self._editor(self._below, self.edits).radius

    def frame(self, index: int, moved: Floats) -> Floats:
        """The edited shape (n, 3) of a sample that would be shown so; itself where nothing is edited."""
        for layer in self._layers:
            edited = layer.editor.frame(self._frame_of(index), moved)
            moved = moved if (edited == moved).all() else edited
        return moved

    def about(self, size: float) -> dict[str, Any]:
        """For a report."""
        missed = max(self.landed.missed, default=0.0)
        return {
            "handles": self.acting,
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
        mean: Floats = moment.places(moment.shape, vertices).mean(axis=0)
        return mean

    def along(self, handle: Handle, frame: float, way: Vector) -> Vector:
        """A way in the world, in the axes of a handle at a frame on which it pulls."""
        if handle.axes != "body":
            return way
        moment = self._moment_of(self._index_of(frame), self._below)
        turn = self._editor(self._below, self.edits).turn_at(handle.vertices, handle.radius, moment.shape)
        x, y, z = (float(one) for one in turn.T @ np.array(way))
        return x, y, z

    def in_axes(self, handle: Handle, axes: str) -> Handle:
        """A handle that pulls to the same place on its frame, told otherwise."""
        at = self.place(handle.frame, handle.vertices, edited=False)
        moment = self._moment_of(self._index_of(handle.frame), self._below)
        turn = self._editor(self._below, self.edits).turn_at(handle.vertices, handle.radius, moment.shape)

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
        key = (number, edits.contacts, edits.floor, self.is_live, self.edits.below)
        if key in self._touching:
            self._touching[key].frames = frames
            return self._touching[key]

        def surface(frame: float) -> Floats:
            index = self._index_of(frame)
            return self._drawn(index, self._moment_of(index, number).shape)

        met, settings = self._obstacles(), self._shot.settings
        kept_off = (settings.collision_distance + settings.thickness) * self.size if settings.collide else 0.0
        kept_off += float(met.thickness.max(initial=0.0))

        def meshes(frame: float) -> list[Mesh]:
            if not met.count:
                return []
            placed = met.placed(*obstacles_at(self._store, self._index_of(frame)))
            return [(placed, met.triangles[met.owners[met.triangles[:, 0]] == k]) for k in range(met.count)]

        parts = (self._shot.rest, self._shot.triangles)
        self._touching = {of: one for of, one in self._touching.items() if of[0] != number}
        self._touching[key] = Contacts(
            edits.contacts, frames, surface, self.size,
            floor=edits.floor, meshes=meshes, parts=parts, kept_off=kept_off, **looks,
        )  # fmt: skip
        return self._touching[key]

    def _obstacles(self) -> Obstacles:
        """What the bake collides with."""
        if "obstacle_triangles" not in self._store.layout.constants:
            return obstacles.NONE
        names = ("triangles", "owners", "shapes", "thickness", "friction")
        arrays = {name: self._store.constant(f"obstacle_{name}") for name in names}
        return Obstacles(("",) * len(arrays["thickness"]), **arrays)

    def _at_odds(self, edits: Edits, editor: Editor) -> Iterator[str]:
        """What is said of handles that miss because others pull the same place elsewhere at the same time."""
        if self.landed.contact_rows:
            return  # which may be what they miss by
        every = zip(edits.handles, self.landed.missed, strict=True)
        missing = [handle for handle, missed in every if missed > LANDED * self.size]
        for one, other in itertools.combinations(missing, 2):
            begin, end = max(one.frame, other.frame), min(one.frames[-1], other.frames[-1])
            places = [self._shot.rest[list(handle.vertices)].mean(axis=0) for handle in (one, other)]
            reach = max(handle.radius or editor.radius for handle in (one, other))
            if begin <= end + 1.0 and math.dist(*places) <= reach:
                first, second = (f"ertex {handle.vertices[0]} on frame {handle.frame:g}" for handle in (one, other))
                yield f"V{first} and v{second} are pulled against each other: mute one, or bring them together."

    def _untouched(self, edits: Edits) -> tuple[str, ...]:
        """What is said where contacts are kept with nothing around."""
        if not edits.contacts or edits.floor is not None or self._obstacles().count:
            return ()
        return ("There is no floor and nothing else to meet, so only parts of the body itself keep their contacts: "
                "set a floor, or turn Collide on and bake.",)  # fmt: skip

    def _folded(self, edits: Edits, number: int) -> Iterator[str]:
        """What is said of handles that pull so far that the body is turned inside out there."""
        for frame in sorted({handle.frame for handle in edits.handles}):
            index = self._index_of(frame)
            count = self._folds(*(self._moment_of(index, n).shape for n in (number, number + 1)))
            if count:
                cells = "1 cell" if count == 1 else f"{count} cells"
                yield f"The pull on frame {frame:g} turns {cells} inside out: pull less far, or widen its radius."

    def _run_into(self, edits: Edits, number: int) -> Iterator[str]:
        """What is said of handles that pull parts of the body into others."""
        for frame in sorted({handle.frame for handle in edits.handles}):
            index = self._index_of(frame)
            if self._enters(*(self._drawn(index, self._moment_of(index, n).shape) for n in (number, number + 1))):
                way_out = "pull less far" if edits.contacts else "choose Stay Out, or pull less far"
                yield f"The pull on frame {frame:g} brings parts of the body into each other: {way_out}."

    def _fitting(self, edits: Edits) -> tuple[Edits, tuple[str, ...]]:
        """The edits without handles that this bake has no place for, and what is said of those."""
        manifest, told = self._store.manifest, list[str]()
        if edits.mesh and edits.mesh != manifest.topology:
            count = len(edits.acting) + len(edits.below)
            act = "1 handle does not act: clear it" if count == 1 else f"{count} handles do not act: clear them"
            return Edits(), (f"The mesh has other faces than when it was edited, so {act}.",) if count else ()
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

    def _shape_of(self, index: int) -> Floats:
        """As it is shown without edits."""
        if index not in self._shapes:
            amount = float(self._store.read("amount", index)[0, 0]) * self._settings.amount
            self._shapes[index] = self._plain(index, amount)
            while len(self._shapes) > _MOST_SHAPES:
                self._shapes.pop(next(iter(self._shapes)))
        return self._shapes[index]

    def _moment_of(self, index: int, layers: int) -> Posed:
        """With the edits of the first so many layers."""
        shape = self._shape_of(index)
        for layer in (one for one in self._layers if one.number < layers):
            shape = layer.editor.frame(self._frame_of(index), shape)
        return self._posed(index, shape)

    def _editor(self, number: int, edits: Edits) -> Editor:
        """One for each layer: each remembers its own edit."""
        key = (number, edits.free, edits.hold)
        if key not in self._editors:
            if edits.free not in self._bodies:
                self._bodies[edits.free] = self._body(edits.free)
            body, rate = self._bodies[edits.free], self._shot.frame_rate
            self._editors[key] = Editor(self._carrier, body, rate, hold=edits.hold)
        return self._editors[key]

    def _plain(self, index: int, amount: float) -> Floats:
        """The shape (n, 3) of a sample without edits."""
        raise NotImplementedError

    def _posed(self, index: int, shape: Floats) -> Posed:
        """A sample whose shape is this."""
        raise NotImplementedError

    def _drawn(self, index: int, shape: Floats) -> Floats:
        """The surface (t, 3) of a sample on a shape, world metres."""
        raise NotImplementedError

    def _body(self, free: bool) -> Body | Shell:
        """What it resists by. `free`: what follows exactly may be pulled too."""
        raise NotImplementedError

    def _folds(self, before: Floats, after: Floats) -> int:
        """How many cells an edit turns inside out."""
        return 0

    def _enters(self, before: Floats, after: Floats) -> bool:
        """Whether an edit brings parts of the surface into others."""
        return False
