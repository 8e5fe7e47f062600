"""A change inside a node tree makes a bake stale; how the tree looks does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bpy
import pytest
import scenes
from sinew.scene import fingerprint, node_tree

TOLD = ["A node tree of the modifiers has changed"]


def add_socket(tree: Any, name: str, kind: str, way: str) -> None:
    if hasattr(tree, "interface"):
        tree.interface.new_socket(name, in_out=way, socket_type=kind)
    else:
        (tree.inputs if way == "INPUT" else tree.outputs).new(kind, name)


def new_tree(name: str, kind: str) -> Any:
    """A tree that takes and gives one thing."""
    tree = bpy.data.node_groups.new(name, "GeometryNodeTree")
    for way, node in (("INPUT", "NodeGroupInput"), ("OUTPUT", "NodeGroupOutput")):
        add_socket(tree, "Geometry", kind, way)
        tree.nodes.new(node)
    return tree


@pytest.fixture
def body() -> Any:
    """A body with a modifier that moves it by a group in its tree, as a curve, a value and a menu say."""
    scenes.reset_scene()
    ob = scenes.build_cantilever(frames=4)
    inner = new_tree("Inner", "NodeSocketFloat")
    curve, value = inner.nodes.new("ShaderNodeFloatCurve"), inner.nodes.new("ShaderNodeValue")
    inner.links.new(value.outputs[0], curve.inputs[1])
    inner.links.new(curve.outputs[0], inner.nodes["Group Output"].inputs[0])
    tree = new_tree("Outer", "NodeSocketGeometry")
    group, move = tree.nodes.new("GeometryNodeGroup"), tree.nodes.new("GeometryNodeSetPosition")
    vector = tree.nodes.new("ShaderNodeVectorMath")
    group.node_tree = inner
    tree.links.new(tree.nodes["Group Input"].outputs[0], move.inputs[0])
    tree.links.new(group.outputs[0], vector.inputs[0])
    tree.links.new(vector.outputs[0], move.inputs["Offset"])
    tree.links.new(move.outputs[0], tree.nodes["Group Output"].inputs[0])
    ob.modifiers.new("Move", "NODES").node_group = tree
    return ob


def told(ob: Any, change: Callable[[Any], None]) -> list[str]:
    """What is said after a change of the body's outer tree."""

    def marks() -> dict[str, str]:
        painted = {"weights": fingerprint.Painting(("follow",))}
        return fingerprint.take(ob, bpy.context.scene, (1, 4), carried=(), painted=painted)

    before = marks()
    change(ob.modifiers["Move"].node_group)
    return fingerprint.changed(before, marks(), {})


def set_input(tree: Any) -> None:
    tree.nodes["Vector Math"].inputs[1].default_value = (0.0, 0.0, 0.1)


def set_menu(tree: Any) -> None:
    tree.nodes["Vector Math"].operation = "CROSS_PRODUCT"


def set_value_in_group(tree: Any) -> None:
    tree.nodes["Group"].node_tree.nodes["Value"].outputs[0].default_value = 0.3


def bend_curve(tree: Any) -> None:
    tree.nodes["Group"].node_tree.nodes["Float Curve"].mapping.curves[0].points[0].location = (0.0, 0.2)


def cut_link(tree: Any) -> None:
    tree.links.remove(next(link for link in tree.links if link.to_socket.name == "Offset"))


def mute(tree: Any) -> None:
    tree.nodes["Set Position"].mute = True


def key_input(tree: Any) -> None:
    tree.nodes["Vector Math"].inputs[1].keyframe_insert("default_value", frame=2)


CHANGES = [set_input, set_menu, set_value_in_group, bend_curve, cut_link, mute, key_input]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_a_tree_does_counts(body: Any, change: Any) -> None:
    assert told(body, change) == TOLD


def test_how_a_tree_looks_does_not_count(body: Any) -> None:
    def tidy(tree: Any) -> None:
        frame = tree.nodes.new("NodeFrame")
        for place, node in enumerate(tree.nodes):
            node.location, node.select, node.hide, node.label = (40.0 * place, 9.0), False, True, "Tidy"
            node.use_custom_color, node.color = True, (1.0, 0.0, 0.0)
            if node != frame:
                node.parent = frame
        tree.nodes["Vector Math"].name = "Sum"
        tree.nodes.active = frame
        tree.name = "Other"

    assert told(body, tidy) == []


def test_an_animated_value_counts_by_its_keys_and_not_by_the_frame(body: Any) -> None:
    socket = body.modifiers["Move"].node_group.nodes["Vector Math"].inputs[1]
    for frame in (1, 4):
        socket.default_value[2] = 0.1 * frame
        socket.keyframe_insert("default_value", frame=frame)
    bpy.context.scene.frame_set(1)
    assert told(body, lambda _: bpy.context.scene.frame_set(3)) == []

    def move_key(_: Any) -> None:
        socket.default_value[2] = 0.7
        socket.keyframe_insert("default_value", frame=4)

    assert told(body, move_key) == TOLD


def test_a_bake_from_before_trees_were_looked_at_is_not_stale_for_that(body: Any) -> None:
    now = fingerprint.take(body, bpy.context.scene, (1, 4), carried=(), painted={})
    assert fingerprint.changed({name: mark for name, mark in now.items() if name != "nodes"}, now, {}) == []


def test_equal_trees_have_equal_hashes(body: Any) -> None:
    tree = body.modifiers["Move"].node_group
    assert node_tree.hash_of(tree.copy()) == node_tree.hash_of(tree)
