"""A preview shows about as much motion as the bake that it stands for: a cage so coarse that its cells hold what should
swing would promise less than there will be."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from bodies import box_surface, rod
from sinew.core.cage.cage import build_cage
from sinew.core.flesh.enrich import enrich
from sinew.core.flesh.painted import FleshPaint
from sinew.core.flesh.settings import Settings
from sinew.core.methods.enrich import METHOD

pytestmark = pytest.mark.once

FRAMES = 24


def patch() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A bar that is held but for a patch of a third of its length, as a belly or a buttock is."""
    rest, triangles = box_surface((40, 16, 16), (1.0, 0.4, 0.4))
    away = np.linalg.norm(rest - (0.5, 0.2, 0.0), axis=1)
    return rest, triangles, np.clip((away - 0.06) / 0.1, 0.0, 1.0)


def tail() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rest, triangles = rod(0.05, 1.0)
    return rest, triangles, np.clip(1.6 - 3.0 * (rest[:, 0] - rest[:, 0].min()), 0.0, 1.0)


def eel() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Four fifths of it swing, and it is as thin as a third of a preview's coarsest cell."""
    rest, triangles = rod(0.0125, 1.0, 12, 60)
    return rest, triangles, np.clip(1.6 - 3.0 * (rest[:, 0] - rest[:, 0].min()), 0.0, 1.0)


def swing(rest: np.ndarray, triangles: np.ndarray, follow: np.ndarray, settings: Settings) -> float:
    """Root mean square of what is added to the free vertices of a body that is shaken up and down."""
    frames = [rest + (0.0, 0.0, 0.12 * np.sin(0.8 * k)) for k in range(FRAMES)]
    shown = enrich(rest, triangles, frames, follow, resolution=settings.resolution)
    added = np.array(list(shown)) - np.array(frames)
    return float(np.sqrt((added[:, follow < 0.5] ** 2).sum(axis=2).mean()))


def previewed(rest: np.ndarray, triangles: np.ndarray, follow: np.ndarray, settings: Settings) -> Settings:
    shot = SimpleNamespace(rest=rest, triangles=triangles, settings=settings, painted=FleshPaint(follow))
    return settings.replace(METHOD.coarse(shot, None))


@pytest.mark.parametrize("body", [patch, tail, eel])
def test_a_preview_swings_about_as_much_as_the_bake(body) -> None:
    settings = Settings()
    preview = previewed(*body(), settings)
    ratio = swing(*body(), preview) / swing(*body(), settings)
    assert 0.7 < ratio < 1.4, ratio


def test_a_preview_is_as_fine_as_the_bake_where_that_is_quick_and_coarse_elsewhere() -> None:
    """Never finer than the bake, and never coarser than its setting where the bake is finer."""
    slender = eel()
    assert previewed(*patch(), Settings()).resolution == 14
    assert previewed(*slender, Settings(resolution=24)).resolution == 24
    assert previewed(*slender, Settings(resolution=10)).resolution == 10
    assert 14 < previewed(*slender, Settings(resolution=200)).resolution < 200
    tets = len(build_cage(*slender[:2], previewed(*slender, Settings(resolution=200)).resolution).tets)
    assert 1_500 < tets < 5_000
