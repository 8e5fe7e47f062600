"""Plots how the engine's errors fall with the step and with the cell: build/bench/convergence.png.

    build/env/45/bin/python tests/benchmark/convergence.py
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "addon"), str(ROOT / "examples"), str(ROOT / "tests" / "core")]

import studies  # noqa: E402
from building import reset_scene  # noqa: E402
from drawing import BLUE, GREEN, GREY, ORANGE, Color, draw, picture, write  # noqa: E402

SIDE = 4.0  # of a plot, in units of the scene
# name, sizes, errors, expected order, colour
Line = tuple[str, list[float], list[float], int, Color]


def plot(left: float, title: str, below: str, lines: Sequence[Line]) -> None:
    """Both axes logarithmic, a grid line each factor of ten; every line with its expected slope in grey beside it."""
    sizes = np.concatenate([line[1] for line in lines])
    errors = np.concatenate([line[2] for line in lines])
    low = np.array([np.log10(sizes.min()) - 0.1, np.floor(np.log10(errors.min()))])
    high = np.array([np.log10(sizes.max()) + 0.1, np.ceil(np.log10(errors.max()))])

    def place(size: float, error: float) -> tuple[float, float]:
        x, y = (np.log10([size, error]) - low) / (high - low) * SIDE
        return left + float(x), float(y)

    for exponent in range(int(low[1]), int(high[1]) + 1):
        y = place(1.0, 10.0**exponent)[1]
        draw([(left, y), (left + SIDE, y)], GREY, 0.004)
        write(f"1e{exponent}", left - 0.3, y)
    for size in sorted(set(lines[0][1])):
        write(f"{size:.3g}", place(size, 1.0)[0], -0.2, size=0.13)
    for row, (name, at, found, expected, color) in enumerate(lines):
        slope = [found[-1] * (size / at[-1]) ** expected for size in at[-3:]]
        draw([place(*pair) for pair in zip(at[-3:], slope, strict=True)], GREY, 0.012)
        draw([place(*pair) for pair in zip(at, found, strict=True)], color, 0.02)
        for pair in zip(at, found, strict=True):
            x, y = place(*pair)
            draw([(x - 0.03, y), (x + 0.03, y)], color, 0.05)
        reached = studies.order(at[-3:], found[-3:])
        write(f"{name}: order {reached:.2f} (grey: {expected})", left + SIDE / 2, SIDE + 0.35 + 0.25 * row, color)
        print(f"{title:44} {name:16} order {reached:.2f}, errors " + " ".join(f"{error:.2e}" for error in found))
    write(title, left + SIDE / 2, SIDE + 0.35 + 0.25 * len(lines) + 0.1, size=0.21)
    write(below, left + SIDE / 2, -0.5)


def main() -> None:
    out = ROOT / "build" / "bench"
    out.mkdir(parents=True, exist_ok=True)
    reset_scene()
    counts = [10, 20, 40, 80, 160, 320]
    steps = [studies.SECONDS / n for n in counts]
    schemes = (("implicit Euler", "implicit_euler", 1, ORANGE), ("TR-BDF2", "tr_bdf2", 2, BLUE))
    swings: list[Line] = [
        (name, steps, [studies.swing_error(scheme, n) for n in counts], expected, color)
        for name, scheme, expected, color in schemes
    ]
    damped = [studies.swing_error("tr_bdf2", n, 0.02) for n in counts]
    swings.append(("TR-BDF2, damped strain", steps, damped, 2, GREEN))
    plot(0.0, "A soft bar swings: error of the end, metres", "seconds a step", swings)
    across = [1, 2, 4, 8]
    cells = [studies.WIDTH / n for n in across]
    stretch = [abs(1 - studies.bar_response(n, 0)[1] / studies.exact_stretch()[1]) for n in across]
    sag = [abs(1 - studies.bar_response(n, 2)[0] / studies.exact_sag()) for n in across]
    bars: list[Line] = [("hanging, work", cells, stretch, 2, BLUE), ("cantilever, sag", cells, sag, 2, ORANGE)]
    plot(SIDE + 1.2, "A bar under its own weight: relative error", "metres a cell", bars)
    picture(out / "convergence.png", SIDE + 0.5 - (SIDE + 1.2), -1.08, 2 * SIDE + 2.4, (1600, 960))
    print(f"plots in {out / 'convergence.png'}")


if __name__ == "__main__":
    main()
