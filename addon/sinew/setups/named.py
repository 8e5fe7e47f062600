"""What of an object a setting names: a vertex group, a shape key, a UV map."""

from __future__ import annotations

from typing import Any

from ..core.base.settings import NONE, SHAPE_KEY, UV_MAP, VERTEX_GROUP
from ..scene import attributes


def is_there(ob: Any, kind: str, name: str) -> bool:
    """Whether the object has it; nothing always is."""
    if name in ("", NONE):
        return True
    if kind == SHAPE_KEY:
        keys = ob.data.shape_keys
        return keys is not None and name in keys.key_blocks
    return {VERTEX_GROUP: attributes.has_weights, UV_MAP: _has_uv_map}[kind](ob, name)


def _has_uv_map(ob: Any, name: str) -> bool:
    return name in ob.data.uv_layers
