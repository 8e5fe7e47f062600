"""A trial fit: how well a cage will follow the animation, told by a few frames before anything is baked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .parts import Parts
from .settings import Settings
from .welds import Labels, find_welds, sentence

Floats = npt.NDArray[np.float64]

FRAMES = 5  # that are fitted
CANDIDATES = 20  # that are looked at
_POINTS = 2000  # of the mesh that are enough to tell poses apart


@dataclass(frozen=True)
class FrameFit:
    """Distances of the cage from the mesh as fractions of its size, without detail; tets turned inside out."""

    frame: int
    rms: float
    max: float
    inverted: int
    positions: Floats  # (n, 3) the cage, metres


@dataclass(frozen=True)
class Trial:
    fits: tuple[FrameFit, ...]
    tets: int
    welded: str = ""  # a sentence about parts that the cage holds together

    @property
    def rms(self) -> float:
        return float(np.sqrt(np.mean([fit.rms**2 for fit in self.fits])))

    @property
    def worst(self) -> FrameFit:
        return max(self.fits, key=lambda fit: fit.max)

    @property
    def inverted(self) -> int:
        return sum(fit.inverted for fit in self.fits)

    def find(self, frame: float) -> FrameFit | None:
        return next((fit for fit in self.fits if fit.frame == frame), None)

    def told(self) -> list[str]:
        """Lines for a panel."""
        worst = self.worst
        folded = [str(fit.frame) for fit in self.fits if fit.inverted]
        return [
            f"Trial fit of frames {', '.join(str(fit.frame) for fit in self.fits)}",
            f"Cage off the animation: {100 * self.rms:.2f} % of size, {100 * worst.max:.1f} % at most "
            f"(frame {worst.frame})",
            f"{self.inverted} inverted tets (frame {', '.join(folded)})" if folded else "No inverted tets",
            *([self.welded] if self.welded else []),
        ]


def candidates(first: int, last: int, missing: Collection[int] = ()) -> list[int]:
    """Frames spread over the range."""
    frames = np.unique(np.rint(np.linspace(first, last, CANDIDATES)).astype(int)).tolist()
    return [frame for frame in frames if frame not in missing]


def most_different(rest: Floats, poses: Sequence[Floats], count: int = FRAMES) -> list[int]:
    """Indices, in order, of the poses (t, 3) that differ most from the rest shape and from each other, whatever the
    whole body's place and turn."""
    picked = np.unique(np.linspace(0, len(rest) - 1, min(_POINTS, len(rest))).astype(int))
    still = [aligned(np.asarray(pose, np.float64)[picked], rest[picked]) for pose in poses]
    nearest = np.array([_distance(pose, rest[picked]) for pose in still])
    chosen: list[int] = []
    for _ in range(min(count, len(poses))):
        following = int(np.argmax(nearest))
        chosen.append(following)
        nearest = np.minimum(nearest, [_distance(pose, still[following]) for pose in still])
        nearest[chosen] = -1.0
    return sorted(chosen)


def fit_frames(
    rest: Any,
    triangles: Any,
    frames: Sequence[tuple[int, Any]],
    settings: Settings,
    *,
    cage: Any = None,
    parts: Parts | None = None,
    labels: Labels | None = None,
    safe: Any = None,
    check: Callable[[], None] = lambda: None,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> Trial:
    """Fits the cage to each of the frames, given with their vertices (t, 3). `check` is called between two of them and
    may raise."""
    from .enrich import Enricher  # it needs the native module

    chosen = settings.replace({"simulate": False})
    enricher = Enricher(rest, triangles, np.ones(len(rest)), chosen, cage=cage, safe=safe, parts=parts)
    fits = []
    for done, (frame, surface) in enumerate(frames):
        check()
        progress("Fitting", done, len(frames))
        fit = enricher.fit(surface)  # from the rest shape: the frames are far from each other
        fits.append(FrameFit(frame, fit.rms / enricher.size, fit.max / enricher.size, fit.inverted, fit.positions))
    welds = find_welds(
        enricher.cage, rest, triangles, [pose for _, pose in frames], None if parts is None else parts.tracked
    )
    return Trial(tuple(fits), len(enricher.cage.tets), sentence(welds, labels, settings, enricher.cage))


def aligned(points: Floats, rest: Floats) -> Floats:
    """The points, turned and shifted onto the rest shape as a whole."""
    arms, aims = points - points.mean(axis=0), rest - rest.mean(axis=0)
    left, _, right = np.linalg.svd(arms.T @ aims)
    left[:, 2] *= np.linalg.det(left @ right)
    turned: Floats = arms @ (left @ right) + rest.mean(axis=0)
    return turned


def _distance(one: Floats, other: Floats) -> float:
    return float(np.sqrt(((one - other) ** 2).sum(axis=1).mean()))
