"""Follow weights without painting: 1 where flesh sits tight on bone, low where it hangs free.

With bones: how far a vertex is from the bones that carry it, against the distances that are usual on this body. Parts
that a bone ends in (hands, feet, head) follow exactly, unless they stick out thin and far from it (ears). Bones whose
name or shape says tail, trunk, ear or belly let go from their root to their tip. Without bones: of a body with limbs
the thin parts follow and the thick ones are free; of one without, the middle of its lower part follows and what is far
from there is free. All lengths are relative to the body itself.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ..geometry.connected import connected_pieces
from ..geometry.thickness import thickness

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_SOFT_NAMES = (
    "tail ear ears trunk tentacle hair belly stomach tummy breast boob bust cheek cheeks tongue fin udder "
    "jiggle jelly fat flab butt glute dewlap wattle antenna lobe mane plume feather cloth cape skirt"
).split()
_FIRM_NAMES = (
    "hand foot feet paw hoof head skull toe toes finger fingers thumb claw eye eyes jaw mouth "
    "face snout muzzle nose teeth horn beak"
).split()

_TIP_WEIGHT = 0.1  # of soft parts with bones of their own: they keep some of their animated gesture
_BODY_WEIGHT = 0.25  # of thick flesh (a belly): quite free, its animated shape still pulls it back after a hard landing
_LEAST_FREE = 0.10  # share of the surface that is free (weight under 1/2) at least
_LEAST_FIRM = 0.10  # share that follows exactly at least


@dataclass(frozen=True)
class Segment:
    """A deform bone at rest, in the space of the mesh's rest positions."""

    name: str
    head: tuple[float, float, float]
    tail: tuple[float, float, float]
    parent: int  # index of its parent among the segments, or -1
    is_leaf: bool


def automatic_follow(
    positions: Floats,
    triangles: npt.NDArray[np.int32],
    edges: npt.NDArray[np.int32] | None = None,
    bones: list[Segment] | None = None,
    skin: npt.NDArray[np.float32] | None = None,
) -> Floats:
    """Weights (t,) from 0 (free) to 1 (follows exactly). `skin`: (t, bones) weights of the rig, if it has them."""
    surface = _Surface(positions, triangles, edges)
    if surface.size <= 0.0:
        return np.ones(len(positions))
    if bones and skin is not None:
        used = [i for i in range(len(bones)) if float(skin[:, i].max(initial=0.0)) > 0.01]
        skin, bones = skin[:, used], _subset(bones, used)
        bones = aimed(bones, positions, skin)
    radius = surface.smooth(surface.gather(thickness(positions, triangles)), 2)
    if bones:
        weights = _rigged(surface, radius, bones, None if skin is None else surface.gather(skin.astype(np.float64)))
    else:
        weights = _unrigged(surface, radius)
    return weights[surface.welded]


class _Surface:
    """The welded surface: glTF and the like split vertices at seams, which must not part the weights."""

    def __init__(
        self, positions: Floats, triangles: npt.NDArray[np.int32], edges: npt.NDArray[np.int32] | None
    ) -> None:
        self.size = float(np.ptp(positions, axis=0).max()) if len(positions) else 0.0
        grid = np.round(positions / (1e-5 * self.size if self.size > 0 else 1.0)).astype(np.int64)
        grid -= grid.min(axis=0, initial=2**62)
        # Numbers instead of rows: sorting rows takes ten times as long and holds up every other thread.
        keys = (grid[:, 0] << 40) + (grid[:, 1] << 20) + grid[:, 2]
        _, first, welded = np.unique(keys, return_index=True, return_inverse=True)
        self.welded: Ints = welded.reshape(-1)
        self.first: Ints = first
        self.positions = positions[first]
        count = len(first)
        corners = self.welded[triangles]
        pairs = [corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]
        if edges is not None and len(edges):
            pairs = [*pairs, self.welded[edges]]
        both = np.sort(np.concatenate(pairs), axis=1)
        both = both[both[:, 0] != both[:, 1]]
        pairs_once = np.unique(both[:, 0].astype(np.int64) * count + both[:, 1])
        self.edges: Ints = np.stack(np.divmod(pairs_once, max(count, 1)), axis=1)
        crossed = np.cross(
            self.positions[corners[:, 1]] - self.positions[corners[:, 0]],
            self.positions[corners[:, 2]] - self.positions[corners[:, 0]],
        )
        area = np.linalg.norm(crossed, axis=1) / 6.0
        normals = np.stack([np.bincount(corners.ravel(), np.repeat(c, 3), count) for c in crossed.T], axis=1)
        self.normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        self.areas = np.bincount(corners.ravel(), np.repeat(area, 3), count) if len(corners) else np.ones(count)
        if self.areas.sum() <= 0.0:
            self.areas = np.ones(count)
        self.degrees = np.bincount(self.edges.ravel(), minlength=count).astype(np.float64)
        lengths = np.linalg.norm(self.positions[self.edges[:, 0]] - self.positions[self.edges[:, 1]], axis=1)
        self.edge_length = float(lengths.mean()) if len(lengths) else self.size
        self.lengths = lengths
        self.shells = connected_pieces(count, self.edges)

    def gather(self, values: Floats) -> Floats:
        return values[self.first]

    def smooth(self, values: Floats, rounds: int) -> Floats:
        a, b = self.edges[:, 0], self.edges[:, 1]
        count = len(values)
        for _ in range(rounds):
            total = np.bincount(a, values[b], count) + np.bincount(b, values[a], count)
            values = np.where(self.degrees > 0, 0.5 * values + 0.5 * total / np.maximum(self.degrees, 1.0), values)
        return values

    def smooth_over(self, values: Floats, length: float) -> Floats:
        """Smooths features shorter than about `length`."""
        rounds = int(np.clip((length / max(self.edge_length, 1e-12)) ** 2, 1, 60))
        return self.smooth(values, rounds)

    def percentile(self, values: Floats, share: float, mask: npt.NDArray[np.bool_] | None = None) -> float:
        """The value below which `share` of the area lies."""
        areas = self.areas if mask is None else np.where(mask, self.areas, 0.0)
        order = np.argsort(values, kind="stable")
        cumulated = np.cumsum(areas[order])
        if cumulated[-1] <= 0.0:
            return float(np.quantile(values, share))
        return float(values[order[min(int(np.searchsorted(cumulated, share * cumulated[-1])), len(order) - 1)]])

    def share(self, mask: npt.NDArray[np.bool_]) -> float:
        return float(self.areas[mask].sum() / self.areas.sum())


def _rigged(surface: _Surface, radius: Floats, bones: list[Segment], skin: Floats | None) -> Floats:
    distances = np.stack([segment_distance(surface.positions, bone) for bone in bones], axis=1)
    soft = _soft_bones(surface, radius, bones, distances, skin)
    owner, distance = _owners(distances, skin)
    firm = _firm_parts(surface, radius, bones, owner, soft)
    hanging = _hanging_parts(surface, bones, owner, soft)

    # Softness of the rest by distance from bone: what is usual on this body is firm, what is far is free. Thick parts
    # count as farther than thin ones, and what hangs below (a belly) as farther than what lies on top (a back).
    body = ~firm & np.isnan(hanging)
    if not body.any():
        body = np.ones(len(firm), dtype=bool)
    thick = radius / max(surface.percentile(radius, 0.9, body), 1e-12)
    distance = distance * (0.4 + 0.6 * np.minimum(thick, 1.0))
    distance = distance * (1.0 - 0.4 * surface.smooth_over(surface.normals[:, 2], 0.05 * surface.size))
    far = np.zeros(len(distance))
    # A few large free parts move more than a trunk that is half free all around: start strict, until enough is free.
    for shares in ((0.65, 0.97), (0.5, 0.92), (0.35, 0.8), (0.2, 0.65), (0.1, 0.5)):
        near_value = surface.percentile(distance, shares[0], body)
        far_value = surface.percentile(distance, shares[1], body)
        far = _step(distance, near_value, max(far_value, near_value + 0.01 * surface.size))
        # On a body that is thick all over (a slime, a cow) even the usual distance is far.
        far = np.maximum(far, _step(distance, 0.07 * surface.size, 0.15 * surface.size))
        far *= 1.0 - _BODY_WEIGHT
        far[firm] = 0.0
        far = np.where(np.isnan(hanging), far, hanging)
        # A tail alone does not make a soft body.
        if surface.share(far > 0.5) >= _LEAST_FREE and surface.share(body & (far > 0.5)) >= 0.6 * _LEAST_FREE:
            break
    return _finished(surface, 1.0 - far, np.nan_to_num(1.0 - hanging, nan=0.0))


def _unrigged(surface: _Surface, radius: Floats) -> Floats:
    """A body with limbs: thin parts follow, thick ones are free. One without (a pudding): its lower middle holds, its
    top and what sticks out swing."""
    thick_radius = surface.percentile(radius, 0.9)
    if surface.share(radius < 0.6 * thick_radius) > 0.25:
        hanging = 1.0 - 0.3 * surface.smooth_over(surface.normals[:, 2], 0.05 * surface.size)
        soft = surface.smooth_over(radius * hanging, 0.05 * surface.size)
        far = _step(soft, surface.percentile(soft, 0.5), surface.percentile(soft, 0.85))
        return _finished(surface, 1.0 - far, np.zeros(len(far)))
    areas = surface.areas / surface.areas.sum()
    core = areas @ surface.positions
    low, high = surface.positions[:, 2].min(), surface.positions[:, 2].max()
    core[2] = low + 0.25 * (high - low)
    distance = np.linalg.norm(surface.positions - core, axis=1)
    # Thick parts count as up to a third farther than thin ones.
    distance = distance * (1.0 + 0.33 * radius / max(thick_radius, 1e-12))
    far = _step(distance, surface.percentile(distance, 0.2), surface.percentile(distance, 0.75))
    return _finished(surface, 1.0 - far, np.zeros(len(far)))


def _finished(surface: _Surface, weights: Floats, floor: Floats) -> Floats:
    """Smooth between, exact at both ends, whole small shells, and always something free and something firm."""
    smooth = surface.smooth_over(weights, 0.05 * surface.size)
    smooth = np.clip((smooth - 0.1) / 0.8, 0.0, 1.0)
    # Never looser than the tip of a part with bones of its own.
    smooth = np.maximum(smooth, np.minimum(floor, _TIP_WEIGHT))
    if surface.share(smooth < 0.5) < _LEAST_FREE:
        smooth = _rescaled(smooth, surface.percentile(smooth, _LEAST_FREE), below=True)
    if surface.share(smooth >= 1.0) < _LEAST_FIRM:
        smooth = _rescaled(smooth, surface.percentile(smooth, 1.0 - _LEAST_FIRM), below=False)
    return _whole_shells(surface, smooth)


def _rescaled(weights: Floats, value: float, below: bool) -> Floats:
    """Bends the weights so that `value` becomes just under 1/2 (below), or 1."""
    if below:
        return weights if value <= 0.49 or value >= 1.0 else np.where(
            weights <= value, 0.49 * weights / value, 0.49 + 0.51 * (weights - value) / (1.0 - value)
        )
    return np.clip(weights / value, 0.0, 1.0) if value > 0.0 else weights


def _whole_shells(surface: _Surface, weights: Floats) -> Floats:
    """Small separate pieces (eyes, teeth, nails) take one weight, and a firm one holds them exactly."""
    result = weights.copy()
    for shell in range(int(surface.shells.max(initial=0)) + 1):
        members = surface.shells == shell
        if not members.any() or np.ptp(surface.positions[members], axis=0).max() > 0.15 * surface.size:
            continue
        if members.sum() == len(members):
            continue
        mean = float(np.average(weights[members], weights=np.maximum(surface.areas[members], 1e-300)))
        result[members] = 1.0 if mean >= 0.5 else mean
    return result


def _owners(distances: Floats, skin: Floats | None) -> tuple[Ints, Floats]:
    """For each vertex the bone that carries it most, and its distance from the bones that carry it."""
    if skin is None:
        return distances.argmin(axis=1), distances.min(axis=1)
    carried = skin.max(axis=1) > 0.0
    owner = np.where(carried, skin.argmax(axis=1), distances.argmin(axis=1))
    relevant = np.where(skin >= 0.1 * np.maximum(skin.max(axis=1, keepdims=True), 1e-12), distances, np.inf)
    return owner, np.where(carried, relevant.min(axis=1), distances.min(axis=1))


def _soft_bones(
    surface: _Surface, radius: Floats, bones: list[Segment], distances: Floats, skin: Floats | None
) -> npt.NDArray[np.bool_]:
    """Bones of tails, trunks, ears and bellies, by name or as a long thinning chain in the plane of symmetry."""
    soft = np.array([_named(bone.name, _SOFT_NAMES) for bone in bones])
    firm = np.array([_named(bone.name, _FIRM_NAMES) for bone in bones])
    owner, _ = _owners(distances, skin)
    for leaf in [i for i, bone in enumerate(bones) if bone.is_leaf]:
        chain = _chain_to(bones, leaf)
        if len(chain) < 3 or firm[chain].any() or soft[chain].any():
            continue
        length = sum(_length(bones[i]) for i in chain)
        tip, root = (radius[owner == i] for i in (chain[-1], chain[0]))
        if not len(tip) or not len(root) or length < 0.25 * surface.size:
            continue
        if np.median(tip) < 0.5 * np.median(root) and not _has_twin(bones, leaf, surface.size):
            soft[chain[1:]] = True
    # What hangs on a soft bone is soft.
    for i, bone in enumerate(bones):
        parent = bone.parent
        while parent >= 0 and not soft[i] and not firm[i]:
            soft[i] = soft[parent]
            parent = bones[parent].parent
    return soft


def _firm_parts(
    surface: _Surface, radius: Floats, bones: list[Segment], owner: Ints, soft: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Vertices of the parts that a bone ends in, without what sticks out thin and far (ears)."""
    firm = np.zeros(len(owner), dtype=bool)
    a, b = surface.edges[:, 0], surface.edges[:, 1]
    for i, bone in enumerate(bones):
        if soft[i]:
            continue
        named = _named(bone.name, _FIRM_NAMES)
        if not bone.is_leaf and not named:
            continue
        part = owner == i
        if not part.any():
            continue
        border = surface.lengths[part[a] != part[b]].sum()
        # A part that ends (hand) has a short border for its area; a patch of the trunk has a long one.
        if not named and border > 2.2 * np.sqrt(surface.areas[part].sum()):
            continue
        # One that is most of the body (a slime's head) is no extremity.
        if surface.share(part) > 0.35:
            continue
        # Sideways only: fingers lie beyond the end of their bone.
        aside = segment_distance(surface.positions, bone, endless=True)
        usual_radius, usual_distance = np.median(radius[part]), np.median(aside[part])
        ear = part & (radius < 0.5 * usual_radius) & (aside > 1.5 * usual_distance)
        firm |= part & ~ear
    return firm


def _hanging_parts(
    surface: _Surface, bones: list[Segment], owner: Ints, soft: npt.NDArray[np.bool_]
) -> Floats:
    """Softness of vertices on soft bones, 0 at the root of the chain to 1 - tip weight at its end; NaN elsewhere."""
    hanging = np.full(len(owner), np.nan)
    along = np.full(len(owner), np.nan)
    start: dict[int, tuple[int, float]] = {}
    reach: dict[int, float] = {}
    for i, bone in enumerate(bones):
        if soft[i]:
            root = i
            while bones[root].parent >= 0 and soft[bones[root].parent]:
                root = bones[root].parent
            # Distance along the chain at which this bone starts.
            before, j = 0.0, bone.parent
            while j >= 0 and soft[j]:
                before += _length(bones[j])
                j = bones[j].parent
            start[i] = (root, before)
            reach[root] = max(reach.get(root, 0.0), before + _length(bone))
    for i, (root, before) in start.items():
        mine = owner == i
        head, tail = np.array(bones[i].head), np.array(bones[i].tail)
        axis = tail - head
        t = (surface.positions[mine] - head) @ axis / max(float(axis @ axis), 1e-30)
        along[mine] = (before + np.clip(t, 0.0, 3.0) * _length(bones[i])) / max(reach[root], 1e-30)
    known = ~np.isnan(along)
    hanging[known] = _step(along[known], 0.05, 0.55) * (1.0 - _TIP_WEIGHT)
    return hanging


def _named(name: str, words: list[str]) -> bool:
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return any(part.lower() in words for part in parts)


def _chain_to(bones: list[Segment], leaf: int) -> list[int]:
    """The bones from the last fork to a leaf."""
    children = np.bincount([bone.parent for bone in bones if bone.parent >= 0], minlength=len(bones))
    chain = [leaf]
    while (parent := bones[chain[-1]].parent) >= 0 and children[parent] == 1:
        chain.append(parent)
    return chain[::-1]


def _has_twin(bones: list[Segment], index: int, size: float) -> bool:
    """Whether another leaf is this one's mirror image in x or in y."""
    here = np.array(bones[index].tail)
    centre = np.mean([bone.head for bone in bones], axis=0)
    for axis in (0, 1):
        if abs(here[axis] - centre[axis]) < 0.03 * size:
            continue
        there = here.copy()
        there[axis] = 2 * centre[axis] - there[axis]
        for i, bone in enumerate(bones):
            if i != index and bone.is_leaf and np.linalg.norm(np.array(bone.tail) - there) < 0.08 * size:
                return True
    return False


def _subset(bones: list[Segment], used: list[int]) -> list[Segment]:
    """Some of the bones, with parents and leaves among them alone."""
    place = {old: new for new, old in enumerate(used)}

    def nearest(parent: int) -> int:
        while parent >= 0 and parent not in place:
            parent = bones[parent].parent
        return place.get(parent, -1)

    parents = [nearest(bones[i].parent) for i in used]
    return [
        Segment(bones[i].name, bones[i].head, bones[i].tail, parents[new], new not in parents)
        for new, i in enumerate(used)
    ]


def aimed(bones: list[Segment], positions: Floats, skin: npt.NDArray[np.float32]) -> list[Segment]:
    """The bones, each made to end where the next one starts, if these come from joints alone (glTF): their tails point
    anywhere. A last one then points through the middle of what it carries."""
    children: list[list[int]] = [[] for _ in bones]
    for i, bone in enumerate(bones):
        if bone.parent >= 0:
            children[bone.parent].append(i)
    heads = np.array([bone.head for bone in bones])
    joined = [
        np.linalg.norm(heads[mine] - bone.tail, axis=1).min() < 0.1 * _length(bone)
        for bone, mine in zip(bones, children, strict=True)
        if mine
    ]
    if not joined or np.mean(joined) > 0.3:
        return bones
    owner, carried = skin.argmax(axis=1), skin.max(axis=1) > 0.0
    aimed = []
    for i, bone in enumerate(bones):
        end = heads[children[i]].mean(axis=0) if children[i] else heads[i]
        if not children[i] and (mine := carried & (owner == i)).any():
            end = 2.0 * positions[mine].mean(axis=0) - heads[i]
        x, y, z = (float(value) for value in end)
        aimed.append(replace(bone, tail=(x, y, z)))
    return aimed


def _length(bone: Segment) -> float:
    return float(np.linalg.norm(np.subtract(bone.tail, bone.head)))


def segment_distance(points: Floats, bone: Segment, endless: bool = False) -> Floats:
    """Distance from the bone, or (endless) from the ray that it starts."""
    head, axis = np.array(bone.head), np.subtract(bone.tail, bone.head)
    t = np.clip((points - head) @ axis / max(float(axis @ axis), 1e-30), 0.0, np.inf if endless else 1.0)
    return np.linalg.norm(points - head - t[:, None] * axis, axis=1)


def _step(values: Floats, low: float, high: float) -> Floats:
    """0 up to low, 1 from high on, smooth between."""
    t = np.clip((values - low) / max(high - low, 1e-30), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)
