"""The cage: tets around any mesh, and the interpolation that carries the mesh."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.native import module

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


class Cage:
    """A tet mesh that carries a surface. Immutable.

    vertices (n, 3) and tets (e, 4) are the mesh at rest; surface vertex i is carried by tet binding[i] with barycentric
    weights[i].
    """

    note = ""  # a sentence for the artist, where another mesher had to take the place of the chosen one
    safe_vertices: Floats | None = None  # (n, 3) where it was built, if not at rest: core/cage/safe.py

    def __init__(self, vertices: Any, tets: Any, binding: Any, weights: Any, *, native: Any = None) -> None:
        """Restores a cage from its arrays; `build_cage` makes one."""
        self.vertices: Floats = np.ascontiguousarray(vertices, np.float64)
        self.tets: Ints = np.ascontiguousarray(tets, np.int32)
        self.binding: Ints = np.ascontiguousarray(binding, np.int32)
        self.weights: Floats = np.ascontiguousarray(weights, np.float64)
        self.native = native or module.Cage.restore(self.vertices, self.tets, self.binding, self.weights)
        for array in (self.vertices, self.tets, self.binding, self.weights):
            array.flags.writeable = False

    @property
    def cells(self) -> Ints:
        """(e, 4) what gradients are taken on."""
        return self.tets

    @property
    def min_dihedral(self) -> float:
        """Smallest dihedral angle of the tets at rest, in degrees."""
        return self.native.min_dihedral()

    def interpolate(self, values: Any) -> Floats:
        """The surface that the cage carries: (n, 3) positions or displacements of the cage to (t, 3)."""
        surface = np.empty((len(self.binding), 3))
        self.native.interpolate(np.ascontiguousarray(values, np.float64), surface)
        return surface

    def filling(self, rest: Any, triangles: Any, monitor: Any = None) -> tuple[Floats, Floats]:
        """How much of each tet the body fills, 0..1, and how thick the body is there, metres; both (e,)."""
        fill, thickness = np.empty(len(self.tets)), np.empty(len(self.tets))
        self.native.fill(
            np.ascontiguousarray(rest, np.float64), np.ascontiguousarray(triangles, np.int32), fill, thickness, monitor
        )
        return fill, thickness

    def bind(self, points: Any, pose: Any) -> Cage:
        """The same tets carrying other points (p, 3), bound while the cage is at `pose` (n, 3). What lies outside holds
        on to the nearest face."""
        points = np.ascontiguousarray(points, np.float64)
        binding, weights = np.empty(len(points), np.int32), np.empty((len(points), 4))
        self.native.bind(np.ascontiguousarray(pose, np.float64), points, binding, weights)
        return Cage(self.vertices, self.tets, binding, weights)


# The automatic resolution: cells enough to tell legs, trunk and ears apart, fewer where the body is thick: what moves
# is then as large, and the inside would fill with tets that nobody sees move. A trial shows how thick: for its length
# a body has tets by the square of its thickness.
AUTOMATIC_RESOLUTION = 24
THICK_TETS = 12_200  # of a trial of so thick a body that it needs no more cells than that
TRIAL_RESOLUTION = 12


def build_cage(
    rest: Any,
    triangles: Any,
    resolution: int = 0,
    *,
    separate_parts: bool = True,
    mesher: str = "lattice",
    monitor: Any = None,
) -> Cage:
    """A cage around any mesh: non-manifold, open, many shells, self-intersecting, with loose vertices.

    rest (t, 3) metres, triangles (m, 3) indices; resolution is the number of cells along the longest side, 0 for
    an automatic one: 24, or fewer for a thick body, which moves in larger parts.
    separate_parts gives parts that are near each other but not connected there (fingers, lips, crossed legs) tets of
    their own, also where they touch; loose shells (eyes, buttons, clothes) hold on to what they lie in or on.
    mesher "gmsh" fills a smoother envelope with tets that grow towards the inside; where it cannot, the cage is that of
    "lattice" and its note says why. It does not separate parts.
    """
    rest = np.ascontiguousarray(rest, np.float64)
    triangles = np.ascontiguousarray(triangles, np.int32).reshape(-1, 3)
    if resolution == 0:
        resolution = automatic_resolution(rest, triangles, monitor)
    if mesher == "gmsh":
        return _gmsh_cage(rest, triangles, resolution, separate_parts, monitor)
    return _lattice_cage(rest, triangles, resolution, separate_parts, monitor)


def _gmsh_cage(rest: Floats, triangles: Ints, resolution: int, separate_parts: bool, monitor: Any) -> Cage:
    from . import gmsh  # it takes cages from here

    try:
        return gmsh.fill_cage(_lattice_cage(rest, triangles, resolution, False, monitor), rest, monitor)
    except gmsh.Failure as failure:
        cage = _lattice_cage(rest, triangles, resolution, separate_parts, monitor)
        cage.note = f"The lattice mesher made the cage, because Gmsh {failure}."
        return cage


def _lattice_cage(rest: Floats, triangles: Ints, resolution: int, separate_parts: bool, monitor: Any) -> Cage:
    native = module.Cage(rest, triangles, resolution, separate_parts, monitor)
    vertex_count, tet_count, surface_count = native.counts()
    vertices, tets = np.empty((vertex_count, 3)), np.empty((tet_count, 4), np.int32)
    binding, weights = np.empty(surface_count, np.int32), np.empty((surface_count, 4))
    native.read(vertices, tets, binding, weights)
    return Cage(vertices, tets, binding, weights, native=native)


def automatic_resolution(rest: Floats, triangles: Ints, monitor: Any = None) -> int:
    return resolution_after_trial(count_tets(rest, triangles, TRIAL_RESOLUTION, monitor=monitor))


def resolution_after_trial(tets: int) -> int:
    """From the tets of a coarse trial: as many cells across the thickness of every body."""
    across = int(TRIAL_RESOLUTION * (THICK_TETS / max(tets, 1)) ** 0.5)
    return max(TRIAL_RESOLUTION, min(AUTOMATIC_RESOLUTION, across))


def count_tets(rest: Any, triangles: Any, resolution: int, separate_parts: bool = False, monitor: Any = None) -> int:
    """How many tets the cage of that resolution has."""
    return int(module.Cage(rest, triangles, resolution, separate_parts, monitor).counts()[1])
