"""The files of a bake of a face, beside those of all flesh."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from ...bake.method import Layout, Shape
from ...flesh.layout import layout as of_flesh

FRAMES = ("head_frame", "jaw_frame")


def layout(vertices: int, counts: Mapping[str, int]) -> Layout:
    """`keys` is how many shape keys change the material; `head_frame` and `jaw_frame` are 1 where a bone or an object
    says how head and jaw move, by its matrix."""
    found = of_flesh(vertices, counts)
    values: dict[str, Shape] = {"keys": ((counts["keys"], 1), "<f8")} if counts.get("keys") else {}
    values |= {name: ((4, 4), "<f8") for name in FRAMES if counts.get(name)}
    return dataclasses.replace(found, inputs={**found.inputs, **values})
