"""What takes long to make, and is soon asked for again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Kept(Generic[Made]):
    """The last few that were made, by a hash of what they were made from."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[str, Made] = {}

    def get(self, key: str, make: Callable[[], Made]) -> Made:
        found = self._kept.pop(key, None)
        if found is None:
            found = make()
        self._kept[key] = found  # the last asked for is the last to go
        while len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]
        return found
