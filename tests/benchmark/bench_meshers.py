"""What `make bench-meshers` runs: both meshers on the models in ../shared/assets, side by side.

Writes build/bench/meshers.csv and meshers.md. Without the models it says so and succeeds. Names of models limit it:

    python tests/benchmark/bench_meshers.py [trex cow ...]

The first frequency is that of the cage in flesh of 100 kPa, held where automatic weights follow exactly; the fit error
is the mean over eight frames of the first action, both as a bake would have them.
"""

from __future__ import annotations

import csv
import math
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "addon")]

import assets  # noqa: E402
import bpy  # noqa: E402
import numpy as np  # noqa: E402
import pictures  # noqa: E402
from sinew.core.base.native import module  # noqa: E402
from sinew.core.cage.cage import Cage, build_cage  # noqa: E402
from sinew.core.cage.gmsh import tets as measures  # noqa: E402
from sinew.core.flesh.enricher import Enricher  # noqa: E402
from sinew.core.flesh.settings import Settings  # noqa: E402
from sinew.core.paint.follow import automatic_follow  # noqa: E402
from sinew.core.paint.weights import cage_weights  # noqa: E402
from sinew.scene import shape  # noqa: E402

TABLES = ROOT / "build" / "bench"
FRAMES = 8
RESOLUTION = 24
COLUMNS = {
    "model": "model",
    "mesher": "mesher",
    "tets": "tets",
    "least_angle": "least angle °",
    "low_angle": "5 % below °",
    "least_ratio": "least radius ratio",
    "mean_ratio": "mean radius ratio",
    "fit": "fit rms %",
    "frequency": "first Hz",
    "cage_seconds": "cage s",
    "fit_seconds": "fit s a frame",
    "note": "note",
}


def sample(ob: Any) -> list[np.ndarray]:
    """World positions on a few frames of the first action."""
    assets.play(ob, assets.actions(ob)[0])
    scene = bpy.context.scene
    found = []
    for frame in pictures.spread_frames(scene.frame_start, scene.frame_end, FRAMES):
        scene.frame_set(frame)
        posed = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        flat = np.empty(3 * len(posed.data.vertices), np.float32)
        posed.data.vertices.foreach_get("co", flat)
        matrix = np.array(posed.matrix_world)
        found.append(flat.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3])
    return found


def first_frequency(cage: Cage, follow: np.ndarray) -> float:
    weights = cage_weights(cage, np.ones(len(follow)), follow)
    held = (weights >= 1.0).astype(np.int32)
    squares = np.empty(1)
    module.World(cage.vertices, cage.tets, held, 1e5, 0.4, 1000.0, "neo_hookean").frequencies(squares)
    return math.sqrt(squares[0]) / (2 * math.pi)


def measure(model: assets.Model, mesher: str) -> dict[str, Any]:
    ob = assets.load(model)
    rest, triangles = shape.undeformed(ob).build()
    frames = sample(ob)
    follow = automatic_follow(rest, triangles)
    start = time.monotonic()
    cage = build_cage(rest, triangles, RESOLUTION, mesher=mesher)
    cage_seconds = time.monotonic() - start
    angles = measures.least_angles(cage.vertices[cage.tets])
    ratios = measures.radius_ratios(cage.vertices, cage.tets)
    enricher = Enricher(rest, triangles, follow, Settings(mesher=mesher), cage=cage)
    start = time.monotonic()
    errors, guess = [], None
    for frame in frames:
        fit = enricher.fit(frame, guess)
        errors.append(fit.rms / enricher.size)
        guess = fit.positions
    fit_seconds = (time.monotonic() - start) / len(frames)
    return {
        "model": model.key,
        "mesher": mesher,
        "tets": len(cage.tets),
        "least_angle": float(angles.min()),
        "low_angle": float(np.percentile(angles, 5)),
        "least_ratio": float(ratios.min()),
        "mean_ratio": float(ratios.mean()),
        "fit": 100 * float(np.sqrt(np.mean(np.square(errors)))),
        "frequency": first_frequency(cage, follow),
        "cage_seconds": cage_seconds,
        "fit_seconds": fit_seconds,
        "note": cage.note,
    }


def cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def write_tables(rows: list[dict[str, Any]]) -> None:
    TABLES.mkdir(parents=True, exist_ok=True)
    with open(TABLES / "meshers.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(COLUMNS))
        writer.writeheader()
        writer.writerows(rows)
    lines = ["| " + " | ".join(COLUMNS.values()) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(cell(row[key]) for key in COLUMNS) + " |" for row in rows]
    (TABLES / "meshers.md").write_text("\n".join(lines) + "\n")


def main(keys: list[str]) -> int:
    if not assets.available():
        print(f"skipped: the models are not in {assets.FOLDER}")
        return 0
    rows = []
    for model in [assets.find(key) for key in keys] if keys else assets.MODELS:
        for mesher in ("lattice", "gmsh"):
            rows.append(measure(model, mesher))
            print("  ".join(cell(value) for value in rows[-1].values()), flush=True)
            write_tables(rows)
    fallen = [row["model"] for row in rows if row["note"]]
    print(f"{len(rows)} rows in build/bench/meshers.csv" + (f"; the lattice stood in on {fallen}" if fallen else ""))
    return 1 if fallen else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
