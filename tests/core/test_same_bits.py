"""A small bake has the bits that are committed, for every instruction set and any number of threads.

A change that alters them on purpose renews tests/data/same_bits.json, in a commit of its own that says by how much:

    SINEW_RENEW=1 PYTHONPATH=addon build/env/45/bin/python -m pytest tests/core/test_same_bits.py
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sinew.core.base.native import available
from small_bake import digest

pytestmark = pytest.mark.once

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COMMITTED = HERE.parent / "data" / "same_bits.json"
DEMO_FRAMES = 4
STAGES = ("cage", "fitted", "simulated", "surface", "exact", "bounced")
RENEW = os.environ.get("SINEW_RENEW")
SHOWN = 23  # the frame of which positions are committed, for processors that none of the hashes is for


def has_bpy(version: str) -> bool:
    try:
        return importlib.metadata.version("bpy").startswith(version)
    except importlib.metadata.PackageNotFoundError:
        return False


def settled_environment(instructions: str) -> dict[str, str]:
    """Our BLAS and numpy choose kernels by processor: some that every one has, so that a hash holds on all of them."""
    newer = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR"
    choice = {"SINEW_INSTRUCTIONS": instructions, "OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": newer}
    paths = [str(HERE), str(ROOT / "addon"), str(ROOT / "examples")]
    return os.environ | choice | {"PYTHONPATH": os.pathsep.join(paths)}


def bake(
    folder: Path, instructions: str, threads: int, own: tuple[str, ...] = ()
) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    """`own`: what this processor chooses for itself."""
    out = folder / f"{instructions}-{threads}.npz"
    command = [sys.executable, str(HERE / "small_bake.py"), str(out), str(threads)]
    environment = {name: value for name, value in settled_environment(instructions).items() if name not in own}
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    said = json.loads(result.stdout)
    assert said.pop("instructions") == instructions
    with np.load(out) as arrays:
        return said, dict(arrays)


def committed() -> dict[str, Any]:
    return json.loads(COMMITTED.read_text())


@pytest.fixture(scope="module")
def bakes(tmp_path_factory) -> dict[str, tuple[dict[str, str], dict[str, np.ndarray]]]:
    folder = tmp_path_factory.mktemp("bakes")
    made = {name: bake(folder, name, 2) for name in available()}
    if RENEW:
        hashes = {name: said for name, (said, _) in made.items()}
        surface = made["baseline"][1]["exact"][SHOWN][::17]
        renew(hashes=hashes, surface=surface.tolist())
    return made


def renew(**changes: Any) -> None:
    before = committed() if COMMITTED.exists() else {}
    COMMITTED.write_text(json.dumps(before | changes, indent=1) + "\n")


@pytest.mark.parametrize("instructions", ["baseline", "v2", "v3", "v4"])
def test_a_small_bake_has_the_committed_bits(bakes, instructions: str) -> None:
    if instructions not in bakes:
        pytest.skip(f"this processor has no {instructions}")
    assert bakes[instructions][0] == committed()["hashes"][instructions]


def test_the_bits_do_not_depend_on_the_number_of_threads(bakes, tmp_path) -> None:
    fastest = available()[0]
    for threads in (1, 4):
        assert bake(tmp_path, fastest, threads)[0] == bakes[fastest][0], threads


def test_instruction_sets_agree(bakes) -> None:
    _, expected = bakes[available()[-1]]
    for name, (_, arrays) in bakes.items():
        away = {stage: float(np.abs(arrays[stage] - expected[stage]).max()) for stage in STAGES}
        # What is solved to rounding agrees to rounding; a bake, as well as its steps are solved.
        assert away["cage"] == 0.0 and max(away["bounced"], away["exact"]) < 1e-12, (name, away)
        assert away["fitted"] < 1e-8 and away["simulated"] < 1e-6 and away["surface"] < 1e-6, (name, away)


def test_any_processor_comes_to_the_committed_surface(bakes, tmp_path) -> None:
    """Where steps are solved to rounding; also with the kernels that this processor's BLAS and numpy would choose."""
    surface = np.array(committed()["surface"])
    assert len(surface) > 20
    own = bake(tmp_path, available()[0], 2, ("OPENBLAS_CORETYPE", "NPY_DISABLE_CPU_FEATURES"))
    for _, arrays in (own, *bakes.values()):
        assert np.abs(arrays["exact"][SHOWN][::17] - surface).max() < 1e-9
        # A bake itself stops its steps at its tolerance.
        assert 1e-9 < np.abs(arrays["surface"][SHOWN] - arrays["exact"][SHOWN]).max() < 1e-4


def test_the_committed_bake_moves(bakes) -> None:
    arrays = bakes[available()[-1]][1]
    surface, fitted = arrays["surface"], arrays["fitted"]
    assert np.abs(surface[SHOWN] - surface[0]).max() > 0.2
    assert np.abs(arrays["simulated"] - fitted).max() > 0.01
    assert fitted.shape[0] == 24


def demo_frames(folder: Path, instructions: str) -> str:
    """The first frames of the demo, baked by the command with default settings."""
    file = folder / instructions / "calf.blend"
    file.parent.mkdir()
    build = f"import bpy, demo, pathlib; demo.build(pathlib.Path({str(file)!r})); "
    build += f"bpy.context.scene.frame_end = {DEMO_FRAMES}; bpy.ops.wm.save_mainfile()"
    for command in (["-c", build], ["-m", "sinew", "bake", str(file), "--object", "Calf"]):
        environment = settled_environment(instructions)
        result = subprocess.run([sys.executable, *command], env=environment, capture_output=True, text=True)
        assert result.returncode == 0, result.stdout + result.stderr
    (played,) = file.parent.glob("**/*.pc2")
    return digest(np.fromfile(played, np.uint8))


@pytest.mark.skipif(not has_bpy("4.5"), reason="the demo's frames are sampled by Blender 4.5")
def test_the_first_frames_of_the_demo_have_the_committed_bits(tmp_path: Path) -> None:
    if RENEW:
        renew(demo={name: demo_frames(tmp_path, name) for name in available()})
    fastest = available()[0]
    assert fastest in committed()["demo"]
    assert RENEW or demo_frames(tmp_path, fastest) == committed()["demo"][fastest]
