"""Where bakes lie."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..core.base.errors import BadInput
from ..scene import file, playback, setup
from ..scene.errors import SceneError


@dataclasses.dataclass(frozen=True)
class Target:
    """Where bakes lie: where the scene says, else beside the .blend that will play them, which need not be the one that
    is open. A file that was never saved has a temporary folder."""

    blend: Path | None

    @property
    def root(self) -> Path:
        return file.bake_folder(self.blend)

    @property
    def file_name(self) -> str:
        return "" if self.blend is None else self.blend.name


def bake_root(ob: Any, entry: setup.Setup, target: Target) -> Path:
    """The folder in which the bake of a setup lies: that of the file its modifier plays (after Save As into another
    folder, or an append, it is not beside the .blend), else the usual one."""
    path = playback.cache_path(ob)
    if path is not None and path.parent.name == entry.bake and path.is_file():
        return path.parent.parent
    return target.root


@contextlib.contextmanager
def sentences() -> Iterator[None]:
    """Errors of the scene become ours."""
    try:
        yield
    except SceneError as error:
        raise BadInput(str(error)) from error
