"""The engine against CalculiX on five bodies: small and large deflections, stiffness and frequencies."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from bodies import box_tets, sphere
from calf_mesh import distance, ear_lines
from shapes import mirrored_lines, surface_nets
from sinew.core.base.native import module
from sinew.core.cage.cage import build_cage

calculix = pytest.importorskip("calculix", reason="scipy is not here")
Floats = npt.NDArray[np.float64]
pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not calculix.AVAILABLE, reason="CalculiX is not here: apt-get install calculix-ccx"),
]


def bar(cells: tuple[int, int, int]):
    vertices, tets = box_tets(cells, (1.0, 0.2, 0.2))
    return calculix.Body(vertices, tets, np.flatnonzero(vertices[:, 0] < 1e-9))


def bracket():
    """An L: a foot that is held and an arm."""
    vertices, tets = box_tets((8, 2, 8), (0.8, 0.2, 0.8))
    centre = vertices[tets].mean(1)
    used, kept = np.unique(tets[(centre[:, 0] < 0.2) | (centre[:, 2] > 0.6)], return_inverse=True)
    vertices = vertices[used]
    held = np.flatnonzero(vertices[:, 2] < 1e-9)
    return calculix.Body(vertices, kept.reshape(-1, 4).astype(np.int32), held, young=2e5, poisson=0.4)


def ball():
    """Made by our mesher; it hangs from its top."""
    cage = build_cage(*sphere(24, 36, (0.5, 0.5, 0.5)), 8)
    return calculix.Body(cage.vertices, cage.tets, np.flatnonzero(cage.vertices[:, 2] > 0.3), young=2e4, poisson=0.45)


def elephant():
    """The cage of the example character, made by our mesher; it stands on its feet, and trunk and ears droop."""
    lines = [mirrored_lines(0.86, 0.08), ear_lines(-1.46, 0.96, 0.08), np.arange(-0.08, 1.56, 0.08)]
    skin, quads = surface_nets(distance, lines)
    cage = build_cage(skin, np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]).astype(np.int32), 14)
    return calculix.Body(cage.vertices, cage.tets, np.flatnonzero(cage.vertices[:, 2] < 0.2), young=1e5, poisson=0.4)


# What is compared, and how far a large load bends it: the sag that linear theory would give, as a part of its size.
BODIES = {
    "coarse bar": (lambda: bar((8, 2, 2)), 0.4),
    "fine bar": (lambda: bar((20, 4, 4)), 0.4),
    "bracket": (bracket, 0.3),
    "ball": (ball, 0.2),
    "elephant": (elephant, 0.1),
}


@cache
def body_of(name: str):
    return BODIES[name][0]()


def world_of(body, energy: str, gravity: float = 0.0):
    held = np.zeros(len(body.vertices), np.int32)
    held[body.held] = 1
    pull = (0.0, 0.0, -gravity)
    return module.World(body.vertices, body.tets, held, body.young, body.poisson, body.density, energy, pull)


def settled(body, energy: str, gravity: float) -> Floats:
    """Our displacements under gravity along -z."""
    positions = body.vertices.copy()
    _, converged = world_of(body, energy, gravity).settle(positions, 1e-12 * body.size, 400)
    assert converged
    return positions - body.vertices


@cache
def linear_answer(name: str) -> Floats:
    """CalculiX's displacements for 1 m/s²."""
    return calculix.linear_static(body_of(name), 1.0)


def gravity_for(name: str, sag: float) -> float:
    """The gravity under which the body would sag by that part of its size, if it were linear."""
    return sag * body_of(name).size / float(np.abs(linear_answer(name)).max())


@pytest.mark.parametrize("energy", ("stvk", "neo_hookean"))
@pytest.mark.parametrize("name", BODIES)
def test_a_small_load_moves_the_body_as_linear_elasticity_does(name: str, energy: str) -> None:
    """Half the difference of the answers to a load and to its opposite: the linear part, exact to third order."""
    body, gravity = body_of(name), gravity_for(name, 1e-5)
    ours = 0.5 * (settled(body, energy, gravity) - settled(body, energy, -gravity)) / gravity
    theirs = linear_answer(name)
    assert np.abs(ours - theirs).max() < 1e-6 * np.abs(theirs).max()


def least_stretch(body, positions: Floats) -> float:
    """The smallest principal stretch of any tet."""
    rest, now = (points[body.tets[:, 1:]] - points[body.tets[:, :1]] for points in (body.vertices, positions))
    return float(np.linalg.svd(np.linalg.solve(rest, now), compute_uv=False).min())


@pytest.mark.parametrize("name", BODIES)
def test_a_large_load_moves_the_body_as_in_calculix(name: str) -> None:
    body, gravity = body_of(name), gravity_for(name, BODIES[name][1])
    ours, theirs = settled(body, "stvk", gravity), calculix.large_deflection(body, gravity)
    beyond_linear = np.abs(theirs - gravity * linear_answer(name)).max() / np.abs(theirs).max()
    assert beyond_linear > 0.1, "the load must be large, or the test sees nothing"
    assert least_stretch(body, body.vertices + ours) > 0.6, "compared where our energy is not extrapolated"
    assert np.abs(ours - theirs).max() < 1e-6 * np.abs(theirs).max()


def stiffness_of(body, energy: str, shares: Floats | None = None) -> Floats:
    """Our stiffness at rest as a whole matrix, zero where held. `shares` (tets) multiply the modulus."""
    from scipy.sparse import coo_matrix, csc_matrix

    free = np.ones(len(body.vertices), bool)
    free[body.held] = False
    moving = free[body.tets].any(1)  # the others are left out by the engine
    tets = body.tets[moving]
    blocks = np.empty((len(tets), 90))
    world_of(body, energy).evaluate(body.vertices, np.empty((len(tets), 12)), blocks)
    if shares is not None:
        blocks *= shares[moving, None]
    rows, columns, values = [], [], []
    pairs = [(i, j) for i in range(4) for j in range(i + 1)]
    for k, (i, j) in enumerate(pairs):
        block = blocks[:, 9 * k : 9 * k + 9].reshape(-1, 3, 3)
        for first, second, part in ((i, j, block), (j, i, block.transpose(0, 2, 1)))[: 1 + (i != j)]:
            a = 3 * tets[:, first, None, None] + np.arange(3)[:, None]
            b = 3 * tets[:, second, None, None] + np.arange(3)
            rows.append(np.broadcast_to(a, part.shape).ravel())
            columns.append(np.broadcast_to(b, part.shape).ravel())
            values.append((part * (free[tets[:, first]] & free[tets[:, second]])[:, None, None]).ravel())
    size = 3 * len(body.vertices)
    table = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return csc_matrix(coo_matrix(table, (size, size)))


@cache
def matrices_of(name: str):
    return calculix.matrices(body_of(name))


def lowest(stiffness, mass, free: npt.NDArray[np.intp], count: int) -> Floats:
    """Lowest eigenvalues of K x = lambda M x over the free coordinates."""
    from scipy.sparse.linalg import eigsh

    stiffness, mass = (matrix[free][:, free].tocsc() for matrix in (stiffness, mass))
    return np.sort(eigsh(stiffness, count, mass, sigma=0.0, tol=1e-12, return_eigenvectors=False))


def free_coordinates(body) -> npt.NDArray[np.intp]:
    free = np.ones((len(body.vertices), 3), bool)
    free[body.held] = False
    return np.flatnonzero(free)


@pytest.mark.parametrize("energy", ("stvk", "neo_hookean"))
@pytest.mark.parametrize("name", BODIES)
def test_the_stiffness_at_rest_is_that_of_calculix_in_every_entry(name: str, energy: str) -> None:
    theirs, _ = matrices_of(name)
    assert abs(stiffness_of(body_of(name), energy) - theirs).max() < 1e-11 * abs(theirs).max()


@pytest.mark.parametrize("name", BODIES)
def test_frequencies_are_those_of_the_stiffness_of_calculix_with_our_lumped_mass(name: str) -> None:
    from scipy.sparse import diags

    body, ours = body_of(name), np.empty(6)
    world, masses = world_of(body, "neo_hookean"), np.empty(len(body.vertices))
    world.frequencies(ours)
    world.masses(masses)
    theirs = lowest(matrices_of(name)[0], diags(np.repeat(masses, 3)).tocsc(), free_coordinates(body), 6)
    assert np.abs(ours / theirs - 1).max() < 1e-9


@pytest.mark.parametrize("name", BODIES)
def test_frequencies_are_those_of_calculix_when_its_own_mass_is_put_in(name: str) -> None:
    body = body_of(name)
    stiffness, mass = matrices_of(name)
    ours = lowest(stiffness_of(body, "neo_hookean"), mass, free_coordinates(body), 6)
    assert np.abs(ours / calculix.frequencies(body, 6) - 1).max() < 1e-6
