"""What `make bench-assets` runs: bakes every action of the models in ../shared/assets with default settings.

Writes build/bench/assets.md and assets.csv, files and contact sheets into build/bench-assets/, and exits non-zero when
a bake breaks a condition. Without the models it says so and succeeds. Names of models limit it to these, the rows of
others stay; --set is handed on to the command, for a quick look:

    python tests/benchmark/bench_assets.py [--no-pictures] [--set=resolution=12] [trex cow ...]
"""

from __future__ import annotations

import csv
import dataclasses
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / name) for name in ("examples", "addon", "tests/core", "tests/blender")]

import assets  # noqa: E402
import bpy  # noqa: E402
import demo  # noqa: E402
import labelled  # noqa: E402
import motion  # noqa: E402
import numpy as np  # noqa: E402
import pictures  # noqa: E402
import sinew.core.methods  # noqa: E402, F401 - what a store is of
from sinew.core.bake.results import world  # noqa: E402
from sinew.core.bake.store import Store  # noqa: E402

OUT = ROOT / "build" / "bench-assets"
TABLES = ROOT / "build" / "bench"
VISIBLE = 0.002  # rms of added motion on the free part, fraction of size
TEXTS = ("model", "action", "verdict")
IDLE = "good, but idle: the input moves too little"
STRETCH = 1.35  # of edges, 99.9th percentile
VOLUMES = (0.95, 1.06)  # of the closed parts
SEEN = (0.005, 0.01)  # where the input is lively: median and largest of the offsets of what should swing (labelled, or
# all that is free), fractions of size
FOLLOWED = 1e-4  # largest distance of a followed vertex from the input, fraction of size
COLUMNS = {
    "model": "model",
    "action": "action",
    "frames": "frames",
    "vertices": "vertices",
    "tets": "tets",
    "fit": "fit rms %",
    "fit_max": "fit max %",
    "follow": "follow max %",
    "drive": "drive rms %",
    "added": "added rms %",
    "added_max": "added max %",
    "free": "free vertices",
    "stretch": "stretch p99.9",
    "volume_min": "volume min",
    "volume_max": "volume max",
    "pop": "pop (limit 1)",
    "pops": "pops",
    "push": "push g",
    "seen_median": "seen median %",
    "seen_most": "seen most %",
    "inverted_fit": "inverted tets, fit",
    "inverted": "inverted tets, simulated",
    "inverted_only": "samples inverted by us",
    "repaired": "repaired tets",
    "substeps": "substeps a frame",
    "rounds": "Newton rounds a frame",
    "restarts": "restarts",
    "seconds": "s a frame",
    "memory": "peak MB",
    "verdict": "verdict",
}


def swinging(model: assets.Model) -> list[Any]:
    """The vertices of each labelled part that should swing."""
    if model.key not in labelled.PARTS:
        return []
    return [part for name, part in labelled.load(model.key).parts.items() if name.startswith("free")]


def bake_action(
    model: assets.Model, action: str, options: list[str], parts: list[Any]
) -> tuple[dict[str, Any], Path]:
    folder = OUT / model.key
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{action}.blend"
    ob = assets.load(model)
    assets.play(ob, action)
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    how = ["--method=face"] if model is assets.HEAD else []
    report = demo.bake(file, model.object, folder / f"{action}.json", *how, *options)
    row: dict[str, Any] = {"model": model.key, "action": action}
    if report is None:
        return {**row, "verdict": "the bake failed"}, file
    samples = max(report["samples"], 1)
    row |= {
        "frames": report["frames"],
        "vertices": report["vertices"],
        "tets": report["tets"],
        "fit": 100 * report["fit_error"]["rms_relative"],
        "fit_max": 100 * report["fit_error"]["max_relative"],
        "follow": 100 * report["follow_error"]["max_relative"],
        "drive": 100 * drive(folder / "sinew" / report["bake"], report),
        "added": 100 * report["added_motion"]["free_rms_relative"],
        "added_max": 100 * report["added_motion"]["max_relative"],
        "free": report["added_motion"]["free_vertices"],
        "inverted_fit": report["inverted_tets"]["fitted"],
        "inverted": report["inverted_tets"]["simulated"],
        "inverted_only": report["inverted_tets"]["samples_simulated_only"],
        "repaired": report["repaired_tets"]["total"],
        "substeps": report["substeps"]["total"] / samples,
        "rounds": report["newton_rounds"]["total"] / samples,
        "restarts": len(report["restarts"]),
        "seconds": report["seconds"]["total"] / samples,
        "memory": (report["peak_memory"] or 0) / 2**20,
    }
    moved = measure(folder / "sinew" / report["bake"], report, parts)
    row |= dataclasses.asdict(moved) | {name: 100 * getattr(moved, name) for name in ("seen_median", "seen_most")}
    broken = [*broken_conditions(model, report), *broken_motion(moved)]
    if row["drive"] < 100 * VISIBLE and len(broken) == 1 and broken[0].startswith("added"):
        return {**row, "verdict": IDLE}, file
    return {**row, "verdict": "; ".join(broken) or "good"}, file


def measure(folder: Path, report: dict[str, Any], parts: list[Any]) -> motion.Motion:
    with Store.open(folder.parent, folder.name) as store:
        samples = range(store.manifest.samples)
        inputs = np.array([world(store, index) for index in samples])
        matrices = [store.read("matrix", index) for index in samples]
        results = np.array([store.read_result(i) @ m[:3, :3].T + m[:3, 3] for i, m in enumerate(matrices)])
        jiggle, rate = report["settings"]["jiggle"], store.manifest.frame_rate
        triangles, follow = store.constant("triangles"), store.constant("follow")
    return motion.measure(inputs, results, triangles, follow, report["size"], jiggle, rate, parts)


def broken_motion(moved: motion.Motion) -> list[str]:
    broken = []
    if not moved.stretch <= STRETCH:
        broken.append(f"stretch {moved.stretch:.2f}")
    if not VOLUMES[0] <= moved.volume_min <= moved.volume_max <= VOLUMES[1]:
        broken.append(f"volume {moved.volume_min:.2f}..{moved.volume_max:.2f}")
    if not moved.pop <= 1.0:
        broken.append(f"{moved.pops} pops, {moved.pop:.2f} at most")
    if moved.is_lively and not (moved.seen_median >= SEEN[0] and moved.seen_most >= SEEN[1]):
        broken.append(f"little to see: median {moved.seen_median:.2%}, most {moved.seen_most:.2%}")
    return broken


def drive(folder: Path, report: dict[str, Any]) -> float:
    """How far the input's acceleration holds a mass on a spring of the Jiggle frequency off its place: rms over the
    free part, fraction of size. Where even this is too small to be seen, there is nothing that physics could add."""
    with Store.open(folder.parent, folder.name) as store:
        free = store.constant("follow") < 0.5
        if store.manifest.samples < 3 or not free.any():
            return 0.0
        world = []
        for index in range(store.manifest.samples):
            matrix = store.read("matrix", index)
            world.append(store.read("input", index)[free].astype(float) @ matrix[:3, :3].T + matrix[:3, 3])
        bend = np.diff(np.array(world), n=2, axis=0) * store.manifest.frame_rate**2
    offset = bend / (2 * math.pi * report["settings"]["jiggle"]) ** 2
    return float(np.sqrt((offset**2).sum(axis=2).mean())) / report["size"]


def broken_conditions(model: assets.Model, report: dict[str, Any]) -> list[str]:
    broken = []
    added, follow = report["added_motion"]["free_rms_relative"], report["follow_error"]["max_relative"]
    numbers = [added, report["added_motion"]["max_relative"], follow, *report["fit_error"]["max_per_sample"]]
    if not all(math.isfinite(number) for number in numbers):
        broken.append("not finite")
    if not added > VISIBLE:
        broken.append(f"added motion {added:.2%} rms")
    if not follow <= FOLLOWED:
        broken.append(f"followed vertices off by {follow:.3%}")
    if report["inverted_tets"]["samples_simulated_only"]:
        broken.append("inverted tets where the fit has none")
    if not report["fit_error"]["rms_relative"] < model.fit_limit:
        broken.append(f"fit error {report['fit_error']['rms_relative']:.2%} rms")
    return broken


def show(model: assets.Model, file: Path, action: str) -> None:
    """A contact sheet of six frames over the action."""
    bpy.ops.wm.open_mainfile(filepath=str(file))
    scene = bpy.context.scene
    frames = pictures.spread_frames(scene.frame_start, scene.frame_end, 6)
    with demo.Quiet():
        pictures.contact_sheet(
            bpy.data.objects[model.object], frames, OUT / f"{model.key}-{action}.png", turn=model.turn, across=2
        )


def write_tables(rows: list[dict[str, Any]]) -> None:
    TABLES.mkdir(parents=True, exist_ok=True)
    with open(TABLES / "assets.csv", "w", newline="") as stream:
        writer = csv.DictWriter(stream, list(COLUMNS))
        writer.writeheader()
        writer.writerows(rows)
    lines = ["| " + " | ".join(COLUMNS.values()) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(cell(row.get(key, "")) for key in COLUMNS) + " |" for row in rows]
    (TABLES / "assets.md").write_text("\n".join(lines) + "\n")


def other_rows(models: list[assets.Model]) -> list[dict[str, Any]]:
    """What an earlier run has said about the models that this one leaves out."""
    if not (TABLES / "assets.csv").is_file():
        return []
    with open(TABLES / "assets.csv", newline="") as stream:
        rows = [
            {key: value if key in TEXTS else number(value) for key, value in row.items() if key in COLUMNS}
            for row in csv.DictReader(stream)
        ]
    return [row for row in rows if row["model"] not in [model.key for model in models]]


def number(text: str) -> Any:
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def cell(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def main(arguments: list[str]) -> int:
    if not assets.available():
        print(f"skipped: the models are not in {assets.FOLDER}")
        return 0
    keys = [argument for argument in arguments if not argument.startswith("--")]
    options = [argument for argument in arguments if argument.startswith("--set=")]
    models = [assets.find(key) for key in keys] if keys else [*assets.MODELS, assets.HEAD]
    rows: list[dict[str, Any]] = []
    others = other_rows(models) if keys else []
    for model in models:
        parts = swinging(model)
        for action in assets.actions(assets.load(model)):
            row, file = bake_action(model, action, options, parts)
            print(json.dumps({key: cell(value) for key, value in row.items()}), flush=True)
            rows.append(row)
            write_tables(others + rows)
            if "--no-pictures" not in arguments and "added" in row:
                show(model, file, action)
    bad = [row for row in rows if row["verdict"] not in ("good", IDLE)]
    for row in bad:
        print(f"{row['model']} {row['action']}: {row['verdict']}")
    print(f"{len(rows) - len(bad)} of {len(rows)} bakes good; {os.path.relpath(TABLES / 'assets.md')}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
