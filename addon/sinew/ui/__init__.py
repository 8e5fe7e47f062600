"""Everything that shows in Blender. Nothing is registered before `register` is called."""

from __future__ import annotations

import atexit

from ..scene import compat
from . import background, job_operator, manual, preferences
from .edit import operators as edit_operators
from .edit import overlay as edit_overlay
from .edit import panel as edit_panel
from .edit import pull as edit_pull
from .edit import rows as edit_rows
from .edit import tool as edit_tool
from .enrich import animate, cage, follow_group, overlay, spread, trial, view
from .enrich import panel as flesh
from .face import edited as face_edited
from .face import panel as face
from .face import view as face_view
from .flesh import after
from .setup import (
    bake,
    cache,
    collisions,
    contacts,
    export,
    live,
    menu,
    operators,
    panel,
    parts,
    passengers,
    presets,
    properties,
    saving,
    sidebar,
    timeline,
)
from .tracks import panel as cloth
from .tracks import patches

# In this order, and unregistered in the opposite one.
_PARTS = (
    *(preferences, manual, view, face_view, face_edited, contacts, patches, edit_rows, properties, parts, operators),
    *(follow_group, animate, live, after, bake, cage, trial, spread, overlay, presets, panel, flesh, face, cloth),
    *(collisions, passengers, export, cache, sidebar, menu, timeline, edit_pull, edit_operators, edit_panel),
    *(edit_overlay, edit_tool, saving, job_operator, background),
)
_is_registered = False


def register() -> None:
    global _is_registered
    _is_registered = True
    for part in _PARTS:
        part.register()
    # When the application ends, nothing of bpy can be used any more. Blender as a Python module, however, never says
    # goodbye, and handlers that are left keep it from ending.
    atexit.register(job_operator.end_thread if compat.IS_APPLICATION else unregister)


def unregister() -> None:
    global _is_registered
    if not _is_registered:
        return  # at exit both Blender and Python may ask for it
    _is_registered = False
    for ending in (unregister, job_operator.end_thread):
        atexit.unregister(ending)
    for part in reversed(_PARTS):
        part.unregister()
