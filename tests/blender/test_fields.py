"""Force fields push flesh as they push Blender's own particles; animated ones and animated weights are followed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import bpy
import numpy as np
import pytest
import scenes
from inside import bake_here, baked_samples
from sinew.core.bake import fields as core_fields
from sinew.core.base.errors import BadInput
from sinew.core.flesh.settings import Settings
from sinew.scene import attributes, compat, fields, fingerprint, stack
from sinew.scene.sampler import Sampler
from sinew.scene.steps import finished
from sinew.setups.flesh.body import look_at
from sinew.setups.flesh.outer import FOLLOW

TIMESTEP = 0.04  # of particles, seconds a frame
FIELDS: list[tuple[str, float, dict[str, Any]]] = [
    ("WIND", 0.0, {"strength": 3.0}),
    ("WIND", 1.0, {"strength": 3.0, "flow": 1.0}),
    ("WIND", 0.0, {"strength": 3.0, "falloff_type": "CONE", "radial_falloff": 0.1, "use_radial_max": True,
                   "radial_max": 60.0}),
    ("WIND", 0.0, {"strength": 3.0, "falloff_type": "TUBE", "radial_falloff": 1.0, "falloff_power": 0.7,
                   "z_direction": "POSITIVE", "use_min_distance": True, "distance_min": 0.4}),
    ("FORCE", 0.0, {"strength": 2.0, "falloff_power": 1.5}),
    ("FORCE", 0.0, {"strength": 2.0, "use_gravity_falloff": True, "use_max_distance": True, "distance_max": 2.0}),
    ("FORCE", 0.0, {"strength": 2.0, "shape": "PLANE"}),
    ("FORCE", 0.0, {"strength": 2.0, "shape": "LINE", "z_direction": "NEGATIVE"}),
    ("VORTEX", 0.0, {"strength": 1.0}),
    ("VORTEX", 0.5, {"strength": 0.5, "shape": "PLANE"}),
    ("HARMONIC", 0.5, {"strength": 1.0, "harmonic_damping": 0.3, "rest_length": 0.5}),
    ("MAGNET", 1.0, {"strength": 2.0}),
    ("MAGNET", 1.0, {"strength": 2.0, "shape": "PLANE"}),
    ("DRAG", 4.0, {"linear_drag": 0.7, "quadratic_drag": 0.2}),
]  # fmt: skip


@pytest.fixture(autouse=True)
def empty_scene() -> None:
    scenes.reset_scene()


def add_field(kind: str, **values: Any) -> Any:
    bpy.ops.object.effector_add(type=kind, location=(0.3, -0.2, 0.1), rotation=(0.4, 0.2, 0.1))
    ob = bpy.context.object
    ob.field.flow = 0.0
    for name, value in values.items():
        setattr(ob.field, name, value)
    return ob


def particle_push(speed: float) -> tuple[Any, Any, Any]:
    """Where particles are, how fast, and what pushes them, in one frame."""
    scene = bpy.context.scene
    mesh = bpy.data.meshes.new("points")
    mesh.from_pydata(np.random.default_rng(1).uniform(-2.0, 2.0, (60, 3)).tolist(), [], [])
    ob = bpy.data.objects.new("emitter", mesh)
    scene.collection.objects.link(ob)
    ob.modifiers.new("particles", "PARTICLE_SYSTEM")
    settings = ob.particle_systems[0].settings
    values = {
        "count": 60, "frame_start": 1, "frame_end": 1, "lifetime": 1000, "emit_from": "VERT", "use_emit_random": False,
        "normal_factor": 0.0, "object_align_factor": (speed, 0.0, 0.0), "mass": 1.0, "integrator": "EULER",
    }  # fmt: skip
    for name, value in values.items():
        setattr(settings, name, value)
    settings.effector_weights.gravity = 0.0

    def state(frame: int) -> tuple[Any, Any]:
        scene.frame_set(frame)
        particles = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).particle_systems[0].particles
        found = [np.empty(3 * len(particles)) for _ in range(2)]
        particles.foreach_get("location", found[0])
        particles.foreach_get("velocity", found[1])
        return found[0].reshape(-1, 3), found[1].reshape(-1, 3)

    for frame in (1, 2):
        positions, velocities = state(frame)
    return positions, velocities, (state(3)[1] - velocities) / TIMESTEP


@pytest.mark.parametrize(("kind", "speed", "values"), FIELDS)
def test_a_field_pushes_flesh_as_it_pushes_particles(kind: str, speed: float, values: dict[str, Any]) -> None:
    ob = add_field(kind, **values)
    positions, velocities, pushed = particle_push(speed)
    found = core_fields.accelerations(np.array([core_fields.make_row(fields.read(ob))]), positions, velocities)
    assert np.abs(pushed).max() > 0.1
    assert np.abs(found - pushed).max() < 1e-3 * np.abs(pushed).max()


@pytest.mark.parametrize("size", (0.3, 2.0))
def test_turbulence_is_as_lively_as_that_of_particles(size: float) -> None:
    ob = add_field("TURBULENCE", strength=3.0, size=size)
    positions, velocities, pushed = particle_push(0.0)
    found = core_fields.accelerations(np.array([core_fields.make_row(fields.read(ob))]), positions, velocities)
    assert np.sqrt((found**2).mean()) == pytest.approx(np.sqrt((pushed**2).mean()), rel=0.25)


def test_wind_that_is_keyed_bends_free_parts_when_it_blows(tmp_path: Path) -> None:
    ob = scenes.build_cantilever(frames=24)
    bone = ob.parent.pose.bones["root"]
    for frame in (1, 24):  # the input stands still
        bone.location = (0.0, 0.0, 0.0)
        bone.keyframe_insert("location", frame=frame)
    values = {"resolution": 8, "follow_group": "follow", "settle": 0.2, "substeps": 2}
    calm = baked_samples(bake_here(ob, tmp_path, values).folder)
    wind = add_field("WIND")
    wind.rotation_euler = (np.pi / 2, 0.0, 0.0)  # along -y
    for frame, strength in ((1, 0.0), (11, 0.0), (12, 30.0), (24, 30.0)):
        wind.field.strength = strength
        wind.field.keyframe_insert("strength", frame=frame)
    outcome = bake_here(ob, tmp_path, values)
    pushed = baked_samples(outcome.folder) - calm
    assert np.abs(pushed[:10]).max() < 1e-6
    end = np.argmax([vertex.co.x for vertex in ob.data.vertices])
    assert pushed[20, end, 1] < -0.005 and abs(pushed[20, end, 2]) < 0.3 * abs(pushed[20, end, 1])
    assert np.abs(baked_samples(bake_here(ob, tmp_path, {**values, "fields": 0.0}).folder) - calm).max() == 0.0


def test_a_changed_field_makes_a_bake_stale_and_an_unknown_one_is_told(tmp_path: Path) -> None:
    ob = scenes.build_cantilever(frames=4)
    wind = add_field("WIND", strength=2.0)

    def marks() -> dict[str, str]:
        painted = {"weights": fingerprint.Painting(("follow",))}
        return fingerprint.take(ob, bpy.context.scene, (1, 4), carried=(), painted=painted)

    before = marks()
    wind.field.strength = 4.0
    assert fingerprint.changed(before, marks(), {}) == ["A force field has changed"]
    wind.field.type = "CHARGE"
    outcome = bake_here(ob, tmp_path, {"resolution": 5, "follow_group": "follow"})
    assert any("does not act on flesh" in warning for warning in outcome.report["warnings"])
    wind.field.type = "LENNARDJ"
    assert fields.kind(wind) == "Lennard-Jones"


def test_flesh_lets_go_and_is_caught_again_by_animated_weights(tmp_path: Path) -> None:
    ob = scenes.build_cantilever(frames=24)
    ob.vertex_groups.new(name="all").add(range(len(ob.data.vertices)), 1.0, "REPLACE")
    given = [_shown(ob, frame) for frame in range(1, 25)]
    ob[FOLLOW] = 1.0
    for frame, factor in ((1, 1.0), (2, 1.0), (3, 0.2), (16, 0.2), (18, 1.0)):  # the tube stops on frame 4
        ob[FOLLOW] = factor
        ob.keyframe_insert(f'["{FOLLOW}"]', frame=frame)
    values = {"resolution": 8, "follow_group": "all", "follow_animated": True, "substeps": 2, "jiggle": 1.0}
    outcome = bake_here(ob, tmp_path, values)
    found = baked_samples(outcome.folder)
    errors = [float(np.abs(one - shown).max()) for one, shown in zip(found, given, strict=True)]
    assert max(errors[:2]) < 2e-6 and max(errors[17:]) < 2e-6
    assert max(errors[8:15]) > 1e-2
    assert outcome.report["follow_error"]["max"] < 2e-6 and not outcome.report["warnings"]
    again = bake_here(ob, tmp_path, values)
    assert again.unchanged
    ob[FOLLOW] = "much"
    ob.animation_data_clear()
    with pytest.raises(Exception, match="must be a number"):
        bake_here(ob, tmp_path, values)


def test_weights_that_a_modifier_animates_are_read_on_every_frame(tmp_path: Path) -> None:
    ob = scenes.build_cantilever(frames=12)
    ob.vertex_groups.new(name="near").add(range(len(ob.data.vertices)), 1.0, "REPLACE")
    edit = ob.modifiers.new("edit", "VERTEX_WEIGHT_EDIT")
    edit.vertex_group, edit.invert_falloff = "near", True
    for frame, influence in ((1, 0.0), (5, 0.0), (6, 1.0)):
        edit.mask_constant = influence
        edit.keyframe_insert("mask_constant", frame=frame)
    for index in (0, 1):  # before and after the armature
        move_modifier(ob, "edit", index)
        with Sampler(ob) as sampler:
            bpy.context.scene.frame_set(3)
            early = sampler.group_now("near")
            bpy.context.scene.frame_set(9)
            late = sampler.group_now("near")
        assert early.min() == 1.0 and late.max() == 0.0


def test_our_place_is_after_weights_that_are_made_right_behind_the_last_deformer() -> None:
    ob = scenes.build_cantilever(frames=4)
    for name, kind in (("edit", "EDIT"), ("mix", "MIX"), ("near", "PROXIMITY")):
        ob.modifiers.new(name, f"VERTEX_WEIGHT_{kind}")
    ob.modifiers.new("subdivision", "SUBSURF")
    ob.modifiers.new("late", "VERTEX_WEIGHT_EDIT")
    assert [modifier.name for modifier in ob.modifiers][1] == "edit" and stack.find_place(ob, ()) == 4
    move_modifier(ob, "subdivision", 1)
    assert stack.find_place(ob, ()) == 1
    ob.modifiers.new("transfer", "DATA_TRANSFER")
    move_modifier(ob, "transfer", 1)
    assert stack.find_place(ob, ()) == 1


def _shown(ob: Any, frame: int) -> Any:
    bpy.context.scene.frame_set(frame)
    mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return np.array([vertex.co for vertex in mesh.vertices])


def add_storing_nodes(ob: Any, name: str, value: float) -> Any:
    """Nodes at the beginning of the stack that store a value for all points. The socket of the value."""
    tree = bpy.data.node_groups.new("Weights", "GeometryNodeTree")
    if hasattr(tree, "interface"):
        for way in ("INPUT", "OUTPUT"):
            tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
    else:
        tree.inputs.new("NodeSocketGeometry", "Geometry")
        tree.outputs.new("NodeSocketGeometry", "Geometry")
    store, begin, end = (
        tree.nodes.new(kind) for kind in ("GeometryNodeStoreNamedAttribute", "NodeGroupInput", "NodeGroupOutput")
    )
    store.data_type, store.domain = "FLOAT", "POINT"
    store.inputs["Name"].default_value = name
    socket = next(socket for socket in store.inputs if socket.name == "Value" and socket.enabled)
    socket.default_value = value
    tree.links.new(begin.outputs[0], store.inputs["Geometry"])
    tree.links.new(store.outputs["Geometry"], end.inputs[0])
    ob.modifiers.new("nodes", "NODES").node_group = tree
    move_modifier(ob, "nodes", 0)
    return socket


def move_modifier(ob: Any, name: str, index: int) -> None:
    with bpy.context.temp_override(object=ob, active_object=ob):
        bpy.ops.object.modifier_move_to_index(modifier=name, index=index)


@pytest.mark.parametrize("is_group", [True, False])
def test_weights_that_nodes_write_are_followed(tmp_path: Path, is_group: bool) -> None:
    """Into a vertex group, or as an attribute that no vertex group has the name of."""
    ob = scenes.build_cantilever(frames=6)
    if is_group:
        ob.vertex_groups.new(name="made").add([0], 0.5, "REPLACE")
    value = add_storing_nodes(ob, "made", 1.0)
    given = [_shown(ob, frame) for frame in range(1, 7)]
    outcome = bake_here(ob, tmp_path, {"resolution": 6, "follow_group": "made"})
    assert np.abs(baked_samples(outcome.folder) - given).max() < 2e-6
    value.default_value = 0.25
    with Sampler(ob) as sampler:
        assert np.all(sampler.group("made") == 0.25) and np.all(sampler.group_now("made") == 0.25)
    seen = look_at(ob.name, {"follow_group": "made"}).follow()  # what Show Weights and the cage show
    assert np.all(seen == 0.25) and ob.modifiers["Armature"].show_viewport
    assert np.all(look_at(ob.name, {"follow_group": "made", "spread": True}).follow() == 0.25)
    assert "made" in attributes.names(ob)
    value.default_value = 3.0
    with Sampler(ob) as sampler:
        assert np.all(sampler.group("made") == 1.0)


def test_what_nodes_leave_out_of_a_group_is_spread_over() -> None:
    ob = scenes.build_cantilever(frames=4)
    ob.vertex_groups.new(name="made")  # empty: all that is in it comes from nodes
    store = add_storing_nodes(ob, "made", 1.0).node
    if "Selection" not in store.inputs:
        pytest.skip("an old Blender, whose nodes store for all points")
    tree = store.id_data
    index, first = tree.nodes.new("GeometryNodeInputIndex"), tree.nodes.new("FunctionNodeCompare")
    first.data_type, first.operation = "INT", "LESS_THAN"
    left, right = (socket for socket in first.inputs if socket.type == "INT")
    right.default_value = 5
    tree.links.new(index.outputs[0], left)
    tree.links.new(first.outputs[0], store.inputs["Selection"])
    with Sampler(ob) as sampler:
        painted = finished(sampler.group_in_steps("made", float("nan")))
    assert np.all(painted[:5] == 1.0) and np.isnan(painted[5:]).all()
    seen = look_at(ob.name, {"follow_group": "made", "spread": True, "resolution": 6}).follow()
    assert np.all(seen == 1.0)


def test_every_group_may_be_an_attribute(tmp_path: Path) -> None:
    ob = scenes.build_cantilever(frames=4)
    add_storing_nodes(ob, "made", 0.6)
    groups = [name for name in Settings().as_dict() if name.endswith("_group")]
    assert len(groups) == 12
    groups.remove("edit_group")  # it counts where there are edits
    values = {**dict.fromkeys(groups, "made"), "average_regions": 2, "follow_after": 0.5, "collide": True}
    bake_here(ob, tmp_path, {"resolution": 6, **values})
    for name in groups:
        with pytest.raises(BadInput, match='no vertex group or float attribute of points "mad".*mean "made"'):
            bake_here(ob, tmp_path, {"resolution": 6, **values, name: "mad"})
    move_modifier(ob, "nodes", len(ob.modifiers) - 1)
    ob.modifiers.remove(ob.modifiers["Sinew"])
    with pytest.raises(BadInput, match="if they come before the last modifier that deforms"):
        bake_here(ob, tmp_path, {"resolution": 6, "follow_group": "made"})


def test_an_attribute_of_the_mesh_is_spread_where_it_is_not_negative_and_makes_a_bake_stale(tmp_path: Path) -> None:
    ob = scenes.build_cantilever(frames=4)
    stored = ob.data.attributes.new("stored", "FLOAT", "POINT")
    along = np.array([vertex.co.x for vertex in ob.data.vertices])
    values = np.where(along < 0.01, 1.0, np.where(along > along.max() - 0.01, 0.0, -1.0)).astype(np.float32)
    stored.data.foreach_set("value", values)
    ob.data.attributes.new("integers", "INT", "POINT")
    assert "stored" in attributes.names(ob) and "integers" not in attributes.names(ob)
    seen = look_at(ob.name, {"follow_group": "stored", "spread": True, "resolution": 8}).follow()
    assert np.all(seen[values == 1.0] == 1.0) and np.all(seen[values == 0.0] == 0.0)
    assert ((seen > 0.1) & (seen < 0.9)).sum() > len(seen) / 4
    plain = look_at(ob.name, {"follow_group": "stored"}).follow()
    assert np.array_equal(plain, np.maximum(values, 0.0))
    before = fingerprint.take_weights(ob, "stored")
    stored.data[0].value = 0.5
    assert fingerprint.take_weights(ob, "stored") != before


def test_a_changed_input_of_nodes_makes_a_bake_stale() -> None:
    ob = scenes.build_cantilever(frames=4)
    tree = bpy.data.node_groups.new("Nothing", "GeometryNodeTree")
    if hasattr(tree, "interface"):
        for way in ("INPUT", "OUTPUT"):
            tree.interface.new_socket("Geometry", in_out=way, socket_type="NodeSocketGeometry")
        tree.interface.new_socket("Factor", in_out="INPUT", socket_type="NodeSocketFloat")
    else:
        tree.inputs.new("NodeSocketGeometry", "Geometry")
        tree.outputs.new("NodeSocketGeometry", "Geometry")
        tree.inputs.new("NodeSocketFloat", "Factor")
    modifier = ob.modifiers.new("nodes", "NODES")
    modifier.node_group = tree

    def marks() -> dict[str, str]:
        painted = {"weights": fingerprint.Painting(("follow",))}
        return fingerprint.take(ob, bpy.context.scene, (1, 4), carried=(), painted=painted)

    before = marks()
    path = next(path for path, value in compat.node_inputs(modifier) if isinstance(value, float))
    exec(f"modifier{path} = 0.7", {"modifier": modifier})
    assert fingerprint.changed(before, marks(), {}) == ["The modifiers have changed"]
