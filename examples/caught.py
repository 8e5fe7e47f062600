"""Weights that change over time: a trunk and ears let go in the air, and are caught again.

    python examples/caught.py OUT.png [resolution]

Everything is painted to follow. A Vertex Weight Mix modifier, keyed like anything else, takes trunk and ears out of the
group and brings them back. Above the animation, below it the bake.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import bpy  # noqa: E402
import close_up  # noqa: E402
import numpy as np  # noqa: E402
import pictures  # noqa: E402
from dials import add_group  # noqa: E402
from stage import sample  # noqa: E402

# Frame and how much is let go; linear between.
KEYS = {80: 0.0, 82: 1.0, 96: 1.0, 112: 0.0}
SHOWN = {79: "followed", 84: "let go", 92: "free", 99: "free", 105: "half caught", 112: "followed"}


def let_go(ob: Any) -> None:
    """Group "follow" is 1 everywhere; the modifier makes it 0 in trunk and ears, as keyed."""
    ob.vertex_groups.new(name="follow").add(range(len(ob.data.vertices)), 1.0, "REPLACE")
    add_group(ob, "loose", ("trunk", "ear"))
    mix = ob.modifiers.new("Let Go", "VERTEX_WEIGHT_MIX")
    mix.vertex_group_a, mix.mask_vertex_group, mix.default_weight_b = "follow", "loose", 0.0
    mix.mix_set, mix.mix_mode = "ALL", "SET"
    with bpy.context.temp_override(object=ob, active_object=ob):  # Sinew reads what stands before the last deformer
        bpy.ops.object.modifier_move_to_index(modifier=mix.name, index=0)
    for frame, value in KEYS.items():
        mix.mask_constant = value
        mix.keyframe_insert("mask_constant", frame=frame)


def main(arguments: list[str]) -> int:
    from sinew import setups

    if not arguments:
        print(__doc__)
        return 2
    ob = close_up.build(70, 118, (360, 270))
    let_go(ob)
    values = {"follow_group": "follow", "follow_animated": True, "jiggle": 1.8, "keep_pose": 0.0}
    values["resolution"] = int(arguments[1]) if len(arguments) > 1 else 0
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        blend = Path(folder) / "calf.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        outcome = setups.bake_object(ob.name, values, setups.Target(blend))
        print(*outcome.report["warnings"], sep="\n")
        off = {frame: float(sample(ob, frame).added.max()) for frame in range(70, 119)}
        for shown in (False, True):
            ob.modifiers["Sinew"].show_viewport = ob.modifiers["Sinew"].show_render = shown
            titles = {frame: f"{frame}: {title}" if shown else "" for frame, title in SHOWN.items()}
            cells = [close_up.render(frame, Path(folder) / "cell.png", title) for frame, title in titles.items()]
            rows.append(np.concatenate(cells, axis=1))
        pictures.write_picture(Path(arguments[0]).resolve(), np.concatenate(rows))
    for frame, title in SHOWN.items():
        print(f"frame {frame}, {title}: at most {off[frame]:.1e} m from the animation")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
