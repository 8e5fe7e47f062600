"""Faces in figures: `PYTHONPATH=addon:examples python tests/benchmark/face.py`, one row a line: name, ours, what is
demanded (or the paper's), unit. Rows of a scanned head (../shared/assets/ict_facekit, 26,719 vertices, 57 keys, 40
shells) end with _scan; without it they are left out.

`face_frame_s` is of sampling to the surface without Blender: head frame, fit, simulation, detail."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import assets
import head_mesh
import numpy as np
from sinew.core.flesh.outer import NOTHING, Outer
from sinew.core.methods.face import METHOD
from sinew.core.methods.face.cage import make_face_cage
from sinew.core.methods.face.engine import make_enricher
from sinew.core.methods.face.expression import Expression, Frames
from sinew.core.methods.face.painted import FacePaint, face_of, make_paint
from sinew.core.methods.face.settings import Settings
from sinew.core.paint.face import JAW, find_face

RATE = 24.0
COUNT, SHAKEN = 120, 72  # frames of a still and of a shaken head
PAPER_FRAME = 50.0  # s
CORRECTIVE = "mouthClose"  # means nothing alone


def tell(name: str, ours: float, yardstick: float, unit: str) -> None:
    print(f"{name},{ours:.6g},{yardstick:.6g},{unit}", flush=True)


@dataclass
class Head:
    rest: np.ndarray
    triangles: np.ndarray
    names: list[str]
    keys: np.ndarray  # (k, t, 3) metres

    def at(self, values: np.ndarray, degrees: float = 0.0) -> np.ndarray:
        a = np.radians(degrees)
        turn = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
        return (self.rest + np.tensordot(values, self.keys, 1)) @ turn.T


def own_head() -> Head:
    head = head_mesh.build_head()
    return Head(head.vertices.astype(float), head.triangles, list(head.keys), np.stack(list(head.keys.values())))


def scanned_head() -> Head | None:
    file = assets.FOLDER / "ict_facekit" / "ict_face_57shapes.blend"
    if not file.is_file():
        return None
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(file), load_ui=False)
    ob: Any = next(ob for ob in bpy.data.objects if ob.type == "MESH")
    shapes = {}
    for key in ob.data.shape_keys.key_blocks:
        flat = np.empty(3 * len(key.data), np.float32)
        key.data.foreach_get("co", flat)
        shapes[key.name] = 0.01 * flat.reshape(-1, 3).astype(float)  # the file is in centimetres
    ob.data.calc_loop_triangles()
    triangles = np.array([triangle.vertices for triangle in ob.data.loop_triangles], np.int32)
    rest = shapes.pop("Basis")
    return Head(rest, triangles, list(shapes), np.stack([shape - rest for shape in shapes.values()]))


class Simulated:
    """A head with its cage, simulated over surfaces."""

    def __init__(self, head: Head, paint: FacePaint, cage: Any, **changes: Any) -> None:
        settings = Settings().replace({**METHOD.fresh, **changes})
        self.enricher = make_enricher(head.rest, head.triangles, paint, settings, RATE, cage)
        self._frames = Frames(head.rest, self.enricher.shown.areas, face_of(paint), settings.jaw_weight > 0.0)
        self._expression = Expression(head.rest, head.triangles, paint, cage, settings)
        self._is_light = settings.expression_inertia < 1.0

    def play(self, surfaces: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        """(frames, n) how far the cage is from the fit, (frames, t, 3) the surface, and the fits."""
        fits: list[Any] = []
        for surface in surfaces:
            guess, before = (fits[-k].positions if len(fits) >= k else None for k in (1, 2))
            fits.append(self.enricher.fit(surface, guess, before))
        posed = [self._frames.at(surface) for surface in surfaces]
        cages = [fit.positions for fit in fits]
        state = self.enricher.begin(cages[0], cages[1])
        off, shown = [], []
        for i, (cage, surface) in enumerate(zip(cages, surfaces, strict=True)):
            if i > 0:
                around = [k if 0 <= k < len(cages) else None for k in (i - 2, i - 1, i, i + 1)]
                window = tuple(None if k is None else cages[k] for k in around)
                where = tuple(None if k is None else posed[k] for k in around)
                outer = Outer(light=lambda w, at=where: self._expression.light(w, at)) if self._is_light else NOTHING
                state, _ = self.enricher.advance(state, window, outer)  # type: ignore[arg-type]
            off.append(np.linalg.norm(state.positions - cage, axis=1))
            shown.append(self.enricher.surface(cage, state.positions, surface))
        return np.array(off), np.array(shown), fits


def wild(head: Head, count: int) -> np.ndarray:
    """(count, k) values from -0.2 to 1.2 of all keys, each on its own way."""
    rng, t = np.random.default_rng(3), np.arange(count)[:, None] / RATE
    often, phase = rng.uniform(0.5, 4.0, len(head.names)), rng.uniform(0.0, 2.0 * np.pi, len(head.names))
    return 0.5 - 0.7 * np.cos(2.0 * np.pi * often * t + phase)


def lag(input_surface: np.ndarray, shown: np.ndarray, vertex: int) -> float:
    """Seconds that a vertex comes late, by the peak of the correlation of speeds, beside that of the input alone."""
    one, other = (np.gradient(surface[:, vertex], axis=0) for surface in (input_surface, shown))
    return _peak(one, other) - _peak(one, one)


def _peak(one: np.ndarray, other: np.ndarray) -> float:
    shifts = range(-3, 4)
    sums = np.array([(one[3 - s : len(one) - 3 - s] * other[3 : len(other) - 3]).sum() for s in shifts])
    k = int(np.clip(sums.argmax(), 1, len(sums) - 2))
    bend = sums[k - 1] - 2.0 * sums[k] + sums[k + 1]
    return float((shifts[k] + 0.5 * (sums[k - 1] - sums[k + 1]) / bend) / RATE)


def measure(head: Head, suffix: str) -> None:
    begin = time.perf_counter()
    face = find_face(head.rest, head.triangles, head.keys, head.names)
    assert face is not None
    paint = make_paint(head.rest, head.triangles, face, safe=head.rest + face.opened)
    cage = make_face_cage(head.rest, head.triangles, paint, Settings().replace(dict(METHOD.fresh)))
    light = Simulated(head, paint, cage)
    tell(f"face_setup_s{suffix}", time.perf_counter() - begin, 15.0, "s")
    enricher, size = light.enricher, light.enricher.size
    tell(f"face_tets{suffix}", enricher.summary()["free_tets"], 33000.0, "free tets")

    rng = np.random.default_rng(7)
    single = [values for values, name in zip(np.eye(len(head.names)), head.names, strict=True) if name != CORRECTIVE]
    mixed = []
    for _ in range(20):
        values = np.zeros(len(head.names))
        values[rng.choice(len(values), 5, replace=False)] = rng.uniform(0.0, 1.0, 5)
        mixed.append(values)
    fits = [enricher.fit(head.at(values)) for values in [*single, *mixed]]
    tell(f"face_fit_mm{suffix}", 1e3 * max(fit.rms for fit in fits), 0.5, "mm rms, the worst")
    tell(f"face_fit_inverted{suffix}", sum(fit.inverted for fit in fits), 0.0, "tets in all keys and 20 mixtures")

    values = wild(head, COUNT)
    motion = float(np.linalg.norm(np.tensordot(values, head.keys, 1)[:, face.is_free], axis=2).max())
    still = [head.at(one) for one in values]
    off, shown, _ = light.play(still)
    tell(f"face_identity{suffix}", off.max() / size, 1e-6, "of size, still head, all keys")
    tell(f"face_identity_surface{suffix}", np.abs(shown - np.array(still)).max() / size, 1e-6, "of size")
    heavy, late, _ = Simulated(head, paint, cage, expression_inertia=1.0).play(still)
    tell(f"face_identity_ordinary{suffix}", heavy.max() / motion, 0.05, "of the keys' motion, without the method")
    lips = int(np.linalg.norm(np.ptp(np.array(still), axis=0) * face.is_free[:, None], axis=1).argmax())
    tell(f"face_lag_ms{suffix}", 1e3 * lag(np.array(still), shown, lips), 1.0, "ms")
    tell(f"face_lag_ordinary_ms{suffix}", 1e3 * lag(np.array(still), late, lips), 1.0, "ms, without the method")

    t = np.arange(SHAKEN)
    degrees = 20.0 * np.sin(2.0 * np.pi * t / 12.0) * np.clip(t / 6.0, 0.0, 1.0)
    # Talks as people do: a few keys, less than fully.
    speech = wild(head, SHAKEN) * (np.random.default_rng(5).random(len(head.names)) < 0.25) * 0.3
    jiggles = []
    for spoken in (np.zeros_like(speech), speech):
        surfaces = [head.at(one, angle) for one, angle in zip(spoken, degrees, strict=True)]
        begin = time.perf_counter()
        _, shown, _ = light.play(surfaces)
        taken = (time.perf_counter() - begin) / SHAKEN
        moved = np.linalg.norm(shown - np.array(surfaces), axis=2)[:, face.is_free]
        jiggles.append(float(np.sqrt((moved**2).mean())))
    tell(f"face_jiggle_mm{suffix}", 1e3 * float(moved.max()), 1.0, "mm at most, shaken by 20 degrees")
    tell(f"face_jiggle_talking{suffix}", jiggles[1] / jiggles[0], 1.0, "talking over silent")
    tell(f"face_frame_s{suffix}", taken, PAPER_FRAME, "s a frame; the paper's beside it")

    teeth = face.carrier == JAW
    if teeth.any() and face.jaw is not None:
        missed = face.jaw(head.rest[teeth]) - (head.rest + face.opened)[teeth]
        rms = np.sqrt((missed**2).sum(axis=1).mean())
        tell(f"face_teeth_mm{suffix}", 1e3 * float(rms), 0.3, "mm, lower teeth from the jaw")


def main() -> None:
    measure(own_head(), "")
    scan = scanned_head()
    if scan is not None:
        measure(scan, "_scan")


if __name__ == "__main__":
    main()
