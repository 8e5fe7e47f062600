"""The undeformed shape of cloth: that of a shape key or of another mesh, and how much of it there is on each frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.geometry.place import placed
from ...core.methods.tracks.settings import Settings
from ...scene import compat
from ...scene.colliders import keeps_shape
from ...scene.errors import SceneError
from ...scene.objects import find_object
from ...scene.sampler import Rest, Sampler
from ...scene.subject import check_finite, evaluated_mesh, shown

Floats = npt.NDArray[np.float64]

# A custom property of an object, 0..2: how much of the undeformed shape there is, beside the setting.
UNDEFORMED = "sinew_undeformed"


def has_shape(settings: Settings) -> bool:
    return bool(settings.undeformed_key or settings.undeformed_object)


def check(settings: Settings) -> None:
    if settings.undeformed_key and settings.undeformed_object:
        raise SceneError("Undeformed is both a shape key and another mesh: choose one of them.")
    if settings.undeformed_object:
        find_object(settings.undeformed_object)


class Undeformed:
    def __init__(self, sampler: Sampler, rest: Rest, settings: Settings) -> None:
        """Inside the sampler, on the frame of the rest shape."""
        check(settings)
        self._sampler, self._rest, self._amount = sampler, rest, settings.undeformed_amount
        self._other, self._shape = None, None
        self.varies = UNDEFORMED in sampler.ob
        if settings.undeformed_object:
            self._other = find_object(settings.undeformed_object)
            sampler.hold(shown(self._other))
            self.varies |= not keeps_shape(self._other)
        elif settings.undeformed_key:
            self._shape = sampler.safe_at(None, settings.undeformed_key)
        if self._other is None and self._shape is None:
            self.varies = False

    def now(self, when: str) -> Floats | None:
        """(t, 3) world metres on the current frame; None: as at rest."""
        shape = self._shape if self._other is None else self._of_other(when)
        if shape is None:
            return None
        blended: Floats = self._rest.positions + self._factor() * (shape - self._rest.positions)
        return blended

    def _factor(self) -> float:
        return self._amount * (self._sampler.factor(UNDEFORMED) if UNDEFORMED in self._sampler.ob else 1.0)

    def _of_other(self, when: str) -> Floats:
        """Its vertices where the rest shape is, whichever place it has itself."""
        other: Any = self._other
        local = compat.mesh_positions(evaluated_mesh(other))
        if len(local) != len(self._rest.positions):
            raise SceneError(
                f'"{other.name}" has {len(local)} vertices at {when} and "{self._sampler.ob.name}" '
                f"{len(self._rest.positions)}: an undeformed shape is the same mesh with its vertices elsewhere, such "
                "as a reshaped duplicate."
            )
        check_finite(other, local, when)
        return placed(self._rest.matrix, local.astype(np.float64))

