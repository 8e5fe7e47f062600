"""The rows of the list of passengers as Blender's own properties. Like all settings, a row reads and writes what is
stored (scene/setup.py)."""

from __future__ import annotations

import dataclasses
from typing import Any

import bpy

from ...scene import setup

_props: Any = bpy.props  # the stubs say that its functions return nothing

_MODES = (
    (setup.AUTOMATIC, "Automatic", "Rigid if the animation moves it without deforming it, else soft"),
    (setup.SOFT, "Soft", "Deforms with the body under it: clothes, hair cards, skin"),
    (
        setup.COLLIDES,
        "Soft, Collides",
        "The same, and where the body has Collisions on it collides with the body, itself and what the body meets: a "
        "shirt between arm and belly. On cloths and thick parts, not on lashes and hair",
    ),
    (setup.RIGID, "Rigid", "Keeps its shape, each loose part by itself: eyes, teeth, buttons, armour"),
)


def choices_of(item: Any) -> list[setup.PassengerChoice]:
    entry = setup.find_of(item.object, item.id_data)
    return entry.passengers if entry is not None else []


def _change(row: Any, **changes: Any) -> None:
    """Changes the stored choice that a row of the list stands for."""
    scene = row.id_data
    for ob in setup.objects(scene):
        entry = setup.find_of(ob, scene)
        if entry is None or not any(choice.id == row.key for choice in entry.passengers):
            continue
        entry.passengers = [
            dataclasses.replace(choice, **changes) if choice.id == row.key else choice for choice in entry.passengers
        ]
        setup.save_of(ob, entry, scene)


def _stored(row: Any) -> setup.PassengerChoice | None:
    for ob in setup.objects(row.id_data):
        entry = setup.find_of(ob, row.id_data)
        for choice in entry.passengers if entry is not None else ():
            if choice.id == row.key:
                return choice
    return None


def _use(row: Any) -> bool:
    choice = _stored(row)
    return choice is not None and choice.use


def _mode(row: Any) -> int:
    choice = _stored(row)
    names = [mode[0] for mode in _MODES]
    return names.index(choice.mode) if choice is not None and choice.mode in names else 0


def make_class() -> type:
    annotations = {
        "key": _props.StringProperty(name="Id", description="Says which stored passenger the row shows"),
        "object": _props.PointerProperty(type=bpy.types.Object, name="Object", description="The mesh that is carried"),
        "use": _props.BoolProperty(
            name="Carry",
            description="Let this mesh move with the body. Without, it keeps its own animation",
            options=set(),
            get=_use,
            set=lambda row, value: _change(row, use=value),
        ),
        "mode": _props.EnumProperty(
            name="Carried",
            description="How the mesh is carried",
            items=_MODES,
            options=set(),
            get=_mode,
            set=lambda row, value: _change(row, mode=_MODES[value][0]),
        ),
    }
    return type("SINEW_PG_passenger", (bpy.types.PropertyGroup,), {"__annotations__": annotations})


def refresh(item: Any) -> None:
    """Lists the stored passengers of a setup, as `properties.refresh` lists the setups."""
    stored = choices_of(item)
    if [(row.key, row.object) for row in item.passengers_list] != [(one.id, one.object) for one in stored]:
        item.passengers_list.clear()
        for one in stored:
            row = item.passengers_list.add()
            row.key, row.object = one.id, one.object
