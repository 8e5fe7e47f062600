"""Edits of an object of the open file: as settings of its bake, or of one that is only fitted where it has none."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from ...core.base.errors import BadInput
from ...core.edit.handles import Edits, Handle
from ...core.flesh.settings import Settings
from ...scene import setup
from ...scene.objects import find_object
from ..sampling import method_for
from ..target import sentences


def edited_values(name: str, handles: Sequence[Handle], *, clear: bool = False, **how: Any) -> dict[str, Any]:
    """Values with which a bake of an object is pulled by more handles. `clear`: those that it has are forgotten; `how`:
    fields of `Edits`. A mesh that Sinew has not moved yet is as it was but for them: nothing is simulated, and all of
    it can be pulled."""
    with sentences():
        ob = find_object(name)
        entry = setup.find_of(ob, setup.current_scene())
    if entry is not None and "edits" not in method_for(name).settings.all():
        raise BadInput(f'"{name}" is baked by {method_for(name).label}, which cannot be edited yet.')
    for handle in handles:
        if max(handle.vertices) >= len(ob.data.vertices):
            count = len(ob.data.vertices)
            raise BadInput(f'There is no vertex {max(handle.vertices)}: "{name}" has {count}, from 0 on.')
    values: dict[str, Any] = {}
    before = Edits()
    if entry is None:
        values["simulate"] = False
        how.setdefault("free", True)
    elif not clear:
        before = Edits.from_text(Settings().replace(entry.settings).edits)
    edits = dataclasses.replace(before, handles=(*before.handles, *handles), **how)
    return {**values, "edits": edits.to_text()}
