"""Plots how the engine's errors fall with the step and with the cell: build/bench/convergence.png.

    build/env/45/bin/python tests/benchmark/convergence.py

Blender draws the picture: curves and text, seen from above.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "addon"), str(ROOT / "examples"), str(ROOT / "tests" / "core")]

import studies  # noqa: E402
from building import reset_scene  # noqa: E402

BLUE, ORANGE, GREEN = (0.1, 0.3, 0.8), (0.9, 0.4, 0.05), (0.05, 0.5, 0.1)
GREY, BLACK = (0.75, 0.75, 0.75), (0.1, 0.1, 0.1)
SIDE = 4.0  # of a plot, in units of the scene
# name, sizes, errors, expected order, colour
Line = tuple[str, list[float], list[float], int, tuple[float, float, float]]


def material(color: tuple[float, float, float]) -> Any:
    name = str(color)
    found = bpy.data.materials.get(name) or bpy.data.materials.new(name)
    found.diffuse_color = (*color, 1.0)
    return found


def add(curve: Any, color: tuple[float, float, float]) -> None:
    curve.materials.append(material(color))
    bpy.context.scene.collection.objects.link(bpy.data.objects.new(curve.name, curve))


def write(text: str, x: float, y: float, color: tuple[float, float, float] = BLACK, size: float = 0.17) -> None:
    curve = bpy.data.curves.new("text", "FONT")
    curve.body, curve.size, curve.align_x, curve.align_y = text, size, "CENTER", "CENTER"
    curve.offset_x, curve.offset_y = x, y
    add(curve, color)


def draw(points: Sequence[tuple[float, float]], color: tuple[float, float, float], width: float) -> None:
    curve = bpy.data.curves.new("line", "CURVE")
    curve.dimensions, curve.bevel_depth = "3D", width
    spline = curve.splines.new("POLY")
    spline.points.add(len(points) - 1)
    for point, (x, y) in zip(spline.points, points, strict=True):
        point.co = (x, y, -0.1 if color == GREY else 0.0, 1.0)
    add(curve, color)


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


def picture(path: Path) -> None:
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    camera.data.type, camera.data.ortho_scale = "ORTHO", 2 * SIDE + 2.4
    camera.location = (SIDE + 0.5, SIDE / 2 + 0.2, 10.0)
    scene.collection.objects.link(camera)
    scene.camera, scene.render.engine = camera, "BLENDER_WORKBENCH"
    scene.display.shading.light, scene.display.shading.color_type = "FLAT", "MATERIAL"
    scene.world = bpy.data.worlds.new("White")
    scene.world.color = (1.0, 1.0, 1.0)
    scene.view_settings.view_transform = "Standard"
    scene.render.resolution_x, scene.render.resolution_y = 1600, 960
    scene.render.filepath = str(path)
    bpy.ops.render.render(write_still=True)


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
    picture(out / "convergence.png")
    print(f"plots in {out / 'convergence.png'}")


if __name__ == "__main__":
    main()
