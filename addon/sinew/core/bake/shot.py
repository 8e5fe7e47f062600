"""What a bake is made of: the shot, its samples, and hashes that tell whether something has changed."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.hashes import hash_arrays
from ..base.settings import ALWAYS, CAGE, RESULT, SIMULATION
from ..cage.welds import Labels
from ..paint.parts import Parts
from ..paint.regions import Regions
from .fields import no_fields
from .method import Method
from .store import Store

Floats = npt.NDArray[np.float64]

_IDENTITY = 3  # of this way to hash: bakes that were hashed otherwise are never the same


@dataclass(frozen=True)
class Carried:
    """A passenger in one sample: local positions (p, 3) float32 and the 4x4 matrix to world metres."""

    positions: npt.NDArray[np.float32]
    matrix: Floats


@dataclass(frozen=True)
class Sample:
    """One sample of the input: local positions (t, 3) float32 and the 4x4 matrix to world metres. `amount` multiplies
    that of the settings."""

    index: int
    positions: npt.NDArray[np.float32]
    matrix: Floats
    amount: float = 1.0
    carried: tuple[Carried, ...] = ()  # one for each passenger of the shot
    fields: Floats = field(default_factory=no_fields)  # (k, WIDTH) the force fields; as many in every sample
    follow: npt.NDArray[np.float32] | None = None  # (t,) weights where they are animated


@dataclass(frozen=True)
class Passenger:
    """Another mesh that the body carries along. Positions in world metres."""

    object_name: str
    rest: Floats  # (p, 3)
    first: Floats  # (p, 3) in the first sample
    shells: npt.NDArray[np.int32]  # (p,) number of the connected piece of each vertex
    rigid: bool  # each shell turns and shifts as a whole



@dataclass(frozen=True)
class Shot:
    """What a bake is made of, but its frames. Positions in world metres."""

    rest: Floats  # (t, 3)
    triangles: npt.NDArray[np.int32]  # (m, 3)
    follow: Floats  # (t,), 0 free .. 1 follows exactly
    settings: Any  # of the method's class
    method: Method
    samples: int  # number of samples, preroll included
    first_frame: int  # frame of sample 0
    frame_start: int  # range that plays
    frame_end: int
    frame_rate: float  # frames a second
    gravity: tuple[float, float, float]
    owner_file: str
    owner_object: str
    owner_setup: str = ""  # id of the setup: two setups never share a bake
    passengers: tuple[Passenger, ...] = ()
    parts: Parts | None = None  # which vertices carry input, and which are rigid; None: all, and none
    regions: Regions = Regions()
    fields: int = 0  # how many force fields each sample has
    after: Floats | None = None  # (t,) where the setting follow_after acts; None: everywhere
    repeats: tuple[bool, bool] = (False, False)  # whether the input of a loop goes on so before and after the range
    safe: Floats | None = None  # (t, 3) the body where its near parts are apart, at any place; None: at rest
    labels: Labels | None = None  # what its parts are called, for sentences
    company: tuple[str, ...] = ()  # identities of those that it is simulated with
    is_preview: bool = False
    input_mark: str = ""  # hash of what the frames were made from in the scene; "" where it cannot be told
    is_from_stored: bool = False  # its frames are those of an earlier bake
    native: str = ""
    build: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def sample_rate(self) -> float:
        return self.frame_rate * self.settings.samples

    @property
    def animated_follow(self) -> bool:
        """Whether every sample has follow weights."""
        return bool(getattr(self.settings, "follow_animated", False))

    @property
    def owner(self) -> tuple[str, str]:
        return (self.owner_file, self.owner_setup)

    def identity(self) -> str:
        """Hash of everything that the simulated motion depends on but the frames."""
        settings = self.settings.hashed(CAGE, SIMULATION)
        numbers = [self.sample_rate, self.gravity, self.first_frame, self.fields]
        text = json.dumps([_IDENTITY, self.native, settings, *numbers, *self.company])
        special = [] if self.parts is None else [self.parts.tracked, self.parts.rigid]
        special += [] if self.safe is None else [self.safe]
        painted = self.regions.arrays()
        words = np.frombuffer((text + "".join(painted)).encode(), np.uint8)
        return hash_arrays(self.rest, self.triangles, self.follow, words, *special, *painted.values())

    def result_key(self, sample: Sample) -> str:
        """Hash of what the result of a sample depends on beside the simulation."""
        text = json.dumps([*self._result_key, sample.amount, self._passenger_key])
        arrays = [array for carried in sample.carried for array in (carried.positions, carried.matrix)]
        return hash_arrays(np.frombuffer(text.encode(), np.uint8), *arrays)

    @functools.cached_property
    def _result_key(self) -> list[object]:
        known, key = self.settings.all(), list[object]()
        for name, value in self.settings.hashed(RESULT).items():
            key += [value] if known[name].counts == ALWAYS else [name, value]
        drawn_back = getattr(self.settings, "follow_after", 0.0)
        if drawn_back > 0.0:
            key += [drawn_back, "" if self.after is None else hash_arrays(self.after)]
        return key

    @functools.cached_property
    def _passenger_key(self) -> list[str]:
        return [f"{one.rigid} {hash_arrays(one.rest, one.first)}" for one in self.passengers]


def sample_hash(sample: Sample) -> str:
    """Hash of what the simulation depends on, so neither of the amount nor of passengers."""
    outer = [sample.fields] if len(sample.fields) else []
    animated = [] if sample.follow is None else [sample.follow]
    return hash_arrays(sample.positions, sample.matrix, *outer, *animated)


def stored_sample(store: Store, index: int) -> Sample:
    """A sample again, from a bake that was made from it."""
    carried = tuple(
        Carried(store.read(f"{name}_input", index), store.read(f"{name}_matrix", index))
        for name in store.result_names[1:]
    )
    amount = float(store.read("amount", index)[0, 0])
    return Sample(
        index,
        store.read("input", index),
        store.read("matrix", index),
        amount,
        carried,
        store.read("fields", index) if store.manifest.fields else no_fields(),
        store.read("follow_now", index)[:, 0] if store.manifest.animated_follow else None,
    )
