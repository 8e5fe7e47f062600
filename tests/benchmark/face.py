"""Faces in figures: `PYTHONPATH=addon:examples python tests/benchmark/face.py`, one row a line: name, ours, what is
demanded (or the paper's), unit. Rows of a scanned head (../shared/assets/ict_facekit, 26,719 vertices, 57 keys, 40
shells) end with _scan; without it they are left out.

`face_frame_s` is of sampling to the surface without Blender: head frame, fit, simulation, detail; `face_button_s` from
Add Sinew to a cage that can be simulated, in Blender. Names of groups of rows as arguments run these alone: own, scan,
button, dense, material."""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import assets
import head_mesh
import numpy as np
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.outer import NOTHING, Outer
from sinew.core.methods.face import METHOD
from sinew.core.methods.face.cage import make_face_cage
from sinew.core.methods.face.engine import make_enricher
from sinew.core.methods.face.expression import Expression, Frames
from sinew.core.methods.face.materials import Materials, parse
from sinew.core.methods.face.painted import FacePaint, face_of, make_paint
from sinew.core.methods.face.settings import Settings
from sinew.core.paint.face import JAW, find_face

RATE = 24.0
COUNT, SHAKEN = 300, 72  # frames of a still and of a shaken head
DENSE = (0.0028, 0.00135)  # metres between vertices: 27,000 and 150,000 of them
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


def scan_file() -> Path:
    return assets.FOLDER / "ict_facekit" / "ict_face_57shapes.blend"


def scanned_head() -> Head | None:
    if not scan_file().is_file():
        return None
    import bpy

    bpy.ops.wm.open_mainfile(filepath=str(scan_file()), load_ui=False)
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
        self._materials: Materials | None = None
        rows = parse(settings.key_stiffness)
        if rows:
            where = np.ones((len(rows), len(head.rest)))
            self._materials = Materials(cage, self.enricher.shown.areas, rows, where)
            self._keys = [head.names.index(row.key) for row in rows]
        self.seconds: Counter[str] = Counter()  # of processors
        self.cages: list[np.ndarray] = []  # simulated, of what was played last

    def play(
        self, surfaces: list[np.ndarray], values: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, list[Any]]:
        """(frames, n) how far the cage is from the fit, (frames, t, 3) the surface, and the fits. `values`
        (frames, k) of the keys, for the materials."""
        fits: list[Any] = []
        for surface in surfaces:
            guess, before = (fits[-k].positions if len(fits) >= k else None for k in (1, 2))
            fits.append(self._timed("fit", lambda s=surface, g=guess, b=before: self.enricher.fit(s, g, b)))
        posed = [self._timed("head", lambda s=surface: self._frames.at(s)) for surface in surfaces]
        cages = [fit.positions for fit in fits]
        state = self.enricher.begin(cages[0], cages[1])
        off, shown = [], []
        self.cages = []
        for i, (cage, surface) in enumerate(zip(cages, surfaces, strict=True)):
            if i > 0:
                around = [k if 0 <= k < len(cages) else None for k in (i - 2, i - 1, i, i + 1)]
                window = tuple(None if k is None else cages[k] for k in around)
                where = tuple(None if k is None else posed[k] for k in around)
                outer = Outer(light=lambda w, at=where: self._expression.light(w, at)) if self._is_light else NOTHING
                if self._materials is not None and values is not None:
                    factors = [self._materials.at(values[k, self._keys]) for k in (i - 1, i)]
                    outer = replace(outer, firmness=np.ascontiguousarray(factors))
                state, _ = self._timed("step", lambda s=state, w=window, o=outer: self.enricher.advance(s, w, o))
            self.cages.append(state.positions)
            off.append(np.linalg.norm(state.positions - cage, axis=1))
            arguments = cage, state.positions, surface
            shown.append(self._timed("detail", lambda a=arguments: self.enricher.surface(*a)))
        return np.array(off), np.array(shown), fits

    def _timed(self, what: str, work: Callable[[], Any]) -> Any:
        begin = time.process_time()
        done = work()
        self.seconds[what] += time.process_time() - begin
        return done


def of_keys(head: Head) -> str:
    """Stiffness by some of its keys, up and down."""
    return "; ".join(f"{name}={factor}" for name, factor in zip(head.names[::9], (5.0, 0.4, 3.0, 8.0), strict=False))


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
    varied = Simulated(head, paint, cage, key_stiffness=of_keys(head), tighten=2.0)
    off, shown, _ = varied.play(still, values)
    tell(f"face_identity{suffix}", off.max() / size, 1e-6, "of size, still head, all keys, materials that change")
    tell(f"face_identity_surface{suffix}", np.abs(shown - np.array(still)).max() / size, 1e-6, "of size")
    heavy, late, _ = Simulated(head, paint, cage, expression_inertia=1.0).play(still)
    tell(f"face_identity_ordinary{suffix}", heavy.max() / motion, 0.05, "of the keys' motion, without the method")
    lips = int(np.linalg.norm(np.ptp(np.array(still), axis=0) * face.is_free[:, None], axis=1).argmax())
    tell(f"face_lag_ms{suffix}", 1e3 * lag(np.array(still), shown, lips), 1.0, "ms")
    tell(f"face_lag_ordinary_ms{suffix}", 1e3 * lag(np.array(still), late, lips), 1.0, "ms, without the method")

    t = np.arange(SHAKEN)
    degrees = 20.0 * np.sin(2.0 * np.pi * t / 12.0) * np.clip(t / 6.0, 0.0, 1.0)
    # Talks as people do: a few keys, less than fully.
    rng = np.random.default_rng(5)
    speech, words = (wild(head, SHAKEN) * (rng.random(len(head.names)) < 0.25) * 0.3 for _ in range(2))
    jiggles, performed = [], []
    for spoken in (words, np.zeros_like(speech), speech):
        surfaces = [head.at(one, angle) for one, angle in zip(spoken, degrees, strict=True)]
        begin, spent = time.perf_counter(), time.process_time()
        _, shown, fits = light.play(surfaces)
        performed.append([(fit.positions, cage) for fit, cage in zip(fits, light.cages, strict=True)])
        taken, worked = (time.perf_counter() - begin) / SHAKEN, (time.process_time() - spent) / SHAKEN
        moved = np.linalg.norm(shown - np.array(surfaces), axis=2)[:, face.is_free]
        jiggles.append(float(np.sqrt((moved**2).mean())))
    tell(f"face_jiggle_mm{suffix}", 1e3 * float(moved.max()), 1.0, "mm at most, shaken by 20 degrees")
    tell(f"face_jiggle_talking{suffix}", jiggles[2] / jiggles[1], 1.0, "talking over silent")
    for one, name in zip(performed, ("", "_silent"), strict=False):
        off = preview(enricher, one, performed[2])
        tell(f"face_preview{name}{suffix}", off, 0.05, "rms, of the jiggle, without baking again")
    tell(f"face_frame_s{suffix}", taken, PAPER_FRAME, "s a frame; the paper's beside it")
    tell(f"face_frame_processor_s{suffix}", worked, 0.5, "s of processor time a frame, of all threads together")

    teeth = face.carrier == JAW
    if teeth.any() and face.jaw is not None:
        missed = face.jaw(head.rest[teeth]) - (head.rest + face.opened)[teeth]
        rms = np.sqrt((missed**2).sum(axis=1).mean())
        tell(f"face_teeth_mm{suffix}", 1e3 * float(rms), 0.3, "mm, lower teeth from the jaw")


def preview(enricher: Any, before: list[Any], after: list[Any]) -> float:
    """How far the jiggle of a performance (fitted and simulated cages), carried over to another one, is off that."""
    off, jiggle = 0.0, 0.0
    for (pose, cage), (fitted, simulated) in zip(before, after, strict=True):
        off += float(((enricher.carried(pose, cage, fitted) - simulated) ** 2).sum())
        jiggle += float(((simulated - fitted) ** 2).sum())
    return float(np.sqrt(off / jiggle))


def one_button() -> None:
    """Add Sinew and Bake of two frames of the scanned head, with nothing chosen."""
    import bpy
    import sinew
    from sinew import setups

    bpy.ops.wm.open_mainfile(filepath=str(scan_file()), load_ui=False)
    sinew.register()
    ob: Any = next(ob for ob in bpy.data.objects if ob.type == "MESH")
    bpy.context.view_layer.objects.active = ob
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 2
    with tempfile.TemporaryDirectory() as folder:
        blend = Path(folder) / "scan.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        begin = time.perf_counter()
        bpy.ops.sinew.add()
        added = time.perf_counter() - begin
        outcome = setups.bake_object(ob.name, {}, setups.Target(blend))
    sinew.unregister()
    seconds = outcome.report["seconds"]
    tell("face_button_s_scan", added + seconds["rest"] + seconds["cage"], 15.0, "s, Add Sinew to a cage")


def dense() -> None:
    """One head in two densities, on cages with cells of one size: what a frame of each costs."""
    spent = []
    for spacing in DENSE:
        made = head_mesh.build_head(spacing)
        head = Head(made.vertices.astype(float), made.triangles, list(made.keys), np.stack(list(made.keys.values())))
        face = find_face(head.rest, head.triangles, head.keys, head.names)
        assert face is not None
        paint = make_paint(head.rest, head.triangles, face, safe=head.rest + face.opened)
        cage = make_face_cage(head.rest, head.triangles, paint, Settings().replace(dict(METHOD.fresh)))
        simulated = Simulated(head, paint, cage)
        degrees = 20.0 * np.sin(2.0 * np.pi * np.arange(24) / 12.0)
        simulated.play([head.at(one, angle) for one, angle in zip(0.3 * wild(head, 24), degrees, strict=True)])
        count = f"{len(head.rest):,} vertices, {len(cage.tets):,} tets"
        spent.append({what: seconds / 24 for what, seconds in simulated.seconds.items()})
        step, first = spent[-1]["step"], spent[0]["step"]
        tell(f"face_dense_step_s_{len(spent)}", step, first, f"processor s a frame of simulation, {count}")
        rest = sum(spent[-1].values()) - step
        tell(f"face_dense_rest_s_{len(spent)}", rest, step, f"processor s a frame of all else, {count}")


def material() -> None:
    """Our head, coarse, whose stiffness changes as a whole: its sag, and a kick."""
    head = own_head()
    face = find_face(head.rest, head.triangles, head.keys, head.names)
    assert face is not None
    paint = make_paint(head.rest, head.triangles, face, safe=head.rest + face.opened)

    def simulated(**changes: Any) -> tuple[Any, Callable[[float, float], Outer]]:
        settings = Settings().replace({**METHOD.fresh, "resolution": 24, **changes})
        cage = make_face_cage(head.rest, head.triangles, paint, settings)
        enricher = make_enricher(head.rest, head.triangles, paint, settings, RATE, cage)
        ones = np.ones(len(cage.tets))
        return enricher, lambda begin, end: Outer(firmness=np.stack([begin * ones, end * ones]))

    with stopping_at(1e-8):  # of size: solved out
        solved, _ = simulated(keep_pose=0.0)
    for tolerance, suffix in ((1e-8, ""), (1e-5, "_bake")):  # of a step; the second as bakes are
        with stopping_at(tolerance):
            enricher, outer = simulated(keep_pose=0.0)
        worst, way = leave_static_curve(enricher, solved, solved.fit(head.rest).positions, outer)
        goes = f"of size, off the static curve, which goes {way / enricher.size:.2g}; steps stop at {tolerance:g}"
        tell(f"face_transport{suffix}", worst / enricher.size, 1e-6, goes)

    grown = 0.0
    jiggle = 2.0
    enricher, outer = simulated(jiggle=jiggle, settle=2.0)
    pose = enricher.fit(head.rest).positions
    for ratio in (1.5, 2.0, 2.5, 3.0, 3.5):
        often = ratio * jiggle * np.sqrt(2.0)  # of the mean stiffness
        factors = 2.0 - np.cos(2.0 * np.pi * often * np.arange(10 * int(RATE) + 1) / RATE)
        kick = np.where(enricher.cage_follow >= 1.0, 0.0, 0.1)[:, None] * [1.0, 0.0, 0.0]
        state = replace(enricher.begin(pose, pose), velocities=kick)
        sizes = []
        for begin, end in zip(factors, factors[1:], strict=False):
            state, _ = enricher.advance(state, (pose, pose, pose, pose), outer(begin, end))
            sizes.append(float(np.linalg.norm(state.positions - pose, axis=1).max()))
        first = max(sizes[: int(RATE)])
        grown = max(grown, max(sizes[int(RATE) :]) / first)
    tell("face_pumping", grown, 1.0, "of the first second's swing, the most in 10 s, stiffness x3 at 1.5 to 3.5 J")


@contextlib.contextmanager
def stopping_at(tolerance: float) -> Iterator[None]:
    """Simulations that are made inside stop their steps so far from the solution, of size."""
    of_a_bake = Enricher._native_settings
    try:
        Enricher._native_settings = lambda self, gravity: of_a_bake(self, gravity) | {"tolerance": tolerance}
        yield
    finally:
        Enricher._native_settings = of_a_bake


def leave_static_curve(
    enricher: Any, solved: Any, pose: np.ndarray, outer: Callable[[float, float], Outer]
) -> tuple[float, float]:
    """How far flesh is from where it would rest while its stiffness goes up five times and back, and how far that
    goes; where it would rest tells `solved`, whose own stop is no part of what is measured."""
    count = 20
    factors = 5.0 ** (0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(count + 1) / count))
    sags = [solved.settle(pose, outer(factor, factor)) for factor in factors]
    state, worst = replace(enricher.begin(pose, pose), positions=sags[0]), 0.0
    for begin, end, sag in zip(factors, factors[1:], sags[1:], strict=False):
        state, _ = enricher.advance(state, (pose, pose, pose, pose), outer(begin, end))
        worst = max(worst, float(np.linalg.norm(state.positions - sag, axis=1).max()))
    return worst, max(float(np.linalg.norm(sag - sags[0], axis=1).max()) for sag in sags)


def main(wanted: list[str]) -> None:
    scan = scan_file().is_file()

    def asked(name: str) -> bool:
        return not wanted or name in wanted

    if asked("own"):
        measure(own_head(), "")
    if asked("material"):
        material()
    if asked("dense"):
        dense()
    if asked("scan") and scan:
        head = scanned_head()
        assert head is not None
        measure(head, "_scan")
    if asked("button") and scan:
        one_button()


if __name__ == "__main__":
    main(sys.argv[1:])
