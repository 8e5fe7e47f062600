"""Opening and saving .blend files."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import bpy

from .errors import SceneError


def open_blend(path: Path, *, scripts: bool = False) -> None:
    """Opens a file, by default with its scripts disabled: it may come from anywhere."""
    if not path.is_file():
        raise SceneError(f"{path} does not exist: check the name.")
    try:
        bpy.ops.wm.open_mainfile(filepath=str(path), load_ui=False, use_scripts=scripts)
    except RuntimeError as error:
        raise SceneError(f"{path} cannot be opened as a Blender file: check that it is one.") from error


def temporary_folder() -> Path:
    """Blender's own, which goes when it is closed in order."""
    return Path(bpy.app.tempdir or tempfile.gettempdir())


def scripts_were_blocked() -> bool:
    """Whether the open file wanted to run scripts (or scripted drivers) and was not allowed to."""
    return bool(bpy.app.autoexec_fail)


def save_blend(path: Path) -> None:
    """Saves the open file as `path` in one step: a kill leaves the old file or the new one."""
    path = Path(os.path.realpath(path))
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.saving.blend")
    try:
        bpy.ops.wm.save_as_mainfile(
            filepath=str(temporary), copy=True, check_existing=False, compress=_is_compressed(), relative_remap=True
        )
        if path.exists():
            shutil.copymode(path, temporary)
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except (RuntimeError, OSError) as error:
        raise SceneError(f"{path} cannot be saved ({_reason(error)}): check its folder and the free space.") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).strip().splitlines()[-1].removeprefix("Error: ")


def _is_compressed() -> bool:
    """Whether the open file is compressed on disk, so that it stays so."""
    try:
        with open(bpy.data.filepath, "rb") as file:
            return not file.read(7).startswith(b"BLENDER")
    except OSError:
        return False
