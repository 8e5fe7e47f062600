"""The shape of the example character, a young elephant: numpy alone.

The skin is the zero level of a distance function, a smooth union of ellipsoids and round cones. Surface nets mesh it in
quads, then smoothing along the surface and projection onto it by turns make the quads even. Eyes, eyelids, toenails and
hair are shells of their own; lids, nails and hair are open. Metres, Z up, looking along -Y, feet on z = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, radians, sin

import numpy as np
from shapes import blend, cap, chain, ellipsoid, even_out, frame_to, mirrored_lines, round_cone, surface_nets

SPACING = 0.0328  # of the meshing grid, about the edge length of the skin

# Ball chains of round cones: (x, y, z, radius)
TRUNK = [
    (0.0, -0.90, 1.00, 0.125),
    (0.0, -1.02, 0.88, 0.104),
    (0.0, -1.09, 0.73, 0.088),
    (0.0, -1.11, 0.57, 0.075),
    (0.0, -1.14, 0.42, 0.065),
    (0.0, -1.22, 0.32, 0.058),
    (0.0, -1.32, 0.31, 0.052),
]
TAIL = [
    (0.0, 0.58, 0.84, 0.060),
    (0.0, 0.69, 0.75, 0.042),
    (0.0, 0.75, 0.61, 0.036),
    (0.0, 0.77, 0.47, 0.036),
]
LEGS = {"front": (0.185, -0.235), "hind": (0.19, 0.36)}  # x, y of the left ones
EAR_THICKNESS = 0.031  # half of it
EYE = (0.158, -0.862, 1.14)  # the left one
EYE_RADIUS = 0.071
EYE_LOOK = (0.27, -0.96, 0.05)

SKIN = np.array((0.42, 0.55, 0.70))
BELLY = np.array((0.66, 0.72, 0.78))
PINK = np.array((0.85, 0.47, 0.47))
DARK = np.array((0.20, 0.25, 0.33))
NAIL = np.array((0.82, 0.76, 0.64))
WHITE = np.array((0.95, 0.95, 0.93))
IRIS = np.array((0.20, 0.10, 0.05))
BLACK = np.array((0.01, 0.01, 0.012))


@dataclass
class Shape:
    """A mesh under construction. `part` names the body part of each vertex; the skin's vertices come first."""

    vertices: np.ndarray
    faces: list[tuple[int, ...]]
    colors: np.ndarray
    part: np.ndarray
    skin_count: int = 0


def build_shape() -> Shape:
    """The whole character, one mesh of many shells."""
    shells = [skin()]
    for side in (1, -1):
        shells += [eye(side), eye_glint(side), eyelid(side)]
        for leg, (x, y) in LEGS.items():
            shells += [nail(side * x, y, angle, f"{leg}{'L' if side > 0 else 'R'}") for angle in (-42, 0, 42)]
    shells += hair() + tail_tuft()
    offset, faces = 0, []
    for shell in shells:
        faces += [tuple(i + offset for i in face) for face in shell.faces]
        offset += len(shell.vertices)
    return Shape(
        np.concatenate([s.vertices for s in shells]),
        faces,
        np.concatenate([s.colors for s in shells]),
        np.concatenate([s.part for s in shells]),
        len(shells[0].vertices),
    )


# ---- distances ------------------------------------------------------------------------------------------------------


def ear_coordinates(p: np.ndarray) -> np.ndarray:
    """Of the left ear's disc: outwards, up, and through it (front positive), the disc's curl taken out."""
    turn = radians(28)
    q = p - (0.46, -0.50, 1.13)
    u = q[..., 0] * cos(turn) + q[..., 1] * sin(turn)
    w = q[..., 0] * sin(turn) - q[..., 1] * cos(turn)
    v = q[..., 2]
    w = w - 0.55 * u * u + 0.25 * v * v
    return np.stack([u, v, w], axis=-1)


def ear(p: np.ndarray) -> np.ndarray:
    q = ear_coordinates(p)
    flat = q * (1.0, 1.0, 0.0)
    outline = ellipsoid(flat, (0.0, 0.03, 0.0), (0.28, 0.28, 1.0))
    outline = blend(outline, ellipsoid(flat, (-0.05, -0.17, 0.0), (0.18, 0.21, 1.0)), 0.10)
    # A plate of even thickness with a round rim: an ellipsoid's edge would be thinner than the grid.
    plate = np.hypot(np.maximum(outline + EAR_THICKNESS, 0.0), q[..., 2]) - EAR_THICKNESS
    return blend(plate, ellipsoid(q, (-0.22, 0.03, 0.0), (0.13, 0.14, 0.055)), 0.05)


def leg(p: np.ndarray, x: float, y: float, hind: bool) -> np.ndarray:
    d = round_cone(p, (x, y, 0.60, 0.165 if hind else 0.15), (x, y, 0.13, 0.122))
    return blend(d, ellipsoid(p, (x, y - 0.015, 0.075), (0.145, 0.155, 0.10)), 0.06)


def distance_parts(p: np.ndarray) -> dict[str, np.ndarray]:
    """Unblended distance of every part."""
    mirrored = np.concatenate([np.abs(p[..., :1]), p[..., 1:]], axis=-1)
    body = ellipsoid(p, (0, 0.08, 0.74), (0.345, 0.44, 0.32))
    body = blend(body, ellipsoid(p, (0, 0.05, 0.555), (0.365, 0.36, 0.32)), 0.12)
    body = blend(body, ellipsoid(p, (0, 0.35, 0.76), (0.29, 0.27, 0.29)), 0.12)
    body = blend(body, ellipsoid(p, (0, -0.24, 0.77), (0.27, 0.25, 0.28)), 0.12)
    head = ellipsoid(p, (0, -0.64, 1.11), (0.295, 0.285, 0.28))
    head = blend(head, ellipsoid(mirrored, (0.09, -0.65, 1.28), (0.16, 0.18, 0.15)), 0.09)
    head = blend(head, ellipsoid(mirrored, (0.165, -0.79, 0.985), (0.13, 0.13, 0.12)), 0.07)
    head = blend(head, ellipsoid(p, (0, -0.83, 0.885), (0.105, 0.125, 0.075)), 0.04)
    parts = {
        "body": body,
        "neck": round_cone(p, (0, -0.30, 0.86, 0.25), (0, -0.56, 1.03, 0.215)),
        "head": head,
        "trunk": chain(p, TRUNK),
        "tail": chain(p, TAIL),
    }
    for side, name in ((1, "L"), (-1, "R")):
        flipped = p * (side, 1, 1)
        parts[f"ear{name}"] = ear(flipped)
        for kind, (x, y) in LEGS.items():
            parts[kind + name] = leg(flipped, x, y, kind == "hind")
    return parts


def distance(p: np.ndarray) -> np.ndarray:
    """Of the whole skin, negative inside."""
    parts = distance_parts(p)
    legs = np.minimum.reduce([parts[kind + side] for kind in LEGS for side in "LR"])
    d = blend(parts["body"], legs, 0.09)
    d = blend(d, parts["neck"], 0.12)
    d = blend(d, parts["head"], 0.10)
    d = blend(d, parts["trunk"], 0.10)
    d = blend(d, parts["tail"], 0.05)
    d = blend(d, np.minimum(parts["earL"], parts["earR"]), 0.045)
    return -blend(-d, p[..., 2] - 0.002, 0.03)  # flat soles


# ---- meshing --------------------------------------------------------------------------------------------------------


def skin() -> Shape:
    lines = [mirrored_lines(0.86, SPACING), ear_lines(-1.46, 0.96, SPACING), np.arange(-0.08, 1.56, SPACING)]
    vertices, faces = surface_nets(distance, lines)
    vertices = even_out(distance, vertices, faces, 20, SPACING)
    parts = distance_parts(vertices)
    names = np.array(list(parts), object)
    part = names[np.argmin(np.stack(list(parts.values())), axis=0)]
    return Shape(vertices, [tuple(q) for q in faces.tolist()], skin_colors(vertices, part), part)


def ear_lines(low: float, high: float, step: float) -> np.ndarray:
    """Grid lines along y, twice as dense across the ears: plates thinner than two cells would end in teeth."""
    places = [low]
    while places[-1] < high:
        near = np.clip(1.0 - (abs(places[-1] + 0.47) - 0.14) / 0.1, 0.0, 1.0)
        places.append(places[-1] + step * (1.0 - 0.5 * near))
    return np.array(places)


def skin_colors(p: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Blue grey, lighter below, pink inside the ears and on the cheeks, darker towards trunk tip, feet and back."""
    color = np.repeat(SKIN[None], len(p), axis=0)

    def mix(amount: np.ndarray, target: np.ndarray) -> None:
        color[:] += np.clip(amount, 0, 1)[:, None] * (target - color)

    mirrored = np.concatenate([np.abs(p[:, :1]), p[:, 1:]], axis=1)
    mix(np.where(part == "body", (0.62 - p[:, 2]) / 0.25, 0.0), BELLY)
    mix((0.10 - p[:, 2]) / 0.2 * 0.6, DARK)
    mix(np.where(np.char.startswith(part.astype(str), "trunk"), (-0.95 - p[:, 1]) / 0.6 * 0.5, 0.0), DARK)
    mix(np.clip((p[:, 2] - 0.9) / 0.5, 0, 1) * (part == "body") * 0.5, DARK)
    q = ear_coordinates(mirrored)
    rim = 1 - np.sqrt((q[:, 0] / 0.25) ** 2 + ((q[:, 1] + 0.03) / 0.30) ** 2)
    is_ear = np.char.startswith(part.astype(str), "ear")
    mix(np.where(is_ear & (q[:, 2] > 0.0), rim * 3.0, 0.0) * 0.85, PINK)
    cheek = np.linalg.norm(mirrored - (0.24, -0.88, 1.0), axis=1)
    mix((1 - cheek / 0.12) * 0.9, PINK)
    return color


# ---- shells ---------------------------------------------------------------------------------------------------------


def shell(points: np.ndarray, faces: list, colors: np.ndarray, part: str) -> Shape:
    return Shape(
        points, faces, np.broadcast_to(colors, (len(points), 3)).copy(), np.full(len(points), part, object)
    )


def eye(side: int) -> Shape:
    points, faces = cap(16, 20, pi, True)
    polar = np.degrees(np.arccos(np.clip(points[:, 2], -1, 1)))
    colors = np.where((polar < 56)[:, None], IRIS, WHITE)
    colors = np.where((polar < 38)[:, None], BLACK, colors)
    placed = EYE_RADIUS * points @ frame_to((side * EYE_LOOK[0], *EYE_LOOK[1:])).T + (side * EYE[0], *EYE[1:])
    return shell(placed, faces, colors, "eye")


def eye_glint(side: int) -> Shape:
    """A small white ball that stands out of the pupil: a highlight that every renderer shows."""
    points, faces = cap(6, 8, pi, True)
    where = np.array((side * EYE_LOOK[0] - 0.28 * 1, EYE_LOOK[1], EYE_LOOK[2] + 0.42))
    center = np.array((side * EYE[0], *EYE[1:])) + 0.93 * EYE_RADIUS * where / np.linalg.norm(where)
    return shell(0.013 * points + center, faces, WHITE, "eye")


def eyelid(side: int) -> Shape:
    """An open bowl over the upper part of the eye."""
    points, faces = cap(7, 20, radians(62), False)
    tilt = frame_to((side * 0.12, 0.30, 0.95))
    placed = 1.14 * EYE_RADIUS * points @ tilt.T + (side * EYE[0], *EYE[1:])
    return shell(placed, faces, 0.85 * SKIN, "eye")


def nail(x: float, y: float, angle: float, part: str) -> Shape:
    """An open bowl, flat on the front of a foot."""
    points, faces = cap(4, 10, radians(80), False)
    out = np.array((sin(radians(angle)), -cos(radians(angle)), 0.0))
    frame = frame_to(out)
    center = np.array((x, y - 0.015, 0.048)) + out * 0.132
    return shell((points * (0.040, 0.042, 0.022)) @ frame.T + center, faces, NAIL, part)


def strand(root: np.ndarray, lift: np.ndarray, bend: np.ndarray, width: float, part: str) -> Shape:
    """An open strip of six quads, three vertices wide, that narrows to its tip."""
    across = np.cross(lift, bend)
    norm = np.linalg.norm(across)
    across = across / norm if norm > 1e-6 else np.array((1.0, 0.0, 0.0))
    points, faces = [], []
    for i, t in enumerate(np.linspace(0.0, 1.0, 7)):
        middle = root + t * lift + t * t * bend
        half = width * (1.0 - 0.93 * t**1.5)
        ridge = 0.25 * half * np.cross(across, lift) / max(np.linalg.norm(lift), 1e-9)
        points += [middle - half * across, middle + ridge, middle + half * across]
        if i:
            a = 3 * (i - 1)
            faces += [(a, a + 1, a + 4, a + 3), (a + 1, a + 2, a + 5, a + 4)]
    return shell(np.array(points), faces, DARK * 0.7, part)


def hair() -> list[Shape]:
    out = []
    for i in range(9):
        a = 2 * pi * i / 9 + 0.3
        spread = 0.0 if i == 0 else 1.0
        root = np.array((0.035 * spread * cos(a), -0.66 + 0.05 * spread * sin(a), 1.405))
        lift = np.array((0.05 * spread * cos(a), 0.05 * spread * sin(a), 0.11))
        bend = np.array((0.05 * spread * cos(a) + 1e-3, -0.07, -0.02))
        out.append(strand(root, lift, bend, 0.017, "hair"))
    return out


def tail_tuft() -> list[Shape]:
    tip = np.array(TAIL[-1][:3])
    out = []
    for i in range(8):
        a = 2 * pi * i / 8
        side = np.array((cos(a), sin(a), 0.0))
        root = tip + 0.024 * side + (0, 0, 0.0)
        out.append(strand(root, np.array((0, 0, -0.17)) + 0.08 * side, -0.06 * side, 0.030, "tail"))
    return out
