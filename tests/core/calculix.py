"""CalculiX, an independent finite-element solver, on our tets: writes decks, runs `ccx`, reads its answers.

Linear tets (C3D4), one isotropic material, some vertices held, gravity. NLGEOM makes it St. Venant-Kirchhoff.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_matrix, csc_matrix

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
AVAILABLE = shutil.which("ccx") is not None


@dataclass
class Body:
    """Tets in metres, Pa and kg/m³; `held` are the indices of the vertices that stay."""

    vertices: Floats
    tets: Ints
    held: Ints
    young: float = 1e5
    poisson: float = 0.3
    density: float = 1000.0

    @property
    def size(self) -> float:
        return float(np.ptp(self.vertices, 0).max())


def linear_static(body: Body, gravity: float) -> Floats:
    """Displacements (n, 3) under gravity along -z, by linear elasticity. Printed with seven digits."""
    return last_displacements(body, ["*STEP", "*STATIC", *weight(gravity)])


def large_deflection(body: Body, gravity: float) -> Floats:
    """The same with finite strains, iterated far beyond CalculiX's own, engineering, tolerances."""
    tight = ["*CONTROLS,PARAMETERS=FIELD", "1e-9,1e-9,,,1e-9,1e-9"]
    return last_displacements(body, ["*STEP,NLGEOM,INC=1000", "*STATIC", "0.25,1.", *tight, *weight(gravity)])


def frequencies(body: Body, count: int) -> Floats:
    """Lowest squared angular frequencies, with CalculiX's own mass. Printed with seven digits."""
    with tempfile.TemporaryDirectory() as folder:
        text = run(body, ["*STEP", "*FREQUENCY", str(count), "*END STEP"], Path(folder)).with_suffix(".dat").read_text()
    rows = [line.split() for line in text.split("P A R T I C I P")[0].splitlines()]
    return np.array([float(row[1]) for row in rows if len(row) == 5 and row[0].isdigit()])


def matrices(body: Body) -> tuple[csc_matrix, csc_matrix]:
    """Stiffness and mass (3n x 3n, zero where held) of the body at rest, with fourteen digits."""
    with tempfile.TemporaryDirectory() as folder:
        job = run(body, ["*STEP", "*FREQUENCY,SOLVER=MATRIXSTORAGE", "1", "*END STEP"], Path(folder))
        # each line is NODE.DIRECTION
        places = [[int(part) for part in line.split(".")] for line in job.with_suffix(".dof").read_text().split()]
        place = np.array([3 * (node - 1) + direction - 1 for node, direction in places])
        return tuple(read_matrix(job.with_suffix(end), place, 3 * len(body.vertices)) for end in (".sti", ".mas"))


def read_matrix(path: Path, place: Ints, size: int) -> csc_matrix:
    """The stored triangle as a whole symmetric matrix."""
    table = np.loadtxt(path, ndmin=2)
    rows, columns = (place[table[:, k].astype(int) - 1] for k in (0, 1))
    triangle = coo_matrix((table[:, 2], (rows, columns)), (size, size))
    mirrored = coo_matrix((np.where(rows == columns, 0.0, table[:, 2]), (columns, rows)), (size, size))
    return csc_matrix(triangle + mirrored)


def weight(gravity: float) -> list[str]:
    return ["*DLOAD", f"BODY,GRAV,{gravity:.12e},0.,0.,-1.", "*NODE PRINT,NSET=NODES", "U", "*END STEP"]


def last_displacements(body: Body, step: Sequence[str]) -> Floats:
    with tempfile.TemporaryDirectory() as folder:
        text = run(body, step, Path(folder)).with_suffix(".dat").read_text()
    rows = [line.split() for line in text.split("displacements")[-1].splitlines()]
    moved = np.array([[float(value) for value in row[1:]] for row in rows if len(row) == 4])
    assert moved.shape == body.vertices.shape, "CalculiX did not print every vertex"
    return moved


def run(body: Body, step: Sequence[str], folder: Path) -> Path:
    """The path of the job, to which CalculiX added its endings."""
    job = folder / "job"
    job.with_suffix(".inp").write_text("\n".join([*model(body), *step, ""]))
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        ["ccx", job.name], cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0 and "*ERROR" not in done.stdout, done.stdout[-2000:]
    return job


def model(body: Body) -> list[str]:
    """A field has at most 20 characters: 14 digits of a coordinate."""
    return [
        "*NODE,NSET=NODES",
        *(f"{k},{x:.13e},{y:.13e},{z:.13e}" for k, (x, y, z) in enumerate(body.vertices, 1)),
        "*ELEMENT,TYPE=C3D4,ELSET=BODY",
        *(f"{k},{a + 1},{b + 1},{c + 1},{d + 1}" for k, (a, b, c, d) in enumerate(body.tets, 1)),
        "*NSET,NSET=HELD",
        *(f"{k + 1}," for k in body.held),
        "*MATERIAL,NAME=FLESH",
        *("*ELASTIC", f"{body.young:.12e},{body.poisson:.12e}", "*DENSITY", f"{body.density:.12e}"),
        "*SOLID SECTION,ELSET=BODY,MATERIAL=FLESH",
        *("*BOUNDARY", "HELD,1,3"),
    ]
