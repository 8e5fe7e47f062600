"""What a bake of cloth is made with beside its shape: where it is pinned, and which means follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...bake.contact import Collided
from ...bake.shot import Shot
from ...bake.store import Store
from ...base.hashes import hash_arrays
from ...geometry.sparse import Rows

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class ClothPaint:
    """Positions in world metres."""

    follow: Floats  # (t,), 0 free .. 1 follows exactly
    regions: npt.NDArray[np.int32] | None = None  # (m,) of each triangle, all used; None: there are none
    groups: Mapping[str, Floats] | None = None  # (t,) weights of painted ones, by name
    material: Mapping[str, Floats] | None = None  # (t,) weights of what changes the material, by what they change
    warp: Floats | None = None  # (m, 3) which way it runs in each triangle; None: there are no threads
    undeformed: Floats | None = None  # (t, 3) a shape of its own; None: as at rest
    reshaped: bool = False  # samples have the undeformed shape
    hats: Rows | None = None  # the vertices (t) as means of those of a guide, around which they are held
    paired: bool = False  # samples have the places of the groups on a guide
    fields: int = 0  # how many force fields act in each sample
    collided: Collided | None = None  # what it meets; None: it does not collide
    region: Floats | None = None  # (t,) where edits act; None: everywhere

    def simulated(self) -> Mapping[str, Array]:
        arrays: dict[str, Array] = {"follow": self.follow, "fields": np.array([self.fields])}
        if self.regions is not None:
            arrays["regions"] = self.regions
        if self.warp is not None:
            arrays["warp"] = self.warp
        arrays |= {f"material {name}": weights for name, weights in (self.material or {}).items()}
        if self.undeformed is not None:
            arrays["undeformed"] = self.undeformed
        if self.hats is not None:
            arrays |= {"hats": self.hats.points, "hat weights": self.hats.weights}
        if self.reshaped or self.paired:
            arrays["sampled"] = np.array([self.reshaped, self.paired])
        if self.collided is not None:
            arrays |= self.collided.arrays()
        return arrays | {f"group {name}": weights for name, weights in (self.groups or {}).items()}

    def shown(self, settings: Any) -> list[object]:
        return ["region", hash_arrays(self.region)] if settings.edits and self.region is not None else []


def paint_of(shot: Shot) -> ClothPaint:
    assert isinstance(shot.painted, ClothPaint)
    return shot.painted


def stored_paint(store: Store, shown: Any) -> ClothPaint:
    """That of a finished bake, as far as its results depend on it, with the region of its edits as it is now."""
    return ClothPaint(store.constant("follow"), region=shown)
