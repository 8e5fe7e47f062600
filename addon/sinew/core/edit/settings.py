"""What every method whose bakes can be edited has among its settings."""

from __future__ import annotations

from dataclasses import dataclass

from ..base.settings import CHANGED, RESULT, setting, vertex_group


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
    edit_group: str = vertex_group(
        "Vertex group that says where Edit Motion acts: 1 fully, 0 not at all. Empty is everywhere",
        "Edit Region",
        RESULT,
    )
