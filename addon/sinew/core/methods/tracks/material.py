"""What cloth is made of, vertex by vertex, as the native module takes it: the material, the dials over it, and what is
painted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .settings import Settings, is_woven

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_LEVEL = 0.1  # of a triangle's normal: what lies so level has no way down


def shell_of(settings: Settings, count: int, weights: Mapping[str, Floats]) -> dict[str, Floats | None]:
    """Arrays over so many vertices; `weights` (t,) of the painted groups, by what they change."""

    def times(name: str) -> Any:
        return getattr(settings, f"{name}_painted") ** weights[name] if name in weights else 1.0

    ones, stiff = np.ones(count), settings.stiff * times("stiff")
    creases = settings.crease > 0.0 and settings.crumple > 0.0
    return {
        "stretch": settings.stretch * stiff * ones,
        "bend": settings.bend * stiff * settings.wrinkle_size**3 * ones,  # by the length that bends under its weight
        "weight": settings.weight * settings.heavy * times("heavy") * ones,
        "yield": settings.crease / settings.crumple * ones if creases else None,
        "calm": times("calm") * ones if "calm" in weights else None,
    }


def fold_length(settings: Settings, gravity: Any) -> float:
    """Metres: the length that bends under its own weight, about as large as folds are; no end to it without weight."""
    load = settings.weight * settings.heavy * float(np.linalg.norm(settings.gravity or gravity))
    length = (settings.bend * settings.stiff / load) ** (1.0 / 3.0) if load > 0.0 else np.inf
    return float(settings.wrinkle_size * length)


def native_material(settings: Settings) -> dict[str, float]:
    """What is the same everywhere."""
    return {
        "poisson": settings.contraction,
        "weft": settings.weft,
        "weft_bend": settings.weft_bend,
        "shear": settings.shear,
        "limit": settings.stretch_limit,
        "hardening": settings.hardening,
        "air": settings.air,
    }


def warp_of(settings: Settings, rest: Floats, triangles: Ints, uv: Floats | None, up: Floats) -> Floats | None:
    """(m, 3) which way the warp runs in each triangle, in the space of the rest shape; `uv` (m, 3, 2) of their corners.
    None where there are no threads."""
    if not is_woven(settings):
        return None
    corners = rest[triangles]
    one, two = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normals = np.cross(one, two)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    hanging = np.broadcast_to(up, one.shape) - (normals @ up)[:, None] * normals
    across = np.array([1.0, 0.0, 0.0]) - normals[:, :1] * normals
    level = np.linalg.norm(hanging, axis=1, keepdims=True) < _LEVEL
    warp: Floats = np.where(level, across, hanging)
    if uv is not None:
        first, second = uv[:, 1] - uv[:, 0], uv[:, 2] - uv[:, 0]
        area = first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0]
        along_u = (second[:, 1:] * one - first[:, 1:] * two) * np.sign(area)[:, None]
        is_mapped = np.abs(area) > 1e-12 * max(float(np.abs(area).max(initial=0.0)), 1e-300)
        warp = np.where(is_mapped[:, None], along_u, warp)
    return np.ascontiguousarray(warp / np.maximum(np.linalg.norm(warp, axis=1, keepdims=True), 1e-300))
