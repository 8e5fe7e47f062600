"""Models made by others, for benchmarks: they lie in ../shared/assets beside the repository and are never part of it.

`load(model)` opens one and returns its mesh object; `play(ob, action)` makes one of its actions the animation.
What these files have in store: several actions, of which one is active and others lie in NLA tracks that would mix in;
bones that an action leaves unkeyed, which keep the pose of the last one; armatures scaled by 3; the Fox is 150 m long;
glTF splits vertices at seams (welded here) and brings an Icosphere as the bones' shape; the head has no action.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor
from pathlib import Path
from typing import Any

import bpy
import faces
import numpy as np
from building import set_frames

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "assets"


@dataclass(frozen=True)
class Model:
    key: str
    file: str
    object: str
    fit_limit: float  # rms fit error at resolution 24, detail off, as a fraction of size
    weld: bool = False
    turn: float = 52.0  # of the camera: 0 front, 90 its left side


MODELS = (
    Model("trex", "quaternius_creatures/Trex.blend", "Trex", 0.01),
    Model("cow", "quaternius_creatures/Cow.blend", "Cow", 0.01),
    Model("slime", "quaternius_creatures/Slime.blend", "Slime", 0.01),
    Model("snake", "quaternius_creatures/Snake.blend", "Snake", 0.01),
    Model("fox", "khronos_fox_cesiumman_morph/Fox.glb", "fox", 0.01, weld=True),
    Model("cesium_man", "khronos_fox_cesiumman_morph/CesiumMan.glb", "Cesium_Man", 0.01, weld=True),
    Model("jumping_man", "makehuman_heavy_jump/mh_heavy_man_jump_clean.blend", "Body", 0.005),
)


HEAD = Model("ict_head", "ict_facekit/ict_face_57shapes.blend", "ICT_Face", 0.005, turn=15.0)  # a face, in centimetres
PERFORMANCE = "talks and runs"  # of a head of shape keys, which comes without an action
_JUMP = 0.15  # of its height

DRESSED = Model("dressed", "quaternius_dress/Smooth_Female_Dress.blend", "Female", 0.01)  # no skin under her dress


def available() -> bool:
    return all((FOLDER / model.file).is_file() for model in (*MODELS, HEAD, DRESSED))


def load_dress(action: str) -> tuple[Any, Any]:
    """The woman and her dress, which is made an object of its own as an artist does it, in one of her actions."""
    body = load(DRESSED)
    play(body, action)
    for ob in bpy.context.selected_objects:
        ob.select_set(False)
    bpy.context.view_layer.objects.active = body
    body.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")
    bpy.ops.mesh.select_all(action="DESELECT")
    body.active_material_index = body.material_slots.find("Dress")
    bpy.ops.object.material_slot_select()
    bpy.ops.mesh.separate(type="SELECTED")
    bpy.ops.object.mode_set(mode="OBJECT")
    (dress,) = (ob for ob in bpy.context.selected_objects if ob != body)
    dress.name = "Dress"
    return body, dress


def find(key: str) -> Model:
    return next(model for model in (*MODELS, HEAD) if model.key == key)


def load(model: Model) -> Any:
    """Opens the model in place of the open file."""
    path = str(FOLDER / model.file)
    if path.endswith(".blend"):
        bpy.ops.wm.open_mainfile(filepath=path, load_ui=False)
    else:
        import addon_utils  # on the path only once bpy is imported

        bpy.ops.wm.read_homefile(use_empty=True, use_factory_startup=True)
        if "bool" not in vars(np):
            np.bool = bool  # the importer of old Blenders asks for it
        addon_utils.enable("io_scene_gltf2")
        bpy.ops.import_scene.gltf(filepath=path)
    ob = bpy.data.objects[model.object]
    if model.weld:
        weld(ob)
    for action in bpy.data.actions:
        action.use_fake_user = True
    return ob


def weld(ob: Any) -> None:
    """Joins vertices in one place; UV maps live on face corners and stay."""
    import bmesh

    mesh = bmesh.new()
    mesh.from_mesh(ob.data)
    bmesh.ops.remove_doubles(mesh, verts=mesh.verts, dist=1e-5 * max(ob.dimensions))
    mesh.to_mesh(ob.data)
    mesh.free()


def armature_of(ob: Any) -> Any:
    return next(modifier.object for modifier in ob.modifiers if modifier.type == "ARMATURE")


def actions(ob: Any) -> list[str]:
    """Names of the actions that move the armature; every action of these files does."""
    return sorted(action.name for action in bpy.data.actions) or [PERFORMANCE]


def play(ob: Any, name: str) -> None:
    """Makes the action the only animation and its range the scene's."""
    if name == PERFORMANCE:
        set_frames(1, faces.FRAMES)
        faces.talk(ob, faces.FRAMES)
        faces.run(ob, faces.FRAMES, _JUMP * ob.dimensions.z)
        return
    armature, action = armature_of(ob), bpy.data.actions[name]
    data = armature.animation_data or armature.animation_data_create()
    for track in list(data.nla_tracks):
        data.nla_tracks.remove(track)
    for bone in armature.pose.bones:
        bone.matrix_basis.identity()
    data.action = action
    if getattr(action, "slots", None) and data.action_slot is None:  # 4.4
        data.action_slot = action.slots[0]
    start, end = action.frame_range
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = floor(start + 1e-3), ceil(end - 1e-3)
    scene.frame_set(scene.frame_start)
