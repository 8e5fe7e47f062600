"""What a node tree does, as a hash: its nodes with their values, how they are linked, the groups in it and its keys.

Neither the names of nodes nor their order count, and nothing of how the tree is laid out: a node is known by what it
does, and a link by the two nodes that it joins.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import bpy

from . import animation

# They are for the eye alone.
_UNSEEN = frozenset({"NodeFrame", "GeometryNodeViewer"})
# What every node has is how it looks, but whether it is muted.
_LOOKS = frozenset(prop.identifier for prop in bpy.types.Node.bl_rna.properties) - {"mute"}
_DEPTH = 4  # a curve of a node: mapping, curves, points


def hash_of(tree: Any, known: dict[str, str] | None = None) -> str:
    """A hash of all that a tree does. Values that are animated count by their keys: they change with the frame."""
    known = {} if known is None else known
    name = tree.name_full
    if name not in known:
        known[name] = ""  # a group cannot be in itself, but a damaged file may say so
        moved = animation.animated(tree)
        keys = {node.name: _node(node, moved, known) for node in tree.nodes if node.bl_idname not in _UNSEEN}
        links = [
            (
                keys[link.from_node.name], link.from_socket.identifier, keys[link.to_node.name],
                link.to_socket.identifier, link.is_muted, getattr(link, "multi_input_sort_id", 0),
            )
            for link in tree.links
            if link.from_node.name in keys and link.to_node.name in keys
        ]  # fmt: skip
        data = tree.animation_data
        known[name] = _hash(sorted(keys.values()), sorted(links), *(animation.described(data) if data else ()))
    return known[name]


def _node(node: Any, animated: frozenset[str], known: dict[str, str]) -> str:
    path = f'nodes["{node.name}"]'
    values = [node.bl_idname, *_values(node, path, animated, known)]
    # A node without inputs that holds a value holds it in its output.
    side, sockets = ("inputs", node.inputs) if len(node.inputs) else ("outputs", node.outputs)
    for index, socket in enumerate(sockets):
        counts = hasattr(socket, "default_value") and (socket.is_output or not socket.is_linked)
        if counts and f"{path}.{side}[{index}].default_value" not in animated:
            values.append((socket.identifier, _plain(socket.default_value, known)))
    return _hash(*values)


def _values(thing: Any, path: str, animated: frozenset[str], known: dict[str, str], depth: int = 0) -> Iterator[Any]:
    """The values of a node, or of what it has: curves, colour ramps, lists of items."""
    for name, kind in _properties(thing.bl_rna, depth):
        below = f"{path}.{name}"
        if any(moved == below or moved.startswith((f"{below}.", f"{below}[")) for moved in animated):
            continue
        value = getattr(thing, name)
        if kind == "COLLECTION":
            for index, item in enumerate(value):
                yield index, *_values(item, f"{below}[{index}]", animated, known, depth + 1)
        elif kind != "POINTER" or value is None or isinstance(value, bpy.types.ID):
            yield name, _plain(value, known)
        elif not isinstance(value, (bpy.types.Node, bpy.types.NodeSocket)):
            yield name, *_values(value, below, animated, known, depth + 1)


_known_properties: dict[tuple[str, int], list[tuple[str, str]]] = {}  # asking Blender for them takes long


def _properties(rna: Any, depth: int) -> list[tuple[str, str]]:
    """Names and kinds of what counts of a type, 0 for nodes; the deeper, the less."""
    key = (rna.identifier, depth)
    if key not in _known_properties:
        _known_properties[key] = [
            (prop.identifier, prop.type)
            for prop in rna.properties
            if not prop.identifier.startswith(("show", "active", "rna_type"))
            and not (depth == 0 and prop.identifier in _LOOKS)
            and (depth < _DEPTH if prop.type in ("POINTER", "COLLECTION") else not prop.is_readonly)
        ]
    return _known_properties[key]


def _plain(value: Any, known: dict[str, str]) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bpy.types.NodeTree):
        return hash_of(value, known)
    if isinstance(value, bpy.types.ID):
        return value.name_full
    return sorted(value) if isinstance(value, set) else tuple(value)


def _hash(*parts: Any) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part if isinstance(part, bytes) else repr(part).encode())
    return digest.hexdigest()
