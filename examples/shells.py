"""Directable cloth, further scenes. Metres, Z up, seen from +X.

    python shells.py SCENE OUT.png

Scenes: tugging (through the points of the guide, or around them). After figures 3 and 4 of Bergou et al. 2007.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

from preview_to_final import Look, View, build_guide, draw, films  # noqa: E402


@dataclass(frozen=True)
class Scene:
    build: Callable[[], Any]
    guide: str  # its title
    looks: Sequence[Look]
    shown: Sequence[int]
    levels: int = 3
    view: View = View()


def tugging() -> Scene:
    looks = [Look("through its points", {"guide_points": True}), Look("around its points")]
    return Scene(build_guide, "guide", looks, (8, 22, 32))


SCENES: dict[str, Callable[[], Scene]] = {"tugging": tugging}


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
