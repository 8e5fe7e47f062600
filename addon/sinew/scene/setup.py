"""Setups: which objects of a scene are enriched, by which bake and with which settings.

They live on the Scene, so that linked characters work, as plain custom properties: a file keeps them when it is opened
and saved without Sinew. `scene["sinew_setups"]` is a list of groups {schema, object (a pointer), bake, settings (JSON
of the values that differ from the defaults)}.
"""

from __future__ import annotations

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


def load() -> list[Setup]:
    """The setups of the open scene; what is damaged or of a later schema is passed over."""
    setups = []
    for raw in bpy.context.scene.get(KEY, []):
        try:
            if raw["schema"] != SCHEMA:
                continue
            settings = json.loads(raw["settings"])
            ob = raw.get("object")
            setups.append(Setup(ob.name if ob is not None else "", str(raw["bake"]), dict(settings)))
        except (KeyError, TypeError, ValueError):
            continue
    return setups


def find(object_name: str) -> Setup | None:
    return next((setup for setup in load() if setup.object_name == object_name), None)


def save(setup: Setup) -> None:
    """Adds the setup, or replaces that of the same object. Others, also those that `load` passes over, stay."""
    scene = bpy.context.scene
    ob = scene.objects[setup.object_name]
    kept = [_copied(raw) for raw in scene.get(KEY, []) if _object_of(raw) not in (None, ob)]
    kept.append({"schema": SCHEMA, "object": ob, "bake": setup.bake, "settings": json.dumps(setup.settings)})
    scene[KEY] = kept


def remove(object_name: str) -> None:
    scene: Any = bpy.context.scene
    kept = [_copied(raw) for raw in scene.get(KEY, []) if getattr(_object_of(raw), "name", "") != object_name]
    if kept:
        scene[KEY] = kept
    elif KEY in scene:
        del scene[KEY]


def _object_of(raw: Any) -> Any:
    return raw.get("object") if hasattr(raw, "get") else None


def _copied(raw: Any) -> dict[str, Any]:
    return {key: raw[key] for key in raw.keys()}  # noqa: SIM118 (a property group iterates otherwise)
