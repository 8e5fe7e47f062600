"""Runs the helper process and takes its answer apart. Whatever it does, this returns within its time."""

from __future__ import annotations

import array
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import child

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

LIBRARY = Path(__file__).resolve().parents[3] / "lib" / "gmsh" / "libgmsh.so"
SCRIPT = Path(child.__file__)
_LEAST_SECONDS = 30
_FACES_A_SECOND = 300  # a slow machine that is busy; an idle one does ten times as many
_LOOK = 0.05  # seconds between two looks at the helper


class Failure(Exception):
    """Why there are no tets: the rest of a sentence that begins with "Gmsh"."""


def fill(positions: Floats, faces: Ints, cell: float, monitor: Any = None) -> tuple[Floats, Ints]:
    """Vertices (n, 3), those of the surface first, and tets (e, 4) inside a closed surface; Failure where there are
    none. A cancelled monitor ends the helper."""
    if not LIBRARY.is_file():
        raise Failure("is not in this package")
    try:
        with tempfile.TemporaryDirectory(prefix="sinew-gmsh-", ignore_cleanup_errors=True) as name:
            flat = array.array("d", positions.tobytes()), array.array("i", faces.astype(np.int32).tobytes())
            child.write_mesh(Path(name) / "surface", *flat, cell)
            _run_any(Path(name), _LEAST_SECONDS + len(faces) // _FACES_A_SECOND, monitor)
            return _read(Path(name), len(positions))
    except OSError as error:
        raise Failure(f"cannot use the temporary folder ({error.strerror})") from error


def _run_any(folder: Path, seconds: int, monitor: Any) -> None:
    """Runs the script by the first command that starts it."""
    commands = python_commands(SCRIPT)
    if not commands:
        raise Failure("finds no Python to run in")
    for command in commands:
        code = _run([*command, str(LIBRARY), str(folder), str(seconds)], folder, seconds, monitor)
        if code == 0:
            return
        if (folder / child.STARTED).exists():
            break
    raise Failure(_why(code, folder))


def python_commands(script: Path) -> list[list[str]]:
    """What may run a script that needs nothing but Python's own modules: a Python, and the Blender that this is. Some
    Blenders name a Python that is not there, or one that does not start."""
    found = []
    python = Path(sys.executable or "")
    if python.name.startswith("python") and os.access(python, os.X_OK):
        found.append([str(python), "-I", str(script)])
    with contextlib.suppress(OSError):
        program = os.readlink("/proc/self/exe")
        if "blender" in Path(program).name.lower():
            found.append([program, "-b", "--factory-startup", "--python-exit-code", "9", "--python", str(script), "--"])
    return found


def _run(command: list[str], folder: Path, seconds: float, monitor: Any) -> int:
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    end = time.monotonic() + seconds
    with _started(command, folder, environment) as process:
        while process.poll() is None:
            if monitor is not None:
                monitor.check()
            if time.monotonic() > end:
                raise Failure(f"did not come to an end within {seconds:.0f} seconds")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_LOOK)
        return process.returncode


@contextlib.contextmanager
def _started(command: list[str], folder: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that does not outlive the block, nor do its own children."""
    try:
        with open(folder / "log", "wb") as log:
            process = subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
    except OSError as error:
        raise Failure(f"could not be started ({error.strerror})") from error
    try:
        yield process
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _why(code: int, folder: Path) -> str:
    told = ""
    with contextlib.suppress(OSError):
        told = (folder / "error").read_text(errors="replace").strip().split("\n")[0][:200]
    if code == child.CANNOT_LOAD:
        return f"cannot start on this computer ({told}): install the library that is named"
    if code < 0:
        return "crashed"
    return f"could not fill the cage ({told})" if told else f"ended with code {code}"


def _read(folder: Path, surface_count: int) -> tuple[Floats, Ints]:
    try:
        positions, corners, _ = child.read_mesh(folder / "tets")
    except (OSError, EOFError, ValueError, OverflowError, MemoryError):
        raise Failure("gave back something that is no mesh") from None
    vertices = np.frombuffer(positions, np.float64) if len(positions) else np.empty(0)
    tets = np.frombuffer(corners, np.int32) if len(corners) else np.empty(0, np.int32)
    if len(tets) == 0 or len(tets) % 4 or len(vertices) % 3 or len(vertices) < 3 * surface_count:
        raise Failure("gave back no tets")
    if tets.min() < 0 or tets.max() >= len(vertices) // 3 or not np.isfinite(vertices).all():
        raise Failure("gave back something that is no mesh")
    return vertices.reshape(-1, 3).copy(), tets.reshape(-1, 4).copy()
