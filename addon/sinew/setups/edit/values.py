"""Edits of an object of the open file: as settings of its bake, or of one that simulates nothing where it has none."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ...core.bake.method import Method, find
from ...core.base.errors import BadInput
from ...core.edit.handles import Edits, Handle
from ...scene import setup
from ...scene.bones import deform_bones
from ...scene.objects import find_object
from ..reading import method_to_edit
from ..target import sentences

SETTING = "edits"


def only_edited(method: Method, ob: Any) -> dict[str, Any]:
    """Settings of a setup that only serves to be edited: as far as the method has them, it simulates nothing, and all
    of a mesh may be pulled that nothing carries. Bones do: what follows them stays, or a pull would carry off the
    whole body on all frames."""
    edits = Edits(free=not deform_bones(ob, len(ob.modifiers)))
    values: dict[str, Any] = {"simulate": False, "collide": False, SETTING: edits.to_text()}
    return {name: value for name, value in values.items() if name in method.settings.all()}


def edited_values(
    name: str, handles: Sequence[Handle], *, clear: bool = False, **how: Any
) -> tuple[str, dict[str, Any]]:
    """Values with which a bake of an object is pulled by more handles, and the name of its method. `clear`: those that
    it has are forgotten; `how`: fields of `Edits`. A mesh that Sinew has not moved yet is as it was but for them:
    nothing is simulated."""
    with sentences():
        ob = find_object(name)
        entry = setup.find_of(ob, setup.current_scene())
        method = find(entry.method) if entry is not None else find(method_to_edit(ob))
    if SETTING not in method.settings.all():
        raise BadInput(f'"{name}" is baked by {method.label}, which cannot be edited.')
    for handle in handles:
        if max(handle.vertices) >= len(ob.data.vertices):
            count = len(ob.data.vertices)
            raise BadInput(f'There is no vertex {max(handle.vertices)}: "{name}" has {count}, from 0 on.')
    values: dict[str, Any] = {}
    before = Edits()
    if entry is None:
        values = only_edited(method, ob)
        before = Edits.from_text(values[SETTING])
    elif not clear:
        before = Edits.from_text(getattr(method.settings().replace(entry.settings), SETTING))
    edits = dataclasses.replace(before, handles=(*before.handles, *handles), **how)
    if "floor" in how and not edits.contacts:
        raise BadInput("A floor alone does nothing: say with --keep-contacts what becomes of contacts with it.")
    return method.name, {**values, SETTING: edits.to_text()}
