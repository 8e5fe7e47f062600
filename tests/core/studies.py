"""How errors fall when steps and cells shrink: for test_closed_forms.py and for the plots of `make bench`."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
from bodies import box_tets
from sinew.core.base.native import module

Floats = npt.NDArray[np.float64]

YOUNG, DENSITY, LENGTH, WIDTH = 1e7, 1000.0, 1.0, 0.2  # of the bar whose cells shrink
SECONDS = 0.4  # of the swing whose steps shrink


@cache
def bar_response(across: int, axis: int) -> tuple[float, float]:
    """How far the tip of a bar gives way to a unit of gravity along an axis, and the work of that load.

    Along x, held at x = 0, Poisson's ratio 0, cubic cells, that many across. Linear: mean of a load and its opposite.
    """
    vertices, tets = box_tets((round(LENGTH / WIDTH) * across, across, across), (LENGTH, WIDTH, WIDTH))
    held, masses, moved = (vertices[:, 0] < 1e-9).astype(np.int32), np.empty(len(vertices)), []
    for load in (1e-3, -1e-3):
        gravity = tuple(load * np.eye(3)[axis])
        world, positions = module.World(vertices, tets, held, YOUNG, 0.0, DENSITY, "stvk", gravity), vertices.copy()
        _, converged = world.settle(positions, 1e-13, 200)
        assert converged
        moved.append((positions - vertices)[:, axis] / load)
    world.masses(masses)
    mean = 0.5 * (moved[0] + moved[1])
    return float(mean[vertices[:, 0] > LENGTH - 1e-9].mean()), float(masses @ mean)


def exact_sag() -> float:
    """Timoshenko's beam under its own weight across, for Poisson's ratio 0 (shear factor 5/6)."""
    inertia, area, load = WIDTH**4 / 12, WIDTH**2, DENSITY * WIDTH**2
    return load * LENGTH**4 / (8 * YOUNG * inertia) + load * LENGTH**2 / (2 * 5 / 6 * YOUNG / 2 * area)


def exact_stretch() -> tuple[float, float]:
    """Tip and work of the bar under its own weight along it: an exact solution in three dimensions too."""
    return DENSITY * LENGTH**2 / (2 * YOUNG), (DENSITY * WIDTH) ** 2 * LENGTH**3 / (3 * YOUNG)


def swing(scheme: str, steps: int, damping: float = 0.0) -> Floats:
    """A soft bar falls from rest under gravity and swings far: where it is after that time, in so many steps.

    `damping` is that of the strain, in seconds."""
    vertices, tets = box_tets((8, 2, 2), (1.0, 0.25, 0.25))
    held = (vertices[:, 0] < 1e-9).astype(np.int32)
    world = module.World(vertices, tets, held, 1e5, 0.3, DENSITY, "neo_hookean", (0.0, 0.0, -9.81), 1.0, damping)
    positions, velocities = vertices.copy(), np.zeros_like(vertices)
    world.step(positions, velocities, SECONDS / steps, steps, scheme, 0, 1e-11)
    return positions


@cache
def swing_limit(damping: float = 0.0) -> Floats:
    """Where the steps converge to: Richardson's extrapolation of second order."""
    fine, finer = swing("tr_bdf2", 1280, damping), swing("tr_bdf2", 2560, damping)
    return finer + (finer - fine) / 3


def swing_error(scheme: str, steps: int, damping: float = 0.0) -> float:
    """Largest error of a vertex, metres."""
    return float(np.linalg.norm(swing(scheme, steps, damping) - swing_limit(damping), axis=1).max())


def order(sizes: list[float], errors: list[float]) -> float:
    """The power of the size that the errors fall with: slope of a line through their logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])
