"""How well automatic weights know anatomy: the share of each named part's vertices on its side of 1/2.

    PYTHONPATH=addon:examples:tests/core:tests/blender build/env/45/bin/python tests/benchmark/weights.py [WHICH...]

WHICH: tuned, unseen or names of models. Told with the names of bones, without names, and without bones; below 90 % is
marked.
"""

from __future__ import annotations

import sys
from collections import Counter

import anatomy
import labelled
from sinew.core.paint.follow import automatic_follow

WAYS = ("named", "nameless", "bare")


def follow_of(body: anatomy.Labelled, way: str) -> object:
    if way == "bare":
        return automatic_follow(body.positions, body.triangles, body.edges)
    bones = body.bones if way == "named" else body.nameless()
    return automatic_follow(body.positions, body.triangles, body.edges, bones, body.skin if bones else None)


def main(asked: list[str]) -> None:
    makers = {key: (key in anatomy.UNSEEN, make) for key, make in anatomy.BODIES.items()}
    for key, entry in labelled.PARTS.items():
        if labelled.is_there(key):
            makers[key] = (entry["unseen"], lambda key=key: labelled.load(key))
    good: Counter[tuple[bool, str]] = Counter()
    for key, (unseen, make) in makers.items():
        if asked and key not in asked and ("unseen" if unseen else "tuned") not in asked:
            continue
        body = make()
        rows = [anatomy.scores(body.parts, follow_of(body, way)) for way in WAYS]
        for part in rows[0]:
            shares = [row[part] for row in rows]
            marks = " ".join(f"{share:5.2f}{' ' if share >= anatomy.RIGHT_SIDE else '!'}" for share in shares)
            print(f"{'unseen' if unseen else 'tuned':7}{key:12}{part:16}{marks}")
            for way, share in zip(WAYS, shares, strict=True):
                good[unseen, way] += share >= anatomy.RIGHT_SIDE
                good[unseen, "parts"] += way == "named"
    for unseen in (False, True):
        if good[unseen, "parts"]:
            counts = ", ".join(f"{good[unseen, way]} {way}" for way in WAYS)
            print(f"{'unseen' if unseen else 'tuned'}: of {good[unseen, 'parts']} parts right are {counts}")


if __name__ == "__main__":
    main(sys.argv[1:])
