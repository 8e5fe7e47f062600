"""The engine against closed forms: a spring with a mass, a cantilever, free oscillations, orders of convergence."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import studies
from bodies import box_surface, composite
from sinew.core.base.native import module
from sinew.core.flesh.enricher import Enricher, State
from sinew.core.flesh.settings import Settings

pytestmark = pytest.mark.once

Floats = npt.NDArray[np.float64]

# One tet with three held corners is a spring with a mass: along x its shape function has the gradient 1.
CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
YOUNG, POISSON, DENSITY = 3e4, 0.3, 1000.0
LAME, SHEAR = YOUNG * POISSON / ((1 + POISSON) * (1 - 2 * POISSON)), YOUNG / (2 * (1 + POISSON))
OMEGA = float(np.sqrt((LAME + 2 * SHEAR) / 6 / (DENSITY / 24)))  # rad/s: stiffness over a quarter of the mass


def spring(scheme: str, step: float, count: int, alpha: float, beta: float, energy: str = "neo_hookean") -> Floats:
    """Offset and velocity over a unit start, after each step: half the difference of two opposite small motions."""
    held, tet, start = np.array([1, 0, 1, 1], np.int32), np.array([[0, 1, 2, 3]], np.int32), 1e-5
    gravity = (0.0, 0.0, 0.0)
    world = module.World(CORNERS, tet, held, YOUNG, POISSON, DENSITY, energy, gravity, alpha, beta)
    paths = []
    for sign in (1.0, -1.0):
        x, v = CORNERS.copy(), np.zeros_like(CORNERS)
        x[1, 0] += sign * start
        path = []
        for _ in range(count):
            world.step(x, v, step, 1, scheme, 0, 1e-15)
            path.append([x[1, 0] - CORNERS[1, 0], v[1, 0]])
        paths.append(np.array(path))
    return (paths[0] - paths[1]) / (2 * start)


def implicit_euler(h: float, damping: float) -> Floats:
    """What one step does to offset and velocity of the spring: (x, v) <- A (x, v)."""
    return np.linalg.inv([[1.0, -h], [h * OMEGA**2, 1.0 + h * damping]])


def tr_bdf2(h: float, damping: float) -> Floats:
    """Trapezoidal rule over 2 theta h, then the second backward difference, theta = 1 - 1/sqrt(2)."""
    theta = 1 - np.sqrt(0.5)
    rate, one = np.array([[0.0, 1.0], [-(OMEGA**2), -damping]]), np.eye(2)
    stage = np.linalg.solve(one - theta * h * rate, one + theta * h * rate)
    weight = (1 + np.sqrt(2)) / 2
    return np.linalg.solve(one - theta * h * rate, weight * stage - (weight - 1) * one)


@pytest.mark.parametrize("energy", ("neo_hookean", "stvk"))
@pytest.mark.parametrize("rate", (24.0, 60.0))
@pytest.mark.parametrize("scheme", ("implicit_euler", "tr_bdf2"))
def test_a_spring_with_a_mass_moves_as_the_scheme_says(scheme: str, rate: float, energy: str) -> None:
    alpha, beta = 2.0, 0.004
    once = {"implicit_euler": implicit_euler, "tr_bdf2": tr_bdf2}[scheme](1 / rate, alpha + beta * OMEGA**2)
    state, expected = np.array([1.0, 0.0]), []
    for _ in range(20):
        state = once @ state
        expected.append(state)
    path = spring(scheme, 1 / rate, 20, alpha, beta, energy)
    assert np.abs(path - expected).max(0) == pytest.approx([0.0, 0.0], abs=1e-7 * max(1.0, OMEGA))


@pytest.mark.parametrize(("scheme", "expected"), (("implicit_euler", 1.0), ("tr_bdf2", 2.0)))
def test_a_damped_spring_converges_to_its_closed_form_with_the_right_order(scheme: str, expected: float) -> None:
    alpha, beta, seconds = 2.0, 0.004, 0.5
    half = 0.5 * (alpha + beta * OMEGA**2)
    ringing = np.sqrt(OMEGA**2 - half**2)
    exact = np.exp(-half * seconds) * (np.cos(ringing * seconds) + half / ringing * np.sin(ringing * seconds))
    counts = [100, 200, 400, 800]
    errors = [abs(spring(scheme, seconds / n, n, alpha, beta)[-1, 0] - exact) for n in counts]
    assert studies.order([1 / n for n in counts], errors) == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize(("scheme", "expected"), (("implicit_euler", 1.0), ("tr_bdf2", 2.0)))
@pytest.mark.parametrize("damping", (0.0, 0.02))
def test_a_large_swing_converges_with_the_order_of_the_scheme(damping: float, scheme: str, expected: float) -> None:
    counts = [80, 160, 320]
    errors = [studies.swing_error(scheme, n, damping) for n in counts]
    assert studies.order([1 / n for n in counts], errors) == pytest.approx(expected, abs=0.1)


def test_a_hanging_bar_stretches_by_its_closed_form_and_its_energy_converges_with_second_order() -> None:
    across = [4, 8]
    tip, work = studies.exact_stretch()
    errors = [1 - studies.bar_response(n, 0)[1] / work for n in across]
    assert studies.order([1 / n for n in across], errors) == pytest.approx(2.0, abs=0.15)
    assert studies.bar_response(4, 0)[0] == pytest.approx(tip, rel=2e-5)


def test_a_cantilever_converges_from_below_to_the_sag_of_beam_theory() -> None:
    """Linear tets bend stiffly: even eight across have 95 % of the sag, and its extrapolation 99 %."""
    ratios = [studies.bar_response(n, 2)[0] / studies.exact_sag() for n in (2, 4, 8)]
    assert ratios[0] < ratios[1] < ratios[2] < 1.0
    assert ratios[2] + (ratios[2] - ratios[1]) / 3 == pytest.approx(1.0, abs=0.015)


def oscillation(signal: Floats, interval: float) -> tuple[float, float, float]:
    """Amplitude, frequency (rad/s) and decay rate (1/s) of a sampled damped sine: its poles by linear prediction."""
    a, b = np.linalg.lstsq(np.stack([signal[1:-1], signal[:-2]], 1), signal[2:], rcond=None)[0]
    pole = np.roots([1.0, -a, -b])[0]
    exponent = np.log(pole + 0j) / interval
    time = interval * np.arange(len(signal))
    phase = exponent.imag * time
    waves = np.exp(exponent.real * time)[:, None] * np.stack([np.cos(phase), np.sin(phase)], 1)
    parts = np.linalg.lstsq(waves, signal, rcond=None)[0]
    return float(np.linalg.norm(parts)), float(abs(exponent.imag)), float(-exponent.real)


def bar_surface() -> tuple[Floats, npt.NDArray[np.int32]]:
    return box_surface((4, 4, 16), (0.25, 0.25, 1.0))


def held_bar(rate: float, scheme: str) -> Enricher:
    """A standing bar whose foot follows, of one material, else with default settings."""
    vertices, triangles = bar_surface()
    follow = (vertices[:, 2] < 0.1).astype(float)
    return Enricher(vertices, triangles, follow, Settings(resolution=6, scheme=scheme, transition=0.0), rate)


def ring(enricher: Enricher, seconds: float) -> tuple[Floats, Floats]:
    """The lowest mode of the cage after a small kick, frame by frame: as simulated, and by an exact integrator.

    Both of the linear system M u'' + (alpha M + beta K) u' + (K + W) u = 0."""
    from calculix import Body
    from scipy.linalg import eigh, expm
    from test_calculix import free_coordinates, stiffness_of

    cage, settings, summary = enricher.cage, enricher.settings, enricher.summary()
    assert summary["young_max"] == pytest.approx(summary["young_min"]), "the bar is one region"
    weights = enricher.cage_weights()
    body = Body(cage.vertices, cage.tets, np.flatnonzero(weights == 1), summary["young_min"], settings.poisson)
    free = free_coordinates(body)
    masses, shares = composite(cage, *bar_surface())
    stiffness = stiffness_of(body, settings.energy, shares)[free][:, free].toarray()
    mass = settings.density * np.repeat(masses, 3)[free]
    omega = 2 * np.pi * summary["frequency"]
    drive = mass * omega**2 * np.tan(0.5 * np.pi * np.repeat(weights, 3)[free])
    ratio = np.log(20) / (omega * settings.settle)
    damping = ratio * omega * np.diag(mass) + ratio / omega * stiffness
    stiff = stiffness + np.diag(drive)
    mode = eigh(stiff, np.diag(mass), subset_by_index=[0, 0])[1][:, 0]

    # exact, by the exponential of the first-order system
    count, size = round(seconds / enricher.interval), len(free)
    rate = np.block([[np.zeros((size, size)), np.eye(size)], [-stiff / mass[:, None], -damping / mass[:, None]]])
    once = expm(rate * enricher.interval)
    state, exact = np.concatenate([np.zeros(size), 0.02 * mode / np.abs(mode).max()]), []
    start = np.zeros_like(cage.vertices)
    start.ravel()[free] = state[size:]
    for _ in range(count):
        state = once @ state
        exact.append(mode @ (mass * state[:size]))

    # simulated
    still, moving, simulated = cage.vertices, State(cage.vertices.copy(), start), []
    for _ in range(count):
        moving, _ = enricher.advance(moving, (still, still, still, still))
        simulated.append(mode @ (mass * (moving.positions - still).ravel()[free]))
    return np.array(simulated), np.array(exact)


@pytest.mark.parametrize("rate", (24.0, 30.0, 60.0))
def test_free_oscillation_has_the_exact_amplitude_frequency_and_decay(rate: float) -> None:
    enricher = held_bar(rate, "tr_bdf2")
    simulated, exact = (oscillation(signal, 1 / rate) for signal in ring(enricher, 0.7))
    assert 2 * np.pi * 2.5 < exact[1] < 2 * np.pi * 3.5, "near Jiggle, or the test sees another mode"
    assert np.abs(np.array(simulated) / exact - 1).max() < 0.05


def test_implicit_euler_is_seen_to_damp_too_much() -> None:
    """The counter-test: the bounds above are not kept by whatever scheme."""
    enricher = held_bar(24.0, "implicit_euler")
    simulated, exact = (oscillation(signal, 1 / 24) for signal in ring(enricher, 0.7))
    assert simulated[2] > 1.3 * exact[2]
