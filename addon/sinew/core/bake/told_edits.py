"""What a report says of edits, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LANDED = 1e-3  # of size: a handle that misses by less is where it is pulled


def lines(edits: Mapping[str, Any] | None) -> list[str]:
    if not edits or not (edits["handles"] or edits["baked_in"] or edits["left_out"]):
        return []
    if not edits["handles"]:
        return ["Edited by what is baked in" if edits["baked_in"] else "No handle acts", *edits["left_out"]]
    handles = "1 handle" if edits["handles"] == 1 else f"{edits['handles']} handles"
    missed = edits["missed_relative"]
    landed = "all land" if missed < _LANDED else f"the farthest misses by {100 * missed:.2g} % of size"
    held = edits.get("contact_rows", 0)
    kept = f"; {held} contacts held, off by {100 * edits['slipped_relative']:.2g} % of size at most" if held else ""
    return [f"Edited by {handles}: {landed}{kept}", *edits["left_out"]]
