"""What the tool Edit Motion draws: handles, the way of the chosen one before and after, the motion without the edit as
a ghost, and ticks in the timeline. Nothing of it is in a render."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass, field
from typing import Any

import blf
import bpy
import gpu
import numpy as np
from bpy_extras import view3d_utils
from gpu_extras import batch as gpu_batch

from ...core.base.errors import Error
from ...scene import compat
from ...scene.objects import unit_of
from .. import handlers
from ..drawing import Drawings
from ..setup import live, operators
from . import stored, tool

_gpu: Any = gpu  # the stubs know less than Blender
_blf: Any = blf
_batch_for_shader: Any = gpu_batch.batch_for_shader

ORANGE, GREY, WHITE, RED = (1.0, 0.55, 0.1, 1.0), (0.6, 0.6, 0.6, 0.8), (1.0, 1.0, 1.0, 1.0), (1.0, 0.2, 0.2, 1.0)
_GHOST = (0.55, 0.65, 0.85, 0.18)
_SIZE = 6.0  # pixels: radius of a handle
_AROUND = 24  # frames of the way before and after the handle
_TICK, _AT_ONCE = 0.04, 3  # the way is made so many frames at a time
_MISSES = 1e-3  # of size: a handle that misses by more is red


@dataclass
class Way:
    """Of the chosen handle: world units, by frame."""

    key: Any = None
    before: dict[int, Any] = field(default_factory=dict)
    after: dict[int, Any] = field(default_factory=dict)
    frames: list[int] = field(default_factory=list)


class _Drawn:
    way = Way()
    handles: dict[Any, Any] = {}  # places by what they depend on
    ghost: Any = None
    ghost_key: Any = None


drawn = _Drawn()
ghosts: set[str] = set()  # names of objects whose input is shown beside them
last: dict[str, Any] = {}  # what was drawn last, for tests
ticks: list[float] = []  # the same in the timeline


def redraw() -> None:
    manager = bpy.context.window_manager
    for window in manager.windows if manager is not None else ():
        for area in window.screen.areas:
            if area.type in ("VIEW_3D", "DOPESHEET_EDITOR", "PROPERTIES"):
                area.tag_redraw()


def missed_text(edited: Any) -> str:
    """What is said where handles do not reach what they pull to."""
    worst = max(edited.landed.missed, default=0.0)
    count = len(edited.edits.acting)
    why = "handles pull against each other" if count > 1 else "it is out of reach"
    return f"A handle misses its place by {100 * worst / edited.size:.2g} % of size: {why}"


def _key(item: Any) -> Any:
    now = live.session.live
    return (now.setup_id, now.bake, now.shown[1:] if now.shown else ()) if now is not None else None


def places_of(item: Any, edited: Any) -> list[tuple[int, Any]]:
    """Where each handle is at its frame, in the scene's units."""
    key = (_key(item), stored.edits_of(item).to_text())
    if drawn.handles.get("key") != key:
        unit = unit_of(item.id_data)
        found = [
            (number, edited.place(handle.frame, handle.vertices) / unit)
            for number, handle in enumerate(stored.edits_of(item).handles)
            if max(handle.vertices) < edited.vertex_count
        ]
        drawn.handles = {"key": key, "found": found}
    return list(drawn.handles["found"])


def _wanted_way(item: Any, edited: Any) -> Way | None:
    handles = stored.edits_of(item).handles
    if not 0 <= item.handles_index < len(handles):
        return None
    handle = handles[item.handles_index]
    if max(handle.vertices) >= edited.vertex_count:
        return None
    key = (_key(item), stored.edits_of(item).to_text(), item.handles_index)
    if drawn.way.key != key:
        first, end = edited.span
        at = round(handle.frame)
        frames = [frame for frame in range(at - _AROUND, at + _AROUND + 1) if first <= frame <= end]
        frames.sort(key=lambda frame: abs(frame - at))
        # Where the same point is pulled otherwise, its way without the edit is as it was.
        same = drawn.way.key is not None and drawn.way.key[0] == key[0] and drawn.way.key[2] == key[2]
        drawn.way = Way(key, drawn.way.before if same else {}, {}, frames)
    return drawn.way


def _fill_way() -> float | None:
    """A few frames of the way, while nobody drags."""
    item = _item()
    edited = stored.opened(item) if item is not None else None
    way = _wanted_way(item, edited) if edited is not None else None
    if way is None or edited is None or item is None:
        return None
    if edited.goes_on:
        return 4 * _TICK
    handle, unit = stored.edits_of(item).handles[item.handles_index], unit_of(item.id_data)
    with contextlib.suppress(Error):
        for frame in [frame for frame in way.frames if frame not in way.after][:_AT_ONCE]:
            if frame not in way.before:
                way.before[frame] = edited.place(frame, handle.vertices, edited=False) / unit
            way.after[frame] = edited.place(frame, handle.vertices) / unit
    redraw()
    return _TICK if len(way.after) < len(way.frames) else None


def _item() -> Any | None:
    context = bpy.context
    return operators.active_item(context) if context.object is not None else None


def _shown_item(context: Any) -> tuple[Any, Any] | None:
    """The setup that is edited now, and its edits on the open bake."""
    if compat.is_rendering() or not tool.is_on() or context.object is None:
        return None
    item = operators.active_item(context)
    if item is None or not stored.can_be_edited(item):
        return None
    edited = stored.opened(item)
    if edited is None:
        if stored.edits_of(item).handles and live.session.live is None:
            tool.resume_soon()
        return None
    return item, edited


def _draw_world(context: Any) -> None:
    """The ways and the ghost, in the world."""
    if not context.space_data.overlay.show_overlays:
        return
    found = _shown_item(context)
    last.clear()
    if found is None:
        return
    item, edited = found
    _gpu.state.blend_set("ALPHA")
    if context.object.name in ghosts:
        _draw_ghost(context, item, edited)
    way = _wanted_way(item, edited)
    if way is None:
        return
    if len(way.after) < len(way.frames) and not bpy.app.timers.is_registered(_fill_way):
        bpy.app.timers.register(_fill_way, first_interval=_TICK)
    _gpu.state.depth_test_set("NONE")
    for points, color in ((way.before, GREY), (way.after, ORANGE)):
        line = [points[frame] for frame in sorted(points)]
        if len(line) > 1:
            _draw_line(line, color)
    last.update(before=len(way.before), after=len(way.after))


def _draw_line(points: list[Any], color: Any) -> None:
    shader = _gpu.shader.from_builtin("POLYLINE_UNIFORM_COLOR")
    batch = _batch_for_shader(shader, "LINE_STRIP", {"pos": [tuple(map(float, point)) for point in points]})
    shader.uniform_float("viewportSize", _gpu.state.viewport_get()[2:])
    shader.uniform_float("lineWidth", 2.0 * bpy.context.preferences.system.ui_scale)
    shader.uniform_float("color", color)
    batch.draw(shader)


def _draw_ghost(context: Any, item: Any, edited: Any) -> None:
    """The surface without the edit."""
    now = live.session.live
    if now is None or now.results is None:
        return
    key = (_key(item), live.index_now(context.scene))
    shader = _gpu.shader.from_builtin("UNIFORM_COLOR")
    if drawn.ghost_key != key:
        points = edited.unedited(live.index_now(context.scene)) / unit_of(context.scene)
        triangles = now.results.shot.triangles
        drawn.ghost = _batch_for_shader(shader, "TRIS", {"pos": points.astype(np.float32)}, indices=triangles)
        drawn.ghost_key = key
    _gpu.state.depth_test_set("LESS_EQUAL")
    shader.uniform_float("color", _GHOST)
    drawn.ghost.draw(shader)


def _draw_pixels(context: Any) -> None:
    """The handles: those of this frame filled, others hollow with their frame."""
    if not context.space_data.overlay.show_overlays:
        return
    found = _shown_item(context)
    if found is None:
        return
    item, edited = found
    scale, region, view = context.preferences.system.ui_scale, context.region, context.region_data
    now = context.scene.frame_current + context.scene.frame_subframe
    edits = stored.edits_of(item)
    missed = dict(zip(edits.acting, edited.landed.missed, strict=False))
    _gpu.state.blend_set("ALPHA")
    filled = hollow = 0
    for number, place in places_of(item, edited):
        handle = edits.handles[number]
        at = view3d_utils.location_3d_to_region_2d(region, view, place)
        if at is None:
            continue
        is_now = handle.frame - 1e-3 <= now <= (handle.until or handle.frame) + 1e-3
        color = RED if missed.get(handle, 0.0) > _MISSES * edited.size else ORANGE
        if not handle.acts:
            color = GREY
        if number == item.handles_index:
            _draw_disc(at, scale * (_SIZE + 2.5), WHITE, filled=False)
        _draw_disc(at, scale * _SIZE, color, filled=is_now)
        filled, hollow = filled + is_now, hollow + (not is_now)
        if not is_now:
            _blf.position(0, at[0] + scale * (_SIZE + 3), at[1] - 4 * scale, 0.0)
            compat.set_font_size(_blf, 11.0 * scale)
            _blf.color(0, *color)
            _blf.draw(0, f"{handle.frame:g}")
    last.update(filled=filled, hollow=hollow)


def _draw_disc(at: Any, radius: float, color: Any, *, filled: bool) -> None:
    turns = [2.0 * math.pi * k / 24 for k in range(25)]
    ring = [(at[0] + radius * math.cos(a), at[1] + radius * math.sin(a), 0.0) for a in turns]
    shader = _gpu.shader.from_builtin("UNIFORM_COLOR")
    if filled:
        points = [(at[0], at[1], 0.0), *ring]
        batch = _batch_for_shader(shader, "TRIS", {"pos": points}, indices=[(0, k, k + 1) for k in range(1, 25)])
    else:
        inner = [(at[0] + (radius - 2.0) * math.cos(a), at[1] + (radius - 2.0) * math.sin(a), 0.0) for a in turns]
        points = [*ring, *inner]
        quads = [(k, k + 1, 25 + k) for k in range(24)] + [(k + 1, 26 + k, 25 + k) for k in range(24)]
        batch = _batch_for_shader(shader, "TRIS", {"pos": points}, indices=quads)
    shader.uniform_float("color", color)
    batch.draw(shader)


def _draw_timeline(context: Any) -> None:
    """A diamond at the frame of each handle, and a bar while it holds."""
    if compat.is_rendering() or context.space_data.mode != "TIMELINE" or context.object is None:
        return
    item = operators.active_item(context)
    if item is None or not stored.can_be_edited(item):
        return
    handles = stored.edits_of(item).handles
    ticks[:] = [handle.frame for handle in handles]
    scale, to_region = context.preferences.system.ui_scale, context.region.view2d.view_to_region
    _gpu.state.blend_set("ALPHA")
    shader = _gpu.shader.from_builtin("UNIFORM_COLOR")
    for handle in handles:
        x, y, size = to_region(handle.frame, 0.0, clip=False)[0], 26.0 * scale, 4.5 * scale
        points = [(x - size, y, 0.0), (x, y + size, 0.0), (x + size, y, 0.0), (x, y - size, 0.0)]
        faces = [(0, 1, 2), (0, 2, 3)]
        if handle.until is not None:
            end = to_region(handle.until, 0.0, clip=False)[0]
            points += [(x, y - 1, 0.0), (end, y - 1, 0.0), (end, y + 1, 0.0), (x, y + 1, 0.0)]
            faces += [(4, 5, 6), (4, 6, 7)]
        batch = _batch_for_shader(shader, "TRIS", {"pos": points}, indices=faces)
        shader.uniform_float("color", ORANGE if handle.acts else GREY)
        batch.draw(shader)


def forget(*_: object) -> None:
    drawn.way, drawn.handles, drawn.ghost, drawn.ghost_key = Way(), {}, None, None


def _before_load(*_: object) -> None:
    forget()
    ghosts.clear()


_HANDLERS = {"load_pre": _before_load}


def register() -> None:
    handlers.add(_HANDLERS)
    if bpy.app.background:
        return
    space, sheet = bpy.types.SpaceView3D, bpy.types.SpaceDopeSheetEditor
    _drawings.add(space, _draw_world, "POST_VIEW")
    _drawings.add(space, _draw_pixels, "POST_PIXEL")
    _drawings.add(sheet, _draw_timeline, "POST_PIXEL")


def unregister() -> None:
    handlers.remove(_HANDLERS)
    _drawings.remove()
    if bpy.app.timers.is_registered(_fill_way):
        bpy.app.timers.unregister(_fill_way)
    forget()


_drawings = Drawings(unregister)
