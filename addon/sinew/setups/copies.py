"""Setups of copies: of a duplicated or appended object, and of others that are to have the same settings."""

from __future__ import annotations

import re
from typing import Any

from ..core.bake.method import find, known
from ..core.base.errors import BadInput
from ..core.base.settings import VERTEX_GROUP
from ..scene import playback, setup
from ..scene.groups import copy_group
from . import named
from .passengers import choices_of, new_setup
from .reading import reading_of


def adopt_copies(scene: Any) -> int:
    """Gives the objects of a scene that are copies the setups that they have brought along. How many there were."""
    adopted = 0
    for ob in scene.objects:
        # An override has them from its library for ever: there the artist adds a setup.
        if ob.type == "MESH" and ob.library is None and ob.override_library is None and setup.copied(ob):
            adopted += adopt(ob, scene)
    return adopted


def adopt(ob: Any, scene: Any) -> int:
    """The setups that an object has brought along become its own. It goes on playing the bake that it plays."""
    brought = setup.copied(ob)
    for entry in brought:
        if entry.method not in {method.name for method in known()}:
            continue
        if playback.bake_id(ob) != entry.bake:
            entry.bake, entry.fingerprint = "", {}
        settings = find(entry.method).settings()
        entry.passengers = choices_of(ob, scene, settings, entry.id)
        for choice in entry.passengers:
            was = entry.carried.get(_original(choice.object.name, entry.carried))
            choice.use, choice.mode = was or (choice.use, choice.mode)
        setup.save_of(ob, entry, scene)
    return len(brought)


def copy_settings(source: Any, target: Any, scene: Any) -> list[str]:
    """Gives an object the settings of the shown setup of another one, and its painted groups, if both have the same
    vertices. The labels of settings that name what the target does not have (a group, a key): they stay empty."""
    entry = setup.find_of(source, scene)
    if entry is None:
        raise BadInput(f'"{source.name}" has no Sinew setup: add one first.')
    settings = find(entry.method).settings().replace(entry.settings)
    known, changed = settings.all(), settings.changed()
    names = {name: value for name, value in changed.items() if known[name].names}
    groups = {value for name, value in names.items() if known[name].names == VERTEX_GROUP}
    has_same_vertices = len(source.data.vertices) == len(target.data.vertices) and source.data != target.data
    for group in groups | set(reading_of(entry.method).groups) if has_same_vertices else ():
        copy_group(source, target, group)
    left_out = [name for name, value in names.items() if not named.is_there(target, known[name].names, value)]
    there = setup.find_of(target, scene, entry.method) or new_setup(target, scene, entry.method)
    there.settings = settings.replace(dict.fromkeys(left_out, "")).changed()
    setup.save_of(target, there, scene)
    return [settings.find(name).label for name in left_out]


def _original(name: str, names: Any) -> str:
    """What the mesh was called of which this one is a copy: Hat for Hat.001."""
    return name if name in names else re.sub(r"\.\d{3,}$", "", name)
