"""The files of a bake of flesh, beside those of every bake."""

from __future__ import annotations

from collections.abc import Mapping

from ...bake.method import Layout, Shape


def layout(vertices: int, counts: Mapping[str, int]) -> Layout:
    """From cage_vertices and tets; `parts` is 1 where some vertices carry no input or are rigid, `safe` where the cage
    was built in a safe pose, `inside` where vertices of the cage follow by themselves, as cores of limbs do."""
    cage: Shape = ((counts["cage_vertices"], 3), "<f8")
    constants: dict[str, Shape] = {
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
    # The cage as it follows the input, and as the flesh moves: world metres and m/s.
    return Layout(constants, prepared={"fitted": cage}, state={"simulated": cage, "velocity": cage})
