"""Everything that shows in Blender. Nothing is registered before `register` is called."""

from __future__ import annotations

import atexit

from ..scene import compat
from . import background, job_operator, manual, preferences
from .enrich import after, cage, follow_group, overlay, spread, trial
from .enrich import panel as flesh
from .setup import (
    bake,
    cache,
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

# In this order, and unregistered in the opposite one.
_PARTS = (
    *(preferences, manual, properties, parts, operators, follow_group, live, after, bake, cage, trial, spread),
    *(overlay, presets, panel, flesh, passengers, cache, sidebar, menu, timeline, saving, job_operator, background),
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
