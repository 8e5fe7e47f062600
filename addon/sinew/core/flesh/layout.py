"""The files of a bake of flesh, beside those of every bake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..bake import contact, fields
from ..bake.method import Layout, Shape


def layout(vertices: int, counts: Mapping[str, int]) -> Layout:
    """From cage_vertices and tets; `parts` is 1 where some vertices carry no input or are rigid, `safe` where the cage
    was built in a safe pose, `inside` where vertices of the cage follow by themselves, as cores of limbs do, and
    `animated` where follow weights are; `fields` is how many force fields act. One that collides has the counts of that
    too."""
    cage: Shape = ((counts["cage_vertices"], 3), "<f8")
    constants: dict[str, Shape] = {
        "follow": ((vertices,), "<f8"),
        "cage_vertices": cage,
        "cage_tets": ((counts["tets"], 4), "<i4"),
        "cage_binding": ((vertices,), "<i4"),
        "cage_weights": ((vertices, 4), "<f8"),
    }
    if counts["parts"]:
        constants |= dict.fromkeys(("tracked", "rigid"), ((vertices,), "<i4"))
    if counts["safe"]:
        constants["cage_safe"] = cage
    if counts["inside"]:
        constants["cage_follow"] = ((counts["cage_vertices"],), "<f8")
    inputs: dict[str, Shape] = {}
    if counts["fields"]:
        inputs["fields"] = ((counts["fields"], fields.WIDTH), "<f8")
    if counts["animated"]:
        inputs["follow_now"] = ((vertices,), "<f4")
    met = contact.files_of(counts)
    # The cage as it follows the input, and as the flesh moves: world metres and m/s.
    return Layout(
        {**constants, **met.constants},
        {**inputs, **met.inputs},
        prepared={"fitted": cage},
        state={"simulated": cage, "velocity": cage},
        pieces=met.pieces,
    )


def older_counts(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Schema 3 had them by name, and those before 6 what acts from outside."""
    counts = {name: manifest[name] for name in ("cage_vertices", "tets") if name in manifest}
    if manifest["schema"] == 3:
        counts |= {name: int(bool(manifest.get(f"has_{name}"))) for name in ("parts", "safe", "inside")}
    fields_then = manifest.get("fields", 0)
    return {**counts, "fields": fields_then, "animated": int(bool(manifest.get("animated_follow")))}
