"""Clothes of our own code: a dancer of simple shapes in a skirt, both on one armature. Metres, Z up.

    python clothes.py OUT.png       her skirt as animated and as cotton, baked with nothing chosen
"""

from __future__ import annotations

import sys
import tempfile
from math import cos, pi, sin
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from building import BoneSpec, add_armature, add_mesh, bind_armature, pose_key, set_frames
from scenes import ball_mesh, tube_mesh

WAIST, HEM, HIP = 1.06, 0.52, 0.95
FRAMES = (12, 24, 36)  # of the picture


def build_dancer(frames: int = 48, rings: int = 26, segments: int = 48) -> tuple[Any, Any]:
    """The dancer's body and her skirt, which turns, steps and sways: two mesh objects."""
    bones = [
        BoneSpec("root", (0, 0, HIP), (0, 0, 1.5)),
        BoneSpec("leg.L", (0.1, 0, HIP), (0.1, 0, 0.02), "root"),
        BoneSpec("leg.R", (-0.1, 0, HIP), (-0.1, 0, 0.02), "root"),
    ]
    armature = add_armature("DancerRig", bones)
    body = _body(armature)
    skirt = _skirt(armature, rings, segments)
    set_frames(1, frames)
    for frame in range(1, frames + 1, 2):
        t = 2 * pi * (frame - 1) / 48
        twist, swing = 0.9 * sin(t), 0.45 * sin(2 * t)
        place = (0.12 * sin(t), 0.0, 0.03 * abs(sin(2 * t)))
        turned = (cos(twist / 2), 0, sin(twist / 2), 0)
        pose_key(armature, "root", frame, location=_along_bone(place), quaternion=turned)
        for name, sign in (("leg.L", 1.0), ("leg.R", -1.0)):
            angle = sign * swing
            pose_key(armature, name, frame, quaternion=(cos(angle / 2), sin(angle / 2), 0, 0))
    return body, skirt


def _along_bone(place: tuple[float, float, float]) -> tuple[float, float, float]:
    """A bone that points up has its own axes: y is up, z is against the world's y."""
    return (place[0], place[2], -place[1])


def _body(armature: Any) -> Any:
    """Torso and two legs, as one mesh of overlapping shapes."""
    torso, torso_faces = ball_mesh(1.0, 8)
    torso = torso * (0.15, 0.11, 0.34) + (0.0, 0.0, 1.24)
    hips, hip_faces = ball_mesh(1.0, 8)
    hips = hips * (0.18, 0.14, 0.15) + (0.0, 0.0, HIP)
    parts, faces, groups = [torso, hips], [torso_faces, hip_faces + len(torso)], [0] * (len(torso) + len(hips))
    for number, x in ((1, 0.1), (2, -0.1)):
        leg, leg_faces = tube_mesh(HIP - 0.04, 0.075, 14, 14)
        start = sum(len(part) for part in parts)
        parts.append(np.stack([leg[:, 1] + x, leg[:, 2], HIP - leg[:, 0]], axis=1))
        faces.append([tuple(start + k for k in face)[::-1] for face in leg_faces])
        groups += [number] * len(leg)
    every = [tuple(int(k) for k in face) for part in faces for face in part]
    of = np.array(groups)
    weights = {name: (of == number).astype(float) for number, name in enumerate(("root", "leg.L", "leg.R"))}
    body = add_mesh("Dancer", np.concatenate(parts), every, groups=weights)
    bind_armature(body, armature)
    return body


def _skirt(armature: Any, rings: int, segments: int) -> Any:
    """A cone from the waist to below the knees, on the root bone: what the legs do to it is for physics."""
    vertices, faces = [], []
    for i in range(rings + 1):
        part = i / rings
        for j in range(segments):
            a = 2 * pi * j / segments
            x, y = (0.178 + 0.25 * part) * cos(a), (0.138 + 0.29 * part) * sin(a)
            vertices.append((x, y, WAIST + part * (HEM - WAIST)))
    for i in range(rings):
        for j in range(segments):
            k = (j + 1) % segments
            faces.append((i * segments + j, (i + 1) * segments + j, (i + 1) * segments + k, i * segments + k))
    skirt = add_mesh("Skirt", np.array(vertices), faces, groups={"root": np.ones(len(vertices))})
    bind_armature(skirt, armature)
    return skirt


def main(arguments: list[str]) -> int:
    import pictures
    from scenes import reset_scene
    from sinew import setups

    if not arguments:
        print(__doc__)
        return 2
    out = Path(arguments[0]).resolve()
    reset_scene()
    _, skirt = build_dancer(FRAMES[-1])
    with tempfile.TemporaryDirectory() as folder:
        blend = Path(folder) / "dancer.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        outcome = setups.bake_object(skirt.name, {}, setups.Target(blend), method="tracks")
        pictures.contact_sheet(skirt, FRAMES, out, cell=(300, 240))
    seconds = outcome.report["seconds"]["total"]
    print(f"{out}: {len(skirt.data.vertices)} vertices, {seconds / FRAMES[-1]:.2f} s a frame")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
