"""The handles of a setup as rows of Blender's own properties. A row reads and writes what is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy

from ...core.base.errors import Error
from ...core.edit.handles import AXES, CONTACTS, Handle
from ...scene import setup
from .. import job_operator
from ..setup import properties
from . import stored

_props: Any = bpy.props  # the stubs say that its functions return nothing
_registered: list[type] = []


def _item_of(row: Any) -> Any | None:
    """The setup that a row belongs to."""
    return next((item for item in row.id_data.sinew.setups if any(one == row for one in item.handles)), None)


def handle_of(row: Any) -> Handle | None:
    item = _item_of(row)
    handles = stored.edits_of(item).handles if item is not None else ()
    return handles[row.number] if row.number < len(handles) else None


def _change(row: Any, **changes: Any) -> None:
    item = _item_of(row)
    if item is not None and handle_of(row) is not None:
        stored.change_handle(item, row.number, **changes)


def _getter(name: str, default: Any) -> Callable[[Any], Any]:
    def get(row: Any) -> Any:
        handle = handle_of(row)
        return default if handle is None else getattr(handle, name)

    return get


def _get_until(row: Any) -> float:
    handle = handle_of(row)
    return 0.0 if handle is None else handle.frame if handle.until is None else handle.until


def _set_until(row: Any, value: float) -> None:
    handle = handle_of(row)
    if handle is not None:
        _change(row, until=value if value > handle.frame else None)


def _label_of(handle: Handle) -> str:
    """What it is called where nobody gave it a name."""
    several = f" and {len(handle.vertices) - 1} more" if len(handle.vertices) > 1 else ""
    return f"Vertex {handle.vertices[0]}{several}"


def _get_label(row: Any) -> str:
    handle = handle_of(row)
    return "" if handle is None else handle.name or _label_of(handle)


def _set_label(row: Any, value: str) -> None:
    handle = handle_of(row)
    if handle is not None:
        _change(row, name="" if value.strip() == _label_of(handle) else value.strip())


def _axes_items() -> list[tuple[str, str, str]]:
    return [(name, name.title(), f"The pull is {text}") for name, text in AXES.items()]


def _set_axes(row: Any, value: int) -> None:
    """The handle stays where it is."""
    item, handle = _item_of(row), handle_of(row)
    try:
        edited = stored.open_now(item) if item is not None and handle is not None else None
        if edited is not None and handle is not None:
            changed = edited.in_axes(handle, list(AXES)[value])
            stored.change_handle(item, row.number, **{name: getattr(changed, name) for name in ("axes", "by", "path")})
    except Error as error:
        job_operator.tell_failure(row.id_data.name, str(error))


def _set_frame(row: Any, value: float) -> None:
    handle = handle_of(row)
    if handle is not None:
        until = None if handle.until is None else handle.until + value - handle.frame
        _change(row, frame=value, until=until)


def _make_row() -> type:
    def by(kind: Callable[..., Any], name: str, default: Any, label: str, description: str, **more: Any) -> Any:
        more.setdefault("set", lambda row, value: _change(row, **{name: value}))
        return kind(name=label, description=description, options=set(), get=_getter(name, default), **more)

    numbers = _props.FloatProperty
    annotations = {
        "number": _props.IntProperty(name="Number", description="Says which handle the row shows"),
        "label": _props.StringProperty(
            name="Name",
            description="What the handle is called: double-click to change it",
            options=set(),
            get=_get_label,
            set=_set_label,
        ),
        "mute": by(_props.BoolProperty, "mute", False, "Mute", "This handle does not pull"),
        "influence": by(
            numbers, "influence", 1.0, "Influence", "How much of the way it pulls", soft_min=0.0, soft_max=1.0
        ),
        "frame": by(numbers, "frame", 0.0, "Frame", "When it pulls", precision=1, set=_set_frame),
        "until": _props.FloatProperty(
            name="Hold Until",
            description="The last frame on which it holds what it pulls; that of the handle holds it for a moment only",
            options=set(),
            precision=1,
            get=_get_until,
            set=_set_until,
        ),
        "radius": by(
            numbers,
            "radius",
            0.0,
            "Radius",
            "How far around it the body is pulled as one, in metres; 0 is two of its cells",
            min=0.0,
            precision=3,
        ),
        "axes": _props.EnumProperty(
            name="Axes",
            description="What the three numbers of the pull are",
            items=_axes_items(),
            options=set(),
            get=lambda row: list(AXES).index(_getter("axes", "world")(row)),
            set=_set_axes,
        ),
        "by": by(
            _props.FloatVectorProperty,
            "by",
            (0.0, 0.0, 0.0),
            "Pull",
            "How far it pulls, in metres, or the place that it pulls to",
            size=3,
            precision=3,
            set=lambda row, value: _change(row, by=tuple(value)),
        ),
    }
    return type("SINEW_PG_handle", (bpy.types.PropertyGroup,), {"__annotations__": annotations})


def _edit_property(name: str, kind: Callable[..., Any], label: str, description: str, **more: Any) -> Any:
    def change(item: Any, value: Any) -> None:
        stored.change(item, **{name: value})

    get = lambda item: getattr(stored.edits_of(item), name)  # noqa: E731
    return kind(name=label, description=description, options=set(), get=get, set=change, **more)


def _set_range(item: Any, begin: float, end: float) -> None:
    stored.change(item, range=(min(begin, end - 1.0), max(end, begin + 1.0)))


def _range_of(item: Any) -> tuple[float, float]:
    scene = item.id_data
    return stored.edits_of(item).range or (float(scene.frame_start), float(scene.frame_end))


_KINDS = {"": "Off", "above": "Stay Out", "slide": "Slide", "pin": "Pin"}


def _set_contacts(item: Any, value: int) -> None:
    """The first time with the ground of the setup, or the floor of the scene."""
    before, kind = stored.edits_of(item), list(CONTACTS)[value]
    floor = before.floor
    if floor is None and not before.contacts:
        known = properties.settings_of(item)
        on_ground = getattr(known, "collide", False) and getattr(known, "ground", False)
        unit = item.id_data.unit_settings.scale_length or 1.0
        floor = known.ground_height * unit if on_ground else 0.0
    stored.change(item, contacts=kind, floor=floor)


def _properties() -> dict[str, Any]:
    """What a setup has for Edit Motion."""
    number = _props.FloatProperty
    return {
        "handles": _props.CollectionProperty(
            type=_registered[0], name="Handles", description="What pulls the finished motion"
        ),
        "handles_index": _props.IntProperty(name="Active Handle", description="The chosen handle", options=set()),
        "edit_wiggle": _edit_property(
            "wiggle", number, "Wiggle", "1 swings after a pull as the body does, 0 hardly overshoots",
            min=0.0, max=1.0, subtype="FACTOR",
        ),
        "edit_spread": _edit_property(
            "spread", number, "Spread", "How far before and after its frame a pull is felt, times its own",
            min=0.05, max=20.0, soft_max=4.0,
        ),
        "edit_hold": _edit_property(
            "hold", number, "Return (s)", "How soon a body that nothing holds is back where it was",
            min=0.05, max=100.0, soft_max=10.0,
        ),
        "edit_free": _edit_property(
            "free", _props.BoolProperty, "Free All",
            "Parts that follow the animation exactly may be pulled too",
        ),
        "edit_contacts": _props.EnumProperty(
            name="Keep Contacts", description="What pulls may do to contacts with the floor and with what the bake "
            "collides with", options=set(),
            items=[(kind or "off", _KINDS[kind], text) for kind, text in CONTACTS.items()],
            get=lambda item: list(CONTACTS).index(stored.edits_of(item).contacts), set=_set_contacts,
        ),
        "edit_use_floor": _props.BoolProperty(
            name="Floor", description="There is a level floor", options=set(),
            get=lambda item: stored.edits_of(item).floor is not None,
            set=lambda item, value: stored.change(item, floor=0.0 if value else None),
        ),
        "edit_floor": number(
            name="Height", description="Where the floor is, metres", options=set(), precision=3,
            get=lambda item: stored.edits_of(item).floor or 0.0,
            set=lambda item, value: stored.change(item, floor=value),
        ),
        "edit_use_range": _props.BoolProperty(
            name="Range", description="Outside these frames nothing changes", options=set(),
            get=lambda item: stored.edits_of(item).range is not None,
            set=lambda item, value: stored.change(item, range=_range_of(item) if value else None),
        ),
        "edit_begin": number(
            name="From", description="Up to here nothing changes", options=set(), precision=1,
            get=lambda item: _range_of(item)[0], set=lambda item, value: _set_range(item, value, _range_of(item)[1]),
        ),
        "edit_end": number(
            name="To", description="From here on nothing changes", options=set(), precision=1,
            get=lambda item: _range_of(item)[1], set=lambda item, value: _set_range(item, _range_of(item)[0], value),
        ),
    }  # fmt: skip


def refresh(item: Any) -> None:
    """As many rows as there are handles."""
    if setup.find_of(item.object, item.id_data) is None:
        return
    count = len(stored.edits_of(item).handles)
    if [row.number for row in item.handles] != list(range(count)):
        item.handles.clear()
        for number in range(count):
            item.handles.add().number = number
    item.handles_index = max(0, min(item.handles_index, count - 1))


def is_fresh(item: Any) -> bool:
    return len(item.handles) == len(stored.edits_of(item).handles)


def register() -> None:
    _registered.append(_make_row())
    bpy.utils.register_class(_registered[0])
    properties.further.append(_properties)
    properties.on_refresh.append(refresh)


def unregister() -> None:
    properties.on_refresh.remove(refresh)
    properties.further.remove(_properties)
    bpy.utils.unregister_class(_registered.pop())
