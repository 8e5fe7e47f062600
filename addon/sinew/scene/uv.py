"""UV maps of a mesh."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import SceneError

Floats = npt.NDArray[np.float64]


def check(ob: Any, name: str) -> None:
    """Raises where a map is named that is not there."""
    layers = [layer.name for layer in ob.data.uv_layers]
    if name and name not in layers:
        there_are = ", ".join(layers) or "none"
        raise SceneError(f'Object "{ob.name}" has no UV map "{name}": there are {there_are}. Choose one of these.')


def corners(mesh: Any, name: str) -> Floats | None:
    """(m, 3, 2) of the triangles of a mesh, whose triangles are known; of the active map where none is named, None
    where there is no map."""
    layer = mesh.uv_layers.get(name) if name else mesh.uv_layers.active
    if layer is None:
        return None
    flat = np.empty(2 * len(mesh.loops), np.float32)
    layer.data.foreach_get("uv", flat)
    loops = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("loops", loops)
    found: Floats = flat.reshape(-1, 2)[loops].reshape(-1, 3, 2).astype(np.float64)
    return found
