"""Painted regions of a body: where flesh is firmer, calmer, heavier or limper, and what follows inside of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from .follow import Body, Segment, body_of, has_volume, segment_distance
from .limbs import EAR, TAIL

if TYPE_CHECKING:
    from ..cage.cage import Cage  # it needs the native module, which not everybody who imports us has

Floats = npt.NDArray[np.float64]

_MOST_BALLS = 200

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


def make_core(
    positions: Floats,
    triangles: npt.NDArray[np.int32],
    segments: list[Segment],
    skin: npt.NDArray[np.float32] | None,
    share: float,
) -> Floats:
    """(k, 7) what is firm inside a body: around each bone, or without bones along its middle, `share` of how thick it
    is there. Tails, trunks and ears have none."""
    if not has_volume(positions, triangles):
        return np.zeros((0, 7))
    body = body_of(positions, triangles, segments, skin)
    firm = [piece.kind not in (TAIL, EAR) for piece in body.tree.pieces]
    rows = _around_bones(body, firm) if body.bones else _along_the_middle(body, firm)
    ends = rows[:, :6].reshape(-1, 3) @ body.solid.axes.turn + body.solid.axes.middle
    return np.concatenate([ends.reshape(-1, 6), share * rows[:, 6:]], axis=1)


def _around_bones(body: Body, firm: list[bool]) -> Floats:
    rows = []
    for bone, piece in body.bones:
        head, tail = np.array(bone.head), np.array(bone.tail)
        thick = body.solid.within(head + np.linspace(0.0, 1.0, 9)[:, None] * (tail - head), body.solid.thick)
        if firm[piece] and len(thick):
            rows.append([*head, *tail, float(np.median(thick))])
    return np.array(rows, np.float64).reshape(-1, 7)


def _along_the_middle(body: Body, firm: list[bool]) -> Floats:
    """Balls around the deepest cells, none in the middle of another; what is thin needs none."""
    solid = body.solid
    deep = solid.depth >= np.maximum(0.9 * solid.thick, 1.5 * solid.cell)
    middle = np.flatnonzero(deep & np.append(firm, True)[body.tree.of_cell])
    rows: list[list[float]] = []
    for cell in middle[np.argsort(-solid.depth[middle], kind="stable")]:
        place = solid.centres[cell]
        if all(np.linalg.norm(place - row[:3]) > 0.5 * row[6] for row in rows):
            rows.append([*place, *place, float(solid.depth[cell])])
        if len(rows) == _MOST_BALLS:
            break
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
