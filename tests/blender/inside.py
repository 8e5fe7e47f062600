"""What the tests inside Blender share."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import bpy
import numpy as np

ADDON = Path(__file__).resolve().parents[2] / "addon"


def command(*arguments: str) -> list[str]:
    """The command line of `python -m sinew`, for the Blender that runs the tests."""
    if bpy.app.binary_path:
        # Inside an executable: its own Python may be none that can be started.
        code = f"import sys; sys.path.insert(0, {str(ADDON)!r}); from sinew.command import main; sys.exit(main())"
        python = os.environ.get("SINEW_TEST_PYTHON", "/usr/bin/python3")
        return [python, "-c", code, *arguments, "--blender", bpy.app.binary_path]
    return [sys.executable, "-m", "sinew", *arguments]


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ADDON), "OMP_NUM_THREADS": "1"}


def run(*arguments: Any) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, as it is used."""
    line = command(*[str(argument) for argument in arguments])
    return subprocess.run(line, capture_output=True, text=True, env=environment(), check=False, timeout=600)


def run_here(*arguments: Any) -> subprocess.CompletedProcess[str]:
    """The same in this process, where bpy is a module of its Python: no other Blender has to start for it."""
    if bpy.app.binary_path:
        return run(*arguments)
    from sinew.command import main

    line = [str(argument) for argument in arguments]
    out, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        try:
            code = main(line)
        except SystemExit as end:  # of the parser
            code = int(end.code or 0)
    return subprocess.CompletedProcess(line, code, out.getvalue(), errors.getvalue())


def save(path: Path) -> Path:
    bpy.ops.wm.save_as_mainfile(filepath=str(path), check_existing=False)
    return path


def load(path: Path) -> None:
    bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False)


def shown(ob: Any) -> np.ndarray:
    """Positions of the evaluated mesh as it shows now, local space."""
    bpy.context.view_layer.update()
    mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def shown_at(ob: Any, frame: int, subframe: float = 0.0) -> np.ndarray:
    bpy.context.scene.frame_set(frame, subframe=subframe)
    return shown(ob)


def bake_here(ob: Any, folder: Path, settings: dict[str, Any]) -> Any:
    """Bakes an object of the open file in this process and plays it."""
    from sinew import setups

    blend = save(folder / "scene.blend")
    return setups.bake_object(ob.name, settings, setups.Target(blend))


def baked_samples(folder: Path) -> np.ndarray:
    """All samples of a bake folder."""
    from sinew.core.bake import pc2

    with open(folder / "result.pc2", "rb") as file:
        header = pc2.read_header(file, "result")
        return np.stack([pc2.read_slot(file, header, i) for i in range(header.samples)])
