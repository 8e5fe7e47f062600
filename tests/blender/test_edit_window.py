"""Edit Motion in a real window, where Blender can open one: under a display of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import bpy
import numpy as np
import pytest
import scenes
from inside import save

STEPS = Path(__file__).with_name("edit_steps.py")


def build_tail() -> None:
    """A tube that stands up and sways as one."""
    vertices, faces = scenes.tube_mesh(1.0, 0.12, 24, 12)
    ob = scenes.add_mesh("Tail", np.stack([vertices[:, 1], vertices[:, 2], vertices[:, 0]], axis=1), faces)
    scenes.set_frames(1, 16)
    for frame, turn in ((1, -0.1), (8, 0.1), (16, -0.1)):
        ob.rotation_euler.x = turn
        ob.keyframe_insert("rotation_euler", frame=frame)


@pytest.mark.skipif(not bpy.app.binary_path, reason="Blender as a Python module has no window")
@pytest.mark.skipif(not shutil.which("xvfb-run"), reason="there is no display to open a window on")
def test_a_motion_is_dragged_in_a_window(tmp_path: Path) -> None:
    scenes.reset_scene()
    build_tail()
    blend = save(tmp_path / "tail.blend")
    display = ["xvfb-run", "-a", "-s", "-screen 0 1280x800x24 +extension GLX -nolisten tcp"]
    options = ["--factory-startup", "--enable-event-simulate", "--window-geometry", "0", "0", "1280", "800"]
    command = [*display, bpy.app.binary_path, *options, str(blend), "--python", str(STEPS)]
    environment = {**os.environ, "LIBGL_ALWAYS_SOFTWARE": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=400)
    told = result.stdout + result.stderr
    assert result.returncode == 0 and "all steps done" in result.stdout, told
    assert "Traceback" not in told, told
