"""The same painting, the same motion: over the size of the scene, the frame rate and the resolution of the cage.

    python examples/balance.py OUT.png [seconds]

A leaning bar, painted 1 at its foot and fading to 0, is let go with Keep Pose 0: it swings, and settles where gravity,
flesh and painting are in balance. The last plot has a bar that is painted 1/2 all over.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import numpy as np  # noqa: E402
import scenes  # noqa: E402
from drawing import BLUE, GREEN, ORANGE, WIDE, picture, plot  # noqa: E402

COLORS, THICK = (ORANGE, GREEN, BLUE), (0.04, 0.022, 0.01)
FINE = 60  # of the plots, values a second
RADIUS, LEAN = 0.09, 0.3


def swing(
    seconds: float, scale: float = 1.0, rate: float = 24.0, resolution: int = 24, driven: bool = False
) -> tuple[Any, Any]:
    """Times, and how far the top of the bar is from its input, as a fraction of its length: along x, driven along z."""
    from sinew.core.flesh.enrich import enrich

    points, faces = scenes.tube_mesh(1.0, RADIUS, 24, 16)
    triangles = np.array([(f[0], f[i], f[i + 1]) for f in faces for i in range(1, len(f) - 1)], np.int32)
    rest = points[:, [1, 2, 0]]
    follow = np.full(len(rest), 0.5) if driven else np.clip(1.0 - 4.0 * (rest[:, 2] - 0.08), 0.0, 1.0)
    leaning = scale * (rest + np.outer(LEAN * rest[:, 2], [1.0, 0.0, 0.0]))
    count = round(seconds * rate) + 1
    settings = {"keep_pose": 0.0, "jiggle": 2.0, "settle": 1.0, "gravity": (0.0, 0.0, -9.81)}
    shown = enrich(
        scale * rest, triangles, [leaning] * count, follow, frame_rate=rate, resolution=resolution, **settings
    )
    top, axis = rest[:, 2] > 0.99, 2 if driven else 0
    return np.arange(count) / rate, np.array([(frame - leaning)[top, axis].mean() / scale for frame in shown])


def measure(times: Any, values: Any) -> tuple[float, float]:
    """Frequency and settled value of a swing that dies down: the damped sine that is nearest to it."""
    best = (np.inf, 0.0, 0.0)
    frequencies, settles = np.geomspace(0.5, 8.0, 120), np.geomspace(0.3, 3.0, 24)
    for _ in range(2):
        for frequency in frequencies:
            wave = np.exp(2j * np.pi * frequency * times)
            for settle in settles:
                envelope = np.exp(-np.log(20.0) * times / settle)
                basis = np.stack([envelope * wave.real, envelope * wave.imag, np.ones_like(times)], axis=1)
                found = np.linalg.lstsq(basis, values, rcond=None)[0]
                error = float(np.square(basis @ found - values).sum())
                if error < best[0]:
                    best, nearest = (error, float(frequency), float(found[2])), settle
        frequencies = best[1] * np.linspace(0.97, 1.03, 61)
        settles = nearest * np.linspace(0.9, 1.1, 21)
    return best[1], best[2]


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    seconds = float(arguments[1]) if len(arguments) > 1 else 1.5
    scenes.reset_scene()
    studies: tuple[tuple[str, str, list[Any], dict[str, Any]], ...] = (
        ("Size of the scene", "scale", [0.01, 1.0, 100.0], {"resolution": 12}),
        ("Frames a second", "rate", [24, 30, 60], {"resolution": 12}),
        ("Resolution, flesh", "resolution", [12, 24, 48], {}),
        ("Resolution, painted 1/2", "resolution", [12, 24, 48], {"driven": True}),
    )
    times = np.arange(round(seconds * FINE) + 1) / FINE
    for number, (title, key, values, fixed) in enumerate(studies):
        lines, numbers = [], []
        for value, color in zip(values, COLORS, strict=True):
            at, off = swing(seconds, **{key: value}, **fixed)
            numbers.append(measure(at, off))
            told = f"{value:g}: {numbers[-1][0]:.2f} Hz, settles at {100 * numbers[-1][1]:.1f} %"
            lines.append((told, np.interp(times, at, off), color))
            print(f"{title} {told}", flush=True)
        spread = [max(n) / min(n) - 1.0 for n in zip(*np.abs(numbers), strict=True)]
        print(f"{title}: frequencies within {spread[0]:.1%}, settled offsets within {spread[1]:.1%}")
        plot(
            number % 2 * (WIDE + 1.0), title, lines, low=-4.9 * (number // 2), every=FINE // 2, below="seconds",
            unit=1.0 / FINE, thick=THICK, label=lambda value: f"{100 * value:.0f} %",
        )  # fmt: skip
    wide, high = 2 * WIDE + 2.0, 9.9
    picture(Path(arguments[0]).resolve(), -0.7, -5.6, wide, (1200, int(1200 * high / wide)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
