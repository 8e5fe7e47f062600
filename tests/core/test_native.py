"""The border to the native module: options and arrays are checked by name, and long calls can be cancelled."""

from __future__ import annotations

import ast
import threading
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sinew
from bodies import box_tets, sphere
from sheets import sheet
from sinew.core.bake.method import check_room
from sinew.core.base.errors import BadInput, Cancelled
from sinew.core.base.native import Monitor, module
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings
from sinew.core.methods.enrich import METHOD as ENRICH
from sinew.core.methods.face.settings import Settings as FaceSettings
from sinew.core.methods.tracks import METHOD as TRACKS
from sinew.core.methods.tracks.cloth import Cloth
from sinew.core.methods.tracks.guide import make_averages
from sinew.core.methods.tracks.settings import Settings as ClothSettings


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


CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
SQUARE = np.array([[0, 1, 2], [0, 2, 3]], np.int32)


def types() -> list[ast.stmt]:
    return ast.parse((Path(sinew.__file__).parent / "_native.pyi").read_text(encoding="utf-8")).body


def names_in(body: list[ast.stmt]) -> set[str]:
    named = {node.name for node in body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    named |= {node.target.id for node in body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
    return {name for name in named if name in ("__version__", "__new__") or not name.startswith("_")}


def test_the_types_of_the_module_name_what_is_in_it_and_no_more() -> None:
    aliases = {"Floats", "Ints"}
    assert names_in(types()) - aliases == {name for name in dir(module) if name == "__version__" or name[0] != "_"}
    for node in types():
        if isinstance(node, ast.ClassDef):
            of_type, told = vars(getattr(module, node.name)), names_in(node.body) - {"__new__"}
            assert {name for name in of_type if not name.startswith("_")} <= told, node.name
            assert all(hasattr(getattr(module, node.name), name) for name in told), node.name


def with_monitor() -> set[str]:
    """What the types of the module say takes a monitor."""
    found = set()
    for node in types():
        own = node.body if isinstance(node, ast.ClassDef) else [node]
        for function in own:
            if isinstance(function, ast.FunctionDef):
                arguments = function.args
                named = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
                if "monitor" in named:
                    found.add(function.name if own[0] is node else f"{node.name}.{function.name}")  # type: ignore[attr-defined]
    return found


@cache
def calls() -> dict[str, Callable[[Any], Any]]:
    """Every native call that takes a monitor, by its name in the module's types; after a comma, what is told apart."""
    made = enricher()
    cage, still = made.cage, made.cage.vertices
    rest, triangles = sphere(10, 12, (0.4, 0.3, 1.0))
    areas, count = np.ones(len(rest)), len(still)
    fit = module.Fit(cage.native, np.ones(len(made.follow)), {})
    simulation, other = enrich({"substeps": 4}, {}), enrich({"substeps": 4}, {})
    vertices, tets = box_tets((6, 2, 2), (1.0, 0.2, 0.2))
    fixed = (vertices[:, 0] < 1e-9).astype(np.int32)
    world = module.World(vertices, tets, fixed, 1e5, 0.3, 1000.0, "neo_hookean", (0.0, 0.0, -9.81))
    frame = np.ascontiguousarray(surface() * (1.2, 1.0, 1.0))
    moving = np.zeros_like(vertices)
    back = module.Rebalance(cage.native, areas, made.follow)
    e, flat = len(cage.tets), sheet(6, 6, 0.05)
    averages = make_averages(*flat, None)
    cloth = Cloth(*flat, (flat[0][:, 0] < 1e-9).astype(float), ClothSettings(), 24.0, averages=averages)
    shell = cloth._simulation
    hanging = (None, flat[0], flat[0], None, np.array(flat[0]), np.zeros_like(flat[0]), cloth._inner())
    swings = {"mass": np.ones(count), "drive": None, "fixed": (still[:, 2] < -0.5).astype(np.int32)}
    flesh = {**swings, "young": np.full(e, 1e4)}
    thin = {"mass": np.ones(len(flat[0])), "drive": None, "fixed": (flat[0][:, 0] < 1e-9).astype(np.int32)}
    edit = module.Edit(cage.native, {}, flesh)

    def move() -> tuple[Any, ...]:
        return (None, still, still, None, still.copy(), np.zeros_like(still))

    def pulled(monitor: Any) -> Any:
        patch = np.zeros((1, count))
        patch[0, int(still[:, 2].argmax())] = 1.0
        settings = {"drag": 1.0, "damping": 0.1, "begin": 0.0, "end": 2.0}
        return edit.solve(
            settings, np.array([1.0]), np.ascontiguousarray(still.reshape(1, -1)), patch, patch.copy(),
            np.array([[0.05, 0.0, 0.0]]), np.zeros((1, 3)), np.zeros(1, np.int32), np.zeros(1), np.empty(1), monitor,
        )  # fmt: skip

    def touching(monitor: Any) -> Any:
        plain: dict[str, Any] = {"thickness": None, "friction": None, "groups": None}
        member = {**plain, "rest": rest, "triangles": triangles, "cage": cage.native, "interpolation": "linear"}
        ground = {**plain, "rest": 4.0 * CORNERS - (2.0, 2.0, 1.02), "triangles": SQUARE, "members": None}
        contact = module.Contact([member], [ground], {})
        ensemble = module.Ensemble([enrich({"substeps": 2}, {})], contact)
        contact.lead([(None, rest, rest, None)], [(ground["rest"], ground["rest"])])
        return ensemble.advance([move()], monitor)

    return {
        "vertex_areas": lambda m: module.vertex_areas(rest, triangles, np.empty(len(rest)), m),
        "vertex_areas, of points": lambda m: module.vertex_areas(rest, triangles[:0], np.empty(len(rest)), m),
        "surface_distance": lambda m: module.surface_distance(
            rest, triangles, still, np.empty(count), np.empty(count, np.int32), m
        ),
        "cage_weights": lambda m: module.cage_weights(cage.native, areas, made.follow, None, np.empty(count), m),
        "spread_weights": lambda m: module.spread_weights(
            cage.native, areas, np.where(rest[:, 2] > 0.0, np.nan, 1.0), np.full(count, np.nan), m
        ),
        "mend_tets": lambda m: module.mend_tets(vertices.copy(), tets, np.full(len(vertices), 0.1), 40.0, 2, m),
        "regions_of": lambda m: module.regions_of(
            flat[0], len(flat[0]), flat[1], 4, 0.5, 10, np.empty(len(flat[1]), np.int32), m
        ),
        "crossings": lambda m: module.crossings([(rest, triangles), (rest + 0.1, triangles)], True, m),
        "Cage.__new__": lambda m: module.Cage(rest, triangles, 6, False, m),
        "Cage.fill": lambda m: cage.native.fill(rest, triangles, np.empty(e), np.empty(e), m),
        "Fit.frame": lambda m: fit.frame(frame, 0, still.copy(), None, m),
        "Ensemble.advance": lambda m: module.Ensemble([simulation, other]).advance([move(), move()], m),
        "Ensemble.advance, with contact": touching,
        "Enrich.__new__": lambda m: enrich({}, {}, m),
        "Enrich.advance": lambda m: simulation.advance(*move(), None, m),
        "Enrich.settle": lambda m: simulation.settle(still, still.copy(), None, m),
        "Enrich.carry": lambda m: simulation.carry(still, still * 1.01, still, still.copy(), m),
        "Enrich.material": lambda m: module.Enrich.material(
            cage.native, areas, {}, {"follow": made.follow},
            np.empty(e), np.empty(count), np.empty(count), np.empty(count, np.int32), m,
        ),  # fmt: skip
        "Tracks.__new__": lambda m: Cloth(
            *flat, np.zeros(len(flat[0])), ClothSettings(), 24.0, averages=averages, monitor=m
        ),
        "Tracks.advance": lambda m: shell.advance(*hanging, None, None, None, m),
        "Tracks.settle": lambda m: shell.settle(flat[0], None, cloth._inner(), np.array(flat[0]), None, m),
        "Rebalance.__new__": lambda m: module.Rebalance(cage.native, areas, made.follow, None, m),
        "Rebalance.set_weights": lambda m: back.set_weights(areas, np.clip(rest[:, 2], 0.0, 1.0), m),
        "Rebalance.frame": lambda m: back.frame(still, still * 1.01, 0.5, np.empty_like(still), m),
        "Edit.__new__": lambda m: module.Edit(cage.native, {}, flesh, m),
        "Edit.shell": lambda m: module.Edit.shell(*flat, {}, thin, m),
        "Edit.solve": pulled,
        "World.settle": lambda m: world.settle(vertices.copy(), 1e-9, 50, m),
        "World.frequencies": lambda m: world.frequencies(np.empty(6), m),
        "World.step": lambda m: world.step(vertices.copy(), moving.copy(), 0.04, 5, "tr_bdf2", 0, 1e-6, m),
    }


TOLD_APART = ["Ensemble.advance, with contact", "vertex_areas, of points"]


@pytest.mark.parametrize("name", [*sorted(with_monitor()), *TOLD_APART])
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


def test_a_world_that_is_too_full_is_told_before_it_is_made() -> None:
    flat, pins = sheet(1, 1, 0.05), np.zeros(4)
    averages = make_averages(*flat, None)
    many = [Cloth(*flat, pins, ClothSettings(), 24.0, averages=averages)._simulation for _ in range(33)]
    assert TRACKS.terms * 32 == module.TERMS_MOST
    module.Ensemble(many[:32])
    check_room([TRACKS] * 32)
    with pytest.raises(BadInput, match="fewer setups"):
        module.Ensemble(many)
    with pytest.raises(BadInput, match="33 setups touch"):
        check_room([TRACKS] * 33)
    check_room([ENRICH] * int(module.TERMS_MOST))


def test_a_call_is_cancelled_from_another_thread_while_it_works() -> None:
    made, monitor = enricher(), Monitor()
    still = made.cage.vertices
    simulation = enrich({"substeps": 100000}, {})
    start = time.monotonic()

    def cancel() -> None:
        while monitor.progress()[1] == 0 and time.monotonic() - start < 60.0:
            time.sleep(0.01)
        monitor.cancel()

    threading.Thread(target=cancel).start()
    with pytest.raises(Cancelled):
        simulation.advance(None, still, still, None, still.copy(), np.zeros_like(still), None, monitor)
    assert 0 < monitor.progress()[1] < 100000


def test_numbers_of_both_sides_are_exported() -> None:
    assert 0.0 < module.SOUND_VOLUME < 1.0
    assert 0.0 < module.STEP_ANGLE < 1.0
    assert module.SURFACE_GROUPS == 32.0  # as many as the bits of a group
    assert 0.9 < module.WEIGHT_EXACT < 1.0
