"""Setups: which objects of a scene are moved, by which method and bake and with which settings.

They live on the Scene, so that linked characters work, as plain custom properties: a file keeps them when it is opened
and saved without Sinew. `scene["sinew_setups"]` is a list of groups: schema, id, object (a pointer), bake, previous,
settings (JSON of the values that differ from the defaults), fingerprint (JSON), passengers (a list of groups: id,
object, use, mode), method, chosen. An object may have several setups; the chosen one is what its panel shows. Schema 1
had neither id nor passengers, schema 2 one setup for an object, of the one method that there was, and schema 3 other
defaults; all are read, and written as 4.

A copy of an object is not in that list. So what is the object's own in its setups, the settings and how its passengers
are carried, is noted on the object too, under `NOTE`: duplicates and appended objects bring it along (see `copied`).
"""

from __future__ import annotations

import functools
import hashlib
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy

KEY = "sinew_setups"
NOTE = "sinew_setup"  # on an object
SCHEMA = 4
# What a setup of an older schema means where it says nothing: it is of the one method that there was, with its defaults
# of then, for its bakes were made so.
_ONLY_METHOD = "enrich"
_FORMER_DEFAULTS = {"bone_core": 0.0, "rigid_shells": False}
SOFT, RIGID, AUTOMATIC, COLLIDES = "SOFT", "RIGID", "AUTOMATIC", "COLLIDES"


@dataclass
class PassengerChoice:
    """A mesh that the body carries along, or not if the artist does not want it to."""

    object: Any
    use: bool = True
    mode: str = AUTOMATIC
    id: str = field(default_factory=lambda: secrets.token_hex(8))


@dataclass
class Setup:
    object_name: str  # "" when the object was deleted
    id: str = ""  # its own, also when the object is renamed
    bake: str = ""  # id of the bake folder that is played
    previous: str = ""  # id of the complete bake that an unfinished one or a preview is played in place of
    previous_root: str = ""  # where it lies, if not beside the file
    made_group: str = ""  # mark of a vertex group as a bake has made it
    settings: dict[str, Any] = field(default_factory=dict)
    fingerprint: dict[str, str] = field(default_factory=dict)  # of what the bake was made from: scene/fingerprint.py
    passengers: list[PassengerChoice] = field(default_factory=list)
    method: str = ""  # its name; "": the one that is taken where nobody says
    chosen: bool = False  # of several of one object
    carried: dict[str, list[Any]] = field(default_factory=dict)  # only of a copy: use and mode by the passenger's name


def current_scene() -> Any:
    return bpy.context.scene


def all_scenes() -> list[Any]:
    return list(bpy.data.scenes)


def new_id() -> str:
    return secrets.token_hex(8)


def id_for(file_name: str, object_name: str, method: str) -> str:
    """An id that is the same when a bake of a file without a setup is tried again: it continues where it stopped."""
    parts = [file_name, object_name, *([method] if method != _ONLY_METHOD else [])]
    made = hashlib.blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
    taken = {setup.id for scene in bpy.data.scenes for setup in load(scene)}
    return new_id() if made in taken else made


def load(scene: Any = None) -> list[Setup]:
    """The setups of the open scene; what is damaged or of a later schema is passed over."""
    found = (_read(raw) for raw in (scene or bpy.context.scene).get(KEY, []))
    return [setup for setup in found if setup is not None]


def find(object_name: str, scene: Any = None) -> Setup | None:
    return next((setup for setup in load(scene) if setup.object_name == object_name), None)


def all_of(ob: Any, scene: Any) -> list[Setup]:
    """The setups of an object, by pointer: of two objects with one name (a linked one) each has its own."""
    found = (_read(raw) for raw in scene.get(KEY, []) if ob is not None and _object_of(raw) == ob)
    return [setup for setup in found if setup is not None]


def find_of(ob: Any, scene: Any, method: str = "") -> Setup | None:
    """The chosen setup of an object, else its first; `method`: among those of that method."""
    found = [setup for setup in all_of(ob, scene) if method in ("", setup.method)]
    return next((setup for setup in found if setup.chosen), found[0] if found else None)


def choose(ob: Any, setup_id: str, scene: Any) -> None:
    """That setup of an object is the one that its panel shows."""
    for setup in all_of(ob, scene):
        if setup.chosen != (setup.id == setup_id):
            setup.chosen = setup.id == setup_id
            save_of(ob, setup, scene)


def objects(scene: Any) -> list[Any]:
    """The objects that have a readable setup and are still in the scene, each once."""
    found: list[Any] = []
    for raw in scene.get(KEY, []):
        ob = _object_in(raw, scene)
        if ob is not None and ob not in found and _read(raw) is not None:
            found.append(ob)
    return found


def drop_deleted() -> list[Setup]:
    """Forgets the setups of objects that were deleted: while a setup points at one, it would stay in the file. Those
    setups."""
    dropped = []
    for scene in bpy.data.scenes:
        raws: list[Any] = list(scene.get(KEY, [])) if scene.library is None else []
        gone = [raw for raw in raws if _object_in(raw, scene) is None]
        dropped += [setup for raw in gone if (setup := _read(raw)) is not None]
        if gone:
            kept = [_copied(raw) for raw in raws if _object_in(raw, scene) is not None]
            if kept:
                scene[KEY] = kept
            else:
                del scene[KEY]
    return dropped


def find_by_id(setup_id: str) -> tuple[Setup, Any, Any] | None:
    """The setup of that id with its object and its scene, whatever they are called by now; None when it is gone."""
    for scene in bpy.data.scenes:
        for raw in scene.get(KEY, []):
            setup, ob = _read(raw), _object_of(raw)
            # A deleted object may live on without a scene while something points at it.
            if setup is not None and setup.id == setup_id and ob is not None and ob.name in scene.objects:
                return setup, ob, scene
    return None


def save_of(ob: Any, setup: Setup, scene: Any) -> None:
    """Adds the setup, or replaces that of the same object and id. Others, also those that `load` passes over, stay."""
    entry: dict[str, Any] = {
        "schema": SCHEMA,
        "id": setup.id or new_id(),
        "object": ob,
        "bake": setup.bake,
        "previous": setup.previous,
        "previous_root": setup.previous_root,
        "made_group": setup.made_group,
        "settings": json.dumps(setup.settings),
        "fingerprint": json.dumps(setup.fingerprint),
        "method": setup.method,
        "chosen": int(setup.chosen),
    }
    carried = [
        {"id": one.id, "object": one.object, "use": int(one.use), "mode": one.mode}
        for one in setup.passengers
        if one.object is not None
    ]
    if carried:  # an empty list has no type that Blender could keep
        entry["passengers"] = carried
    raws = [raw for raw in scene.get(KEY, []) if _object_of(raw) is not None]

    def is_replaced(raw: Any) -> bool:
        # One that was written before setups had ids has got one now.
        return _object_of(raw) == ob and raw.get("id", "") in ("", entry["id"])

    places = [index for index, raw in enumerate(raws) if is_replaced(raw)]
    kept = [_copied(raw) for raw in raws if not is_replaced(raw)]
    kept.insert(places[0] if places else len(kept), entry)
    scene[KEY] = kept
    _note(ob, scene)


def copied(ob: Any) -> list[Setup]:
    """The setups that an object has brought along from the one it is a copy of; none where it has its own. `passengers`
    of them are empty, and `carried` says how those of the original were."""
    text = ob.get(NOTE, "")
    if not isinstance(text, str) or not text or any(all_of(ob, scene) for scene in bpy.data.scenes):
        return []
    try:
        return [Setup(ob.name, id=new_id(), **values) for values in json.loads(text)]
    except (TypeError, ValueError):
        return []  # of a later version


def _note(ob: Any, scene: Any) -> None:
    """Writes on an object what its copies are to know. A linked one is left as it is."""
    if ob.library is not None or ob.override_library is not None:
        return
    noted = [
        {
            "method": entry.method,
            "chosen": entry.chosen,
            "settings": entry.settings,
            "bake": entry.bake,
            "fingerprint": entry.fingerprint,
            "carried": {one.object.name: [one.use, one.mode] for one in entry.passengers},
        }
        for entry in all_of(ob, scene)
    ]
    if noted:
        ob[NOTE] = json.dumps(noted)
    elif NOTE in ob:
        del ob[NOTE]


def remove(ob: Any, scene: Any, setup_id: str = "") -> None:
    """One setup of an object, or all of them."""
    gone = ("", setup_id)
    kept = [
        _copied(raw)
        for raw in scene.get(KEY, [])
        if _object_of(raw) != ob or (setup_id and raw.get("id", "") not in gone)
    ]
    if kept:
        scene[KEY] = kept
    elif KEY in scene:
        del scene[KEY]
    _note(ob, scene)


def make_ids_unique() -> None:
    """A copied scene brings its setups along: each of two gets its own id. The bake that both play stays."""
    seen: set[str] = set()
    for scene in bpy.data.scenes:
        raws: list[Any] = list(scene.get(KEY, [])) if scene.library is None else []
        copies = [_copied(raw) for raw in raws]
        changed = False
        for raw, copy in zip(raws, copies, strict=True):
            if _object_in(raw, scene) is None or _read(raw) is None:
                continue
            if not copy.get("id") or copy["id"] in seen:
                copy["id"], changed = new_id(), True
            seen.add(copy["id"])
        if changed:
            scene[KEY] = copies


def played() -> Iterator[str]:
    """The ids of all bakes that the open file plays or could go back to."""
    for scene in bpy.data.scenes:
        for setup in load(scene):
            yield from (one for one in (setup.bake, setup.previous) if one)


def _read(raw: Any) -> Setup | None:
    try:
        if raw["schema"] not in (1, 2, 3, SCHEMA):
            return None
        method = str(raw.get("method") or _ONLY_METHOD)
        is_former = raw["schema"] < SCHEMA and method == _ONLY_METHOD
        ob = raw.get("object")
        marks = _parsed(raw.get("fingerprint", "{}"))
        return Setup(
            object_name=ob.name if ob is not None else "",
            id=str(raw.get("id", "")),
            bake=str(raw["bake"]),
            previous=str(raw.get("previous", "")),
            previous_root=str(raw.get("previous_root", "")),
            made_group=str(raw.get("made_group", "")),
            settings={**(_FORMER_DEFAULTS if is_former else {}), **_parsed(raw["settings"])},
            fingerprint=dict(marks),
            passengers=[
                PassengerChoice(one["object"], bool(one["use"]), str(one["mode"]), str(one["id"]))
                for one in raw.get("passengers", [])
                if _object_of(one) is not None
            ],
            method=method,
            chosen=bool(raw.get("chosen", 0)),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> dict[str, Any]:
    return dict(json.loads(text))


def _object_of(raw: Any) -> Any:
    return raw.get("object") if hasattr(raw, "get") else None


def _object_in(raw: Any, scene: Any) -> Any:
    """The object of a stored setup if it is in the scene: a deleted one lives on while something points at it."""
    ob = _object_of(raw)
    return ob if ob is not None and scene.objects.get(ob.name) is not None and ob.users_scene else None


def _copied(raw: Any) -> dict[str, Any]:
    """A group as a plain one, with the groups in it."""
    copied: dict[str, Any] = {}
    for key in raw.keys():  # noqa: SIM118 (a property group iterates otherwise)
        value = raw[key]
        is_list = isinstance(value, list) and value and hasattr(value[0], "keys")
        copied[key] = [_copied(one) for one in value] if is_list else value
    return copied
