"""Everything that shows in Blender. Nothing is registered before `register` is called."""

from __future__ import annotations

import atexit

from . import background, job_operator
from .enrich import bake, cage, operators, overlay, panel, passengers, presets, properties, saving, sidebar

# In this order, and unregistered in the opposite one.
_PARTS = (
    *(properties, operators, bake, cage, overlay, presets, panel, passengers, sidebar),
    *(saving, job_operator, background),
)


def register() -> None:
    for part in _PARTS:
        part.register()
    # Blender as a Python module never says goodbye, and handlers that are left keep it from ending.
    atexit.register(unregister)


def unregister() -> None:
    atexit.unregister(unregister)
    for part in reversed(_PARTS):
        part.unregister()
