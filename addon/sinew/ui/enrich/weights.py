"""A preview of what a bake would follow, as colours on the mesh as it shows now. No vertex group is made for it.

    refresh     a timer, while the switch is on: looks whether mesh or group have changed, and has the weights computed
    surface_of  the overlay, at every redraw: puts the weights on the evaluated mesh
"""

from __future__ import annotations

from typing import Any

import bpy

from ...scene import compat, fingerprint
from ...setups.flesh.body import follow_group, look_at, unpainted
from .. import job_operator
from ..background import results
from ..flesh import colored
from ..flesh.colored import Surface
from ..setup import properties
from . import cage, view

_WHAT = "Finding the weights"
_INTERVAL = 0.5  # seconds between two looks at mesh and group

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
        body = look_at(ob.name, properties.values_of(item), weights_alone=True)
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
    known = _surfaces.get(properties.key_of(item))
    _surfaces[properties.key_of(item)] = surface = colored.surface_of(item.object, depsgraph, follow, known)
    return surface


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
