"""The force fields that act on a body, read frame by frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.bake import fields as core_fields
from ..scene import fields
from ..scene.sampler import Sampler


class Fields:
    """`strength` 0: none acts. Those that are not understood are told."""

    def __init__(self, sampler: Sampler, strength: float, what: str) -> None:
        """`what` they would act on, for a sentence."""
        self._objects: list[Any] = []
        for ob in fields.objects(sampler.ob) if strength > 0.0 else []:
            if core_fields.is_known(fields.read(ob)):
                self._objects.append(ob)
            else:
                told = f'The force field of "{ob.name}" ({fields.kind(ob)}) does not act on {what}.'
                sampler.body.warnings.append(told)

    @property
    def count(self) -> int:
        return len(self._objects)

    @property
    def is_there(self) -> bool:
        return bool(self._objects)

    def read(self) -> dict[str, Any]:
        """The rows of the current frame, as layouts name them."""
        if not self._objects:
            return {}
        rows = [core_fields.make_row(fields.read(ob)) for ob in self._objects]
        return {"fields": np.array(rows, np.float64).reshape(len(rows), core_fields.WIDTH)}
