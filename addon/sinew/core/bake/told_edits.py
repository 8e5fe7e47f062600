"""What a report says of edits, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LANDED = 1e-3  # of size: a handle that misses by less is where it is pulled


def percent(share: float) -> str:
    """Of two digits, without an exponent."""
    amount = 100.0 * share
    return f"{amount:.0f} %" if amount >= 10.0 else f"{amount:.2g} %" if amount >= 1e-3 else "under 0.001 %"


def lines(edits: Mapping[str, Any] | None) -> list[str]:
    if not edits or not (edits["handles"] or edits["baked_in"] or edits["left_out"]):
        return []
    if not edits["handles"]:
        return ["Edited by what is baked in" if edits["baked_in"] else "No handle acts", *edits["left_out"]]
    handles = "1 handle" if edits["handles"] == 1 else f"{edits['handles']} handles"
    missed = edits["missed_relative"]
    landed = "all land" if missed < LANDED else f"the farthest misses by {percent(missed)} of size"
    held = edits.get("contact_rows", 0)
    kept = f"; {held} contacts held, off by {percent(edits['slipped_relative'])} of size at most" if held else ""
    return [f"Edited by {handles}: {landed}{kept}", *edits["left_out"]]
