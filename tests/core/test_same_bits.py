"""A small bake has the bits that are committed, for every instruction set and any number of threads.

A change that alters them on purpose renews tests/data/same_bits.json, in a commit of its own that says by how much:

    SINEW_RENEW=1 PYTHONPATH=addon build/env/45/bin/python -m pytest tests/core/test_same_bits.py
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sinew.core.base.native import available

HERE = Path(__file__).resolve().parent
COMMITTED = HERE.parent / "data" / "same_bits.json"
STAGES = ("cage", "fitted", "simulated", "surface", "bounced")
SHOWN = 23  # the frame of which positions are committed, for processors that none of the hashes is for


def bake(folder: Path, instructions: str, threads: int) -> tuple[dict[str, str], dict[str, np.ndarray]]:
    # Our BLAS chooses its kernels by processor: one that every x86-64 has, so that a hash holds on all of them.
    environment = os.environ | {"SINEW_INSTRUCTIONS": instructions, "OPENBLAS_CORETYPE": "Prescott"}
    environment["PYTHONPATH"] = os.pathsep.join([str(HERE), str(HERE.parents[1] / "addon")])
    out = folder / f"{instructions}-{threads}.npz"
    command = [sys.executable, str(HERE / "small_bake.py"), str(out), str(threads)]
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
    if os.environ.get("SINEW_RENEW"):
        hashes = {name: said for name, (said, _) in made.items()}
        surface = made["baseline"][1]["surface"][SHOWN][::17]
        COMMITTED.write_text(json.dumps({"hashes": hashes, "surface": surface.tolist()}, indent=1) + "\n")
    return made


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
    _, expected = bakes["baseline"]
    for name, (_, arrays) in bakes.items():
        away = {stage: float(np.abs(arrays[stage] - expected[stage]).max()) for stage in STAGES}
        # What is solved to rounding agrees to rounding; a bake, as well as its steps are solved.
        assert away["cage"] == 0.0 and away["bounced"] < 1e-12, (name, away)
        assert away["fitted"] < 1e-8 and away["simulated"] < 1e-6 and away["surface"] < 1e-6, (name, away)


def test_any_processor_comes_near_the_committed_surface(bakes) -> None:
    surface = np.array(committed()["surface"])
    assert len(surface) > 20
    for _, arrays in bakes.values():
        assert np.abs(arrays["surface"][SHOWN][::17] - surface).max() < 1e-6


def test_the_committed_bake_moves(bakes) -> None:
    surface, fitted = bakes["baseline"][1]["surface"], bakes["baseline"][1]["fitted"]
    assert np.abs(surface[SHOWN] - surface[0]).max() > 0.2
    assert np.abs(bakes["baseline"][1]["simulated"] - fitted).max() > 0.01
    assert fitted.shape[0] == 24
