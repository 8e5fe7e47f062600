"""Self-colliding rest shapes: the cage is built in a pose in which near parts are apart, so that each has tets of its
own whatever the mesher, and then brought to the rest shape, where it may overlap itself (methods, section 1)."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from ..base.native import module
from ..geometry.poses import aligned
from ..geometry.surface import areas_and_size
from .cage import Cage, build_cage
from .gmsh import quality
from .gmsh import tets as measures
from .resolution import needed_resolution
from .settings import CageSettings

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

LEAST_ANGLE = 5.0  # degrees: a rest cage with a flatter tet is refused
# Of the fit to the rest shape: as close as the cage stays sound, for what it leaves goes into the weights.
_SMOOTHINGS = (0.002, 0.008)
_STEPS = (1, 4, 8)  # from the safe pose to the rest shape; more where fewer fold tets that cannot be mended
_MOST_FOLDED = (0.001, 0.004, 0.002)  # of the tets inside out: where there are more, mending seldom helps
_FEW_FOLDED = 10  # that are mended however few tets there are
_ROUNDS = 6  # of mending
_FAR = 0.5  # edges of the cage that the fit may be off, rms: more means another shape, not another pose
_LEAST_WEIGHT = -8.0  # of a vertex in the tet that carries it, which need not hold it any more
_RESOLUTIONS = (2, 256)
_LARGEST = 2.0  # times the rest shape: a safe pose beyond gets larger cells


# What is wanted of a cage as it is built around a surface (t, 3), and which vertices (t,) it still carries.
Part = Callable[[Cage, Floats], tuple[Cage, npt.NDArray[np.bool_]]]


def _whole(cage: Cage, surface: Floats) -> tuple[Cage, npt.NDArray[np.bool_]]:
    return cage, np.ones(len(surface), bool)


def make_cage(
    rest: Any,
    triangles: Any,
    settings: CageSettings,
    safe: Any = None,
    monitor: Any = None,
    part: Part = _whole,
    follow: Floats | None = None,
) -> Cage:
    """The cage that the settings ask for. `safe` (t, 3): the body where its near parts are apart, at any place.
    `part` takes from a cage what is wanted of it. `follow` (t,): an automatic resolution does for these weights; None:
    for any."""
    rest = np.ascontiguousarray(rest, np.float64)
    triangles = np.ascontiguousarray(triangles, np.int32).reshape(-1, 3)
    resolution = settings.resolution
    if resolution == 0:
        resolution = needed_resolution(rest, triangles, follow, settings.separate_parts, monitor)
    if safe is not None:
        cage = _safe_cage(rest, triangles, _placed(rest, safe), settings, resolution, monitor, part)
        if cage is not None:
            return cage
    cage, _ = part(_build(rest, triangles, settings, resolution, monitor), rest)
    if safe is not None:
        folded = (
            "The safe pose is too far from the rest shape: the cage folds on the way, so it was built at rest. Choose "
            "a safe pose that differs less."
        )
        cage.note = " ".join(filter(None, (cage.note, folded)))
    return cage


def measure_filling(cage: Cage, rest: Floats, triangles: Ints, safe: Any, monitor: Any = None) -> tuple[Floats, Floats]:
    """How much of each tet the body fills, and how thick it is there: looked at where the cage was built, for at rest
    it may overlap itself."""
    if cage.safe_vertices is None or safe is None:
        return cage.filling(rest, triangles, monitor)
    placed = _placed(rest, safe)
    weights = measures.barycentric(cage.safe_vertices[cage.tets[cage.binding]], placed)
    return Cage(cage.safe_vertices, cage.tets, cage.binding, weights).filling(placed, triangles, monitor)


def _placed(rest: Floats, safe: Any) -> Floats:
    """The safe pose, turned and shifted onto the rest shape as a whole."""
    safe = np.ascontiguousarray(safe, np.float64)
    if safe.shape != rest.shape:
        raise BadInput("The safe pose has another number of vertices than the mesh: choose another one.")
    return np.ascontiguousarray(aligned(safe, rest))


def _build(surface: Floats, triangles: Ints, settings: CageSettings, resolution: int, monitor: Any) -> Cage:
    return build_cage(
        surface,
        triangles,
        resolution,
        separate_parts=settings.separate_parts,
        mesher=settings.mesher,
        monitor=monitor,
    )


def _safe_cage(
    rest: Floats, triangles: Ints, safe: Floats, settings: CageSettings, resolution: int, monitor: Any, part: Part
) -> Cage | None:
    """None where its tets do not come out sound."""
    # Cells of the size that they would have at rest.
    longest = [float(np.ptp(surface, axis=0).max()) for surface in (safe, rest)]
    larger = min(longest[0] / max(longest[1], 1e-30), _LARGEST)
    resolution = int(np.clip(round(resolution * larger), *_RESOLUTIONS))
    built, carried = part(_build(safe, triangles, settings, resolution, monitor), safe)
    ways = itertools.product(_SMOOTHINGS, zip(_STEPS, _MOST_FOLDED, strict=True))
    for smoothing, (steps, folded) in ways:
        vertices = _brought(built, safe, rest, triangles, carried, smoothing, steps, folded, monitor)
        if vertices is not None:
            weights = measures.barycentric(vertices[built.tets[built.binding]], rest)
            cage = Cage(vertices, built.tets, built.binding, weights)
            cage.note, cage.safe_vertices = built.note, built.vertices
            return cage
    return None


def _brought(
    cage: Cage,
    safe: Floats,
    rest: Floats,
    triangles: Ints,
    carried: npt.NDArray[np.bool_],
    smoothing: float,
    steps: int,
    most_folded: float,
    monitor: Any,
) -> Floats | None:
    """The vertices of the cage after it was fitted to the rest shape, by way of poses between, and its folded tets
    mended: every step starts from sound tets."""
    edges = cage.vertices[cage.tets[:, 1:]] - cage.vertices[cage.tets[:, :1]]
    edge = float(np.linalg.norm(edges, axis=2).mean())
    areas, size = areas_and_size(safe, triangles, monitor)
    areas = np.where(carried, areas, 0.0)
    for step in range(1, steps + 1):
        target = np.ascontiguousarray(safe + step / steps * (rest - safe))
        fit = module.Fit(cage.native, areas, {"smoothing": smoothing, "size": size})
        vertices = np.zeros_like(cage.vertices)
        rms = fit.frame(target, False, vertices, None)[0]
        folded = int((measures.volumes(vertices, cage.tets) <= 0.0).sum())
        if rms > _FAR * edge or folded > max(_FEW_FOLDED, most_folded * len(cage.tets)):
            return None
        vertices = quality.improve(vertices, cage.tets, np.full(len(vertices), edge), monitor, _ROUNDS)
        if not measures.least_angles(vertices[cage.tets]).min() >= LEAST_ANGLE:
            return None
        weights = measures.barycentric(vertices[cage.tets[cage.binding]], target)
        if weights[carried].min(initial=0.0) < _LEAST_WEIGHT:
            return None
        cage = Cage(vertices, cage.tets, cage.binding, weights)
    return cage.vertices
