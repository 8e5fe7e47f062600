"""Registers classes in their order, and takes them back in the opposite one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bpy

_utils: Any = bpy.utils  # the stubs say that its functions return nothing


def registering(classes: Sequence[type]) -> tuple[Callable[[], None], Callable[[], None]]:
    """`register, unregister = registering(CLASSES)`"""
    register, unregister = _utils.register_classes_factory(classes)
    return register, unregister
