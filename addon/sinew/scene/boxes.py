"""How much room an object takes."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import numpy.typing as npt


def box_now(ob: Any) -> npt.NDArray[np.float64]:
    """The least and the greatest world coordinates (2, 3) of what an object shows on the current frame."""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    corners = np.array(evaluated.bound_box, dtype=np.float64)
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    placed = corners @ matrix[:3, :3].T + matrix[:3, 3]
    return np.stack([placed.min(axis=0), placed.max(axis=0)])
