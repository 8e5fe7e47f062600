"""How large a cage will be and how long a bake will take, before either is made.

Tets: three trial cages show how their number grows with the resolution, whatever the mesh is like. Building a cage is
quick, so where it is not too large they are then counted. Seconds: from tets and samples by constants of a reference
machine, corrected by what the last bake took.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.errors import Error
from ..base.native import module
from ..cage.cage import TRIAL_RESOLUTION, count_tets, resolution_after_trial
from ..cage.resolution import fewest_resolution
from .settings import Settings

_TRIALS = (TRIAL_RESOLUTION, 20, 36)
_COUNTED = 150_000
# Seconds a sample of fitting and of simulating (with one substep) 10,000 tets, on two cores of a 2.8 GHz Xeon; both
# grow with the power of 3/2. Putting the detail back costs by the vertex.
_FIT, _STEP, _VERTEX = 0.01, 0.035, 3e-7
_GMSH = 2.0  # seconds for 10,000 tets of Gmsh
# Gmsh makes about this many tets, times that power of the lattice's: larger ones inside. Within 30 %.
_GMSH_FACTOR, _GMSH_POWER = 3.9, 0.77
_CAGE = 0.4  # seconds for a cage of 10,000 tets and what is tuned on it
_POWER = 1.5
_CREDIBLE = (0.1, 10.0)  # how much faster or slower than the reference a machine is taken to be


@dataclass(frozen=True)
class Growth:
    """Tets against resolution: the cubic through the origin that goes through the trial counts."""

    rest: Any  # (t, 3)
    triangles: Any  # (m, 3)
    separate_parts: bool
    trial: int  # tets of the coarsest lattice
    coefficients: tuple[float, float, float]
    fewest: int  # cells of the coarsest cage that may be automatic
    mesher: str = "lattice"

    @property
    def vertices(self) -> int:
        return len(self.rest)

    def resolution(self, resolution: int) -> int:
        """With the most that is automatic in place of 0."""
        return resolution or resolution_after_trial(self.trial)

    def is_most(self, resolution: int) -> bool:
        """Whether fewer may do for the weights that it is baked with."""
        return resolution == 0 and self.fewest < self.resolution(0)

    def can_count(self, resolution: int) -> bool:
        """Whether counting takes a fraction of a second."""
        return self.mesher == "lattice" and self.tets(resolution) <= _COUNTED

    def count(self, resolution: int, monitor: Any = None) -> int:
        return count_tets(self.rest, self.triangles, self.resolution(resolution), self.separate_parts, monitor)

    def tets(self, resolution: int) -> int:
        """About how many; 0 is the finest automatic resolution."""
        r = float(self.resolution(resolution))
        cubic, square, line = self.coefficients
        lattice = max(1.0, ((cubic * r + square) * r + line) * r)
        return round(lattice if self.mesher == "lattice" else min(lattice, _GMSH_FACTOR * lattice**_GMSH_POWER))


def measure(
    rest: Any, triangles: Any, separate_parts: bool = True, mesher: str = "lattice", monitor: Any = None
) -> Growth:
    """Builds the trial cages: a fraction of a second, more for very large meshes."""
    rest = np.ascontiguousarray(rest, np.float64)
    triangles = np.ascontiguousarray(triangles, np.int32).reshape(-1, 3)
    # Separate parts are a few tets more or less.
    counts = [count_tets(rest, triangles, r, False, monitor) for r in _TRIALS]
    powers = np.array([(r**3, r**2, r) for r in _TRIALS], dtype=np.float64)
    cubic, square, line = np.linalg.solve(powers, np.array(counts, dtype=np.float64))
    fewest = fewest_resolution(rest, triangles, resolution_after_trial(counts[0]))
    coefficients = (float(cubic), float(square), float(line))
    return Growth(rest, triangles, separate_parts, counts[0], coefficients, fewest, mesher)


def seconds(tets: int, vertices: int, samples: int, settings: Settings, sample_rate: float) -> float:
    """How long the reference machine takes for that many samples."""
    substeps = settings.substeps or math.ceil(2 * math.pi * settings.jiggle / sample_rate / module.STEP_ANGLE)
    work = (_FIT + _STEP * max(1, substeps)) * (tets / 10_000) ** _POWER
    return samples * (work + _VERTEX * vertices)


@dataclass(frozen=True)
class Speed:
    """Of this machine with this scene."""

    slowness: float = 1.0  # against the reference machine
    sampling: float = 0.005  # seconds that a sample is waited for: rigs differ
    once: float | None = None  # seconds for cage and weights, which are made once; None: by the size of the cage

    def seconds(self, tets: int, vertices: int, samples: int, settings: Settings, sample_rate: float) -> float:
        work = self.slowness * seconds(tets, vertices, samples, settings, sample_rate)
        once = self.once
        if once is None:
            once = _CAGE * (tets / 10_000) ** _POWER + (_GMSH * tets / 10_000 if settings.mesher == "gmsh" else 0.0)
        return work + self.sampling * samples + once


def measured_speed(report: dict[str, Any]) -> Speed | None:
    """From a bake's report; None where it does not tell."""
    try:
        computed = int(report["computed"])
        taken = {stage: float(value) for stage, value in report["seconds"].items()}
        spent = taken["fitting"] + taken["simulation"] + taken["detail"]
        settings = Settings().replace(report["settings"])
        rate = float(report["frame_rate"]) * settings.samples
        if computed < 5:
            return None
        expected = seconds(int(report["tets"]), int(report["vertices"]), computed, settings, rate)
        once = max(0.0, taken["total"] - spent - taken["sampling"])
        slowness = min(max(spent / expected, _CREDIBLE[0]), _CREDIBLE[1])
        return Speed(slowness, taken["sampling"] / int(report["samples"]), once)
    except (KeyError, TypeError, ValueError, ZeroDivisionError, Error):
        return None  # of another version


def round_to_two_digits(count: int) -> int:
    """16,703 as 17,000."""
    digits = max(0, len(str(count)) - 2)
    return int(round(count, -digits))
