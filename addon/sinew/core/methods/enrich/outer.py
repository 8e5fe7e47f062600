"""What acts on a body between two frames beside its input: force fields, follow weights that are animated, and what it
meets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Met:
    """What a body that collides meets on the way."""

    surfaces: tuple[Any, Any, Any, Any]  # (t, 3) the input at the frames of the window; None where there is none
    ends: tuple[Any, Any]  # what samples say of the obstacles: matrices and deforming vertices, at begin and end
    active: bool = True


@dataclass(frozen=True)
class Outer:
    """Each at the beginning and at the end of the interval; None where there is nothing."""

    fields: tuple[Any, ...] | None = None  # rows of core/bake/fields.py
    follow: tuple[Any, ...] | None = None  # (t,) weights of the surface
    met: Met | None = None


NOTHING = Outer()
