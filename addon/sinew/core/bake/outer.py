"""What acts on a body between two frames beside its input: force fields, and follow weights that are animated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outer:
    """Each at the beginning and at the end of the interval; None where there is nothing."""

    fields: tuple[Any, ...] | None = None  # rows of core/bake/fields.py
    follow: tuple[Any, ...] | None = None  # (t,) weights of the surface


NOTHING = Outer()
