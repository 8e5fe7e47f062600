"""How smoothly a coarse cage carries a fine mesh, and how softly free flesh leaves what follows.

    python examples/smoothness.py OUT.png

Left a bent cage, and the mesh in it with Interpolation linear and Phong. Right a bar that is shaken, its blue part
painted to follow and nothing between, without and with Soft Border: the redder, the more it is bent.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon"), str(HERE.parent / "tests" / "core")]

import numpy as np  # noqa: E402
import scenes  # noqa: E402
from drawing import BLACK, GREEN, ORANGE, Color, Line, body, picture, plot, write  # noqa: E402
from jumps import border_and_inside  # noqa: E402
from near_meshes import ball  # noqa: E402
from sinew.core.cage.gmsh.tets import boundary  # noqa: E402
from sinew.core.flesh.enricher import Enricher  # noqa: E402
from sinew.core.flesh.settings import Settings  # noqa: E402
from stage import axes, heat_colors  # noqa: E402

FLESH, HELD = np.array((0.75, 0.42, 0.28)), np.array((0.16, 0.33, 0.60))
CELLS = 6  # of the coarse cage, along the body
AROUND, ALONG, LENGTH, BORDER = 40, 120, 2.0, 0.5  # of the bar: vertices of a ring, rings, metres, where it is let go
SCALE = 1.6  # of bodies in the picture
HOTTEST = 60.0  # degrees of bend a metre


def bend(points: Any, angle: float = 1.5) -> Any:
    """Bends what stands upright along an arc, by so many radians a metre."""
    turn, lever = angle * points[:, 2], 1.0 / angle - points[:, 0]
    return np.stack([1.0 / angle - lever * np.cos(turn), points[:, 1], lever * np.sin(turn)], axis=1)


def kinks(points: Any, triangles: Any) -> Any:
    """Angle between the normals of neighbouring triangles of a closed surface, degrees."""
    sides = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    pairs = np.lexsort(sides.T).reshape(-1, 2) // 3
    a, b, c = np.swapaxes(points[triangles], 0, 1)
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return np.degrees(np.arccos(np.clip((normals[pairs[:, 0]] * normals[pairs[:, 1]]).sum(axis=1), -1.0, 1.0)))


def show(points: Any, triangles: Any, colors: Any, place: float, smooth: bool = True) -> Any:
    """A body whose middle is at `place`, standing on the line of the plot."""
    seen = SCALE * points @ axes(10.0, 8.0).T
    low, high = seen.min(axis=0), seen.max(axis=0)
    return body(seen + [place - (low + high)[0] / 2, -low[1], 0.0], triangles, colors, smooth=smooth)


def show_interpolation() -> None:
    rest, triangles = ball(1.0, 90, 120)
    rest = rest * [0.32, 0.32, 1.0] + [0.0, 0.0, 1.0]
    truth = kinks(bend(rest), triangles)
    for column, interpolation in enumerate(("linear", "phong"), start=1):
        settings = Settings(resolution=CELLS, interpolation=interpolation, simulate=False)
        enricher = Enricher(rest, triangles, np.zeros(len(rest)), settings)
        fitted = enricher.fit(rest).positions
        bent = bend(fitted)
        surface = enricher.surface(fitted, bent, rest)
        off = float(np.percentile(np.abs(kinks(surface, triangles) - truth), 95))
        if column == 1:
            faces = boundary(enricher.cage.tets)
            show(bent, faces, FLESH, 0.0, smooth=False)
            wire = show(bent, faces, BLACK, 0.0).modifiers.new("Wireframe", "WIREFRAME")
            wire.thickness, wire.use_even_offset = 0.018, False
            write(f"a cage of {len(enricher.cage.tets)} tets", 0.0, 3.35, BLACK, 0.22)
        show(surface, triangles, FLESH, 0.3 + 2.75 * column)
        told = f"{interpolation.title()}: kinks of {off:.1f}°"
        write(told, 0.3 + 2.75 * column, 3.35, ORANGE if column == 1 else GREEN, 0.22)
        print(f"{told}, 95th percentile of what was not there")


def shaken(transition: float) -> tuple[Any, Any, float]:
    """The bar's surface on the frame on which it is bent most, its triangles, and the jump of the deformation gradient
    at the border over that inside the free part, 95th percentiles."""
    points, faces = scenes.tube_mesh(1.0, 0.1, ALONG, AROUND)
    triangles = np.array([(f[0], f[i], f[i + 1]) for f in faces for i in range(1, len(f) - 1)], np.int32)
    rest = np.stack([points[:, 1], points[:, 2], LENGTH * points[:, 0]], axis=1)
    follow = (rest[:, 2] < BORDER).astype(float)
    settings = Settings(transition=transition, resolution=20, jiggle=1.5)
    enricher = Enricher(rest, triangles, follow, settings)
    frames = [rest + np.array([0.22 * np.sin(0.6 * k), 0.0, 0.0]) for k in range(24)]
    fitted = [enricher.fit(frames[0]).positions]
    for frame in frames[1:]:
        fitted.append(enricher.fit(frame, fitted[-1]).positions)
    state, around = enricher.begin(fitted[0], fitted[1]), [None, *fitted, None]
    simulated = [state.positions]
    for k in range(len(fitted) - 1):
        state, _ = enricher.advance(state, (around[k], fitted[k], fitted[k + 1], around[k + 3]))
        simulated.append(state.positions)
    border, inside = border_and_inside(enricher.cage.tets, enricher.cage_weights(), fitted, simulated)
    most = int(np.argmax([(s - f)[:, 0].max() for f, s in zip(fitted, simulated, strict=True)]))
    surface = enricher.surface(fitted[most], simulated[most], frames[most])
    return surface, triangles, border / inside


def bending(surface: Any) -> Any:
    """Of the bar at each of its rings, in degrees a metre, evened out over three of them."""
    middle = surface[: AROUND * (ALONG + 1)].reshape(-1, AROUND, 3).mean(axis=1)
    ahead = np.diff(middle, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    turns = np.degrees(np.arccos(np.clip((ahead[1:] * ahead[:-1]).sum(axis=1), -1.0, 1.0)))
    return np.convolve(np.pad(turns * ALONG / LENGTH, 1, "edge"), np.ones(3) / 3.0, "same")


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    scenes.reset_scene()
    show_interpolation()
    lines: list[Line] = []
    for column, transition in enumerate((0.0, Settings().transition)):
        surface, triangles, ratio = shaken(transition)
        bent = bending(surface)
        heat = np.append(np.repeat(np.append(bent, bent[-1]), AROUND)[: len(surface) - 2], [0.0, bent[-1]])
        held = np.append(np.repeat(np.arange(ALONG + 1) * LENGTH / ALONG < BORDER, AROUND), [True, False])
        colors = np.where(held[:, None], HELD, heat_colors(np.clip(heat / HOTTEST, 0.0, 1.0)))
        show(surface, triangles, colors, 8.1 + 1.6 * column)
        color: Color = GREEN if column else ORANGE
        told = f"Soft Border {transition:g}: the deformation jumps {ratio:.1f} times as much at the border as inside"
        lines.append((f"Soft Border {transition:g}", bent, color))
        write(f"jump x {ratio:.1f}", 8.1 + 1.6 * column, 3.35, color, 0.22)
        print(told)
    title = "How much the bar is bent along its length, degrees a metre"
    plot(11.6, title, lines, every=ALONG // 4, below="ring of the bar", label="{:.0f}".format)
    wide, high = 18.6, 4.85
    picture(Path(arguments[0]).resolve(), -1.7, -0.7, wide, (1700, int(1700 * high / wide)), solid=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
