"""Plots drawn by Blender: curves and text on a white ground, seen from above."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy

Color = tuple[float, float, float]
BLUE, ORANGE, GREEN = (0.1, 0.3, 0.8), (0.9, 0.4, 0.05), (0.05, 0.5, 0.1)
GREY, BLACK = (0.75, 0.75, 0.75), (0.1, 0.1, 0.1)


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


def draw(points: Sequence[tuple[float, float]], color: Color, width: float) -> None:
    curve = bpy.data.curves.new("line", "CURVE")
    curve.dimensions, curve.bevel_depth = "3D", width
    spline = curve.splines.new("POLY")
    spline.points.add(len(points) - 1)
    for point, (x, y) in zip(spline.points, points, strict=True):
        point.co = (x, y, -0.1 if color == GREY else 0.0, 1.0)
    add(curve, color)


def picture(path: Path, left: float, low: float, wide: float, pixels: tuple[int, int]) -> None:
    """What lies between `left` and `left + wide`, from `low` upwards."""
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", wide
    camera.location = (left + wide / 2, low + wide * pixels[1] / pixels[0] / 2, 10.0)
    scene.collection.objects.link(camera)
    scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
    scene.display.shading.light, scene.display.shading.color_type = "FLAT", "MATERIAL"
    scene.world = bpy.data.worlds.new("White")
    scene.world.color = (1.0, 1.0, 1.0)
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = pixels
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
