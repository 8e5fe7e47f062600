"""A small bake, run in a process of its own: prints a hash of every stage and leaves what it computed in a file.

    python small_bake.py OUT.npz THREADS

Which module computes is decided when it is loaded, so each instruction set needs a process. The motion is made of sums,
products and quotients alone, which have the same bits on every processor; sines have not.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import numpy as np
from bodies import box_surface, box_tets
from sinew.core.base.native import module
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings

FRAMES = 24


def motion(rest: np.ndarray) -> list[np.ndarray]:
    """A bar that swings about its end, bends and is lifted."""
    frames = []
    for k in range(FRAMES):
        phase = abs((k / 6.0) % 4.0 - 2.0) - 1.0  # to and fro
        half = 0.25 * phase * (1.5 - 0.5 * phase * phase) * (0.4 + rest[:, 0])
        cosine, sine = (1.0 - half * half) / (1.0 + half * half), 2.0 * half / (1.0 + half * half)
        x, y, z = rest.T
        frames.append(np.stack([cosine * x - sine * z, y, sine * x + cosine * z + 0.02 * k], 1))
    return frames


def bounced() -> np.ndarray:
    """A soft cantilever after twenty steps that are solved to rounding: there no path of the solver is left to see."""
    vertices, tets = box_tets((8, 2, 2), (1.0, 0.25, 0.25))
    held = (vertices[:, 0] == 0.0).astype(np.int32)
    world = module.World(vertices, tets, held, 1e5, 0.3, 1000.0, "neo_hookean", (0.0, 0.0, -9.81))
    x, v = vertices.copy(), np.zeros_like(vertices)
    world.step(x, v, 1.0 / 60.0, 20, "tr_bdf2", 0, 1e-15)
    return x


class ToRounding(Enricher):
    """Its steps are solved as far as numbers go, where a bake stops at its tolerance: what remains is the same on every
    processor, however its registers round on the way there."""

    def _native_settings(self, gravity: Any) -> dict[str, Any]:
        return {**super()._native_settings(gravity), "tolerance": 1e-14}


def digest(array: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()[:16]


def bake(enricher: Enricher, frames: list[np.ndarray]) -> dict[str, list[np.ndarray]]:
    fitted: list[np.ndarray] = []
    for frame in frames:
        fitted.append(enricher.fit(frame, *([None, None, *fitted][: -3 : -1])).positions)
    state = enricher.begin(fitted[0], fitted[1])
    simulated, surfaces = [], []
    for k, frame in enumerate(frames):
        simulated.append(state.positions)
        surfaces.append(enricher.surface(fitted[k], state.positions, frame, 1.0))
        if k + 1 < FRAMES:
            before, after = fitted[k - 1] if k else None, fitted[k + 2] if k + 2 < FRAMES else None
            state, _ = enricher.advance(state, (before, fitted[k], fitted[k + 1], after))
    return {"fitted": fitted, "simulated": simulated, "surface": surfaces}


def main(out: str, threads: str) -> None:
    rest, triangles = box_surface((18, 5, 5), (1.0, 0.28, 0.28))
    follow = np.where(rest[:, 0] < 0.2, 1.0, 0.0)
    module.set_threads(int(threads))
    settings = Settings(resolution=12, detail=True)
    enricher = Enricher(rest, triangles, follow, settings, 24.0)
    stages: dict[str, Any] = {"cage": enricher.cage.vertices} | bake(enricher, motion(rest))
    exact = bake(ToRounding(rest, triangles, follow, settings, 24.0), motion(rest))
    stages |= {"exact": exact["surface"], "bounced": bounced()}
    arrays = {name: np.array(stage) for name, stage in stages.items()}
    np.savez(out, **arrays)
    result = {name: digest(array) for name, array in arrays.items() if name != "exact"}  # others compare its positions
    print(json.dumps({"instructions": module.info()["instructions"], **result}))


if __name__ == "__main__":
    main(*sys.argv[1:])
