"""Bodies whose parts touch at rest, each with a pose in which they are apart: for tests, pictures and numbers.

Every one returns rest (t, 3), triangles (m, 3) and opened (t, 3), metres.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Posed = tuple[Floats, Ints, Floats]


def slit_block(parts: int, width: int, depth: int, length: int, base: int) -> tuple[Floats, Ints, Ints]:
    """The surface of a block with slits from the top: `parts` walls side by side on a base, a closed mesh of unit quads
    and slits one unit wide. Vertices, triangles, and the wall (0, 1, ...) of each vertex."""
    across, up = parts * (width + 1) - 1, base + length
    filled = np.zeros((across + 2, depth + 2, up + 2), bool)
    filled[1:-1, 1:-1, 1 : base + 1] = True
    for part in range(parts):
        first = 1 + part * (width + 1)
        filled[first : first + width, 1:-1, 1:-1] = True
    quads = []
    for axis in range(3):
        b, c = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            cells = np.argwhere(filled & ~np.roll(filled, -1 if side else 1, axis))
            corners = np.repeat(cells[:, None, :], 4, axis=1) - 1
            corners[:, :, axis] += side
            corners[:, [1, 2], b] += 1
            corners[:, [2, 3], c] += 1
            quads.append(corners if side else corners[:, ::-1])
    places, index = np.unique(np.concatenate(quads).reshape(-1, 3), axis=0, return_inverse=True)
    faces = index.reshape(-1, 4)
    triangles = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]]).astype(np.int32)
    return places.astype(np.float64), triangles, (places[:, 0] // (width + 1)).astype(np.int32)


def closed_slits(places: Floats, width: int, base: int, gap: float) -> Floats:
    """Narrows the slits of a block to `gap` units; at 0 their walls lie in one place."""
    rest = places.copy()
    part, within = np.divmod(places[:, 0], width + 1)
    above = places[:, 2] > base
    rest[:, 0] = part * (width + gap) + np.where(above, within, within * (width + gap) / (width + 1))
    return rest


def hand(gap: float = 0.0, fingers: int = 2) -> Posed:
    """Fingers side by side; opened, they are spread like a fan."""
    width, base, length = 6, 14, 40
    places, triangles, part = slit_block(fingers, width, width, length, base)
    rest = closed_slits(places, width, base, gap)
    along = np.maximum(rest[:, 2] - base, 0.0)
    turn = (part - 0.5 * (fingers - 1)) * 1.2 / fingers
    root = (part + 0.5) * (width + gap) - 0.5 * gap
    opened, side = rest.copy(), rest[:, 0] - root
    bend = turn * np.minimum(along / 10.0, 1.0)
    above = along > 0
    opened[above, 0] = (root + side * np.cos(bend) + along * np.sin(bend))[above]
    opened[above, 2] = (base - side * np.sin(bend) + along * np.cos(bend))[above]
    return 0.01 * rest, triangles, 0.01 * opened


def mouth(gap: float = 0.0) -> Posed:
    """Two lips that lie on each other, wide and deep; opened, the jaw is down. Width is x, the lips point along -y."""
    lip, deep, base = 8, 12, 12
    places, triangles, part = slit_block(2, lip, 30, deep, base)
    rest = closed_slits(places, lip, base, gap)
    # x of the block (across the lips) is up, its z (along the slit) is forward
    rest = np.stack([rest[:, 1], -rest[:, 2], rest[:, 0]], axis=1)
    forward = np.maximum(-rest[:, 1] - base, 0.0)
    lower = (part == 0) & (forward > 0)
    angle = 0.5 * np.minimum(forward / 6.0, 1.0)
    opened = rest.copy()
    opened[lower, 1] = (-base - forward * np.cos(angle) - (rest[:, 2] - lip) * np.sin(angle))[lower]
    opened[lower, 2] = (lip + (rest[:, 2] - lip) * np.cos(angle) - forward * np.sin(angle))[lower]
    return 0.01 * rest, triangles, 0.01 * opened


def crossed_legs(overlap: float = 0.1) -> Posed:
    """A tube bent like trousers whose legs cross and press into each other by a part of their width; opened, they
    hang."""
    around, along, radius, spread, height = 16, 80, 0.09, 0.16, 1.0
    t = np.linspace(-1.0, 1.0, along + 1)  # foot, hip, foot

    def path(crossing: float) -> Floats:
        down = np.clip(np.abs(t) - 0.15, 0.0, 1.0) / 0.85
        x = np.sign(t) * spread * np.minimum(np.abs(t) / 0.15, 1.0) * (1.0 - 2.2 * crossing * down)
        y = np.sign(t) * crossing * (1.0 - overlap) * radius * np.minimum(down / 0.3, 1.0)
        z = height * (1.0 - down) + np.where(np.abs(t) < 0.15, 0.3 * radius * np.cos(np.pi * t / 0.3), 0.0)
        return np.stack([x, y, z], axis=1)

    def tube(line: Floats) -> Floats:
        ahead = np.gradient(line, axis=0)
        ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
        side = np.cross(ahead, [0.0, 1.0, 0.0])
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        turn = 2.0 * np.pi * np.arange(around) / around
        other = np.cross(side, ahead)
        ring = np.cos(turn)[None, :, None] * side[:, None] + np.sin(turn)[None, :, None] * other[:, None]
        return np.concatenate([(line[:, None] + radius * ring).reshape(-1, 3), line[[0, -1]]])

    rows = np.arange(along)[:, None] * around
    here, there = np.arange(around), (np.arange(around) + 1) % around
    a, b, c, d = rows + here, rows + there, rows + around + there, rows + around + here
    walls = [np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)]
    first, last = (along + 1) * around, (along + 1) * around + 1
    caps = [
        np.stack([np.full(around, first), there, here], -1),
        np.stack([np.full(around, last), along * around + here, along * around + there], -1),
    ]
    return tube(path(1.0)), np.concatenate(walls + caps).astype(np.int32), tube(path(0.0))


def head_with_eyes() -> tuple[Floats, Ints, Ints]:
    """A ball with two loose eyes in front of it, one touching it and one at a distance, and a button on its side.
    Vertices, triangles, and the shell (0: the head) of each vertex."""
    shells = [((0.0, 0.0, 0.0), 0.5), ((0.2, -0.52, 0.1), 0.1), ((-0.2, -0.6, 0.1), 0.1), ((0.53, 0.0, 0.0), 0.04)]
    vertices, triangles, numbers, count = [], [], [], 0
    for number, (middle, radius) in enumerate(shells):
        own, faces = ball(radius)
        vertices.append(own + middle)
        triangles.append(faces + count)
        numbers.append(np.full(len(own), number, np.int32))
        count += len(own)
    return np.concatenate(vertices), np.concatenate(triangles).astype(np.int32), np.concatenate(numbers)


def ball(radius: float, rows: int = 12, columns: int = 20) -> tuple[Floats, Ints]:
    polar = np.pi * np.arange(1, rows) / rows
    turn = 2.0 * np.pi * np.arange(columns) / columns
    ring = np.stack([np.cos(turn), np.sin(turn)], -1)
    rings = np.concatenate(
        [np.sin(polar)[:, None, None] * ring, np.broadcast_to(np.cos(polar)[:, None, None], (rows - 1, columns, 1))], 2
    )
    vertices = np.concatenate([rings.reshape(-1, 3), [[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]])
    here, there = np.arange(columns), (np.arange(columns) + 1) % columns
    low, high = np.arange(rows - 2)[:, None] * columns, np.arange(1, rows - 1)[:, None] * columns
    top, bottom, last = len(vertices) - 2, len(vertices) - 1, (rows - 2) * columns
    triangles = [
        np.stack([low + here, high + here, high + there], -1).reshape(-1, 3),
        np.stack([low + here, high + there, low + there], -1).reshape(-1, 3),
        np.stack([np.full(columns, top), here, there], -1),
        np.stack([np.full(columns, bottom), last + there, last + here], -1),
    ]
    return radius * vertices, np.concatenate(triangles).astype(np.int32)


# With a resolution at which their parts share cells: for tests.
BODIES: dict[str, tuple[Callable[[], Posed], int]] = {
    "two fingers that touch": (hand, 16),
    "two fingers, a hair apart": (lambda: hand(0.05), 16),
    "five fingers": (lambda: hand(0.0, 5), 16),
    "closed mouth": (mouth, 12),
    "crossed legs that touch": (lambda: crossed_legs(0.0), 24),
    "crossed legs that press into each other": (crossed_legs, 24),
}
