"""The example character: the young elephant of calf_mesh.py with its rig, skin weights and animation.

It walks in, stops, crouches, jumps, lands with a squash and holds its last pose. Deform bones carry spine, head and
legs and only the roots of trunk, ears and tail: their tips, the belly and the cheeks are stiff in the input, for
physics to move. Feet stand still while they are planted (two-bone IK solved here, every frame keyed, no constraints).
"""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, radians, sin
from typing import Any

import bpy
import calf_mesh
import numpy as np
import shapes
from building import BoneSpec, add_armature, add_colors, add_mesh, bind_armature, linear_keys, set_frames

FRAMES = 144
RATE = 24
STOP = 62  # the walk ends
TAKE_OFF, LANDING = 83, 97
HOLD = 118  # nothing moves from here on
GRAVITY = 9.81
HOP = 0.35  # metres forward in the jump

Affine = np.ndarray  # (4,4), where the posed bone takes a point of the rest shape


def build_character(name: str = "Calf") -> Any:
    shape = calf_mesh.build_shape()
    bones = bone_specs()
    armature = add_armature(name + "Rig", bones)
    ob = add_mesh(name, shape.vertices, shape.faces, groups=skin_weights(shape, bones))
    add_colors(ob, "Color", shape.colors)
    ob.data.materials.append(color_material(name))
    bind_armature(ob, armature)
    set_frames(1, FRAMES, RATE)
    key_poses(armature, bones)
    bpy.context.scene.frame_set(1)
    return ob


def color_material(name: str) -> Any:
    """Shows the vertex colours in every renderer."""
    material = bpy.data.materials.new(name)
    material.use_nodes = True
    material.diffuse_color = (*calf_mesh.SKIN, 1.0)
    tree = material.node_tree
    shader = next(node for node in tree.nodes if node.type == "BSDF_PRINCIPLED")
    shader.inputs["Roughness"].default_value = 0.6
    color = tree.nodes.new("ShaderNodeVertexColor")
    color.layer_name = "Color"
    tree.links.new(color.outputs["Color"], shader.inputs["Base Color"])
    return material


# ---- rig ------------------------------------------------------------------------------------------------------------


def bone_specs() -> list[BoneSpec]:
    trunk = [ball[:3] for ball in calf_mesh.TRUNK]
    tail = [ball[:3] for ball in calf_mesh.TAIL]
    bones = [
        BoneSpec("root", (0, 0, 0), (0, -0.4, 0), None, False),
        BoneSpec("body", (0, 0.08, 0.72), (0, 0.08, 0.92), "root", False),
        BoneSpec("spine", (0, 0.22, 0.80), (0, -0.05, 0.82), "body"),
        BoneSpec("chest", (0, -0.05, 0.82), (0, -0.30, 0.86), "spine"),
        BoneSpec("neck", (0, -0.30, 0.86), (0, -0.50, 1.00), "chest"),
        BoneSpec("head", (0, -0.50, 1.00), (0, -0.68, 1.22), "neck"),
        BoneSpec("trunk.1", trunk[0], trunk[1], "head"),
        BoneSpec("trunk.2", trunk[1], trunk[2], "trunk.1"),
        BoneSpec("hips", (0, 0.22, 0.80), (0, 0.46, 0.76), "body"),
        BoneSpec("tail", tail[0], tail[1], "hips"),
    ]
    for side, sign in (("L", 1), ("R", -1)):
        bones.append(BoneSpec(f"ear.{side}", (sign * 0.22, -0.58, 1.12), (sign * 0.33, -0.54, 1.13), "head"))
        for leg, (x, y) in calf_mesh.LEGS.items():
            hip, knee, ankle = (sign * x, y, 0.58), (sign * x, y - 0.02, 0.33), (sign * x, y, 0.10)
            bones.append(BoneSpec(f"{leg}.upper.{side}", hip, knee, "chest" if leg == "front" else "hips"))
            bones.append(BoneSpec(f"{leg}.lower.{side}", knee, ankle, f"{leg}.upper.{side}"))
            toe = (sign * x, y - 0.13, 0.05)
            bones.append(BoneSpec(f"{leg}.foot.{side}", ankle, toe, f"{leg}.lower.{side}"))
    return bones


def bones_of_part(part: str) -> list[str]:
    """The bones that may carry a part, so that left and right never mix."""
    table = {
        "body": ["hips", "spine", "chest"],
        "neck": ["neck", "chest"],
        "head": ["head"],
        "eye": ["head"],
        "hair": ["head"],
        "trunk": ["trunk.1", "trunk.2"],
        "tail": ["tail"],
        "earL": ["ear.L"],
        "earR": ["ear.R"],
    }
    leg, side = part[:-1], part[-1]
    return table.get(part) or [f"{leg}.{joint}.{side}" for joint in ("upper", "lower", "foot")]


def skin_weights(shape: calf_mesh.Shape, bones: list[BoneSpec]) -> dict[str, np.ndarray]:
    """Nearest allowed bone, then diffused over the skin; the loose shells stay rigid."""
    deform = [bone for bone in bones if bone.deform]
    names = [bone.name for bone in deform]
    gaps = np.stack([segment_distance(shape.vertices, bone) for bone in deform], axis=1)
    is_foot = np.array([".foot." in name for name in names])
    gaps[np.ix_(shape.vertices[:, 2] < 0.115, is_foot)] = 0.0
    for part in set(shape.part):
        barred = [i for i, name in enumerate(names) if name not in bones_of_part(part)]
        gaps[np.ix_(shape.part == part, barred)] = np.inf
    weights = np.eye(len(deform))[np.argmin(gaps, axis=1)]
    skin = shape.skin_count
    edges = shapes.neighbour_sums(np.array([face for face in shape.faces if max(face) < skin]), skin)
    smooth = weights[:skin]
    for _ in range(24):
        smooth = 0.4 * smooth + 0.6 * shapes.neighbour_mean(smooth, edges)
    # Soles take no part in the bending ankle, or planted feet would slide.
    sole = np.clip((0.13 - shape.vertices[:skin, 2:]) / 0.06, 0.0, 1.0)
    feet = is_foot[np.argmax(weights[:skin], axis=1)]
    smooth = np.where(feet[:, None], sole * weights[:skin] + (1 - sole) * smooth, smooth)
    # Four bones a vertex are what game engines and farms accept.
    fourth = np.sort(smooth, axis=1)[:, -4][:, None]
    smooth = np.where((smooth >= fourth) & (smooth > 0.01), smooth, 0.0)
    weights[:skin] = smooth / smooth.sum(1, keepdims=True)
    return dict(zip(names, weights.T))


def segment_distance(points: np.ndarray, bone: BoneSpec) -> np.ndarray:
    head, along = np.array(bone.head), np.subtract(bone.tail, bone.head)
    t = np.clip((points - head) @ along / (along @ along), 0.0, 1.0)
    return np.linalg.norm(points - head - t[:, None] * along, axis=1)


# ---- animation ------------------------------------------------------------------------------------------------------


def curve(*keys: tuple[float, ...]) -> Callable[[float], float]:
    """A smooth curve through (frame, value) or (frame, value, slope a frame); flat at keys without a slope."""
    frames = [key[0] for key in keys]

    def value(frame: float) -> float:
        if frame <= frames[0]:
            return keys[0][1]
        if frame >= frames[-1]:
            return keys[-1][1]
        i = int(np.searchsorted(frames, frame, side="right")) - 1
        a, b = keys[i], keys[i + 1]
        span = b[0] - a[0]
        t = (frame - a[0]) / span
        m0, m1 = (span * (key[2] if len(key) > 2 else 0.0) for key in (a, b))
        return (
            (2 * t**3 - 3 * t**2 + 1) * a[1]
            + (t**3 - 2 * t**2 + t) * m0
            + (3 * t**2 - 2 * t**3) * b[1]
            + (t**3 - t**2) * m1
        )

    return value


SPEED = 0.027  # metres a frame
WALK_END = curve((-40, (STOP - 6 + 40) * SPEED, -SPEED), (STOP - 16, 10 * SPEED, -SPEED), (STOP, 0.0))
RISE = GRAVITY * (LANDING - TAKE_OFF) / 2 / RATE / RATE  # metres a frame at take-off
HEIGHT = curve(
    (STOP - 8, -0.06), (STOP + 4, -0.025), (78, -0.15), (TAKE_OFF, 0.0, RISE), (LANDING, 0.0, -RISE),
    (LANDING + 4, -0.175), (LANDING + 12, -0.02), (HOLD, -0.025),
)  # fmt: skip
PITCH = curve(
    (STOP - 8, 0), (STOP + 2, 3), (78, -5), (TAKE_OFF + 1, -12), (90, -2), (LANDING, 7), (LANDING + 5, 4),
    (LANDING + 13, -1.5), (HOLD, 0),
)  # degrees, nose down positive  # fmt: skip
NOD = curve(
    (STOP - 8, 0), (STOP + 2, 8), (78, 12), (TAKE_OFF + 2, -14), (91, -10), (LANDING, 0), (LANDING + 5, 16),
    (LANDING + 13, -8), (HOLD, -3),
)  # fmt: skip
TRUNK = curve(
    (STOP - 4, 0), (STOP + 4, -4), (78, -20), (TAKE_OFF + 4, -34), (92, -36), (LANDING + 4, -32), (LANDING + 12, -14),
    (HOLD, -8),
)  # fmt: skip
EARS = curve((STOP, 0), (78, -14), (TAKE_OFF + 3, 16), (92, 20), (LANDING + 3, -12), (LANDING + 11, 6), (HOLD, 0))
TUCK = curve((TAKE_OFF, 0), (90, 0.09), (LANDING - 1, 0))
WALKING = curve((STOP - 14, 1.0), (STOP, 0.0))

CYCLE = 24.0  # frames of a stride
DUTY = 0.68  # part of it that a foot stands
PHASE = {"hind.L": 0.0, "front.L": 0.25, "hind.R": 0.5, "front.R": 0.75}


def ground_place(frame: float) -> float:
    """The root's y, without the hop."""
    return WALK_END(frame)


def hop_place(frame: float) -> float:
    return -HOP * min(max((frame - TAKE_OFF) / (LANDING - TAKE_OFF), 0.0), 1.0)


def foot_place(leg: str, frame: float) -> tuple[float, float, float]:
    """Of one foot against its rest place: y and z in metres, and its pitch in degrees (toes down positive)."""
    beat = frame / CYCLE - PHASE[leg]
    step = int(np.floor(beat + 0.5))
    here = ground_place((step + PHASE[leg]) * CYCLE)
    off = beat - step  # -0.5 .. 0.5, standing while |off| < DUTY / 2
    if abs(off) <= DUTY / 2:
        y, z, pitch = here, 0.0, 0.0
    else:
        side = 1 if off > 0 else -1
        there = ground_place((step + side + PHASE[leg]) * CYCLE)
        swing = (abs(off) - DUTY / 2) / (1 - DUTY)  # 0 .. 0.5
        t = swing if side > 0 else 1 - swing
        start, end = (here, there) if side > 0 else (there, here)
        ease = t * t * t * (t * (6 * t - 15) + 10)
        y = start + ease * (end - start)
        lift = min(abs(end - start) / 0.3, 1.0)
        z = 0.085 * lift * sin(pi * t) ** 2
        pitch = 28 * lift * sin(pi * min(1.0, 1.35 * t)) ** 2 * (1 - t)
    if frame > TAKE_OFF:
        air = max(HEIGHT(frame), 0.0) if frame < LANDING else 0.0
        y, z = y + hop_place(frame), air + TUCK(frame)
        pitch = 200 * TUCK(frame)
    return y, z, pitch


def rotation(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    """By degrees about the world's axes, X first."""
    a, b, c = (radians(v) for v in (x, y, z))
    rx = np.array([[1, 0, 0], [0, cos(a), -sin(a)], [0, sin(a), cos(a)]])
    ry = np.array([[cos(b), 0, sin(b)], [0, 1, 0], [-sin(b), 0, cos(b)]])
    rz = np.array([[cos(c), -sin(c), 0], [sin(c), cos(c), 0], [0, 0, 1]])
    return rz @ ry @ rx


def turn_between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The smallest rotation that takes the direction of a to that of b."""
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    v = np.cross(a, b)
    skew = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + skew + skew @ skew / (1.0 + a @ b)


def place(turn: np.ndarray, rest: Any, target: Any) -> Affine:
    """Rotates and takes the point `rest` to `target`."""
    out = np.eye(4)
    out[:3, :3] = turn
    out[:3, 3] = np.asarray(target) - turn @ np.asarray(rest)
    return out


def move(affine: Affine, point: Any) -> np.ndarray:
    return affine[:3, :3] @ np.asarray(point) + affine[:3, 3]


def body_turns(frame: float) -> dict[str, np.ndarray]:
    """Rotation of every bone that is not a leg, against its parent."""
    beat = 2 * pi * frame / CYCLE
    walk = WALKING(frame)
    pitch, nod, trunk, ears = PITCH(frame), NOD(frame), TRUNK(frame), EARS(frame)
    flap = ears + 9 * walk * sin(2 * beat + 0.6)
    return {
        "body": rotation(pitch + walk * 1.2 * sin(2 * beat), walk * 2.5 * sin(beat), walk * 2.5 * cos(beat)),
        "spine": rotation(0.2 * pitch, 0, -walk * 2 * cos(beat)),
        "chest": rotation(0.2 * pitch, -walk * 2 * sin(beat), -walk * 2 * cos(beat)),
        "hips": rotation(-0.3 * pitch, walk * 2 * sin(beat + 0.8), walk * 2 * cos(beat)),
        "neck": rotation(0.5 * nod + walk * 3 * sin(2 * beat + 1.0), 0, -walk * 2 * cos(beat)),
        "head": rotation(0.5 * nod - walk * 2 * sin(2 * beat + 0.4), walk * 3 * sin(beat + 0.5), walk * 2 * cos(beat)),
        "trunk.1": rotation(trunk + walk * 5 * sin(2 * beat), 0, walk * 9 * sin(beat)),
        "trunk.2": rotation(0.8 * trunk + walk * 5 * sin(2 * beat - 0.8), 0, walk * 9 * sin(beat - 0.7)),
        "ear.L": rotation(0, 0, flap),
        "ear.R": rotation(0, 0, -flap),
        "tail": rotation(-0.8 * ears, 0, walk * 16 * sin(beat + 1.0)),
    }


def pose(frame: float, bones: dict[str, BoneSpec]) -> dict[str, Affine]:
    """Where each bone takes the rest shape in this frame."""
    beat = 2 * pi * frame / CYCLE
    y = ground_place(frame) + hop_place(frame)
    posed = {"root": place(np.eye(3), (0, 0, 0), (0, y, 0))}
    turns = body_turns(frame)
    for name, bone in bones.items():
        if name not in turns:
            continue
        parent = posed[bone.parent]
        lift = np.zeros(3)
        if name == "body":
            lift[2] = HEIGHT(frame) + WALKING(frame) * 0.010 * cos(2 * beat)
        posed[name] = place(parent[:3, :3] @ turns[name], bone.head, move(parent, bone.head) + lift)
    for side in "LR":
        for leg in ("front", "hind"):
            pose_leg(posed, bones, leg, side, frame)
    return posed


def pose_leg(posed: dict[str, Affine], bones: dict[str, BoneSpec], leg: str, side: str, frame: float) -> None:
    """Two-bone IK towards the planted foot, the knee forward (-Y)."""
    upper, lower, foot = (bones[f"{leg}.{joint}.{side}"] for joint in ("upper", "lower", "foot"))
    y, z, pitch = foot_place(f"{leg}.{side}", frame)
    hip = move(posed[upper.parent], upper.head)
    ankle = np.asarray(foot.head) + (0, y, z)
    long_upper = np.linalg.norm(np.subtract(upper.tail, upper.head))
    long_lower = np.linalg.norm(np.subtract(lower.tail, lower.head))
    reach = ankle - hip
    length = float(np.clip(np.linalg.norm(reach), 0.1, 0.999 * (long_upper + long_lower)))
    reach = reach / np.linalg.norm(reach)
    ankle = hip + length * reach
    along = (long_upper**2 - long_lower**2 + length**2) / (2 * length)
    forward = np.array((0.0, -1.0, 0.0)) + reach[1] * reach
    forward /= np.linalg.norm(forward)
    knee = hip + along * reach + np.sqrt(max(long_upper**2 - along**2, 0.0)) * forward
    posed[upper.name] = place(turn_between(np.subtract(upper.tail, upper.head), knee - hip), upper.head, hip)
    posed[lower.name] = place(turn_between(np.subtract(lower.tail, lower.head), ankle - knee), lower.head, knee)
    posed[foot.name] = place(rotation(pitch), foot.head, ankle)


def quaternion(turn: np.ndarray) -> np.ndarray:
    """(w, x, y, z) of a rotation matrix, by its largest component."""
    m = turn
    square = np.array([
        1 + m[0, 0] + m[1, 1] + m[2, 2], 1 + m[0, 0] - m[1, 1] - m[2, 2],
        1 - m[0, 0] + m[1, 1] - m[2, 2], 1 - m[0, 0] - m[1, 1] + m[2, 2],
    ])  # fmt: skip
    table = np.array([
        [square[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]],
        [m[2, 1] - m[1, 2], square[1], m[0, 1] + m[1, 0], m[0, 2] + m[2, 0]],
        [m[0, 2] - m[2, 0], m[0, 1] + m[1, 0], square[2], m[1, 2] + m[2, 1]],
        [m[1, 0] - m[0, 1], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], square[3]],
    ])  # fmt: skip
    row = table[np.argmax(square)]
    return row / np.linalg.norm(row)


def key_poses(armature: Any, bones: list[BoneSpec]) -> None:
    """Keys every bone on every frame, linear between."""
    specs = {bone.name: bone for bone in bones}
    rest = {bone.name: np.array(armature.data.bones[bone.name].matrix_local) for bone in bones}
    previous: dict[str, np.ndarray] = {}
    with linear_keys():
        for frame in range(1, FRAMES + 1):
            posed = pose(frame, specs)
            for bone in bones:
                own = posed[bone.name] @ rest[bone.name]
                above = posed[bone.parent] @ rest[bone.parent] if bone.parent else np.eye(4)
                hanging = np.linalg.solve(rest[bone.parent], rest[bone.name]) if bone.parent else rest[bone.name]
                basis = np.linalg.solve(above @ hanging, own)
                turn = quaternion(basis[:3, :3])
                turn = -turn if turn @ previous.get(bone.name, turn) < 0 else turn
                previous[bone.name] = turn
                pose_bone = armature.pose.bones[bone.name]
                pose_bone.rotation_quaternion = turn
                pose_bone.keyframe_insert("rotation_quaternion", frame=frame)
                if bone.name in ("root", "body") or ".upper." in bone.name or ".foot." in bone.name:
                    pose_bone.location = basis[:3, 3]
                    pose_bone.keyframe_insert("location", frame=frame)
