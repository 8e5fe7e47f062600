"""What bodies collide with and cannot move: meshes of the scene, each of which keeps its shape or is sampled on every
frame, and the ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .method import Shape

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

MATRICES, DEFORMED = "obstacle_matrices", "obstacle_deformed"  # inputs of a sample

_GROUND_REACH, _GROUND_DEPTH = 200.0, 20.0  # of size
# A box that stands on its top: corners, and its sides from outside.
_CORNERS = np.array([(x, y, z) for z in (-1.0, 0.0) for y in (-1.0, 1.0) for x in (-1.0, 1.0)])
_SIDES = np.array(
    [(0, 2, 1), (1, 2, 3), (4, 5, 6), (5, 7, 6), (0, 1, 4), (1, 5, 4), (2, 6, 3), (3, 6, 7), (0, 4, 2), (2, 4, 6),
     (1, 3, 5), (3, 7, 5)], np.int32,
)  # fmt: skip


@dataclass(frozen=True)
class Obstacles:
    """All obstacles of a body as one mesh of v vertices and m triangles: k meshes, and the first d vertices deform. A
    sample has the matrices (4 k, 4) to world metres and the deforming vertices (d, 3), local."""

    names: tuple[str, ...]
    triangles: Ints  # (m, 3)
    owners: Ints  # (v,) the mesh of each vertex
    shapes: npt.NDArray[np.float32]  # (v - d, 3) local, of the vertices that do not deform
    thickness: Floats  # (k,) metres
    friction: Floats  # (k,) NaN: as the body's
    rest: Floats | None = None  # (v, 3) world metres: where they are undeformed, NaN where that is not known

    @property
    def count(self) -> int:
        return len(self.names)

    @property
    def deforming(self) -> int:
        return len(self.owners) - len(self.shapes)

    def placed(self, matrices: Floats, deformed: npt.NDArray[np.float32] | None) -> Floats:
        """All vertices (v, 3) in a sample, world metres; without `deformed` where none deforms."""
        local = np.concatenate([self.shapes[:0] if deformed is None else deformed, self.shapes]).astype(np.float64)
        each = matrices.reshape(-1, 4, 4)[self.owners]
        placed: Floats = np.einsum("vij,vj->vi", each[:, :3, :3], local) + each[:, :3, 3]
        return placed

    def constants(self) -> dict[str, Array]:
        """As a bake keeps them; names it does not."""
        return {
            "obstacle_triangles": self.triangles,
            "obstacle_owners": self.owners,
            "obstacle_shapes": self.shapes,
            "obstacle_thickness": self.thickness,
            "obstacle_friction": self.friction,
        }

    def counts(self) -> dict[str, int]:
        return {
            "obstacles": self.count,
            "obstacle_vertices": len(self.owners),
            "obstacle_triangles": len(self.triangles),
            "obstacle_deforming": self.deforming,
        }


NONE = Obstacles(
    (), np.zeros((0, 3), np.int32), np.zeros(0, np.int32), np.zeros((0, 3), np.float32), np.zeros(0), np.zeros(0)
)


def shapes_of(counts: Mapping[str, int]) -> tuple[dict[str, Shape], dict[str, Shape]]:
    """The files of obstacles: constants, and inputs of every sample. None where there is no obstacle, nor a count."""
    k, v = counts.get("obstacles", 0), counts.get("obstacle_vertices", 0)
    d = counts.get("obstacle_deforming", 0)
    if not k:
        return {}, {}
    constants: dict[str, Shape] = {
        "obstacle_triangles": ((counts.get("obstacle_triangles", 0), 3), "<i4"),
        "obstacle_owners": ((v,), "<i4"),
        "obstacle_shapes": ((v - d, 3), "<f4"),
        "obstacle_thickness": ((k,), "<f8"),
        "obstacle_friction": ((k,), "<f8"),
    }
    inputs: dict[str, Shape] = {MATRICES: ((4 * k, 4), "<f8")}
    if d:
        inputs[DEFORMED] = ((d, 3), "<f4")
    return constants, inputs


def gather(meshes: Sequence[Any], rests: Mapping[str, Floats] | None = None) -> Obstacles:
    """From meshes with `name`, `triangles`, `vertices`, `shape` (None: it deforms), `thickness` and `friction` (None:
    that of the body). Those that deform go first: `order` says where each of the given meshes is. `rests`: where some
    are undeformed, by name."""
    if not meshes:
        return NONE
    given = [meshes[number] for number in order(meshes)]
    starts = np.cumsum([0, *(mesh.vertices for mesh in given)])
    shapes = [mesh.shape for mesh in given if mesh.shape is not None]
    return Obstacles(
        names=tuple(mesh.name for mesh in given),
        triangles=np.concatenate([mesh.triangles + start for mesh, start in zip(given, starts)]).astype(np.int32),
        owners=np.repeat(np.arange(len(given), dtype=np.int32), [mesh.vertices for mesh in given]),
        shapes=np.concatenate([np.zeros((0, 3), np.float32), *shapes]).astype(np.float32),
        thickness=np.array([mesh.thickness for mesh in given], np.float64),
        friction=np.array([np.nan if mesh.friction is None else mesh.friction for mesh in given], np.float64),
        rest=_rest_of(given, rests or {}),
    )


def _rest_of(meshes: Sequence[Any], rests: Mapping[str, Floats]) -> Floats | None:
    known = {mesh.name for mesh in meshes if len(rests.get(mesh.name, ())) == mesh.vertices}
    each = [rests[one.name] if one.name in known else np.full((one.vertices, 3), np.nan) for one in meshes]
    return np.concatenate(each) if known else None


def order(meshes: Sequence[Any]) -> list[int]:
    """The numbers of some meshes, those that deform first."""
    return sorted(range(len(meshes)), key=lambda number: meshes[number].shape is not None)


def ground(height: float, centre: Any, size: float) -> tuple[Floats, Ints]:
    """The ground around a body as a closed box: its top is so wide that nothing gets to its border, and so deep is the
    rest that whoever is inside finds the top nearest."""
    reach, depth = _GROUND_REACH * size, _GROUND_DEPTH * size
    corners = _CORNERS * (reach, reach, depth) + (centre[0], centre[1], height)
    return corners, _SIDES.copy()
