"""The contacts of a bake in the 3D viewports, while their switch is on: points, the way they press, how strongly, and
where a body is let through. Nothing of it is in a render."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import gpu
import numpy as np
import numpy.typing as npt
from gpu_extras import batch as gpu_batch

from ...core.bake.look import last_change, read_points, slot_of
from ...core.base.errors import Error
from ...scene.objects import unit_of
from .. import handlers
from ..background import redraw
from ..drawing import Drawings
from . import properties, state

_gpu: Any = gpu  # the stubs know less than Blender
_batch_for_shader: Any = gpu_batch.batch_for_shader
_props: Any = bpy.props  # the stubs say that its functions return nothing

_LENGTH = 0.06  # of the body's size: a line along the strongest force
_LEAST = 0.15  # of that: along any
_POINT = 7.0  # pixels
_GAP = np.array((1.0, 1.0, 1.0, 1.0), np.float32)
_EXEMPT = np.array((1.0, 0.0, 0.8, 1.0), np.float32)
_BEHIND = 0.25  # opacity of what the mesh hides
_STOPS = np.array([(0.15, 0.35, 1.0), (1.0, 0.85, 0.1), (1.0, 0.1, 0.05)])  # weak, middle, strong


@dataclass
class Drawn:
    """Contacts of one sample in the units of the scene."""

    key: tuple[Any, ...]
    points: npt.NDArray[np.float32]  # (k, 3), those that press, then where it is let through
    point_colors: npt.NDArray[np.float32]  # (k, 4)
    lines: npt.NDArray[np.float32]  # (2 l, 3) from end to end
    line_colors: npt.NDArray[np.float32]  # (2 l, 4)
    pressing: int
    strongest: float  # newtons
    exempt: int
    batches: Any = None


_shown: set[str] = set()  # ids of setups
_drawn: dict[str, Drawn] = {}  # by the id of a setup


def force_colors(forces: Any) -> npt.NDArray[np.float32]:
    """(k, 4): blue where something hardly presses, red at the strongest of these."""
    part = np.clip(np.asarray(forces, float) / max(float(np.max(forces, initial=0.0)), 1e-30), 0.0, 1.0)
    colors = np.stack([np.interp(part, (0.0, 0.5, 1.0), _STOPS[:, axis]) for axis in range(3)], axis=1)
    return np.concatenate([colors, np.ones((len(part), 1))], axis=1).astype(np.float32)


def has_contacts(item: Any) -> bool:
    found = state.bake_of(item)
    return found is not None and bool(found[1].counts.get("collides", 0))


def drawn_of(item: Any, frame: float) -> Drawn | None:
    """What is drawn of a setup on a frame; None where there is nothing."""
    found = state.bake_of(item)
    if found is None:
        return None
    root, manifest = found
    unit = unit_of(item.id_data)
    index = slot_of(manifest, frame)
    key = (manifest.id, index, 0 if manifest.complete else last_change(root, manifest.id), unit)
    known = _drawn.get(properties.key_of(item))
    if known is None or known.key != key:
        points = read_points(root, manifest, index)
        if points is None:
            return None
        size = float(manifest.report.get("size", 0.0)) or float(np.ptp(points.places, axis=0).max(initial=1e-3))
        gap = size * float(manifest.settings.get("collision_distance", 0.0))
        known = _drawn[properties.key_of(item)] = _make(key, points, size, gap, unit)
    return known


def _make(key: tuple[Any, ...], points: Any, size: float, gap: float, unit: float) -> Drawn:
    strongest = float(np.max(points.forces, initial=0.0))
    colors = force_colors(points.forces)
    share = np.maximum(points.forces / max(strongest, 1e-30), _LEAST)[:, None]
    begins, gaps = points.places, points.places + gap * points.normals
    ends = gaps + _LENGTH * size * share * points.normals
    white = np.tile(_GAP, (len(begins), 1))
    lines = np.stack([begins, gaps, gaps, ends], axis=1).reshape(-1, 3)
    line_colors = np.stack([white, white, colors, colors], axis=1).reshape(-1, 4)
    exempt = np.tile(_EXEMPT, (len(points.exempt), 1))
    return Drawn(
        key=key,
        points=(np.concatenate([points.places, points.exempt]) / unit).astype(np.float32),
        point_colors=np.concatenate([colors, exempt]).astype(np.float32),
        lines=(lines / unit).astype(np.float32),
        line_colors=line_colors.astype(np.float32),
        pressing=len(points.forces),
        strongest=strongest,
        exempt=len(points.exempt),
    )


def told(item: Any, scene: Any) -> list[str]:
    """The same in words."""
    try:
        drawn = drawn_of(item, scene.frame_current + scene.frame_subframe)
    except Error:
        return []
    if drawn is None:
        return ["Nothing touches on this frame" if has_contacts(item) else "Bake first, with Collisions on"]
    lines = [f"{drawn.pressing} contacts, {drawn.strongest:.3g} N at most (red)"]
    return [*lines, f"{drawn.exempt} points let through (pink)"] if drawn.exempt else lines


def draw(context: Any) -> None:
    """Called by Blender for every 3D viewport."""
    if not _shown or not context.space_data.overlay.show_overlays:
        return
    scene = context.scene
    try:
        for item in scene.sinew.setups:
            shown = item.object is not None and properties.key_of(item) in _shown
            if shown and item.object.visible_in_viewport_get(context.space_data):
                _draw(drawn_of(item, scene.frame_current + scene.frame_subframe))
    except Error:  # a bake folder that is lost or damaged: the panel says it
        pass


def _draw(drawn: Drawn | None) -> None:
    if drawn is None or not len(drawn.points):
        return
    shader = _gpu.shader.from_builtin("SMOOTH_COLOR")
    if drawn.batches is None:
        drawn.batches = [
            _batch_for_shader(shader, kind, {"pos": places, "color": colors * faint})
            for faint in np.array([(1.0, 1.0, 1.0, _BEHIND), (1.0, 1.0, 1.0, 1.0)], np.float32)
            for kind, places, colors in (
                ("LINES", drawn.lines, drawn.line_colors),
                ("POINTS", drawn.points, drawn.point_colors),
            )
            if len(places)
        ]
    half = len(drawn.batches) // 2
    _gpu.state.blend_set("ALPHA")
    _gpu.state.point_size_set(_POINT)
    for tested, batches in (("NONE", drawn.batches[:half]), ("LESS_EQUAL", drawn.batches[half:])):
        _gpu.state.depth_test_set(tested)
        for batch in batches:
            batch.draw(shader)


def _switch(item: Any, value: bool) -> None:
    (_shown.add if value else _shown.discard)(properties.key_of(item))
    redraw()


def _make_properties() -> dict[str, Any]:
    """The switch of the session, which no file keeps and no undo touches."""
    return {
        "show_contacts": _props.BoolProperty(
            name="Show Contacts",
            description="Draw where the baked body touches something on the current frame: a line points the way it is "
            "pressed, white over the gap, then blue where it is pressed weakly and red where strongly. Pink is let "
            "through",
            options=set(),
            get=lambda item: properties.key_of(item) in _shown,
            set=_switch,
        )
    }


def forget(*_: object) -> None:
    _shown.clear()
    _drawn.clear()


_HANDLERS = {"load_pre": forget}
_drawings = Drawings(_shown.clear)


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
