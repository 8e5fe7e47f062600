"""Vertex groups read through nodes, which hand a whole one over at once: ten times as fast as vertex by vertex."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from .subject import evaluated_mesh

_NAME = "Sinew Weights"


def read(ob: Any, names: list[str]) -> npt.NDArray[np.float32]:
    """Weights (t, names) at the end of the stack of a temporary object; 0 for vertices that are not in a group."""
    tree = _make_tree(names)
    modifier = ob.modifiers.new(_NAME, "NODES")
    try:
        modifier.node_group = tree
        attributes = evaluated_mesh(ob).attributes
        columns = [attributes[_stored(i)].data for i in range(len(names))]
        weights = np.zeros((len(names), len(columns[0])), dtype=np.float32)
        for column, row in zip(columns, weights, strict=True):
            column.foreach_get("value", row)
    finally:
        ob.modifiers.remove(modifier)
        bpy.data.node_groups.remove(tree)
    return weights.T


def _stored(index: int) -> str:
    return f".sinew_weights_{index}"


def _make_tree(names: list[str]) -> Any:
    """Stores each group as an attribute."""
    tree: Any = bpy.data.node_groups.new(_NAME, "GeometryNodeTree")
    for way in ("INPUT", "OUTPUT"):
        tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    last = tree.nodes.new("NodeGroupInput").outputs[0]
    for i, name in enumerate(names):
        group = tree.nodes.new("GeometryNodeInputNamedAttribute")
        store = tree.nodes.new("GeometryNodeStoreNamedAttribute")
        group.data_type = store.data_type = "FLOAT"
        group.inputs["Name"].default_value, store.inputs["Name"].default_value = name, _stored(i)
        weight = next(socket for socket in store.inputs if socket.name == "Value" and socket.enabled)
        tree.links.new(next(socket for socket in group.outputs if socket.enabled), weight)
        tree.links.new(last, store.inputs["Geometry"])
        last = store.outputs["Geometry"]
    tree.links.new(last, tree.nodes.new("NodeGroupOutput").inputs[0])
    return tree
