"""A finished bake, pulled on one frame, with nothing simulated again.

    python examples/edit.py OUT.png [resolution]

The tip of the trunk is pulled up on the frame in the middle. Above is the bake, below the bake as it is
edited, before the pull, on its frame (the handle is a ball), and after it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import bpy  # noqa: E402
import close_up  # noqa: E402
import numpy as np  # noqa: E402
import pictures  # noqa: E402
from building import add_colors, add_mesh  # noqa: E402
from scenes import ball_mesh  # noqa: E402

PULLED = 98
FRAMES = (94, 97, PULLED, 100, 104)
BY = (0.05, 0.2, 0.45)  # metres
ORANGE = (0.9, 0.35, 0.05)


def tip_of(ob: Any) -> int:
    """The vertex at the end of the trunk: the farthest to the front of those on the middle."""
    rest = np.array([vertex.co for vertex in ob.data.vertices])
    middle = np.abs(rest[:, 0]) < 0.05
    return int(np.argmin(np.where(middle, rest[:, 1] + 0.3 * rest[:, 2], np.inf)))


def add_ball(place: Any) -> Any:
    vertices, faces = ball_mesh(0.035, 6)
    ball = add_mesh("Handle", vertices + place, faces)
    add_colors(ball, "Color", np.tile(ORANGE, (len(vertices), 1)))
    return ball


def main(arguments: list[str]) -> int:
    from sinew import setups
    from sinew.core.bake import remake
    from sinew.core.edit.handles import Edits, Handle
    from sinew.core.flesh.settings import Settings
    from sinew.scene import playback

    if not arguments:
        print(__doc__)
        return 2
    ob = close_up.build(80, FRAMES[-1] + 4, (360, 300))
    tip = tip_of(ob)
    with tempfile.TemporaryDirectory() as folder:
        blend = Path(folder) / "calf.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        values = {"jiggle": 1.6, "resolution": int(arguments[1]) if len(arguments) > 1 else 0}
        baked = setups.bake_object(ob.name, values, setups.Target(blend))
        edits = Edits(handles=(Handle((tip,), float(PULLED), BY),))
        start = time.monotonic()
        settings = Settings().replace({**values, "edits": edits.to_text()})
        edited = remake.remake(baked.folder.parent, baked.id, settings)
        seconds = time.monotonic() - start
        rows = []
        for outcome in (baked, edited):
            playback.play_file(ob, outcome.folder / "result.pc2")
            cells = []
            for frame in FRAMES:
                bpy.context.scene.frame_set(frame)
                ball = None
                if frame == PULLED and outcome is edited:
                    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
                    ball = add_ball(np.array(ob.matrix_world @ shown.data.vertices[tip].co))
                title = f"{'edited' if outcome is edited else 'bake'}, frame {frame}"
                cells.append(close_up.render(frame, Path(folder) / "cell.png", title))
                if ball is not None:
                    bpy.data.objects.remove(ball)
            rows.append(np.concatenate(cells, axis=1))
        pictures.write_picture(Path(arguments[0]).resolve(), np.concatenate(rows))
    told = edited.report["edits"]
    print(f"{arguments[0]}: {told['handles']} handle, missed by {100 * told['missed_relative']:.4f} % of size")
    print(f"{edited.report['frames']} frames edited in {seconds:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
