"""A quick look at an object's undeformed shape that only reads: for estimates, which are asked for at every redraw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from . import compat, stack
from .objects import unit_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

# They change the count of vertices and hardly the space that the body takes.
_KEEPING_SHAPE = frozenset("EDGE_SPLIT MULTIRES SUBSURF TRIANGULATE WELD DECIMATE".split())


@dataclass(frozen=True)
class Shape:
    """What was read from Blender; `build` makes more of it and may run in a thread."""

    positions: npt.NDArray[np.float32]  # (n, 3) local
    corners: Ints  # vertices of all polygons, one after the other
    starts: Ints  # first corner of each polygon
    totals: Ints  # number of its corners
    mirrors: list[Floats]  # (4, 4) each: it is mirrored so, one after the other
    matrix: Floats  # (4, 4) to world metres

    def build(self) -> tuple[Floats, Ints]:
        """Positions in world metres and triangles. Polygons are cut as fans: good enough to be measured."""
        count = np.maximum(self.totals - 2, 0)
        first = np.repeat(self.starts, count)
        step = np.arange(count.sum(), dtype=np.int64) - np.repeat(np.cumsum(count) - count, count)
        triangles = self.corners[np.stack([first, first + step + 1, first + step + 2], axis=1)]
        positions = self.positions.astype(np.float64)
        for mirror in self.mirrors:
            triangles = np.concatenate([triangles, triangles[:, ::-1] + len(positions)])
            positions = np.concatenate([positions, _moved(mirror, positions)])
        return _moved(self.matrix, positions), triangles.astype(np.int32)


def undeformed(ob: Any) -> Shape:
    """About the shape that a bake takes for its rest shape."""
    below = stack.others(ob)[: stack.find_place(ob, ())]
    changing = [m for m in below if m.show_viewport and m.type in stack.COUNT_CHANGING - _KEEPING_SHAPE]
    mesh, mirrors = ob.data, []
    if all(modifier.type == "MIRROR" for modifier in changing):
        mirrors = [mirror for modifier in changing for mirror in _mirrors(ob, modifier)]
    else:  # what these make can only be had as it is posed now
        mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    starts, totals = (np.empty(len(mesh.polygons), dtype=np.int32) for _ in range(2))
    mesh.polygons.foreach_get("loop_start", starts)
    mesh.polygons.foreach_get("loop_total", totals)
    matrix = np.array(ob.matrix_world, dtype=np.float64)
    matrix[:3] *= unit_of(bpy.context.scene)
    return Shape(compat.mesh_positions(mesh), corners, starts, totals, mirrors, matrix)


def _mirrors(ob: Any, modifier: Any) -> list[Floats]:
    space = np.eye(4)
    if modifier.mirror_object is not None:
        other = np.array(modifier.mirror_object.matrix_world, dtype=np.float64)
        space = np.linalg.inv(other) @ np.array(ob.matrix_world, dtype=np.float64)
    return [
        np.linalg.inv(space) @ np.diag([-1.0 if i == axis else 1.0 for i in range(4)]) @ space
        for axis in range(3)
        if modifier.use_axis[axis]
    ]


def _moved(matrix: Floats, points: Floats) -> Floats:
    moved: Floats = points @ matrix[:3, :3].T + matrix[:3, 3]
    return moved
