"""Poses of one body: laid over each other, and which of them differ most."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FRAMES = 5  # that are fitted
CANDIDATES = 20  # that are looked at
_POINTS = 2000  # of the mesh that are enough to tell poses apart


def candidates(first: int, last: int, missing: Collection[int] = ()) -> list[int]:
    """Frames spread over the range."""
    frames = np.unique(np.rint(np.linspace(first, last, CANDIDATES)).astype(int)).tolist()
    return [frame for frame in frames if frame not in missing]


def most_different(rest: Floats, poses: Sequence[Floats], count: int = FRAMES) -> list[int]:
    """Indices, in order, of the poses (t, 3) that differ most from the rest shape and from each other, whatever the
    whole body's place and turn."""
    picked = np.unique(np.linspace(0, len(rest) - 1, min(_POINTS, len(rest))).astype(int))
    still = [aligned(np.asarray(pose, np.float64)[picked], rest[picked]) for pose in poses]
    nearest = np.array([_distance(pose, rest[picked]) for pose in still])
    chosen: list[int] = []
    for _ in range(min(count, len(poses))):
        following = int(np.argmax(nearest))
        chosen.append(following)
        nearest = np.minimum(nearest, [_distance(pose, still[following]) for pose in still])
        nearest[chosen] = -1.0
    return sorted(chosen)


def aligned(points: Floats, rest: Floats) -> Floats:
    """The points, turned and shifted onto the rest shape as a whole."""
    arms, aims = points - points.mean(axis=0), rest - rest.mean(axis=0)
    left, _, right = np.linalg.svd(arms.T @ aims)
    left[:, 2] *= np.linalg.det(left @ right)
    turned: Floats = arms @ (left @ right) + rest.mean(axis=0)
    return turned


def _distance(one: Floats, other: Floats) -> float:
    return float(np.sqrt(((one - other) ** 2).sum(axis=1).mean()))
