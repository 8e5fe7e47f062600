"""What a bake is made of: the shot, its samples, and hashes that tell whether something has changed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from . import store as stores
from .settings import Settings

Floats = npt.NDArray[np.float64]

# These change the result of a simulation, not the simulation; the input's hashes speak for the range.
_RESULT_SETTINGS = ("amount", "maximum_offset", "detail")
_RANGE_SETTINGS = ("frame_start", "frame_end", "follow_group", "rest_frame", "gravity")


@dataclass(frozen=True)
class Sample:
    """One sample of the input: local positions (t, 3) float32 and the 4x4 matrix to world metres. `amount` multiplies
    that of the settings."""

    index: int
    positions: npt.NDArray[np.float32]
    matrix: Floats
    amount: float = 1.0


@dataclass(frozen=True)
class Shot:
    """What a bake is made of, but its frames. Positions in world metres."""

    rest: Floats  # (t, 3)
    triangles: npt.NDArray[np.int32]  # (m, 3)
    follow: Floats  # (t,), 0 free .. 1 follows exactly
    settings: Settings
    samples: int  # number of samples, preroll included
    first_frame: int  # frame of sample 0
    frame_start: int  # range that plays
    frame_end: int
    frame_rate: float  # frames a second
    gravity: tuple[float, float, float]
    owner_file: str
    owner_object: str
    native: str = ""
    build: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def sample_rate(self) -> float:
        return self.frame_rate * self.settings.samples

    @property
    def owner(self) -> tuple[str, str]:
        return (self.owner_file, self.owner_object)

    def identity(self) -> str:
        """Hash of everything that the simulated motion depends on but the frames."""
        settings = self.settings.as_dict()
        for key in (*_RESULT_SETTINGS, *_RANGE_SETTINGS):
            del settings[key]
        text = json.dumps([stores.SCHEMA, self.native, settings, self.sample_rate, self.gravity, self.first_frame])
        return stores.hash_arrays(self.rest, self.triangles, self.follow, np.frombuffer(text.encode(), np.uint8))

    def result_key(self, amount: float) -> str:
        """Hash of what the result of a sample depends on beside the simulation; `amount` is that of the sample."""
        settings = self.settings.as_dict()
        text = json.dumps([*(settings[key] for key in _RESULT_SETTINGS), amount])
        return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def sample_hash(sample: Sample) -> str:
    """Hash of what the simulation depends on, so not of the amount."""
    return stores.hash_arrays(sample.positions, sample.matrix)
