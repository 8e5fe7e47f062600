"""Work in short steps, so that a window stays alive."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeVar

Result = TypeVar("Result")
Steps = Generator[None, None, Result]


def finished(steps: Steps[Result]) -> Result:
    """All steps at once."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
