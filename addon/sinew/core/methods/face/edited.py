"""A performance that was edited after its bake, before it is baked again: what flesh did is laid on what the face does
now.

How far flesh is from its input hardly depends on the expression (methods, section 4): so what the bake added goes to
where the head is now, and is added there. Nothing is fitted, solved or simulated; beside another bake a tenth of the
jiggle is off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...bake.results import world
from ...bake.store import Store
from ...geometry.place import placed
from ...geometry.surface import areas_and_size
from ...paint.face import robust_rigid_fit

Floats = npt.NDArray[np.float64]

_AGREED = 0.001  # of size: what is off by more does not go as the head does
_MOST = 4000  # vertices that tell the head


class Laid:
    """On a finished bake."""

    def __init__(self, store: Store) -> None:
        self._store = store
        areas, self._size = areas_and_size(store.constant("rest"), store.constant("triangles"))
        self._areas = np.maximum(areas, 1e-12 * areas.max())
        bone = np.flatnonzero((store.constant("rigid") != -1) | (store.constant("follow") >= 1.0))
        self._bone = bone[:: -(-len(bone) // _MOST)]

    def surface(self, index: int, now: Floats) -> Floats:
        """(t, 3) what shows of a sample of the bake where the face is `now` (t, 3), world metres."""
        store, bone = self._store, self._bone
        before = world(store, index)
        shown: Any = placed(store.read("matrix", index), store.read_result(index, "result").astype(np.float64))
        scale = np.full(len(bone), _AGREED * self._size)
        everything = np.ones(len(bone), bool)
        way, _ = robust_rigid_fit(before[bone], now[bone], self._areas[bone], everything, scale)
        laid: Floats = now + (shown - before) @ way.rotation.T
        return laid
