"""What acts on a body beside its input, read frame by frame: force fields and animated follow weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.bake import fields as core_fields
from ...core.methods.enrich.settings import Settings
from ...scene import fields
from ...scene.sampler import Sampler
from .body import follow_group, sharpened

Floats = npt.NDArray[np.float64]


class OuterReader:
    """Reads on the current frame. `follow` (t,): the weights at rest."""

    def __init__(self, sampler: Sampler, settings: Settings, follow: Floats) -> None:
        self._sampler, self._settings, self._at_rest = sampler, settings, follow
        self._fields: list[Any] = []
        for ob in fields.objects(sampler.ob) if settings.fields > 0.0 else []:
            if core_fields.is_known(fields.read(ob)):
                self._fields.append(ob)
            else:
                told = f'The force field of "{ob.name}" ({fields.kind(ob)}) does not act on flesh.'
                sampler.body.warnings.append(told)

    @property
    def count(self) -> int:
        """How many force fields act."""
        return len(self._fields)

    def fields(self) -> Floats:
        rows = [core_fields.make_row(fields.read(ob)) for ob in self._fields]
        return np.array(rows, np.float64).reshape(len(rows), core_fields.WIDTH)

    def follow(self) -> npt.NDArray[np.float32] | None:
        """The weights (t,) now; None where they are not animated."""
        settings = self._settings
        if not settings.follow_animated:
            return None
        group = follow_group(self._sampler.ob, settings)
        # Spread weights are those at rest: the spread is one solve for the whole shot.
        painted = self._sampler.group_now(group) if group and not settings.spread else self._at_rest
        weights: npt.NDArray[np.float32] = sharpened(np.clip(painted * self._sampler.follow_factor(), 0.0, 1.0))
        return weights.astype(np.float32)
