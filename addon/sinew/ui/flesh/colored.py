"""A mesh as it shows now in the colours of values at its vertices, drawn over it in the 3D viewports."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import gpu
import numpy as np
import numpy.typing as npt
from gpu_extras import batch as gpu_batch
from mathutils import Matrix

from ...core.cage.view import spread_values, weight_colors
from ...scene import compat
from ..setup import properties

_gpu: Any = gpu  # the stubs know less than Blender
_batch_for_shader: Any = gpu_batch.batch_for_shader

_OPACITY = 0.7
_UNKNOWN = (0.3, 0.3, 0.3, _OPACITY)  # what modifiers have added and no edge connects to the mesh
_CLOSER = 0.002  # towards the eye, as a share of the distance, so that colours win against the mesh they lie on


@dataclass
class Surface:
    """Coloured triangles in the object's own space."""

    key: tuple[Any, ...]
    positions: npt.NDArray[np.float32]  # (n, 3)
    triangles: npt.NDArray[np.int32]  # (m, 3)
    colors: npt.NDArray[np.float32]  # (n, 4)
    matrix: Matrix  # to the world


@dataclass
class Batch:
    key: tuple[Any, ...]
    lines: Any = None
    faint: Any = None


@dataclass
class Colored:
    """Setups in the colours of one kind of values; what was made of each, by its id, is kept."""

    kind: str
    surfaces: dict[str, Surface] = field(default_factory=dict)
    batches: dict[tuple[str, str], Batch] = field(default_factory=dict)

    def draw(self, context: Any, values_of: Callable[[Any], npt.NDArray[np.float64] | None]) -> None:
        """In one 3D viewport; of a setup that has no values now nothing is drawn."""
        if not context.space_data.overlay.show_overlays:
            return
        for item in context.scene.sinew.setups:
            if item.object is None or not item.object.visible_in_viewport_get(context.space_data):
                continue
            values, key = values_of(item), properties.key_of(item)
            if values is not None:
                graph = context.evaluated_depsgraph_get()
                surface = surface_of(item.object, graph, values, self.surfaces.get(key))
                self.surfaces[key] = surface
                draw(context, surface, self.batches, (self.kind, key))

    def forget(self) -> None:
        self.surfaces.clear()
        self.batches.clear()


def surface_of(ob: Any, depsgraph: Any, values: npt.NDArray[np.float64], known: Surface | None) -> Surface:
    """An object in the colours of values (t,) from 0, blue, to 1, red. `known`: what it was before, taken over as far
    as that is the same; values are another array where they have changed."""
    evaluated = ob.evaluated_get(depsgraph)
    mesh = evaluated.data
    positions = compat.mesh_positions(mesh)
    topology = (id(values), len(mesh.vertices), len(mesh.edges), len(mesh.loops))
    if known is None or known.key[0] != topology or not np.array_equal(known.positions, positions):
        version = known.key[1] + 1 if known is not None else 0
        if known is not None and known.key[0] == topology:
            triangles, colors = known.triangles, known.colors
        else:
            triangles, colors = _triangles(mesh), _colors(mesh, values)
        known = Surface((topology, version), positions, triangles, colors, Matrix())
    known.matrix = evaluated.matrix_world.copy()
    return known


def draw(context: Any, surface: Surface, batches: dict[tuple[str, str], Batch], name: tuple[str, str]) -> None:
    """The mesh shows through, so that its form can be seen; it also hides what lies behind it."""
    batch = batches.get(name)
    shader = _gpu.shader.from_builtin("SMOOTH_COLOR")
    if batch is None or batch.key != surface.key:
        batch = Batch(surface.key)
        batch.lines = _batch_for_shader(
            shader, "TRIS", {"pos": surface.positions, "color": surface.colors}, indices=surface.triangles
        )
        batches[name] = batch
    _gpu.state.blend_set("ALPHA")
    _gpu.state.depth_test_set("LESS_EQUAL")
    with _gpu.matrix.push_pop():
        _gpu.matrix.load_matrix(_closer(context.region_data) @ surface.matrix)
        batch.lines.draw(shader)


def _closer(region: Any) -> Matrix:
    """The view, a little nearer to the eye."""
    if region.is_perspective:
        return Matrix.Scale(1.0 - _CLOSER, 4) @ region.view_matrix
    return Matrix.Translation((0.0, 0.0, _CLOSER * region.view_distance)) @ region.view_matrix


def _triangles(mesh: Any) -> npt.NDArray[np.int32]:
    mesh.calc_loop_triangles()
    flat = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", flat)
    return flat.reshape(-1, 3)


def _colors(mesh: Any, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Colours of all vertices that show. Those that a subdivision above us adds follow ours and lie between them."""
    count = len(mesh.vertices)
    weights, known = np.zeros(count), np.zeros(count, dtype=bool)
    shared = min(count, len(values))
    weights[:shared], known[:shared] = values[:shared], True
    if not known.all():
        edges = np.empty(2 * len(mesh.edges), dtype=np.int32)
        mesh.edges.foreach_get("vertices", edges)
        weights, known = spread_values(weights, known, edges.reshape(-1, 2))
    colors = weight_colors(weights, _OPACITY)
    colors[~known] = _UNKNOWN
    return colors
