"""Draws cages and follow weights into the 3D viewports, while their switches are on. Nothing of it is in a render."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import gpu
import numpy as np
import numpy.typing as npt
from gpu_extras import batch as gpu_batch

from ...core.bake.look import last_change, slot_of
from ...core.base.errors import Error
from ...core.cage.view import CageView, all_edges, weight_colors
from ...core.flesh.stored_cage import load_view, read_shape
from ...scene.objects import unit_of
from .. import handlers
from ..background import results
from ..drawing import Drawings
from ..flesh import colored
from ..flesh.colored import Batch
from ..setup import properties, state
from . import cage, trial, view, weights

_gpu: Any = gpu  # the stubs know less than Blender
_batch_for_shader: Any = gpu_batch.batch_for_shader

_BEHIND = 0.12  # opacity of what the mesh hides


@dataclass
class Wire:
    """Lines of a cage in the units of the scene."""

    key: tuple[Any, ...]
    positions: npt.NDArray[np.float32]  # (n, 3)
    edges: npt.NDArray[np.int32]  # (k, 2)
    weights: npt.NDArray[np.float64]  # (n,)


_wires: dict[str, Wire] = {}  # by the id of the setup
_batches: dict[tuple[str, str], Batch] = {}  # by what it shows, and that id


def wire_of(item: Any, frame: float) -> Wire | None:
    """The cage of a setup on a frame, as its switches say; None where there is nothing to draw (yet)."""
    wanted = view.of(item)
    baked = state.bake_of(item)
    if wanted.shape == view.REST or baked is None:
        return _tried_wire(item, wanted, frame) or _rest_wire(item, wanted)
    root, manifest = baked
    shown = _cage_of_bake(item)
    if shown is None or len(shown.vertices) != manifest.counts.get("cage_vertices"):
        return None
    name = wanted.shape.lower()
    index = slot_of(manifest, frame)
    changed = 0 if manifest.complete else last_change(root, manifest.id)
    unit = unit_of(item.id_data)
    key = (manifest.id, name, index, changed, wanted.inside, unit)
    known = _wires.get(properties.key_of(item))
    if known is None or known.key != key:
        positions = read_shape(root, manifest, name, index)
        if positions is None:
            return None
        known = Wire(key, (positions / unit).astype(np.float32), _edges(shown, wanted.inside), shown.weights)
        _wires[properties.key_of(item)] = known
    return known


def _tried_wire(item: Any, wanted: view.View, frame: float) -> Wire | None:
    """The fitted cage of a trial, on its own frames."""
    built, fit = cage.find(item), trial.fit_at(item, frame) if wanted.shape == view.FITTED else None
    if built is None or fit is None:
        return None
    unit = unit_of(item.id_data)
    key = (id(fit), wanted.inside, unit)
    known = _wires.get(properties.key_of(item))
    if known is None or known.key != key:
        edges = _edges(built.view, wanted.inside)
        known = Wire(key, (fit.positions / unit).astype(np.float32), edges, built.view.weights)
        _wires[properties.key_of(item)] = known
    return known


def _rest_wire(item: Any, wanted: view.View) -> Wire | None:
    """The cage at rest, carried along with the object."""
    built = cage.find(item)
    shown = built.view if built is not None else _cage_of_bake(item)
    if shown is None:
        return None
    unit = unit_of(item.id_data)
    world = np.array(item.object.matrix_world, dtype=np.float64)
    key = (id(shown), world.tobytes(), wanted.inside, unit)
    known = _wires.get(properties.key_of(item))
    if known is None or known.key != key:
        now = world.copy()
        now[:3] *= unit
        moved = now @ np.linalg.inv(shown.matrix)
        positions = (shown.vertices @ moved[:3, :3].T + moved[:3, 3]) / unit
        known = Wire(key, positions.astype(np.float32), _edges(shown, wanted.inside), shown.weights)
        _wires[properties.key_of(item)] = known
    return known


def _cage_of_bake(item: Any) -> CageView | None:
    baked = state.bake_of(item)
    if baked is None:
        return None
    root, manifest = baked

    def prepare() -> Any:
        return lambda monitor: load_view(root, manifest.id)

    found: CageView | None = results.get("Reading the cage", properties.key_of(item), manifest.id, prepare)
    return found


def _edges(shown: CageView, inside: bool) -> npt.NDArray[np.int32]:
    return all_edges(shown.tets) if inside else shown.outside


def draw(context: Any) -> None:
    """Called by Blender for every 3D viewport."""
    if not view.is_anything_shown() or not context.space_data.overlay.show_overlays:
        return
    for item in context.scene.sinew.setups:
        if item.object is not None and item.object.visible_in_viewport_get(context.space_data):
            _draw_item(context, item)


def _draw_item(context: Any, item: Any) -> None:
    wanted = view.of(item)
    if wanted.weights:
        weights.watch()
        _draw_weights(context, item)
    if wanted.cage:
        _draw_cage(context, item)


def _draw_cage(context: Any, item: Any) -> None:
    scene = context.scene
    try:
        wire = wire_of(item, scene.frame_current + scene.frame_subframe)
    except Error:  # a bake folder that is lost or damaged: the panel says it
        return
    if wire is None:
        return
    batch = _batches.get(("cage", properties.key_of(item)))
    shader = _gpu.shader.from_builtin("SMOOTH_COLOR")
    if batch is None or batch.key != wire.key:
        batch = Batch(wire.key)
        batch.lines, batch.faint = (
            _batch_for_shader(
                shader,
                "LINES",
                {"pos": wire.positions, "color": weight_colors(wire.weights, alpha)},
                indices=wire.edges,
            )
            for alpha in (1.0, _BEHIND)
        )
        _batches[("cage", properties.key_of(item))] = batch
    _gpu.state.blend_set("ALPHA")
    _gpu.state.depth_test_set("NONE")
    batch.faint.draw(shader)
    _gpu.state.depth_test_set("LESS_EQUAL")
    batch.lines.draw(shader)


def _draw_weights(context: Any, item: Any) -> None:
    surface = weights.surface_of(item, context.evaluated_depsgraph_get())
    if surface is None:
        return
    colored.draw(context, surface, _batches, ("weights", properties.key_of(item)))


def forget() -> None:
    _wires.clear()
    _batches.clear()
    weights.forget()


def _before_load(*_: object) -> None:
    forget()
    view.forget()


_HANDLERS = {"load_pre": _before_load}
_drawings = Drawings(view.hide_all)


def register() -> None:
    _drawings.add(bpy.types.SpaceView3D, draw, "POST_VIEW")
    handlers.add(_HANDLERS)


def unregister() -> None:
    _drawings.remove()
    handlers.remove(_HANDLERS)
    weights.unregister()
    forget()
    view.forget()
