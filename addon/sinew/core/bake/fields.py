"""Blender's force fields on a body: what they push with at given points. The fields of a frame are rows of numbers,
which lie in the bake folder beside the frame; here they become accelerations.

Fields act as on Blender's particles of mass 1: strength, distance, falloff, flow and drag mean the same, the numbers
taken as m/s2. Only the pattern of Turbulence and the noise are of our own. Where air is simulated, fields that are air
in motion give its velocity in m/s in place of a push.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# Blender's names of what is understood; a row holds their places here.
NAMES = {
    "type": ("FORCE", "WIND", "VORTEX", "MAGNET", "HARMONIC", "TURBULENCE", "DRAG"),
    "shape": ("POINT", "LINE", "PLANE"),
    "falloff_type": ("SPHERE", "TUBE", "CONE"),
    "z_direction": ("BOTH", "POSITIVE", "NEGATIVE"),
}

# The numbers of a row, in order. Lengths are Blender's units; `unit` is metres for one of them.
COLUMNS = (
    *NAMES, "unit", "strength", "flow", "size", "rest_length", "harmonic_damping", "linear_drag", "quadratic_drag",
    "falloff_power", "use_min_distance", "distance_min", "use_max_distance", "distance_max",
    "radial_falloff", "use_radial_min", "radial_min", "use_radial_max", "radial_max",
    "use_gravity_falloff", "use_global_coords",
)  # fmt: skip
WIDTH = len(COLUMNS) + 6  # then the place and the axis
_AIR = ("WIND", "VORTEX", "TURBULENCE")


def no_fields() -> Floats:
    return np.zeros((0, WIDTH))


def is_known(field: Mapping[str, Any]) -> bool:
    """Whether a body feels such a field."""
    return all(field[name] in known for name, known in NAMES.items())


def make_row(field: Mapping[str, Any]) -> list[float]:
    """From a field as Blender names its parts."""
    numbers = [float(NAMES[name].index(field[name]) if name in NAMES else field[name]) for name in COLUMNS]
    return [*numbers, *field["place"], *field["axis"]]


def accelerations(rows: Floats, positions: Floats, velocities: Floats) -> Floats:
    """What the fields (k, WIDTH) push with at points (n, 3) that move, in m/s2; positions in metres."""
    total = np.zeros_like(positions)
    for row in rows:
        values = dict(zip(COLUMNS, (float(number) for number in row), strict=False))
        field = _Field(values, row[-6:-3], row[-3:], positions / values["unit"], velocities / values["unit"])
        total += field.acceleration()
    return total


class _Field:
    """One field, seen from points (n, 3) in Blender's units."""

    def __init__(
        self, values: dict[str, float], place: Floats, axis: Floats, points: Floats, velocities: Floats
    ) -> None:
        self.values, self.axis, self.points, self.velocities = values, axis, points, velocities
        self.from_centre = points - place
        self.along = self.from_centre @ self.axis
        projected = self.along[:, None] * self.axis
        self.kind, self.shape = kind, shape = self._name("type"), self._name("shape")
        # From the nearest place of the field: its centre, its line, or its plane.
        if shape == "POINT":
            self.away = self.from_centre
        elif shape == "LINE" or kind == "VORTEX":
            self.away = self.from_centre - projected
        else:
            self.away = projected
        self.distance = np.linalg.norm(self.away, axis=1)
        self.fade = self._fade()

    def _name(self, what: str) -> str:
        return NAMES[what][int(self.values[what])]

    def acceleration(self) -> Floats:
        push = getattr(self, f"_{self.kind.lower()}")()
        if self.values["flow"] != 0.0 and self.kind not in ("HARMONIC", "DRAG"):
            push = push - (self.values["flow"] * self.fade)[:, None] * self.velocities
        return np.asarray(push, np.float64)

    def _fade(self) -> Floats:
        """How much of the field arrives at each point."""
        direction, falloff = self._name("z_direction"), self._name("falloff_type")
        if falloff == "SPHERE":
            fade = self._falloff(self.distance)
        else:
            across = np.linalg.norm(self.from_centre - self.along[:, None] * self.axis, axis=1)
            radius = across if falloff == "TUBE" else np.degrees(np.arctan2(across, self.along))
            fade = self._falloff(np.abs(self.along)) * self._falloff(radius, "radial")
        if direction == "POSITIVE":
            fade = np.where(self.along < 0.0, 0.0, fade)
        elif direction == "NEGATIVE":
            fade = np.where(self.along > 0.0, 0.0, fade)
        return fade

    def _falloff(self, distance: Floats, which: str = "distance") -> Floats:
        values = self.values
        least, most = (f"use_{end}_distance" if which == "distance" else f"use_{which}_{end}" for end in ("min", "max"))
        power = values["falloff_power" if which == "distance" else "radial_falloff"]
        nearest = values[f"{which}_min"] if values[least] else 0.0
        faded: Floats = np.power(1.0 + np.maximum(distance - nearest, 0.0), -power)
        return np.where(distance > values[f"{which}_max"], 0.0, faded) if values[most] else faded

    def _outward(self) -> Floats:
        return self.away / np.maximum(self.distance, 1e-12)[:, None]

    def _force(self) -> Floats:
        strength = np.full(len(self.points), self.values["strength"])
        if self.values["use_gravity_falloff"]:
            strength = np.where(self.distance < 1e-7, 0.0, strength / np.maximum(self.distance, 1e-7) ** 2)
        return (strength * self.fade)[:, None] * self._outward()

    def _wind(self) -> Floats:
        return (self.values["strength"] * self.fade)[:, None] * self.axis

    def _vortex(self) -> Floats:
        strength = (self.values["strength"] * self.fade)[:, None]
        around = np.cross(self.axis, self.from_centre)
        if self.shape == "POINT":
            turned = around / np.maximum(np.linalg.norm(around, axis=1), 1e-12)[:, None]
            return strength * self.distance[:, None] * turned
        swirl = strength * around
        return strength * np.cross(self.axis, swirl) + swirl - self.velocities

    def _magnet(self) -> Floats:
        field = np.broadcast_to(self.axis, self.away.shape)
        if self.shape != "PLANE":
            field = np.cross(self.axis, self.away)
        length = np.linalg.norm(field, axis=1)
        field = field / np.maximum(length, 1e-12)[:, None]
        return np.cross(self.velocities, (self.values["strength"] * self.fade)[:, None] * field)

    def _harmonic(self) -> Floats:
        strength, rest = self.values["strength"], self.values["rest_length"]
        stretched = (self.distance - rest)[:, None] * self._outward()
        calm = 2.0 * self.values["harmonic_damping"] * np.sqrt(abs(strength))
        return -(strength * self.fade)[:, None] * stretched - calm * self.velocities

    def _turbulence(self) -> Floats:
        where = self.points if self.values["use_global_coords"] else self.from_centre + self.axis
        where = where / (self.values["size"] or 1.0)
        # The three components look at the same noise along other axes, far enough from each other.
        parts = [_noise(np.roll(where, -axis, axis=1) + 31.7 * axis) for axis in range(3)]
        return (self.values["strength"] * self.fade)[:, None] * np.stack(parts, axis=1)

    def _drag(self) -> Floats:
        speed = np.linalg.norm(self.velocities, axis=1)
        # Blender's particles feel the two the other way round than they are called.
        slowed = self.values["quadratic_drag"] + self.values["linear_drag"] * speed
        return -(slowed * self.fade)[:, None] * self.velocities


def _noise(points: Floats) -> Floats:
    """Smooth noise from -1 to 1, three octaves of gradients on a lattice; the same for the same points everywhere."""
    total = np.zeros(len(points))
    for octave in range(3):
        total += 0.5**octave * _gradient_noise(points * 2.0**octave + 17.0 * octave)
    return np.clip(total / 1.85, -1.0, 1.0)  # as lively as Blender's


def _gradient_noise(points: Floats) -> Floats:
    cell = np.floor(points)
    inside = points - cell
    corners = cell.astype(np.int64)
    smooth = inside**3 * (inside * (inside * 6.0 - 15.0) + 10.0)
    total = np.zeros(len(points))
    for corner in range(8):
        offset = np.array([corner & 1, (corner >> 1) & 1, corner >> 2])
        share = np.prod(np.where(offset == 1, smooth, 1.0 - smooth), axis=1)
        total += share * np.einsum("ij,ij->i", _gradient(corners + offset), inside - offset)
    return 1.5 * total


def _gradient(corners: npt.NDArray[np.int64]) -> Floats:
    """A direction for every corner of the lattice, by hashing it."""
    odd = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
    mixed = corners.astype(np.uint64) * odd
    state = mixed[:, 0] ^ mixed[:, 1] ^ mixed[:, 2]
    state ^= state >> np.uint64(29)
    state *= np.uint64(0xBF58476D1CE4E5B9)
    state ^= state >> np.uint64(32)
    height = (state & np.uint64(0xFFFF)).astype(np.float64) / 32767.5 - 1.0
    angle = ((state >> np.uint64(16)) & np.uint64(0xFFFF)).astype(np.float64) * (2.0 * np.pi / 65536.0)
    ring = np.sqrt(1.0 - height**2)
    return np.stack([ring * np.cos(angle), ring * np.sin(angle), height], axis=1)


def push_of(
    begin: Floats, end: Floats, positions: Floats, velocities: Floats, interval: float, *, air: bool = True
) -> Floats:
    """The acceleration (n, 3) between two frames, given the fields at both and the state at the first. It is that in
    the middle of the interval, and what slows it down at most brings it to a stop within. Without `air`: of the fields
    that are none."""
    middle = positions + 0.5 * interval * velocities
    resting = np.zeros_like(velocities)
    found = np.zeros_like(positions)
    for rows in (begin, end):
        acting = rows if air else rows[~_is_air(rows)]
        still = accelerations(acting, middle, resting)
        braked = accelerations(acting, middle, velocities) - still
        speed, slowed = (np.linalg.norm(part, axis=1) for part in (velocities, braked))
        limit = np.minimum(1.0, speed / np.maximum(interval * slowed, 1e-30))
        found += 0.5 * (still + limit[:, None] * braked)
    return found


def air_of(begin: Floats, end: Floats, positions: Floats, velocities: Floats, interval: float) -> Floats | None:
    """The velocity (n, 3) of the air in the middle of an interval, m/s; None where no field is air in motion."""
    moving = [rows[_is_air(rows)] for rows in (begin, end)]
    if not any(len(rows) for rows in moving):
        return None
    middle, resting = positions + 0.5 * interval * velocities, np.zeros_like(velocities)
    begun, ended = (accelerations(rows, middle, resting) for rows in moving)
    found: Floats = 0.5 * (begun + ended)
    return found


def _is_air(rows: Floats) -> npt.NDArray[np.bool_]:
    return np.isin(rows[:, COLUMNS.index("type")], [NAMES["type"].index(name) for name in _AIR])
