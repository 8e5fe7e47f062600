"""How fast an ear and a tail swing that are thinner than the cells of their cage, over how fast they should.

    python examples/thin_parts.py OUT.png

Both are a metre long, held by a tenth, of a real material; right is the beam of Euler and Bernoulli. Full: every tet
counts as flesh, also what sticks out of the body. Composite: a tet weighs and resists by the flesh in it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "addon"), str(ROOT / "examples"), str(ROOT / "tests" / "core")]

import scenes  # noqa: E402
from bodies import box_surface, rod  # noqa: E402
from drawing import BLACK, GREEN, ORANGE, WIDE, picture, plot  # noqa: E402
from test_composite import PLAIN, swings  # noqa: E402

RESOLUTIONS = (8, 10, 12, 14, 16, 20, 24, 30, 36)
THICK_EAR, THICK_TAIL = 0.05, 0.07


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print(__doc__)
        return 2
    scenes.reset_scene()
    bodies = {
        f"An ear, {100 * THICK_EAR:g} cm thick": (
            box_surface((40, 10, 3), (1.0, 0.25, THICK_EAR)),
            THICK_EAR / np.sqrt(12.0),
        ),
        f"A tail, {100 * THICK_TAIL:g} cm thick": (rod(THICK_TAIL / 2.0, 1.0), THICK_TAIL / 4.0),
    }
    every = np.arange(RESOLUTIONS[-1] + 1)
    for number, (name, ((rest, triangles), gyration)) in enumerate(bodies.items()):
        found = np.array([swings(rest, triangles, PLAIN, resolution, gyration) for resolution in RESOLUTIONS])
        for resolution, (composite, full) in zip(RESOLUTIONS, found, strict=True):
            print(f"{name}, resolution {resolution}: full {full:.2f}, composite {composite:.2f} times as fast as right")
        drawn = [np.interp(every, RESOLUTIONS, found[:, k], left=np.nan) for k in (1, 0)]
        lines = [
            ("full cells", drawn[0], ORANGE),
            ("composite cells", drawn[1], GREEN),
            ("right", np.ones(len(every)), BLACK),
        ]
        plot(
            number * (WIDE + 1.0), f"{name}: frequency over the right one", lines, every=12, below="resolution",
            label=lambda value: f"{value:.1f}", thick=(0.03, 0.03, 0.008),
        )  # fmt: skip
    wide, high = 2 * WIDE + 2.0, 5.0
    picture(Path(arguments[0]).resolve(), -0.7, -0.8, wide, (1200, int(1200 * high / wide)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
