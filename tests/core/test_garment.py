"""Where a garment is pinned without a word: waist, collar and cuffs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sinew.core.paint.garment import garment_follow

pytestmark = pytest.mark.once

UP = np.array([0.0, 0.0, 1.0])
RINGS, AROUND = 25, 20


def tube(heights: Any, radii: Any) -> tuple[Any, Any, Any]:
    """Vertices ring by ring, edges and triangles."""
    angles = 2.0 * np.pi * np.arange(AROUND) / AROUND
    points = np.array([(r * np.cos(a), r * np.sin(a), z) for z, r in zip(heights, radii, strict=True) for a in angles])
    edges, sides = [], []
    for i in range(len(heights)):
        for j in range(AROUND):
            a, b = i * AROUND + j, i * AROUND + (j + 1) % AROUND
            edges.append((a, b))
            if i + 1 < len(heights):
                edges.append((a, a + AROUND))
                sides += [(a, b, b + AROUND), (a, b + AROUND, a + AROUND)]
    return points, np.array(edges, np.int32), np.array(sides, np.int32)


HEIGHTS = np.linspace(1.4, 0.6, RINGS)
RADII = np.interp(HEIGHTS, (0.6, 1.0, 1.2, 1.4), (0.4, 0.12, 0.17, 0.06))  # hem, waist, chest, collar
DRESS, EDGES, _ = tube(HEIGHTS, RADII)


def by_ring(weights: Any) -> Any:
    rings = weights.reshape(RINGS, AROUND)
    assert np.ptp(rings, axis=1).max() < 0.05
    return rings.mean(axis=1)


def test_what_hugs_the_skin_is_pinned_and_what_hangs_is_free() -> None:
    along = np.linspace(1.7, 0.0, 40)
    body, _, sides = tube(along, np.interp(along, (0.0, 1.0, 1.4), (0.1, 0.119, 0.06)))
    rings = by_ring(garment_follow(DRESS, EDGES, UP, (body, sides)))
    assert rings[0] == 1.0 and rings[np.abs(HEIGHTS - 1.0) < 0.02].min() == 1.0  # collar and waist
    assert rings[HEIGHTS < 0.9].max() == 0.0
    assert rings[np.abs(HEIGHTS - 1.2) < 0.02].max() == 0.0  # a wide chest is its own


def test_a_seam_of_one_row_stays_pinned() -> None:
    """A collar that ends at the skin, where the nearest skin under the rest is far away."""
    neck, _, sides = tube((1.7, 1.4), (0.06, 0.06))
    trunk, _, more = tube(np.linspace(1.3, 0.0, 30), np.full(30, 0.04))
    body = np.concatenate([neck, trunk]), np.concatenate([sides, more + len(neck)])
    rings = by_ring(garment_follow(DRESS, EDGES, UP, body))
    assert rings[0] == 1.0 and rings[4:].max() == 0.0


def test_a_dress_without_skin_under_it_follows_down_to_its_waist() -> None:
    neck, _, sides = tube((1.7, 1.4), (0.06, 0.06))
    legs, _, more = tube((0.6, 0.0), (0.1, 0.1))
    body = np.concatenate([neck, legs]), np.concatenate([sides, more + len(neck)])
    rings = by_ring(garment_follow(DRESS, EDGES, UP, body))
    assert (rings[HEIGHTS > 1.02] == 1.0).all() and (rings[HEIGHTS < 0.85] == 0.0).all()
    turned = garment_follow(DRESS[:, [2, 0, 1]], EDGES, UP[[2, 0, 1]], (body[0][:, [2, 0, 1]], body[1]))
    assert np.allclose(by_ring(turned), rings, atol=0.02)


def test_a_hand_that_touches_the_hem_pins_nothing() -> None:
    neck, _, sides = tube((1.7, 1.4), (0.06, 0.06))
    hand = np.array([(0.401, -0.05, 0.58), (0.401, 0.05, 0.58), (0.401, 0.0, 0.66)])
    body = np.concatenate([neck, hand]), np.concatenate([sides, [np.arange(3) + len(neck)]]).astype(np.int32)
    assert garment_follow(DRESS, EDGES, UP, body)[-2 * AROUND :].max() == 0.0


def test_without_a_body_it_hangs_by_its_upper_border() -> None:
    rings = by_ring(garment_follow(DRESS, EDGES, UP))
    assert rings[0] == 1.0 and rings[3:].max() == 0.0
