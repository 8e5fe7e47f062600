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

from ...core.bake.shot import RESULT_SETTINGS
from ...core.base.errors import BadInput
from ...core.methods.enrich.settings import Settings
from ...scene import attributes, setup
from .. import handlers, job_operator
from . import passenger_rows, view

_props: Any = bpy.props  # the stubs say that its functions return nothing

FIELDS = {field.name: field for field in dataclasses.fields(Settings)}
on_result_change: list[Callable[[Any], None]] = []  # called with a setup whose setting needs no new simulation
OPTIONAL = tuple(name for name, field in FIELDS.items() if str(field.type).endswith("None"))

# Ranges of sliders where those of the settings are wider than what is usual, and digits.
_SOFT = {
    "resolution": (0, 64),
    "jiggle": (0.5, 12.0),
    "settle": (0.1, 3.0),
    "maximum_offset": (0.0, 0.5),
    "balance": (0.25, 4.0),
    "preroll": (0, 100),
    "smoothing": (0.0005, 0.02),
    "transition": (0.0, 0.3),
    "fields": (0.0, 2.0),
    "average_regions": (0, 32),
    "stiffness_painted": (0.1, 10.0),
    "damping_painted": (0.1, 10.0),
    "density_painted": (0.1, 10.0),
}
_PRECISION = {"smoothing": 4, "transition": 3, "maximum_offset": 3, "damping_mass": 3, "damping_stiffness": 4}
_NAMES = {
    "young": "Stiffness",
    "poisson": "Poisson",
    "maximum_offset": "Max Offset",
    "newton_rounds": "Rounds",
    "stvk": "St. Venant-Kirchhoff",
    "neo_hookean": "Neo-Hookean",
    "tr_bdf2": "TR-BDF2",
    "implicit_euler": "Implicit Euler",
    "damping_mass": "Mass Damping",
    "damping_stiffness": "Stiffness Damping",
    "track_group": "Tracked",
    "average_regions": "Regions Held on Average",
    "average_group": "Group Held on Average",
    "stiffness_painted": "Stiffness ×",
    "damping_painted": "Damping ×",
    "density_painted": "Density ×",
    "keep_pose_painted": "Keep Pose ×",
    "stiffness_group": "Stiffness",
    "damping_group": "Damping",
    "density_group": "Density",
    "keep_pose_group": "Keep Pose",
    "fields": "Force Fields",
    "follow_animated": "Animated Weights",
    "rigid_group": "Rigid",
    "rigid_shells": "Loose Parts Rigid",
    "follow_after_group": "Follow After Group",
}
_USE = {
    "rest_frame": "Take the rest shape from a frame instead of the undeformed mesh",
    "safe_frame": "Build the cage on a frame on which parts that touch at rest are apart",
    "frame_start": "Begin at a frame of its own instead of the scene's first",
    "frame_end": "End at a frame of its own instead of the scene's last",
    "gravity": "Use a gravity of its own instead of the scene's",
}


def values_of(item: Any) -> dict[str, Any]:
    """The values of a setup that differ from the defaults."""
    entry = setup.find_of(item.object, item.id_data)
    return entry.settings if entry is not None else {}


def settings_of(item: Any) -> Settings:
    """The settings of a setup; a damaged value, from a later version perhaps, counts as the default."""
    return settings_from(values_of(item))


def settings_from(values: dict[str, Any]) -> Settings:
    """The same from stored values."""
    try:
        return Settings().replace(values)
    except BadInput:
        good = Settings()
        for name, value in values.items():
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
    if name in RESULT_SETTINGS:
        for listener in on_result_change:
            listener(item)


def find(scene: Any, ob: Any) -> Any | None:
    """The item of an object in `scene.sinew.setups`, or None."""
    return next((item for item in scene.sinew.setups if item.object == ob), None) if ob is not None else None


def is_fresh(scene: Any) -> bool:
    return [item.object for item in scene.sinew.setups] == setup.objects(scene)


def refresh() -> None:
    """Lists the setups of every scene as they are stored."""
    setup.make_ids_unique()
    for scene in bpy.data.scenes:
        if not is_fresh(scene):
            scene.sinew.setups.clear()
            for ob in setup.objects(scene):
                scene.sinew.setups.add().object = ob
        for item in scene.sinew.setups:
            passenger_rows.refresh(item)


def label(name: str) -> str:
    return _NAMES.get(name, name.replace("_", " ").title())


def _shown(item: Any, name: str) -> Any:
    """The value, or what stands in for it where it is the scene's."""
    value = getattr(settings_of(item), name)
    if value is None:
        scene = item.id_data
        return {"frame_end": scene.frame_end, "gravity": tuple(scene.gravity)}.get(name, scene.frame_start)
    return value


def _accessors(name: str) -> dict[str, Callable[..., Any]]:
    choices = FIELDS[name].metadata["choices"]
    if choices:
        return {
            "get": lambda item: choices.index(getattr(settings_of(item), name)),
            "set": lambda item, value: write(item, name, choices[value]),
        }
    return {"get": lambda item: _shown(item, name), "set": lambda item, value: write(item, name, _plain(value))}


def _plain(value: Any) -> Any:
    return value if isinstance(value, (bool, int, float, str)) else tuple(value)


def _property(name: str) -> Any:
    field = FIELDS[name]
    kind = str(field.type).split("|")[0].strip()
    low, high, unit = field.metadata["low"], field.metadata["high"], field.metadata["unit"]
    description = field.metadata["description"] + (f", in {unit}" if unit else "")
    common = {"name": label(name), "description": description, "options": set(), **_accessors(name)}
    if field.metadata["choices"]:
        items = [(str(choice), label(str(choice)), description) for choice in field.metadata["choices"]]
        return _props.EnumProperty(items=items, **common)
    if kind == "bool":
        return _props.BoolProperty(default=field.default, **common)
    if kind == "str":
        if name.endswith("_group"):
            common |= {"search": lambda item, _context, _text: attributes.names(item.object)}
        return _props.StringProperty(default=field.default, **common)
    if kind.startswith("tuple"):
        common["default"] = (0.0, 0.0, -9.81)
        return _props.FloatVectorProperty(size=3, min=low, max=high, subtype="ACCELERATION", **common)
    soft = _SOFT.get(name, (low, high))
    limits = {"min": low, "max": high, "soft_min": soft[0], "soft_max": soft[1]}
    if kind == "int":
        return _props.IntProperty(default=field.default or 0, **limits, **common)
    precision = _PRECISION.get(name, 2)
    return _props.FloatProperty(default=field.default, precision=precision, step=10, **limits, **common)


def _use_property(name: str) -> Any:
    return _props.BoolProperty(
        name=f"Own {label(name)}",
        description=_USE[name],
        options=set(),
        get=lambda item: getattr(settings_of(item), name) is not None,
        set=lambda item, value: write(item, name, _shown(item, name) if value else None),
    )


def _make_classes() -> tuple[type, type, type]:
    """The property groups, inner ones first. Their annotations are made, not written: one for each setting."""
    row = passenger_rows.make_class()
    pointer = _props.PointerProperty(type=bpy.types.Object, name="Object", description="The mesh that is enriched")
    annotations = {"object": pointer}
    annotations |= {name: _property(name) for name in FIELDS}
    annotations |= {f"use_{name}": _use_property(name) for name in OPTIONAL}
    annotations |= view.make_properties()
    annotations["passengers_list"] = _props.CollectionProperty(
        type=row, name="Passengers", description="Meshes that the body carries along"
    )
    annotations["passengers_index"] = _props.IntProperty(
        name="Active Passenger", description="The chosen row of the list", options=set()
    )
    item = type("SINEW_PG_setup", (bpy.types.PropertyGroup,), {"__annotations__": annotations})
    listed = {"setups": _props.CollectionProperty(type=item, name="Setups", description="The enriched objects")}
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
