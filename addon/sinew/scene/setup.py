"""Setups: which objects of a scene are enriched, by which bake and with which settings.

They live on the Scene, so that linked characters work, as plain custom properties: a file keeps them when it is opened
and saved without Sinew. `scene["sinew_setups"]` is a list of groups {schema, object (a pointer), bake, settings (JSON
of the values that differ from the defaults), fingerprint (JSON)}.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field
from typing import Any

import bpy

KEY = "sinew_setups"
SCHEMA = 1


@dataclass
class Setup:
    object_name: str  # "" when the object was deleted
    bake: str = ""  # id of the bake folder
    settings: dict[str, Any] = field(default_factory=dict)
    fingerprint: dict[str, str] = field(default_factory=dict)  # of what the bake was made from: scene/fingerprint.py


def load(scene: Any = None) -> list[Setup]:
    """The setups of the open scene; what is damaged or of a later schema is passed over."""
    found = (_read(raw) for raw in (scene or bpy.context.scene).get(KEY, []))
    return [setup for setup in found if setup is not None]


def find(object_name: str, scene: Any = None) -> Setup | None:
    return next((setup for setup in load(scene) if setup.object_name == object_name), None)


def find_of(ob: Any, scene: Any) -> Setup | None:
    """The setup of an object, by pointer: of two objects with one name (a linked one) each has its own."""
    for raw in scene.get(KEY, []):
        if ob is not None and _object_of(raw) == ob:
            return _read(raw)
    return None


def objects(scene: Any) -> list[Any]:
    """The objects that have a readable setup."""
    return [ob for raw in scene.get(KEY, []) if (ob := _object_of(raw)) is not None and _read(raw) is not None]


def scene_name() -> str:
    return str(bpy.context.scene.name)


def find_object(name: str, scene: str) -> Any | None:
    """The object of that name in the scene of that name, or None."""
    found = bpy.data.scenes.get(scene)
    return found.objects.get(name) if found is not None else None


def save(setup: Setup, scene: str = "") -> None:
    """Adds the setup, or replaces that of the same object. Others, also those that `load` passes over, stay."""
    owner = bpy.data.scenes[scene] if scene else bpy.context.scene
    save_of(owner.objects[setup.object_name], setup, owner)


def save_of(ob: Any, setup: Setup, scene: Any) -> None:
    entry = {
        "schema": SCHEMA,
        "object": ob,
        "bake": setup.bake,
        "settings": json.dumps(setup.settings),
        "fingerprint": json.dumps(setup.fingerprint),
    }
    raws = [raw for raw in scene.get(KEY, []) if _object_of(raw) is not None]
    places = [index for index, raw in enumerate(raws) if _object_of(raw) == ob]
    kept = [_copied(raw) for raw in raws if _object_of(raw) != ob]
    kept.insert(places[0] if places else len(kept), entry)
    scene[KEY] = kept


def remove(object_name: str, scene: Any = None) -> None:
    owner: Any = scene or bpy.context.scene
    kept = [_copied(raw) for raw in owner.get(KEY, []) if getattr(_object_of(raw), "name", "") != object_name]
    if kept:
        owner[KEY] = kept
    elif KEY in owner:
        del owner[KEY]


def _read(raw: Any) -> Setup | None:
    try:
        if raw["schema"] != SCHEMA:
            return None
        ob = raw.get("object")
        marks = _parsed(raw.get("fingerprint", "{}"))
        return Setup(ob.name if ob is not None else "", str(raw["bake"]), dict(_parsed(raw["settings"])), dict(marks))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> dict[str, Any]:
    return dict(json.loads(text))


def _object_of(raw: Any) -> Any:
    return raw.get("object") if hasattr(raw, "get") else None


def _copied(raw: Any) -> dict[str, Any]:
    return {key: raw[key] for key in raw.keys()}  # noqa: SIM118 (a property group iterates otherwise)
