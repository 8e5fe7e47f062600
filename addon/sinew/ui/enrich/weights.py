"""A preview of what a bake would follow, as colours on the mesh as it shows now. No vertex group is made for it.

    refresh     a timer, while the switch is on: looks whether mesh or group have changed, and has the weights computed
    surface_of  the overlay, at every redraw: puts the weights on the evaluated mesh
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
from mathutils import Matrix

from ...core.cage.view import spread_values, weight_colors
from ...scene import compat, fingerprint
from ...setups.flesh.body import follow_group, look_at, unpainted
from .. import job_operator
from ..background import results
from ..setup import properties
from . import cage, view

_WHAT = "Finding the weights"
_INTERVAL = 0.5  # seconds between two looks at mesh and group
_OPACITY = 0.7
_UNKNOWN = (0.3, 0.3, 0.3, _OPACITY)  # what modifiers have added and no edge connects to the mesh


@dataclass
class Surface:
    """Coloured triangles in the object's own space."""

    key: tuple[Any, ...]
    positions: npt.NDArray[np.float32]  # (n, 3)
    triangles: npt.NDArray[np.int32]  # (m, 3)
    colors: npt.NDArray[np.float32]  # (n, 4)
    matrix: Matrix  # to the world


_surfaces: dict[str, Surface] = {}  # by the id of the setup


def refresh(item: Any) -> None:
    """Has the weights computed anew, in a thread, if mesh or group are others than before."""
    ob = item.object
    if ob is None or ob.mode == "EDIT" or job_operator.running.sampling or compat.is_rendering():
        return  # later: nothing may be looked at now
    settings = properties.settings_of(item)
    group, spread = follow_group(ob, settings), (settings.spread, settings.resolution)
    weights = fingerprint.take_weights(ob, group, unpainted(settings))
    key = (cage.shape_of(item), group, weights, spread if settings.spread else ())

    def prepare() -> Any:
        body = look_at(ob.name, properties.values_of(item))
        return body.follow

    results.get(_WHAT, properties.key_of(item), key, prepare)


def is_ready(item: Any) -> bool:
    return results.last(_WHAT, properties.key_of(item)) is not None


def error_of(item: Any) -> str:
    """Why there are no weights to show, as a sentence, or ""."""
    return results.error(_WHAT, properties.key_of(item))


def surface_of(item: Any, depsgraph: Any) -> Surface | None:
    """The mesh as it shows now, in the colours of its weights; None while they are computed."""
    follow = results.last(_WHAT, properties.key_of(item))
    if follow is None or item.object.mode == "EDIT":
        return None
    evaluated = item.object.evaluated_get(depsgraph)
    mesh = evaluated.data
    positions = compat.mesh_positions(mesh)
    known = _surfaces.get(properties.key_of(item))
    topology = (id(follow), len(mesh.vertices), len(mesh.edges), len(mesh.loops))
    if known is None or known.key[0] != topology or not np.array_equal(known.positions, positions):
        version = known.key[1] + 1 if known is not None else 0
        if known is not None and known.key[0] == topology:
            triangles, colors = known.triangles, known.colors
        else:
            triangles, colors = _triangles(mesh), _colors(mesh, follow)
        known = Surface((topology, version), positions, triangles, colors, Matrix())
        _surfaces[properties.key_of(item)] = known
    known.matrix = evaluated.matrix_world.copy()
    return known


def _triangles(mesh: Any) -> npt.NDArray[np.int32]:
    mesh.calc_loop_triangles()
    flat = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", flat)
    return flat.reshape(-1, 3)


def _colors(mesh: Any, follow: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Colours of all vertices that show. Those that a subdivision above us adds follow ours and lie between them."""
    count = len(mesh.vertices)
    weights, known = np.zeros(count), np.zeros(count, dtype=bool)
    shared = min(count, len(follow))
    weights[:shared], known[:shared] = follow[:shared], True
    if not known.all():
        edges = np.empty(2 * len(mesh.edges), dtype=np.int32)
        mesh.edges.foreach_get("vertices", edges)
        weights, known = spread_values(weights, known, edges.reshape(-1, 2))
    colors = weight_colors(weights, _OPACITY)
    colors[~known] = _UNKNOWN
    return colors


def _tick() -> float | None:
    shown = [item for scene in bpy.data.scenes for item in scene.sinew.setups if view.of(item).weights]
    for item in shown:
        if item.id_data == bpy.context.scene:
            refresh(item)
    return _INTERVAL if shown else None


def watch() -> None:
    """Called when the switch is turned on."""
    if not bpy.app.background and not bpy.app.timers.is_registered(_tick):
        bpy.app.timers.register(_tick, first_interval=0.0)


def forget() -> None:
    _surfaces.clear()


def unregister() -> None:
    forget()
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)
