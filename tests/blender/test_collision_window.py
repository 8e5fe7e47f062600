"""Collisions in a real window, where Blender can open one: under a display of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import bpy
import pytest
import scenes
from building import add_mesh, set_frames
from inside import save

STEPS = Path(__file__).with_name("collision_steps.py")


@pytest.mark.skipif(not bpy.app.binary_path, reason="Blender as a Python module has no window")
@pytest.mark.skipif(not shutil.which("xvfb-run"), reason="there is no display to open a window on")
def test_bodies_that_touch_are_baked_played_and_looked_at_in_a_window(tmp_path: Path) -> None:
    scenes.reset_scene()
    vertices, faces = scenes.ball_mesh(0.3, 4)
    for name, height in {"Lower": 0.35, "Upper": 1.0}.items():
        add_mesh(name, vertices + (0.0, 0.0, height), faces)
    set_frames(1, 14)
    blend = save(tmp_path / "balls.blend")
    display = ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24 +extension GLX -nolisten tcp"]
    options = ["--factory-startup", "--enable-event-simulate", "--window-geometry", "0", "0", "1600", "1000"]
    picture = ["--", os.environ["SINEW_PICTURE"]] if "SINEW_PICTURE" in os.environ else []
    command = [*display, bpy.app.binary_path, *options, str(blend), "--python", str(STEPS), *picture]
    environment = {**os.environ, "LIBGL_ALWAYS_SOFTWARE": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0 and "all steps done" in result.stdout, result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr, result.stdout + result.stderr
