"""A trial fit: how well a cage will follow the animation, told by a few frames before anything is baked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..cage.welds import Labels, find_welds, sentence
from ..paint.parts import Parts
from .settings import Settings

Floats = npt.NDArray[np.float64]



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


def fit_frames(
    rest: Any,
    triangles: Any,
    frames: Sequence[tuple[int, Any]],
    settings: Settings,
    *,
    follow: Any = None,
    cage: Any = None,
    parts: Parts | None = None,
    labels: Labels | None = None,
    safe: Any = None,
    check: Callable[[], None] = lambda: None,
    progress: Callable[[str, int, int], None] = lambda stage, done, total: None,
) -> Trial:
    """Fits the cage to each of the frames, given with their vertices (t, 3). `follow` (t,): the weights that an
    automatic resolution does for; None: all follows. `check` is called between two frames and may raise."""
    from .enricher import Enricher  # it needs the native module

    chosen = settings.replace({"simulate": False})
    follow = np.ones(len(rest)) if follow is None else follow
    enricher = Enricher(rest, triangles, follow, chosen, cage=cage, safe=safe, parts=parts)
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

