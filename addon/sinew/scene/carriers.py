"""Bones and objects that an artist names because they carry a part of the body."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from . import stack
from .errors import SceneError
from .objects import named
from .subject import placement

Floats = npt.NDArray[np.float64]


class Carrier:
    """A bone of an armature, or an object."""

    def __init__(self, ob: Any, bone: str = "") -> None:
        self._ob, self._bone = ob, bone

    def now(self, when: str) -> Floats:
        """Its matrix (4, 4) to world metres, on the current frame. `when` is for sentences."""
        matrix = placement(self._ob, when)
        if not self._bone:
            return matrix
        posed = self._ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones[self._bone].matrix
        placed: Floats = matrix @ np.array(posed, np.float64)
        return placed


def find_carrier(ob: Any, name: str) -> Carrier:
    """A bone of the armatures that move an object, or else an object of the scene; otherwise a sentence."""
    known: list[str] = []
    for armature in _armatures_of(ob):
        if name in armature.pose.bones:
            return Carrier(armature, name)
        known += armature.pose.bones.keys()
    other = named(name)
    if other is not None and other != ob:
        return Carrier(other)
    known += [one.name for one in bpy.context.scene.objects if one != ob]
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f'did you mean "{close[0]}"?' if close else "choose another, or leave it empty."
    raise SceneError(f'No bone "{name}" moves "{ob.name}", and no object of the scene is called so: {hint}')


def _armatures_of(ob: Any) -> Iterator[Any]:
    yield from stack.armatures(ob)
    parent = ob.parent
    while parent is not None:
        if parent.type == "ARMATURE":
            yield parent
        parent = parent.parent
