"""The border to the native module: options and arrays are checked by name, and long calls can be cancelled."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from bodies import box_tets, sphere
from sinew.core.base.errors import BadInput, Cancelled
from sinew.core.base.native import Monitor, module
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings
from sinew.core.methods.face.settings import Settings as FaceSettings


@cache
def enricher() -> Enricher:
    rest, triangles = sphere(10, 12, (0.4, 0.3, 1.0))
    return Enricher(rest, triangles, (rest[:, 2] < -0.7).astype(float), Settings(resolution=8))


def surface() -> Any:
    return sphere(10, 12, (0.4, 0.3, 1.0))[0]


def enrich(settings: dict[str, Any], paint: dict[str, Any], monitor: Any = None) -> Any:
    made = enricher()
    areas = np.ones(len(made.follow))
    return module.Enrich(made.cage.native, areas, settings, {"follow": made.follow, **paint}, monitor)


def test_an_option_that_is_not_there_is_told_with_the_nearest_one() -> None:
    with pytest.raises(BadInput, match='no "jigle": did you mean "jiggle"'):
        enrich({"jigle": 2.0}, {})
    with pytest.raises(BadInput, match='paint of Enrich has no "stifness": did you mean "stiffness"'):
        enrich({}, {"stifness": None})
    with pytest.raises(BadInput, match='no "smothing"'):
        module.Fit(enricher().cage.native, np.ones(len(enricher().follow)), {"smothing": 1.0})


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"jiggle": "fast"}, TypeError),
        ({"gravity": (0.0, 1.0)}, TypeError),
        ({"substeps": 1.5}, TypeError),
        ({"scheme": "leapfrog"}, BadInput),
        ({"energy": 3}, TypeError),
        ([("jiggle", 2.0)], TypeError),
    ],
)
def test_options_have_their_types(settings: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        enrich(settings, {})


def test_options_reach_the_simulation() -> None:
    assert enrich({"substeps": 7}, {}).summary()["substeps"] == 7
    assert enrich({"jiggle": 5.0}, {}).summary()["frequency"] == 5.0
    softer, firmer = (enrich({"young": young}, {}).summary()["young_min"] for young in (1e4, 1e5))
    assert firmer == pytest.approx(10.0 * softer)


def test_every_native_option_is_a_setting_or_made_of_one() -> None:
    made = {"interval", "size", "animated", "tolerance", "one_material"}
    assert set(module.Enrich.options) - set(FaceSettings().as_dict()) == made  # all of those of flesh, and more


@pytest.mark.parametrize(
    ("paint", "error"),
    [
        ({"stiffness": np.ones(3)}, BadInput),
        ({"stiffness": np.ones((2, 2))}, BadInput),
        ({"averages": np.ones(3)}, TypeError),
        ({"follow": None}, TypeError),
        ({"fill": np.ones(1)}, BadInput),
    ],
)
def test_arrays_have_their_shapes_and_types(paint: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        enrich({}, paint)


def test_a_number_that_is_not_finite_is_named_by_its_row() -> None:
    follow = enricher().follow.copy()
    follow[5] = np.nan
    with pytest.raises(BadInput, match="Row 5 of follow"):
        enrich({}, {"follow": follow})


def test_only_finite_surfaces_are_fitted() -> None:
    frame = surface()
    frame[7, 1] = np.inf
    with pytest.raises(BadInput, match="Row 7 of the surface"):
        enricher().fit(frame)


def calls() -> dict[str, Callable[[Any], Any]]:
    made = enricher()
    cage, still = made.cage, made.cage.vertices
    fit = module.Fit(cage.native, np.ones(len(made.follow)), {})
    simulation = enrich({"substeps": 4}, {})
    vertices, tets = box_tets((6, 2, 2), (1.0, 0.2, 0.2))
    fixed = (vertices[:, 0] < 1e-9).astype(np.int32)
    world = module.World(vertices, tets, fixed, 1e5, 0.3, 1000.0, "neo_hookean", (0.0, 0.0, -9.81))
    frame = np.ascontiguousarray(surface() * (1.2, 1.0, 1.0))
    moving = np.zeros_like(vertices)
    return {
        "fit": lambda monitor: fit.frame(frame, 0, still.copy(), None, monitor),
        "advance": lambda monitor: simulation.advance(
            None, still, still, None, still.copy(), np.zeros_like(still), None, monitor
        ),
        "rest": lambda monitor: simulation.settle(still, still.copy(), None, monitor),
        "tuning": lambda monitor: enrich({}, {}, monitor),
        "settle": lambda monitor: world.settle(vertices.copy(), 1e-9, 50, monitor),
        "frequencies": lambda monitor: world.frequencies(np.empty(6), monitor),
        "step": lambda monitor: world.step(vertices.copy(), moving.copy(), 0.04, 5, "tr_bdf2", 0, 1e-6, monitor),
    }


@pytest.mark.parametrize("name", ["fit", "advance", "rest", "tuning", "settle", "frequencies", "step"])
def test_every_long_call_can_be_cancelled_and_called_again(name: str) -> None:
    call = calls()[name]
    monitor = Monitor()
    monitor.cancel()
    with pytest.raises(Cancelled):
        call(monitor)
    monitor = Monitor()
    call(monitor)
    stage, _, total = monitor.progress()
    assert stage and total > 0


def test_an_ensemble_takes_simulations_each_once_and_moves_that_are_tuples() -> None:
    still = enricher().cage.vertices
    both = [enrich({"substeps": 2}, {}), enrich({"substeps": 5}, {})]
    for wrong in ([], [both[0], both[0]], [both[0], None], tuple(both)):
        with pytest.raises(TypeError, match="list of simulations"):
            module.Ensemble(wrong)
    ensemble = module.Ensemble(both)
    assert ensemble.substeps == 5
    move = (None, still, still, None, still.copy(), np.zeros_like(still))
    with pytest.raises(TypeError, match="as many moves"):
        ensemble.advance([move])
    with pytest.raises(TypeError, match="tuple"):
        ensemble.advance([move, list(move)])
    with pytest.raises(BadInput):
        ensemble.advance([move, (None, still[:3], still, None, still.copy(), np.zeros_like(still))])
    other = (None, still, still, None, still.copy(), np.zeros_like(still))
    assert [numbers[3] for numbers in ensemble.advance([move, other])] == [5, 5]


def test_a_call_is_cancelled_from_another_thread_while_it_works() -> None:
    made, monitor = enricher(), Monitor()
    still = made.cage.vertices
    simulation = enrich({"substeps": 100000}, {})
    threading.Timer(0.2, monitor.cancel).start()
    start = time.monotonic()
    with pytest.raises(Cancelled):
        simulation.advance(None, still, still, None, still.copy(), np.zeros_like(still), None, monitor)
    assert time.monotonic() - start < 5.0
    assert 0 < monitor.progress()[1] < 100000


def test_numbers_of_both_sides_are_exported() -> None:
    assert 0.0 < module.SOUND_VOLUME < 1.0
    assert 0.0 < module.STEP_ANGLE < 1.0
    assert module.SURFACE_GROUPS == 32.0  # as many as the bits of a group
    assert 0.9 < module.WEIGHT_EXACT < 1.0
