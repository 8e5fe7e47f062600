"""What acts on a body beside its input, read frame by frame: force fields, animated follow weights, what it meets."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.flesh.settings import Settings
from ...core.paint.sharpen import sharpened
from ...scene.sampler import Sampler
from ..collisions import Meeting
from ..fields import Fields
from .body import follow_group

Floats = npt.NDArray[np.float64]

FOLLOW = "sinew_follow"  # a custom property of the object, 0..2: what multiplies the follow weights


class OuterReader:
    """Reads on the current frame. `follow` (t,): the weights at rest."""

    def __init__(self, sampler: Sampler, settings: Settings, follow: Floats, meeting: Meeting) -> None:
        self._sampler, self._settings, self._at_rest, self._meeting = sampler, settings, follow, meeting
        self._fields = Fields(sampler, settings.fields, "flesh")

    @property
    def _animated(self) -> bool:
        return self._settings.follow_animated and not self._settings.free_body

    @property
    def is_there(self) -> bool:
        return self._fields.is_there or self._animated or self._meeting.is_there

    @property
    def count(self) -> int:
        """How many force fields act."""
        return self._fields.count

    def read(self) -> dict[str, Any]:
        read = {**self._meeting.read(), **self._fields.read()}
        if self._animated:
            read["follow_now"] = self._follow()
        return read

    def _follow(self) -> npt.NDArray[np.float32]:
        """The weights (t,) now."""
        settings = self._settings
        group = follow_group(self._sampler.ob, settings)
        # Spread weights are those at rest: the spread is one solve for the whole shot.
        painted = self._sampler.group_now(group) if group and not settings.spread else self._at_rest
        weights: npt.NDArray[np.float32] = sharpened(np.clip(painted * self._sampler.factor(FOLLOW), 0.0, 1.0))
        return weights.astype(np.float32)
