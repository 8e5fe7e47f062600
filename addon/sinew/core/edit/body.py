"""What is edited: flesh in a cage, or a thin sheet; and what carries its surface."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from ..base.native import module
from ..geometry.surface import areas_and_size
from ..geometry.triangles import sound_triangles

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

OVER = 0.01  # weight of a region from which on a body may be edited


class Carrier(Protocol):
    """Carries a surface: vertex i of it lies in cell binding[i], at barycentric weights[i]."""

    @property
    def vertices(self) -> Floats:
        """(n, 3) at rest."""

    @property
    def cells(self) -> Ints:
        """(e, 4) tets, or (e, 3) triangles."""

    @property
    def binding(self) -> Ints:
        """(t,)"""

    @property
    def weights(self) -> Floats:
        """(t, corners)"""


class Posed(Protocol):
    """One moment of the motion that is edited."""

    shape: Floats  # (n, 3) of the carrier, as it is shown

    def places(self, shape: Floats, vertices: Sequence[int]) -> Floats:
        """Vertices (k, 3) of the surface on another shape."""


@dataclass(frozen=True)
class Swing:
    """How a body answers over time: mass (n,) and driving stiffness (n,) of each vertex of its carrier, which are fixed
    (n,), drag (1/s), damping (s), and the frequency (Hz) that regions are told by."""

    mass: Floats
    drive: Floats
    fixed: Ints
    drag: float
    damping: float
    frequency: float

    def within(self, region: Floats) -> Any:
        """The same with only a region (n,) to be edited: 1 as it is, 0 not at all, between them held back."""
        weight = np.clip(region, OVER, 1.0)
        omega = 2.0 * np.pi * self.frequency
        held = self.mass * omega**2 * np.tan(0.5 * np.pi * (1.0 - weight))
        fixed = (self.fixed != 0) | (region < OVER)
        return dataclasses.replace(self, drive=self.drive + held, fixed=fixed.astype(np.int32))

    @property
    def _arrays(self) -> dict[str, Any]:
        return {"mass": self.mass, "drive": self.drive, "fixed": self.fixed}

    def native(self, carrier: Any, hold: float, monitor: Any = None) -> Any:
        """What edits it."""
        raise NotImplementedError


@dataclass(frozen=True)
class Body(Swing):
    """Flesh in a cage: Young's modulus (e,) of each tet."""

    young: Floats = dataclasses.field(default_factory=lambda: np.zeros(0))
    poisson: float = 0.4
    energy: str = "neo_hookean"

    def native(self, carrier: Any, hold: float, monitor: Any = None) -> Any:
        settings = {"poisson": self.poisson, "energy": self.energy, "hold": hold}
        return module.Edit(carrier.native, settings, self._arrays | {"young": self.young}, monitor)


@dataclass(frozen=True)
class Shell(Swing):
    """A thin sheet: how it resists being stretched (N/m) and bent (N m)."""

    stretch: float = 1500.0
    bend: float = 1e-5
    poisson: float = 0.3

    def native(self, carrier: Any, hold: float, monitor: Any = None) -> Any:
        settings = {"poisson": self.poisson, "stretch": self.stretch, "bend": self.bend, "hold": hold}
        return module.Edit.shell(carrier.vertices, carrier.cells, settings, self._arrays, monitor)


class Sheet:
    """A surface without volume, which carries itself: its cells are its triangles, but those without area, and of
    several on the same vertices all but one."""

    def __init__(self, rest: Any, triangles: Any) -> None:
        self.vertices: Floats = np.ascontiguousarray(rest, np.float64)
        self.cells = _sound(self.vertices, np.ascontiguousarray(triangles, np.int32).reshape(-1, 3))
        self.areas, self.size = areas_and_size(self.vertices, self.cells)
        self.binding = np.zeros(len(self.vertices), np.int32)
        self.weights = np.zeros((len(self.vertices), 3))
        self.loose = np.ones(len(self.vertices), bool)  # vertices of no cell: they stay where they are
        for corner in (2, 1, 0):
            own = self.cells[:, corner]
            self.binding[own] = np.arange(len(self.cells), dtype=np.int32)
            self.loose[own] = False
            self.weights[own] = np.eye(3)[corner]

    def interpolate(self, values: Any) -> Floats:
        """The surface on a shape: itself."""
        return np.ascontiguousarray(values, np.float64)


def _sound(rest: Floats, triangles: Ints) -> Ints:
    if not len(triangles):
        raise BadInput("The mesh has no faces: what is edited needs a surface.")
    if triangles.min() < 0 or triangles.max() >= len(rest):
        raise BadInput(f"A triangle has a vertex that is not there: the mesh has {len(rest)}.")
    sound: Ints = np.ascontiguousarray(triangles[sound_triangles(rest, triangles)])
    return sound


def cell_size(carrier: Carrier) -> float:
    """Metres: the edge of the cubes, or squares, of a lattice whose cells are as large."""
    corners = carrier.vertices[carrier.cells]
    edges = corners[:, 1:] - corners[:, :1]
    if carrier.cells.shape[1] == 3:
        return float(np.sqrt(np.median(np.linalg.norm(np.cross(edges[:, 0], edges[:, 1]), axis=1))))
    return float(np.cbrt(6.0 * np.median(np.abs(np.linalg.det(edges)) / 6.0)))


def frames_of(points: Floats) -> Floats:
    """Edges (k, 3, 3) of cells (k, corners, 3) as columns: of triangles with their normal."""
    edges = points[:, 1:] - points[:, :1]
    if edges.shape[1] == 2:
        normals = np.cross(edges[:, 0], edges[:, 1])
        normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        edges = np.concatenate([edges, normals[:, None]], axis=1)
    found: Floats = np.swapaxes(edges, 1, 2)
    return found
