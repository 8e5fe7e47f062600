"""The C module (native/python). Arrays are C-contiguous float64 or int32 of the shape that is asked for; those that a
call writes to are the caller's. n: cage vertices, e: tets, t: surface vertices, m: triangles."""

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int32]

__version__: str

STEP_ANGLE: float  # radians of the jiggle's phase in one automatic substep
WEIGHT_EXACT: float  # a follow weight from here on is 1

def use_errors(
    bad_input: type[Exception],
    out_of_memory: type[Exception],
    cancelled: type[Exception],
    numeric_failure: type[Exception],
) -> None: ...
def info() -> dict[str, Any]: ...
def set_threads(count: int) -> None: ...
def vertex_areas(positions: Floats, triangles: Ints, areas: Floats) -> float: ...
def surface_distance(
    positions: Floats, triangles: Ints, points: Floats, distances: Floats, nearest: Ints
) -> None: ...
def apply_detail(
    cage: Cage, fitted: Floats, simulated: Floats, input: Floats | None, interpolation: str, result: Floats
) -> None: ...
def cage_weights(
    cage: Cage, areas: Floats, follow: Floats, cage_follow: Floats | None, result: Floats
) -> None: ...
def spread_weights(cage: Cage, areas: Floats, weights: Floats, inside: Floats) -> None: ...

def mend_tets(
    positions: Floats, tets: Ints, leashes: Floats, goal: float, rounds: int, monitor: Monitor | None = None
) -> None: ...

class Monitor:
    """Watches and cancels native work from another thread."""

    def cancel(self) -> None: ...
    def check(self) -> None: ...
    def progress(self) -> tuple[str, int, int]: ...

class Cage:
    """Tets around a surface, and the interpolation that carries it. Immutable."""

    def __new__(
        cls, rest: Floats, triangles: Ints, resolution: int, separate_parts: bool, monitor: Monitor | None = None
    ) -> Cage: ...
    @classmethod
    def restore(cls, vertices: Floats, tets: Ints, binding: Ints, weights: Floats) -> Cage: ...
    def read(self, vertices: Floats, tets: Ints, binding: Ints, weights: Floats) -> None: ...
    def interpolate(self, cage_values: Floats, surface: Floats) -> None: ...
    def bind(self, cage_positions: Floats, points: Floats, binding: Ints, weights: Floats) -> None: ...
    def counts(self) -> tuple[int, int, int]: ...
    def fill(
        self, rest: Floats, triangles: Ints, fill: Floats, thickness: Floats, monitor: Monitor | None = None
    ) -> None: ...
    def min_dihedral(self) -> float: ...

class Fit:
    """Fits a cage to surface frames."""

    def __new__(cls, cage: Cage, areas: Floats, settings: dict[str, Any]) -> Fit: ...
    def frame(
        self,
        surface: Floats,
        has_guess: bool,
        positions: Floats,
        before: Floats | None = None,
        monitor: Monitor | None = None,
        /,
    ) -> tuple[float, float, int, int]: ...

class Simulation:
    """What can be advanced, alone or in an ensemble."""

    def advance(self, *move: Any) -> tuple[int, int, int, int, int, int]: ...

class Ensemble:
    """Several simulations as bodies of one world."""

    substeps: int  # of an interval
    def __new__(cls, simulations: list[Any]) -> Ensemble: ...
    def advance(
        self, moves: list[tuple[Any, ...]], monitor: Monitor | None = None, /
    ) -> list[tuple[int, int, int, int, int, int]]: ...

class Enrich(Simulation):
    """The constrained simulation of a fitted cage."""

    options: tuple[str, ...]  # names of the settings that it takes
    def __new__(
        cls,
        cage: Cage,
        areas: Floats,
        settings: dict[str, Any],
        paint: dict[str, Floats | Ints | None],
        monitor: Monitor | None = None,
    ) -> Enrich: ...
    def advance(  # type: ignore[override]
        self,
        before: Floats | None,
        begin: Floats,
        end: Floats,
        after: Floats | None,
        positions: Floats,
        velocities: Floats,
        acceleration: Floats | None = None,
        inner: Floats | Monitor | None = None,
        monitor: Monitor | None = None,
        /,
    ) -> tuple[int, int, int, int, int, int]: ...
    def settle(
        self,
        pose: Floats,
        positions: Floats,
        acceleration: Floats | None = None,
        monitor: Monitor | None = None,
        /,
    ) -> tuple[int, int]: ...
    def follow(self, begin: Floats, end: Floats) -> None: ...
    def cage_weights(self, out: Floats) -> None: ...
    def summary(self) -> dict[str, Any]: ...

class Rebalance:
    """Draws a finished simulation back to its input."""

    def __new__(
        cls, cage: Cage, areas: Floats, follow: Floats, cage_follow: Floats | None = None
    ) -> Rebalance: ...
    def set_weights(self, areas: Floats, weights: Floats) -> None: ...
    def frame(self, fitted: Floats, simulated: Floats, strength: float, result: Floats) -> None: ...

class World:
    """The bare engine: tets of one material, some vertices fixed."""

    def __new__(
        cls,
        vertices: Floats,
        tets: Ints,
        fixed: Ints,
        young: float,
        poisson: float,
        density: float,
        energy: str,
        gravity: tuple[float, float, float] = (0.0, 0.0, 0.0),
        damping_mass: float = 0.0,
        damping_stiffness: float = 0.0,
    ) -> World: ...
    def evaluate(self, positions: Floats, gradients: Floats, stiffness: Floats) -> float: ...
    def settle(
        self, positions: Floats, tolerance: float, max_rounds: int, monitor: Monitor | None = None
    ) -> tuple[int, int]: ...
    def frequencies(self, out: Floats, monitor: Monitor | None = None) -> None: ...
    def step(
        self,
        positions: Floats,
        velocities: Floats,
        interval: float,
        count: int,
        scheme: str,
        newton_rounds: int,
        tolerance: float,
        monitor: Monitor | None = None,
        /,
    ) -> tuple[int, int]: ...
    def masses(self, out: Floats) -> None: ...
