"""Everything that shows in Blender. Nothing is registered before `register` is called."""

from __future__ import annotations

import atexit

from . import job_operator
from .enrich import operators, panel, properties


def register() -> None:
    properties.register()
    operators.register()
    panel.register()
    job_operator.register()
    # Blender as a Python module never says goodbye, and handlers that are left keep it from ending.
    atexit.register(unregister)


def unregister() -> None:
    atexit.unregister(unregister)
    job_operator.unregister()
    panel.unregister()
    operators.unregister()
    properties.unregister()
