"""The files of a bake of cloth, beside those of every bake."""

from __future__ import annotations

from collections.abc import Mapping

from ...bake import contact, fields
from ...bake.method import Layout, Shape


def layout(vertices: int, counts: Mapping[str, int]) -> Layout:
    """From the number of rows of the guide, of their entries and of what hinges carry; `fields` is how many force
    fields act, `reshaped` whether samples have the undeformed shape, `paired` how many groups a guide places. One that
    collides has the counts of that too."""
    points: Shape = ((vertices, 3), "<f8")
    constants: dict[str, Shape] = {
        "follow": ((vertices,), "<f8"),
        "row_start": ((counts["rows"] + 1,), "<i4"),
        "row_points": ((counts["row_entries"],), "<i4"),
        "row_weights": ((counts["row_entries"],), "<f8"),
    }
    inputs: dict[str, Shape] = {}
    if counts["fields"]:
        inputs["fields"] = ((counts["fields"], fields.WIDTH), "<f8")
    if counts.get("reshaped"):
        inputs["undeformed"] = ((vertices, 3), "<f4")
    if counts.get("paired"):
        inputs["paired"] = ((counts["paired"], 3), "<f8")
    # Cloth in world metres and m/s, and what its hinges carry.
    inner = counts["inner"] if "inner" in counts else counts["hinges"]  # in bakes of before their angles alone
    state: dict[str, Shape] = {"simulated": points, "velocity": points, "inner": ((inner, 1), "<f8")}
    met = contact.files_of(counts)
    return Layout({**constants, **met.constants}, {**inputs, **met.inputs}, state=state, pieces=met.pieces)
