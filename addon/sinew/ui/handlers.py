"""What Blender calls by itself (before it loads a file, after an undo), as a table: {"load_pre": function}.

The names are those of `bpy.app.handlers`. The functions stay when another file is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import bpy

Table = Mapping[str, Callable[..., None]]


def add(table: Table) -> None:
    for name, function in table.items():
        getattr(bpy.app.handlers, name).append(bpy.app.handlers.persistent(function))


def remove(table: Table) -> None:
    for name, function in table.items():
        functions = getattr(bpy.app.handlers, name)
        if function in functions:
            functions.remove(function)
