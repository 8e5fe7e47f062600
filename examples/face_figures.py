"""What figures 5 to 10 of the paper about faces show, by our own bar and head.

    python face_figures.py OUT.png

Its rows: a bar that grows within a third of a second, with more and more Expression Inertia (figures 5, 6); one that
gets soft under its weight, without a swing (5); a head of mud that dries and shrinks while it is shaken (7); a running
head that squints on one side, then on the other, with one material, with one that differs from place to place, and with
one that the squint makes stiff (8); lips that are thrown together, without and with Collisions (9); speech of a still
head with all of Expression Inertia, and as it comes (10).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from math import pi, sin
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import bpy  # noqa: E402
import faces  # noqa: E402
import numpy as np  # noqa: E402
import pictures  # noqa: E402
from building import add_mesh, add_weights, linear_keys, reset_scene, set_frames  # noqa: E402
from mathutils import Vector  # noqa: E402
from scenes import box_mesh  # noqa: E402
from stage import Stage, evaluated  # noqa: E402

CELL, ACROSS = (230, 260), 6
SPACING = 0.006  # of the head's vertices


class Figures:
    """Cells side by side, row by row, of bakes in one folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._rows: list[list[np.ndarray]] = []

    def row(self) -> None:
        self._rows.append([])

    def bake(self, ob: Any, values: Mapping[str, Any]) -> None:
        from sinew import setups

        blend = self._folder / "figure.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend), check_existing=False)
        setups.bake_object(ob.name, dict(values), setups.Target(blend), method="face")

    def cell(
        self, ob: Any, frame: int, column: str, title: str, red: float = 0.0, turn: float = 15.0, near: float = 1.0
    ) -> None:
        """One frame as a column of a stage; `red`: metres that are red in a heat map; `near`: how many times nearer the
        mouth is looked at."""
        stage = Stage(ob, [frame], [column], cell=CELL, turn=turn, header=False)
        if red > 0.0:
            stage.hottest = red
        stage.show(frame)
        if near > 1.0:
            stage.camera.data.ortho_scale /= near
            place = stage.camera.matrix_world.copy()
            place.translation -= Vector(0.16 * stage.up)
            stage.camera.matrix_world = place
        stage.write(title, 0, (0.06 - stage.half_height) / near, 0.12 / near)
        stage.render(self._folder / "cell.png")
        stage.close()
        self._rows[-1].append(pictures.read_picture(self._folder / "cell.png"))

    def write(self, path: Path) -> None:
        high = max(cell.shape[0] for row in self._rows for cell in row)
        white = np.ones((high, CELL[0], self._rows[0][0].shape[2]), self._rows[0][0].dtype)
        lines = [np.concatenate([*row, *[white] * (ACROSS - len(row))], axis=1) for row in self._rows]
        pictures.write_picture(path, np.concatenate(lines))


def key_values(ob: Any, name: str, values: Sequence[float]) -> None:
    block = ob.data.shape_keys.key_blocks[name]
    block.slider_min, block.slider_max = -1.0, 2.0
    with linear_keys():
        for frame, value in enumerate(values, start=1):
            block.value = value
            block.keyframe_insert("value", frame=frame)


def shake(ob: Any, frames: int, degrees: float) -> None:
    for frame in range(1, frames + 1):
        ob.rotation_euler = (0.0, 0.0, np.radians(degrees) * sin(2 * pi * (frame - 1) / 8))
        ob.keyframe_insert("rotation_euler", frame=frame)


def run(ob: Any, frames: int, high: float = 0.06) -> None:
    for frame in range(1, frames + 1):
        ob.location = (0.0, 0.0, high * abs(sin(2 * pi * frame / 14)))
        ob.keyframe_insert("location", frame=frame)


# ---- bars -----------------------------------------------------------------------------------------------------------


def build_bar(frames: int) -> Any:
    """A bar that is held at its left end, with keys that make it longer, bend it and make it thick."""
    reset_scene()
    points, sides = box_mesh((0.40, 0.08, 0.08), 24)
    points = points - points.min(axis=0)
    ob = add_mesh("Bar", points, sides, smooth=False)
    along = np.clip(points[:, 0] - 0.06, 0.0, None)
    zero = np.zeros(len(points))
    middle = points - points.mean(axis=0)
    moves = {
        "long": np.stack([0.5 * along, zero, zero], axis=1),
        "bent": np.stack([zero, zero, -1.2 * along**2], axis=1),
        "thick": np.stack([zero, middle[:, 1], middle[:, 2]], axis=1) * np.clip(along / 0.1, 0.0, 1.0)[:, None],
        "soft": np.stack([zero, 1e-4 * along, zero], axis=1),
    }
    ob.shape_key_add(name="Basis")
    for name, move in moves.items():
        ob.shape_key_add(name=name).data.foreach_set("co", (points + move).astype(np.float32).ravel())
    add_weights(ob, "held", (points[:, 0] < 0.05).astype(float))
    add_weights(ob, "all", np.ones(len(points)))
    set_frames(1, frames)
    return ob


BAR = {"bone_group": "held", "jaw_key": "-", "jiggle": 0.6, "settle": 1.5, "resolution": 20}


def draw_bars(figures: Figures) -> None:
    ob = build_bar(14)
    key_values(ob, "long", [min(max((frame - 3) / 7, 0.0), 1.0) for frame in range(1, 15)])
    figures.row()
    figures.cell(ob, 12, "input", "grown: input", turn=0.0)
    for inertia in (0.0, 0.25, 0.5, 0.75, 1.0):
        figures.bake(ob, {**BAR, "expression_inertia": inertia})
        figures.cell(ob, 12, "heat", f"inertia {inertia:g}", red=0.006, turn=0.0)
    ob = build_bar(14)
    key_values(ob, "soft", [min(max((frame - 3) / 8, 0.0), 1.0) for frame in range(1, 15)])
    figures.row()
    figures.bake(ob, {**BAR, "jiggle": 4.0, "keep_pose": 0.0, "start": "settled", "key_stiffness": "soft=0.1 [all]"})
    for frame in (1, 4, 6, 8, 11, 14):
        figures.cell(ob, frame, "heat", f"softer, frame {frame}", red=0.06, turn=0.0)


# ---- heads ----------------------------------------------------------------------------------------------------------


def build_head(frames: int) -> Any:
    reset_scene()
    return faces.build_head(frames, spacing=SPACING, talks=False, runs=False)


def draw_mud(figures: Figures) -> None:
    ob = build_head(24)
    points = np.array([vertex.co for vertex in ob.data.vertices])
    skin = np.linalg.norm(points - (0.0, -0.02, -0.02), axis=1)
    middle = np.array((0.0, -0.03, -0.03))
    shrunk = np.clip((skin - 0.03) / 0.05, 0.0, 1.0) * np.clip((0.09 - points[:, 2]) / 0.05, 0.0, 1.0)
    shrunk *= np.clip((points[:, 2] + 0.15) / 0.03, 0.0, 1.0) * np.clip(-points[:, 1] / 0.04, 0.0, 1.0)
    move = -0.22 * shrunk[:, None] * (points - middle)
    ob.shape_key_add(name="dry").data.foreach_set("co", (points + move).astype(np.float32).ravel())
    key_values(ob, "dry", [min(max((frame - 5) / 15, 0.0), 1.0) for frame in range(1, 25)])
    shake(ob, 24, 25.0)
    add_weights(ob, "all", np.ones(len(points)))
    figures.row()
    figures.bake(ob, {"jiggle": 4.0, "key_stiffness": "dry=12 [all]"})
    for frame in (4, 8, 12, 16, 20, 24):
        figures.cell(ob, frame, "heat", f"drying, frame {frame}", red=0.02)


def draw_squint(figures: Figures) -> None:
    ob = build_head(28)
    right = [1.0] * 12 + [1.0 - step / 4 for step in range(4)] + [0.0] * 12
    for side, values in (("R", right), ("L", right[::-1])):
        for name in ("cheekSquint", "mouthSmile", "browDown", "noseSneer"):
            key_values(ob, f"{name}_{side}", values)
    run(ob, 28)
    points = np.array([vertex.co for vertex in ob.data.vertices])
    for side, sign in (("R", -1.0), ("L", 1.0)):
        group = np.clip(0.5 + sign * points[:, 0] / 0.02, 0.0, 1.0)
        add_weights(ob, f"side_{side}", group)
    stiff = "; ".join(f"cheekSquint_{side}=12 [side_{side}]" for side in "RL")
    kinds = {
        "one material": {},
        "left side stiff": {"stiffness_group": "side_L", "stiffness_painted": 12.0},
        "by squint": {"key_stiffness": stiff},
    }
    figures.row()
    for title, values in kinds.items():
        figures.bake(ob, {"jiggle": 5.0, "stiffness_group": "", "key_stiffness": "", **values})
        figures.cell(ob, 10, "heat", f"right: {title}", red=0.005)
        figures.cell(ob, 24, "heat", f"left: {title}", red=0.005)


def draw_lips_and_speech(figures: Figures) -> None:
    ob = build_head(12)
    key_values(ob, "jawOpen", [0.0] * 12)
    key_values(ob, "mouthUpperUp_L", [-0.45] * 12)
    key_values(ob, "mouthUpperUp_R", [-0.45] * 12)
    for frame in range(1, 13):
        ob.location = (0.0, 0.0, 0.05 * sin(2 * pi * (frame - 1) / 8))
        ob.keyframe_insert("location", frame=frame)
    figures.row()
    frame = 0
    for collide in (False, True):
        figures.bake(ob, {"jiggle": 4.0, "collide": collide})
        through = [edges_through(ob, frame) for frame in range(1, 13)]
        frame = frame or 1 + int(np.argmax(through))
        if not collide:
            figures.cell(ob, frame, "input", "lips: input", turn=0.0, near=3.5)
        figures.cell(ob, frame, "result", f"{through[frame - 1]} edges through", turn=0.0, near=3.5)
    reset_scene()
    ob = faces.build_head(20, spacing=SPACING, runs=False)
    for inertia, title in ((1.0, "speech, inertia 1"), (0.0, "speech, as it comes")):
        figures.bake(ob, {"expression_inertia": inertia})
        figures.cell(ob, 15, "heat", title, red=0.001)


def edges_through(ob: Any, frame: int) -> int:
    """Edges of the skin that go through it on a frame of a bake."""
    from sinew.core.geometry.crossings import find_crossings

    bpy.context.scene.frame_set(frame)
    _, points = evaluated(ob)
    ob.data.calc_loop_triangles()
    triangles = np.array([triangle.vertices[:] for triangle in ob.data.loop_triangles], np.int32)
    return len(find_crossings([(points, triangles)], True)[0])


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        figures = Figures(Path(folder))
        for draw in (draw_bars, draw_mud, draw_squint, draw_lips_and_speech):
            draw(figures)
        figures.write(Path(arguments[0]).resolve())
    print(arguments[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
