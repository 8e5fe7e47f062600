"""Edit Motion on cloth: its own triangles bend, and nothing is fitted."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ...bake.edited import StoredEdits
from ...bake.results import world
from ...bake.shot import Shot
from ...bake.store import Store
from ...edit.body import Sheet, Shell
from ...edit.motion import Itself, shell_of
from .cloth import SWING
from .painted import paint_of

Floats = npt.NDArray[np.float64]


class ClothEdits(StoredEdits):
    def __init__(self, store: Store, shot: Shot) -> None:
        self._sheet = Sheet(shot.rest, shot.triangles)
        super().__init__(store, shot, self._sheet, self._sheet.size)

    def _plain(self, index: int, amount: float) -> Floats:
        given = world(self._store, index)
        shown: Floats = given + amount * (self._store.read("simulated", index) - given)
        return shown

    def _posed(self, index: int, shape: Floats) -> Itself:
        return Itself(shape)

    def _drawn(self, index: int, shape: Floats) -> Floats:
        return shape

    def _body(self, free: bool) -> Shell:
        paint, settings = paint_of(self._shot), self._shot.settings
        omega = 2.0 * math.pi * SWING
        ratio = math.log(20.0) / (omega * settings.calm)
        shell = shell_of(
            self._sheet, None if free else paint.follow, stretch=settings.stretch * settings.stiff,
            bend=settings.bend * settings.stiff * settings.wrinkle_size**3, weight=settings.weight * settings.heavy,
            poisson=settings.contraction, drag=ratio * omega, damping=ratio / omega,
        )  # fmt: skip
        if paint.region is None:
            return shell
        within: Shell = shell.within(paint.region)
        return within
