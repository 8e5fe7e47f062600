"""What `make demo` runs: builds the example character, enriches it with default settings, shows it.

Leaves in build/demo/: calf.blend with its bake, report.json, contact-sheet.png, demo.mp4 and moving.png (for pages) of
input beside result.
The bake is the ordinary command, `python -m sinew bake calf.blend --object Calf`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import bpy  # noqa: E402
import pictures  # noqa: E402
import scenes  # noqa: E402

NAME = "Calf"
TELLING_FRAMES = (34, 78, 86, 92, 98, 101, 106, 140)
MOVING_FRAMES = (60, 132, 1)  # the jump and its landing


def bake(file: Path, name: str, report: Path, *options: str) -> dict[str, Any] | None:
    """Runs the command in a process of its own, as a user would; its report, or None where it failed."""
    paths = [str(HERE.parent / "addon"), *filter(None, [os.environ.get("PYTHONPATH")])]
    command = [sys.executable, "-m", "sinew", "bake", str(file), "--object", name, "--report", str(report), *options]
    report.unlink(missing_ok=True)
    code = subprocess.run(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}, check=False).returncode
    return json.loads(report.read_text()) if code == 0 else None


def build(file: Path) -> None:
    scenes.reset_scene()
    scenes.add_surroundings(scenes.build_character(NAME))
    bpy.ops.wm.save_as_mainfile(filepath=str(file), compress=True)
    file.with_suffix(".blend1").unlink(missing_ok=True)


def main() -> int:
    out = HERE.parent / "build" / "demo"
    out.mkdir(parents=True, exist_ok=True)
    file, sheet, movie = out / "calf.blend", out / "contact-sheet.png", out / "demo.mp4"
    moving = out / "moving.png"
    seconds: dict[str, float] = {}
    started = time.monotonic()

    def done(stage: str) -> None:
        nonlocal started
        seconds[stage], started = time.monotonic() - started, time.monotonic()

    build(file)
    done("build")
    report = bake(file, NAME, out / "report.json")
    if report is None:
        print("The bake failed: see the message above.", file=sys.stderr)
        return 1
    done("bake")
    bpy.ops.wm.open_mainfile(filepath=str(file))
    ob, scene = bpy.data.objects[NAME], bpy.context.scene
    with Quiet():
        pictures.contact_sheet(ob, TELLING_FRAMES, sheet, across=2)
        done("contact sheet")
        pictures.film(ob, range(scene.frame_start, scene.frame_end + 1), movie)
        done("film")
        pictures.moving_picture(ob, range(*MOVING_FRAMES), moving)
        done("moving picture")
    added, fit = report["added_motion"], report["fit_error"]
    print(f"\n{NAME}: {report['vertices']} vertices, {report['tets']} tets, {report['frames']} frames")
    print(f"fit error     {fit['rms_relative']:.3%} of size rms")
    print(f"added motion  {added['free_rms_relative']:.2%} rms on the free part, {added['max_relative']:.2%} at most")
    print("seconds       " + ", ".join(f"{stage} {value:.0f}" for stage, value in seconds.items()))
    for path in (file, sheet, movie, moving):
        print(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
    return 0


class Quiet:
    """Blender prints a line or more for each rendered frame, past Python: silenced meanwhile."""

    def __enter__(self) -> None:
        sys.stdout.flush()
        self._kept = os.dup(1)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.close(silence)

    def __exit__(self, *_: object) -> None:
        sys.stdout.flush()
        os.dup2(self._kept, 1)
        os.close(self._kept)


if __name__ == "__main__":
    sys.exit(main())
