"""Float attributes of points, which nodes store: where a vertex group is named, one of these may be meant."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import numpy.typing as npt


def read(mesh: Any, name: str) -> npt.NDArray[np.float32] | None:
    """The values (n,) of the attribute of that name; None where there is none of floats on points."""
    attribute = mesh.attributes.get(name)
    if attribute is None or not _is_weight(attribute):
        return None
    values = np.empty(len(attribute.data), np.float32)
    attribute.data.foreach_get("value", values)
    return values


def names(ob: Any) -> list[str]:
    """The vertex groups of an object, and the attributes that it shows now: what weights can be taken from."""
    groups = [group.name for group in ob.vertex_groups]
    found = (one.name for mesh in _meshes(ob) for one in mesh.attributes if _is_weight(one))
    return [*groups, *dict.fromkeys(name for name in found if name not in groups and not name.startswith("."))]


def has_weights(ob: Any, name: str) -> bool:
    """Whether it has such a group or attribute."""
    return name in ob.vertex_groups or any(
        mesh.attributes.get(name) is not None and _is_weight(mesh.attributes[name]) for mesh in _meshes(ob)
    )


def _meshes(ob: Any) -> list[Any]:
    """What is drawn is asked for, and nothing is evaluated for it."""
    return [ob.data, ob.evaluated_get(bpy.context.view_layer.depsgraph).data]


def _is_weight(attribute: Any) -> bool:
    return bool(attribute.domain == "POINT" and attribute.data_type == "FLOAT")
