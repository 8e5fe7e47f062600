"""`scene.sinew.setups`: the setups of a scene as Blender's own properties, one for each setting.

The values themselves lie in plain custom properties (scene/setup.py), which the command reads too and which stay in a
file that is saved without Sinew. A property here reads and writes these, so there is one truth; only the list of
objects is kept twice, and `refresh` brings it up to date.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import bpy

from ... import setups
from ...core.bake.method import find as find_method
from ...core.bake.method import known
from ...core.base.errors import BadInput
from ...core.base.settings import RESULT, VERTEX_GROUP, Setting
from ...scene import attributes, compat, file, setup
from .. import handlers, job_operator
from . import passenger_rows

_props: Any = bpy.props  # the stubs say that its functions return nothing

further: list[Callable[[], dict[str, Any]]] = []  # make properties of setups that only a method has
on_refresh: list[Callable[[Any], None]] = []  # called with a setup whose lists are to be brought up to date
on_result_change: list[Callable[[Any], None]] = []  # called with a setup whose setting needs no new simulation


def key_of(item: Any) -> str:
    """The id of a setup, which outlives renaming and undo; pointers do not."""
    entry = setup.find_of(item.object, item.id_data)
    return entry.id if entry is not None else ""


def values_of(item: Any) -> dict[str, Any]:
    """The values of a setup that differ from the defaults."""
    entry = setup.find_of(item.object, item.id_data)
    return entry.settings if entry is not None else {}


def settings_of(item: Any) -> Any:
    """The settings of a setup; a damaged value, from a later version perhaps, counts as the default."""
    entry = setup.find_of(item.object, item.id_data)
    return settings_from(entry if entry is not None else setup.Setup(""))


def settings_from(entry: setup.Setup) -> Any:
    """The same of a setup as it is stored."""
    method = entry.method if entry.method in {one.name for one in known()} else ""
    good = find_method(method).settings()
    try:
        return good.replace(entry.settings)
    except BadInput:
        for name, value in entry.settings.items():
            try:
                good = good.replace({name: value})
            except BadInput:
                continue
        return good


def write(item: Any, name: str, value: Any) -> None:
    """Changes one value of a setup. A frame range stays one: its other end gives way."""
    entry = setup.find_of(item.object, item.id_data)
    if entry is None:
        return
    settings = settings_of(item)
    values: dict[str, Any] = {name: value}
    if name == "frame_start" and None not in (value, settings.frame_end):
        values["frame_end"] = max(value, settings.frame_end or 0)
    if name == "frame_end" and None not in (value, settings.frame_start):
        values["frame_start"] = min(value, settings.frame_start or 0)
    try:
        settings = settings.replace(values)
    except BadInput as error:  # ranges are the property's own, but frames are written as text
        job_operator.tell_failure(item.object.name, str(error))
        return
    job_operator.forget_message()
    entry = dataclasses.replace(entry, settings=settings.changed())
    setup.save_of(item.object, entry, item.id_data)
    if settings.find(name).belongs == RESULT:
        for listener in on_result_change:
            listener(item)


def find(scene: Any, ob: Any) -> Any | None:
    """The item of an object in `scene.sinew.setups`, or None."""
    return next((item for item in scene.sinew.setups if item.object == ob), None) if ob is not None else None


def is_fresh(scene: Any) -> bool:
    return [item.object for item in scene.sinew.setups] == setup.objects(scene)


def refresh() -> None:
    """Lists the setups of every scene as they are stored, those of copies too."""
    setup.make_ids_unique()
    for scene in bpy.data.scenes:
        if scene.library is None:
            setups.adopt_copies(scene)
        if not is_fresh(scene):
            scene.sinew.setups.clear()
            for ob in setup.objects(scene):
                scene.sinew.setups.add().object = ob
        for item in scene.sinew.setups:
            passenger_rows.refresh(item)
            for listener in on_refresh:
                listener(item)


def declared() -> dict[str, Setting]:
    """The settings of all methods by name. One that two methods share is declared alike."""
    return {name: one for method in reversed(known()) for name, one in method.settings.all().items()}


def label(name: str) -> str:
    return declared()[name].label


def _shown(item: Any, name: str) -> Any:
    """The value, or what stands in for it where it is the scene's, or where a setup of this method has none."""
    value = _value(item, name)
    if value is None:
        scene = item.id_data
        return {"frame_end": scene.frame_end, "gravity": tuple(scene.gravity)}.get(name, scene.frame_start)
    return value


def _value(item: Any, name: str) -> Any:
    settings = settings_of(item)
    return getattr(settings, name) if name in settings.all() else declared()[name].default


def _accessors(name: str, choices: list[Any]) -> dict[str, Callable[..., Any]]:
    if choices:
        return {
            "get": lambda item: choices.index(_value(item, name)),
            "set": lambda item, value: write(item, name, choices[value]),
        }
    return {"get": lambda item: _shown(item, name), "set": lambda item, value: write(item, name, _plain(value))}


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str)) else tuple(value)


def _property(one: Setting) -> Any:
    """A setting as a property of Blender's."""
    common: dict[str, Any] = {"name": one.title, "description": one.description, "options": set()}
    common |= _accessors(one.name, list(one.choices))
    if one.choices:
        items = [(str(value), label, one.description) for value, label in one.choices.items()]
        return _props.EnumProperty(items=items, **common)
    if one.kind == "bool":
        return _props.BoolProperty(default=one.default, **common)
    if one.kind == "str":
        if one.names == VERTEX_GROUP:
            common |= {"search": lambda item, _context, _text: attributes.names(item.object)}
        return _props.StringProperty(default=one.default, **common)
    if one.kind == "vector":
        common["default"] = one.default or (0.0, 0.0, -9.81)
        subtype = {"m/s2": "ACCELERATION", "m/s": "VELOCITY"}.get(one.unit, "XYZ")
        return _props.FloatVectorProperty(size=3, min=one.low, max=one.high, subtype=subtype, **common)
    soft_min, soft_max = one.soft or (one.low, one.high)
    limits = {"min": one.low, "max": one.high, "soft_min": soft_min, "soft_max": soft_max}
    if one.kind == "int":
        return _props.IntProperty(default=one.default or 0, **limits, **common)
    step = 100.0 * one.step  # Blender counts in hundredths
    return _props.FloatProperty(default=one.default, precision=one.precision, step=step, **limits, **common)


def _use_property(one: Setting) -> Any:
    """The box that gives an optional setting a value of its own."""
    name = one.name
    return _props.BoolProperty(
        name=f"Own {one.label}",
        description=one.own,
        options=set(),
        get=lambda item: _value(item, name) is not None,
        set=lambda item, value: write(item, name, _shown(item, name) if value else None),
    )


def _set_folder(group: Any, value: str) -> None:
    scene = group.id_data
    if value:
        scene[file.FOLDER] = value
    elif file.FOLDER in scene:
        del scene[file.FOLDER]


def _zero_property(one: Setting) -> Any:
    """The button that stands for 0 where the panel has a word for it."""
    name, begin = one.name, int(one.begin) if one.kind == "int" else one.begin
    return _props.BoolProperty(
        name=f"{one.label}: {one.zero}",
        description=one.description,
        options=set(),
        get=lambda item: _value(item, name) == 0,
        set=lambda item, value: write(item, name, type(begin)(0) if value else begin),
    )


def _make_classes() -> tuple[type, type, type]:
    """The property groups, inner ones first. Their annotations are made, not written: one for each setting."""
    row = passenger_rows.make_class()
    pointer = _props.PointerProperty(type=bpy.types.Object, name="Object", description="The mesh that is moved")
    annotations = {"object": pointer}
    annotations |= {name: _property(one) for name, one in declared().items()}
    annotations |= {f"use_{name}": _use_property(one) for name, one in declared().items() if one.is_optional}
    annotations |= {f"zero_{name}": _zero_property(one) for name, one in declared().items() if one.zero}
    for make in further:
        annotations |= make()
    annotations["passengers_list"] = _props.CollectionProperty(
        type=row, name="Attached Meshes", description="Meshes that the body carries along"
    )
    annotations["passengers_index"] = _props.IntProperty(
        name="Active Mesh", description="The chosen row of the list", options=set()
    )
    item = type("SINEW_PG_setup", (bpy.types.PropertyGroup,), {"__annotations__": annotations})
    listed = {"setups": _props.CollectionProperty(type=item, name="Setups", description="The objects that have one")}
    listed["folder"] = _props.StringProperty(
        name="Folder",
        description="Where the bakes of this scene lie from now on; those that are there play where they are. Empty is "
        "the folder of the preferences, or else the folder sinew beside the file",
        subtype="DIR_PATH",
        options=compat.PATH_OPTIONS,
        get=lambda group: str(group.id_data.get(file.FOLDER, "")),
        set=_set_folder,
    )
    return row, item, type("SINEW_PG_scene", (bpy.types.PropertyGroup,), {"__annotations__": listed})


_registered: list[type] = []


def _after_load(*_: object) -> None:
    refresh()


_HANDLERS = {"load_post": _after_load}


def register() -> None:
    _registered.extend(_make_classes())
    for made in _registered:
        bpy.utils.register_class(made)
    bpy.types.Scene.sinew = _props.PointerProperty(type=_registered[-1], name="Sinew", description="Setups of Sinew")
    handlers.add(_HANDLERS)
    # While an add-on is being registered it may not look at the open file. In the background no timer ever runs.
    if not bpy.app.background:
        bpy.app.timers.register(refresh, first_interval=0.0)


def unregister() -> None:
    handlers.remove(_HANDLERS)
    if bpy.app.timers.is_registered(refresh):
        bpy.app.timers.unregister(refresh)
    del bpy.types.Scene.sinew
    while _registered:
        bpy.utils.unregister_class(_registered.pop())
