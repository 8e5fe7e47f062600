"""A body that nothing holds: it leaves its animation, unless its regions stay with it on average.

    python examples/averages.py OUT.png

Above the animation, below it all flesh free, and all flesh free with Averages on, in the colours of the regions.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import numpy as np  # noqa: E402
from building import reset_scene  # noqa: E402
from drawing import BLACK, BLUE, GREEN, ORANGE, Line, body, picture, plot, write  # noqa: E402
from near_meshes import ball  # noqa: E402
from sinew.core.flesh.enrich import enrich  # noqa: E402
from sinew.core.flesh.enricher import Enricher  # noqa: E402
from sinew.core.flesh.settings import Settings  # noqa: E402
from sinew.core.paint.averages import average_regions  # noqa: E402
from stage import axes  # noqa: E402

COUNT, FRAMES, SHOWN = 4, 49, (0, 3, 7, 11, 16, 20)
SETTINGS: dict[str, Any] = {"resolution": 10, "jiggle": 1.0, "settle": 1.2}
STONE = np.array((0.55, 0.57, 0.60))
REGIONS = np.array([(0.85, 0.35, 0.20), (0.20, 0.45, 0.80), (0.90, 0.65, 0.15), (0.25, 0.60, 0.35)])
COLUMN, ROW, FAR = 1.75, 2.0, 0.6


def dance(rest: Any) -> list[Any]:
    """It rocks from side to side, hops with it, and stops."""
    frames = []
    for frame in range(FRAMES):
        phase = 2.0 * np.pi * min(frame, 36) / 18.0
        angle = 0.6 * np.sin(phase)
        turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
        frames.append(rest @ turn.T + [0.3 * np.sin(angle), 0.0, 0.3 * abs(np.sin(phase))])
    return frames


def region_colors(rest: Any, triangles: Any) -> Any:
    """Of each vertex, by the region of the tet that carries it."""
    cage = Enricher(rest, triangles, np.zeros(len(rest)), Settings(**SETTINGS, average_regions=COUNT)).cage
    regions = average_regions(cage.vertices, cage.tets, np.ones(len(cage.vertices), bool), COUNT)
    return REGIONS[[np.bincount(corners).argmax() for corners in regions[cage.tets[cage.binding]]]]


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    reset_scene()
    rest, triangles = ball(1.0, 48, 64)
    rest = rest * [0.4, 0.4, 0.9] + [0.0, 0.0, 0.9]
    given, colors = dance(rest), region_colors(rest, triangles)
    free, kept = (
        list(enrich(rest, triangles, given, np.zeros(len(rest)), **SETTINGS, average_regions=count))
        for count in (0, COUNT)
    )
    rows = (("the animation", given, STONE), ("all free", free, colors), (f"all free, {COUNT} averages", kept, colors))
    for row, (title, frames, tint) in enumerate(rows):
        low = -ROW * row
        write(title, -1.0, low, BLACK, 0.2, "RIGHT")
        for column, frame in enumerate(SHOWN):
            away = float(np.linalg.norm((frames[frame] - given[frame]).mean(axis=0)))
            if away < FAR:
                points = (frames[frame] - given[frame].mean(axis=0)) @ axes(0.0, 5.0).T
                body(points + [COLUMN * column, low, 0.0], triangles, tint)
            else:
                write(f"{away:.1f} m away", COLUMN * column, low, ORANGE, 0.22)
            if row == 0:
                write(f"frame {frame}", COLUMN * column, 1.15, BLACK, 0.2)

    def offsets(frames: list[Any]) -> tuple[Any, Any]:
        """How far the mean is from the animation, and root mean square of all, metres."""
        off = np.array(frames) - np.array(given)
        return np.linalg.norm(off.mean(axis=1), axis=1), np.sqrt(np.square(off).sum(axis=2).mean(axis=1))

    (drift, _), (mean, moved) = offsets(free), offsets(kept)
    print(f"all free: the mean is {drift.max():.1f} m off at most")
    print(f"with {COUNT} averages: the mean is {mean.max():.4f} m off at most, flesh moves by {moved.max():.3f} m rms")
    lines: list[Line] = [
        ("all free: off on average", np.where(drift < 1.2 * moved.max(), drift, np.nan), ORANGE),
        (f"{COUNT} averages: off on average", mean, BLUE),
        (f"{COUNT} averages: motion added, rms", moved, GREEN),
    ]
    left = COLUMN * len(SHOWN) + 0.2
    plot(left, "Distance from the animation, mm", lines, low=-4.3, every=12)
    wide, high = left + 5.4 + 3.0, 3 * ROW + 0.6
    picture(Path(arguments[0]).resolve(), -3.0, 1.5 - high, wide, (1600, int(1600 * high / wide)), solid=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
