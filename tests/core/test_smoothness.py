"""How smoothly a coarse cage carries a fine surface, and how smoothly free flesh leaves what follows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from bodies import box_surface, sphere
from jumps import border_and_inside
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings

pytestmark = pytest.mark.once

Floats = npt.NDArray[np.float64]


def bend(points: Floats, angle: float = 1.2) -> Floats:
    """Bends what stands upright along an arc, by so many radians a metre."""
    turn, lever = angle * points[:, 2], 1.0 / angle - points[:, 0]
    return np.stack([1.0 / angle - lever * np.cos(turn), points[:, 1], lever * np.sin(turn)], axis=1)


def kinks(points: Floats, triangles: npt.NDArray[np.int32]) -> Floats:
    """Angle between the normals of neighbouring triangles, degrees."""
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    order = np.lexsort(sides.T)
    a, b, c = np.swapaxes(points[triangles], 0, 1)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    pairs = normals[order.reshape(-1, 2) // 3]  # a closed surface: every side has two triangles
    return np.degrees(np.arccos(np.clip((pairs[:, 0] * pairs[:, 1]).sum(axis=1), -1.0, 1.0)))


def carried(interpolation: str, resolution: int) -> tuple[Floats, Floats, Floats]:
    """A bent cage's surface, where it should be, and by how much each kink is off."""
    rest, triangles = sphere(60, 80, (0.35, 0.35, 1.0))
    rest = rest + np.array([0.0, 0.0, 1.0])
    settings = Settings(resolution=resolution, interpolation=interpolation, simulate=False)
    enricher = Enricher(rest, triangles, np.zeros(len(rest)), settings)
    fitted = enricher.fit(rest).positions
    surface, truth = enricher.surface(fitted, bend(fitted), rest), bend(rest)
    return surface, truth, np.abs(kinks(surface, triangles) - kinks(truth, triangles))


def test_phong_bends_smoothly_where_linear_breaks_at_cage_faces() -> None:
    linear, truth, linear_kinks = carried("linear", 8)
    phong, _, phong_kinks = carried("phong", 8)
    assert np.percentile(linear_kinks, 95) > 1.5  # degrees: the cage is seen
    assert np.percentile(phong_kinks, 95) < 0.3 * np.percentile(linear_kinks, 95)
    linear_off, phong_off = (np.linalg.norm(each - truth, axis=1) for each in (linear, phong))
    assert np.sqrt(np.mean(phong_off**2)) < 0.5 * np.sqrt(np.mean(linear_off**2))
    # a third of the cells along each side still does better
    assert np.percentile(phong_kinks, 95) < np.percentile(carried("linear", 24)[2], 95)


@pytest.mark.parametrize("interpolation", ["linear", "phong"])
def test_what_is_not_moved_is_the_input_to_the_bit(interpolation: str) -> None:
    rest, triangles = sphere(12, 16)
    settings = Settings(resolution=6, interpolation=interpolation, simulate=False)
    enricher = Enricher(rest, triangles, np.zeros(len(rest)), settings)
    bent = bend(rest, 0.4)
    fitted = enricher.fit(bent).positions
    assert (enricher.surface(fitted, fitted, bent) == bent).all()
    moved = fitted + (rest.mean(axis=0) < fitted) * 0.1  # a part of the cage stays
    still = (moved == fitted).all(axis=1)[enricher.cage.tets].all(axis=1)[enricher.cage.binding]
    surface = enricher.surface(fitted, moved, bent)
    assert still.sum() > 5 and (surface[still] == bent[still]).all()
    assert np.abs(surface - bent).max() > 0.05


def shaken(transition: float, jiggle: float = 3.0) -> tuple[Enricher, list[Floats], list[Floats]]:
    """A bar of which a fifth is painted to follow, without anything between, is shaken sideways: fitted and simulated
    cages of each frame."""
    vertices, triangles = box_surface((20, 4, 4), (1.0, 0.2, 0.2))
    settings = Settings(transition=transition, resolution=20, jiggle=jiggle)
    enricher = Enricher(vertices, triangles, (vertices[:, 0] < 0.2).astype(float), settings)
    frames = [vertices + np.array([0.0, 0.0, 0.1 * np.sin(0.6 * k)]) for k in range(24)]
    fitted = [enricher.fit(frames[0]).positions]
    for frame in frames[1:]:
        fitted.append(enricher.fit(frame, fitted[-1]).positions)
    state = enricher.begin(fitted[0], fitted[1])
    simulated = [state.positions]
    around = [None, *fitted, None]
    for k in range(len(fitted) - 1):
        state, _ = enricher.advance(state, (around[k], fitted[k], fitted[k + 1], around[k + 3]))
        simulated.append(state.positions)
    return enricher, fitted, simulated


def test_soft_transition_leaves_no_fold_at_the_border() -> None:
    ratios, amplitudes = [], []
    for transition in (0.0, Settings().transition):
        enricher, fitted, simulated = shaken(transition)
        border, inside = border_and_inside(enricher.cage.tets, enricher.cage_weights(), fitted, simulated)
        ratios.append(border / inside)
        amplitudes.append(max(float(np.abs(a - b).max()) for a, b in zip(fitted, simulated, strict=True)))
    assert ratios[0] > 1.8  # it is there to be cured
    assert ratios[1] < 1.55 and ratios[1] < 0.45 * ratios[0]
    assert abs(amplitudes[1] / amplitudes[0] - 1.0) < 0.1  # and what is seen of the motion stays


def test_what_is_enclosed_by_followed_flesh_follows() -> None:
    enricher, fitted, simulated = shaken(0.0)
    core = (enricher.cage.vertices[:, 0] < 0.05) & (np.abs(enricher.cage.vertices[:, 1:] - 0.1) < 0.06).all(axis=1)
    assert core.sum() > 5 and (enricher.cage_weights()[core] == 1.0).all()
    assert all((a[core] == b[core]).all() for a, b in zip(fitted, simulated, strict=True))
