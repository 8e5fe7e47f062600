"""The two tests by which the laboratory tells fabrics apart: Peirce's cantilever and Cusick's drape."""

from __future__ import annotations

from typing import Any

import numpy as np
from sheets import sheet
from sinew.core.methods.tracks.cloth import Cloth
from sinew.core.methods.tracks.guide import make_averages
from sinew.core.methods.tracks.material import warp_of
from sinew.core.methods.tracks.settings import Settings

GRAVITY = 9.81
_TRIES = 60  # of five hundred rounds each: thin metal creeps, so much stiffer is it along itself than against bending
SUPPORT, DISC = 0.09, 0.15  # m, radii of Cusick's


def expected_length(values: Any) -> float:
    """The bending length, m, of a plate of that stiffness and weight: the cube root of one over the other."""
    return float((values["bend"] / (values["weight"] * GRAVITY)) ** (1.0 / 3.0))


def bending_length(values: Any, columns: int = 16) -> float:
    """By Peirce's formula from the angle at which a clamped strip hangs that is about twice as long."""
    length = 2.0 * expected_length(values)
    cell = length / columns
    rest, sides = sheet(columns + 1, 3, cell / np.sqrt(0.75))
    pinned = (rest[:, 0] < 1.5 * cell).astype(float)  # two columns: it is clamped
    settled = settle(rest, sides, pinned, rest, values)
    end = settled[rest[:, 0] > rest[:, 0].max() - 1e-9].mean(axis=0)
    angle = np.arctan2(-end[2], end[0] - cell)
    clamp = 0.5 * cell  # the first hinge that bends is that of the clamped line: half a cell on either side
    return float((length + clamp) * (np.cos(0.5 * angle) / (8.0 * np.tan(angle))) ** (1.0 / 3.0))


def drape_coefficient(values: Any) -> tuple[float, int]:
    """Of a disc over a smaller one, in per cent of the ring that hangs: how much of it is seen from above; and how many
    folds it has. Where triangles are not much smaller than the bending length, they are too stiff for folds."""
    rest, sides = _ring(int(np.clip(3.0 * DISC / expected_length(values), 18, 36)))
    radius = np.linalg.norm(rest, axis=1)
    held = (radius < SUPPORT + 1e-6).astype(float)
    begin = rest.copy()
    begin[:, 2] += 1e-4 * np.random.default_rng(5).normal(size=len(rest)) * (1.0 - held)
    settled = settle(rest, sides, held, begin, values, falls=12)
    outline = settled[radius > DISC - 1e-6]
    angles = np.arctan2(outline[:, 1], outline[:, 0])
    far = np.hypot(settled[:, 0], settled[:, 1])
    bins = 120
    where = np.floor((np.arctan2(settled[:, 1], settled[:, 0]) / (2 * np.pi) + 0.5) * bins).astype(int) % bins
    reach = np.array([far[where == k].max(initial=SUPPORT) for k in range(bins)])
    area = np.pi * (reach**2).mean()
    around = np.hypot(outline[:, 0], outline[:, 1])[np.argsort(angles)]
    spectrum = np.abs(np.fft.rfft(around - around.mean()))
    share = (area - np.pi * SUPPORT**2) / (np.pi * (DISC**2 - SUPPORT**2))
    return float(100.0 * share), int(spectrum[1:20].argmax() + 1)


def settle(rest: Any, sides: Any, held: Any, begin: Any, values: Any, falls: int = 0) -> Any:
    """At rest under its weight, of a material without creases; it is let go from `begin`, and falls so many frames."""
    known = {name: value for name, value in values.items() if name not in ("crease", "hardening")}
    changes = {"scheme": "implicit_euler", "calm": 0.3} if falls else {}
    settings = Settings().replace({**known, "precision": 1e-6, **changes})
    warp = warp_of(settings, rest, sides, None, np.array([0.0, 0.0, 1.0]))
    cloth = Cloth(rest, sides, held, settings, 24.0, averages=make_averages(rest, sides), warp=warp)
    state = cloth.begin(begin)
    for _ in range(falls):
        state, _ = cloth.advance(state, (rest, rest, rest, rest))
    shape = state.positions
    for _ in range(_TRIES):
        shape = cloth.settle(shape)
        if cloth.is_settled:
            return shape
    raise AssertionError("It does not come to rest.")


def _ring(rings: int) -> tuple[Any, Any]:
    """A disc without what lies deep under its support: rings of six points more each than the last."""
    first = int(SUPPORT / DISC * rings) - 1
    points: list[Any] = []
    sides: list[Any] = []
    starts = []
    for k in range(first, rings + 1):
        starts.append(len(points))
        angles = 2.0 * np.pi * np.arange(6 * k) / (6 * k)
        points += list(np.stack([np.cos(angles), np.sin(angles), 0.0 * angles], axis=1) * (DISC * k / rings))
    for k, inner, outer in zip(range(first, rings), starts, starts[1:], strict=False):
        for sector in range(6):
            for j in range(k + 1):
                a, b = outer + sector * (k + 1) + j, outer + (sector * (k + 1) + j + 1) % (6 * (k + 1))
                c = inner + (sector * k + j) % (6 * k)
                sides.append((c, a, b))
                if j < k:
                    sides.append((c, b, inner + (sector * k + j + 1) % (6 * k)))
    return np.array(points), np.array(sides, np.int32)
