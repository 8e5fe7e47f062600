"""Follow weights without painting: 1 where flesh sits tight on bone, low where it hangs free.

What a body is made of comes from its pieces (limbs.py), as cells (geometry/solid.py): so how it stands, how it is
wound and how fine its mesh is do not matter. Heads, hands and feet follow; tails, trunks and ears are free. The torso's
flesh is as free as it is deep: where the body is thick, and where the surface is far from the bones for how thick it
is. So are thin parts that rise from what carries them: manes, hair, wattles, tails without bones; on a head only what
is aside of its line, as a muzzle is not. Names of bones help where they speak of tails or of hands. Without bones, what
the animation moves rigidly counts as carried by some (moving.py), unless the shape contradicts. All lengths are
relative to the body itself.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.hashes import hash_arrays
from ..base.kept import Kept
from ..geometry.connected import connected_pieces
from ..geometry.solid import KEPT, Solid, solid_of
from .limbs import EAR, HEAD, LIMB, MIRRORED, TAIL, TORSO, Tree, by_bones, by_shape
from .moving import Motions, motions_of

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_SOFT_NAMES = (
    "tail ear ears trunk tentacle hair belly stomach tummy breast boob bust cheek cheeks tongue fin udder "
    "jiggle jelly fat flab butt glute dewlap wattle antenna lobe mane plume feather cloth cape skirt"
).split()
_FIRM_NAMES = (
    "hand foot feet paw hoof head skull toe toes finger fingers thumb claw eye eyes jaw mouth "
    "face snout muzzle nose teeth horn beak"
).split()

_TIP = 0.9  # how free tails and ears are: they keep some of their animated gesture
_FLESH = 0.85  # how free thick flesh is: its animated shape still pulls it back after a hard landing
_THICK = (0.062, 0.09)  # of size: what is thinner is firm, what is thicker has deep flesh
_OVER_BONE = (0.4, 0.9)  # of the thickness: flesh on a bone just below the skin is firm
_BULGE = (1.3, 1.9)  # of its own thickness from the bone: a breast, a buttock
_HANGING = (1.0, 1.5)  # of what is usual on this torso: a belly
_THIN = 0.65  # of how thick its piece is: what is thinner may hang on it
_RISE = 1.25  # of its own thickness: what rises less is a bump
_ABOVE = 0.53  # of the thickness of what carries it, likewise
_FOOT = 0.6  # of its own thickness: what stands higher is told apart
_MUZZLE = 1.5  # of its own thickness from the line of a head's bone
_OFF_LINE = 1.32  # of what is usual on a head: what is nearer to its line goes on with it
_SHARE = 0.3  # of a head: what is more is the head
_MOST_HEAD = 0.35  # of a body without bones: what is more is hardly a head, and what is aside of it may be legs
_LONG = 8.0  # of its own thickness: what rises so far need not be far aside, and is a long limb
_SAME_HEAD = 1 / 3  # of two heads together is in both, if they are the same
_SMOOTH, _SMOOTH_FLESH = 0.014, 0.032  # of size: over which ears and tails let go, and the torso's flesh
_EXACT = 0.93  # weights from here on follow exactly
_LEAST_FREE = 0.1  # share of the surface that is free (weight under 1/2) at least
_LEAST_FIRM = 0.08  # share that follows exactly at least
_SYMMETRIC = 0.95  # share of the cells that have a mirror image
_SMALL_SHELL = 0.15  # of size


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
    monitor: Any = None,
    poses: Sequence[Floats] = (),
) -> Floats:
    """Weights (t,) from 0 (free) to 1 (follows exactly). `skin`: (t, bones) weights of the rig, if it has them.
    `poses` (t, 3) of a body without bones tell what moves as if it had some."""
    if not has_volume(positions, triangles):
        return np.ones(len(positions))
    body = body_of(positions, triangles, bones, skin, monitor, poses)
    solid = body.solid
    weights = np.minimum(1.0, (1.0 - solid.at(positions, _balanced(body, body.soft))) / _EXACT)
    return _whole_shells(positions, triangles, edges, weights, solid.axes.size)


@dataclass(frozen=True)
class Body:
    """A body as cells (k,): its pieces, how far the surface is from its bones, and on a head from their line."""

    solid: Solid
    tree: Tree
    kinds: Ints
    distance: Floats
    aside: Floats
    bones: list[tuple[Segment, int]]  # in the cells' space, with the piece of each

    @property
    def surface(self) -> Mask:
        near: Mask = self.solid.depth < self.solid.cell
        return near

    @functools.cached_property
    def soft(self) -> Floats:
        """(k,) from 0 (firm) to 1 (free), before the whole is balanced."""
        return _both_sides(self.solid, _softness(self))


def has_volume(positions: Floats, triangles: npt.NDArray[np.int32]) -> bool:
    return len(triangles) > 0 and bool(np.ptp(positions, axis=0).max() > 0.0)


_bodies = Kept["Body"](KEPT)


def body_of(
    positions: Floats,
    triangles: npt.NDArray[np.int32],
    bones: list[Segment] | None,
    skin: npt.NDArray[np.float32] | None,
    monitor: Any = None,
    poses: Sequence[Floats] = (),
) -> Body:
    """Weights, cores and the next bake ask for the same one: it is kept."""
    arrays = (positions, triangles) if skin is None else (positions, triangles, skin)
    key = hash_arrays(*arrays, *poses) + repr(bones)
    return _bodies.get(key, lambda: _made(positions, triangles, bones, skin, monitor, poses))


def _made(
    positions: Floats,
    triangles: npt.NDArray[np.int32],
    bones: list[Segment] | None,
    skin: npt.NDArray[np.float32] | None,
    monitor: Any,
    poses: Sequence[Floats],
) -> Body:
    solid = solid_of(positions, triangles, monitor)
    rows = triangles[solid.triangle]
    touch = solid.axes.to_body(np.einsum("kc,kci->ki", solid.share, positions[rows]))
    if not bones:
        still = _boneless(solid, touch)
        motions = motions_of(solid, positions, poses, triangles) if len(poses) else None
        moved = still if motions is None else _moved(solid, touch, motions)
        if not _agree(still, moved):
            return still
        # Ears go with the head.
        return replace(moved, kinds=np.where((still.kinds == EAR) & (moved.kinds == HEAD), EAR, moved.kinds))
    if skin is None:
        distances = np.stack([segment_distance(positions, bone) for bone in bones], axis=1)
        skin = np.eye(len(bones), dtype=np.float32)[distances.argmin(axis=1)]
    used = [i for i in range(len(bones)) if float(skin[:, i].max(initial=0.0)) > 0.01]
    if not used:
        return _boneless(solid, touch)
    skin, bones = skin[:, used], _subset(bones, used)
    cell_skin = np.einsum("kc,kcb->kb", solid.share, skin[rows].astype(np.float64))
    own = [replace(bone, head=_point(solid, bone.head), tail=_point(solid, bone.tail)) for bone in bones]
    near = solid.depth < solid.cell  # of the surface, whatever vertices are on it
    return _boned(solid, touch, aimed(own, touch[near], cell_skin[near]), cell_skin)


def _point(solid: Solid, place: tuple[float, float, float]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in solid.axes.to_body(np.array(place)))
    return x, y, z


def _boned(solid: Solid, touch: Floats, bones: list[Segment], skin: Floats) -> Body:
    tree, carriers = by_bones(solid, skin, [bone.parent for bone in bones])
    _heed_names(tree, [bones[bone].name for bone in carriers])
    return _around(solid, touch, tree, carriers, bones, skin)


def _moved(solid: Solid, touch: Floats, motions: Motions) -> Body:
    """What moves like bones has bones, from joint to joint."""
    tree, carriers = by_bones(solid, motions.skin, [-1] * motions.skin.shape[1])
    pieces = tree.pieces
    joints = [
        piece.start if piece.parent < 0 else motions.joint(bone, carriers[piece.parent], piece.start)
        for piece, bone in zip(pieces, carriers, strict=True)
    ]
    # Motions that are nearly the same tell none: one that is farther off than the piece reaches is none of its.
    joints = [
        joint if float(np.linalg.norm(joint - piece.start)) <= piece.reach else piece.start
        for joint, piece in zip(joints, pieces, strict=True)
    ]
    bones = [_line(np.zeros(3), np.zeros(3))] * motions.skin.shape[1]
    for index, (piece, bone) in enumerate(zip(pieces, carriers, strict=True)):
        middle = solid.centres[piece.cells].mean(axis=0)
        on = [joints[child] for child in piece.children if pieces[child].is_axial or not piece.is_axial]
        head = joints[index]
        if piece.parent < 0:
            head = max(on, key=lambda place: float(((place - middle) ** 2).sum()), default=middle)
            on = [place for place in on if place is not head]
        bones[bone] = _line(head, np.mean(on, axis=0) if on else 2.0 * middle - head)
    return _around(solid, touch, tree, carriers, bones, motions.skin)


def _agree(still: Body, moved: Body) -> bool:
    """Whether what moves alike tells long limbs of both sides apart and has the head where the shape has it. A shape
    whose head is far too large was not understood, and judges nothing."""
    head, moving = still.kinds == HEAD, moved.kinds == HEAD
    if head.mean() >= _MOST_HEAD:
        return True
    if head.any() and (
        (moved.kinds[head] == TAIL).mean() > 0.5
        or (moving.any() and (head & moving).sum() < _SAME_HEAD * (head | moving).sum())
    ):
        return False
    torso = np.where(moved.kinds == TORSO, moved.tree.of_cell, -1)
    return not any(
        piece.kind == LIMB and piece.reach > _LONG * piece.thick and _carried_together(still, index, torso)
        for index, piece in enumerate(still.tree.pieces)
    )


def _carried_together(body: Body, index: int, carrier: Ints) -> bool:
    """Whether one carrier (k,), -1 for none, has most of a piece and of its mirror image."""
    solid, piece = body.solid, body.tree.pieces[index]
    plane = solid.plane(MIRRORED)
    if plane < 0 or piece.is_axial or not len(piece.cells):
        return False
    mirror = solid.mirrored(plane)[piece.cells]
    own = carrier[piece.cells]
    return bool(((mirror >= 0) & (own >= 0) & (own == carrier[mirror])).mean() > 0.5)


def _around(
    solid: Solid, touch: Floats, tree: Tree, carriers: list[int], bones: list[Segment], skin: Floats
) -> Body:
    """The body around its bones, given the one (piece,) that carries each piece."""
    pieces = tree.pieces
    kinds = np.array([piece.kind for piece in pieces])[tree.of_cell]
    distances = np.stack([segment_distance(touch, bone) for bone in bones], axis=1)
    # On the torso the bones of the torso count, on a limb those that carry it too.
    counts = skin >= 0.1 * np.maximum(skin.max(axis=1, keepdims=True), 1e-12)
    axial = np.zeros(len(bones), bool)
    axial[[bone for bone, piece in zip(carriers, pieces, strict=True) if piece.kind != LIMB]] = True
    counts = np.where(axial, True, counts & (kinds == LIMB)[:, None])
    distance = np.where(counts, distances, np.inf).min(axis=1)
    aside = distance.copy()
    for bone, piece in zip(carriers, pieces, strict=True):
        if piece.kind == HEAD:
            # A muzzle goes on beyond the end of its bone.
            x, y, z = (float(value) for value in solid.centres[piece.cells].mean(axis=0))
            through = replace(bones[bone], tail=(x, y, z))
            rays = [segment_distance(touch[piece.cells], ray, endless=True) for ray in (bones[bone], through)]
            aside[piece.cells] = np.minimum(*rays)
    carrying = [(bones[bone], index) for index, bone in enumerate(carriers)]
    return Body(solid, tree, kinds, np.where(np.isfinite(distance), distance, solid.thick), aside, carrying)


def _boneless(solid: Solid, touch: Floats) -> Body:
    """What is deep is what is thick."""
    tree = by_shape(solid)
    kinds = np.append([piece.kind for piece in tree.pieces], TORSO)[tree.of_cell]
    aside = np.zeros(solid.count)
    for piece in tree.pieces:
        if piece.kind == HEAD and 0 < len(piece.cells) < _MOST_HEAD * solid.count:
            # A muzzle goes on from where the head begins, through its middle or to its tip.
            places, own = solid.centres[piece.cells], touch[piece.cells]
            tip = places[((places - piece.start) ** 2).sum(axis=1).argmax()]
            rays = [_line(piece.start, end) for end in (places.mean(axis=0), tip)]
            aside[piece.cells] = np.minimum(*(segment_distance(own, ray, endless=True) for ray in rays))
    return Body(solid, tree, kinds, solid.thick, aside, [])


def _line(head: Floats, tail: Floats) -> Segment:
    (x, y, z), (u, v, w) = head.tolist(), tail.tolist()
    return Segment("", (x, y, z), (u, v, w), -1, False)


def _heed_names(tree: Tree, names: list[str]) -> None:
    """What bones are called goes before what their pieces look like."""
    for index, name in enumerate(names):
        piece = tree.pieces[index]
        if _named(name, _SOFT_NAMES):
            piece.kind = TAIL
        elif _named(name, _FIRM_NAMES) and piece.kind != HEAD:
            piece.kind = LIMB if not piece.is_axial else HEAD


def _softness(body: Body) -> Floats:
    """(k,) from 0 (firm) to 1 (free)."""
    solid, kinds = body.solid, body.kinds
    flesh = np.maximum(np.where((kinds == TORSO) | (kinds == LIMB), _deep(body), 0.0), _bulging(body))
    free, hanging = _hanging(body), np.zeros(solid.count)
    if free.any() and not free.all():
        # They begin within the balls of what carries them.
        free |= np.any([free[beside] for beside in solid.around], axis=0) & (kinds != LIMB)
        away = solid.distance_from(np.flatnonzero(~free))
        hanging = np.where(free, _step(away / np.maximum(solid.thick, 2.2 * solid.cell), 0.0, 0.5), 0.0)
    size = solid.axes.size
    return np.maximum(
        _FLESH * solid.smoothed(flesh, _SMOOTH_FLESH * size), _TIP * solid.smoothed(hanging, _SMOOTH * size)
    )


def _both_sides(solid: Solid, soft: Floats) -> Floats:
    """What is its own mirror image gets weights that are."""
    plane = solid.plane(_SYMMETRIC)
    if plane < 0:
        return soft
    mirror = solid.mirrored(plane)
    return np.where(mirror >= 0, 0.5 * (soft + soft[mirror]), soft)


def _deep(body: Body) -> Floats:
    size = body.solid.axes.size
    thick = body.solid.smoothed(body.solid.thick, 0.04 * size)
    return _step(thick / size, *_THICK) * _step(body.distance / thick, *_OVER_BONE)


def _bulging(body: Body) -> Floats:
    """On the torso, and where limbs with more to come begin, as far out as the torso's skin."""
    pieces, torso = body.tree.pieces, body.kinds == TORSO
    usual = body.solid.axes.size
    if (body.surface & torso).any():
        usual = float(np.median(body.distance[body.surface & torso]))
    roots = [
        i for i, piece in enumerate(pieces)
        if piece.kind == LIMB and piece.children and pieces[piece.parent].kind == TORSO
    ]  # fmt: skip
    outside = _step(body.distance / usual, 0.5, 0.85) * np.isin(body.tree.of_cell, roots)
    out = np.maximum(_step(body.distance / body.solid.thick, *_BULGE), _step(body.distance / usual, *_HANGING))
    return out * np.where(torso, 1.0, outside)


def _hanging(body: Body) -> Mask:
    """What hangs on torso and head: pieces that are tails or ears, and thin parts that rise far from what carries them
    and, on a head, aside of the line that its bone goes on in, as a muzzle does not."""
    solid, pieces = body.solid, body.tree.pieces
    hangs: Mask = (body.kinds == TAIL) | (body.kinds == EAR)
    host = np.append([piece.thick for piece in pieces], solid.axes.size)[body.tree.of_cell]
    thin = np.isin(body.kinds, (TORSO, HEAD)) & (solid.thick < _THIN * host)
    if not thin.any() or thin.all():
        return hangs
    away = solid.distance_from(np.flatnonzero(~thin))
    off = _off_line(body)
    # Ridges are thin too, and a beak is: they would join what is beside them.
    stands = thin & (away > _FOOT * np.maximum(solid.thick, solid.cell))
    stands &= (body.kinds != HEAD) | (body.aside > _MUZZLE * solid.thick)
    part, rises = solid.parts_of(stands), np.zeros(solid.count, bool)
    for own in np.split(np.argsort(part, kind="stable"), np.cumsum(np.bincount(part + 1)))[1:-1]:
        high, on_head = float(away[own].max()), own[body.surface[own] & (body.kinds[own] == HEAD)]
        rise, above = high / float(np.median(solid.thick[own])), high / float(np.median(host[own]))
        aside = 2.0
        if len(on_head) > 0.2 * body.surface[own].sum():
            head = pieces[int(np.bincount(body.tree.of_cell[on_head]).argmax())]
            aside = float(np.median(off[on_head])) if len(own) < _SHARE * len(head.cells) else 0.0
        # What goes on as a limb is its beginning.
        is_way = any((body.kinds[beside[own]] == LIMB).any() for beside in solid.faces)
        is_aside = aside > (_OFF_LINE if rise < _LONG else 1.1)
        rises[own] = rise > _RISE and above > _ABOVE and is_aside and not is_way
    if rises.any():
        back = solid.distance_from(np.flatnonzero(rises))
        hangs |= thin & (back <= np.maximum(_FOOT * solid.thick, 1.5 * solid.cell))
    return hangs


def _off_line(body: Body) -> Floats:
    """(k,) how far aside of its bone's line the surface of a head is, beside what is usual on it."""
    off = np.ones(body.solid.count)
    for piece in body.tree.pieces:
        own = piece.cells
        if piece.kind == HEAD and body.surface[own].any():
            off[own] = body.aside[own] / max(float(np.quantile(body.aside[own[body.surface[own]]], 0.4)), 1e-12)
    return off


def _balanced(body: Body, soft: Floats) -> Floats:
    """Always something free and something firm: the deepest flesh, and what is nearest to the middle."""
    surface = body.surface
    if (soft[surface] > 0.6).mean() < _LEAST_FREE:
        depth = body.distance * np.sqrt(np.maximum(body.solid.thick, 1e-12))
        if (body.kinds == TORSO).any():
            depth = np.where(body.kinds == HEAD, 0.0, depth)
        near, far = np.quantile(depth[surface], (1.0 - 2.0 * _LEAST_FREE, 1.0 - _LEAST_FREE))
        soft = np.maximum(soft, _FLESH * _step(depth, 0.9 * near, max(far, near)))
    if (soft[surface] < 1.0 - _EXACT).mean() < _LEAST_FIRM:
        out = np.linalg.norm(body.solid.centres, axis=1)
        near, far = np.quantile(out[surface], (_LEAST_FIRM, 3.0 * _LEAST_FIRM))
        soft = soft * _step(out, near, max(far, 1.01 * near))
    return soft


def _whole_shells(
    positions: Floats,
    triangles: npt.NDArray[np.int32],
    edges: npt.NDArray[np.int32] | None,
    weights: Floats,
    size: float,
) -> Floats:
    """Small separate pieces (eyes, teeth, nails) take one weight, and a firm one holds them exactly."""
    welded = _welded(positions, size)
    sides = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    sides = sides if edges is None else np.concatenate([sides, edges])
    shells = connected_pieces(int(welded.max()) + 1, welded[sides])[welded]
    count = int(shells.max()) + 1
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, shells, positions)
    np.maximum.at(high, shells, positions)
    small = (high - low).max(axis=1) < _SMALL_SHELL * size
    mean = np.bincount(shells, weights, count) / np.bincount(shells, minlength=count)
    mean = np.where(mean >= 0.5, 1.0, mean)
    result: Floats = np.where(small[shells] & (count > 1), mean[shells], weights)
    return result


def _welded(positions: Floats, size: float) -> Ints:
    """One number for all vertices in one place: glTF and the like split vertices at seams."""
    grid = np.round(positions / (1e-5 * size)).astype(np.int64)
    grid -= grid.min(axis=0)
    # Numbers instead of rows: sorting rows takes ten times as long and holds up every other thread.
    keys = (grid[:, 0] << 40) + (grid[:, 1] << 20) + grid[:, 2]
    welded: Ints = np.unique(keys, return_inverse=True)[1].reshape(-1)
    return welded


def _named(name: str, words: list[str]) -> bool:
    parts = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    return any(part.lower() in words for part in parts)


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


def aimed(bones: list[Segment], positions: Floats, skin: Floats) -> list[Segment]:
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
    """0 at low and before it, 1 from high on, smooth between; low may be above high."""
    t = np.clip((values - low) / (high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)
