"""Sinew: adds physics to an animation that exists already, as much as the artist painted and no more.

Over numpy arrays, without Blender: `sinew.enrich(rest, triangles, frames, follow)`, or `sinew.Enricher` for each step
by itself. In Blender it is an add-on. On the command line: `python -m sinew --help`.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

# Blender reads this, as text, from add-ons that are not extensions.
bl_info = {
    "name": "Sinew",
    "author": "Sinew contributors",
    "version": (0, 2, 0),
    "blender": (3, 4, 0),
    "location": "Properties > Physics",
    "description": "Physics for animations that exist already",
    "category": "Animation",
}

_API = {
    "Cage": "cage.cage",
    "EditedFrames": "flesh.edited",
    "EditedSheet": "edit.motion",
    "Enricher": "flesh.enricher",
    "Error": "base.errors",
    "Handle": "edit.handles",
    "Settings": "flesh.settings",
    "automatic_follow": "paint.follow",
    "build_cage": "cage.cage",
    "edit": "flesh.edited",
    "enrich": "flesh.enrich",
}
__all__ = [  # noqa: F822 (found by __getattr__)
    *("Cage", "EditedFrames", "EditedSheet", "Enricher", "Error", "Handle", "Settings"),
    *("automatic_follow", "build_cage", "edit", "enrich"),
]


def __getattr__(name: str) -> Any:
    if name not in _API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".core.{_API[name]}", __name__), name)


def register() -> None:
    """Called by Blender. Where Sinew cannot run, its panel says why."""
    from .scene import unavailable

    problem = _problem()
    if problem:
        unavailable.register(problem)
        return
    from . import command, ui

    ui.register()
    command.register()
    _prepare_for_updates()


def unregister() -> None:
    """Called by Blender."""
    from .scene import unavailable

    if unavailable.is_registered():
        unavailable.unregister()
        return
    from . import command, ui

    command.unregister()
    ui.unregister()


def _prepare_for_updates() -> None:
    import bpy

    from .core.base import installed

    folder = bpy.utils.user_resource("SCRIPTS", path="addons")
    if folder and installed.PACKAGE.parent == Path(folder).resolve():
        installed.let_go_of_files()


def _problem() -> str:
    """Why Sinew cannot run here, as a sentence; "" if it can."""
    from .core.base import errors, installed

    if installed.was_updated():
        return installed.RESTART
    try:
        importlib.import_module(".core.base.native", __name__)
        importlib.import_module("numpy")
    except errors.Error as error:
        return str(error)
    except ModuleNotFoundError as error:
        if error.name != "numpy":
            raise
        return "Sinew needs numpy: install it (Debian: python3-numpy), then restart Blender."
    return ""
