"""Plots and bodies drawn by Blender: curves, text and meshes on a white ground, seen from above."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from building import add_colors, add_mesh

Color = tuple[float, float, float]
BLUE, ORANGE, GREEN = (0.1, 0.3, 0.8), (0.9, 0.4, 0.05), (0.05, 0.5, 0.1)
GREY, BLACK = (0.75, 0.75, 0.75), (0.1, 0.1, 0.1)
WIDE, HIGH = 5.0, 3.0  # of a plot, in units of the scene
Line = tuple[str, Any, Color]  # name, a value for each frame (NaN: none), colour


def material(color: Color) -> Any:
    name = str(color)
    found = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    found.diffuse_color = (*color, 1.0)
    return found


def add(curve: Any, color: Color) -> None:
    curve.materials.append(material(color))
    bpy.context.scene.collection.objects.link(bpy.data.objects.new(curve.name, curve))


def write(text: str, x: float, y: float, color: Color = BLACK, size: float = 0.17, align: str = "CENTER") -> None:
    curve = bpy.data.curves.new("text", "FONT")
    curve.body, curve.size, curve.align_x, curve.align_y = text, size, align, "CENTER"
    curve.offset_x, curve.offset_y = x, y
    add(curve, color)


def draw(points: Sequence[tuple[float, float]], color: Color, width: float, above: float = 0.0) -> None:
    curve = bpy.data.curves.new("line", "CURVE")
    curve.dimensions, curve.bevel_depth = "3D", width
    spline = curve.splines.new("POLY")
    spline.points.add(len(points) - 1)
    for point, (x, y) in zip(spline.points, points, strict=True):
        point.co = (x, y, -0.1 if color == GREY else above, 1.0)
    add(curve, color)


def body(points: Any, triangles: Any, colors: Any, *, smooth: bool = True) -> Any:
    """A mesh in the picture's own directions: right, up, towards the viewer. `colors` (t,3) or (3,) are linear; they
    are seen where the picture is `solid`."""
    ob = add_mesh("body", points, triangles, smooth=smooth)
    add_colors(ob, "Color", np.broadcast_to(colors, (len(ob.data.vertices), 3)))
    return ob


def plot(
    left: float,
    title: str,
    lines: Sequence[Line],
    *,
    low: float = 0.0,
    every: int = 24,
    below: str = "frame",
    unit: float = 1.0,
    label: Callable[[float], str] = lambda value: f"{1000 * value:.0f}",
    thick: Sequence[float] = (),
) -> Callable[[float, float], tuple[float, float]]:
    """Linear axes, the frame times `unit` to the right, values upwards (in thousandths, unless `label` says otherwise),
    above `low`; later lines lie on earlier ones. Returns where a frame and a value are in the picture."""
    everything = np.concatenate([values for _, values, _ in lines])
    least, most = np.nanmin(everything), np.nanmax(everything)
    count = max(len(values) for _, values, _ in lines)

    def place(frame: float, value: float) -> tuple[float, float]:
        return left + WIDE * frame / (count - 1), low + HIGH * float((value - least) / (most - least))

    for value in np.linspace(least, most, 5):
        y = place(0, value)[1]
        draw([(left, y), (left + WIDE, y)], GREY, 0.004)
        write(label(value), left - 0.25, y, size=0.13)
    for frame in range(0, count, every):
        write(f"{unit * frame:g}", place(frame, least)[0], low - 0.2, size=0.13)
        draw([place(frame, least), place(frame, most)], GREY, 0.004)
    for row, (name, values, color) in enumerate(lines):
        run: list[tuple[float, float]] = []
        for frame, value in enumerate([*values, np.nan]):
            if np.isfinite(value):
                run.append(place(frame, value))
            else:
                if len(run) > 1:
                    draw(run, color, thick[row] if thick else 0.014, 0.1 * row)
                run = []
        write(name, left + WIDE / 2, low + HIGH + 0.3 + 0.22 * row, color)
    write(title, left + WIDE / 2, low + HIGH + 0.4 + 0.22 * len(lines), BLACK, 0.2)
    write(below, left + WIDE / 2, low - 0.45, size=0.14)
    return place


def picture(path: Path, left: float, low: float, wide: float, pixels: tuple[int, int], *, solid: bool = False) -> None:
    """What lies between `left` and `left + wide`, from `low` upwards. `solid`: bodies are lit and in their colours."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", wide
    camera.location = (left + wide / 2, low + wide * pixels[1] / pixels[0] / 2, 10.0)
    scene.collection.objects.link(camera)
    scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
    scene.display.shading.light, scene.display.shading.color_type = "FLAT", "MATERIAL"
    if solid:
        color_curves()
        scene.display.shading.light, scene.display.shading.color_type = "STUDIO", "VERTEX"
        scene.display.shading.studio_light = "paint.sl"  # soft and bright
    scene.world = bpy.data.worlds.new("White")
    scene.world.color = (1.0, 1.0, 1.0)
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = pixels
    scene.render.dither_intensity = 0.0  # a plain ground makes a small file
    scene.render.image_settings.color_mode, scene.render.image_settings.compression = "RGB", 100
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)


def color_curves() -> None:
    """Where vertex colours are shown, text and lines have none: makes meshes of them, in their materials' colours."""
    for ob in [ob for ob in bpy.data.objects if ob.type in ("FONT", "CURVE")]:
        mesh = bpy.data.meshes.new_from_object(ob)
        colored = bpy.data.objects.new("text", mesh)
        bpy.context.scene.collection.objects.link(colored)
        add_colors(colored, "Color", np.tile(ob.active_material.diffuse_color[:3], (len(mesh.vertices), 1)))
        bpy.data.objects.remove(ob)
