"""Weights that are meant to be exactly 0 or 1."""

from __future__ import annotations

from typing import Any

import numpy as np


def sharpened(follow: Any) -> Any:
    """What a subdivision interpolates between ones must stay exactly one."""
    from ..base.native import module  # takes a moment the first time

    exact = module.WEIGHT_EXACT
    return np.where(follow > exact, 1.0, np.where(follow < 1.0 - exact, 0.0, follow))
