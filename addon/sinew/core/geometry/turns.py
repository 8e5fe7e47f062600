"""Rotations (..., 3, 3): the nearest one to a matrix, their logarithms (..., 3), which are axis times angle, and smooth
curves through them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def nearest_rotation(matrices: Floats) -> Floats:
    """The rotations R for which trace(R^T M) is largest."""
    left, _, right = np.linalg.svd(matrices)
    left[..., :, 2] *= np.linalg.det(left @ right)[..., None]
    rotations: Floats = left @ right
    return rotations


def log(rotations: Floats) -> Floats:
    """Angles are at most half a turn. By quaternions, which tell the axis of a half turn too."""
    m = rotations
    xx, yy, zz = m[..., 0, 0], m[..., 1, 1], m[..., 2, 2]
    products = np.empty((*m.shape[:-2], 4, 4))  # four times those of the components w, x, y, z
    products[..., 0, 0], products[..., 1, 1] = 1.0 + xx + yy + zz, 1.0 + xx - yy - zz
    products[..., 2, 2], products[..., 3, 3] = 1.0 - xx + yy - zz, 1.0 - xx - yy + zz
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        products[..., 0, 1 + i] = products[..., 1 + i, 0] = m[..., k, j] - m[..., j, k]
        products[..., 1 + i, 1 + j] = products[..., 1 + j, 1 + i] = m[..., i, j] + m[..., j, i]
    largest = np.argmax(np.einsum("...ii->...i", products), axis=-1)
    q = np.take_along_axis(products, largest[..., None, None], axis=-2)[..., 0, :]
    q = q * np.where(q[..., :1] < 0.0, -1.0, 1.0) / np.linalg.norm(q, axis=-1, keepdims=True)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    turns: Floats = 2.0 * np.arctan2(sine, q[..., :1]) * q[..., 1:] / np.maximum(sine, 1e-300)
    return turns


def exp(turns: Floats) -> Floats:
    angle = np.linalg.norm(turns, axis=-1)[..., None, None]
    cross = _cross(turns)
    half = np.sinc(angle / (2.0 * np.pi))
    rotations: Floats = np.eye(3) + np.sinc(angle / np.pi) * cross + 0.5 * half * half * (cross @ cross)
    return rotations


def _cross(v: Floats) -> Floats:
    """The matrices of cross products with vectors."""
    matrices = np.zeros((*v.shape, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        matrices[..., k, j], matrices[..., j, k] = v[..., i], -v[..., i]
    return matrices


class Cubic:
    """The cubic from `a` to `b`, with the slopes of parabolas through those `before` and `after`, where there are such.
    Times are those of the four."""

    def __init__(self, times: Any, before: Any, a: Floats, b: Floats, after: Any) -> None:
        early, self.span, late = np.diff(times)
        self.a, self.b = a, b
        self.rise = self.fall = across = (b - a) / self.span
        if before is not None:
            self.rise = _bent((a - before) / early, early, across, self.span)
        if after is not None:
            self.fall = _bent((after - b) / late, late, across, self.span)

    def at(self, t: float) -> Floats:
        """From 0 to 1."""
        s = 1.0 - t
        ends = s * s * (1.0 + 2.0 * t) * self.a + t * t * (3.0 - 2.0 * t) * self.b
        value: Floats = ends + self.span * t * s * (s * self.rise - t * self.fall)
        return value


def _bent(slope: Floats, length: float, across: Floats, span: float) -> Floats:
    """The slope of a parabola where two pieces of it meet, by their mean slopes and lengths."""
    bent: Floats = (span * slope + length * across) / (span + length)
    return bent


class TurnCurve:
    """A smooth curve of rotations from `a` to `b`, with the angular velocities that those before and after tell."""

    def __init__(self, times: Any, before: Any, a: Floats, b: Floats, after: Any) -> None:
        early, span, late = np.diff(times)
        rates = [] if before is None else [log(_back(before) @ a) / early]
        rates += [] if after is None else [log(_back(b) @ after) / late]
        turn = log(_back(a) @ b)
        if rates:  # there may be more than half a turn between the two
            turn = _continued(turn, span * sum(rates) / len(rates))
        self._a = a
        self._curve = Cubic(times, None, np.zeros_like(turn), turn, None)
        if before is not None:
            self._curve.rise = _bent(rates[0], early, turn / span, span)
        if after is not None:
            self._curve.fall = _slope_of_log(turn, _bent(rates[-1], late, turn / span, span))

    def at(self, t: float) -> Floats:
        rotations: Floats = self._a @ exp(self._curve.at(t))
        return rotations


def _back(rotations: Floats) -> Floats:
    return np.swapaxes(rotations, -1, -2)


def _continued(turns: Floats, expected: Floats) -> Floats:
    """The same rotations, a whole turn more or less where that is nearer to what is expected."""
    angle = np.maximum(np.linalg.norm(turns, axis=-1, keepdims=True), 1e-9)
    candidates = np.stack([turns, turns * (1.0 - 2.0 * np.pi / angle), turns * (1.0 + 2.0 * np.pi / angle)])
    nearest = np.argmin(np.linalg.norm(candidates - expected, axis=-1), axis=0)
    chosen: Floats = np.take_along_axis(candidates, nearest[None, ..., None], axis=0)[0]
    return chosen


def _slope_of_log(turns: Floats, velocity: Floats) -> Floats:
    """How a logarithm changes at `turns` under an angular velocity in the turned frame."""
    angle = np.linalg.norm(turns, axis=-1, keepdims=True)
    safe = np.maximum(angle, 1e-3)
    factor = 1.0 / safe**2 - 1.0 / (2.0 * safe * np.tan(0.5 * safe))  # towards 1/12 for small angles
    across = np.cross(turns, velocity)
    slope: Floats = velocity + 0.5 * across + factor * np.cross(turns, across)
    return slope
