"""A performance that was edited after its bake, before it is baked again: what flesh did is laid on what the face does
now.

The cage is fitted to the face as it is now, and flesh goes to where its forces leave as much as in the bake: it is
accelerated as there, by the same head (methods, section 4: dynamic rebalancing). Nothing is simulated.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...bake.remake import stored_shot
from ...bake.results import world
from ...bake.store import Store
from ...flesh.engine import load_classes, stored_cage
from ...flesh.painted import paint_of
from ...geometry.place import placed
from ...paint.face import robust_rigid_fit
from .engine import layered
from .settings import Settings

Floats = npt.NDArray[np.float64]

_AGREED = 0.001  # of size: what is off by more does not go as the head does
_MOST = 4000  # vertices that tell the head
_UNCHANGED = 1e-7  # of size: a face that is so near to what it was shows the bake


class Laid:
    """On a finished bake."""

    def __init__(self, store: Store) -> None:
        self._store = store
        known = {name: value for name, value in store.manifest.settings.items() if name in Settings.all()}
        shot = stored_shot(store, Settings().replace(known))
        cage, inside = stored_cage(store, load_classes().cage), store.constant("cage_follow")
        follow, parts = store.constant("follow"), paint_of(shot).parts
        self._settings = shot.settings
        self._enricher = layered(
            shot.rest, shot.triangles, follow, shot.settings, shot.sample_rate, cage, inside, parts=parts
        )
        self._areas = np.maximum(self._enricher.shown.areas, 1e-12 * self._enricher.shown.areas.max())
        bone = np.flatnonzero((store.constant("rigid") != -1) | (follow >= 1.0))
        self._bone = bone[:: -(-len(bone) // _MOST)]

    def surface(self, index: int, now: Floats) -> Floats:
        """(t, 3) what shows of a sample of the bake where the face is `now` (t, 3), world metres."""
        store, bone, enricher = self._store, self._bone, self._enricher
        before = world(store, index)
        shown: Any = placed(store.read("matrix", index), store.read_result(index, "result").astype(np.float64))
        scale = np.full(len(bone), _AGREED * enricher.size)
        everything = np.ones(len(bone), bool)
        way, _ = robust_rigid_fit(before[bone], now[bone], self._areas[bone], everything, scale)
        was, showed = way(before), way(shown)
        if np.abs(now - was).max() <= _UNCHANGED * enricher.size:
            laid: Floats = now + (showed - was)
            return laid
        fitted, simulated = (way(store.read(name, index)) for name in ("fitted", "simulated"))
        amount = float(store.read("amount", index)[0, 0]) * self._settings.amount
        pose = enricher.fit(now, fitted).positions
        surface: Floats = enricher.surface(pose, enricher.carried(fitted, simulated, pose), now, amount)
        beside: Floats = showed - enricher.surface(fitted, simulated, was, amount)  # edits, and what is drawn back
        return surface + beside
