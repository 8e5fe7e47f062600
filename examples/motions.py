"""Motions over arrays and how they are pulled, after the examples of "Interactive Editing of Deformable Simulations"
(Barbič, Sin and Grinspun 2012): a beam that is twisted twice around, a bridge that evades birds, a bird's tail, the
corner of a curtain, a dragon that tumbles down stairs. Metres, Z up; x is to the right in pictures.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scenes
import shapes

Array = np.ndarray
Mesh = tuple[Array, Array]  # vertices, triangles

COUNT = 60  # frames, unless said


@dataclass
class Motion:
    """A mesh animation, and how it is pulled: `drag` tells the handles on the way, 0..1, in so many steps."""

    name: str
    rest: Array
    faces: Array  # quads
    frames: Sequence[Array]
    held: Array  # (t,) 1 where it follows exactly
    drag: Callable[[float], list[Any]]
    shown: tuple[int, int]  # frames of a picture: a pull, and a moment later
    size: float  # of the picture, metres
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)  # of the picture
    steps: int = 1
    is_sheet: bool = False
    look: dict[str, Any] = field(default_factory=dict)  # settings of its flesh
    edits: dict[str, Any] = field(default_factory=dict)  # how its edits are otherwise
    region: Array | None = None  # (t,) where they act
    beside: Callable[[int], list[Mesh]] = lambda frame: []  # what is drawn with it
    around: Callable[[float], Sequence[Mesh]] = lambda frame: ()  # what it touches

    @property
    def triangles(self) -> Array:
        return np.concatenate([self.faces[:, [0, 1, 2]], self.faces[:, [0, 2, 3]]]).astype(np.int32)

    def edited(self, resolution: int = 24, **more: Any) -> Any:
        """The motion that can be pulled (an EditedMotion), not yet pulled."""
        import sinew
        from sinew.core.edit.handles import Edits

        edits, more = Edits(**self.edits), {"region": self.region, **more}
        if self.is_sheet:
            return sinew.EditedSheet(self.rest, self.triangles, self.frames, self.held, edits=edits, **more)
        settings = sinew.Settings().replace({"resolution": resolution, **self.look})
        return sinew.EditedFrames(
            self.rest, self.triangles, self.frames, self.held, settings, edits=edits, meshes=self.around, **more
        )

    def pulled(self, resolution: int = 24) -> Any:
        """The same with its handles where they are pulled to: dragged there, where one leap is too far."""
        found = self.edited(resolution)
        for step in range(1, self.steps):
            found.drag(*self.drag(step / self.steps))
        if self.steps > 1:
            found.drag(*self.drag(1.0))
        else:
            found.edits = dataclasses.replace(found.edits, handles=tuple(self.drag(1.0)))
        return found


def handle(vertices: Any, frame: int, by: Any, **more: Any) -> Any:
    from sinew.core.edit.handles import Handle

    chosen = (int(vertices),) if np.ndim(vertices) == 0 else tuple(int(v) for v in vertices)
    x, y, z = (float(part) for part in by)
    return Handle(chosen, float(frame), (x, y, z), **more)


def nearest(rest: Array, *points: Any) -> list[int]:
    return [int(np.argmin(np.linalg.norm(rest - np.array(point), axis=1))) for point in points]


def rotation(axis: Any, angle: float) -> Array:
    x, y, z = np.array(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def box(size: tuple[float, float, float], along: int) -> tuple[Array, Array]:
    """A box whose sides are cut into so many."""
    rest, faces = scenes.box_mesh((1.0, 1.0, 1.0), along)
    rest = np.asarray(rest, float) - np.mean(rest, axis=0)
    return rest * size, np.asarray(faces)


def nets(distance: shapes.Distance, step: float, *reaches: tuple[float, float]) -> tuple[Array, Array]:
    """A shape by its distance function, symmetric in y."""
    (left, right), (_, side), (low, high) = reaches
    lines = [np.arange(left, right, step), shapes.mirrored_lines(side, step), np.arange(low, high, step)]
    vertices, faces = shapes.surface_nets(distance, lines)
    return shapes.even_out(distance, vertices, faces, 8, step), faces


# ---- the motions ----------------------------------------------------------------------------------------------------


def beam() -> Motion:
    """Stands still, and is twisted twice around: animation made from nothing."""
    rest, faces = box((4.0, 0.5, 0.5), 20)
    corners = nearest(rest, *[(2.0, y, z) for y, z in ((-0.25, -0.25), (0.25, -0.25), (0.25, 0.25), (-0.25, 0.25))])

    def drag(way: float) -> list[Any]:
        places = rest[corners] @ rotation((1, 0, 0), way * 4.0 * np.pi).T
        return [
            handle(corner, 30, place, axes="place", radius=0.15) for corner, place in zip(corners, places, strict=True)
        ]

    held = (rest[:, 0] < -1.95).astype(float)
    slowly = {"spread": 6.0}  # twisted that far, it would spring back in two frames
    return Motion("beam", rest, faces, [rest] * COUNT, held, drag, (30, 33), 4.6, steps=36, edits=slowly)


def bridge() -> Motion:
    """Sways in the wind, and makes way for birds: down for one, to the side for the next."""
    rest, faces = box((6.0, 0.9, 0.2), 24)
    x = rest[:, 0] / 6.0
    rest = rest + np.stack([0 * x, 0 * x, 0.5 * np.cos(np.pi * x)], 1)
    sway = np.cos(np.pi * x)
    frames = [rest + np.stack([0 * x, 0.25 * sway * np.sin(f / 8.0), 0 * x], 1) for f in range(COUNT)]
    middle, left = nearest(rest, (0.0, 0.0, 0.6), (-1.5, 0.0, 0.45))
    flock = [(30, 0.15, 0.62), (38, -1.5, 0.5)]  # frame, x, z on which a bird is where the bridge was
    shape, sides = bird_mesh(0.05)

    def beside(frame: int) -> list[Mesh]:
        """They fly through the picture, towards its back."""
        turned = (0.45 * flapped(shape, 2.0 * frame)) @ rotation((0, 0, 1), -np.pi / 2).T
        return [(turned + [at_x, 0.22 * (frame - at), at_z + 0.12], sides) for at, at_x, at_z in flock]

    def drag(way: float) -> list[Any]:
        return [handle(middle, 30, (0.0, 0.0, -1.1 * way)), handle(left, 38, (0.0, 0.0, -0.9 * way))]

    held = (np.abs(x) > 0.49).astype(float)
    look = {"jiggle": 2.5}
    return Motion("bridge", rest, faces, frames, held, drag, (30, 38), 6.4, look=look, beside=beside)


def bird_mesh(step: float) -> tuple[Array, Array]:
    """A gull that looks to the left, its wings spread along y."""

    def distance(p: Array) -> Array:
        m = np.concatenate([p[..., :1], np.abs(p[..., 1:2]), p[..., 2:]], axis=-1)
        body = shapes.ellipsoid(p, (0.0, 0.0, 0.0), (0.44, 0.16, 0.16))
        body = shapes.blend(body, shapes.ellipsoid(p, (-0.42, 0.0, 0.09), (0.15, 0.115, 0.115)), 0.12)
        body = shapes.blend(body, shapes.round_cone(p, (-0.52, 0.0, 0.08, 0.05), (-0.68, 0.0, 0.04, 0.028)), 0.03)
        wing = shapes.ellipsoid(m, (-0.06, 0.5, 0.07), (0.2, 0.62, 0.055))
        wing = shapes.blend(wing, shapes.ellipsoid(m, (0.06, 0.95, 0.07), (0.13, 0.42, 0.045)), 0.1)
        tail = shapes.blend(
            shapes.round_cone(p, (0.3, 0.0, 0.0, 0.1), (0.62, 0.0, 0.0, 0.06)),
            shapes.ellipsoid(p, (0.82, 0.0, 0.0), (0.34, 0.19, 0.055)), 0.08,
        )  # fmt: skip
        return shapes.blend(shapes.blend(body, wing, 0.1), tail, 0.08)

    return nets(distance, step, (-0.9, 1.3), (0.0, 1.5), (-0.4, 0.4))


def flapped(points: Array, frame: float) -> Array:
    """Wings up and down, their tips later than their roots; the body a little against them."""
    phase, out = 2.0 * np.pi * frame / 20.0, np.linspace(0.0, 2.0, 41)
    angles = (0.55 * np.sin(phase) + 0.3) * np.clip(out / 0.2, 0.0, 1.0) + 0.35 * out * np.sin(phase - 1.1) - 0.25 * out
    wide, high = (np.concatenate([[0.0], np.cumsum(way(angles)[1:] * 0.05)]) for way in (np.cos, np.sin))
    side = np.maximum(np.abs(points[:, 1]) - 0.12, 0.0)
    tilt = np.interp(side, out, angles)
    y = np.sign(points[:, 1]) * (np.minimum(np.abs(points[:, 1]), 0.12) + np.interp(side, out, wide))
    z = points[:, 2] * np.cos(tilt) + np.interp(side, out, high) - 0.06 * np.sin(phase)
    return np.stack([points[:, 0], y - np.sign(y) * points[:, 2] * np.sin(tilt), z], axis=1)


def bird() -> Motion:
    """Flaps its wings; its tail is bent up by 60 degrees."""
    rest, faces = bird_mesh(0.03)
    frames = [flapped(rest, frame) for frame in range(COUNT)]
    tip = nearest(rest, (1.15, 0.08, 0.0), (1.15, -0.08, 0.0))
    root = np.array([0.4, 0.0, 0.0])

    def drag(way: float) -> list[Any]:
        at = frames[30][tip].mean(axis=0)
        bent = root + (at - root) @ rotation((0, 1, 0), -way * np.pi / 3.0).T
        return [handle(tip, 30, bent - at)]

    held = ((np.abs(rest[:, 1]) < 0.2) & (rest[:, 0] < 0.25)).astype(float)
    return Motion("bird's tail", rest, faces, frames, held, drag, (30, 33), 3.2, look={"jiggle": 2.0})


def curtain(wide: int = 41, high: int = 31) -> Motion:
    """2 m by 1.5 m, sways; its lower corner is flapped over by half a turn."""
    u, v = np.meshgrid(np.linspace(-1.0, 1.0, wide), np.linspace(0.0, 1.5, high), indexing="ij")
    rest = np.stack([u.ravel(), 0.0 * u.ravel(), 0.75 - v.ravel()], 1)
    number = np.arange(wide * high).reshape(wide, high)
    corners = (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])
    faces = np.stack([part.ravel() for part in corners], axis=1)
    down = 0.75 - rest[:, 2]

    def swaying(frame: int) -> Array:
        folds = 0.06 * np.sin(9.0 * rest[:, 0]) * np.sqrt(down + 0.05)
        away = folds + 0.12 * np.sin(2.0 * rest[:, 0] + 0.2 * frame) * down
        return rest + np.stack([0.0 * away, away, 0.0 * away], 1)

    frames = [swaying(frame) for frame in range(COUNT)]
    flap = nearest(rest, (1.0, 0.0, -0.75), (1.0, 0.0, -0.65), (0.9, 0.0, -0.75))
    hinge = nearest(rest, (1.0, 0.0, -0.3), (0.75, 0.0, -0.5), (0.5, 0.0, -0.75))
    middle, axis = frames[30][hinge].mean(axis=0), frames[30][hinge[2]] - frames[30][hinge[0]]

    def drag(way: float) -> list[Any]:
        places = middle + (frames[30][flap] - middle) @ rotation(axis, np.pi * way).T
        turned = [handle(v, 30, place, axes="place", radius=0.15) for v, place in zip(flap, places, strict=True)]
        return [*turned, *(handle(v, 30, (0.0, 0.0, 0.0), radius=0.1) for v in hinge)]

    held = (rest[:, 2] > 0.75 - 1e-9).astype(float)
    corner = np.clip(1.5 - np.linalg.norm(rest - rest[flap[0]], axis=1) / 0.9, 0.0, 1.0)
    return Motion("curtain", rest, faces, frames, held, drag, (30, 33), 3.0, steps=18, is_sheet=True, region=corner)


STEP, RISE, STEPS = 0.7, 0.34, 6  # of the stairs


def stairs() -> Mesh:
    """Down to the right, 2.4 m wide, from x = -1 on."""
    profile = [(-4.0, -4.0), (-4.0, 0.0)]
    for k in range(STEPS):
        profile += [(-1.0 + k * STEP, -k * RISE), (-1.0 + k * STEP, -(k + 1) * RISE)]
    profile += [(9.0, -STEPS * RISE), (9.0, -4.0)]
    line = np.array(profile)
    count = len(line)
    vertices = np.concatenate([np.insert(line, 1, y, axis=1) for y in (-1.2, 1.2)])
    k = np.arange(count - 1)
    quads = np.stack([k, k + 1, k + 1 + count, k + count], axis=1)
    return vertices, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)


def dragon_mesh(step: float) -> tuple[Array, Array]:
    """Looks to the right: a belly, four feet, a long neck and tail."""

    def distance(p: Array) -> Array:
        m = np.concatenate([p[..., :1], np.abs(p[..., 1:2]), p[..., 2:]], axis=-1)
        tail = [(-1.45, 0.0, 0.16, 0.045), (-1.1, 0.0, 0.14, 0.08), (-0.7, 0.0, 0.22, 0.12), (-0.3, 0.0, 0.36, 0.2)]
        neck = [(0.25, 0.0, 0.4, 0.2), (0.55, 0.0, 0.55, 0.13), (0.75, 0.0, 0.8, 0.1), (0.85, 0.0, 1.02, 0.1)]
        body = shapes.ellipsoid(p, (0.0, 0.0, 0.38), (0.5, 0.27, 0.25))
        body = shapes.blend(body, np.minimum(shapes.chain(p, tail), shapes.chain(p, neck)), 0.12)
        head = shapes.round_cone(p, (0.85, 0.0, 1.06, 0.125), (1.16, 0.0, 0.98, 0.065))
        head = shapes.blend(head, shapes.round_cone(m, (0.8, 0.08, 1.12, 0.05), (0.62, 0.16, 1.26, 0.035)), 0.05)
        legs = np.minimum(
            shapes.chain(m, [(0.3, 0.2, 0.36, 0.12), (0.36, 0.27, 0.16, 0.09), (0.46, 0.28, 0.06, 0.08)]),
            shapes.chain(m, [(-0.3, 0.2, 0.36, 0.14), (-0.34, 0.29, 0.16, 0.1), (-0.22, 0.3, 0.06, 0.08)]),
        )
        return shapes.blend(shapes.blend(body, legs, 0.08), head, 0.07)

    return nets(distance, step, (-1.7, 1.4), (0.0, 0.6), (-0.12, 1.4))


def tumbled(rest: Array, triangles: Array, count: int, resolution: int) -> list[Array]:
    """Thrown down the stairs: it is free, falls, and is stopped by them and by itself."""
    import sinew

    high = rest @ (rotation((0, 1, 0), 0.6) @ rotation((0, 0, 1), 2.6)).T + (-0.2, 0.0, 0.55)
    return list(
        sinew.enrich(
            high, triangles, [high] * count, np.zeros(len(rest)), obstacles=[stairs()], collide=True, free_body=True,
            resolution=resolution, jiggle=4.0, settle=0.5, initial_velocity=(1.6, 0.0, 0.0),
        )
    )  # fmt: skip


def dragon(count: int = COUNT, resolution: int = 12) -> Motion:
    """Comes down the stairs by itself, flesh that collides; then it is made to lift its head, and what touches the
    stairs goes on touching them."""
    rest, faces = dragon_mesh(0.045)
    triangles = np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])
    frames = tumbled(rest, triangles, count, resolution)
    (nose,) = nearest(rest, (1.2, 0.0, 0.98))

    def drag(way: float) -> list[Any]:
        return [handle(nose, 28, (-0.6 * way, -0.2 * way, -0.2 * way))]

    none = np.zeros(len(rest))
    return Motion(
        "dragon", rest, faces, frames, none, drag, (28, 32), 4.6, (0.9, 0.0, -0.3), look={"jiggle": 4.0},
        edits={"contacts": "slide", "hold": 0.3}, beside=lambda frame: [stairs()], around=lambda frame: [stairs()],
    )  # fmt: skip


ALL: dict[str, Callable[[], Motion]] = {
    "beam": beam, "bridge": bridge, "bird": bird, "curtain": curtain, "dragon": dragon,
}  # fmt: skip
