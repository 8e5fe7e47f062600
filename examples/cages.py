"""Both meshers' cages around the example character, cut open to show the tets inside.

    python examples/cages.py OUT.png [resolution]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import bpy  # noqa: E402
import numpy as np  # noqa: E402
import scenes  # noqa: E402
from sinew.core.cage.cage import Cage, build_cage  # noqa: E402
from sinew.core.cage.gmsh import tets as measures  # noqa: E402
from sinew.scene import shape  # noqa: E402

SKIN, CUT, EDGES, INK = (0.42, 0.62, 0.80, 1.0), (0.95, 0.62, 0.30, 1.0), (0.05, 0.08, 0.12, 1.0), (0.1, 0.1, 0.1, 1.0)
SIZE = (1400, 560)


def add_faces(name: str, vertices: np.ndarray, faces: np.ndarray, color: tuple[float, ...], place: Any) -> Any:
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices.tolist(), [], faces.tolist())
    ob = bpy.data.objects.new(name, mesh)
    ob.color, ob.location = color, place
    bpy.context.scene.collection.objects.link(ob)
    return ob


def add_cage(cage: Cage, place: Any) -> None:
    """The half behind the middle: what was outside in one colour, what the cut laid open in another, and its edges."""
    middle = np.median(cage.vertices[:, 0])
    kept = cage.tets[cage.vertices[cage.tets].mean(axis=1)[:, 0] > middle]
    faces = measures.boundary(kept)
    outer = {tuple(face) for face in np.sort(measures.boundary(cage.tets), axis=1).tolist()}
    is_outer = np.array([tuple(face) in outer for face in np.sort(faces, axis=1).tolist()])
    add_faces("skin", cage.vertices, faces[is_outer], SKIN, place)
    add_faces("cut", cage.vertices, faces[~is_outer], CUT, place)
    wire = add_faces("edges", cage.vertices, faces, EDGES, place).modifiers.new("Wireframe", "WIREFRAME")
    wire.thickness = 0.004 * float(np.ptp(cage.vertices, axis=0).max())
    wire.use_even_offset = False


def add_title(text: str, place: Any, size: float) -> None:
    curve = bpy.data.curves.new(text, "FONT")
    curve.body, curve.size, curve.align_x = text, size, "CENTER"
    ob = bpy.data.objects.new(text, curve)
    ob.location, ob.rotation_euler, ob.color = place, (np.pi / 2, 0.0, -np.pi / 2), INK
    bpy.context.scene.collection.objects.link(ob)


def show(out: Path, width: float, middle: Any) -> None:
    scene = bpy.context.scene
    camera = bpy.data.objects.new("camera", bpy.data.cameras.new("camera"))
    camera.data.type, camera.data.ortho_scale, camera.data.clip_end = "ORTHO", width, 100.0 * width
    turn = np.radians(-90.0)
    away = 3.0 * width * np.array([np.sin(turn), -np.cos(turn), 0.2])
    camera.location = np.asarray(middle) + away
    camera.rotation_euler = (np.arctan2(np.hypot(away[0], away[1]), away[2]), 0.0, turn)
    scene.collection.objects.link(camera)
    scene.camera = camera
    scene.world = scene.world or bpy.data.worlds.new("World")
    scene.world.color = (1.0, 1.0, 1.0)
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.display.shading.color_type, scene.display.shading.light = "OBJECT", "STUDIO"
    scene.display.shading.show_backface_culling = False
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = *SIZE, 100
    scene.render.dither_intensity = 0.0  # a plain ground makes a small file
    scene.render.image_settings.color_mode, scene.render.image_settings.compression = "RGB", 100
    scene.render.filepath = str(out)
    bpy.ops.render.render(write_still=True)


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    out, resolution = Path(arguments[0]).resolve(), int(arguments[1]) if len(arguments) > 1 else 20
    scenes.reset_scene()
    rest, triangles = shape.undeformed(scenes.build_character()).build()
    scenes.reset_scene()
    low, high = rest.min(axis=0), rest.max(axis=0)
    size = float((high - low).max())
    step = np.array([0.0, -1.25 * (high - low)[1], 0.0])
    for index, mesher in enumerate(("lattice", "gmsh")):
        cage = build_cage(rest, triangles, resolution, mesher=mesher)
        add_cage(cage, index * step)
        title = f"{mesher.title()}: {len(cage.tets):,} tets, angles from {cage.min_dihedral:.0f}°"
        add_title(title, (low + high) / 2 + index * step + [0.0, 0.0, 0.62 * (high - low)[2]], 0.07 * size)
        print(f"{title} {cage.note}")
    show(out, 2.5 * (high - low)[1], (low + high) / 2 + 0.5 * step + [0.0, 0.0, 0.05 * size])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
