"""The files of a bake of a face, beside those of all flesh."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from ...bake.method import Layout
from ...flesh.layout import layout as of_flesh


def layout(vertices: int, counts: Mapping[str, int]) -> Layout:
    """`keys` is how many shape keys change the material."""
    found = of_flesh(vertices, counts)
    values = {"keys": ((counts["keys"], 1), "<f8")} if counts.get("keys") else {}
    return dataclasses.replace(found, inputs={**found.inputs, **values})
