"""Motions over arrays, pulled to other ones: a beam that stands still is twisted twice around, a bridge evades what
flies there, a tail is bent.

    python examples/edits.py OUT.png [resolution]

Each row: the input on the frame that is pulled, the same edited, with its handles as balls, and a moment later.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import bpy  # noqa: E402
import close_up  # noqa: E402
import numpy as np  # noqa: E402
import pictures  # noqa: E402
import scenes  # noqa: E402
from building import add_colors, add_mesh  # noqa: E402

CELL = (330, 190)
COUNT = 60  # frames
BODY, ORANGE = (0.35, 0.5, 0.72), (0.9, 0.35, 0.05)

Array = np.ndarray


@dataclass
class Motion:
    """A mesh animation, and how its vertices are dragged at a frame: `drag` says where they are on the way, 0..1."""

    name: str
    rest: Array
    faces: Array
    frames: list[Array]
    held: Array  # (t,) 1 where it follows
    vertices: list[int]
    drag: Callable[[float], Array]  # (handles, 3)
    frame: int
    later: int
    size: float  # of the picture, metres
    steps: int = 12
    radius: float = 0.0


def nearest(rest: Array, *points: Any) -> list[int]:
    return [int(np.argmin(np.linalg.norm(rest - np.array(point), axis=1))) for point in points]


def rotation(axis: Any, angle: float) -> Array:
    x, y, z = np.array(axis, float) / np.linalg.norm(axis)
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross


def box(size: tuple[float, float, float], along: int) -> tuple[Array, Array]:
    """A box whose long side is cut into as many rings."""
    rest, faces = scenes.box_mesh((1.0, 1.0, 1.0), along)
    rest = np.asarray(rest, float) - np.mean(rest, axis=0)
    return rest * size, np.asarray(faces)


def beam() -> Motion:
    rest, faces = box((4.0, 0.5, 0.5), 20)
    corners = nearest(rest, *[(2.0, y, z) for y, z in ((-0.25, -0.25), (0.25, -0.25), (0.25, 0.25), (-0.25, 0.25))])

    def drag(way: float) -> Array:
        return rest[corners] @ rotation((1, 0, 0), way * 4.0 * np.pi).T

    held = (rest[:, 0] < -1.95).astype(float)
    return Motion("beam, 720°", rest, faces, [rest] * COUNT, held, corners, drag, 30, 31, 4.4, 36, 0.15)


def bridge() -> Motion:
    rest, faces = box((6.0, 0.9, 0.2), 24)
    x = rest[:, 0] / 6.0
    rest = rest + np.stack([0 * x, 0 * x, 0.5 * np.cos(np.pi * x)], 1)
    sway = np.cos(np.pi * x)
    frames = [rest + np.stack([0 * x, 0.25 * sway * np.sin(f / 8.0), 0 * x], 1) for f in range(COUNT)]
    (middle,) = nearest(rest, (0.0, 0.45, 0.6))
    held = (np.abs(x) > 0.49).astype(float)

    def drag(way: float) -> Array:
        return frames[30][[middle]] + way * np.array([[0.0, 0.1, -1.1]])

    return Motion("bridge", rest, faces, frames, held, [middle], drag, 30, 33, 6.4)


def tail() -> Motion:
    rest, faces = box((3.0, 1.0, 1.0), 20)
    thin = 0.28 * (1.15 - (rest[:, 0] / 3.0 + 0.5))
    length = np.maximum(np.linalg.norm(rest[:, 1:], axis=1, keepdims=True), 1e-9)
    square = np.maximum(np.abs(rest[:, 1:]).max(axis=1, keepdims=True), 1e-9)
    rest = np.concatenate([rest[:, :1], rest[:, 1:] / length * square * 2.0 * thin[:, None]], 1)
    rest -= (0.0, 0.0, 0.8)
    far = (rest[:, 0] / 3.0 + 0.5) ** 2
    swing = [np.array([0.0, 0.5 * np.sin(f / 6.0), 0.3 * np.cos(f / 6.0)]) for f in range(COUNT)]
    frames = [rest + far[:, None] * way for way in swing]
    (tip,) = nearest(rest, (1.5, 0.0, -0.8))
    held = (rest[:, 0] < -1.3).astype(float)
    root = np.array([-1.3, 0.0, -0.8])

    def drag(way: float) -> Array:
        return root + (frames[30][[tip]] - root) @ rotation((0, 1, 0), -way * np.pi / 3.0).T

    return Motion("tail, 60°", rest, faces, frames, held, [tip], drag, 30, 32, 4.6)


def triangles_of(faces: Array) -> Array:
    return np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]])


def edited(motion: Motion, resolution: int) -> tuple[Callable[[int], Array], float]:
    """The edited surface of a frame, after a drag in steps; and what the handles miss."""
    from sinew.core.edit.handles import Handle
    from sinew.core.flesh.edited import EditedFrames
    from sinew.core.flesh.settings import Settings

    settings = Settings().replace({"resolution": resolution})
    found = EditedFrames(motion.rest, triangles_of(motion.faces), motion.frames, motion.held, settings)
    for step in range(1, motion.steps + 1):
        places = motion.drag(step / motion.steps)
        handles = [
            Handle((vertex,), float(motion.frame), tuple(place), axes="place", radius=motion.radius)
            for vertex, place in zip(motion.vertices, places.tolist(), strict=True)
        ]
        found.drag(*handles)
    return found.__getitem__, max(found.landed.missed)


def stand(size: float) -> None:
    """An empty scene that is seen from the front, a little from above."""
    scenes.reset_scene()
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera, camera.data.type, camera.data.ortho_scale = camera, "ORTHO", size
    camera.rotation_euler, camera.location = (1.25, 0.0, 0.35), (3.29, -9.0, 3.18)
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y = CELL
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.color = (0.66, 0.76, 0.88)
    scene.display.shading.light, scene.display.shading.color_type = "STUDIO", "VERTEX"
    scene.display.shading.show_cavity = True
    scene.view_settings.view_transform = "Standard"


def cell(motion: Motion, surface: Array, balls: Array, path: Path) -> Array:
    stand(1.25 * motion.size)
    is_dark = np.floor(8.0 * motion.rest[:, 0] / motion.size) % 2 == 0
    stripes = np.where(is_dark[:, None], np.multiply(BODY, 0.75), BODY)
    add_colors(add_mesh("Body", surface, motion.faces), "Color", stripes)
    for place in balls:
        vertices, faces = scenes.ball_mesh(0.02 * motion.size, 6)
        add_colors(add_mesh("Handle", vertices + place, faces), "Color", np.tile(ORANGE, (len(vertices), 1)))
    return close_up.render(1, path)


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    resolution = int(arguments[1]) if len(arguments) > 1 else 24
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.png"
        for motion in (beam(), bridge(), tail()):
            start = time.monotonic()
            surface, missed = edited(motion, resolution)
            seconds = time.monotonic() - start
            now, later = surface(motion.frame), surface(motion.later)
            none = np.zeros((0, 3))
            cells = [
                cell(motion, motion.frames[motion.frame], none, path),
                cell(motion, now, now[motion.vertices], path),
                cell(motion, later, none, path),
            ]
            rows.append(np.concatenate(cells, axis=1))
            moves = f"{motion.steps} moves in {seconds:.1f} s"
            print(f"{motion.name}: {len(motion.vertices)} handles, missed by {missed:.1e} m, {moves}")
        pictures.write_picture(Path(arguments[0]).resolve(), np.concatenate(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
