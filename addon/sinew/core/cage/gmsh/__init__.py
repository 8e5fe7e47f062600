"""The second mesher: Gmsh fills a smoothed envelope with tets that grow towards the inside.

    lattice cage -> skin (its boundary, smoothed) -> helper process (Gmsh) -> quality -> checks

Gmsh runs in a process of its own, because it can hang, crash or end the process that it lives in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..cage import Cage
from . import process, quality, skin
from . import tets as measures
from .process import Failure

__all__ = ["Failure", "fill_cage"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

LEAST_ANGLE = 5.0  # degrees: a cage with a flatter tet is refused
_LEASH = 0.2  # cells that a vertex of the surface moves to mend a flat tet
_TRIES = 6
_NOTHING_BOUND = (np.empty(0, np.int32), np.empty((0, 4)))


def fill_cage(lattice: Cage, rest: Floats, monitor: Any = None) -> Cage:
    """A cage around the vertices `rest` (t, 3) in place of their lattice cage; Failure where there is none."""
    # Twelve tets fill a cube of the lattice.
    cell = float(np.cbrt(12.0 * np.median(measures.volumes(lattice.vertices, lattice.tets))))
    # The lattice leaves the tip of a spike outside now and then: its nearest tet carries it.
    held = lattice.weights.min(axis=1) > -1e-9
    surface, faces = skin.make_skin(lattice, rest[held], cell)
    if not skin.is_closed(faces) or skin.crosses_itself(surface, faces):
        raise Failure("needs an envelope that does not touch itself: choose another resolution")
    vertices, tets = process.fill(surface, faces, cell, monitor)
    return _sound_cage(vertices, tets, rest, held, len(surface), cell, monitor)


def _sound_cage(
    vertices: Floats, tets: Ints, rest: Floats, held: Flags, surface_count: int, cell: float, monitor: Any
) -> Cage:
    """The cage with its flattest tets mended; where that would let a part of the mesh out, the surface stays."""
    leashes = np.where(np.arange(len(vertices)) < surface_count, _LEASH * cell, np.inf)
    for _ in range(_TRIES):
        mended = quality.improve(vertices, tets, leashes, monitor)
        least = float(measures.least_angles(mended[tets]).min())
        if not least >= LEAST_ANGLE:
            raise Failure(f"left tets that are too flat ({max(least, 0.0):.1f} degrees)")
        bound = Cage(mended, tets, *_NOTHING_BOUND).bind(rest, mended)
        outside = skin.outside(bound, mended, rest, cell)
        if not (outside & held).any():
            weights = bound.weights.copy()
            weights[outside] = measures.barycentric(mended[tets[bound.binding[outside]]], rest[outside])
            return Cage(mended, tets, bound.binding, weights)
        near = np.unique(tets[bound.binding[outside & held]])
        leashes[near[near < surface_count]] = 0.0
    raise Failure("does not reach around the whole mesh")
