"""A point cloud, without any face, enriched like the surface it was taken from.

    python examples/point_cloud.py OUT.png [resolution]

Every third vertex of the example character, on the same armature. Above the animation, below it the bake, in the
colours of the motion that it adds.
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
import scenes  # noqa: E402
from building import add_colors, add_mesh, bind_armature  # noqa: E402
from stage import heat_colors, sample, surface_colors  # noqa: E402

SHOWN = (84, 92, 105, 110)
EVERY = 3
HOTTEST = 0.4  # metres


def add_cloud(ob: Any) -> tuple[Any, Any]:
    """Some vertices of the character, with its skin weights, in its place; and their colours."""
    points = np.array([vertex.co for vertex in ob.data.vertices])
    weights = {group.name: np.zeros(len(points)) for group in ob.vertex_groups}
    names = {group.index: group.name for group in ob.vertex_groups}
    for vertex in ob.data.vertices:
        for element in vertex.groups:
            weights[names[element.group]][vertex.index] = element.weight
    colors = np.empty((len(points), 3))
    colors[[loop.vertex_index for loop in ob.data.loops]] = surface_colors(ob.data)
    groups = {name: own[::EVERY] for name, own in weights.items()}
    cloud = add_mesh("Cloud", points[::EVERY], [], groups=groups)
    bind_armature(cloud, ob.parent)
    bpy.data.objects.remove(ob)
    return cloud, colors[::EVERY]


def render(points: Any, colors: Any, frame: int, path: Path) -> Any:
    """A small ball at each point."""
    corners, faces = scenes.ball_mesh(0.017, 2)
    places = (points[:, None] + corners).reshape(-1, 3)
    steps = len(corners) * np.arange(len(points))[:, None, None]
    balls = add_mesh("Balls", places, (steps + faces).reshape(-1, faces.shape[1]))
    add_colors(balls, "Color", np.repeat(colors, len(corners), axis=0))
    picture = close_up.render(frame, path)
    bpy.data.objects.remove(balls)
    return picture


def main(arguments: list[str]) -> int:
    from sinew import setups

    if not arguments:
        print(__doc__)
        return 2
    cloud, colors = add_cloud(close_up.build(70, SHOWN[-1], (380, 280)))
    columns = []
    with tempfile.TemporaryDirectory() as folder:
        blend, cell = Path(folder) / "cloud.blend", Path(folder) / "cell.png"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        values = {"jiggle": 1.6, "resolution": int(arguments[1]) if len(arguments) > 1 else 0}
        report = setups.bake_object(cloud.name, values, setups.Target(blend)).report
        for number in SHOWN:
            frame = sample(cloud, number)
            heat = heat_colors(np.clip(frame.added / HOTTEST, 0.0, 1.0))
            print(f"frame {number}: {frame.added.max():.2f} m are added at most")
            cells = [render(frame.input, colors, number, cell), render(frame.result, heat, number, cell)]
            columns.append(np.concatenate(cells))
        pictures.write_picture(Path(arguments[0]).resolve(), np.concatenate(columns, axis=1))
    error = report["fit_error"]["rms_relative"]
    print(f"{report['vertices']} points, {report['tets']} tets, the cage is {error:.2%} of size off, rms")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
