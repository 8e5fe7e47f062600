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
from mathutils import Vector

from ...core.bake.told_edits import percent
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
_GHOST, _RING = (0.55, 0.65, 0.85, 0.18), (1.0, 1.0, 1.0, 0.5)
_AXIS_COLORS = ((1.0, 0.2, 0.32, 0.8), (0.55, 0.86, 0.0, 0.8), (0.16, 0.56, 1.0, 0.8))
_AXIS_ENDS = (-1e3, 1e3)  # units
_SIZE = 6.0  # pixels: radius of a handle
_AROUND = 24  # frames of the way before and after the handle
_TICK, _AT_ONCE = 0.04, 3  # the way is made so many frames at a time
_MISSES = 1e-3  # of size: a handle that misses by more is red


@dataclass
class Way:
    """Of the chosen handle: world units, by frame."""

    key: Any = None
    given: Any = None
    before: dict[int, Any] = field(default_factory=dict)
    after: dict[int, Any] = field(default_factory=dict)
    frames: list[int] = field(default_factory=list)


@dataclass
class Pulled:
    """What the mouse has in its hand: world units."""

    place: Any
    radius: float
    axis: int  # -1: none


class _Drawn:
    way = Way()
    pulled: Pulled | None = None
    places: dict[tuple[int, float], Any] = {}  # of handles by number and frame ...
    places_key: Any = None  # ... and what they depend on
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
    return f"A handle misses its place by {percent(worst / edited.size)} of size: {why}"


def _key(item: Any) -> Any:
    """What all that is drawn depends on."""
    now = live.session.live
    return (now.setup_id, now.bake, now.made) if now is not None else None


def _given(item: Any) -> Any:
    """What the motion without the handles depends on."""
    now, edits = live.session.live, stored.edits_of(item)
    if now is None or now.results is None:
        return None
    values = {name: value for name, value in now.results.shot.settings.as_dict().items() if name != stored.SETTING}
    return now.setup_id, now.bake, str(values), edits.below


def places_of(item: Any, edited: Any) -> list[tuple[int, Any]]:
    """Where each handle is while it pulls, now or at its frame, in the scene's units."""
    edits, scene = stored.edits_of(item), item.id_data
    now, unit = float(scene.frame_current + scene.frame_subframe), unit_of(scene)
    key, found = (_key(item), edits.to_text()), []
    if live.is_busy():  # where they were
        known = {at[0]: place for at, place in drawn.places.items()}
        return [(number, known[number]) for number in range(len(edits.handles)) if number in known]
    if drawn.places_key != key:
        # Of all handles only the one that is dragged goes elsewhere.
        is_kept = edited.goes_on and drawn.places_key is not None
        drawn.places = {at: place for at, place in drawn.places.items() if is_kept and at[0] != item.handles_index}
        drawn.places_key = key
    for number, handle in enumerate(edits.handles):
        at = (number, now if handle.covers(now) else handle.frame)
        if max(handle.vertices) < edited.vertex_count:
            if at not in drawn.places:
                drawn.places[at] = edited.place(at[1], handle.vertices) / unit
            found.append((number, drawn.places[at]))
    return found


def _wanted_way(item: Any, edited: Any) -> Way | None:
    handles = stored.edits_of(item).handles
    if not 0 <= item.handles_index < len(handles):
        return None
    handle = handles[item.handles_index]
    if max(handle.vertices) >= edited.vertex_count:
        return None
    if live.is_busy():
        return drawn.way
    key = (_key(item), stored.edits_of(item).to_text(), item.handles_index)
    if drawn.way.key != key:
        first, end = edited.span
        at = round(handle.frame)
        frames = [frame for frame in range(at - _AROUND, at + _AROUND + 1) if first <= frame <= end]
        frames.sort(key=lambda frame: abs(frame - at))
        # Where the same point is pulled otherwise, its way without the edit is as it was.
        given = (_given(item), handle.vertices, at)
        drawn.way = Way(key, given, drawn.way.before if drawn.way.given == given else {}, {}, frames)
    return drawn.way


def _fill_way() -> float | None:
    """A few frames of the way, while nobody drags."""
    item = _item()
    edited = stored.opened(item) if item is not None else None
    way = _wanted_way(item, edited) if edited is not None else None
    if way is None or edited is None or item is None:
        return None
    if edited.goes_on or live.is_busy():
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
        if live.session.live is None:
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
    key = (_given(item), live.index_now(context.scene))
    shader = _gpu.shader.from_builtin("UNIFORM_COLOR")
    if drawn.ghost_key != key and not live.is_busy():
        points = edited.unedited(live.index_now(context.scene)) / unit_of(context.scene)
        triangles = now.results.shot.triangles
        drawn.ghost = _batch_for_shader(shader, "TRIS", {"pos": points.astype(np.float32)}, indices=triangles)
        drawn.ghost_key = key
    _gpu.state.depth_test_set("LESS_EQUAL")
    shader.uniform_float("color", _GHOST)
    if drawn.ghost is not None:
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
        is_now = handle.covers(now)
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
    if drawn.pulled is not None:
        _draw_pulled(region, view, drawn.pulled)


def _draw_pulled(region: Any, view: Any, pulled: Pulled) -> None:
    """How far around it the body is pulled as one, and the axis that it keeps to."""
    at = view3d_utils.location_3d_to_region_2d(region, view, pulled.place)
    beside = pulled.place + pulled.radius * (view.view_rotation @ Vector((1.0, 0.0, 0.0)))
    edge = view3d_utils.location_3d_to_region_2d(region, view, beside)
    if at is None or edge is None:
        return
    _draw_disc(at, (edge - at).length, _RING, filled=False)
    if pulled.axis >= 0:
        way = Vector([float(axis == pulled.axis) for axis in range(3)])
        ends = [view3d_utils.location_3d_to_region_2d(region, view, pulled.place + end * way) for end in _AXIS_ENDS]
        if None not in ends:
            batch = _batch_for_shader(_flat(), "LINES", {"pos": [(*end, 0.0) for end in ends]})
            _flat().uniform_float("color", _AXIS_COLORS[pulled.axis])
            batch.draw(_flat())


def _flat() -> Any:
    return _gpu.shader.from_builtin("UNIFORM_COLOR")


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
    drawn.way, drawn.ghost, drawn.ghost_key, drawn.pulled = Way(), None, None, None
    drawn.places, drawn.places_key = {}, None


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
