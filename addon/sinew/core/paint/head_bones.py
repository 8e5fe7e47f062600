"""Which bones of a body carry its head: a face of bones alone is told by how it moves beside that."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from .follow import Segment

_NAMED = re.compile(r"(^|[^a-z])(head|spine\.?006)([^a-z]|$)")  # Rigify's head is its last bone of the spine
_REACH = 1.6  # times as long as the bone of the head: as far from it a bone may begin that goes with it, ...
_BELOW = 0.25  # ... and so far below


def head_bone(bones: Sequence[Segment]) -> int | None:
    """By its name: head, Head, mixamorig:Head, head.x, J_Bip_C_Head, DEF-head."""
    found = [k for k, bone in enumerate(bones) if _NAMED.search(_plain(bone.name))]
    return min(found, key=lambda k: len(bones[k].name), default=None)


def _plain(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def bones_of_head(bones: Sequence[Segment], head: int) -> list[int]:
    """It, what hangs on it, and what begins around it without hanging on it, as where deform bones of a face have no
    parent that deforms; not those that it hangs on."""
    above: set[int] = set()
    at = bones[head].parent
    while at >= 0:
        above.add(at)
        at = bones[at].parent
    start, way = np.array(bones[head].head), np.array(bones[head].tail) - np.array(bones[head].head)
    length = float(np.linalg.norm(way)) or 1.0
    found = [head]
    for k, bone in enumerate(bones):
        if k == head or k in above:
            continue
        arm = np.array(bone.head) - start
        near = np.linalg.norm(arm) < _REACH * length and arm @ way > -_BELOW * length**2
        if _hangs_on(bones, k, head) or near:
            found.append(k)
    return found


def _hangs_on(bones: Sequence[Segment], bone: int, head: int) -> bool:
    while bone >= 0:
        if bone == head:
            return True
        bone = bones[bone].parent
    return False
