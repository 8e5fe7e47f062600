"""What every method whose bakes can be edited has among its settings."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from ..base.settings import CHANGED, DATA, RESULT, setting


@dataclass(frozen=True)
class EditSettings:
    simulate: bool = setting(
        True,
        "Off: nothing swings, the mesh is only fitted, completed and kept rigid where groups ask for it",
        counts=CHANGED,
    )
    edits: str = setting(
        "",
        "Handles that pull the finished motion, as Edit Motion writes them. Needs no new simulation",
        high=1e6,
        belongs=RESULT,
        counts=CHANGED,
        label="Edit Motion",
    )
    edit_group: str = setting(
        "",
        "Vertex group that says where Edit Motion acts: 1 fully, 0 not at all. Empty is everywhere",
        belongs=RESULT,
        counts=DATA,
        label="Edit Region",
    )


def of_edits(name: str, counts: str = "") -> Any:
    """One of them, for settings that name it among their own, and so say where it stands. `counts`: how it does in the
    hashes of a bake, if otherwise: a method may have had it from the beginning."""
    field = EditSettings.__dataclass_fields__[name]
    metadata = {**field.metadata, "counts": counts or field.metadata["counts"]}
    return dataclasses.field(default=field.default, metadata=metadata)
