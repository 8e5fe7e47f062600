"""A whole character: the young elephant in a shirt, with a bell on its chest. One bake moves all three.

    python examples/passengers.py OUT.png [resolution]

The shirt hangs on the same armature and moves with the belly; the bell hangs on a bone and stays rigid. Neither has a
setup: Sinew finds them. The picture shows input above result.
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

FRAMES = (92, 98, 101, 105)


def dress(ob: Any) -> list[Any]:
    """Adds a shirt and a bell to the example character."""
    return [add_shirt(ob), add_bell(ob)]


def add_shirt(ob: Any) -> Any:
    """A copy of the skin around chest and belly, a finger's breadth outside it, with the same skin weights."""
    mesh = ob.data
    vertices = np.array([vertex.co for vertex in mesh.vertices])
    normals = np.array([vertex.normal for vertex in mesh.vertices])
    y, z = vertices[:, 1], vertices[:, 2]
    covered = (y > -0.28) & (y < 0.36) & (z > 0.42)
    faces = [tuple(face.vertices) for face in mesh.polygons if covered[list(face.vertices)].all()]
    used = np.unique(np.concatenate([np.array(face) for face in faces]))
    number = np.full(len(vertices), -1)
    number[used] = np.arange(len(used))
    groups = {}
    for group in ob.vertex_groups:
        weights = np.zeros(len(vertices))
        for vertex in mesh.vertices:
            for element in vertex.groups:
                if element.group == group.index:
                    weights[vertex.index] = element.weight
        if weights[used].any():
            groups[group.name] = weights[used]
    points = (vertices + 0.012 * normals)[used]
    shirt = add_mesh("Shirt", points, [tuple(int(number[i]) for i in face) for face in faces], groups=groups)
    stripes = (np.floor(points[:, 1] / 0.06).astype(int) % 2)[:, None]
    add_colors(shirt, "Color", np.where(stripes, (0.55, 0.05, 0.06), (0.85, 0.80, 0.70)))
    bind_armature(shirt, ob.parent)
    return shirt


def add_bell(ob: Any) -> Any:
    """A ball that the chest bone carries."""
    points, faces = scenes.ball_mesh(0.06, 6)
    bell = add_mesh("Bell", points, faces)
    add_colors(bell, "Color", np.full((len(points), 3), (0.9, 0.6, 0.05)))
    bone = ob.parent.data.bones["chest"]
    bell.parent, bell.parent_type, bell.parent_bone = ob.parent, "BONE", "chest"
    # A bone carries from its tail on, in its own directions.
    bell.matrix_parent_inverse = bone.matrix_local.to_3x3().to_4x4().inverted()
    bell.location = np.subtract((0.0, -0.46, 0.62), bone.tail_local)
    return bell


def main(arguments: list[str]) -> int:
    from sinew import setups

    if not arguments:
        print(__doc__)
        return 2
    out = Path(arguments[0]).resolve()
    ob = close_up.build(62, FRAMES[-1], (480, 400))
    carried = dress(ob)
    with tempfile.TemporaryDirectory() as folder:
        blend = Path(folder) / "calf.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        values = {"resolution": int(arguments[1])} if len(arguments) > 1 else {}
        outcome = setups.bake_object(ob.name, values, setups.Target(blend))
        rows = []
        for shown in (False, True):
            for one in (ob, *carried):
                one.modifiers["Sinew"].show_viewport = one.modifiers["Sinew"].show_render = shown
            rows.append(np.concatenate([close_up.render(frame, Path(folder) / "cell.png") for frame in FRAMES], axis=1))
        pictures.write_picture(out, np.concatenate(rows))
    seconds = outcome.report["seconds"]
    print(f"{out}: {outcome.report['tets']} tets, {seconds['total']:.0f} s, of these detail {seconds['detail']:.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
