"""Edits over arrays: from handles on a surface to the edited cage of any moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from ..base.native import module
from ..cage.cage import Cage
from .handles import Edits, Handle

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

LANDED = 1e-5  # of size: how near handles come to where they are pulled
_POLISHES = 4  # the cage lands first, then the surface on it with its detail
_FARTHEST = 2.0  # of size: no handle is pulled farther, and what is missed is told
_OVER = 0.01  # weight of a region from which on flesh may be edited


@dataclass(frozen=True)
class Body:
    """What the flesh of a cage is made of: Young's modulus of each tet (e,), mass (n,) and driving stiffness (n,) of
    each vertex, which are fixed (n,), and how it swings: drag (1/s), damping (s), frequency (Hz)."""

    young: Floats
    mass: Floats
    drive: Floats
    fixed: Ints
    drag: float
    damping: float
    frequency: float
    poisson: float = 0.4
    energy: str = "neo_hookean"

    def within(self, region: Floats) -> Body:
        """The same with only a region (n,) to be edited: 1 as it is, 0 not at all, between them held back."""
        weight = np.clip(region, _OVER, 1.0)
        omega = 2.0 * np.pi * self.frequency
        held = self.mass * omega**2 * np.tan(0.5 * np.pi * (1.0 - weight))
        fixed = (self.fixed != 0) | (region < _OVER)
        return Body(**{**self.__dict__, "drive": self.drive + held, "fixed": fixed.astype(np.int32)})


class Posed(Protocol):
    """One moment of the motion that is edited."""

    cage: Floats  # (n, 3) as it is shown

    def places(self, cage: Floats, vertices: Sequence[int]) -> Floats:
        """Vertices (k, 3) of the surface on another cage."""


@dataclass(frozen=True)
class Landed:
    """How handles ended: of each that acts, how far its vertices are from where they were pulled, metres."""

    missed: tuple[float, ...]
    rounds: int = 0
    shapes: int = 0


@dataclass
class _Row:
    """A handle at one frame."""

    handle: int
    vertices: tuple[int, ...]
    radius: float
    frame: float
    posed: Posed
    goal: Floats  # (3,) of its vertices' mean
    target: Floats  # (3,) of the same on the cage
    beyond: float  # metres that it is pulled farther than anything is


class Editor:
    """Edits the motion of one body. `frame_rate`: frames a second; frame 0 is at time 0."""

    def __init__(self, cage: Cage, body: Body, frame_rate: float, *, hold: float = 2.0, monitor: Any = None) -> None:
        self.cage, self.body, self.frame_rate = cage, body, frame_rate
        self.size = float(np.ptp(cage.vertices, axis=0).max())
        arrays: dict[str, Any] = {"young": body.young, "mass": body.mass, "drive": body.drive, "fixed": body.fixed}
        settings = {"poisson": body.poisson, "energy": body.energy, "hold": hold}
        self._native = module.Edit(cage.native, settings, arrays, monitor)
        self._monitor = monitor
        self._patches: dict[tuple[Any, ...], tuple[Floats, Floats]] = {}
        corners = cage.vertices[cage.tets]
        cell = float(np.cbrt(6.0 * np.median(np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1])) / 6.0)))
        self.radius = 2.0 * cell  # of a handle that has none of its own
        self._is_none = True

    def solve(
        self,
        edits: Edits,
        posed: Callable[[float], Posed],
        *,
        period: float = 0.0,
        goes_on: bool = False,
        polish: bool = True,
    ) -> Landed:
        """Finds the edit of these handles; `posed` tells what is shown at a frame. `period`: seconds of a loop.
        `goes_on`: from the last edit, as while a handle is dragged; otherwise it depends on nothing but the handles."""
        self._is_none = not edits.acting
        if self._is_none:
            return Landed(())
        rows = [row for number, handle in enumerate(edits.acting) for row in self._rows(number, handle, posed)]
        settings = self._settings(edits, period)
        weights = [self._weights(row.vertices, row.radius) for row in rows]
        arrays = (
            np.array([row.frame / self.frame_rate for row in rows]),
            np.array([row.posed.cage.ravel() for row in rows]),
            np.array([patch for patch, _ in weights]),
            np.array([point for _, point in weights]),
        )
        rounds = shapes = 0
        for polishing in range(_POLISHES + 1 if polish else 1):
            settings["goes_on"] = goes_on or polishing > 0
            targets, missed = np.array([row.target for row in rows]), np.empty(len(rows))
            done, _, shapes = self._native.solve(
                settings, *arrays, targets, np.zeros_like(targets), missed, self._monitor
            )
            rounds += done
            if not polish:
                break
            left = [row.goal - self._mean(row) for row in rows]
            missed = np.linalg.norm(left, axis=1)
            if missed.max() <= 2.0 * LANDED * self.size or polishing == _POLISHES:
                break
            for row, more in zip(rows, left, strict=True):
                row.target = row.target + more
        worst = [
            max(float(missed[k]) + row.beyond for k, row in enumerate(rows) if row.handle == number)
            for number in range(len(edits.acting))
        ]
        return Landed(tuple(worst), rounds, shapes)

    def frame(self, frame: float, shown: Floats) -> Floats:
        """The edited cage (n, 3) of a frame that is shown so; itself where nothing is edited."""
        if self._is_none:
            return shown
        result = np.empty_like(shown)
        self._native.frame(frame / self.frame_rate, np.ascontiguousarray(shown), result)
        return result

    def why_not(self, handle: Handle) -> str:
        """Why a handle cannot be pulled, or ""."""
        try:
            self._weights(handle.vertices, handle.radius)
        except BadInput as error:
            return str(error)
        return ""

    def turn_at(self, vertices: tuple[int, ...], radius: float, shown: Floats) -> Floats:
        """The rotation (3, 3) of the flesh around vertices of a cage that is shown so."""
        return self._turn(self._weights(vertices, radius)[0], shown)

    def _settings(self, edits: Edits, period: float) -> dict[str, Any]:
        settings: dict[str, Any] = {
            "drag": self.body.drag, "damping": self.body.damping, "wiggle": edits.wiggle, "spread": edits.spread,
            "period": period, "tolerance": LANDED,
        }  # fmt: skip
        if edits.range is not None and period == 0.0:
            settings |= {"begin": edits.range[0] / self.frame_rate, "end": edits.range[1] / self.frame_rate}
        return settings

    def _rows(self, number: int, handle: Handle, posed: Callable[[float], Posed]) -> list[_Row]:
        rows = []
        frames = handle.frames
        for number_of, frame in enumerate(frames):
            moment = posed(frame)
            patch, point = self._weights(handle.vertices, handle.radius)
            at = moment.places(moment.cage, handle.vertices).mean(axis=0)
            pulled = handle.path[number_of] if len(handle.path) == len(frames) else handle.by
            by = np.array(pulled, np.float64)
            if handle.axes == "place":
                by = by - at
            elif handle.axes == "body":
                by = self._turn(patch, moment.cage) @ by
            by = handle.influence * by
            wanted = float(np.linalg.norm(by))
            beyond = max(0.0, wanted - _FARTHEST * self.size)
            by *= 1.0 - beyond / wanted if beyond else 1.0
            what = (number, handle.vertices, handle.radius, frame, moment)
            rows.append(_Row(*what, at + by, point @ moment.cage + by, beyond))
        return rows

    def _mean(self, row: _Row) -> Floats:
        moved = self.frame(row.frame, row.posed.cage)
        mean: Floats = row.posed.places(moved, row.vertices).mean(axis=0)
        return mean

    def _turn(self, patch: Floats, shown: Floats) -> Floats:
        """The rotation (3, 3) of the flesh around a handle."""
        around = self.cage.tets[(patch[self.cage.tets] > 0.0).any(axis=1)]
        rest, now = self.cage.vertices[around], shown[around]
        gradients = np.swapaxes(now[:, 1:] - now[:, :1], 1, 2) @ np.linalg.inv(
            np.swapaxes(rest[:, 1:] - rest[:, :1], 1, 2)
        )
        left, _, right = np.linalg.svd((patch[around].sum(axis=1)[:, None, None] * gradients).sum(axis=0))
        left[:, 2] *= np.sign(np.linalg.det(left @ right))
        turn: Floats = left @ right
        return turn

    def _weights(self, vertices: tuple[int, ...], radius: float) -> tuple[Floats, Floats]:
        """What is pulled of the cage (n,), and what is to land (n,)."""
        key = (vertices, radius)
        if key not in self._patches:
            if max(vertices) >= len(self.cage.binding):
                raise BadInput(f"Vertex {max(vertices)} is not there: the mesh has {len(self.cage.binding)}.")
            point = np.zeros(len(self.cage.vertices))
            patch = np.zeros(len(self.cage.vertices))
            for vertex in vertices:
                tet, weights = self.cage.tets[self.cage.binding[vertex]], self.cage.weights[vertex]
                np.add.at(point, tet, weights / len(vertices))
                patch += self._patch(tet, weights @ self.cage.vertices[tet], radius or self.radius)
            if not patch.any() or not point[self.body.fixed == 0].any():
                raise BadInput(
                    f"Vertex {vertices[0]} follows the animation exactly, so it cannot be pulled: free it, or "
                    "pull another one."
                )
            self._patches[key] = (patch / patch.sum(), point)
        return self._patches[key]

    def _patch(self, tet: Ints, centre: Floats, radius: float) -> Floats:
        """Flesh around a point that is connected there, the less the farther."""
        distance = ((self.cage.vertices - centre) ** 2).sum(axis=1)
        radius = max(radius, 1.01 * float(np.sqrt(distance[tet].min())))
        near = distance < radius**2
        reached = np.zeros(len(near), bool)
        reached[tet] = near[tet]
        tets = self.cage.tets[near[self.cage.tets].any(axis=1)]
        while True:
            grown = reached.copy()
            grown[tets[reached[tets].any(axis=1)]] = True
            grown &= near
            if (grown == reached).all():
                break
            reached = grown
        weights = (1.0 - distance / radius**2) ** 2 * self.body.mass
        found: Floats = np.where(reached & (self.body.fixed == 0), weights, 0.0)
        return found
