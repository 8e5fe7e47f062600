"""The example character from near, for pictures of one bake beside another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pictures
import scenes


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
    return ob


def render(frame: int, path: Path) -> np.ndarray:
    scene = bpy.context.scene
    scene.frame_set(frame)
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)
    return pictures.read_picture(path)
