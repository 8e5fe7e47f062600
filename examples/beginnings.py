"""Plots how a bake begins, ends and crosses gaps: a loop that repeats, settled and from rest, missing frames.

    python examples/beginnings.py OUT.png
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import numpy as np  # noqa: E402
from building import reset_scene  # noqa: E402
from drawing import BLACK, BLUE, GREEN, ORANGE, WIDE, Line, picture, plot  # noqa: E402

CYCLE = 24  # frames


def bar() -> tuple[Any, Any, Any]:
    """A standing bar of one metre: vertices, triangles, and weights that hold its foot."""
    levels = 17
    ring = [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)]
    vertices = [(x, y, k / (levels - 1)) for k in range(levels) for x, y in ring]
    quads = [(4 * k + i, 4 * k + (i + 1) % 4, 4 * k + 4 + (i + 1) % 4, 4 * k + 4 + i)
             for k in range(levels - 1) for i in range(4)]  # fmt: skip
    quads += [(3, 2, 1, 0), tuple(4 * (levels - 1) + i for i in range(4))]
    triangles = [triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))]
    points = np.array(vertices)
    return points, np.array(triangles, np.int32), (points[:, 2] < 0.08).astype(float)


def bake(frames: Sequence[Any], **settings: Any) -> Any:
    """How far the top of the bar is along x, frame by frame, through the same bake that Blender uses."""
    import tempfile

    from sinew.core.bake import run as baking
    from sinew.core.bake.missing import bridge, parse_frames
    from sinew.core.bake.shot import Sample, Shot
    from sinew.core.bake.store import Store
    from sinew.core.flesh.painted import FleshPaint
    from sinew.core.flesh.settings import Settings
    from sinew.core.methods.enrich import METHOD

    rest, triangles, follow = bar()
    chosen = Settings().replace({"resolution": 10, "jiggle": 2.0, "settle": 1.5, **settings})
    shot = Shot(
        rest=rest, triangles=triangles, painted=FleshPaint(follow), settings=chosen, method=METHOD,
        samples=len(frames), first_frame=0, frame_start=0, frame_end=len(frames) - 1, frame_rate=24.0,
        gravity=(0.0, 0.0, -9.81), owner_file="", owner_object="bar", native=METHOD.version(), build=METHOD.build(),
    )  # fmt: skip
    gaps = parse_frames(chosen.missing_frames)
    source = (Sample(i, frame.astype(np.float32), np.eye(4)) for i, frame in enumerate(frames) if i not in gaps)
    with tempfile.TemporaryDirectory() as folder:
        outcome = baking.bake(shot, bridge(source, len(frames)), Path(folder))
        with Store.open(Path(folder), outcome.id) as store:
            return np.array([store.read_result(i)[-4:, 0].mean() for i in range(len(frames))])


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    rest = bar()[0]
    reset_scene()

    def swayed(count: int) -> list[Any]:
        return [rest + [0.08 * np.sin(2 * np.pi * i / CYCLE) + 0.03 * np.sin(4 * np.pi * i / CYCLE), 0, 0]
                for i in range(count)]  # fmt: skip

    given = np.array([frame[-4:, 0].mean() for frame in swayed(2 * CYCLE + 1)])
    once = bake(swayed(CYCLE + 1))
    looped = bake(swayed(CYCLE + 1), loop=True)
    lines: list[Line] = [
        ("input", given, BLACK),
        ("one cycle, repeated: it jumps at the seam", np.concatenate([once[:-1], once]), ORANGE),
        ("with Loop", np.concatenate([looped[:-1], looped]), BLUE),
    ]
    plot(0.0, "The top of a bar that sways, mm", lines)
    seams = [1000 * abs(values[-1] - values[0]) for values in (looped, once)]
    print(f"loop: the seam is {seams[0]:.3f} mm, without it {seams[1]:.0f} mm")

    lean = [rest @ np.array([[1, 0, 0], [0, 1, 0], [0.4, 0, 1.0]]) for _ in range(2 * CYCLE + 1)]
    moving, settled, led = (bake(lean, keep_pose=0.0, start=start) for start in ("moving", "settled", "rest"))
    lines = [("start moving", moving, ORANGE), ("start settled", settled, BLUE), ("start at rest", led, GREEN)]
    plot(WIDE + 1.0, "A leaning bar, Keep Pose 0, mm", lines)

    broken = swayed(2 * CYCLE + 1)
    whole = bake(broken)
    for frame in (17, 18):
        broken[frame] = broken[frame] + [0.2, 0.0, 0.0]
    torn = bake(broken)
    bridged = bake(broken, missing_frames="17-18")
    lines = [
        ("frames 17 and 18 of the input are broken", torn, ORANGE),
        ("bridged as missing frames", bridged, BLUE),
        ("never broken", whole, GREEN),
    ]
    plot(2 * WIDE + 2.0, "A broken cache, mm", lines)
    away = 1000 * np.abs(torn - whole).max(), 1000 * np.abs(bridged - whole).max()
    print(f"missing frames: {away[0]:.0f} mm away from the whole shot, bridged {away[1]:.1f} mm")
    picture(Path(arguments[0]).resolve(), -0.6, -0.7, 3 * WIDE + 2.8, (2000, 580))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
