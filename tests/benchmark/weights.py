"""How well automatic weights know anatomy: the share of each named part's vertices on its side of 1/2.

    PYTHONPATH=addon:examples:tests/core:tests/blender build/env/45/bin/python tests/benchmark/weights.py [WHICH...]

WHICH: tuned, unseen, new, unmet or names of models. Of all but "unmet" scores were looked at while weights were tuned.
Those of others.py are counted where SINEW_OTHERS says where they lie.
Told with the names of bones, without names, without bones but with poses of an animation (one action of each model;
of bodies of code every joint turned by an angle of its own), and by the shape alone; below 90 % is marked.
"""

from __future__ import annotations

import sys
from collections import Counter

import anatomy
import labelled
import newcomers
import others
import strangers
from sinew.core.paint.follow import automatic_follow

UNMET = newcomers.UNMET | {"snout", "fixit", "behemoth", "anubis", "golem"}
WAYS = ("named", "nameless", "moving", "bare")


def follow_of(body: anatomy.Labelled, way: str, poses: list) -> object:
    if way == "moving":
        return automatic_follow(body.positions, body.triangles, body.edges, poses=poses)
    if way == "bare":
        return automatic_follow(body.positions, body.triangles, body.edges)
    bones = body.bones if way == "named" else body.nameless()
    return automatic_follow(body.positions, body.triangles, body.edges, bones, body.skin if bones else None)


def main(asked: list[str]) -> None:
    makers = {key: ("unseen" if key in anatomy.UNSEEN else "tuned", make) for key, make in anatomy.BODIES.items()}
    for key, entry in labelled.PARTS.items():
        if labelled.is_there(key):
            makers[key] = ("unseen" if entry["unseen"] else "tuned", lambda key=key: labelled.load(key))
    makers |= {key: ("new", make) for key, make in strangers.STRANGERS.items()}
    there = {key: make for key, make in others.MAKERS.items() if others.is_there(key)}
    makers |= {key: ("unmet" if key in UNMET else "new", make) for key, make in (newcomers.NEWCOMERS | there).items()}
    good: Counter[tuple[str, str]] = Counter()
    for key, (group, make) in makers.items():
        if asked and key not in asked and group not in asked:
            continue
        body = make()
        poses = labelled.poses(key) if key in labelled.PARTS else list(body.posed(8) if body.bones else [])
        rows = [anatomy.scores(body.parts, follow_of(body, way, poses)) for way in WAYS]
        for part in rows[0]:
            shares = [row[part] for row in rows]
            marks = " ".join(f"{share:5.2f}{' ' if share >= anatomy.RIGHT_SIDE else '!'}" for share in shares)
            print(f"{group:7}{key:12}{part:16}{marks}")
            for way, share in zip(WAYS, shares, strict=True):
                good[group, way] += share >= anatomy.RIGHT_SIDE
                good[group, "parts"] += way == "named"
    for group in ("tuned", "unseen", "new", "unmet"):
        if good[group, "parts"]:
            counts = ", ".join(f"{good[group, way]} {way}" for way in WAYS)
            print(f"{group}: of {good[group, 'parts']} parts right are {counts}")


if __name__ == "__main__":
    main(sys.argv[1:])
