"""Everything that shows in Blender. Nothing is registered before `register` is called."""

from __future__ import annotations

import atexit

from . import background, job_operator
from .enrich import cage, operators, overlay, panel, presets, properties, sidebar

# In this order, and unregistered in the opposite one.
_PARTS = (properties, operators, cage, overlay, presets, panel, sidebar, job_operator, background)


def register() -> None:
    for part in _PARTS:
        part.register()
    # Blender as a Python module never says goodbye, and handlers that are left keep it from ending.
    atexit.register(unregister)


def unregister() -> None:
    atexit.unregister(unregister)
    for part in reversed(_PARTS):
        part.unregister()
