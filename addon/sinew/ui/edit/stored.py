"""The edits of a setup, read and written; and the bake that they act on, open while it is edited."""

from __future__ import annotations

import dataclasses
from typing import Any

from ...core.base.errors import BadInput, Error
from ...core.edit.handles import Edits
from ...scene import setup
from .. import job_operator
from ..setup import live, operators, properties, state

SETTING = "edits"


def can_be_edited(item: Any) -> bool:
    return SETTING in properties.settings_of(item).all()


def is_editable(cls: Any, context: Any) -> bool:
    """Whether an operator that edits can be called: as `poll` asks."""
    if not operators.has_idle_setup(cls, context):
        return False
    item = operators.active_item(context)
    if item is None or not can_be_edited(item):
        cls.poll_message_set("The motion of this setup cannot be edited yet")
        return False
    return True


def edits_of(item: Any) -> Edits:
    """Those of a setup; what cannot be read counts as none, and `write` goes over it."""
    try:
        return Edits.from_text(getattr(properties.settings_of(item), SETTING, ""))
    except BadInput:
        return Edits()


def write(item: Any, edits: Edits) -> None:
    """Handles are of the mesh of the bake that is seen while they are made."""
    bake = state.bake_of(item)
    properties.write(item, SETTING, edits.of_mesh(bake[1].topology if bake is not None else "").to_text())


def change(item: Any, **values: Any) -> None:
    """Changes how a setup is edited; what makes no sense is told and changes nothing."""
    try:
        edits = dataclasses.replace(edits_of(item), **values)
    except BadInput as error:
        job_operator.tell_failure(item.object.name, str(error))
        return
    write(item, edits)


def change_handle(item: Any, number: int, **values: Any) -> None:
    handles = list(edits_of(item).handles)
    try:
        handles[number] = dataclasses.replace(handles[number], **values)
    except BadInput as error:
        job_operator.tell_failure(item.object.name, str(error))
        return
    change(item, handles=tuple(handles))


def is_pending(item: Any) -> bool:
    """Whether the edits are not those that the bake plays."""
    entry = setup.find_of(item.object, item.id_data)
    if entry is None or not entry.bake or not can_be_edited(item):
        return False
    try:
        manifest = state.manifest_of(state.target().root, entry.bake)
    except Error:
        return False
    return bool(manifest.settings.get(SETTING, "") != getattr(properties.settings_of(item), SETTING))


def open_now(item: Any) -> Any | None:
    """The edits of a setup on its bake (a StoredEdits), which is opened if need be; None where it cannot be edited."""
    results = live.opened(item)
    return results.shown.edited(results.store) if results is not None else None


def opened(item: Any) -> Any | None:
    """The same, if the bake is open."""
    now = live.session.live
    entry = setup.find_of(item.object, item.id_data)
    if now is None or now.results is None or entry is None or (now.setup_id, now.bake) != (entry.id, entry.bake):
        return None
    return now.results.shown.edited(now.results.store)
