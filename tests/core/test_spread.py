"""Sparse painting: a few painted vertices decide for all."""

from __future__ import annotations

import numpy as np
import pytest
from bodies import box_surface
from sinew.core.base.errors import BadInput
from sinew.core.flesh.settings import Settings
from sinew.core.paint.spread import spread_weights

REST, TRIANGLES = box_surface((4, 4, 16), (0.25, 0.25, 1.0))
HEIGHT = REST[:, 2]
SETTINGS = Settings(resolution=12)


def painted(**values: float) -> np.ndarray:
    """A few vertices at the foot and at the top."""
    weights = np.full(len(REST), np.nan)
    for name, value in values.items():
        edge = HEIGHT.min() if name == "foot" else HEIGHT.max()
        weights[np.flatnonzero(np.abs(HEIGHT - edge) < 1e-6)] = value
    return weights


def test_weights_rise_from_one_painted_end_to_the_other() -> None:
    weights = spread_weights(REST, TRIANGLES, painted(foot=1.0, top=0.0), SETTINGS)
    assert (weights[HEIGHT.min() == HEIGHT] == 1.0).all() and (weights[HEIGHT.max() == HEIGHT] == 0.0).all()
    assert np.isfinite(weights).all() and weights.min() >= 0.0 and weights.max() <= 1.0
    relative = (HEIGHT - HEIGHT.min()) / np.ptp(HEIGHT)
    assert np.corrcoef(relative, weights)[0, 1] < -0.99
    middle = weights[np.abs(relative - 0.5) < 0.05]
    assert np.abs(middle - 0.5).max() < 0.1


def test_one_painted_value_is_everywhere_and_painted_ones_stay() -> None:
    lone = np.full(len(REST), np.nan)
    lone[7] = 0.37
    assert (spread_weights(REST, TRIANGLES, lone, SETTINGS) == 0.37).all()
    full = np.linspace(0.0, 1.0, len(REST))
    assert np.array_equal(spread_weights(REST, TRIANGLES, full, SETTINGS), full)
    few = np.where(np.arange(len(REST)) % 9 == 0, full, np.nan)
    spread = spread_weights(REST, TRIANGLES, few, SETTINGS)
    assert np.array_equal(spread[::9], full[::9])


def test_nothing_painted_is_told() -> None:
    with pytest.raises(BadInput, match="paint a few"):
        spread_weights(REST, TRIANGLES, np.full(len(REST), np.nan), SETTINGS)


def test_painted_points_of_the_cage_count_too() -> None:
    """One in the foot and one in the top, and nothing on the surface."""
    middle, nothing = REST[:, :2].mean(axis=0), np.full(len(REST), np.nan)
    points = np.array([[*middle, HEIGHT.min(), 1.0], [*middle, HEIGHT.max(), 0.2]])
    weights = spread_weights(REST, TRIANGLES, nothing, SETTINGS, inside=points)
    assert weights.min() >= 0.2 and weights.max() <= 1.0
    assert np.corrcoef(HEIGHT, weights)[0, 1] < -0.9 and np.ptp(weights) > 0.4
    nothing[HEIGHT.max() == HEIGHT] = 0.9  # what is painted on the surface stays
    assert (spread_weights(REST, TRIANGLES, nothing, SETTINGS, inside=points)[HEIGHT.max() == HEIGHT] == 0.9).all()
