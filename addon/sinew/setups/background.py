"""Work in a thread while the steps of a reading only wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.base.task import Task
from ..scene.steps import Steps


def in_thread(function: Callable[[Any], Any]) -> Steps[Any]:
    """Steps that only wait, a hundredth of a second each, while a thread computes something."""
    task = Task("Preparing", function)
    try:
        while not task.wait(0.01):
            yield
    finally:
        task.cancel()
    return task.result()
