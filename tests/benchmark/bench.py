"""What `make bench` runs: the engine beside its yardsticks, and whole bakes beside the figures of the paper.

The engine (engine.c) is timed on all threads against the wall, and once more on one thread in processor time (rows
`*_cpu`), whose ratios hold on a busy machine too. Its yardsticks are a textbook loop over the elements and a
factorization by CHOLMOD, timed in the same run. It runs by the fastest instruction set of the processor; rows `*_v4`,
`*_v3` and `*_baseline` have the kernels, steps and fit by each, with the fastest as the yardstick. Ten thousand wild
runs must all stay within their energy.

The reference shot is the heavy man of ../shared/assets, 81 frames, at a resolution for about 20,000 tets, else default
settings; where he is absent, the example character takes his place. `shot_fps` is how many frames a second 240 of his
are baked at, and `fit_rounds` what a frame of the demo takes to fit, beside what they were before. Memory is measured
over 100 and 1000 frames of a small shot. Writes build/bench/bench.csv (row, ours, yardstick, ratio, unit) and a picture
of it, bench.png.
"""

from __future__ import annotations

import csv
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PATHS = [str(ROOT / "examples"), str(ROOT / "addon"), str(ROOT / "tests" / "core")]
sys.path[:0] = PATHS

import assets  # noqa: E402
import bpy  # noqa: E402
import demo  # noqa: E402
import numpy as np  # noqa: E402
import scenes  # noqa: E402
import test_composite  # noqa: E402
from bodies import box_surface, rod  # noqa: E402
from drawing import BLACK, BLUE, GREY, draw, picture, write  # noqa: E402
from sinew.core.base.native import available  # noqa: E402

OUT = ROOT / "build" / "bench"
# Li, Xu, Barbič 2016, their elephant (20,136 tets; 12 cores at 2.3 GHz): seconds a frame of fitting, and of simulation.
PAPER_FIT, PAPER_SIMULATION = 1.25, 0.35
# What a bake of the jumping man took on two idle cores, and a fit of the demo, while each frame was fitted by Newton.
SHOT_FPS_BEFORE, FIT_ROUNDS_BEFORE = 5.9, 16.3
LONG_SHOT = 240  # frames
Row = tuple[str, float, float | None, str]
# What the picture shows: row, and its name and yardstick in words.
SHOWN = {
    "element_20k": "forces and stiffness of 20,000 tets / a textbook loop",
    "factorization_20k": "factorization / CHOLMOD's",
    "solve_20k": "solution / CHOLMOD's",
    "step_20k": "implicit Euler, 1e6 Pa / a CHOLMOD factorization",
    "step_20k_soft": "implicit Euler, 1e5 Pa / a CHOLMOD factorization",
    "step_20k_stvk": "implicit Euler, StVK / a CHOLMOD factorization",
    "step_20k_tr_bdf2": "TR-BDF2, 1e6 Pa / a CHOLMOD factorization",
    "step_20k_tr_bdf2_soft": "TR-BDF2, 1e5 Pa / a CHOLMOD factorization",
    "elephant_fit": "elephant, fitted / 0.04 s a frame",
    "elephant_simulate": "elephant, simulated / 0.02 s a frame",
    "rebalance_frame_20k": "balance after the bake / 5 ms a frame",
    "live_frame_20k_cpu": "a whole live frame, one thread / 5 ms",
    "growth_exponent": "growth of a step with the body / 1.2",
    "fitting": "a whole shot, fitted / the paper's elephant",
    "simulation": "a whole shot, simulated / the paper's elephant",
}


def bake_shot() -> tuple[str, dict[str, Any]]:
    """The reference shot, or the example character where the models are not at hand."""
    file = OUT / "shot.blend"
    if not assets.available():
        demo.build(file)
        return "example character", bake(file, demo.NAME)
    model = assets.find("jumping_man")
    ob = assets.load(model)
    name = ob.name
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    return "jumping man", bake(file, name, "--set", "resolution=35")


def bake_long_shot() -> dict[str, Any] | None:
    """The reference shot repeated to LONG_SHOT frames; None where the models are not at hand."""
    if not assets.available():
        return None
    ob = assets.load(assets.find("jumping_man"))
    data = assets.armature_of(ob).animation_data
    strip = data.nla_tracks.new().strips.new("again", bpy.context.scene.frame_start, data.action)
    data.action = None
    strip.repeat = 10.0
    name, scene = ob.name, bpy.context.scene
    scene.frame_end = scene.frame_start + LONG_SHOT - 1
    folder = OUT / "long-shot"
    shutil.rmtree(folder, ignore_errors=True)  # a bake that is there already would lend its frames
    folder.mkdir()
    file = folder / "shot.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    return bake(file, name, "--set", "resolution=35")


def bench_long_shot() -> list[Row]:
    """Frames that a bake makes in a second of wall time, sampled and written, once cage and weights are made."""
    print("A long shot ...", flush=True)
    report = bake_long_shot()
    if report is None:
        return []
    seconds = report["seconds"]
    working = seconds["total"] - seconds["cage"] - seconds["rest"]
    return [("shot_fps", report["samples"] / working, SHOT_FPS_BEFORE, "frames/s")]


def bench_demo() -> list[Row]:
    """How many rounds it takes to fit a frame of the demo, whose joints fold."""
    print("The demo ...", flush=True)
    file = OUT / "demo.blend"
    demo.build(file)
    report = bake(file, demo.NAME)
    return [("fit_rounds", report["fit_rounds"]["total"] / report["samples"], FIT_ROUNDS_BEFORE, "a frame")]


def bake_arm(frames: int) -> dict[str, Any]:
    """A small shot of many frames, in a process of its own, for its peak memory."""
    scenes.reset_scene()
    ob = scenes.build_two_bone_arm()
    name = ob.name
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, frames
    file = OUT / f"arm-{frames}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(file))
    return bake(file, name, "--set", "resolution=8")


def bake(file: Path, name: str, *options: str) -> dict[str, Any]:
    report = demo.bake(file, name, file.with_suffix(".json"), *options)
    if report is None:
        sys.exit("The bake failed: see the message above.")
    return report


def engine_environment() -> dict[str, str]:
    """Debian's OpenBLAS takes new processors for old ones: told which kernels to use, the yardstick is a fair one."""
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    core = "SKYLAKEX" if "avx512f" in flags else "HASWELL" if "avx2" in flags else ""
    return {**os.environ, "OPENBLAS_CORETYPE": core} if core else dict(os.environ)


def instructions() -> list[str]:
    """Instruction sets of this processor, the fastest first."""
    return [name for name in available() if (ROOT / "build" / name / "benchmark" / "engine").exists()]


def run_engine(instruction_set: str, *arguments: str) -> list[Row]:
    program = ROOT / "build" / instruction_set / "benchmark" / "engine"
    result = subprocess.run([program, *arguments], env=engine_environment(), capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"The benchmark of the engine failed:\n{result.stdout}{result.stderr}")
    # Blender says a line of its own where it opens a file.
    lines = [line.split(",", 3) for line in result.stdout.splitlines() if line.count(",") >= 3]
    return [(name, float(ours), float(yardstick) or None, unit) for name, ours, yardstick, unit in lines]


def bench_engine(threads: str, finest: int) -> list[Row]:
    """Rows of engine.c on `all` threads or `one`; `finest`: resolution of the largest body of the growth families."""
    print(f"The engine on {threads} thread{'s' if threads == 'all' else ''} ...", flush=True)
    suffix = "_cpu" if threads == "one" else ""
    return [(name + suffix, *rest) for name, *rest in run_engine(instructions()[0], threads, str(finest))]


def bench_instructions() -> list[Row]:
    """The kernels, steps and fit by each instruction set, in processor time on one thread, beside the fastest's."""
    rows: list[Row] = []
    fastest: dict[str, float] = {}
    for name in [name for name in instructions() if name != "v2"]:
        print(f"The engine by {name} ...", flush=True)
        for row, ours, _, unit in run_engine(name, "one", "1", "instructions"):
            rows.append((f"{row}_{name}", ours, fastest.setdefault(row, ours), unit))
    return rows


def bench_live() -> list[Row]:
    """A whole frame of After the Bake, in processor time on one thread."""
    print("After the bake, live ...", flush=True)
    return run_script("live_frame.py", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")


def bench_contact() -> list[Row]:
    print("Flesh that collides ...", flush=True)
    return run_script("contact.py", PYTHONPATH=os.pathsep.join(PATHS))


def bench_touching() -> list[Row]:
    """Small scenes of bodies that touch, beside Blender's own Soft Body and Cloth."""
    print("Dominoes, slope and rollers ...", flush=True)
    return run_script("touching.py", PYTHONPATH=os.pathsep.join(PATHS))


def run_script(name: str, **environment: str) -> list[Row]:
    """The rows of a benchmark beside this one."""
    program = [sys.executable, str(ROOT / "tests" / "benchmark" / name)]
    result = subprocess.run(program, env={**os.environ, **environment}, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"The benchmark {name} failed:\n{result.stdout}{result.stderr}")
    lines = [line.split(",", 3) for line in result.stdout.splitlines() if line.count(",") >= 3]
    return [(row, float(ours), float(yardstick) or None, unit) for row, ours, yardstick, unit in lines]


def bench_edit() -> list[Row]:
    """Edit Motion, with all threads."""
    print("Edit Motion ...", flush=True)
    return run_script("edit.py", PYTHONPATH=os.pathsep.join(PATHS))


def bench_face() -> list[Row]:
    """Faces, with all threads."""
    print("Faces ...", flush=True)
    return run_script("face.py", PYTHONPATH=os.pathsep.join(PATHS))


def bench_cloth() -> list[Row]:
    """Materials in the laboratory, drapes, the paper's sizes and Blender's own Cloth, with all threads."""
    print("Cloth ...", flush=True)
    return run_script("cloth.py", PYTHONPATH=os.pathsep.join(PATHS))


def bench_wild(runs: int) -> list[Row]:
    print("Wild runs ...", flush=True)
    program = ROOT / "build" / instructions()[0] / "tests" / "test_wild"
    result = subprocess.run([program, str(runs)], capture_output=True, text=True)
    print(result.stdout)
    if result.returncode != 0:
        sys.exit("A wild run left its bounds: see above.")
    scrambled = [line.split()[2:5:2] for line in result.stdout.splitlines() if "scrambled" in line]
    recovered, tried = (sum(int(pair[k]) for pair in scrambled) for k in (0, 1))
    return [("wild_runs_within_bounds", runs, runs, ""), ("scrambled_bodies_recovered", recovered, tried, "")]


def bench_contact_wild(runs: int) -> list[Row]:
    print("Wild scenes of bodies that touch ...", flush=True)
    program = ROOT / "build" / instructions()[0] / "tests" / "test_contact_wild"
    result = subprocess.run([program, str(runs)], capture_output=True, text=True)
    print(result.stdout)
    if result.returncode != 0:
        sys.exit("Something ran through something, or left all bounds: see above.")
    return [("contact_wild_scenes_apart", runs, runs, "")]


def bench_composite() -> list[Row]:
    """How fast thin parts swing in coarse cages, over their frequency at resolution 96; beside it, with cells that
    count as full."""
    print("Thin parts in coarse cages ...", flush=True)
    bodies = {
        "ear": (box_surface((40, 10, 3), (1.0, 0.25, 0.05)), 0.05 / np.sqrt(12.0)),
        "tail": (rod(0.035, 1.0), 0.07 / 4.0),
    }
    rows: list[Row] = []
    for name, ((rest, triangles), gyration) in bodies.items():
        swings = {
            resolution: test_composite.swings(rest, triangles, test_composite.PLAIN, resolution, gyration)
            for resolution in (12, 24, 96)
        }
        right, _ = swings[96]
        for cells in (12, 24):
            composite, full = swings[cells]
            rows.append((f"{name}_frequency_{cells}", composite / right, full / right, "of it at 96"))
    return rows


def processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0]} x {len(names)}" if names else platform.processor()


def plot(rows: list[Row]) -> None:
    """A bar a row: how long ours is beside its yardstick, which is the line."""
    scenes.reset_scene()
    long, height = 4.0, 0.3  # of the yardstick, and of a row
    found = {row: (ours, yardstick, unit) for row, ours, yardstick, unit in rows}
    shown = [name for name in SHOWN if name in found]
    for place, name in enumerate(reversed(shown)):
        (ours, yardstick, unit), y = found[name], height * place
        assert yardstick is not None
        end = long * min(ours / yardstick, 1.6)
        draw([(0.0, y), (end, y)], BLUE, 0.09)
        write(SHOWN[name], -0.2, y, align="RIGHT", size=0.15)
        write(f"{ours / yardstick:.2f}   {ours:.3g} / {yardstick:.3g} {unit}", end + 0.2, y, align="LEFT", size=0.15)
    top = height * len(shown)
    draw([(long, -height), (long, top - 0.5 * height)], GREY, 0.01)
    draw([(0.0, -height), (0.0, top - 0.5 * height)], BLACK, 0.01)
    write("the yardstick", long, top - 0.2 * height, GREY, 0.15)
    write(f"{processor()}, {len(os.sched_getaffinity(0))} threads", long / 2, top + 0.5 * height, size=0.17)
    wide = 13.5
    picture(OUT / "bench.png", -4.7, -1.5 * height, wide, (1500, round(1500 * (top + 3 * height) / wide)))


def main() -> int:
    OUT.mkdir(parents=True, exist_ok=True)
    engine = [*bench_engine("all", finest=1000), *bench_engine("one", finest=70)]
    engine += [*bench_instructions(), *bench_wild(10_000), *bench_contact_wild(1_000)]
    shot, report = bake_shot()
    seconds, samples = report["seconds"], report["samples"]
    short, long = (bake_arm(frames)["peak_memory"] / 1e6 for frames in (100, 1000))
    rows: list[Row] = [
        *engine,
        *bench_live(),
        *bench_edit(),
        *bench_face(),
        *bench_contact(),
        *bench_touching(),
        *bench_cloth(),
        *bench_composite(),
        ("tets", report["tets"], None, ""),
        ("cage", seconds["cage"], None, "s"),
        ("sampling", seconds["sampling"] / samples, None, "s/frame"),
        ("fitting", seconds["fitting"] / samples, PAPER_FIT, "s/frame"),
        ("simulation", seconds["simulation"] / samples, PAPER_SIMULATION, "s/frame"),
        ("detail", seconds["detail"] / samples, None, "s/frame"),
        ("fit_error", 100 * report["fit_error"]["rms_relative"], None, "% of size"),
        ("added_motion", 100 * report["added_motion"]["free_rms_relative"], None, "% of size"),
        *bench_long_shot(),
        *bench_demo(),
        ("memory_1000_frames", long, short, "MB"),
    ]
    with open(OUT / "bench.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("row", "ours", "yardstick", "ratio", "unit"))
        for row, ours, yardstick, unit in rows:
            writer.writerow((row, ours, yardstick or "", ours / yardstick if yardstick else "", unit))
    plot(rows)
    print(f"\n{shot}, {samples} frames, {report['vertices']} vertices, on {processor()}")
    print("yardsticks: elements a textbook loop, steps one factorization by CHOLMOD; the shot the paper's elephant of")
    print("20,136 tets on 12 cores; memory the same shot with 100 frames\n")
    print(f"{'row':34s} {'ours':>10s} {'yardstick':>10s} {'ratio':>7s}")
    for row, ours, yardstick, unit in rows:
        known = f"{yardstick:10.4g} {ours / yardstick:7.2f}" if yardstick else " " * 18
        print(f"{row:34s} {ours:10.4g} {known} {unit}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
