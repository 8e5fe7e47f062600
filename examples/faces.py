"""A talking head of our own code (head_mesh.py) with shape keys. Metres, Z up.

    python faces.py OUT.png         it runs and is shaken: as animated and as a face, baked with nothing chosen
    python faces.py OUT.mp4         the same as a film
    python faces.py --moving OUT.png  the same as a moving picture, for pages
"""

from __future__ import annotations

import sys
import tempfile
from math import pi, sin
from pathlib import Path
from typing import Any

import bpy
import head_mesh
import numpy as np
from building import add_mesh, linear_keys, move_keys, set_frames

FRAMES = 60
PICTURE = (9, 11, 13, 15, 17, 19)
_TURN = 15.0  # degrees from which it is looked at
_FILMED = ("input", "result", "heat")
# What it says: shape keys, with how far they go and how often in a second.
SPEECH = {
    "jawOpen": (0.5, 2.3),
    "mouthPucker": (0.4, 1.1),
    "mouthSmile_L": (0.5, 0.7),
    "mouthSmile_R": (0.4, 0.7),
    "mouthUpperUp_L": (0.3, 1.7),
    "mouthLowerDown_R": (0.3, 1.9),
    "browUp_L": (0.6, 0.6),
    "cheekPuff_R": (0.3, 0.5),
}


def build_head(
    frames: int = FRAMES, *, spacing: float = head_mesh.SPACING, talks: bool = True, runs: bool = True
) -> Any:
    """The head as a mesh object. It talks from the first frame on; it runs on the spot, and shakes itself."""
    head = head_mesh.build_head(spacing)
    ob = add_mesh("Head", head.vertices, head.faces)
    ob.shape_key_add(name="Basis")
    for name, move in head.keys.items():
        key = ob.shape_key_add(name=name)
        key.data.foreach_set("co", (head.vertices + move).astype(np.float32).ravel())
    set_frames(1, frames)
    if talks:
        talk(ob, frames)
    if runs:
        run(ob, frames, 0.05)
    return ob


def talk(ob: Any, frames: int) -> None:
    """By those keys of SPEECH that it has."""
    blocks = ob.data.shape_keys.key_blocks
    with linear_keys():
        for name in filter(blocks.keys().__contains__, SPEECH):
            most, often = SPEECH[name]
            for frame in range(1, frames + 1):
                blocks[name].value = most * 0.5 * (1.0 - np.cos(2 * pi * often * (frame - 1) / 24))
                blocks[name].keyframe_insert("value", frame=frame)


def run(ob: Any, frames: int, height: float) -> None:
    """On the spot, so high; most of the time it shakes itself."""
    steps = range(1, frames + 1)
    move_keys(ob, {frame: (0.0, 0.0, height * abs(sin(2 * pi * frame / 16))) for frame in steps})
    for frame in steps:
        ob.rotation_euler[2] = 0.45 * sin(2 * pi * (frame - 1) / 12) * (frame < 2 * frames / 3)
        ob.keyframe_insert("rotation_euler", frame=frame)


def main(arguments: list[str]) -> int:
    import pictures
    from scenes import reset_scene
    from sinew import setups

    moves = arguments[:1] == ["--moving"]
    if len(arguments) != 1 + moves:
        print(__doc__)
        return 2
    out = Path(arguments[-1]).resolve()
    reset_scene()
    head = build_head()
    with tempfile.TemporaryDirectory() as folder:
        blend = Path(folder) / "head.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        outcome = setups.bake_object(head.name, {}, setups.Target(blend), method="face")
        every = range(1, FRAMES + 1)
        if moves:
            pictures.moving_picture(head, every, out, columns=_FILMED, cell=(250, 290), turn=_TURN)
        elif out.suffix == ".png":
            pictures.contact_sheet(head, PICTURE, out, cell=(220, 260), turn=_TURN, across=2)
        else:
            pictures.film(head, every, out, columns=_FILMED, turn=_TURN)
    seconds = outcome.report["seconds"]["total"]
    print(f"{out}: {len(head.data.vertices)} vertices, {seconds / FRAMES:.2f} s a frame with all")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
