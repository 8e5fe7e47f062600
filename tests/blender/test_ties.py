"""What carries a mesh, moved or changed without touching the mesh: the bake is stale, and not by the current frame."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import bpy
import faces
import pytest
import scenes
import sinew
from inside import save
from mathutils import Matrix
from panel_use import activate, item, state_now
from sinew import setups
from sinew.scene import fingerprint, setup
from sinew.setups.check import check_object
from sinew.ui.setup import state

Change = Callable[[], Any]
CASES: dict[str, Callable[[Any], Change]] = {}


def case(make: Callable[[Any], Change]) -> Callable[[Any], Change]:
    CASES[make.__name__] = make
    return make


def empty(name: str, parent: Any = None) -> Any:
    ob = bpy.data.objects.new(name, None)
    bpy.context.scene.collection.objects.link(ob)
    ob.parent = parent
    return ob


def rig() -> Any:
    """Two bones: head and other."""
    ob = bpy.data.objects.new("Rig", bpy.data.armatures.new("Rig"))
    bpy.context.scene.collection.objects.link(ob)
    activate("Rig")
    bpy.ops.object.mode_set(mode="EDIT")
    for x, name in enumerate(("head", "other")):
        bone = ob.data.edit_bones.new(name)
        bone.head, bone.tail = (x, 0.0, 0.0), (x, 0.0, 1.0)
    bpy.ops.object.mode_set(mode="OBJECT")
    return ob


def held_by_bone(ob: Any) -> Any:
    ob.parent = rig()
    ob.parent_type, ob.parent_bone = "BONE", "head"
    return ob.parent


def held(ob: Any, kind: str, target: Any = None) -> Any:
    one = ob.constraints.new(kind)
    if target is not None:
        one.target = target
    return one


def sets(thing: Any, name: str, value: Any) -> Change:
    return lambda: setattr(thing, name, value)


@case
def parent(ob: Any) -> Change:
    ob.parent = empty("Parent")
    return sets(ob.parent, "location", (1.0, 0.0, 0.0))


@case
def parent_of_parent(ob: Any) -> Change:
    ob.parent = empty("Parent", empty("Grandparent"))
    return sets(ob.parent.parent, "rotation_euler", (1.0, 0.0, 0.0))


@case
def parent_keyed_in_part(ob: Any) -> Change:
    ob.parent = empty("Parent")
    ob.parent.keyframe_insert("location", index=0, frame=1)
    return sets(ob.parent, "location", (0.0, 0.0, 1.0))


@case
def way_it_hangs_on_its_parent(ob: Any) -> Change:
    ob.parent = empty("Parent")
    return sets(ob, "matrix_parent_inverse", Matrix.Translation((1.0, 0.0, 0.0)))


@case
def bone_of_parent_moved(ob: Any) -> Change:
    return sets(held_by_bone(ob).pose.bones["head"], "location", (1.0, 0.0, 0.0))


@case
def bone_of_parent_moved_where_its_turn_is_keyed(ob: Any) -> Change:
    bone = held_by_bone(ob).pose.bones["head"]
    bone.keyframe_insert("rotation_quaternion", frame=1)
    return sets(bone, "location", (1.0, 0.0, 0.0))


@case
def other_bone_of_parent(ob: Any) -> Change:
    held_by_bone(ob)
    return sets(ob, "parent_bone", "other")


@case
def target_of_constraint(ob: Any) -> Change:
    return sets(held(ob, "COPY_TRANSFORMS", empty("Target")).target, "location", (1.0, 0.0, 0.0))


@case
def bone_of_constraint(ob: Any) -> Change:
    one = held(ob, "COPY_TRANSFORMS", rig())
    one.subtarget = "head"
    return sets(one, "subtarget", "other")


@case
def influence_of_constraint(ob: Any) -> Change:
    return sets(held(ob, "COPY_LOCATION", empty("Target")), "influence", 0.5)


@case
def constraint_muted(ob: Any) -> Change:
    return sets(held(ob, "COPY_LOCATION", empty("Target")), "mute", True)


@case
def inverse_of_child_of(ob: Any) -> Change:
    return sets(held(ob, "CHILD_OF", empty("Target")), "inverse_matrix", Matrix.Translation((1.0, 0.0, 0.0)))


@case
def target_of_armature_constraint(ob: Any) -> Change:
    aim = held(ob, "ARMATURE").targets.new()
    aim.target, aim.subtarget = rig(), "head"
    return sets(aim.target.pose.bones["head"], "location", (1.0, 0.0, 0.0))


@case
def limit_of_constraint_of_bone(ob: Any) -> Change:
    one = held(held_by_bone(ob).pose.bones["head"], "LIMIT_LOCATION")
    one.use_min_x = True
    return sets(one, "min_x", 3.0)


@case
def pole_of_bone(ob: Any) -> Change:
    one = held(held_by_bone(ob).pose.bones["head"], "IK")
    one.pole_target = empty("Pole")
    return sets(one.pole_target, "location", (1.0, 0.0, 0.0))


@case
def way_along_path(ob: Any) -> Change:
    curve = bpy.data.curves.new("Path", "CURVE")
    target = bpy.data.objects.new("Path", curve)
    held(ob, "FOLLOW_PATH", target)
    return sets(curve, "eval_time", 50.0)


def driven(ob: Any, kind: str, target: Any, path: str) -> None:
    variable = ob.driver_add("location", 0).driver.variables.new()
    variable.type = kind
    variable.targets[0].id = target
    variable.targets[0].data_path = path


@case
def object_that_drives(ob: Any) -> Change:
    target = empty("Target")
    driven(ob, "TRANSFORMS", target, "")
    return sets(target, "location", (1.0, 0.0, 0.0))


@case
def property_that_drives(ob: Any) -> Change:
    target = empty("Target")
    target["turn"] = 1.0
    driven(ob, "SINGLE_PROP", target, '["turn"]')
    return lambda: target.__setitem__("turn", 2.0)


@case
def keys_of_property_that_drives(ob: Any) -> Change:
    target = empty("Target")
    target["turn"] = 1.0
    target.keyframe_insert('["turn"]', frame=1)
    driven(ob, "SINGLE_PROP", target, '["turn"]')
    return lambda: (target.__setitem__("turn", 2.0), target.keyframe_insert('["turn"]', frame=5))


@case
def shape_key_without_keys(ob: Any) -> Change:
    ob.shape_key_add(name="Basis")
    return sets(ob.shape_key_add(name="Key"), "value", 0.5)


@pytest.fixture
def plain() -> Any:
    scenes.reset_scene()
    mesh = bpy.data.meshes.new("Plain")
    mesh.from_pydata([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)], [], [(0, 1, 2)])
    ob = bpy.data.objects.new("Plain", mesh)
    bpy.context.scene.collection.objects.link(ob)
    return ob


def taken(ob: Any) -> dict[str, str]:
    bpy.context.view_layer.update()
    return fingerprint.take(ob, bpy.context.scene, (1, 6), carried=(), painted={})


@pytest.mark.parametrize("name", CASES)
def test_what_carries_a_mesh_makes_its_bake_stale(plain: Any, name: str) -> None:
    change = CASES[name](plain)
    before = taken(plain)
    assert fingerprint.changed(before, taken(plain), {}) == []
    change()
    assert fingerprint.changed(before, taken(plain), {}) != []


def test_the_current_frame_and_a_new_name_do_not(plain: Any) -> None:
    """With all that is animated: places, constraints, properties that drive, shape keys, and the clock itself."""
    owner = held_by_bone(plain)
    one, target = held(plain, "COPY_LOCATION", empty("Target")), empty("Other")
    target["turn"] = 1.0
    driven(plain, "SINGLE_PROP", target, '["turn"]')
    variable = plain.driver_add("location", 1).driver.variables.new()
    variable.targets[0].id_type, variable.targets[0].id = "SCENE", bpy.context.scene
    variable.targets[0].data_path = "frame_current"
    plain.shape_key_add(name="Basis")
    key, bone = plain.shape_key_add(name="Key"), owner.pose.bones["head"]
    for frame, value in ((1, 0.0), (6, 1.0)):
        one.influence, target["turn"], key.value = value, value, value
        owner.location, bone.scale = (value, 0.0, 0.0), (1.0, 1.0 + value, 1.0)
        animated = (one, "influence"), (target, '["turn"]'), (key, "value"), (owner, "location"), (bone, "scale")
        for thing, path in animated:
            thing.keyframe_insert(path, frame=frame)
    bpy.context.scene.frame_set(1)
    before = taken(plain)
    target.name = "Renamed"
    for frame in (3, 6):
        bpy.context.scene.frame_set(frame)
        assert fingerprint.changed(before, taken(plain), {}) == []


def test_what_ties_passengers_and_colliders_is_told_as_theirs(plain: Any) -> None:
    other = bpy.data.objects.new("Other", plain.data)
    bpy.context.scene.collection.objects.link(other)
    one = held(other, "COPY_LOCATION", empty("Target"))

    def take() -> dict[str, str]:
        return fingerprint.take(plain, bpy.context.scene, (1, 6), carried=[(other, "")], painted={}, met=[other])

    before = take()
    one.influence = 0.5
    reasons = [fingerprint.REASONS[name] for name in ("passengers", "colliders")]
    assert fingerprint.changed(before, take(), {}) == reasons


def test_a_bake_from_before_ties_were_looked_at_is_not_stale_for_that(plain: Any) -> None:
    before = taken(plain)
    del before["ties"]
    assert fingerprint.changed(before, taken(plain), {}) == []


@pytest.fixture
def head(tmp_path: Path) -> Iterator[Any]:
    sinew.register()
    scenes.reset_scene()
    made = faces.build_head(4, spacing=0.012)
    save(tmp_path / "head.blend")
    yield made
    sinew.unregister()


def test_a_head_whose_carrier_is_changed_is_told_by_panel_and_check(head: Any) -> None:
    bone = held_by_bone(head).pose.bones["head"]
    one = held(bone, "COPY_LOCATION", empty("Target"))
    one.target.location = (0.3, 0.0, 0.0)
    activate("Head")
    bpy.ops.sinew.add()
    item().resolution, item().substeps = 12, 1
    assert bpy.ops.sinew.bake() == {"FINISHED"}

    def told() -> tuple[str, bool]:
        entry = setup.find_of(head, bpy.context.scene)
        return state_now().kind, check_object(entry, setups.Target(Path(bpy.data.filepath))) is None

    assert told() == (state.BAKED, True)
    for thing, name, value in ((one, "influence", 0.5), (one.target, "location", (0.0, 0.3, 0.0)), (one, "mute", True)):
        kept = getattr(thing, name)
        kept = kept.copy() if hasattr(kept, "copy") else kept
        setattr(thing, name, value)
        assert told() == (state.STALE, False), name
        setattr(thing, name, kept)
    assert told() == (state.BAKED, True)
