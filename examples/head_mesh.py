"""A head of our own with shape keys, for faces: numpy alone.

Skin with a mouth that is a pocket of it, eyes, two rows of teeth and a tongue as shells of their own. Expressions are
displacements of its vertices, named as ARKit names them; a jaw turns about the axis from ear to ear. Metres, Z up,
looking along -Y; the middle of the head is the origin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import pi, radians

import numpy as np
from shapes import blend, cap, ellipsoid, even_out, mirrored_lines, round_cone, surface_nets

SPACING = 0.0045
MOUTH = np.array((0.0, -0.104, -0.060))  # the middle between the lips
CORNER = 0.025  # half as wide as the mouth
HINGE = np.array((0.0, 0.000, -0.030))  # a point of the jaw's axis, which runs along x
OPEN = radians(20.0)
EYE, EYE_RADIUS = np.array((0.031, -0.079, 0.018)), 0.0135


@dataclass
class Head:
    vertices: np.ndarray
    faces: list[tuple[int, ...]]
    part: np.ndarray  # name of the shell of each vertex: skin, eye, upper teeth, lower teeth, tongue
    keys: dict[str, np.ndarray]  # displacements of the vertices

    @property
    def triangles(self) -> np.ndarray:
        return np.array([(f[0], f[i], f[i + 1]) for f in self.faces for i in range(1, len(f) - 1)], np.int32)


def build_head(spacing: float = SPACING) -> Head:
    shells = [skin(spacing), eye(1), eye(-1), teeth(-0.0495, -0.0560), teeth(-0.0645, -0.0705), tongue()]
    names = ["skin", "eye", "eye", "upper teeth", "lower teeth", "tongue"]
    vertices = np.concatenate([points for points, _ in shells])
    firsts = np.cumsum([0, *(len(points) for points, _ in shells)])
    faces = [tuple(int(v) + int(first) for v in face) for (_, own), first in zip(shells, firsts) for face in own]
    part = np.concatenate([np.full(len(points), name, object) for (points, _), name in zip(shells, names)])
    return Head(vertices, faces, part, {name: key(vertices, part) for name, key in KEYS.items()})


# ---- shape ----------------------------------------------------------------------------------------------------------


def mirrored(p: np.ndarray) -> np.ndarray:
    return np.concatenate([np.abs(p[..., :1]), p[..., 1:]], axis=-1)


def distance(p: np.ndarray) -> np.ndarray:
    m = mirrored(p)
    d = ellipsoid(p, (0.0, 0.020, 0.030), (0.078, 0.098, 0.100))
    d = blend(d, ellipsoid(p, (0.0, -0.030, -0.048), (0.060, 0.068, 0.068)), 0.05)
    d = blend(d, round_cone(p, (0.0, 0.03, -0.08, 0.054), (0.0, 0.04, -0.22, 0.058)), 0.03)
    d = blend(d, ellipsoid(m, (0.036, -0.066, -0.036), (0.028, 0.030, 0.030)), 0.03)
    d = blend(d, ellipsoid(p, (0.0, -0.080, -0.100), (0.024, 0.024, 0.018)), 0.03)
    d = blend(d, round_cone(p, (0.0, -0.088, 0.022, 0.008), (0.0, -0.114, -0.018, 0.013)), 0.012)
    d = blend(d, ellipsoid(m, (0.030, -0.080, 0.042), (0.024, 0.012, 0.008)), 0.02)
    d = blend(d, ellipsoid(m, (0.080, 0.016, -0.002), (0.010, 0.022, 0.032)), 0.008)
    for z in (MOUTH[2] + 0.0085, MOUTH[2] - 0.0085):  # lips
        d = blend(d, ellipsoid(p, (0.0, -0.094, z), (0.029, 0.014, 0.0065)), 0.010)
    d = -blend(-d, ellipsoid(m, tuple(EYE), (1.12 * EYE_RADIUS,) * 3), 0.004)
    mouth = ellipsoid(p, (0.0, -0.068, MOUTH[2]), (0.030, 0.030, 0.018))
    mouth = blend(mouth, ellipsoid(p, (0.0, -0.092, MOUTH[2]), (CORNER, 0.028, 0.0038)), 0.004)
    d = -blend(-d, mouth, 0.004)
    return np.maximum(d, -0.175 - p[..., 2])


def skin(spacing: float) -> tuple[np.ndarray, list]:
    lines = [mirrored_lines(0.11, spacing), np.arange(-0.15, 0.14, spacing), np.arange(-0.20, 0.15, spacing)]
    vertices, faces = surface_nets(distance, lines)
    return even_out(distance, vertices, faces, 8, spacing), faces.tolist()


def eye(side: int) -> tuple[np.ndarray, list]:
    points, faces = cap(10, 14, pi, True)
    looking = points[:, [0, 2, 1]] * (1.0, -1.0, 1.0)  # the pole forward
    return EYE_RADIUS * looking + EYE * (side, 1, 1), faces


def teeth(top: float, bottom: float) -> tuple[np.ndarray, list]:
    """A closed strip along an arc behind the lips."""
    angles = np.linspace(-1.1, 1.1, 15)
    rows = [(0.0215, top), (0.0215, bottom), (0.0165, bottom), (0.0165, top)]
    points = [(r * np.sin(a), -0.066 - r * np.cos(a) * 1.1, z) for a in angles for r, z in rows]
    sides = [(4 * i, j, (j + 1) % 4) for i in range(14) for j in range(4)]
    faces = [(at + j, at + k, at + 4 + k, at + 4 + j) for at, j, k in sides]
    return np.array(points), [*faces, (3, 2, 1, 0), (56, 57, 58, 59)]


def tongue() -> tuple[np.ndarray, list]:
    points, faces = cap(8, 12, pi, True)
    return points * (0.0130, 0.0200, 0.0045) + (0.0, -0.066, -0.0655), faces


# ---- expressions ----------------------------------------------------------------------------------------------------

Key = Callable[[np.ndarray, np.ndarray], np.ndarray]


def smooth(t: np.ndarray) -> np.ndarray:
    t = np.clip(t, 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


def bump(p: np.ndarray, centre: tuple | np.ndarray, radius: float) -> np.ndarray:
    return np.exp(-(((p - centre) / radius) ** 2).sum(axis=1))


def below(p: np.ndarray) -> np.ndarray:
    """0..1: whether a point is under the mouth; sharply between the lips, softly beside them."""
    level = p[:, 2] - MOUTH[2]
    soft = 0.001 + 0.05 * smooth((np.abs(p[:, 0]) - CORNER) / 0.035) + 0.05 * smooth((p[:, 1] + 0.05) / 0.05)
    return smooth(0.5 - 0.5 * level / soft)


def of_jaw(p: np.ndarray, part: np.ndarray) -> np.ndarray:
    """How much the jaw carries a point along: all of the chin, nothing of neck and skull."""
    front = smooth((0.015 - p[:, 1]) / 0.055)
    throat = smooth((p[:, 2] + 0.150) / 0.030)
    carried = below(p) * front * throat
    carried = np.where(np.isin(part, ("lower teeth", "tongue")), 1.0, carried)
    return np.where(np.isin(part, ("upper teeth", "eye")), 0.0, carried)


def jaw(angle: float, shift: tuple = (0.0, 0.0, 0.0)) -> Key:
    def key(p: np.ndarray, part: np.ndarray) -> np.ndarray:
        c, s = np.cos(angle), np.sin(angle)
        arm = p - HINGE
        turned = np.stack([arm[:, 0], c * arm[:, 1] - s * arm[:, 2], s * arm[:, 1] + c * arm[:, 2]], axis=1)
        return of_jaw(p, part)[:, None] * (turned - arm + shift)

    return key


def pull(centre: tuple, radius: float, way: tuple, lip: str = "") -> Key:
    """Skin around a point goes some way; of the upper lip only, or of the lower."""

    def key(p: np.ndarray, part: np.ndarray) -> np.ndarray:
        share = bump(p, centre, radius) * (part == "skin")
        share = share * {"": 1.0, "upper": 1.0 - below(p), "lower": below(p)}[lip]
        return share[:, None] * np.asarray(way)

    return key


def puff(side: int) -> Key:
    def key(p: np.ndarray, part: np.ndarray) -> np.ndarray:
        middle = np.array((side * 0.045, -0.060, -0.045))
        outward = p - (0.0, -0.03, -0.04)
        outward /= np.linalg.norm(outward, axis=1, keepdims=True)
        return (0.012 * bump(p, middle, 0.024) * (part == "skin"))[:, None] * outward

    return key


def pucker(forward: float, closing: float) -> Key:
    def key(p: np.ndarray, part: np.ndarray) -> np.ndarray:
        share = bump(p, tuple(MOUTH), 0.028) * (part == "skin")
        return share[:, None] * np.stack([-closing * p[:, 0], np.full(len(p), -forward), np.zeros(len(p))], axis=1)

    return key


def look(turn: tuple[float, float]) -> Key:
    """Both eyes turn, up or down and aside."""

    def key(p: np.ndarray, part: np.ndarray) -> np.ndarray:
        moved = np.zeros_like(p)
        for side in (1, -1):
            own = (part == "eye") & (np.sign(p[:, 0]) == side)
            arm = p[own] - EYE * (side, 1, 1)
            (cx, sx), (cz, sz) = ((np.cos(a), np.sin(a)) for a in turn)
            aside, raised = [[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]], [[1, 0, 0], [0, cx, -sx], [0, sx, cx]]
            moved[own] = arm @ (np.array(aside) @ np.array(raised)).T - arm
        return moved

    return key


def _sided(name: str, make: Callable[[int], Key]) -> dict[str, Key]:
    return {f"{name}_L": make(1), f"{name}_R": make(-1)}


KEYS: dict[str, Key] = {
    "jawOpen": jaw(OPEN),
    "jawForward": jaw(0.0, (0.0, -0.006, 0.0)),
    "jawLeft": jaw(0.0, (0.007, 0.0, 0.0)),
    "jawRight": jaw(0.0, (-0.007, 0.0, 0.0)),
    **_sided("mouthSmile", lambda s: pull((s * 0.027, -0.092, -0.060), 0.024, (s * 0.008, 0.006, 0.010))),
    **_sided("mouthFrown", lambda s: pull((s * 0.027, -0.092, -0.060), 0.022, (s * 0.002, 0.002, -0.009))),
    "mouthPucker": pucker(0.010, 0.55),
    "mouthFunnel": pucker(0.006, 0.25),
    "mouthLeft": pull(tuple(MOUTH), 0.030, (0.009, 0.0, 0.0)),
    "mouthRight": pull(tuple(MOUTH), 0.030, (-0.009, 0.0, 0.0)),
    **_sided("mouthUpperUp", lambda s: pull((s * 0.012, -0.106, -0.052), 0.018, (0.0, -0.001, 0.006), "upper")),
    **_sided("mouthLowerDown", lambda s: pull((s * 0.012, -0.106, -0.068), 0.018, (0.0, -0.001, -0.006), "lower")),
    **_sided("cheekPuff", puff),
    **_sided("cheekSquint", lambda s: pull((s * 0.040, -0.085, -0.010), 0.020, (0.0, -0.002, 0.006))),
    **_sided("browDown", lambda s: pull((s * 0.024, -0.092, 0.045), 0.018, (-s * 0.002, 0.0, -0.006))),
    **_sided("browUp", lambda s: pull((s * 0.032, -0.086, 0.048), 0.024, (0.0, 0.001, 0.008))),
    **_sided("noseSneer", lambda s: pull((s * 0.012, -0.104, -0.012), 0.013, (0.0, 0.0, 0.004))),
    "eyeLookUp": look((-0.4, 0.0)),
    "eyeLookDown": look((0.4, 0.0)),
    "eyeLookLeft": look((0.0, 0.5)),
    "eyeLookRight": look((0.0, -0.5)),
}
