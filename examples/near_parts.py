"""Parts that touch at rest come apart freely: fingers, lips, crossed legs, with Separate Parts off and on.

    python examples/near_parts.py OUT.png

Shown is what the cage itself carries of the opened pose, coloured by the distance from it: grey 0, dark red 10 % of
the body's size and more.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import near_meshes  # noqa: E402
import numpy as np  # noqa: E402
from building import reset_scene  # noqa: E402
from drawing import GREEN, ORANGE, body, picture, write  # noqa: E402
from stage import axes, heat_colors  # noqa: E402

# Name, body, resolution, and from where it is seen (turn, tilt).
BODIES = (
    ("five fingers", near_meshes.hand(0.0, 5), 16, (20.0, 15.0)),
    ("a closed mouth", near_meshes.mouth(), 12, (55.0, 10.0)),
    ("crossed legs", near_meshes.crossed_legs(), 24, (15.0, 5.0)),
)
STEPS = 6  # from rest to the opened pose
HOTTEST = 0.1  # of size
WIDE, HIGH = 2.3, 1.95  # of a cell


def carried(posed: near_meshes.Posed, resolution: int, separate_parts: bool) -> tuple[Any, Any]:
    """The opened pose as the cage carries it, and how far it is off, as a fraction of size."""
    from sinew.core.flesh.enricher import Enricher
    from sinew.core.flesh.settings import Settings

    rest, triangles, opened = posed
    settings = Settings(resolution=resolution, separate_parts=separate_parts, simulate=False, detail=False)
    enricher = Enricher(rest, triangles, None, settings)
    cage = None
    for step in np.linspace(0.0, 1.0, STEPS):
        frame = rest + step * (opened - rest)
        cage = enricher.fit(frame, cage).positions
    shape = enricher.surface(cage, cage, opened)
    return shape, np.linalg.norm(shape - opened, axis=1) / enricher.size


def show(posed: near_meshes.Posed, shape: Any, off: Any, view: tuple[float, float], place: tuple[float, float]) -> None:
    both = np.concatenate([posed[0], posed[2]])
    low, high = both.min(axis=0), both.max(axis=0)
    scale = 1.85 / np.linalg.norm(high - low)
    points = scale * (shape - (low + high) / 2) @ axes(*view).T
    body(points + [*place, 0.0], posed[1], heat_colors(np.clip(off / HOTTEST, 0.0, 1.0)), smooth=False)


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    reset_scene()
    for column, title in enumerate(("at rest", "Separate Parts off", "Separate Parts on")):
        write(title, column * WIDE, 1.0, size=0.2)
    for row, (name, posed, resolution, view) in enumerate(BODIES):
        low = -HIGH * row
        write(name, -1.0, low, size=0.17, align="RIGHT")
        show(posed, posed[0], np.zeros(len(posed[0])), view, (0.0, low))
        for column, separate_parts in enumerate((False, True), start=1):
            shape, off = carried(posed, resolution, separate_parts)
            show(posed, shape, off, view, (column * WIDE, low))
            told = f"off by up to {off.max():.1%}"
            write(told, column * WIDE, low - 0.9, GREEN if separate_parts else ORANGE)
            print(f"{name}, Separate Parts {'on' if separate_parts else 'off'}: {told} of size")
    wide, high = 3 * WIDE + 1.2, 3 * HIGH + 0.4
    picture(Path(arguments[0]).resolve(), -2.35, 1.25 - high, wide, (1200, int(1200 * high / wide)), solid=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
