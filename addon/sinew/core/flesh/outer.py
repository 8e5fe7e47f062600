"""What acts on a body between two frames beside its input: force fields, follow weights that are animated, what it
meets; and what of the input itself has no inertia."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Met:
    """What a body that collides meets on the way."""

    surfaces: tuple[Any, Any, Any, Any]  # (t, 3) the input at the frames of the window, what it wears after it; or None
    ends: tuple[Any, Any]  # what samples say of the obstacles: matrices and deforming vertices, at begin and end
    active: bool = True


@dataclass(frozen=True)
class Outer:
    """Each at the beginning and at the end of the interval; None where there is nothing."""

    fields: tuple[Any, ...] | None = None  # rows of core/bake/fields.py
    follow: tuple[Any, ...] | None = None  # (t,) weights of the surface
    met: Met | None = None
    # From a window of fitted cages: (4, n, 3) how far that part of the input has moved which has no inertia, from any
    # place; what is said of a frame that is not there does not count.
    light: Callable[[Any], Any] | None = None
    firmness: Any = None  # (2, e) how many times as stiff tets are


NOTHING = Outer()
