"""Composite cells: tets weigh and resist by the flesh in them, so thin parts swing as they should in coarse cages."""

from __future__ import annotations

from collections.abc import Callable

import near_meshes
import numpy as np
import numpy.typing as npt
import pytest
from bodies import box_surface, rod, rotation
from sinew.core.base.native import module
from sinew.core.cage.cage import build_cage
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings
from sinew.core.geometry.surface import areas_and_size

pytestmark = pytest.mark.once

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

YOUNG, POISSON, DENSITY, HELD = 1e5, 0.3, 1000.0, 0.1  # of bodies a metre long, held by their first tenth
PLAIN = rotation((0, 0, 1), 0.0)
TURNED = rotation((1, 0.3, 0.5), 0.7)


def swings(rest: Floats, triangles: Ints, turn: Floats, resolution: int, gyration: float) -> tuple[float, float]:
    """Frequency of its first swing over that of a cantilever of Euler and Bernoulli with that radius of gyration of its
    section, as the calibration finds it: with composite cells, and with full ones."""
    settings = Settings(resolution=resolution, young=YOUNG, density=DENSITY, transition=0.0, poisson=POISSON)
    follow, turned = (rest[:, 0] < HELD).astype(float), np.ascontiguousarray(rest @ turn.T)
    enricher = Enricher(turned, triangles, follow, settings)
    areas, size = areas_and_size(turned, triangles)
    values = {"young": YOUNG, "density": DENSITY, "poisson": POISSON, "size": size, "interval": 1 / 24}
    full = module.Enrich(enricher.cage.native, areas, values, {"follow": follow})
    # cells are followed as a whole: what is free begins where the last of them ends
    length = 1.0 - float((enricher.cage.vertices @ turn)[enricher.cage_weights() == 1.0, 0].max())
    right = 1.8751**2 / (2 * np.pi) * np.sqrt(YOUNG / DENSITY) * gyration / length**2
    return enricher.summary()["frequency"] / right, full.summary()["frequency"] / right


# Thickness or diameter in cells of resolution 12: from a third of a cell to one and a half.
@pytest.mark.parametrize("turn", [PLAIN, TURNED], ids=["straight", "turned"])
@pytest.mark.parametrize("resolution", [12, 24])
@pytest.mark.parametrize("thickness", [0.03, 0.06, 0.12])
def test_thin_ears_swing_as_they_should_in_coarse_cages(thickness: float, resolution: int, turn: Floats) -> None:
    ear = box_surface((40, 16, 3), (1.0, 0.4, thickness))
    wide = (1.0 - POISSON**2) ** -0.25  # half way from a beam to a plate, which cannot narrow where it is bent
    composite, full = swings(*ear, turn, resolution, wide * thickness / np.sqrt(12.0))
    assert 0.85 < composite < 1.15
    assert full > 1.2


@pytest.mark.parametrize("turn", [PLAIN, TURNED], ids=["straight", "turned"])
@pytest.mark.parametrize("resolution", [12, 24])
@pytest.mark.parametrize("diameter", [0.06, 0.12])
def test_thin_tails_swing_as_they_should_in_coarse_cages(diameter: float, resolution: int, turn: Floats) -> None:
    tail = rod(diameter / 2, 1.0)
    composite, full = swings(*tail, turn, resolution, diameter / 4)
    assert 0.85 < composite < 1.15
    assert full > 1.2


@pytest.mark.parametrize("body", [near_meshes.hand, near_meshes.mouth, near_meshes.crossed_legs])
def test_parts_that_share_cells_count_their_own_flesh_only(body: Callable[[], near_meshes.Posed]) -> None:
    """More would be there, if each of two fingers in one cell counted both."""
    rest, triangles, _ = body()
    corners = rest[triangles]
    volume = abs(float(np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0))
    cage = build_cage(rest, triangles, 16)
    fill, _ = cage.filling(rest, triangles)
    tets = cage.vertices[cage.tets]
    volumes = np.linalg.det(tets[:, 1:] - tets[:, :1]) / 6.0
    assert abs(float((fill * volumes)[fill > 0.02].sum()) / volume - 1.0) < 0.06
