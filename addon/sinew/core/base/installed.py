"""Whether what this process has loaded is what lies on the disk: an update while Blender is open mixes two versions."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2]
RESTART = "Sinew was updated while Blender was open: restart Blender to use it."
# On `sys`, because an update makes Blender forget our modules, but it cannot unload the native one and its libraries.
_MARK = "sinew_loaded"


def fingerprint() -> str:
    """A hash of the installed files; of the libraries, which are large, only names and sizes."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted(PACKAGE.rglob("*")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith("lib/") and path.is_file():
            digest.update(f"{name} {path.stat().st_size}".encode())
        elif path.suffix in (".py", ".toml", ".so", ".pyd"):
            digest.update(name.encode() + path.read_bytes())
    return digest.hexdigest()


@functools.cache
def engine_build() -> str:
    """The id of the sources that the native modules were built from, whatever instruction set each is for; "" where it
    is not known."""
    try:
        return str(tomllib.loads((PACKAGE / "build.toml").read_text())["engine"])
    except (OSError, ValueError, KeyError):
        return ""


def mark_loaded() -> None:
    """Called once the native module is in use."""
    if not hasattr(sys, _MARK):
        setattr(sys, _MARK, fingerprint())


def was_updated() -> bool:
    """Whether another version was loaded before, by this process."""
    return getattr(sys, _MARK, None) not in (None, fingerprint())


def let_go_of_files() -> None:
    """Puts a copy in the place of each library that is loaded; the loaded one stays, without a name.

    The installer of add-ons before 4.2 writes into files that are there already: that would change the code under a
    running Blender, and crash it.
    """
    for path in (*sorted(PACKAGE.glob("_*.so")), *sorted((PACKAGE / "lib").glob("*.so*"))):
        try:
            descriptor, copy = tempfile.mkstemp(dir=path.parent, prefix=".copy-")
            os.close(descriptor)
            shutil.copy2(path, copy)
            os.replace(copy, path)
        except OSError:
            return  # a folder that cannot be written to cannot be updated in this way either
