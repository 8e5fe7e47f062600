"""The models of ../shared/assets and the calf with the vertices of their named parts (tests/data/labelled.json)."""

from __future__ import annotations

import json
from pathlib import Path

import assets
import bpy
import numpy as np
import numpy.typing as npt
import scenes
from anatomy import Labelled
from sinew.core.paint.follow import Segment
from sinew.scene.sampler import Rest, Sampler

PARTS = json.loads((Path(__file__).resolve().parents[1] / "data" / "labelled.json").read_text())
FILES = {
    "dress": "quaternius_dress/Smooth_Female_Dress.blend",
    "ict": "ict_facekit/ict_face_57shapes.blend",
    "fish": "complementary_dynamics_fish_sphere/fish/fish.obj",
}


ACTIONS = {
    "trex": "TRex_Walk", "cow": "Walk", "snake": "Snake_Walk", "fox": "Walk", "cesium_man": "Anim_0",
    "jumping_man": "16_01.001", "dress": "Female_Walk",
}  # fmt: skip


def is_there(key: str) -> bool:
    if key == "calf":
        return True
    return (assets.FOLDER / (FILES.get(key) or assets.find(key).file)).is_file()


def load(key: str) -> Labelled:
    """Opens a model in place of the open file."""
    rest = _rest_of(key)
    if len(rest.positions) != PARTS[key]["vertices"]:
        raise ValueError(f"{key} has {len(rest.positions)} vertices, labelled were {PARTS[key]['vertices']}")
    bones = [Segment(bone.name, bone.head, bone.tail, bone.parent, bone.is_leaf) for bone in rest.bones]
    order = _order(key, rest.positions)
    parts = {
        name: order[np.concatenate([np.arange(*pair) for pair in pairs])] for name, pairs in PARTS[key]["parts"].items()
    }
    skin = np.zeros((len(rest.positions), 0), np.float32) if rest.skin is None else rest.skin
    return Labelled(rest.positions, rest.triangles, rest.edges, bones, skin, parts)


def poses(key: str) -> list[npt.NDArray[np.float64]]:
    """Of the model that was loaded last, in one of its actions; none of a model that has none."""
    if key not in ACTIONS and key != "calf":
        return []
    ob = max((ob for ob in bpy.data.objects if ob.type == "MESH"), key=lambda ob: len(ob.data.vertices))
    if key in ACTIONS:
        assets.play(ob, ACTIONS[key])
    with Sampler(ob) as sampler:
        return list(sampler.some_poses(8))


def _order(key: str, positions: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """The vertices in the order that labels count them: welding leaves them in another one in every Blender, so those
    of a welded model are counted by place."""
    if key == "calf" or key in FILES or not assets.find(key).weld:
        return np.arange(len(positions))
    return np.lexsort(np.round(positions / np.ptp(positions, axis=0).max(), 5).T)


def _rest_of(key: str) -> Rest:
    if key == "calf":
        scenes.reset_scene()
        ob = scenes.build_character()
    elif key not in FILES:
        ob = assets.load(assets.find(key))
    elif FILES[key].endswith(".obj"):
        scenes.reset_scene()
        bpy.ops.wm.obj_import(filepath=str(assets.FOLDER / FILES[key]))
        ob = bpy.context.selected_objects[0]
    else:
        bpy.ops.wm.open_mainfile(filepath=str(assets.FOLDER / FILES[key]), load_ui=False)
        ob = max((ob for ob in bpy.data.objects if ob.type == "MESH"), key=lambda ob: len(ob.data.vertices))
    with Sampler(ob) as sampler:
        return sampler.rest()
