"""What a bake of flesh is painted with: the weights, parts and regions of a body at rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..bake.contact import Collided
from ..bake.shot import Shot
from ..bake.store import Store
from ..base.errors import StoreError
from ..base.hashes import hash_arrays
from ..cage.welds import Labels
from ..paint.parts import Parts
from ..paint.regions import Regions

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Masks:
    """Where settings of results act, (t,) each; None: everywhere."""

    after: Floats | None = None  # follow_after
    region: Floats | None = None  # edits


@dataclass(frozen=True)
class FleshPaint:
    """Positions in world metres."""

    follow: Floats  # (t,), 0 free .. 1 follows exactly
    parts: Parts | None = None  # which vertices carry input, and which are rigid; None: all, and none
    regions: Regions = Regions()
    masks: Masks = Masks()
    safe: Floats | None = None  # (t, 3) the body where its near parts are apart, at any place; None: at rest
    labels: Labels | None = None  # what its parts are called, for sentences
    fields: int = 0  # how many force fields act in each sample
    collided: Collided | None = None  # what it meets; None: it does not collide

    def simulated(self) -> Mapping[str, Array]:
        special: dict[str, Array] = {"follow": self.follow, "fields": np.array([self.fields])}
        if self.parts is not None:
            special |= {"tracked": self.parts.tracked, "rigid": self.parts.rigid}
        if self.safe is not None:
            special["safe"] = self.safe
        collided = {} if self.collided is None else self.collided.arrays()
        return {**special, **self.regions.arrays(), **collided}

    def shown(self, settings: Any) -> list[object]:
        found: list[object] = []
        if settings.follow_after > 0.0:
            found += [settings.follow_after, "" if self.masks.after is None else hash_arrays(self.masks.after)]
        if settings.edits and self.masks.region is not None:
            found += ["region", hash_arrays(self.masks.region)]
        return found

    @property
    def seen(self) -> npt.NDArray[np.bool_]:
        """(t,) the vertices whose input is meant."""
        return np.ones(len(self.follow), bool) if self.parts is None else self.parts.tracked


def paint_of(shot: Shot) -> FleshPaint:
    assert isinstance(shot.painted, FleshPaint)
    return shot.painted


def stored_paint(store: Store, masks: Masks | None) -> FleshPaint:
    """That of a finished bake, as far as its results depend on it, with the masks as they are now."""
    parts = None
    if "tracked" in store.layout.constants:
        parts = Parts(store.constant("tracked") != 0, store.constant("rigid"))
    elif store.manifest.settings.get("track_group") or store.manifest.settings.get("rigid_group"):
        raise StoreError("This bake does not hold its tracked and rigid parts: bake again.")
    return FleshPaint(store.constant("follow"), parts, masks=masks or Masks())
