"""A mesh animation that is edited over arrays: handles come and go, frames are made as they are asked for."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, overload

import numpy as np

from ..base.errors import BadInput
from .body import Floats, Posed, Sheet, Shell
from .contacts import Contacts, Mesh
from .editor import Editor, Landed
from .handles import Edits, Handle

NOTHING_AROUND: Callable[[float], Sequence[Mesh]] = lambda frame: ()  # noqa: E731


class EditedMotion:
    """What all of them have; what a frame is on its carrier, and what is seen of it, each tells for itself."""

    def __init__(
        self,
        frames: Sequence[Any],
        editor: Editor,
        size: float,
        surface: Mesh,
        edits: Edits | None = None,
        meshes: Callable[[float], Sequence[Mesh]] = NOTHING_AROUND,
    ) -> None:
        """`surface`: its vertices at rest and its triangles; `meshes`: what it may touch at a frame, likewise, where
        the edits keep contacts."""
        self.editor, self.meshes = editor, meshes
        self._surface, self._contacts_of = surface, dict[tuple[str, float | None], Contacts]()
        self._frames, self.size = frames, size
        self.edits = edits or Edits()
        self._solved: Edits | None = None
        self.landed = Landed(())

    def pull(self, vertex: int | Sequence[int], frame: int, by: Sequence[float], **more: Any) -> None:
        """A handle: a vertex, or the mean of several, at a frame. `more`: fields of `Handle`."""
        vertices = tuple(int(one) for one in (vertex if isinstance(vertex, Iterable) else (vertex,)))
        count = len(self._surface[0])
        if max(vertices, default=0) >= count:
            raise BadInput(f"There is no vertex {max(vertices)}: the mesh has {count}, from 0 on.")
        for asked in (frame, more.get("until")):
            if asked is not None and not 0 <= asked < len(self):
                raise BadInput(f"There is no frame {asked}: the animation has frames 0 to {len(self) - 1}.")
        x, y, z = by
        self.edits = self.edits.with_handles(Handle(vertices, frame, (x, y, z), **more))

    def drag(self, *handles: Handle) -> None:
        """Moves the handles to these, from where they have brought the body: what turns farther than half a turn is
        dragged there in steps."""
        self.edits = dataclasses.replace(self.edits, handles=handles)
        self._solve(goes_on=True)

    def __len__(self) -> int:
        return len(self._frames)

    @overload
    def __getitem__(self, index: int) -> Floats: ...
    @overload
    def __getitem__(self, index: slice) -> list[Floats]: ...
    def __getitem__(self, index: int | slice) -> Floats | list[Floats]:
        """The edited surface (t, 3) of a frame, or those of several."""
        if isinstance(index, slice):
            return [self[one] for one in range(len(self))[index]]
        index = range(len(self))[index]  # one before 0 counts from the end
        self._solve()
        shape = self._posed(index).shape
        moved = self.editor.frame(index, shape)
        if moved is shape:
            return np.array(self._frames[index], np.float64)
        return self._drawn(index, moved)

    def __iter__(self) -> Iterator[Floats]:
        return (self[index] for index in range(len(self)))

    def _posed(self, index: int) -> Posed:
        """A frame as it is without edits."""
        raise NotImplementedError

    def _drawn(self, index: int, moved: Floats) -> Floats:
        """The surface (t, 3) of a frame on an edited shape."""
        raise NotImplementedError

    def _solve(self, *, goes_on: bool = False) -> None:
        if self._solved != self.edits:
            self.landed = self.editor.solve(
                self.edits,
                lambda frame: self._posed(round(frame)),
                goes_on=goes_on,
                polish=not goes_on,
                contacts=self._contacts(),
            )
            self._solved = self.edits

    def _contacts(self) -> Contacts | None:
        kind, floor = self.edits.contacts, self.edits.floor
        if not kind:
            return None

        def surface(frame: float) -> Floats:
            return np.asarray(self._frames[round(frame)], np.float64)

        if (kind, floor) not in self._contacts_of:
            frames = [float(index) for index in range(len(self))]
            self._contacts_of[kind, floor] = Contacts(
                kind, frames, surface, self.size, floor=floor, meshes=self.meshes, parts=self._surface
            )
        return self._contacts_of[kind, floor]


def check_follow(follow: Any, rest: Any) -> None:
    """Whether there is a weight for each vertex; None: there are none."""
    if follow is not None and np.shape(follow) != (len(rest),):
        count = "x".join(map(str, np.shape(follow)))
        raise BadInput(f"There are {count} follow weights and {len(rest)} vertices: give one weight for each vertex.")


class Itself:
    """A moment of a sheet: what is shown is what is moved."""

    def __init__(self, shape: Any) -> None:
        self.shape: Floats = np.ascontiguousarray(shape, np.float64)

    def places(self, shape: Floats, vertices: Sequence[int]) -> Floats:
        found: Floats = shape[list(vertices)]
        return found


# What brings cloth back is gravity and what it hangs on; it resists bending less than any edit could be told by, and
# being stretched so much that a pull of one corner would throw up all of it. So a sheet is drawn back as swings of
# SWING (Hz) are, resists bending so much that a pull across is felt as far as REACH (of its size), and being stretched
# no more than that one along is felt all over it.
SWING, REACH = 1.0, 0.2


def shell_of(
    sheet: Sheet,
    follow: Any = None,
    *,
    stretch: float = 1500.0,
    bend: float = 1e-5,
    weight: float = 0.18,
    poisson: float = 0.3,
    drag: float = 3.0,
    damping: float = 5e-3,
    drive: Any = 0.0,
) -> Shell:
    """What a sheet resists edits by: stretch in N/m, bend in N m, weight in kg/m², drive (t,) in N/m. What follows (t,)
    exactly stays, and with it vertices of no face."""
    fixed = sheet.loose if follow is None else sheet.loose | (np.asarray(follow, np.float64) >= 1.0 - 1e-6)
    mass, omega = weight * sheet.areas, 2.0 * np.pi * SWING
    return Shell(
        mass, drive + omega**2 * mass, fixed.astype(np.int32), drag, damping, SWING, poisson=poisson,
        stretch=min(stretch, weight * (omega * sheet.size) ** 2),
        bend=max(bend, weight * omega**2 * (REACH * sheet.size) ** 4),
    )  # fmt: skip


class EditedSheet(EditedMotion):
    """The animation of a surface without volume: cloth, a leaf, a sheet of paper. Nothing is fitted to it, its own
    triangles are what bends."""

    def __init__(
        self,
        rest: Any,
        triangles: Any,
        frames: Sequence[Any],
        follow: Any = None,
        frame_rate: float = 24.0,
        *,
        edits: Edits | None = None,
        region: Any = None,
        meshes: Callable[[float], Sequence[Mesh]] = NOTHING_AROUND,
        **material: float,
    ) -> None:
        """`region` (t,): where the edit may act, 1, and where not, 0; None: everywhere. `material`: see `shell_of`."""
        check_follow(follow, rest)
        sheet = Sheet(rest, triangles)
        shell = shell_of(sheet, follow, **material)
        if region is not None:
            shell = shell.within(np.asarray(region, np.float64))
        hold = (edits or Edits()).hold
        editor = Editor(sheet, shell, frame_rate, hold=hold)
        super().__init__(frames, editor, sheet.size, (sheet.vertices, sheet.cells), edits, meshes)

    def _posed(self, index: int) -> Posed:
        return Itself(self._frames[index])

    def _drawn(self, index: int, moved: Floats) -> Floats:
        return moved
