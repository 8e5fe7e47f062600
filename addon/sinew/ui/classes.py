"""What classes of Blender have in common: they are registered in their order, say why they cannot be used now, and tell
what went wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import bpy

from ..core.base.errors import Error

_utils: Any = bpy.utils  # the stubs say that its functions return nothing


def registering(classes: Sequence[type]) -> tuple[Callable[[], None], Callable[[], None]]:
    """`register, unregister = registering(CLASSES)`"""
    register, unregister = _utils.register_classes_factory(classes)
    return register, unregister


def asking(*questions: Callable[[Any, Any], bool]) -> Any:
    """`poll = asking(has_setup, is_idle)`: each is asked of class and context, and sets the message of a no."""
    return classmethod(lambda cls, context: all(question(cls, context) for question in questions))


def needs(condition: Callable[[Any], Any], otherwise: str) -> Callable[[Any, Any], bool]:
    """A question about the context; the sentence is the message of a no."""
    return unless(lambda context: "" if condition(context) else otherwise)


def unless(reason: Callable[[Any], str]) -> Callable[[Any, Any], bool]:
    """A question that is answered by the reason why not, or nothing."""

    def asked(cls: Any, context: Any) -> bool:
        told = reason(context)
        if told:
            cls.poll_message_set(told)
        return not told

    return asked


def telling(execute: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An `execute` whose errors are reported."""

    def told(self: Any, context: Any) -> Any:
        try:
            return execute(self, context)
        except Error as error:
            self.report({"ERROR"}, str(error))
            return {"CANCELLED"}

    return told
