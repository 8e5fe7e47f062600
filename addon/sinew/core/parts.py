"""Which vertices of a body carry input, and which are parts that keep their shape."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .shells import connected_pieces

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Parts:
    """What of a body is special: (t,) whether a vertex carries input, and the number of its rigid part, -1 for none."""

    tracked: npt.NDArray[np.bool_]
    rigid: npt.NDArray[np.int32]

    @property
    def is_plain(self) -> bool:
        return bool(self.tracked.all() and (self.rigid < 0).all())


def make_parts(tracked: Floats | None, rigid: Floats | None, count: int, edges: npt.NDArray[np.int32]) -> Parts:
    """From the weights (t,) of two vertex groups: from 1/2 on a vertex is in. Rigid vertices that hang together are one
    part."""
    is_tracked = np.ones(count, bool) if tracked is None else tracked >= 0.5
    numbers = np.full(count, -1, np.int32)
    if rigid is not None and (rigid >= 0.5).any():
        inside = rigid >= 0.5
        kept = edges[inside[edges].all(axis=1)] if len(edges) else edges
        pieces = connected_pieces(count, kept)[inside]
        numbers[inside] = np.unique(pieces, return_inverse=True)[1].reshape(-1)
    return Parts(is_tracked, numbers)
