"""The baked range of the active object as a bar at the foot of the timeline, as Blender draws its own caches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bpy
import gpu
from gpu_extras import batch as gpu_batch

from ... import setups
from ...core.base.errors import Error
from ...scene import compat, setup
from .. import job_operator
from ..drawing import Drawings
from . import operators, properties, state

_gpu: Any = gpu  # the stubs know less than Blender
_batch_for_shader: Any = gpu_batch.batch_for_shader

_FOOT, _HEIGHT = 13, 5  # pixels: above the scroll bar
_COLORS = {True: (0.93, 0.45, 0.33, 0.9), False: (0.6, 0.6, 0.6, 0.6)}  # what is up to date, and what is not
_FAINT = 0.3  # of their opacity, for frames that are still to come


@dataclass(frozen=True)
class Span:
    """Frames of a bake: from `start` on, those before `done` are there, those up to `end` are to come."""

    start: int
    done: int
    end: int
    is_fresh: bool


_known: dict[str, Span] = {}  # by the name of the object, for what must not wait: playback
last: list[Span] = []  # what was drawn last, for tests


def span_of(ob: Any, scene: Any) -> Span | None:
    """What is baked of an object; None without a bake."""
    entry, item = setup.find_of(ob, scene), properties.find(scene, ob)
    if entry is None or item is None or not entry.bake:
        return None
    root = setups.bake_root(ob, entry, state.target())
    try:
        manifest = state.manifest_of(root, entry.bake)
    except Error:
        return None
    start, end = manifest.frame_start, manifest.frame_end
    if not manifest.complete and job_operator.is_running(ob.name):
        return Span(start, start + job_operator.done_frames(ob.name), end, True)
    kind = state.of(item).kind
    done = end + 1 if manifest.complete else start + state.done_frames(root / entry.bake, manifest)
    return None if kind == state.LOST else Span(start, done, end, kind != state.STALE)


def spans(context: Any) -> list[Span]:
    """Of the active object, of the body that carries it, or of the meshes of the active rig."""
    ob, scene = context.object, context.scene
    if ob is None:
        return []
    found = []
    for one in operators.bodies(context) or [setups.carried_by(ob, scene) or ob]:
        is_playing = context.screen is not None and context.screen.is_animation_playing
        span = _known.get(one.name) if is_playing else span_of(one, scene)
        if span is None:
            _known.pop(one.name, None)
        else:
            _known[one.name] = span
            found.append(span)
    return found


def draw(context: Any) -> None:
    """Called by Blender for every timeline."""
    if compat.is_rendering() or context.space_data.mode != "TIMELINE":
        return
    last[:] = spans(context)
    for number, span in enumerate(last):
        _draw_span(context, span, number)


def _draw_span(context: Any, span: Span, number: int) -> None:
    scale = context.preferences.system.ui_scale
    to_region = context.region.view2d.view_to_region
    left, middle, right = (
        to_region(frame - 0.5, 0.0, clip=False)[0] for frame in (span.start, span.done, span.end + 1)
    )
    bottom = scale * (_FOOT + number * (_HEIGHT + 1))
    color = _COLORS[span.is_fresh]
    _gpu.state.blend_set("ALPHA")
    _draw_box(left, middle, bottom, bottom + scale * _HEIGHT, color)
    _draw_box(middle, right, bottom, bottom + scale * _HEIGHT, (*color[:3], _FAINT * color[3]))


def _draw_box(left: float, right: float, bottom: float, top: float, color: tuple[float, ...]) -> None:
    if right <= left:
        return
    shader = _gpu.shader.from_builtin("UNIFORM_COLOR")
    corners = ((left, bottom, 0.0), (right, bottom, 0.0), (right, top, 0.0), (left, top, 0.0))
    batch = _batch_for_shader(shader, "TRIS", {"pos": corners}, indices=((0, 1, 2), (0, 2, 3)))
    shader.uniform_float("color", color)
    batch.draw(shader)


def register() -> None:
    _drawings.add(bpy.types.SpaceDopeSheetEditor, draw, "POST_PIXEL")


def unregister() -> None:
    _drawings.remove()
    _known.clear()


_drawings = Drawings(unregister)
