"""Painted regions of a body: where flesh is firmer, calmer, heavier or limper, and what follows inside of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .follow import Segment, aimed, segment_distance

if TYPE_CHECKING:
    from ..cage.cage import Cage  # it needs the native module, which not everybody who imports us has

Floats = npt.NDArray[np.float64]

# Which setting names the vertex group of which region; the setting <region>_painted says what a weight of 1 does.
GROUPS = {
    "stiffness": "stiffness_group",
    "damping": "damping_group",
    "density": "density_group",
    "keep_pose": "keep_pose_group",
}


@dataclass(frozen=True)
class Regions:
    """Weights (t,) from 0 to 1 of each region; None where nothing is painted."""

    stiffness: Floats | None = None
    damping: Floats | None = None
    density: Floats | None = None
    keep_pose: Floats | None = None
    bones: Floats | None = None  # (k, 7) head, tail and radius of what follows inside the flesh, world metres at rest
    average: Floats | None = None  # where averages follow; None: wherever flesh is free
    inside: Floats | None = None  # (k, 4) points in the flesh and their follow weights, world metres at rest

    def arrays(self) -> dict[str, Floats]:
        """Those that are there, by name."""
        names = (*GROUPS, "average", "bones", "inside")
        return {name: array for name in names if (array := getattr(self, name)) is not None}


def make_bones(segments: list[Segment], positions: Floats, skin: npt.NDArray[np.float32], share: float) -> Floats:
    """(k, 7) the cores of limbs: each bone with `share` of the thickness of the flesh that it carries most of."""
    owner, carried = skin.argmax(axis=1), skin.max(axis=1) > 0.0
    rows = []
    for index, bone in enumerate(aimed(segments, positions, skin)):
        mine = positions[carried & (owner == index)]
        if len(mine) >= 3:
            rows.append([*bone.head, *bone.tail, share * float(np.median(segment_distance(mine, bone)))])
    return np.array(rows, np.float64).reshape(-1, 7)


def cage_follow(cage: Cage, regions: Regions) -> Floats | None:
    """(n,) what is known of the cage's own vertices: 1 in the cores of limbs, the weight of a painted point at the
    vertex nearest to it, NaN elsewhere; None where nothing is."""
    if regions.bones is None and regions.inside is None:
        return None
    follow = np.full(len(cage.vertices), np.nan)
    if regions.inside is not None:
        follow_points(cage, regions.inside, follow)
    if regions.bones is not None:
        _follow_bones(cage, regions.bones, follow)
    return follow


def follow_points(cage: Cage, points: Floats, follow: Floats) -> None:
    """Writes the weights of points (k, 4) at the cage vertices nearest to them."""
    for *point, weight in points:
        follow[np.argmin(np.sum((cage.vertices - point) ** 2, axis=1))] = weight


def _follow_bones(cage: Cage, bones: Floats, follow: Floats) -> None:
    """A core thinner than the cage's tets holds on to those around the points of its bone."""
    points = []
    for row in bones:
        bone = Segment("", tuple(row[:3]), tuple(row[3:6]), -1, False)
        inside = segment_distance(cage.vertices, bone) <= row[6]
        follow[inside] = 1.0
        if not inside.any():
            points.append(row[:3] + np.linspace(0.0, 1.0, 9)[:, None] * (row[3:6] - row[:3]))
    if points:
        follow[cage.tets[cage.bind(np.concatenate(points), cage.vertices).binding]] = 1.0
