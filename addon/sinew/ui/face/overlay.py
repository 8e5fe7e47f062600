"""Draws what is bone and what is flesh, and how stiff flesh is in the expression of the current frame, as colours on
the face. Nothing of it is in a render."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from ...core.bake.store import Store
from ...core.base.errors import Error
from ...core.methods.face.materials import FACTORS, KeyMaterial, parse, stiffness_of_skin, strain_of_skin
from ...scene import compat, groups, keys
from .. import handlers
from ..background import results
from ..drawing import Drawings
from ..flesh import colored
from ..setup import properties, state
from . import find, view

Floats = npt.NDArray[np.float64]

_THIN = 0.5  # the colour of the thinnest flesh; the deepest has 0, bone has 1


@dataclass
class _Skin:
    """What of a face its materials are told by, which stays from frame to frame."""

    key: tuple[Any, ...]
    rows: tuple[KeyMaterial, ...]
    where: Floats  # (k, t)
    rest: Floats  # (t, 3)
    triangles: npt.NDArray[np.int32]


@dataclass
class _Session:
    """By the id of the setup."""

    skins: dict[str, _Skin] = field(default_factory=dict)
    values: dict[str, Floats] = field(default_factory=dict)
    drawn: colored.Colored = field(default_factory=lambda: colored.Colored("face"))


session = _Session()


def values_of(item: Any) -> Floats | None:
    """What is shown of a face, (t,) from 0, blue, to 1, red; None where nothing is, or not yet."""
    shown = view.of(item)
    if not shown or item.object is None or item.object.mode == "EDIT":
        return None
    new = bone_of(item) if shown == view.BONE else _stiffness_of(item)
    old = session.values.get(properties.key_of(item))
    if new is not None and (old is None or not np.array_equal(new, old)):
        session.values[properties.key_of(item)] = old = new
    return None if new is None else old


def bone_of(item: Any) -> Floats | None:
    """Bone is red, flesh the bluer the deeper it is: as found just now, or else as the last bake has it."""
    depth = find.depth_of(item)
    if depth is not None:
        return np.where(depth > 0.0, _THIN * (1.0 - depth / max(depth.max(), 1e-300)), 1.0)
    baked = state.bake_of(item)
    if baked is None:
        return None
    root, manifest = baked

    def prepare() -> Any:
        def read(_: Any) -> Floats:
            with Store.open(root, manifest.id) as store:
                return np.where(store.constant("rigid") == -1, store.constant("follow"), 1.0)

        return read

    found: Floats | None = results.get("Reading the face", properties.key_of(item), manifest.id, prepare)
    return found


def _stiffness_of(item: Any) -> Floats | None:
    """As stiff as at rest is green, 20 times as stiff red, a tenth as stiff nearly blue."""
    try:
        skin = _skin_of(item)
    except Error:  # the panel says it
        return None
    ob, settings = item.object, properties.settings_of(item)
    blocks = ob.data.shape_keys.key_blocks if skin.rows else {}
    values = np.array([blocks[row.key].value for row in skin.rows])
    strain = None
    if settings.tighten > 0.0:
        posed = compat.mesh_positions(ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data).astype(np.float64)
        if len(posed) >= len(skin.rest):
            strain = strain_of_skin(skin.rest, skin.triangles, posed[: len(skin.rest)])
    stiffness = stiffness_of_skin(skin.rows, skin.where, values, settings.tighten, strain)
    shown: Floats = np.clip(0.5 + 0.5 * np.log(stiffness) / np.log(FACTORS[1]), 0.0, 1.0)
    return shown


def _skin_of(item: Any) -> _Skin:
    ob, text = item.object, properties.settings_of(item).key_stiffness
    key = (text, ob.data.name, len(ob.data.vertices), view.turned[0])
    known = session.skins.get(properties.key_of(item))
    if known is None or known.key != key:
        names = keys.names_of(ob)
        rows = tuple(row for row in parse(text) if row.key in names)
        rest, moves = keys.plain_moves(ob)
        if not len(rest):
            rest = compat.mesh_positions(ob.data)
        where = [_acts(ob, row, moves[names.index(row.key)]) for row in rows]
        ob.data.calc_loop_triangles()
        triangles = np.empty(3 * len(ob.data.loop_triangles), np.int32)
        ob.data.loop_triangles.foreach_get("vertices", triangles)
        acts = np.array(where, np.float64).reshape(len(rows), len(rest))
        known = _Skin(key, rows, acts, rest.astype(np.float64), triangles.reshape(-1, 3))
        session.skins[properties.key_of(item)] = known
    return known


def _acts(ob: Any, row: KeyMaterial, moves: npt.NDArray[np.float32]) -> Floats:
    """(t,) where the material of a key acts: in its group, or where the key moves the skin."""
    if row.group:
        return groups.plain_weights(ob, row.group)
    length = np.linalg.norm(moves.astype(np.float64), axis=1)
    acts: Floats = np.clip(2.0 * length / max(length.max(), 1e-300), 0.0, 1.0)
    return acts


def draw(context: Any) -> None:
    """Called by Blender for every 3D viewport."""
    if view.shown:
        session.drawn.draw(context, values_of)


def forget(*_: object) -> None:
    view.hide_all()
    session.skins.clear()
    session.values.clear()
    session.drawn.forget()


_drawings = Drawings(view.hide_all)
_HANDLERS = {"load_pre": forget}


def register() -> None:
    _drawings.add(bpy.types.SpaceView3D, draw, "POST_VIEW")
    handlers.add(_HANDLERS)


def unregister() -> None:
    _drawings.remove()
    handlers.remove(_HANDLERS)
    forget()
