"""Directable cloth: a cape that is animated by hand as a coarse sheet, fleshed out, and simulated after it. Metres,
Z up.

    python preview_to_final.py OUT.png      coarse guide, fine cloth after it, and the same cloth that is only pinned
    python preview_to_final.py --regions OUT.png        what more and more patches leave to the cloth

After figures 1, 5 and 6 of Bergou et al. 2007: there 35 vertices lead 1625.
"""

from __future__ import annotations

import sys
import tempfile
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
    guide.shape_key_add(name="Basis")
    set_frames(1, frames)
    poses = range(1, frames + _KEYED, _KEYED)
    for frame in poses:
        key = guide.shape_key_add(name=f"Frame {frame}")
        key.data.foreach_set("co", guide_at(rest, (frame - 1) / 24.0).astype(np.float32).ravel())
        for at in (frame - _KEYED, frame, frame + _KEYED):
            key.value = float(at == frame)
            key.keyframe_insert("value", frame=at)
    return guide


def bake(guide: Any, folder: Path, values: dict[str, Any], levels: int = 3) -> Any:
    """The fine cloth of a guide, baked."""
    from sinew import setups
    from sinew.setups.tracks.flesh_out import flesh_out

    fine = flesh_out(guide, levels, bpy.context.scene)
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "cape.blend"))
    chosen = {"pin_group": "Pinned", "guide_object": guide.name, "body_collision": False, **values}
    setups.bake_object(fine.name, chosen, setups.Target(folder / "cape.blend"), method="tracks")
    return fine


def films(values: list[dict[str, Any]], levels: int = 3) -> tuple[list[list[Any]], Any]:
    """The shown shapes (t, 3) of each cloth on the frames of the picture, the guide's first; and the faces of each."""
    from scenes import reset_scene

    reset_scene()
    guide = build_guide()
    taken, faces = [], []
    with tempfile.TemporaryDirectory() as folder:
        for one in [None, *values]:
            ob = guide if one is None else bake(guide, Path(folder), one, levels)
            faces.append([tuple(face.vertices) for face in ob.data.polygons])
            shapes = []
            for frame in SHOWN:
                bpy.context.scene.frame_set(frame)
                mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
                flat = np.empty(3 * len(mesh.vertices), np.float32)
                mesh.vertices.foreach_get("co", flat)
                shapes.append(flat.reshape(-1, 3).astype(float))
            taken.append(shapes)
    return taken, faces


def draw(shapes: list[list[Any]], faces: list[Any], titles: list[str], out: Path) -> None:
    """A row a frame, a column a cloth."""
    from pictures import read_picture, write_picture
    from scenes import reset_scene

    rows = []
    for number in range(len(SHOWN)):
        reset_scene()
        scene = bpy.context.scene
        for column, (film, sides) in enumerate(zip(shapes, faces, strict=True)):
            ob = add_mesh(f"Sheet {column}", film[number] + (0.0, 1.45 * column, 0.0), sides)
            for face in ob.data.polygons:
                face.use_smooth = column > 0
            ob.color = (0.72, 0.70, 0.66, 1.0) if column == 0 else (0.30, 0.46, 0.72, 1.0)
            text = bpy.data.objects.new("Title", bpy.data.curves.new("Title", "FONT"))
            text.data.body, text.data.size, text.data.align_x = titles[column] if number == 0 else "", 0.13, "CENTER"
            text.location, text.rotation_euler = (0.0, 1.45 * column, 0.38), (1.3, 0.0, 1.5708)
            text.color = (0.1, 0.1, 0.1, 1.0)
            scene.collection.objects.link(text)
        camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
        scene.collection.objects.link(camera)
        camera.data.type, camera.data.ortho_scale = "ORTHO", 1.5 * len(shapes)
        middle = 0.5 * 1.45 * (len(shapes) - 1)
        camera.location = (8.0, middle - 13.5 / len(shapes) ** 2, 2.2)
        camera.rotation_euler = (camera.location - Vector((0.0, middle, -0.42))).to_track_quat("Z", "Y").to_euler()
        scene.camera = camera
        scene.render.engine = "BLENDER_WORKBENCH"
        scene.display.shading.color_type, scene.display.shading.show_cavity = "OBJECT", True
        scene.world = scene.world or bpy.data.worlds.new("Sky")
        scene.world.color = (0.86, 0.89, 0.93)
        scene.view_settings.view_transform = "Standard"
        scene.render.resolution_x, scene.render.resolution_y = 230 * len(shapes), 290
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
        around = {"guide_vertices": False}
        shapes, faces = films([{**around, "regions": count} for count in SWEEP])
        titles = ["guide", *(f"{count} patches" if count else "pinned only" for count in SWEEP)]
    else:
        shapes, faces = films([{}, {"guide_vertices": False}])
        titles = ["guide, 35 vertices", "after its guide", "pinned only"]
    draw(shapes, faces, titles, out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
