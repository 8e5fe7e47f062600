"""What shape keys tell of a face: which key opens the jaw, what is carried by skull and jaw as it is, what is flesh and
how deep it is (methods, section 4).

*Mobility* of a vertex is how far keys move it, but for the jaw's own rigid motion: thick flesh is what expressions
move far, skin on bone what they leave. Single keys are exaggerated (a tongue that is stuck out, correctives that mean
nothing alone), so it is not the largest motion that counts but about the twentieth part from above.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..geometry.connected import connected_pieces
from ..geometry.triangles import triangle_areas
from ..geometry.turns import nearest_rotation

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

SKULL, JAW, SOFT = 0, 1, -1
FIXED = 0.0015  # of the face: skin that keys move by less is bone
_SKIN = 0.02  # of the face: as deep flesh is where keys move nothing
_AVERAGED = 0.04  # of the face: over that mobility is averaged
_HEAD = 0.005  # of the face: what moves by less tells where the head is, ...
_STILL = 1e-5  # ... and what moves by less tells it exactly, ...
_ENOUGH_STILL = 0.05  # ... where so much of the skin does
_NEAR = 0.5  # of the face: what is farther from its flesh tells nothing of the head
_ALONE = 0.98  # of its weight: skin that one bone carries
_AGREED = 0.003  # of size: what is off by more does not move as the head does
_MOST = 20  # of so many keys one is left out of account
_MOVES = 0.1  # of the largest motion: what moves by more is of the face
_RIGID = 0.01  # of its motion: a shell that is off by less moves as a whole
_BENT = 0.02  # of its length: a shell that is off by more on average is bent
_OUTLIER = 0.06  # of its motion: a vertex that is off by more hardly counts in a rigid fit
_BEGIN = 0.8  # of the largest motion: a jaw's motion is sought from what moves so far
_FEWEST = 3  # keys
_MOUTH = 0.02  # of the face's area: so much a jaw moves rigidly, at least
_ROUNDS = 12
# The length of a face is about the width of the smallest ball around it, by the mean of a high power of distances: the
# longest side of the box around an upright one within 1 %, and the same however the head is turned.
_POWER, _LENGTH = 32, 2.06
_CENTRED = 40  # rounds
_TURNED = np.radians(3.0)  # a jaw opens by more
# Names of the key that opens the jaw, without what is no letter, the surest first: ARKit and Faceit, FACS, MetaHuman,
# DAZ and Character Creator end so; VRC, Oculus, VRM and MMD are called so.
_JAW_ENDINGS = ["jawopen", "jawdrop", "openjaw", "mouthopen", "openmouth", "vopen"]
_JAW_NAMES = ["vrcvaa", "vaa", "visemeaa", "fclmthopen", "fclmtha", "aa", "ah", "a", "あ"]


@dataclass(frozen=True)
class RigidMotion:
    """x -> rotation x + shift."""

    rotation: Floats
    shift: Floats

    def __call__(self, points: Floats) -> Floats:
        moved: Floats = points @ self.rotation.T + self.shift
        return moved

    @property
    def angle(self) -> float:
        return float(np.arccos(np.clip(0.5 * (np.trace(self.rotation) - 1.0), -1.0, 1.0)))

    def times(self, other: RigidMotion) -> RigidMotion:
        return RigidMotion(self.rotation @ other.rotation, self.rotation @ other.shift + self.shift)

    def inverse(self) -> RigidMotion:
        return RigidMotion(self.rotation.T, -self.rotation.T @ self.shift)


def rigid_fit(points: Floats, moved: Floats, weights: Floats) -> RigidMotion:
    """The rigid motion nearest to that of weighted points."""
    total = weights.sum()
    old, new = weights @ points / total, weights @ moved / total
    rotation = nearest_rotation(((moved - new) * weights[:, None]).T @ (points - old))
    return RigidMotion(rotation, new - rotation @ old)


def motion_between(one: Floats, other: Floats) -> RigidMotion:
    """How what carries a part goes from one of its matrices (4, 4) to another."""
    rotation = nearest_rotation((other @ np.linalg.inv(one))[:3, :3])
    return RigidMotion(rotation, other[:3, 3] - rotation @ one[:3, 3])


def robust_rigid_fit(
    points: Floats, moved: Floats, areas: Floats, begin: Bools, scale: Floats
) -> tuple[RigidMotion, Floats]:
    """The rigid motion that most of the area agrees on, sought from the points of `begin` on; and (t,) how much each
    point counts: `scale` is how far off it may be."""
    weights = areas * begin
    for _ in range(_ROUNDS):
        motion = rigid_fit(points, moved, weights)
        off = np.linalg.norm(motion(points) - moved, axis=1)
        agreement = 1.0 / (1.0 + (off / scale) ** 2) ** 2
        weights = areas * agreement
    return motion, agreement


@dataclass(frozen=True)
class Face:
    """What was found. Arrays are over vertices."""

    size: float  # metres: the length of what moves
    jaw_key: int  # -1: none
    jaw: RigidMotion | None  # of that key at 1
    carrier: npt.NDArray[np.int32]  # SKULL or JAW for what is carried as it is, SOFT for the rest
    mobility: Floats
    depth: Floats  # of flesh, metres; 0: bone
    head: Floats  # how much each tells where the head is, 0..1
    jaw_share: Floats  # how much of the jaw's way each goes where the jaw opens, 0..1
    opened: Floats  # (t, 3) what the jaw's key does

    @property
    def chin(self) -> Floats:
        """How much each tells where the jaw is, 0..1, where no teeth do."""
        return np.where(self.carrier == SOFT, np.clip(10.0 * self.jaw_share - 9.0, 0.0, 1.0), 0.0)

    @property
    def thinnest(self) -> float:
        """Metres: flesh is nowhere thinner."""
        return _SKIN * self.size

    @property
    def is_free(self) -> Bools:
        free: Bools = (self.depth > 0.0) & (self.carrier == SOFT)
        return free


@dataclass(frozen=True)
class _Keys:
    rest: Floats
    moves: Floats  # keys x vertices x 3
    names: list[str]
    areas: Floats
    shells: npt.NDArray[np.intp]


def find_face(
    rest: Floats, triangles: Ints, keys: npt.NDArray[Any], names: list[str], jaw_key: int | None = None
) -> Face | None:
    """From displacements (k, t, 3) of shape keys. `jaw_key`: which one opens the jaw, -1 for none; None: to be found.
    Nothing where the keys are too few to tell, or move nothing."""
    moves = np.asarray(keys, np.float64)
    lengths = np.linalg.norm(moves, axis=2)
    if len(moves) < _FEWEST or not lengths.max(initial=0.0) > 0.0 or not len(triangles):
        return None
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    shells = connected_pieces(len(rest), edges)
    told = _Keys(rest, moves, names, _areas(rest, triangles), shells)
    carrier, jaw_key, jaw = _find_jaw(told, jaw_key)
    ranks = _ranked(_without_jaw(told, jaw), max(1, round(len(moves) / _MOST)))
    soft = carrier == SOFT
    ranks[~soft] = 0.0
    moving = ranks > _MOVES * ranks.max()
    if not moving.any():
        return None
    size = length_of(rest[moving], told.areas[moving])
    mobility = averaged(rest, told.areas * soft, ranks, _AVERAGED * size)
    mobility[~soft] = 0.0
    depth = np.where(soft & (mobility > FIXED * size), _SKIN * size + mobility, 0.0)
    head = _head_weights(told, soft, mobility, lengths, size)
    share, opened = _jaw_share(told, jaw_key, jaw), np.zeros_like(rest) if jaw is None else moves[jaw_key]
    return Face(size, jaw_key, jaw, carrier, mobility, depth, head, share, opened)


def moves_of_poses(
    rest: Floats, triangles: Ints, poses: Sequence[Floats], head: Floats | None = None, of_head: Floats | None = None
) -> Floats:
    """(k, t, 3) how poses of an animation move a face beside moving the head, which most of the skin agrees on. Of a
    whole body: `head` (t,) is how much each vertex tells where the head is, `of_head` (t,) how much it goes with it."""
    areas = _areas(rest, triangles) * (1.0 if head is None else head)
    told = areas > 0.0
    size = length_of(rest[told], areas[told]) if told.any() else 0.0
    moves = []
    for pose in poses:
        scale = np.full(len(rest), _AGREED * size)
        motion, _ = robust_rigid_fit(rest, np.asarray(pose, np.float64), areas, told, scale)
        moves.append(motion.inverse()(pose) - rest)
    moved = np.array(moves).reshape(-1, len(rest), 3)
    return moved if of_head is None else moved * of_head[:, None]


def told_by_jaw(face: Face, share: Floats) -> Face:
    """The same with a jaw that carries each vertex by a `share` (t,), 0..1, as a bone does."""
    carrier = np.where((face.carrier == SKULL) & (share > 0.5), JAW, face.carrier).astype(np.int32)
    return dataclasses.replace(face, carrier=carrier, jaw_share=np.clip(share, 0.0, 1.0))


def told_by(face: Face, rest: Floats, skin: npt.NDArray[Any] | None) -> Face:
    """The same with the head told by what is near the face, and of that by skin which one bone alone carries, of
    `skin` (t, bones): a body that hangs on the same bones tells nothing of the head."""
    middle = rest[face.is_free].mean(axis=0)
    far = np.linalg.norm(rest - middle, axis=1)
    head = np.where(far < far[face.is_free].max() + _NEAR * face.size, face.head, 0.0)
    if skin is not None and skin.shape[1]:
        carried = np.where(skin[:, int((head @ skin).argmax())] > _ALONE, head, 0.0)
        head = carried if carried.any() else head
    return dataclasses.replace(face, head=head if head.any() else face.head)


def _head_weights(keys: _Keys, soft: Bools, mobility: Floats, lengths: Floats, size: float) -> Floats:
    """How much each vertex tells where the head is: what no key moves, if that is enough to tell."""
    still = soft & (lengths.max(axis=0) < _STILL * size)
    if keys.areas @ still > _ENOUGH_STILL * (keys.areas @ soft):
        return still * 1.0
    head: Floats = soft / (1.0 + (mobility / (_HEAD * size)) ** 2) ** 2
    return head


def _jaw_share(keys: _Keys, jaw_key: int, jaw: RigidMotion | None) -> Floats:
    if jaw is None:
        return np.zeros(len(keys.rest))
    way = jaw(keys.rest) - keys.rest
    length = np.maximum((way * way).sum(axis=1), 1e-300)
    return np.clip((keys.moves[jaw_key] * way).sum(axis=1) / length, 0.0, 1.0)


def _areas(rest: Floats, triangles: Ints) -> Floats:
    """(t,) a third of the triangles at each vertex."""
    shares = np.repeat(triangle_areas(rest, triangles) / 3.0, 3)
    return np.asarray(np.bincount(triangles.ravel(), shares, len(rest)), np.float64)


def _ranked(lengths: Floats, rank: int) -> Floats:
    """(t,) of the lengths (k, t) the rank-th from above."""
    ranked: Floats = np.partition(lengths, len(lengths) - rank, axis=0)[len(lengths) - rank]
    return ranked


def _without_jaw(keys: _Keys, jaw: RigidMotion | None) -> Floats:
    """(k, t) how far each key moves a vertex, where it carries the jaw along beside that."""
    lengths: Floats = np.linalg.norm(keys.moves, axis=2)
    if jaw is None:
        return lengths
    for k, move in enumerate(keys.moves):
        begin = (lengths[k] > _BEGIN * lengths[k].max()) & (keys.areas > 0.0)
        if not begin.any():
            continue
        scale = np.maximum(_OUTLIER * lengths[k], 1e-3 * lengths[k].max())
        motion, agreement = robust_rigid_fit(keys.rest, keys.rest + move, keys.areas, begin, scale)
        if float(keys.areas @ (agreement * (lengths[k] > _MOVES * lengths[k].max()))) < _MOUTH * keys.areas.sum():
            continue
        off = np.linalg.norm(keys.rest + move - motion(keys.rest), axis=1)
        lengths[k] = np.minimum(lengths[k], off)
    return lengths


def _find_jaw(keys: _Keys, chosen: int | None) -> tuple[npt.NDArray[np.int32], int, RigidMotion | None]:
    """Who carries each vertex as it is, the key that opens the jaw and its motion."""
    carrier = np.full(len(keys.rest), SOFT, np.int32)
    hard, off = _hard_shells(keys)
    key = named_jaw(keys.names) if chosen is None else chosen
    if key is None:
        key = _moving_jaw(keys, hard)
    carrier[np.isin(keys.shells, hard)] = SKULL
    if key < 0:
        return carrier, -1, None
    length = np.linalg.norm(keys.moves[key], axis=1)
    swung = [s for s in hard if off[key, s] <= _RIGID and length[keys.shells == s].max() > _MOVES * length.max()]
    of_jaw = np.isin(keys.shells, swung)
    carrier[of_jaw] = JAW
    begin = of_jaw if of_jaw.any() else length > _BEGIN * length.max()
    scale = np.maximum(_OUTLIER * length, 1e-3 * length.max())
    if of_jaw.any():
        motion = rigid_fit(keys.rest, keys.rest + keys.moves[key], keys.areas * begin)
    else:
        motion, _ = robust_rigid_fit(keys.rest, keys.rest + keys.moves[key], keys.areas, begin, scale)
    _split_shells(keys, hard, key, motion, carrier)
    return carrier, key, motion


def _hard_shells(keys: _Keys) -> tuple[list[int], Floats]:
    """Loose shells that keys do not bend, and (k, shells) how far each key is off from moving one as a whole, of its
    motion."""
    count = int(keys.shells.max()) + 1
    largest = np.bincount(keys.shells, keys.areas, count).argmax()
    most = np.linalg.norm(keys.moves, axis=2).max()
    off = np.zeros((len(keys.moves), count))
    bends = np.zeros(count, int)
    for shell in np.flatnonzero(np.arange(count) != largest):
        own = np.flatnonzero(keys.shells == shell)
        points, area = keys.rest[own], np.maximum(keys.areas[own], 1e-300)
        extent = length_of(points, area)
        for k, move in enumerate(keys.moves[:, own]):
            length = np.linalg.norm(move, axis=1).max()
            if length <= 1e-4 * most:
                continue
            motion = rigid_fit(points, points + move, area)
            left = np.linalg.norm(motion(points) - points - move, axis=1)
            off[k, shell] = left.max() / length
            bends[shell] += np.sqrt(area @ left**2 / area.sum()) > _BENT * extent
    bends[largest] = len(keys.moves)
    return [int(s) for s in np.flatnonzero(bends <= len(keys.moves) // _MOST)], off  # a pupil that widens bends no eye


def _split_shells(
    keys: _Keys, hard: list[int], jaw_key: int, jaw: RigidMotion, carrier: npt.NDArray[np.int32]
) -> None:
    """Marks loose shells that hang on both jaw and skull, as gums do, each vertex by the nearer of the two: all that
    the opening of the jaw does to them is to carry them a part of its way."""
    way = jaw(keys.rest) - keys.rest
    move = keys.moves[jaw_key]
    share = _jaw_share(keys, jaw_key, jaw)
    left = np.linalg.norm(move - share[:, None] * way, axis=1)
    others = np.linalg.norm(np.delete(keys.moves, jaw_key, axis=0), axis=2).max(axis=0)
    largest = np.bincount(keys.shells, keys.areas).argmax()
    for shell in np.unique(keys.shells):
        own = keys.shells == shell
        if shell == largest or shell in hard:
            continue
        swung = np.linalg.norm(way[own], axis=1).max()
        area = np.maximum(keys.areas[own], 1e-300)
        is_carried = np.sqrt(area @ left[own] ** 2 / area.sum()) < _OUTLIER * swung and share[own].max() > 0.5
        if is_carried and np.sqrt(area @ others[own] ** 2 / area.sum()) < swung:
            carrier[own] = np.where(share[own] > 0.5, JAW, SKULL)


def named_jaw(names: list[str]) -> int | None:
    """Which of the keys is called as rigs call the one that opens the jaw."""
    plain = ["".join(filter(str.isalpha, name.lower())) for name in names]
    for ending in _JAW_ENDINGS:
        found = [k for k, name in enumerate(plain) if name.endswith(ending)]
        if found:
            return min(found, key=lambda k: len(plain[k]))
    return next((plain.index(name) for name in _JAW_NAMES if name in plain), None)


def _moving_jaw(keys: _Keys, hard: list[int]) -> int:
    """The key that turns most of the face as a whole; -1: none does."""
    best, found = 0.0, -1
    soft = keys.areas * ~np.isin(keys.shells, hard)
    for k, move in enumerate(keys.moves):
        length = np.linalg.norm(move, axis=1) * (soft > 0.0)
        if not length.max() > 0.0:
            continue
        scale = np.maximum(_OUTLIER * length, 1e-3 * length.max())
        motion, agreement = robust_rigid_fit(keys.rest, keys.rest + move, soft, length > _BEGIN * length.max(), scale)
        area = float(soft @ (agreement * (length > 0.5 * length.max())))
        if motion.angle > _TURNED and area > _MOUTH * soft.sum() and area * length.max() > best:
            best, found = area * length.max(), k
    return found


def length_of(points: Floats, areas: Floats) -> float:
    """Of a face or a part of one; of a thing that is as wide as long a little more than its sides."""
    shares = np.maximum(areas, 1e-300)
    shares = shares / shares.sum()
    middle = shares @ points
    for _ in range(_CENTRED):
        far = np.linalg.norm(points - middle, axis=1)
        most = float(far.max())
        if not most > 0.0:
            return 0.0
        near = far / most
        pull = shares * near ** (_POWER - 2)
        length = _LENGTH * most * float(shares @ near**_POWER) ** (1.0 / _POWER)
        middle = middle + 1.5 / (_POWER - 1) * (pull @ points / pull.sum() - middle)
    return length


def averaged(points: Floats, areas: Floats, values: Floats, radius: float) -> Floats:
    """(t,) the mean of values over the area within a radius, what is near counting most."""
    cells = np.floor((points - points.min(axis=0)) / radius).astype(np.int64)
    used, inverse = np.unique(cells, axis=0, return_inverse=True)
    order = np.argsort(inverse.reshape(-1), kind="stable")
    members = np.split(order, np.cumsum(np.bincount(inverse.reshape(-1), minlength=len(used)))[:-1])
    place = {tuple(cell): own for cell, own in zip(used.tolist(), members, strict=True)}
    steps = np.stack(np.meshgrid(*3 * [(-1, 0, 1)], indexing="ij"), axis=-1).reshape(-1, 3)
    means = np.zeros(len(points))
    for cell, own in zip(used, members, strict=True):
        near = np.concatenate([place[key] for key in map(tuple, (cell + steps).tolist()) if key in place])
        squared = ((points[own, None] - points[None, near]) ** 2).sum(axis=2)
        weights = areas[near] * np.maximum(1.0 - squared / radius**2, 0.0)
        means[own] = weights @ values[near] / np.maximum(weights.sum(axis=1), 1e-300)
    return means
