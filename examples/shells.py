"""Directable cloth, further scenes. Metres, Z up, seen from +X.

    python shells.py SCENE OUT.png

Scenes: box (8 vertices twist a box), tugging (through the points of the guide, or around them). After figures 3, 4 and
8 of Bergou et al. 2007.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import numpy as np  # noqa: E402
from building import add_mesh  # noqa: E402
from preview_to_final import Look, View, animate, build_guide, draw, films  # noqa: E402
from scenes import box_mesh  # noqa: E402


@dataclass(frozen=True)
class Scene:
    build: Callable[[], Any]
    guide: str  # its title
    looks: Sequence[Look]
    shown: Sequence[int]
    levels: int = 3
    view: View = View()


def material(name: str, **values: Any) -> dict[str, Any]:
    from sinew.core.methods import presets

    return {**presets.load(name).values, **values}


def turned(points: Any, angle: Any, a: int, b: int) -> Any:
    """By an angle, radians, one for all or for each, from axis `a` to axis `b`."""
    made = points.copy()
    made[:, a] = np.cos(angle) * points[:, a] - np.sin(angle) * points[:, b]
    made[:, b] = np.sin(angle) * points[:, a] + np.cos(angle) * points[:, b]
    return made


# ---- a box ----------------------------------------------------------------------------------------------------------


def build_box() -> Any:
    rest, faces = box_mesh((0.5, 0.5, 0.7), 1)
    guide = add_mesh("Guide", rest, faces, groups={"Pinned": np.zeros(len(rest))}, smooth=False)
    high = rest[:, 2] / 0.7

    def pose(t: float) -> Any:
        squashed = rest * (1.0, 1.0, 1.0 - 0.18 * np.sin(5.0 * t) ** 2)
        twisted = turned(squashed, 1.1 * np.sin(2.6 * t) * high, 0, 1)
        return twisted + np.outer(high, (0.0, 0.16 * np.sin(5.2 * t), 0.0))

    animate(guide, pose, 40)
    return guide


def box() -> Scene:
    looks = [
        Look("wobbly", material("rubber_sheet", wrinkle_size=5.0, calm=4.0)),
        Look("damped", material("rubber_sheet", wrinkle_size=5.0, calm=0.1)),
        Look("plastic", material("rubber_sheet", wrinkle_size=5.0, calm=0.1, crease=1.0)),
    ]
    return Scene(build_box, "guide, 8 vertices", looks, (8, 16, 27, 40), 4, View(0.95, 0.38, 1.3, 0.8, (230, 250)))


# ---- a sheet --------------------------------------------------------------------------------------------------------


def tugging() -> Scene:
    looks = [Look("through its points", {"guide_points": True}), Look("around its points")]
    return Scene(build_guide, "guide", looks, (8, 22, 32))


SCENES: dict[str, Callable[[], Scene]] = {"box": box, "tugging": tugging}


def main(arguments: list[str]) -> int:
    if len(arguments) != 2 or arguments[0] not in SCENES:
        print(__doc__)
        return 2
    import sinew

    sinew.register()
    made = SCENES[arguments[0]]()
    taken, faces = films(made.looks, made.levels, made.build, made.shown)
    titles = [made.guide, *(look.title for look in made.looks)]
    draw(taken, faces, titles, Path(arguments[1]).resolve(), made.view)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
