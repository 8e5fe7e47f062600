"""Gmsh as the second mesher: the cage that it makes, and that nothing it does harms more than its own process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from bodies import box_surface, sphere
from sinew import Enricher, Settings, build_cage
from sinew.core.base.errors import Cancelled
from sinew.core.base.native import Monitor, module
from sinew.core.cage.cage import Cage
from sinew.core.cage.gmsh import LEAST_ANGLE, process, quality, skin
from sinew.core.cage.gmsh import tets as measures

pytestmark = pytest.mark.once

ROOT = Path(__file__).resolve().parents[2]
RESOLUTION = 16


def two_balls():
    rest, triangles = sphere()
    return np.concatenate([rest, 0.5 * rest + [3.0, 0.0, 0.0]]), np.concatenate([triangles, triangles + len(rest)])


def open_bowl():
    rest, triangles = sphere()
    return rest, triangles[rest[triangles][:, :, 2].mean(axis=1) < 0.4]


def crumpled():
    """Triangles that cross each other, some without area, and loose vertices."""
    random = np.random.default_rng(4)
    rest, triangles = sphere(8, 12)
    chaos = random.integers(0, len(rest), (20, 3)).astype(np.int32)
    return np.concatenate([rest, [[0.0, 0.0, 1.4]]]), np.concatenate([triangles, chaos])


BODIES: dict[str, Callable] = {
    "bar": lambda: box_surface((20, 6, 6), (2.0, 0.6, 0.6)),
    "ball": sphere,
    "disc": lambda: sphere(radii=(1.0, 1.0, 0.05)),
    "two balls": two_balls,
    "open bowl": open_bowl,
    "crumpled": crumpled,
    "far and tiny": lambda: (1e-4 * sphere()[0] + [10.0, 0.0, 0.0], sphere()[1]),
}


def gmsh_cage(name: str, resolution: int = RESOLUTION) -> Cage:
    cage = build_cage(*BODIES[name](), resolution, mesher="gmsh")
    assert cage.note == ""
    return cage


@pytest.mark.parametrize("name", BODIES)
def test_the_cage_holds_the_mesh_in_well_shaped_tets(name: str) -> None:
    cage, (rest, triangles) = gmsh_cage(name), BODIES[name]()
    lattice = build_cage(rest, triangles, RESOLUTION)
    size = np.ptp(rest, axis=0).max()
    assert np.abs(cage.interpolate(cage.vertices) - rest).max() < 1e-9 * size
    # What the lattice cannot hold, loose vertices above all, a tet nearby carries.
    assert (cage.weights.min(axis=1) > -1e-9)[lattice.weights.min(axis=1) > -1e-9].all()
    assert measures.volumes(cage.vertices, cage.tets).min() > 0.0
    assert cage.min_dihedral >= LEAST_ANGLE
    assert np.percentile(measures.least_angles(cage.vertices[cage.tets]), 5) > 15.0
    assert np.array_equal(np.unique(cage.tets), np.arange(len(cage.vertices)))
    assert skin.is_closed(measures.boundary(cage.tets))


def test_it_has_fewer_tets_and_larger_ones_inside() -> None:
    (rest, triangles), cage = BODIES["ball"](), gmsh_cage("ball")
    assert len(cage.tets) < 0.6 * len(build_cage(rest, triangles, RESOLUTION).tets)
    centers = np.linalg.norm(cage.vertices[cage.tets].mean(axis=1), axis=1)
    sizes = measures.volumes(cage.vertices, cage.tets)
    assert np.median(sizes[centers < 0.4]) > 2.0 * np.median(sizes[centers > 0.9])


def test_its_boundary_is_smoother_than_the_lattice_has_it() -> None:
    rest, triangles = BODIES["bar"]()
    rough, smooth = (bends(build_cage(rest, triangles, RESOLUTION, mesher=m)) for m in ("lattice", "gmsh"))
    assert np.sqrt(np.mean(smooth**2)) < 0.9 * np.sqrt(np.mean(rough**2))
    assert smooth.max() < 0.9 * rough.max()


def bends(cage: Cage):
    """The angle between the normals of every two faces of the boundary that share an edge, degrees."""
    faces = measures.boundary(cage.tets)
    corners = cage.vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    pairs = np.tile(np.arange(len(faces)), 3)[np.lexsort(edges.T)].reshape(-1, 2)
    return np.degrees(np.arccos(np.clip((normals[pairs[:, 0]] * normals[pairs[:, 1]]).sum(axis=1), -1, 1)))


def test_more_resolution_makes_more_tets() -> None:
    assert 2 * len(gmsh_cage("bar", 8).tets) < len(gmsh_cage("bar", 16).tets)


def test_the_same_mesh_gives_the_same_bits() -> None:
    first, second = gmsh_cage("bar"), gmsh_cage("bar")
    for name in ("vertices", "tets", "binding", "weights"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name


def first_frequency(cage: Cage) -> float:
    """Of a bar that is held at one end, in Hz."""
    held = (cage.vertices[:, 0] < 0.3).astype(np.int32)
    world = module.World(cage.vertices, cage.tets, held, 1e5, 0.4, 1000.0, "neo_hookean")
    squares = np.empty(1)
    world.frequencies(squares)
    return float(np.sqrt(squares[0]) / (2 * np.pi))


def test_a_bar_swings_as_that_of_the_lattice_does() -> None:
    rest, triangles = BODIES["bar"]()
    ours, theirs = (first_frequency(build_cage(rest, triangles, RESOLUTION, mesher=m)) for m in ("lattice", "gmsh"))
    assert ours == pytest.approx(theirs, rel=0.1)


def test_a_body_is_enriched_as_with_the_lattice() -> None:
    """A bar whose held end is shaken: the free end swings in the same time with both, and follows where it should."""
    rest, triangles = BODIES["bar"]()
    follow = np.where(rest[:, 0] < 0.4, 1.0, 0.0)
    tips = []
    for mesher in ("lattice", "gmsh"):
        enricher = Enricher(rest, triangles, follow, Settings(resolution=10, mesher=mesher, jiggle=2.0), 24.0)
        frames = [rest + [0.0, 0.0, 0.1 * np.sin(2 * np.pi * k / 12) * (k < 12)] for k in range(40)]
        fits = [enricher.fit(frame).positions for frame in frames]
        state = enricher.begin(fits[0], fits[1])
        tip = []
        for k in range(len(frames) - 1):
            shown = enricher.surface(fits[k], state.positions, frames[k])
            assert np.abs(shown - frames[k])[follow == 1.0].max() < 1e-6
            tip.append((shown - frames[k])[rest[:, 0] > 1.9, 2].mean())
            after = fits[k + 2] if k + 2 < len(fits) else None
            state, _ = enricher.advance(state, (fits[k - 1] if k else None, fits[k], fits[k + 1], after))
        tips.append(np.array(tip))
    assert np.abs(tips[0]).max() > 0.05
    assert np.abs(tips[1] - tips[0]).max() < 0.15 * np.abs(tips[0]).max()


# The pre-filter and the quality pass


def test_a_surface_that_is_open_or_turned_is_not_closed() -> None:
    _, faces = sphere(6, 8)
    turned = faces.copy()
    turned[3] = turned[3, ::-1]
    assert skin.is_closed(faces)
    assert not skin.is_closed(faces[1:]) and not skin.is_closed(turned) and not skin.is_closed(np.tile(faces, (2, 1)))


@pytest.mark.parametrize(("shift", "crosses"), [(0.0, True), (1.5, True), (1.9, True), (2.1, False), (5.0, False)])
def test_two_balls_cross_where_they_overlap(shift: float, crosses: bool) -> None:
    vertices, faces = sphere(12, 16)
    turned = vertices @ np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])  # no shared places
    both = np.concatenate([vertices, turned + [shift, 0.0, 0.0]])
    assert skin.crosses_itself(both, np.concatenate([faces, faces + len(vertices)])) == crosses


def test_flat_tets_are_mended_within_their_leashes() -> None:
    cage = build_cage(*sphere(), 6)
    outer = np.unique(measures.boundary(cage.tets))
    inner = np.setdiff1d(np.arange(len(cage.vertices)), outer)
    spoilt = cage.vertices.copy()
    spoilt[inner[::7]] += 0.08 * np.array([1.0, 0.6, 0.3])
    before = measures.least_angles(spoilt[cage.tets]).min()
    assert 0.0 < before < quality.GOAL
    leashes = np.full(len(spoilt), np.inf)
    leashes[outer] = 0.0
    mended = quality.improve(spoilt, cage.tets, leashes)
    assert measures.least_angles(mended[cage.tets]).min() > before + 3.0
    assert np.array_equal(mended[outer], spoilt[outer])


def test_angles_are_those_of_the_native_module() -> None:
    cage = build_cage(*sphere(), 8)
    assert measures.least_angles(cage.vertices[cage.tets]).min() == pytest.approx(cage.min_dihedral, abs=1e-9)
    turned = cage.vertices[cage.tets[:, [1, 0, 2, 3]]]
    assert (measures.least_angles(turned) < 0.0).all()


def test_a_regular_tet_has_the_radius_ratio_one() -> None:
    corners = np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1], [0, 0, 1.001]])
    ratios = measures.radius_ratios(corners, np.array([[0, 1, 2, 3], [0, 3, 4, 1]], np.int32))
    assert ratios[0] == pytest.approx(1.0)
    assert 0.0 < ratios[1] < 0.7


# Failures: each is one sentence and the lattice's cage


FAKES = {
    "hang": ("import time\ntime.sleep(1000)", "did not come to an end within"),
    "crash": ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "crashed"),
    "exit": ("import sys\nsys.exit(1)", "ended with code 1"),
    "silence": ("", "no mesh"),
    "garbage": ("import sys\nopen(sys.argv[2] + '/tets', 'wb').write(bytes(range(256)) * 9)", "no mesh"),
    "empty file": ("import sys\nopen(sys.argv[2] + '/tets', 'wb')", "no mesh"),
    "no tets": ("import sys, struct\nopen(sys.argv[2] + '/tets', 'wb').write(struct.pack('3d', 1, 0, 0))", "no tets"),
    "numbers out of range": (
        "import sys, struct, shutil\nfolder = sys.argv[2]\n"
        "head = struct.unpack('3d', open(folder + '/surface', 'rb').read(24))\n"
        "n = int(head[1])\n"
        "open(folder + '/tets', 'wb').write(struct.pack('3d', 1, n, 4) + bytes(8 * n) + struct.pack('4i', 0, 1, 2, n))",
        "no mesh",
    ),
    "flat tets": (
        "import sys, struct\nfolder = sys.argv[2]\n"
        "head = struct.unpack('3d', open(folder + '/surface', 'rb').read(24))\n"
        "n = int(head[1])\n"
        "open(folder + '/tets', 'wb').write(struct.pack('3d', 1, n, 4) + bytes(8 * n) + struct.pack('4i', 0, 1, 2, 3))",
        "too flat",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAKES)
def test_whatever_the_helper_does_there_is_a_sentence_and_the_lattice(name: str, tmp_path, monkeypatch) -> None:
    text, sentence = FAKES[name]
    script = tmp_path / "fake.py"
    script.write_text(text)
    monkeypatch.setattr(process, "SCRIPT", script)
    monkeypatch.setattr(process, "_LEAST_SECONDS", 1)
    assert_is_lattice(sentence)


def assert_is_lattice(sentence: str) -> None:
    rest, triangles = sphere(8, 12)
    cage, lattice = build_cage(rest, triangles, 6, mesher="gmsh"), build_cage(rest, triangles, 6)
    assert np.array_equal(cage.vertices, lattice.vertices) and np.array_equal(cage.tets, lattice.tets)
    assert sentence in cage.note
    assert cage.note.startswith("The lattice mesher made the cage, because Gmsh ") and cage.note.endswith(".")


def test_a_missing_library_is_said(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(process, "LIBRARY", tmp_path / "libgmsh.so")
    assert_is_lattice("is not in this package")


def test_a_library_that_cannot_be_loaded_is_named(tmp_path, monkeypatch) -> None:
    (tmp_path / "libgmsh.so").write_bytes(b"not a library")
    monkeypatch.setattr(process, "LIBRARY", tmp_path / "libgmsh.so")
    assert_is_lattice("cannot start on this computer")


def test_gmsh_itself_says_why_it_gives_up(monkeypatch) -> None:
    """An open surface has no inside: the pre-filter stops it, and if it did not, Gmsh or the checks would."""
    faces_of = skin.make_skin
    monkeypatch.setattr(skin, "make_skin", lambda *given: (faces_of(*given)[0], faces_of(*given)[1][1:]))
    assert_is_lattice("does not touch itself")
    monkeypatch.setattr(skin, "is_closed", lambda faces: True)
    assert_is_lattice("Gmsh ")


def test_without_any_python_there_is_a_sentence(monkeypatch) -> None:
    monkeypatch.setattr(sys, "executable", None)
    monkeypatch.setattr(os, "readlink", lambda path: "/usr/bin/something")
    assert_is_lattice("finds no Python")


def test_a_python_that_does_not_start_is_followed_by_the_next(tmp_path, monkeypatch) -> None:
    """Some Blenders name a version manager's shim, which fails."""
    shim = tmp_path / "python3"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    own = process.python_commands(process.SCRIPT)
    monkeypatch.setattr(process, "python_commands", lambda script: [[str(shim), str(script)], *own])
    assert build_cage(*sphere(8, 12), 6, mesher="gmsh").note == ""
    monkeypatch.setattr(process, "python_commands", lambda script: [[str(shim), str(script)]])
    assert_is_lattice("ended with code 127")


def test_a_temporary_folder_that_is_not_there_is_told(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "nowhere"))
    assert_is_lattice("cannot use the temporary folder")


def test_cancelling_ends_the_helper(tmp_path, monkeypatch) -> None:
    script = tmp_path / "fake.py"
    script.write_text(
        f"import os, time\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(1000)"
    )
    monkeypatch.setattr(process, "SCRIPT", script)
    monitor = Monitor()

    def cancel() -> None:
        while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
            time.sleep(0.01)
        monitor.cancel()

    watcher = threading.Thread(target=cancel)
    watcher.start()
    start = time.monotonic()
    with pytest.raises(Cancelled):
        build_cage(*sphere(8, 12), 6, mesher="gmsh", monitor=monitor)
    watcher.join()
    assert time.monotonic() - start < 10.0
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_no_file_is_left_behind(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    build_cage(*sphere(8, 12), 6, mesher="gmsh")
    assert list(tmp_path.iterdir()) == []


def test_this_process_never_loads_gmsh() -> None:
    """Neither the import nor a cage of Gmsh brings its library, or those that it wants, in here."""
    code = (
        "import numpy as np, sinew\n"
        "corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)\n"
        "faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)\n"
        "assert sinew.build_cage(corners, faces, 6, mesher='gmsh').note == ''\n"
        "loaded = open('/proc/self/maps').read()\n"
        "assert 'libsinew_cholmod' in loaded and 'libgmsh' not in loaded and 'libGLU' not in loaded\n"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "addon")}
    result = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
