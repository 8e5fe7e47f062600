"""A quick look at an object's undeformed shape that only reads: for estimates, which are asked for at every redraw."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from . import compat, stack

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

# They change the count of vertices and hardly the space that the body takes.
_KEEPING_SHAPE = frozenset("EDGE_SPLIT MULTIRES SUBSURF TRIANGULATE WELD DECIMATE".split())


def undeformed(ob: Any) -> tuple[Floats, Ints]:
    """Positions in world metres and triangles, about as a bake takes them for its rest shape."""
    below = stack.others(ob)[: stack.find_place(ob, ())]
    changing = [m for m in below if m.show_viewport and m.type in stack.COUNT_CHANGING - _KEEPING_SHAPE]
    matrix = np.array(ob.matrix_world, dtype=np.float64)
    if all(modifier.type == "MIRROR" for modifier in changing):
        positions, triangles = _arrays(ob.data)
        for modifier in changing:
            positions, triangles = _mirrored(ob, modifier, positions, triangles)
    else:  # what these make can only be had as it is posed now
        positions, triangles = _arrays(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data)
    unit = bpy.context.scene.unit_settings.scale_length or 1.0
    return (positions @ matrix[:3, :3].T + matrix[:3, 3]) * unit, triangles


def _arrays(mesh: Any) -> tuple[Floats, Ints]:
    """Positions and triangles, polygons as fans: good enough to be measured."""
    positions = compat.mesh_positions(mesh).astype(np.float64)
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    starts, totals = (np.empty(len(mesh.polygons), dtype=np.int32) for _ in range(2))
    mesh.polygons.foreach_get("loop_start", starts)
    mesh.polygons.foreach_get("loop_total", totals)
    count = np.maximum(totals - 2, 0)
    first = np.repeat(starts, count)
    step = np.arange(count.sum(), dtype=np.int64) - np.repeat(np.cumsum(count) - count, count)
    fans = np.stack([first, first + step + 1, first + step + 2], axis=1)
    triangles: Ints = corners[fans].astype(np.int32)
    return positions, triangles


def _mirrored(ob: Any, modifier: Any, positions: Floats, triangles: Ints) -> tuple[Floats, Ints]:
    space = np.eye(4)
    if modifier.mirror_object is not None:
        other = np.array(modifier.mirror_object.matrix_world, dtype=np.float64)
        space = np.linalg.inv(other) @ np.array(ob.matrix_world, dtype=np.float64)
    for axis in range(3):
        if modifier.use_axis[axis]:
            flip = np.eye(4)
            flip[axis, axis] = -1.0
            turn = np.linalg.inv(space) @ flip @ space
            triangles = np.concatenate([triangles, triangles[:, ::-1] + len(positions)]).astype(np.int32)
            positions = np.concatenate([positions, positions @ turn[:3, :3].T + turn[:3, 3]])
    return positions, triangles
