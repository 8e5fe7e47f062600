"""Opening and saving .blend files, and where their bakes lie."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import bpy

from .errors import SceneError

FOLDER = "sinew_folder"  # on a scene: where its bakes lie
BESIDE = "sinew"  # the folder beside a .blend
default_folder = ""  # the user's own, for scenes that do not say


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


def chosen_folder() -> str:
    """Where the open scene, or else the user, wants bakes to lie: a path, or one from the .blend on, which begins with
    two slashes; "" for beside the .blend."""
    chosen = bpy.context.scene.get(FOLDER, "") if bpy.context.scene is not None else ""
    return chosen if isinstance(chosen, str) and chosen else default_folder


def bake_folder(blend: Path | None) -> Path:
    """Where the bakes of a .blend lie, which need not be the open one; those of a file without a name in a temporary
    folder. In a folder of all files each has its own: two of them may have one name."""
    if blend is None:
        return temporary_folder() / BESIDE
    chosen = chosen_folder()
    if not chosen or chosen.startswith("//"):
        return Path(os.path.normpath(blend.parent / (chosen.removeprefix("//") or BESIDE)))
    path = hashlib.blake2b(str(blend.resolve()).encode(), digest_size=4).hexdigest()
    return Path(os.path.abspath(os.path.expanduser(chosen))) / f"{blend.stem}-{path}"


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
