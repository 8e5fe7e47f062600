"""What an artist asks of a finished motion: handles that pull vertices at frames. Plain data, kept as one text in the
settings of a bake."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from ..base.errors import BadInput

Vector = tuple[float, float, float]

# What the three numbers of a handle are.
AXES = {
    "body": "an offset that turns with the body",
    "world": "an offset along the axes of the world",
    "place": "a place in the world",
}
# What is done about contacts.
CONTACTS = {
    "": "Pulls do not look at what the body touches",
    "above": "Nothing is pulled into the floor or into other objects",
    "slide": "What touches goes on touching, and may slide",
    "pin": "What touches stays where it touches",
}
MOST_HELD = 40  # rows of a handle that holds: more say nothing that these do not


@dataclass(frozen=True)
class Handle:
    """Where the mean of some vertices is to be at a frame, or from one frame `until` another. In metres."""

    vertices: tuple[int, ...]
    frame: float
    by: Vector
    axes: str = "world"
    until: float | None = None
    radius: float = 0.0  # around it flesh is pulled as one; 0: two cells of the cage
    influence: float = 1.0  # of the way
    mute: bool = False
    name: str = ""
    path: tuple[Vector, ...] = ()  # of one that holds: `by` on each of its frames, in place of that

    def __post_init__(self) -> None:
        numbers = (self.frame, *self.by, self.radius, self.influence, self.until or 0.0)
        if not self.vertices or min(self.vertices) < 0 or len(self.by) != 3 or not all(map(math.isfinite, numbers)):
            raise BadInput("A handle needs a vertex, a frame and three numbers: write VERTEX,FRAME,DX,DY,DZ.")
        if self.axes not in AXES:
            raise BadInput(f'A handle has no axes "{self.axes}": choose from {", ".join(AXES)}.')
        if self.radius < 0.0 or (self.until is not None and self.until < self.frame):
            raise BadInput("A handle's radius cannot be negative, and it cannot hold until before it begins.")

    @property
    def acts(self) -> bool:
        return not self.mute and self.influence != 0.0

    @property
    def frames(self) -> list[float]:
        """Where it holds: each frame, or as many of them as are needed."""
        if self.until is None or self.until == self.frame:
            return [self.frame]
        count = math.floor(self.until - self.frame + 1e-6)
        parts = min(count, MOST_HELD - 1)
        return [self.frame + (count * k / parts) for k in range(parts + 1)] if parts else [self.frame]

    def covers(self, frame: float) -> bool:
        """Whether it pulls at a frame."""
        return self.frame - 1e-3 <= frame <= (self.frame if self.until is None else self.until) + 1e-3

    def moved(self, by: Vector) -> Self:
        """Pulling so far; all of its way goes along."""
        shift = [new - old for new, old in zip(by, self.by, strict=True)]
        path = tuple((x + shift[0], y + shift[1], z + shift[2]) for x, y, z in self.path)
        return dataclasses.replace(self, by=by, path=path)


@dataclass(frozen=True)
class Edits:
    """Handles, and how the motion answers them."""

    handles: tuple[Handle, ...] = ()
    wiggle: float = 1.0  # 1 swings as the flesh does, 0 hardly overshoots
    spread: float = 1.0  # how far in time it is felt, times its own
    range: tuple[float, float] | None = None  # frames beyond which nothing changes; None: all
    free: bool = False  # what follows the animation exactly may be edited too
    hold: float = 2.0  # seconds in which a body that nothing holds comes back
    below: tuple[Edits, ...] = ()  # baked in, the lowest first: what these handles pull
    contacts: str = ""  # one of CONTACTS
    floor: float | None = None  # its height, world metres; None: there is none
    mesh: str = ""  # hash of the faces that the vertices are numbers of; "": of any

    def __post_init__(self) -> None:
        if not (0.0 <= self.wiggle <= 1.0 and self.spread > 0.0 and self.hold > 0.0):
            raise BadInput("Wiggle lies between 0 and 1, and Spread and Hold are above 0.")
        if self.contacts not in CONTACTS:
            raise BadInput(f'Contacts are not kept "{self.contacts}": choose from {", ".join(filter(None, CONTACTS))}.')
        if self.floor is not None and not math.isfinite(self.floor):
            raise BadInput("The floor's height must be a number.")
        if self.range is not None and not self.range[0] < self.range[1]:
            raise BadInput(f"The range {self.range[0]:g}-{self.range[1]:g} ends before it begins: turn it round.")
        for handle in self.acting:
            if self.range is not None and not all(self.range[0] < f < self.range[1] for f in handle.frames):
                raise BadInput(
                    f"The handle at frame {handle.frame:g} lies outside the range {self.range[0]:g}-{self.range[1]:g}: "
                    "move it inside, or widen the range."
                )

    @property
    def acting(self) -> list[Handle]:
        return [handle for handle in self.handles if handle.acts]

    @property
    def layers(self) -> list[Edits]:
        """The edits that act, one on the other."""
        return [one for one in (*self.below, dataclasses.replace(self, below=())) if one.acting]

    def baked_in(self) -> Self:
        """The same motion with no handles: those that were here are below."""
        layers = tuple(dataclasses.replace(one, mesh="") for one in self.layers)
        return dataclasses.replace(self, handles=(), below=layers)

    def of_mesh(self, mesh: str) -> Self:
        """With the hash of the faces whose vertices are pulled, which stays the one that the first were pulled of."""
        if not (self.handles or self.below):
            return dataclasses.replace(self, mesh="")
        return dataclasses.replace(self, mesh=self.mesh or mesh)

    def with_handles(self, *handles: Handle) -> Self:
        return dataclasses.replace(self, handles=(*self.handles, *handles))

    def to_text(self) -> str:
        """As it is kept; "" where there is nothing to keep."""
        return json.dumps(_changed(self), separators=(",", ":")) if self != type(self)() else ""

    @classmethod
    def from_text(cls, text: str) -> Self:
        if not text:
            return cls()
        try:
            values = json.loads(text)
            shapes: dict[str, Any] = {"vertices": tuple, "by": tuple, "path": _vectors}
            handles = tuple(Handle(**_known(Handle, one, **shapes)) for one in values.pop("handles", ()))
            below = tuple(cls.from_text(json.dumps(one)) for one in values.pop("below", ()))
            return cls(handles=handles, below=below, **_known(cls, values, range=tuple))
        except (ValueError, TypeError, AttributeError) as error:
            raise BadInput(f"The edits of this bake cannot be read ({error}): clear them.") from None


def _vectors(values: Any) -> tuple[Any, ...]:
    return tuple(tuple(one) for one in values)


def _changed(value: Any) -> dict[str, Any]:
    """What differs from the defaults."""
    found: dict[str, Any] = {}
    for field in dataclasses.fields(value):
        part = getattr(value, field.name)
        if field.name in ("handles", "below"):
            if part:
                found[field.name] = [_changed(one) for one in part]
        elif field.default is dataclasses.MISSING or part != field.default:
            found[field.name] = list(part) if isinstance(part, tuple) else part
    return found


def _known(kind: type[Any], values: Mapping[str, Any], **shapes: Any) -> dict[str, Any]:
    names = {field.name for field in dataclasses.fields(kind)}
    return {
        name: shapes[name](value) if name in shapes and value is not None else value
        for name, value in values.items()
        if name in names
    }


def parse_handle(text: str) -> Handle:
    """From VERTEX,FRAME,DX,DY,DZ; VERTEX may be several, 7+8+9, whose mean is pulled, and FRAME FROM-TO, which is
    held."""
    parts = text.split(",")
    try:
        if len(parts) != 5:
            raise ValueError
        begin, dash, end = parts[1].partition("-")
        until = float(end) if dash else None
        x, y, z = (float(part) for part in parts[2:])
        return Handle(tuple(map(int, parts[0].split("+"))), float(begin), (x, y, z), until=until)
    except ValueError:
        raise BadInput(f'"{text}" is no handle: write VERTEX,FRAME,DX,DY,DZ, for example 812,40,0,0,0.3.') from None


def parse_range(text: str) -> tuple[float, float]:
    """From A-B."""
    begin, _, end = text.partition("-")
    try:
        return float(begin), float(end)
    except ValueError:
        raise BadInput(f'"{text}" is no range of frames: write A-B, for example 20-60.') from None
