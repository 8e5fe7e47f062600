"""What a bake takes over from the one that it replaces, after frames that have changed: some time after the last of
them flesh moves as it did. From there on samples are those of before, marked as such; a whole bake makes them anew."""

from __future__ import annotations

from .store import Store

_BEHIND = 2  # samples before it that a state and what is prepared for it have seen


class Splice:
    """`old` is the complete bake that is replaced, of as many samples; a state has looked at `ahead` after its own."""

    def __init__(self, old: Store, ahead: int) -> None:
        self.old = old
        self._ahead = ahead
        self._same = [False] * old.manifest.samples  # what has come of them is as it was

    def see(self, index: int, input_hash: str) -> None:
        mark = self.old.marks[index]
        self._same[index] = mark is not None and mark.input == input_hash

    def end(self, begin: int) -> int:
        """Where samples from `begin` on end that can be taken over: nothing that they have seen has changed."""
        end, count = begin, len(self._same)
        while end < count and all(self._same[max(0, end - _BEHIND) : end + self._ahead + 1]):
            end += 1
        return end
