"""An artist's day in a real window, where Blender can open one: under a display of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import bpy
import pytest
import scenes
from inside import save

ROOT = Path(__file__).resolve().parents[2]
STORY = Path(__file__).with_name("window_story.py")


@pytest.mark.skipif(not bpy.app.binary_path, reason="Blender as a Python module has no window")
@pytest.mark.skipif(not shutil.which("xvfb-run"), reason="there is no display to open a window on")
def test_an_artists_day_in_a_window(package: Path, tmp_path: Path) -> None:
    scenes.reset_scene()
    scenes.build_character()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.frame_current = 84, 97, 84
    blend = save(tmp_path / "calf.blend")
    failure = ROOT / "build" / "test" / f"window-{bpy.app.version_string.split()[0]}.png"
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment |= {"LIBGL_ALWAYS_SOFTWARE": "1", "SINEW_FAILURE": str(failure)}
    for kind in ("RESOURCES", "CONFIG", "SCRIPTS", "DATAFILES", "EXTENSIONS"):
        path = tmp_path / "profile" / kind.lower()
        path.mkdir(parents=True)
        environment[f"BLENDER_USER_{kind}"] = str(path)
    display = ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24 +extension GLX -nolisten tcp"]
    options = ["--enable-event-simulate", "--window-geometry", "0", "0", "1600", "1000", "--python", str(STORY)]
    command = [*display, bpy.app.binary_path, *options, "--", str(package), str(blend)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=900)
    told = result.stdout + result.stderr
    assert result.returncode == 0 and "the artist quits" in result.stdout, f"{told}\nSee {failure}"
