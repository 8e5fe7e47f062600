"""The patches that follow on average in the 3D viewports, while their switch is on: those of the last bake, each in a
colour of its own, the more of it the more a vertex belongs to it. Nothing of it is in a render."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...core.bake.store import Store
from ...core.geometry.sparse import Rows
from .. import handlers
from ..background import redraw, results
from ..drawing import Drawings
from ..flesh import colored
from ..setup import properties, state

Floats = npt.NDArray[np.float64]

_props: Any = bpy.props  # the stubs say that its functions return nothing

_GOLDEN = 0.6180339887498949  # of the range of colours from one patch to the next: those beside each other differ
_BETWEEN = 0.5  # the colour of what is in no patch


@dataclass
class _Session:
    """By the id of the setup."""

    shown: set[str] = field(default_factory=set)
    drawn: colored.Colored = field(default_factory=lambda: colored.Colored("patches"))


session = _Session()


def colors_of(rows: Rows, count: int) -> Floats:
    """(count,) of vertices, from 0 to 1: that of the row which a vertex counts most in, as far as it does."""
    row = np.repeat(np.arange(rows.count), np.diff(rows.start))
    largest = np.zeros(rows.count)
    np.maximum.at(largest, row, np.abs(rows.weights))
    share = np.abs(rows.weights) / np.maximum(largest, 1e-300)[row]
    order = np.argsort(share, kind="stable")  # the greatest share is written last
    values = np.full(count, _BETWEEN)
    values[rows.points[order]] = (_GOLDEN * (1 + row[order])) % 1.0
    return values


def values_of(item: Any) -> Floats | None:
    """What is shown of a setup; None where nothing is, or not yet."""
    key = properties.key_of(item)
    baked = state.bake_of(item) if key in session.shown and item.object is not None else None
    if baked is None or not baked[1].counts.get("rows", 0):
        return None
    root, manifest = baked

    def prepare() -> Any:
        def read(_: Any) -> Floats:
            with Store.open(root, manifest.id) as store:
                rows = Rows(*(store.constant(f"row_{name}") for name in ("start", "points", "weights")))
                return colors_of(rows, manifest.vertices)

        return read

    found: Floats | None = results.get("Reading the patches", key, manifest.id, prepare)
    return found


def has_patches(item: Any) -> bool:
    found = state.bake_of(item)
    return found is not None and bool(found[1].counts.get("rows", 0))


def draw(context: Any) -> None:
    """Called by Blender for every 3D viewport."""
    if session.shown:
        session.drawn.draw(context, values_of)


def _switch(item: Any, value: bool) -> None:
    (session.shown.add if value else session.shown.discard)(properties.key_of(item))
    redraw()


def _make_properties() -> dict[str, Any]:
    """The switch of the session, which no file keeps and no undo touches."""
    return {
        "show_patches": _props.BoolProperty(
            name="Show Patches",
            description="Colour the patches of the last bake that follow on average",
            options=set(),
            get=lambda item: properties.key_of(item) in session.shown,
            set=_switch,
        )
    }


def forget(*_: object) -> None:
    session.shown.clear()
    session.drawn.forget()


_HANDLERS = {"load_pre": forget}
_drawings = Drawings(session.shown.clear)


def register() -> None:
    """Before the properties of a setup are made."""
    properties.further.append(_make_properties)
    _drawings.add(bpy.types.SpaceView3D, draw, "POST_VIEW")
    handlers.add(_HANDLERS)


def unregister() -> None:
    _drawings.remove()
    handlers.remove(_HANDLERS)
    properties.further.remove(_make_properties)
    forget()
