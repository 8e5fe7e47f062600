"""One bake, drawn back to the animation step by step, with nothing simulated again.

    python examples/after_the_bake.py OUT.png [resolution]

The picture shows, from left to right, the input, Back to Animation at 0.7 and 0.4, and the bake as it was simulated.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import bpy  # noqa: E402
import close_up  # noqa: E402
import numpy as np  # noqa: E402
import pictures  # noqa: E402

FRAMES = (98, 105)
STEPS = (1.0, 0.7, 0.4, 0.0)


def main(arguments: list[str]) -> int:
    from sinew import setups
    from sinew.core.bake import remake
    from sinew.core.flesh.settings import Settings
    from sinew.scene import playback

    if not arguments:
        print(__doc__)
        return 2
    ob = close_up.build(70, FRAMES[-1], (420, 300))
    with tempfile.TemporaryDirectory() as folder:
        blend = Path(folder) / "calf.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        values = {"jiggle": 1.2, "resolution": int(arguments[1]) if len(arguments) > 1 else 0}
        baked = setups.bake_object(ob.name, values, setups.Target(blend))
        columns, start = [], time.monotonic()
        for follow_after in STEPS:
            settings = Settings().replace({**values, "follow_after": follow_after})
            outcome = remake.remake(baked.folder.parent, baked.id, settings)
            playback.play_file(ob, outcome.folder / "result.pc2")
            titles = dict.fromkeys(FRAMES, "") | {FRAMES[-1]: f"Back to Animation {follow_after:g}"}
            cells = [close_up.render(frame, Path(folder) / "cell.png", title) for frame, title in titles.items()]
            columns.append(np.concatenate(cells))
        pictures.write_picture(Path(arguments[0]).resolve(), np.concatenate(columns, axis=1))
    seconds = time.monotonic() - start
    total = baked.report["seconds"]["total"]
    print(f"{arguments[0]}: baked in {total:.0f} s, {len(STEPS)} balances with their pictures in {seconds:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
