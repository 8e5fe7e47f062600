"""Directable cloth: a cape that is animated by hand as a coarse sheet, fleshed out, and simulated after it. Metres,
Z up.

    python preview_to_final.py OUT.png      coarse guide, fine cloth after it, and the same cloth that is only pinned
    python preview_to_final.py --regions OUT.png        what more and more patches leave to the cloth

After figures 1, 5 and 6 of Bergou et al. 2007: there 35 vertices lead 1625.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from building import add_mesh, set_frames
from mathutils import Vector

COLUMNS, ROWS, SIZE = 7, 5, (1.6, 1.0)
FRAMES = 36
SHOWN = (8, 22, 32)
SWEEP = (0, 4, 16, 64)
_KEYED = 4  # frames from one pose of the hand-made animation to the next


def guide_at(rest: Any, t: float) -> Any:
    """A cape that flies up and comes down, in seconds: a curve that keeps its length, and a wave across."""
    steps = 60
    along = (np.arange(steps) + 0.5) / steps
    angle = -0.35 + (0.55 * np.sin(3.4 * t) + 0.5 * np.sin(5.1 * t - 3.5 * along)) * np.minimum(3.0 * along, 1.0)
    step = SIZE[0] / steps
    x, z = (np.concatenate([[0.0], np.cumsum(step * way(angle))]) - 0.5 * SIZE[0] * shift
            for way, shift in ((np.cos, 1.0), (np.sin, 0.0)))  # fmt: skip
    place = rest[:, 0] / SIZE[0] + 0.5
    wave = 0.06 * place * np.sin(4.0 * t + 6.0 * rest[:, 1])
    at = np.linspace(0.0, 1.0, steps + 1)
    return np.stack([np.interp(place, at, x), rest[:, 1], np.interp(place, at, z) + wave], axis=1)


def build_guide(frames: int = FRAMES) -> Any:
    """The coarse sheet, 35 vertices, animated by a shape key for every pose; pinned along one side."""
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, COLUMNS), np.linspace(-0.5, 0.5, ROWS), indexing="ij")
    rest = np.stack([SIZE[0] * x, SIZE[1] * y, 0.0 * x], axis=2).reshape(-1, 3)
    faces = []
    for i in range(COLUMNS - 1):
        for j in range(ROWS - 1):
            a, b = i * ROWS + j, (i + 1) * ROWS + j
            faces.append((a, b, b + 1, a + 1))
    pinned = (rest[:, 0] < -0.5 * SIZE[0] + 1e-6).astype(float)
    guide = add_mesh("Guide", rest, faces, groups={"Pinned": pinned})
    animate(guide, lambda t: guide_at(rest, t), frames)
    return guide


def animate(guide: Any, pose: Callable[[float], Any], frames: int) -> None:
    """By a shape key every fourth frame; `pose` gives (t, 3) at so many seconds."""
    guide.shape_key_add(name="Basis")
    set_frames(1, frames)
    for frame in range(1, frames + _KEYED, _KEYED):
        key = guide.shape_key_add(name=f"Frame {frame}", from_mix=False)
        key.data.foreach_set("co", pose((frame - 1) / 24.0).astype(np.float32).ravel())
        for at in (frame - _KEYED, frame, frame + _KEYED):
            key.value = float(at == frame)
            key.keyframe_insert("value", frame=at)


@dataclass(frozen=True)
class Look:
    """A cloth of a guide: its title, its settings, and what is done to the new object before the bake."""

    title: str
    values: dict[str, Any] = field(default_factory=dict)
    change: Callable[[Any], None] = lambda ob: None


@dataclass(frozen=True)
class View:
    """How columns of cloth are shown: metres from one to the next, the height that is looked at, of the camera and of
    titles, and pixels of a cell."""

    apart: float = 1.45
    aim: float = -0.42
    above: float = 2.2
    title: float = 0.38
    cell: tuple[int, int] = (230, 290)


def films(
    looks: Sequence[Look], levels: int = 3, build: Callable[[], Any] = build_guide, shown: Sequence[int] = SHOWN
) -> tuple[list[list[Any]], list[Any]]:
    """The shapes (t, 3) of the guide and of each cloth on the shown frames, and the faces of each. Without levels the
    guide itself is baked."""
    from scenes import reset_scene

    reset_scene()
    guide = build()
    taken, faces = [_shapes(guide, shown)], [_faces(guide)]
    with tempfile.TemporaryDirectory() as folder:
        for look in looks:
            ob = bake(guide, Path(folder), look, levels)
            taken.append(_shapes(ob, shown))
            faces.append(_faces(ob))
    return taken, faces


def bake(guide: Any, folder: Path, look: Look, levels: int) -> Any:
    """The fine cloth of a guide, baked."""
    from sinew import setups
    from sinew.setups.tracks.flesh_out import flesh_out

    fine = flesh_out(guide, levels, bpy.context.scene) if levels else guide
    look.change(fine)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "cloth.blend"))
    chosen = {"pin_group": "Pinned", "guide_object": guide.name if levels else "", "body_collision": False}
    start = time.monotonic()
    outcome = setups.bake_object(
        fine.name, {**chosen, **look.values}, setups.Target(folder / "cloth.blend"), method="tracks"
    )
    print(f"{look.title}: {time.monotonic() - start:.0f} s;", *outcome.report["warnings"])
    return fine


def _shapes(ob: Any, shown: Sequence[int]) -> list[Any]:
    shapes = []
    for frame in shown:
        bpy.context.scene.frame_set(frame)
        mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
        flat = np.empty(3 * len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", flat)
        shapes.append(flat.reshape(-1, 3).astype(float))
    return shapes


def _faces(ob: Any) -> Any:
    return [tuple(face.vertices) for face in ob.data.polygons]


def draw(
    shapes: Sequence[Sequence[Any]], faces: Sequence[Any], titles: Sequence[str], out: Path, view: View = View()
) -> None:
    """A row a frame, a column a cloth; the first is the guide."""
    from pictures import read_picture, write_picture
    from scenes import reset_scene

    rows = []
    for number in range(len(shapes[0])):
        reset_scene()
        scene = bpy.context.scene
        for column, (film, sides) in enumerate(zip(shapes, faces, strict=True)):
            ob = add_mesh(f"Sheet {column}", film[number] + (0.0, view.apart * column, 0.0), sides)
            for face in ob.data.polygons:
                face.use_smooth = column > 0
            ob.color = (0.72, 0.70, 0.66, 1.0) if column == 0 else (0.30, 0.46, 0.72, 1.0)
            text = bpy.data.objects.new("Title", bpy.data.curves.new("Title", "FONT"))
            text.data.body, text.data.align_x = titles[column] if number == 0 else "", "CENTER"
            text.data.size = 0.09 * view.apart
            text.location, text.rotation_euler = (0.0, view.apart * column, view.title), (1.3, 0.0, 1.5708)
            text.color = (0.1, 0.1, 0.1, 1.0)
            scene.collection.objects.link(text)
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        scene.collection.objects.link(camera)
        camera.data.type, camera.data.ortho_scale = "ORTHO", 1.0345 * view.apart * len(shapes)
        middle = 0.5 * view.apart * (len(shapes) - 1)
        camera.location = (8.0, middle - 13.5 / len(shapes) ** 2, view.above)
        way = camera.location - Vector((0.0, middle, view.aim))
        camera.rotation_euler = way.to_track_quat("Z", "Y").to_euler()
        scene.camera = camera
        scene.render.engine = "BLENDER_WORKBENCH"
        scene.display.shading.color_type, scene.display.shading.show_cavity = "OBJECT", True
        scene.world = scene.world or bpy.data.worlds.new("Sky")
        scene.world.color = (0.86, 0.89, 0.93)
        scene.view_settings.view_transform = "Standard"
        scene.render.dither_intensity = 0.0
        scene.render.resolution_x, scene.render.resolution_y = view.cell[0] * len(shapes), view.cell[1]
        with tempfile.TemporaryDirectory() as folder:
            scene.render.filepath = f"{folder}/row.png"
            bpy.ops.render.render(write_still=True)
            rows.append(read_picture(Path(scene.render.filepath)))
    write_picture(out, np.concatenate(rows))


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    import sinew

    sinew.register()
    out = Path(arguments[-1]).resolve()
    if arguments[0] == "--regions":
        title = "guide"
        looks = [
            Look(f"{count} patches" if count else "pinned only", {"guide_vertices": False, "regions": count})
            for count in SWEEP
        ]
    else:
        title = "guide, 35 vertices"
        looks = [Look("after its guide"), Look("pinned only", {"guide_vertices": False})]
    shapes, faces = films(looks)
    draw(shapes, faces, [title, *(look.title for look in looks)], out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
