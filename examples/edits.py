"""The paper's examples of edited motions, of our own shapes: a beam that stands still is twisted twice around, a bridge
makes way for birds, a bird's tail is bent, the corner of a curtain is flapped over, a dragon on stairs lifts its head.

    python examples/edits.py OUT.png [NAME ...] [--films FOLDER] [--moving OUT.png]

Each row: the input and the same edited, on the frame of a pull, its handles as balls, and on a later one. `--films`
writes every frame of the two side by side, a film a motion, `--moving` all of them as one animated picture.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import bpy  # noqa: E402
import close_up  # noqa: E402
import motions  # noqa: E402
import numpy as np  # noqa: E402
import pictures  # noqa: E402
import scenes  # noqa: E402
from building import add_colors, add_mesh  # noqa: E402
from motions import Array, Motion  # noqa: E402
from moving_picture import write_moving_picture  # noqa: E402

CELL = (330, 210)
RATE = 24
BODY, ORANGE, BESIDE = (0.35, 0.5, 0.72), (0.9, 0.35, 0.05), (0.62, 0.6, 0.57)


def stand(motion: Motion, cell: tuple[int, int]) -> None:
    """An empty scene that is seen from the front, a little from above and from the right."""
    scenes.reset_scene()
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    scene.collection.objects.link(camera)
    scene.camera, camera.data.type, camera.data.ortho_scale = camera, "ORTHO", motion.size
    camera.rotation_euler = (1.25, 0.0, 0.35)
    bpy.context.view_layer.update()
    away = camera.matrix_world.to_3x3().col[2]
    camera.location = tuple(np.array(motion.centre) + 10.0 * np.array(away))
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y = cell
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.color = (0.66, 0.76, 0.88)
    scene.display.shading.light, scene.display.shading.color_type = "STUDIO", "VERTEX"
    scene.display.shading.show_cavity = True
    scene.view_settings.view_transform = "Standard"
    scene.render.dither_intensity = 0.0


def striped(motion: Motion) -> Array:
    is_dark = np.floor(10.0 * motion.rest[:, 0] / motion.size) % 2 == 0
    return np.where(is_dark[:, None], np.multiply(BODY, 0.75), BODY)


class View:
    """One motion in its scene."""

    def __init__(self, motion: Motion, cell: tuple[int, int]) -> None:
        stand(motion, cell)
        self._motion = motion
        self._body = add_mesh("Body", motion.rest, motion.faces)
        add_colors(self._body, "Color", striped(motion))

    def picture(self, surface: Array, frame: int, path: Path, title: str = "", balls: Sequence[Array] = ()) -> Array:
        """(height, width, 3)"""
        self._body.data.vertices.foreach_set("co", np.ascontiguousarray(surface, np.float32).ravel())
        self._body.data.update()
        extra = []
        for vertices, triangles in self._motion.beside(frame):
            extra.append(add_mesh("Beside", vertices, triangles, smooth=False))
            add_colors(extra[-1], "Color", np.tile(BESIDE, (len(vertices), 1)))
        for place in balls:
            vertices, faces = scenes.ball_mesh(0.018 * self._motion.size, 6)
            extra.append(add_mesh("Handle", vertices + place, faces))
            add_colors(extra[-1], "Color", np.tile(ORANGE, (len(vertices), 1)))
        found = close_up.render(1, path, title)[..., :3]
        for ob in extra:
            bpy.data.objects.remove(ob)
        return found


def pulls_at(edited: Any, frame: int, surface: Array) -> list[Array]:
    """Where the handles of a frame are."""
    return [surface[list(one.vertices)].mean(axis=0) for one in edited.edits.acting if one.covers(frame)]


def row_of(motion: Motion, edited: Callable[[int], Array], whole: Any, path: Path) -> Array:
    view, cells = View(motion, CELL), []
    for frame in motion.shown:
        surface = edited(frame)
        cells.append(view.picture(motion.frames[frame], frame, path, f"{motion.name}, frame {frame}"))
        cells.append(view.picture(surface, frame, path, "edited", pulls_at(whole, frame, surface)))
    return np.concatenate(cells, axis=1)


def film_of(motion: Motion, whole: Any, cell: tuple[int, int], frames: Sequence[int], path: Path) -> list[Array]:
    view, found = View(motion, cell), []
    for frame in frames:
        surface = whole[frame]
        before = view.picture(motion.frames[frame], frame, path)
        found.append(
            np.concatenate([before, view.picture(surface, frame, path, "", pulls_at(whole, frame, surface))], 1)
        )
    return found


def write_film(frames: Sequence[Array], path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for number, frame in enumerate(frames):
            pictures.write_picture(Path(folder) / f"{number:05d}.png", with_alpha(frame))
        height, width = frames[0].shape[:2]
        pictures.encode(Path(folder), len(frames), (width, height), (RATE, 1.0), path)


def option(arguments: list[str], name: str) -> Path | None:
    if name not in arguments:
        return None
    at = arguments.index(name)
    value = Path(arguments[at + 1]).resolve()
    del arguments[at : at + 2]
    return value


def main(arguments: list[str]) -> int:
    films, moving = option(arguments, "--films"), option(arguments, "--moving")
    if not arguments or not set(arguments[1:]) <= set(motions.ALL):
        print(__doc__)
        return 2
    rows, moves = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.png"
        for name in arguments[1:] or motions.ALL:
            motion = motions.ALL[name]()
            start = time.monotonic()
            whole = motion.pulled()
            seen = {frame: whole[frame] for frame in motion.shown}
            seconds = time.monotonic() - start
            rows.append(row_of(motion, seen.__getitem__, whole, path))
            landed = whole.landed
            missed = f"missed by {100 * max(landed.missed) / whole.size:.2g} % of size"
            kept = f", {landed.contact_rows} contacts, off by {100 * landed.slipped_share:.2g} % of the pull"
            print(f"{name}: {len(whole.edits.acting)} handles, {motion.steps} moves in {seconds:.1f} s, {missed}"
                  f"{kept if landed.contact_rows else ''}", flush=True)  # fmt: skip
            if films is not None:
                write_film(film_of(motion, whole, (480, 300), range(len(motion.frames)), path), films / f"{name}.mp4")
            if moving is not None:
                first = motion.shown[0] - 18
                moves.append(film_of(motion, whole, (240, 150), range(first, first + 36), path))
        pictures.write_picture(Path(arguments[0]).resolve(), with_alpha(np.concatenate(rows)))
        if moving is not None:
            write_moving_picture(moving, [np.concatenate(five) for five in zip(*moves, strict=True)], RATE / 2)
    return 0


def with_alpha(pixels: Array) -> Array:
    return np.dstack([pixels, np.ones(pixels.shape[:2])])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
