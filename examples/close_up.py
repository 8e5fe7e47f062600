"""The example character from near, for pictures of one bake beside another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pictures
import scenes
from building import add_colors
from stage import INK

NEAR = 0.2  # metres from the camera


def build(frame_start: int, frame_end: int, resolution: tuple[int, int]) -> Any:
    """An empty scene with the character and its surroundings; `resolution` in pixels."""
    scenes.reset_scene()
    ob = scenes.build_character()
    scenes.add_surroundings(ob)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = frame_start, frame_end
    scene.render.resolution_x, scene.render.resolution_y = resolution
    scene.camera.data.lens, scene.camera.data.shift_x, scene.camera.location = 62.0, -0.13, (4.2, -3.4, 1.5)
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.color = (0.66, 0.76, 0.88)
    scene.display.shading.light = "STUDIO"
    scene.display.shading.studio_light = "paint.sl"  # soft and bright
    scene.view_settings.view_transform = "Standard"
    scene.render.dither_intensity = 0.0  # smaller files
    return ob


def render(frame: int, path: Path, title: str = "") -> np.ndarray:
    scene = bpy.context.scene
    scene.frame_set(frame)
    text = add_title(title) if title else None
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    if text is not None:
        bpy.data.objects.remove(text)
    return pictures.read_picture(path)


def add_title(title: str) -> Any:
    """Text in the lower left corner of the picture, so near to the camera that nothing is before it."""
    scene = bpy.context.scene
    camera, render = scene.camera, scene.render
    curve = bpy.data.curves.new("Title", "FONT")
    is_flat = camera.data.type == "ORTHO"
    wide = camera.data.ortho_scale if is_flat else camera.data.sensor_width / camera.data.lens
    curve.body, curve.size, curve.align_y = title, 0.065 * wide, "BOTTOM"
    holder = bpy.data.objects.new("Title", curve)
    text = bpy.data.objects.new("Title", bpy.data.meshes.new_from_object(holder))
    bpy.data.objects.remove(holder)
    add_colors(text, "Color", np.tile(INK, (len(text.data.vertices), 1)))
    scene.collection.objects.link(text)
    high = wide * render.resolution_y / render.resolution_x
    text.parent, text.scale = camera, (NEAR, NEAR, NEAR)
    text.location = (NEAR * (camera.data.shift_x - 0.47) * wide, -0.47 * NEAR * high, -NEAR)
    return text
