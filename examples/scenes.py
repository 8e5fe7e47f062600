"""Scene builders shared by tests, benchmarks and examples.

Put `examples/` on `sys.path` and `import scenes`. Every `build_...` adds to the open file, sets the scene's frame
range and rate, and returns the mesh object; call `reset_scene()` first for an empty file. Metres, Z up, characters look
along -Y. Needs numpy and bpy (3.4 or later).
"""

from __future__ import annotations

from math import cos, pi, sin
from typing import Any

import bpy
import numpy as np
from building import (
    BoneSpec,
    add_armature,
    add_colors,
    add_mesh,
    bind_armature,
    move_keys,
    pose_key,
    reset_scene,
    set_frames,
)

__all__ = [
    "add_surroundings",
    "build_ball",
    "build_blob",
    "build_block",
    "build_cantilever",
    "build_character",
    "build_dressed_arm",
    "build_two_bone_arm",
    "reset_scene",
]


def build_character(name: str = "Calf") -> Any:
    """A young elephant that walks in, stops, jumps, lands and holds its pose. See character.py."""
    from character import build_character as build

    return build(name)


def add_surroundings(ob: Any) -> None:
    """Ground, sun and a camera that follows a rigged character, for a file to be opened and rendered."""
    scene = bpy.context.scene
    ground = np.array([(-8, -8, 0), (8, -8, 0), (8, 8, 0), (-8, 8, 0)], float)
    add_colors(add_mesh("Ground", ground, [(0, 1, 2, 3)], smooth=False), "Color", np.full((4, 3), 0.6))
    sun = bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", "SUN"))
    sun.data.energy, sun.data.angle, sun.rotation_euler = 3.0, 0.2, (0.7, 0.2, 0.6)
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.lens, camera.location = 50.0, (5.2, -3.2, 1.7)
    for new in (sun, camera):
        scene.collection.objects.link(new)
    aim = camera.constraints.new("TRACK_TO")
    aim.target, aim.subtarget = ob.parent, "body"
    scene.camera = camera
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y = 1280, 720
    scene.display.shading.color_type = "VERTEX"


def build_block(size: tuple[float, float, float] = (1.0, 1.0, 1.0), divisions: int = 6, frames: int = 48) -> Any:
    """A box that slides along X for a quarter of the range and stops dead. Group "follow": 1 at its bottom, 0 above."""
    vertices, faces = box_mesh(size, divisions)
    follow = (vertices[:, 2] < 1e-9).astype(float)
    ob = add_mesh("Block", vertices, faces, groups={"follow": follow}, smooth=False)
    set_frames(1, frames)
    move_keys(ob, {1: (0.0, 0.0, 0.0), 1 + frames // 4: (0.5 * size[0], 0.0, 0.0)})
    return ob


def build_cantilever(
    length: float = 1.0, radius: float = 0.1, rings: int = 24, segments: int = 12, frames: int = 48
) -> Any:
    """A closed tube along X, rigged by one bone at its root that jerks up and stops: the rest is free to swing.
    Group "follow": 1 on the first tenth, 0 beyond."""
    vertices, faces = tube_mesh(length, radius, rings, segments)
    follow = (vertices[:, 0] < 0.1 * length).astype(float)
    whole = np.ones(len(vertices))
    armature = add_armature("CantileverRig", [BoneSpec("root", (0, 0, 0), (0.1 * length, 0, 0))])
    ob = add_mesh("Cantilever", vertices, faces, groups={"root": whole, "follow": follow})
    bind_armature(ob, armature)
    set_frames(1, frames)
    # A bone's own Y runs along it; Z of this one points up.
    pose_key(armature, "root", 1, location=(0, 0, 0))
    pose_key(armature, "root", 1 + frames // 8, location=(0, 0, 0.3 * length))
    return ob


def build_two_bone_arm(rings: int = 24, segments: int = 12, frames: int = 20) -> Any:
    """A closed tube of a few hundred vertices along X on two bones; the elbow bends by 90 degrees and holds."""
    vertices, faces = tube_mesh(1.0, 0.12, rings, segments)
    lower = np.clip((vertices[:, 0] - 0.4) / 0.2, 0.0, 1.0)
    bones = [BoneSpec("upper", (0, 0, 0), (0.5, 0, 0)), BoneSpec("lower", (0.5, 0, 0), (1, 0, 0), "upper")]
    armature = add_armature("ArmRig", bones)
    ob = add_mesh("Arm", vertices, faces, groups={"upper": 1.0 - lower, "lower": lower})
    bind_armature(ob, armature)
    set_frames(1, frames)
    pose_key(armature, "upper", 1, quaternion=(1, 0, 0, 0))
    pose_key(armature, "lower", 1, quaternion=(1, 0, 0, 0))
    pose_key(armature, "upper", frames // 2, quaternion=(cos(pi / 16), sin(pi / 16), 0, 0))
    pose_key(armature, "lower", frames // 2, quaternion=(cos(pi / 4), sin(pi / 4), 0, 0))
    return ob


def build_dressed_arm(frames: int = 20) -> Any:
    """The arm of `build_two_bone_arm` in a "Sleeve" on the same armature, with two "Beads" (one mesh of two loose
    parts) that a bone carries along."""
    ob = build_two_bone_arm(frames=frames)
    vertices, faces = tube_mesh(0.8, 0.14, 20, 12)
    vertices = vertices + (0.1, 0.0, 0.0)
    lower = np.clip((vertices[:, 0] - 0.4) / 0.2, 0.0, 1.0)
    sleeve = add_mesh("Sleeve", vertices[:-2], faces[:-24], groups={"upper": 1.0 - lower[:-2], "lower": lower[:-2]})
    bind_armature(sleeve, ob.parent)
    bead, bead_faces = ball_mesh(0.04, 4)
    places = np.concatenate([bead + (0.85, 0.0, 0.1), bead + (0.95, 0.05, 0.1)])
    # A bone carries from its tail on.
    beads = add_mesh("Beads", places - (1.0, 0.0, 0.0), np.concatenate([bead_faces, bead_faces + len(bead)]))
    beads.parent, beads.parent_type, beads.parent_bone = ob.parent, "BONE", "lower"
    turned = ob.parent.matrix_world @ ob.parent.data.bones["lower"].matrix_local
    beads.matrix_parent_inverse = turned.to_3x3().to_4x4().inverted()
    return ob


def build_blob(divisions: int = 10, frames: int = 20) -> Any:
    """A round blob with two shape keys: "Squash" (driven up and down again) and "Lean" (up and held)."""
    vertices, faces = ball_mesh(0.5, divisions)
    ob = add_mesh("Blob", vertices, faces)
    ob.shape_key_add(name="Basis")
    squash = ob.shape_key_add(name="Squash", from_mix=False)
    squash.data.foreach_set("co", (vertices * (1.3, 1.3, 0.6)).astype(np.float32).ravel())
    lean = ob.shape_key_add(name="Lean", from_mix=False)
    leaned = vertices + np.outer(0.6 * (vertices[:, 2] + 0.5), (1.0, 0.0, 0.0))
    lean.data.foreach_set("co", leaned.astype(np.float32).ravel())
    set_frames(1, frames)
    for key, values in ((squash, {1: 0.0, frames // 3: 1.0, 2 * frames // 3: 0.0}), (lean, {1: 0.0, frames: 1.0})):
        for frame, value in values.items():
            key.value = value
            key.keyframe_insert("value", frame=frame)
    return ob


def build_ball(radius: float = 0.5, divisions: int = 10, frames: int = 20, parented: bool = False) -> Any:
    """An unrigged ball thrown in an arc; its mesh is not deformed. `parented`: an Empty carries it instead."""
    vertices, faces = ball_mesh(radius, divisions)
    ob = add_mesh("Ball", vertices, faces)
    mover = ob
    if parented:
        mover = bpy.data.objects.new("Carrier", None)
        bpy.context.scene.collection.objects.link(mover)
        ob.parent = mover
    set_frames(1, frames)
    times = np.linspace(0.0, 1.0, 6)
    places = np.stack([4 * radius * times, 0 * times, 6 * radius * times * (1 - times)], axis=1)
    move_keys(mover, {1 + round(t * (frames - 1)): tuple(p) for t, p in zip(times, places)})
    return ob


def box_mesh(size: tuple[float, float, float], divisions: int) -> tuple[np.ndarray, np.ndarray]:
    """The six sides of a box cut in `divisions` quads each way, welded; it stands on z = 0, centred in x and y."""
    steps = np.arange(divisions + 1)
    a, b = (grid.ravel() for grid in np.meshgrid(steps, steps, indexing="ij"))
    cell = (steps[:-1, None] * (divisions + 1) + steps[None, :-1]).ravel()
    quad = np.stack([cell, cell + divisions + 1, cell + divisions + 2, cell + 1], axis=1)
    places, quads = [], []
    for axis in range(3):
        for side in (0, divisions):
            grid = np.empty((len(a), 3), int)
            grid[:, axis], grid[:, (axis + 1) % 3], grid[:, (axis + 2) % 3] = side, a, b
            quads.append((quad if side else quad[:, ::-1]) + len(a) * len(places))
            places.append(grid)
    unique, index = np.unique(np.concatenate(places), axis=0, return_inverse=True)
    vertices = (unique / divisions - (0.5, 0.5, 0.0)) * size
    return vertices, np.ravel(index)[np.concatenate(quads)]


def sheet_mesh(side: float, divisions: int) -> tuple[np.ndarray, np.ndarray]:
    """A flat square of quads around the origin, z = 0."""
    steps = np.arange(divisions + 1)
    a, b = (grid.ravel() for grid in np.meshgrid(steps, steps, indexing="ij"))
    cell = (steps[:-1, None] * (divisions + 1) + steps[None, :-1]).ravel()
    quads = np.stack([cell, cell + divisions + 1, cell + divisions + 2, cell + 1], axis=1)
    return np.stack([a / divisions - 0.5, b / divisions - 0.5, 0.0 * a], axis=1) * side, quads


def tube_mesh(length: float, radius: float, rings: int, segments: int) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """A closed tube along +X: `rings` + 1 rings of `segments` vertices and a fan over each end."""
    angle = 2 * pi * np.arange(segments) / segments
    ring = np.stack([0 * angle, radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    along = np.linspace(0.0, length, rings + 1)
    vertices = (ring[None] + along[:, None, None] * (1.0, 0.0, 0.0)).reshape(-1, 3)
    vertices = np.concatenate([vertices, [(0, 0, 0), (length, 0, 0)]])
    faces: list[tuple[int, ...]] = []
    for i in range(rings):
        for j in range(segments):
            k = (j + 1) % segments
            faces.append((i * segments + j, (i + 1) * segments + j, (i + 1) * segments + k, i * segments + k)[::-1])
    first, last, base = len(vertices) - 2, len(vertices) - 1, rings * segments
    for j in range(segments):
        k = (j + 1) % segments
        faces += [(first, k, j), (last, base + j, base + k)]
    return vertices, faces


def ball_mesh(radius: float, divisions: int) -> tuple[np.ndarray, np.ndarray]:
    """A box blown up to a ball around the origin: quads of nearly equal size, no poles."""
    vertices, faces = box_mesh((2.0, 2.0, 2.0), divisions)
    # Equal angles rather than equal lengths keep the quads even.
    bent = np.tan((vertices - (0, 0, 1)) * pi / 4)
    return radius * bent / np.linalg.norm(bent, axis=1, keepdims=True), faces
