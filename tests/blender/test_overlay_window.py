"""The overlay in a real window, where Blender can open one: under a display of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import bpy
import pytest
import scenes
from inside import save

STEPS = Path(__file__).with_name("overlay_steps.py")


@pytest.mark.skipif(not bpy.app.binary_path, reason="Blender as a Python module has no window")
@pytest.mark.skipif(not shutil.which("xvfb-run"), reason="there is no display to open a window on")
def test_cage_weights_and_presets_in_a_window(tmp_path: Path) -> None:
    scenes.reset_scene()
    scenes.build_two_bone_arm(frames=10)
    blend = save(tmp_path / "arm.blend")
    display = ["xvfb-run", "-a", "-s", "-screen 0 1280x800x24 +extension GLX -nolisten tcp"]
    options = ["--factory-startup", "--enable-event-simulate", "--window-geometry", "0", "0", "1280", "800"]
    command = [*display, bpy.app.binary_path, *options, str(blend), "--python", str(STEPS)]
    environment = {**os.environ, "LIBGL_ALWAYS_SOFTWARE": "1"}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0 and "all steps done" in result.stdout, result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr, result.stdout + result.stderr
