"""How thick a body is at each of its surface vertices: the radius of the largest ball inside that touches it.

On a coarse grid: surface cells, flood fill from outside, distance from outside to every inner cell, then a walk from
each vertex uphill as long as the ball there still reaches the vertex. Coarse on purpose: it feeds a first guess.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def thickness(positions: Floats, triangles: npt.NDArray[np.int32], cells: int = 48) -> Floats:
    """Radius (t,) in the unit of `positions`; about half a cell where the surface encloses nothing."""
    low, high = positions.min(axis=0), positions.max(axis=0)
    size = float((high - low).max())
    if size <= 0.0:
        return np.zeros(len(positions))
    cell = size / cells
    origin = low - 1.618 * cell  # off the bounding box, where rounding would decide which cell a flat side falls into
    shape = tuple(int(n) for n in np.ceil((high - low) / cell) + 4)
    solid = np.zeros(shape, dtype=bool)
    points = _surface_points(positions, triangles, 0.5 * cell)
    solid[tuple(_cell_of(points, origin, cell, shape).T)] = True
    inside = ~_outside(solid)
    distance = np.sqrt(_squared_distance(inside)) * cell
    return _walk_uphill(positions, distance, origin, cell)


def _cell_of(points: Floats, origin: Floats, cell: float, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    index = np.floor((points - origin) / cell).astype(np.int64)
    return np.clip(index, 0, np.array(shape) - 1)


def _surface_points(positions: Floats, triangles: npt.NDArray[np.int32], spacing: float) -> Floats:
    """Points on all triangles no farther apart than `spacing`."""
    points = [positions]
    corners = positions[triangles]
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1, initial=0.0)
    steps = np.clip(np.ceil(longest / spacing), 1, 256).astype(int)
    for count in np.unique(steps):
        if count < 2:
            continue
        some = corners[steps == count]
        grid = [(i / count, j / count) for i in range(count + 1) for j in range(count + 1 - i)]
        for u, v in grid:
            points.append(some[:, 0] * (1 - u - v) + some[:, 1] * u + some[:, 2] * v)
    return np.concatenate(points)


def _outside(solid: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Cells that can be reached from the border without crossing a solid one."""
    reached = np.zeros_like(solid)
    for axis in range(3):
        for end in (0, -1):
            np.moveaxis(reached, axis, 0)[end] = True
    reached &= ~solid
    count = -1
    while count != (count := int(np.count_nonzero(reached))):
        # Whole runs at a time: a sweep carries the front as far as it goes along an axis.
        for axis in range(3):
            front, blocked = np.moveaxis(reached, axis, 0), np.moveaxis(solid, axis, 0)
            for order in (range(1, len(front)), range(len(front) - 2, -1, -1)):
                step = 1 if order.step > 0 else -1
                for i in order:
                    front[i] |= front[i - step] & ~blocked[i]
    return reached


def _squared_distance(inside: npt.NDArray[np.bool_]) -> Floats:
    """Squared distance, in cells, from each inner cell to the nearest outer one; exact, axis by axis."""
    result = np.where(inside, 1e9, 0.0)
    for axis in range(3):
        count = result.shape[axis]
        apart = (np.arange(count)[:, None] - np.arange(count)[None, :]).astype(np.float64) ** 2
        lines = np.moveaxis(result, axis, -1)
        shape = lines.shape
        flat = np.ascontiguousarray(lines).reshape(-1, count)
        best = np.full_like(flat, np.inf)
        for i in range(count):
            np.minimum(best, flat[:, i : i + 1] + apart[i], out=best)
        result = np.moveaxis(best.reshape(shape), -1, axis)
    return result


def _walk_uphill(positions: Floats, distance: Floats, origin: Floats, cell: float) -> Floats:
    shape = distance.shape
    heights = distance.ravel()
    strides = np.array([shape[1] * shape[2], shape[2], 1])
    centers = [origin[axis] + (np.arange(shape[axis]) + 0.5) * cell for axis in range(3)]
    # Cells at the border are outside, where no walk leads, so a neighbour is always another place in the flat array.
    around = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1) if (i, j, k) != (0, 0, 0)]
    steps = [int(np.dot(step, strides)) for step in around]
    here = _cell_of(positions, origin, cell, shape) @ strides
    radius = heights[here]
    walking = np.arange(len(positions))
    for _ in range(max(shape)):
        start = here[walking]
        best, best_radius = start.copy(), radius[walking].copy()
        for step in steps:
            there = start + step
            found = heights[there]
            higher = np.flatnonzero(found > best_radius)
            # The ball must still reach the vertex, or the walk from a leg would end in the belly.
            cells = np.unravel_index(there[higher], shape)
            center = np.stack([centers[axis][cells[axis]] for axis in range(3)], axis=1)
            away = np.linalg.norm(center - positions[walking[higher]], axis=1)
            better = higher[away <= found[higher] + 0.75 * cell]
            best[better], best_radius[better] = there[better], found[better]
        moved = best != start
        here[walking], radius[walking] = best, best_radius
        walking = walking[moved]
        if not len(walking):
            break
    return np.maximum(radius, 0.5 * cell)
