"""Sparse painting: a few strokes, and what Spread makes of them.

    python examples/spread.py OUT.png

Left what is painted (grey is not), right the weights of all vertices: blue is free, red follows exactly.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import bpy  # noqa: E402
import close_up  # noqa: E402
import numpy as np  # noqa: E402
import pictures  # noqa: E402
from stage import paint, to_linear  # noqa: E402

# From blue to red as in weight paint mode.
RAMP = np.array([(0.1, 0.15, 0.9), (0.1, 0.8, 0.8), (0.2, 0.8, 0.2), (0.95, 0.85, 0.15), (0.9, 0.12, 0.1)])
GREY = (0.55, 0.55, 0.57)
# Middle, radius and weight of a stroke on the calf, metres.
STROKES = (
    ((0.0, -0.75, 1.25), 0.22, 1.0),
    ((0.0, 0.3, 1.1), 0.3, 1.0),
    ((0.0, 0.05, 0.35), 0.18, 0.0),
    ((0.35, -0.5, 0.9), 0.16, 0.0),
    ((-0.35, -0.5, 0.9), 0.16, 0.0),
    ((0.0, -1.1, 0.5), 0.16, 0.1),
)


def colors(weights: Any) -> Any:
    ramp = np.linspace(0.0, 1.0, len(RAMP))
    found = np.stack([np.interp(weights, ramp, RAMP[:, k]) for k in range(3)], axis=-1)
    return to_linear(np.where(np.isnan(weights)[:, None], GREY, found))


def main(arguments: list[str]) -> int:
    from sinew.setups.flesh.body import look_at

    if not arguments:
        print(__doc__)
        return 2
    ob = close_up.build(1, 2, (700, 500))
    bpy.context.scene.camera.data.lens = 85.0
    group = ob.vertex_groups.new(name="strokes")
    points = np.array([vertex.co for vertex in ob.data.vertices])
    painted = np.full(len(points), np.nan)
    for middle, radius, weight in STROKES:
        inside = np.linalg.norm(points - middle, axis=1) < radius
        painted[inside] = weight
        group.add(np.flatnonzero(inside).tolist(), weight, "REPLACE")
    for leg in (vertex.index for vertex in ob.data.vertices if vertex.co.z < 0.12):
        painted[leg] = 1.0
        group.add([leg], 1.0, "REPLACE")
    spread = look_at(ob.name, {"follow_group": "strokes", "spread": True}).follow()
    print(f"{np.isfinite(painted).sum()} of {len(painted)} vertices are painted")
    bpy.context.scene.display.shading.color_type = "VERTEX"
    corners = np.empty(len(ob.data.loops), np.int32)
    ob.data.loops.foreach_get("vertex_index", corners)
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        for weights in (painted, spread):
            paint(ob.data, colors(weights)[corners])
            cells.append(close_up.render(1, Path(folder) / "cell.png"))
        pictures.write_picture(Path(arguments[0]).resolve(), np.concatenate(cells, axis=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
