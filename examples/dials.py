"""The same shot, dialled otherwise: painted regions, a core around the bones, a force field.

    python examples/dials.py OUT.png [resolution]

The picture shows, from left to right, the input, the bake as it comes, limp ears (Keep Pose painted away), a firm trunk
(stiffness painted times 20), wind from the side, and a vortex around the body.
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

FRAMES = (105, 120)
PLAIN = {"jiggle": 1.6, "amount": 1.0, "keep_pose_group": "", "stiffness_group": ""}
DIALS: dict[str, dict[str, Any]] = {
    "input": {"amount": 0.0},
    "as it comes": {},
    "limp ears": {"keep_pose_group": "ears", "keep_pose_painted": 0.0},
    "firm trunk": {"stiffness_group": "trunk", "stiffness_painted": 20.0},
    "wind": {"field": ("WIND", 25.0)},
    "vortex": {"field": ("VORTEX", 5.0)},
}


def add_group(ob: Any, name: str, bones: str | tuple[str, ...]) -> None:
    """A vertex group of all that the bones whose names begin so carry."""
    wanted = {group.index for group in ob.vertex_groups if group.name.startswith(bones)}
    carried = [
        vertex.index
        for vertex in ob.data.vertices
        if sum(element.weight for element in vertex.groups if element.group in wanted) > 0.5
    ]
    ob.vertex_groups.new(name=name).add(carried, 1.0, "REPLACE")


def blow(kind: str, strength: float) -> Any:
    """Wind across the picture, or a vortex that turns about the middle of the body."""
    turn = (0.0, np.pi / 2, 0.6) if kind == "WIND" else (0.0, 0.0, 0.0)
    bpy.ops.object.effector_add(type=kind, location=(0.0, 0.0, 0.0), rotation=turn)
    field = bpy.context.object
    field.field.strength, field.hide_render = strength, True
    return field


def main(arguments: list[str]) -> int:
    from sinew import setups

    if not arguments:
        print(__doc__)
        return 2
    ob = close_up.build(70, FRAMES[-1], (420, 300))
    add_group(ob, "ears", "ear")
    add_group(ob, "trunk", "trunk")
    columns = []
    with tempfile.TemporaryDirectory() as folder:
        blend = Path(folder) / "calf.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        for title, dial in DIALS.items():
            values = {**PLAIN, "resolution": int(arguments[1]) if len(arguments) > 1 else 0, **dial}
            field = blow(*values.pop("field")) if "field" in values else None
            setups.bake_object(ob.name, values, setups.Target(blend))
            titles = dict.fromkeys(FRAMES, "") | {FRAMES[-1]: title}
            cells = [close_up.render(frame, Path(folder) / "cell.png", name) for frame, name in titles.items()]
            columns.append(np.concatenate(cells))
            if field is not None:
                bpy.data.objects.remove(field)
        pictures.write_picture(Path(arguments[0]).resolve(), np.concatenate(columns, axis=1))
    print(arguments[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
