"""What a bake is made of: the shot, its samples, and hashes that tell whether something has changed."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.hashes import hash_arrays
from ..base.settings import ALWAYS, BODY, RESULT, SIMULATION
from .method import Array, Method, Painted, Unpainted
from .store import Store

Floats = npt.NDArray[np.float64]

_IDENTITY = 4  # of this way to hash: bakes that were hashed otherwise are never the same


@dataclass(frozen=True)
class Carried:
    """A passenger in one sample: local positions (p, 3) float32 and the 4x4 matrix to world metres."""

    positions: npt.NDArray[np.float32]
    matrix: Floats
    collides: bool = False


@dataclass(frozen=True)
class Sample:
    """One sample of the input: local positions (t, 3) float32 and the 4x4 matrix to world metres. `amount` multiplies
    that of the settings."""

    index: int
    positions: npt.NDArray[np.float32]
    matrix: Floats
    amount: float = 1.0
    carried: tuple[Carried, ...] = ()  # one for each passenger of the shot
    read: Mapping[str, Array] = field(default_factory=dict)  # what its method reads on every frame, by its layout


@dataclass(frozen=True)
class Passenger:
    """Another mesh that the body carries along. Positions in world metres."""

    object_name: str
    rest: Floats  # (p, 3)
    first: Floats  # (p, 3) in the first sample
    shells: npt.NDArray[np.int32]  # (p,) number of the connected piece of each vertex; -1: it stays as its input
    rigid: bool  # each shell turns and shifts as a whole
    triangles: npt.NDArray[np.int32] | None = None  # (m, 3) of one that collides with the body; None: it does not

    @property
    def collides(self) -> bool:
        return self.triangles is not None


@dataclass(frozen=True)
class Shot:
    """What a bake is made of, but its frames. Positions in world metres."""

    rest: Floats  # (t, 3)
    triangles: npt.NDArray[np.int32]  # (m, 3)
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
    painted: Painted = Unpainted()  # what its method has read of the body
    reads: bool = False  # whether its method reads more on every frame than the meshes
    repeats: tuple[bool, bool] = (False, False)  # whether the input of a loop goes on so before and after the range
    company: tuple[str, ...] = ()  # identities of those that it is simulated with
    companions: tuple[str, ...] = ()  # names of their objects, for a report
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
    def owner(self) -> tuple[str, str]:
        return (self.owner_file, self.owner_setup)

    def identity(self) -> str:
        """Hash of everything that the simulated motion depends on but the frames."""
        settings, painted = self.settings.hashed(BODY, SIMULATION), self.painted.simulated()
        numbers = [self.sample_rate, self.gravity, self.first_frame]
        text = json.dumps([_IDENTITY, self.native, settings, *numbers, *self.company, *painted])
        words = np.frombuffer(text.encode(), np.uint8)
        worn: list[Array] = []
        for one in self.passengers:
            worn += [] if one.triangles is None else [one.rest, one.first, one.triangles]
        return hash_arrays(self.rest, self.triangles, words, *painted.values(), *worn)

    def early(self) -> Shot:
        """As it is shown before all its samples are there: itself, where nothing depends on that."""
        late = self.method.late(self.settings)
        return dataclasses.replace(self, settings=self.settings.replace(late)) if late else self

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
        return key + self.painted.shown(self.settings)

    @functools.cached_property
    def _passenger_key(self) -> list[str]:
        return [f"{one.rigid} {hash_arrays(one.rest, one.first)}" for one in self.passengers]


def sample_hash(sample: Sample) -> str:
    """Hash of what the simulation depends on, so neither of the amount nor of passengers that touch nothing."""
    read = [sample.read[name] for name in sorted(sample.read)]
    worn = [array for one in sample.carried if one.collides for array in (one.positions, one.matrix)]
    return hash_arrays(sample.positions, sample.matrix, *read, *worn)


def stored_sample(store: Store, index: int) -> Sample:
    """A sample again, from a bake that was made from it."""
    carried = tuple(
        Carried(store.read(f"{name}_input", index), store.read(f"{name}_matrix", index), entry.triangles > 0)
        for name, entry in zip(store.result_names[1:], store.manifest.passengers, strict=True)
    )
    amount = float(store.read("amount", index)[0, 0])
    return Sample(
        index,
        store.read("input", index),
        store.read("matrix", index),
        amount,
        carried,
        {name: store.read(name, index) for name in store.own_inputs},
    )
