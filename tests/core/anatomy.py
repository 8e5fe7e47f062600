"""Bodies whose parts are known by name: round cones melted together, their surface as triangles, a skeleton and skin.

Each body is a list of blobs; a vertex belongs to the blob that it lies on, so its part is known and needs no list. They
look along -Y, Z is up. `body.posed()` moves the skeleton a little, as an animation would.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from bodies import rotation, sphere
from sinew.core.paint.follow import Segment

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Point = tuple[float, float, float]

RIGHT_SIDE = 0.9  # of the vertices of each named part
_CELLS = 64  # of the grid that a surface is made on, along its longest side


@dataclass(frozen=True)
class Blob:
    """A round cone from `a` to `b`, squashed to `flat` of its width along `across`. `part`: its name, "" for none."""

    bone: str
    a: Point
    b: Point
    radius: float
    end: float = 0.0  # radius at b; 0: the same
    part: str = ""
    flat: float = 1.0
    across: Point = (1.0, 0.0, 0.0)
    melt: float = 0.35  # how far it melts into the others, as a share of its radius

    def distance(self, points: Floats) -> Floats:
        axis = np.array(self.across) / np.linalg.norm(self.across)
        stretch = np.eye(3) + (1.0 / self.flat - 1.0) * np.outer(axis, axis)
        a, b = stretch @ self.a, stretch @ self.b
        away = points @ stretch - a
        length = max(float((b - a) @ (b - a)), 1e-12)
        along = np.clip(away @ (b - a) / length, 0.0, 1.0)
        radius = self.radius + ((self.end or self.radius) - self.radius) * along
        gap: Floats = (np.linalg.norm(away - along[:, None] * (b - a), axis=1) - radius) * min(1.0, self.flat * 1.5)
        return gap


@dataclass(frozen=True)
class Labelled:
    """A body, and the vertices (t,) of each of its named parts."""

    positions: Floats
    triangles: Ints
    edges: Ints
    bones: list[Segment]
    skin: npt.NDArray[np.float32]
    parts: dict[str, npt.NDArray[np.int64]]  # "held skull", "free tail"

    def nameless(self) -> list[Segment]:
        return [replace(bone, name=f"b{index}") for index, bone in enumerate(self.bones)]

    def posed(self, count: int = 6, angle: float = 0.35) -> Floats:
        """(count, t, 3) the body in poses: every joint turned by an angle of its own."""
        random = np.random.default_rng(3)
        poses = []
        for _ in range(count):
            turns: list[Floats] = []
            for bone in self.bones:
                own = np.eye(4)
                own[:3, :3] = rotation(tuple(random.normal(size=3)), angle * random.normal())
                own[:3, 3] = np.array(bone.head) - own[:3, :3] @ np.array(bone.head)
                turns.append(own if bone.parent < 0 else turns[bone.parent] @ own)
            matrices = np.tensordot(self.skin.astype(float), np.array(turns), 1)
            poses.append(np.einsum("tij,tj->ti", matrices[:, :3, :3], self.positions) + matrices[:, :3, 3])
        return np.array(poses)


def scores(parts: dict[str, npt.NDArray[np.int64]], follow: Floats) -> dict[str, float]:
    """The share of each part's vertices that are on its side of 1/2: "held ..." above, "free ..." below."""
    held = follow > 0.5
    sides = {name: name.split()[0] for name in parts}
    return {
        name: float((held[own] == (sides[name] == "held")).mean())
        for name, own in parts.items()
        if sides[name] in ("held", "free")
    }


def moved_variants(body: Labelled, poses: Floats) -> Iterator[tuple[str, Labelled, list[Floats]]]:
    """As `variants`, each with its poses (f, t, 3)."""
    posed = (variants(replace(body, positions=pose)) for pose in poses)
    for (name, other), *moved in zip(variants(body), *posed, strict=True):
        yield name, other, [pose.positions for _, pose in moved]


def variants(body: Labelled) -> Iterator[tuple[str, Labelled]]:
    """The same body turned, mirrored, wound otherwise, scaled and cut finer; its own vertices come first."""
    for name, matrix in (
        ("turned by 30 degrees", rotation((0, 0, 1), np.pi / 6)),
        ("turned", rotation((1, 2, 3), 1.0)),
        ("mirrored", np.diag([-1.0, 1.0, 1.0])),
        ("scaled", 100.0 * np.eye(3)),
    ):
        yield name, _moved(body, matrix)
    # As Blender stores it.
    turned = _moved(body, rotation((3, 1, 2), 2.0))
    yield "rounded", replace(turned, positions=turned.positions.astype(np.float32).astype(np.float64))
    yield "flipped", replace(body, triangles=np.ascontiguousarray(body.triangles[:, ::-1]))
    some = np.random.default_rng(0).random((len(body.triangles), 1)) < 0.5
    yield "mixed", replace(body, triangles=np.where(some, body.triangles, body.triangles[:, ::-1]).astype(np.int32))
    finer = _subdivided(body)
    yield "4 times as fine", finer
    yield "16 times as fine", _subdivided(finer)


def _moved(body: Labelled, matrix: Floats) -> Labelled:
    def moved(points: npt.ArrayLike) -> Floats:
        result: Floats = np.asarray(points) @ matrix.T + (3.0, 1.0, 2.0)
        return result

    bones = [replace(bone, head=tuple(moved(bone.head)), tail=tuple(moved(bone.tail))) for bone in body.bones]
    return replace(body, positions=moved(body.positions), bones=bones)


def _subdivided(body: Labelled) -> Labelled:
    sides = np.sort(body.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
    edges, index = np.unique(sides, axis=0, return_inverse=True)
    a, b, c = body.triangles.T
    x, y, z = (index.reshape(-1, 3) + len(body.positions)).T
    finer = [np.stack(corners, axis=1) for corners in ((a, x, z), (x, b, y), (z, y, c), (x, y, z))]
    return replace(
        body,
        positions=np.concatenate([body.positions, body.positions[edges].mean(axis=1)]),
        triangles=np.concatenate(finer).astype(np.int32),
        skin=np.concatenate([body.skin, body.skin[edges].mean(axis=1)]),
    )


def melted(distances: Floats, widths: Floats) -> Floats:
    """One distance (t,) of many (t, k): blobs nearer to each other than their widths melt."""
    result, width = distances[:, 0], widths[0]
    for gap, other in zip(distances.T[1:], widths[1:], strict=True):
        both = min(width, other)
        near = np.maximum(both - np.abs(result - gap), 0.0) / both
        result = np.minimum(result, gap) - near**2 * both / 4.0
        width = max(width, other)
    return result


def surface(field: Callable[[Floats], Floats], low: Floats, high: Floats) -> tuple[Floats, Ints]:
    """The triangles where a field is 0: a vertex in each cell that it crosses, a quad across each edge."""
    cell = float((high - low).max()) / _CELLS
    # Off the planes of symmetry, where flat sides would meet the corners of cells.
    low = low - 2.37 * cell
    counts = np.ceil((high + 2.0 * cell - low) / cell).astype(int) + 1
    grid = np.stack(np.meshgrid(*(np.arange(n) for n in counts), indexing="ij"), -1)
    values = field((low + cell * grid).reshape(-1, 3)).reshape(counts)
    inside = values < 0.0
    corners = list(itertools.product((0, 1), repeat=3))

    def at(array: npt.NDArray[np.bool_] | Floats, corner: tuple[int, ...]) -> npt.NDArray[np.float64]:
        return array[tuple(slice(c, n - 1 + c) for c, n in zip(corner, counts, strict=True))]

    crossed = sum(at(inside, corner).astype(int) for corner in corners)
    mixed = (crossed > 0) & (crossed < 8)
    index = np.full(mixed.shape, -1)
    index[mixed] = np.arange(mixed.sum())
    total, weight = np.zeros((int(mixed.sum()), 3)), np.zeros((int(mixed.sum()), 1))
    for a, b in itertools.combinations(corners, 2):
        if sum(abs(i - j) for i, j in zip(a, b, strict=True)) != 1:
            continue
        first, second = at(values, a)[mixed], at(values, b)[mixed]
        cut = (first < 0) != (second < 0)
        t = np.where(cut, first / np.where(cut, first - second, 1.0), 0.0)[:, None]
        total += cut[:, None] * (np.array(a) + t * (np.array(b) - np.array(a)))
        weight += cut[:, None]
    vertices = low + cell * (np.argwhere(mixed) + total / weight)
    quads = []
    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        here = np.moveaxis(inside, axis, 0)
        place = np.argwhere(np.moveaxis(here[:-1] != here[1:], 0, axis))
        place = place[(place[:, one] > 0) & (place[:, two] > 0)]
        around = []
        for i, j in ((1, 1), (0, 1), (0, 0), (1, 0)):
            shift = np.zeros(3, int)
            shift[one], shift[two] = i, j
            around.append(index[tuple((place - shift).T)])
        outwards = inside[tuple(place.T)]
        quad = np.stack(around, axis=1)
        quads.append(np.where(outwards[:, None], quad, quad[:, ::-1]))
    quads = np.concatenate(quads)
    return vertices, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)


def both_sides(blobs: list[Blob]) -> list[Blob]:
    """The blobs and their mirror images in x; bones get the sides' names."""
    result = []
    for side, sign in (("L", 1.0), ("R", -1.0)):
        for blob in blobs:
            a, b, across = (
                (sign * point[0], *point[1:]) for point in (blob.a, blob.b, blob.across)
            )
            result.append(replace(blob, bone=blob.bone.replace("~", side), a=a, b=b, across=across))
    return result


def build(blobs: list[Blob], bones: dict[str, tuple[Point, Point, str]], loose: Sequence[Blob] = ()) -> Labelled:
    """`bones`: head, tail and the name of the parent; one with "~" in its name is one on either side. `loose` blobs are
    shells of their own."""
    segments: list[Segment] = []
    names: list[str] = []
    for name, (head, tail, parent) in bones.items():
        for side, sign in (("L", 1.0), ("R", -1.0)) if "~" in name else (("", 1.0),):
            names.append(name.replace("~", side))
            above = parent.replace("~", side)
            ends = ((sign * end[0], *end[1:]) for end in (head, tail))
            segments.append(Segment(names[-1], *ends, names.index(above) if above else -1, False))
    parents = {segment.parent for segment in segments}
    segments = [replace(segment, is_leaf=i not in parents) for i, segment in enumerate(segments)]

    low = np.min([np.minimum(blob.a, blob.b) - max(blob.radius, blob.end) for blob in blobs], axis=0)
    high = np.max([np.maximum(blob.a, blob.b) + max(blob.radius, blob.end) for blob in blobs], axis=0)
    widths = np.array([2.0 * blob.melt * blob.radius * min(1.0, 2.0 * blob.flat) for blob in blobs])

    def distances(points: Floats) -> Floats:
        return np.stack([blob.distance(points) for blob in blobs], axis=1)

    vertices, triangles = surface(lambda points: melted(distances(points), widths), low, high)
    gaps = distances(vertices)
    lies_on = gaps.argmin(axis=1)
    kinds = np.array([blob.part for blob in blobs])
    parts: dict[str, list[int]] = {}
    for part in sorted(set(kinds) - {""}):
        own = kinds == part
        # Where it melts into something else it is neither.
        clear = gaps[:, ~own].min(axis=1) > gaps[:, own].min(axis=1) + 0.25 * np.median(widths[own])
        parts[part] = list(np.flatnonzero(own[lies_on] & clear))
    skin = _skin(gaps, [names.index(blob.bone) for blob in blobs], len(names), float((high - low).max()))
    for blob in loose:
        points, faces = sphere(8, 12, (blob.radius,) * 3)
        squash = np.ones(3)
        squash[int(np.argmax(np.abs(blob.across)))] = blob.flat
        parts.setdefault(blob.part, []).extend(range(len(vertices), len(vertices) + len(points)))
        row = np.zeros((len(points), len(names)), np.float32)
        row[:, names.index(blob.bone)] = 1.0
        triangles = np.concatenate([triangles, faces + len(vertices)])
        vertices = np.concatenate([vertices, points * squash + blob.a])
        skin = np.concatenate([skin, row])
    return Labelled(
        vertices, triangles.astype(np.int32), edges_of(triangles), segments, skin,
        {part: np.array(own) for part, own in parts.items()},
    )  # fmt: skip


def _skin(gaps: Floats, owners: list[int], count: int, size: float) -> npt.NDArray[np.float32]:
    nearest = np.full((len(gaps), count), np.inf)
    for column, owner in enumerate(owners):
        nearest[:, owner] = np.minimum(nearest[:, owner], gaps[:, column])
    weights = np.exp(-(nearest - nearest.min(axis=1, keepdims=True)) / (0.012 * size))
    weights[weights < 0.05] = 0.0
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def edges_of(triangles: Ints) -> Ints:
    pairs = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return np.unique(np.sort(pairs, axis=1), axis=0).astype(np.int32)


# ---- bodies ---------------------------------------------------------------------------------------------------------

BODIES: dict[str, Callable[[], Labelled]] = {}
UNSEEN = {"frog", "bat", "bust", "manta", "ox"}  # weights are not tuned on these


def _body(make: Callable[[], Labelled]) -> Callable[[], Labelled]:
    BODIES[make.__name__] = functools.lru_cache(make)
    return BODIES[make.__name__]


def _leg(name: str, x: float, y: float, top: float, knee: float, radius: float, foot: float) -> list[Blob]:
    """A leg on both sides: thigh, shin and a foot that is held."""
    return both_sides([
        Blob(f"{name}.upper.~", (x, y, top), (x, y - 0.02, knee), 1.5 * radius, radius),
        Blob(f"{name}.lower.~", (x, y - 0.02, knee), (x, y + 0.02, 0.14), radius, 0.8 * radius),
        Blob(f"{name}.foot.~", (x, y, 0.08), (x, y - foot, 0.05), 0.9 * radius, 0.8 * radius, "held feet", melt=0.2),
    ])  # fmt: skip


def _leg_bones(name: str, x: float, y: float, top: float, knee: float, foot: float, parent: str) -> dict:
    return {
        f"{name}.upper.~": ((x, y, top), (x, y - 0.02, knee), parent),
        f"{name}.lower.~": ((x, y - 0.02, knee), (x, y + 0.02, 0.14), f"{name}.upper.~"),
        f"{name}.foot.~": ((x, y + 0.02, 0.12), (x, y - foot, 0.05), f"{name}.lower.~"),
    }


@_body
def horse() -> Labelled:
    """With a mane, ears, a belly and a tail of hair."""
    blobs = [
        Blob("spine", (0, 0.35, 1.15), (0, -0.35, 1.12), 0.27, 0.26),
        Blob("hips", (0, 0.55, 1.16), (0, 0.62, 1.14), 0.25),
        Blob("spine", (0, 0.2, 0.98), (0, -0.1, 0.97), 0.25, part="free belly"),
        Blob("chest", (0, -0.4, 1.12), (0, -0.55, 1.15), 0.25, 0.22),
        Blob("neck", (0, -0.6, 1.25), (0, -0.98, 1.62), 0.17, 0.11),
        Blob("head", (0, -1.02, 1.66), (0, -1.2, 1.52), 0.13, 0.11, "held skull"),
        Blob("head", (0, -1.2, 1.52), (0, -1.38, 1.36), 0.1, 0.075, "held skull"),
        Blob("neck", (0, -0.62, 1.52), (0, -0.9, 1.84), 0.09, 0.08, "free mane", 0.3, melt=0.2),
        Blob("hips", (0, 0.84, 1.2), (0, 0.96, 1.05), 0.05, 0.06, "free tail", melt=0.3),
        Blob("hips", (0, 0.96, 1.05), (0, 1.04, 0.5), 0.07, 0.04, "free tail", melt=0.3),
        *both_sides([
            Blob("head", (0.07, -1.0, 1.8), (0.1, -1.0, 1.93), 0.05, 0.03, "free ears", 0.55, (0, 1, 0), 0.2),
        ]),
        *_leg("front", 0.16, -0.5, 0.95, 0.55, 0.065, 0.06),
        *_leg("hind", 0.16, 0.55, 0.95, 0.55, 0.07, 0.06),
    ]
    bones = {
        "hips": ((0, 0.3, 1.25), (0, 0.7, 1.25), ""),
        "spine": ((0, 0.3, 1.25), (0, -0.15, 1.24), ""),
        "chest": ((0, -0.15, 1.24), (0, -0.55, 1.22), "spine"),
        "neck": ((0, -0.55, 1.25), (0, -0.98, 1.62), "chest"),
        "head": ((0, -0.98, 1.62), (0, -1.35, 1.4), "neck"),
        **_leg_bones("front", 0.16, -0.5, 0.95, 0.55, 0.06, "chest"),
        **_leg_bones("hind", 0.16, 0.55, 0.95, 0.55, 0.06, "hips"),
    }
    return build(blobs, bones)


@_body
def biped() -> Labelled:
    """A heavy woman with a bun, who wears clips on her belt; cheeks of a fat face."""
    blobs = [
        Blob("hips", (-0.09, 0, 0.95), (0.09, 0, 0.95), 0.15),
        Blob("spine", (0, 0, 0.98), (0, 0, 1.2), 0.15, 0.14),
        Blob("chest", (-0.08, 0, 1.3), (0.08, 0, 1.3), 0.13),
        Blob("spine", (0, -0.12, 1.04), (0, -0.12, 1.08), 0.14, part="free belly"),
        Blob("neck", (0, 0, 1.42), (0, -0.01, 1.54), 0.06),
        Blob("head", (0, -0.01, 1.62), (0, -0.02, 1.68), 0.1, 0.105, "held skull"),
        Blob("head", (0, 0.1, 1.76), (0, 0.13, 1.79), 0.055, part="free hair", melt=0.15),
        *both_sides([
            Blob("chest", (0.085, -0.13, 1.26), (0.09, -0.16, 1.24), 0.075, part="free breasts", melt=0.3),
            Blob("hips", (0.09, 0.12, 0.92), (0.09, 0.14, 0.9), 0.105, part="free buttocks", melt=0.3),
            Blob("shoulder.~", (0.14, 0, 1.36), (0.2, 0, 1.36), 0.07),
            Blob("arm.~", (0.2, 0, 1.36), (0.38, 0.02, 1.14), 0.06, 0.05),
            Blob("forearm.~", (0.38, 0.02, 1.14), (0.54, 0, 0.96), 0.048, 0.035),
            Blob("hand.~", (0.57, -0.01, 0.93), (0.63, -0.02, 0.86), 0.042, 0.03, "held hands", melt=0.2),
            Blob("thigh.~", (0.11, 0, 0.88), (0.12, -0.01, 0.5), 0.11, 0.075),
            Blob("shin.~", (0.12, -0.01, 0.5), (0.12, 0.02, 0.1), 0.07, 0.05),
            Blob("foot.~", (0.12, 0.0, 0.055), (0.13, -0.15, 0.04), 0.05, 0.04, "held feet", melt=0.2),
        ]),
    ]  # fmt: skip
    clip = Blob("hips", (0.13, -0.2, 0.93), (0, 0, 0), 0.02, part="rigid clips", across=(0, 1, 0), flat=0.5)
    bones = {
        "hips": ((0, 0.02, 0.95), (0, 0.02, 1.05), ""),
        "spine": ((0, 0.02, 1.05), (0, 0.02, 1.22), "hips"),
        "chest": ((0, 0.02, 1.22), (0, 0.01, 1.42), "spine"),
        "neck": ((0, 0.01, 1.42), (0, 0, 1.55), "chest"),
        "head": ((0, 0, 1.55), (0, -0.01, 1.75), "neck"),
        "shoulder.~": ((0.05, 0, 1.36), (0.2, 0, 1.36), "chest"),
        "arm.~": ((0.2, 0, 1.36), (0.38, 0.02, 1.14), "shoulder.~"),
        "forearm.~": ((0.38, 0.02, 1.14), (0.55, 0, 0.95), "arm.~"),
        "hand.~": ((0.55, 0, 0.95), (0.64, -0.02, 0.85), "forearm.~"),
        "thigh.~": ((0.11, 0, 0.9), (0.12, -0.01, 0.5), "hips"),
        "shin.~": ((0.12, -0.01, 0.5), (0.12, 0.02, 0.1), "thigh.~"),
        "foot.~": ((0.12, 0.02, 0.1), (0.13, -0.14, 0.04), "shin.~"),
    }
    return build(blobs, bones, both_sides([clip]))


@_body
def bird() -> Labelled:
    """With wings spread, a wattle and a tail of feathers; a spine in the middle of a slender torso."""
    blobs = [
        Blob("spine", (0, 0.25, 0.6), (0, -0.22, 0.66), 0.13, 0.14, "held torso"),
        Blob("neck", (0, -0.3, 0.72), (0, -0.42, 0.94), 0.075, 0.06),
        Blob("head", (0, -0.44, 1.0), (0, -0.48, 1.02), 0.085, part="held skull"),
        Blob("head", (0, -0.54, 1.0), (0, -0.66, 0.97), 0.04, 0.025, "held skull"),
        Blob("head", (0, -0.52, 0.9), (0, -0.53, 0.83), 0.03, 0.045, "free wattle", 0.6, melt=0.15),
        Blob("hips", (0, 0.38, 0.6), (0, 0.46, 0.6), 0.06, 0.09, "free tail", 0.3, (0, 0, 1), 0.2),
        Blob("hips", (0, 0.46, 0.6), (0, 0.72, 0.62), 0.09, 0.12, "free tail", 0.25, (0, 0, 1), 0.2),
        *both_sides([
            Blob("wing.upper.~", (0.1, -0.1, 0.72), (0.4, -0.1, 0.78), 0.1, 0.12, flat=0.25, across=(0, 0, 1)),
            Blob("wing.lower.~", (0.4, -0.1, 0.78), (0.8, 0.0, 0.8), 0.12, 0.07, flat=0.25, across=(0, 0, 1)),
        ]),
        *_leg("leg", 0.09, 0.0, 0.48, 0.3, 0.03, 0.1),
    ]  # fmt: skip
    bones = {
        "hips": ((0, 0.05, 0.62), (0, 0.35, 0.6), ""),
        "spine": ((0, 0.05, 0.62), (0, -0.25, 0.67), ""),
        "neck": ((0, -0.25, 0.67), (0, -0.44, 0.96), "spine"),
        "head": ((0, -0.44, 0.96), (0, -0.64, 0.98), "neck"),
        "wing.upper.~": ((0.1, -0.1, 0.72), (0.4, -0.1, 0.78), "spine"),
        "wing.lower.~": ((0.4, -0.1, 0.78), (0.8, 0.0, 0.8), "wing.upper.~"),
        **_leg_bones("leg", 0.09, 0.0, 0.48, 0.3, 0.1, "hips"),
    }
    return build(blobs, bones)


@_body
def rat() -> Labelled:
    """With round ears, a long tail on a chain of bones, and a belly."""
    tail = [(0, 0.5 + 0.16 * i, 0.2 - 0.03 * i) for i in range(6)]
    blobs = [
        Blob("hips", (0, 0.36, 0.28), (0, 0.1, 0.27), 0.2, 0.2),
        Blob("spine", (0, 0.15, 0.2), (0, 0.0, 0.2), 0.17, part="free belly"),
        Blob("chest", (0, 0.05, 0.26), (0, -0.15, 0.28), 0.17, 0.13),
        Blob("head", (0, -0.28, 0.34), (0, -0.36, 0.33), 0.115, 0.1, "held skull"),
        Blob("head", (0, -0.36, 0.33), (0, -0.52, 0.28), 0.09, 0.04, "held skull"),
        *both_sides([Blob("head", (0.12, -0.24, 0.47), (0.14, -0.23, 0.5), 0.075, part="free ears", flat=0.3,
                          across=(0, 1, 0.2), melt=0.2)]),
        *[Blob(f"tail.{i}", tail[i], tail[i + 1], 0.045 - 0.005 * i, 0.04 - 0.005 * i, "free tail", melt=0.3)
          for i in range(5)],
        *_leg("front", 0.1, -0.12, 0.22, 0.16, 0.035, 0.08),
        *_leg("hind", 0.13, 0.32, 0.22, 0.16, 0.04, 0.1),
    ]  # fmt: skip
    bones = {
        "hips": ((0, 0.2, 0.36), (0, 0.45, 0.28), ""),
        "spine": ((0, 0.2, 0.36), (0, 0.02, 0.35), ""),
        "chest": ((0, 0.02, 0.35), (0, -0.2, 0.33), "spine"),
        "head": ((0, -0.2, 0.33), (0, -0.5, 0.29), "chest"),
        **{f"tail.{i}": (tail[i], tail[i + 1], f"tail.{i - 1}" if i else "hips") for i in range(5)},
        **_leg_bones("front", 0.1, -0.12, 0.22, 0.16, 0.08, "chest"),
        **_leg_bones("hind", 0.13, 0.32, 0.22, 0.16, 0.1, "hips"),
    }
    return build(blobs, bones)


@_body
def ox() -> Labelled:
    """With an udder, a dewlap, ears and a tail on bones."""
    tail = [(0, 0.82, 1.2), (0, 0.92, 1.0), (0, 0.95, 0.75), (0, 0.96, 0.5)]
    blobs = [
        Blob("hips", (0, 0.55, 1.08), (0, 0.1, 1.05), 0.3, 0.3),
        Blob("spine", (0, 0.2, 0.95), (0, -0.15, 0.95), 0.3, part="free belly"),
        Blob("chest", (0, 0.0, 1.05), (0, -0.5, 1.08), 0.3, 0.26),
        Blob("hips", (0, 0.5, 0.68), (0, 0.44, 0.66), 0.12, part="free udder", melt=0.25),
        Blob("neck", (0, -0.55, 1.15), (0, -0.85, 1.28), 0.2, 0.14),
        Blob("neck", (0, -0.65, 0.98), (0, -0.85, 1.08), 0.1, 0.08, "free dewlap", 0.3, melt=0.2),
        Blob("head", (0, -0.92, 1.32), (0, -1.05, 1.22), 0.15, 0.13, "held skull"),
        Blob("head", (0, -1.05, 1.22), (0, -1.22, 1.05), 0.12, 0.1, "held skull"),
        *both_sides([
            Blob("head", (0.2, -0.9, 1.38), (0.31, -0.88, 1.36), 0.06, 0.05, "free ears", 0.5, (0, 1, 0), 0.2),
        ]),
        *[Blob(f"tail.{i}", tail[i], tail[i + 1], 0.045, 0.045 if i < 2 else 0.06, "free tail", melt=0.3)
          for i in range(3)],
        *_leg("front", 0.19, -0.42, 0.85, 0.45, 0.075, 0.08),
        *_leg("hind", 0.2, 0.55, 0.85, 0.45, 0.08, 0.08),
    ]  # fmt: skip
    bones = {
        "hips": ((0, 0.2, 1.22), (0, 0.75, 1.22), ""),
        "spine": ((0, 0.2, 1.22), (0, -0.15, 1.22), ""),
        "chest": ((0, -0.15, 1.22), (0, -0.55, 1.18), "spine"),
        "neck": ((0, -0.55, 1.18), (0, -0.85, 1.3), "chest"),
        "head": ((0, -0.85, 1.3), (0, -1.2, 1.08), "neck"),
        **{f"tail.{i}": (tail[i], tail[i + 1], f"tail.{i - 1}" if i else "hips") for i in range(3)},
        **_leg_bones("front", 0.19, -0.42, 0.85, 0.45, 0.08, "chest"),
        **_leg_bones("hind", 0.2, 0.55, 0.85, 0.45, 0.08, "hips"),
    }
    return build(blobs, bones)


@_body
def frog() -> Labelled:
    """It crouches; its belly is wide, its throat a sac."""
    blobs = [
        Blob("spine", (0, 0.2, 0.3), (0, -0.05, 0.4), 0.17, 0.19),
        Blob("spine", (0, 0.02, 0.26), (0, -0.06, 0.27), 0.18, part="free belly"),
        Blob("head", (-0.06, -0.3, 0.48), (0.06, -0.3, 0.48), 0.14, part="held skull"),
        Blob("head", (0, -0.28, 0.33), (0, -0.3, 0.32), 0.1, part="free throat", melt=0.25),
        *both_sides([
            Blob("head", (0.11, -0.26, 0.6), (0.11, -0.27, 0.61), 0.05, part="held skull", melt=0.2),
            Blob("arm.~", (0.17, -0.15, 0.34), (0.3, -0.12, 0.2), 0.055, 0.045),
            Blob("forearm.~", (0.3, -0.12, 0.2), (0.28, -0.25, 0.06), 0.042, 0.035),
            Blob("hand.~", (0.28, -0.29, 0.045), (0.29, -0.4, 0.035), 0.045, 0.05, "held hands", 0.6, (0, 0, 1), 0.2),
            Blob("thigh.~", (0.14, 0.3, 0.26), (0.42, 0.1, 0.3), 0.09, 0.065),
            Blob("shin.~", (0.42, 0.1, 0.3), (0.36, 0.48, 0.13), 0.055, 0.04),
            Blob("foot.~", (0.38, 0.46, 0.06), (0.5, 0.18, 0.04), 0.04, 0.06, "held feet", 0.6, (0, 0, 1), 0.2),
        ]),
    ]  # fmt: skip
    bones = {
        "spine": ((0, 0.3, 0.32), (0, -0.15, 0.46), ""),
        "head": ((0, -0.15, 0.46), (0, -0.42, 0.48), "spine"),
        "arm.~": ((0.14, -0.15, 0.38), (0.3, -0.12, 0.2), "spine"),
        "forearm.~": ((0.3, -0.12, 0.2), (0.28, -0.26, 0.06), "arm.~"),
        "hand.~": ((0.28, -0.26, 0.05), (0.29, -0.42, 0.035), "forearm.~"),
        "thigh.~": ((0.1, 0.3, 0.28), (0.42, 0.1, 0.3), "spine"),
        "shin.~": ((0.42, 0.1, 0.3), (0.36, 0.48, 0.13), "thigh.~"),
        "foot.~": ((0.36, 0.48, 0.08), (0.5, 0.16, 0.04), "shin.~"),
    }
    return build(blobs, bones)


@_body
def bat() -> Labelled:
    """Wings of skin on long arms, ears as long as its head."""
    blobs = [
        Blob("spine", (0, 0, 0.35), (0, 0, 0.6), 0.11, 0.13),
        Blob("head", (0, -0.02, 0.8), (0, -0.05, 0.81), 0.11, part="held skull"),
        Blob("head", (0, -0.12, 0.77), (0, -0.17, 0.76), 0.055, 0.05, "held skull"),
        *both_sides([
            Blob("head", (0.07, 0, 0.95), (0.13, 0, 1.1), 0.06, 0.035, "free ears", 0.4, (0, 1, 0), 0.2),
            Blob("arm.~", (0.11, 0, 0.62), (0.4, 0, 0.78), 0.045, 0.035, "held arms", melt=0.2),
            Blob("forearm.~", (0.4, 0, 0.78), (0.85, 0, 0.68), 0.035, 0.03, "held arms", melt=0.2),
            Blob("arm.~", (0.15, 0.0, 0.55), (0.45, 0, 0.6), 0.14, 0.16, flat=0.15, across=(0, 1, 0)),
            Blob("forearm.~", (0.45, 0, 0.6), (0.75, 0, 0.6), 0.16, 0.1, flat=0.15, across=(0, 1, 0)),
            Blob("leg.~", (0.06, 0, 0.3), (0.08, 0, 0.18), 0.035, 0.03),
            Blob("foot.~", (0.08, -0.01, 0.12), (0.08, -0.06, 0.1), 0.035, part="held feet", melt=0.2),
        ]),
    ]  # fmt: skip
    bones = {
        "spine": ((0, 0, 0.32), (0, 0, 0.68), ""),
        "head": ((0, 0, 0.7), (0, -0.05, 0.88), "spine"),
        "arm.~": ((0.1, 0, 0.62), (0.4, 0, 0.78), "spine"),
        "forearm.~": ((0.4, 0, 0.78), (0.85, 0, 0.68), "arm.~"),
        "leg.~": ((0.06, 0, 0.32), (0.08, 0, 0.15), "spine"),
        "foot.~": ((0.08, 0, 0.15), (0.08, -0.08, 0.1), "leg.~"),
    }
    return build(blobs, bones)


@_body
def bust() -> Labelled:
    """Head and shoulders, a beard like a wattle and hair in two puffs."""
    blobs = [
        Blob("chest", (-0.16, 0.02, 0.0), (0.16, 0.02, 0.0), 0.13),
        Blob("neck", (0, 0.02, 0.1), (0, 0.01, 0.24), 0.075),
        Blob("head", (0, 0.01, 0.36), (0, -0.01, 0.42), 0.125, 0.13, "held skull"),
        Blob("head", (0, -0.1, 0.21), (0, -0.11, 0.12), 0.04, 0.03, "free wattle", melt=0.2),
        *both_sides([Blob("head", (0.15, 0.05, 0.53), (0.18, 0.05, 0.56), 0.07, part="free hair", melt=0.15)]),
    ]
    bones = {
        "chest": ((0, 0.02, -0.05), (0, 0.02, 0.12), ""),
        "neck": ((0, 0.02, 0.12), (0, 0.01, 0.28), "chest"),
        "head": ((0, 0.01, 0.28), (0, 0, 0.52), "neck"),
    }
    return build(blobs, bones)


@_body
def manta() -> Labelled:
    """Flat, with wide wings and a whip of a tail."""
    tail = [(0, 0.4 + 0.2 * i, 0.0) for i in range(5)]
    blobs = [
        Blob("body", (0, 0.25, 0), (0, -0.3, 0), 0.16, 0.2, flat=0.6, across=(0, 0, 1)),
        Blob("head", (-0.08, -0.42, 0), (0.08, -0.42, 0), 0.11, flat=0.7, across=(0, 0, 1), part="held skull"),
        *[Blob(f"tail.{i}", tail[i], tail[i + 1], 0.05 - 0.006 * i, 0.044 - 0.006 * i, "free tail", melt=0.3)
          for i in range(4)],
        *both_sides([
            Blob("wing.1.~", (0.1, -0.1, 0), (0.4, -0.1, 0), 0.2, 0.15, flat=0.25, across=(0, 0, 1)),
            Blob("wing.2.~", (0.4, -0.1, 0), (0.8, 0.0, 0), 0.15, 0.07, flat=0.3, across=(0, 0, 1)),
        ]),
    ]  # fmt: skip
    bones = {
        "body": ((0, 0.35, 0), (0, -0.3, 0), ""),
        "head": ((0, -0.3, 0), (0, -0.52, 0), "body"),
        "wing.1.~": ((0.15, -0.1, 0), (0.42, -0.1, 0), "body"),
        "wing.2.~": ((0.42, -0.1, 0), (0.85, 0.0, 0), "wing.1.~"),
        **{f"tail.{i}": (tail[i], tail[i + 1], f"tail.{i - 1}" if i else "body") for i in range(4)},
    }
    return build(blobs, bones)
