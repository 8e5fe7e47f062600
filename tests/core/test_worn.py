"""Passengers that collide: with the body that carries them they are one surface, and flesh feels what they touch."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import sphere
from shots import make_shot
from sinew.core.bake import obstacles, remake, run, told_contact
from sinew.core.bake.contact import Collided
from sinew.core.bake.shot import Carried, Passenger, Sample, Shot, stored_sample
from sinew.core.bake.store import Store
from sinew.core.base.errors import Cancelled
from sinew.core.flesh.settings import Settings
from sinew.core.geometry.crossings import find_crossings

pytestmark = pytest.mark.once

UP = np.array([0.0, 0.0, 0.62])
COUNT = 14
BALL, SIDES = sphere(7, 10, (0.5, 0.5, 0.5))
GROUND = obstacles.ground(0.0, (0.0, 0.0, 0.5), 1.0)


def plate() -> tuple[np.ndarray, np.ndarray]:
    """An apron below the ball, wider than its foot and a little aslant."""
    x, y = (side.ravel() for side in np.meshgrid(*[np.linspace(-0.2, 0.2, 5)] * 2))
    corner = (np.arange(4)[:, None] * 5 + np.arange(4)).ravel()
    quads = np.stack([corner, corner + 1, corner + 6, corner + 5], axis=1)
    return np.stack([x, y, 0.15 * x - 0.55], 1), np.concatenate([quads[:, :3], quads[:, [0, 2, 3]]]).astype(np.int32)


PLATE, PLATE_SIDES = plate()


def falling(collides: bool, **values: Any) -> Shot:
    settings = {"resolution": 5, "free_body": True, "young": 1e5, "damping_stiffness": 0.02, "collide": True, **values}
    rest = PLATE + UP
    shells = np.zeros(len(rest), np.int32)
    apron = Passenger("Apron", rest, rest, shells, False, PLATE_SIDES if collides else None)
    return make_shot(
        BALL + UP, SIDES, np.zeros(len(BALL)), COUNT, settings=Settings().replace(settings),
        collided=Collided(ground=0.0), passengers=(apron,),
    )  # fmt: skip


def still(shot: Shot, until: int = COUNT, lift: float = 0.0) -> Iterator[Sample]:
    (apron,) = shot.passengers
    carried = (Carried((apron.rest + (0.0, 0.0, lift)).astype(np.float32), np.eye(4), apron.collides),)
    for k in range(COUNT):
        if k == until:
            raise Cancelled("enough")
        yield Sample(k, shot.rest.astype(np.float32), np.eye(4), carried=carried)


def shown(outcome: run.Outcome, name: str = "result") -> np.ndarray:
    with Store.open(outcome.folder.parent, outcome.id) as store:
        return np.array([store.read_result(k, name) for k in range(COUNT)], np.float64)


def test_what_an_apron_touches_lifts_the_body_that_carries_it(tmp_path: Path) -> None:
    free, held = (run.bake(shot, still(shot), tmp_path) for shot in (falling(False), falling(True)))
    assert shown(free)[:, :, 2].min() > 0.0  # the ball alone stands on the ground, ...
    assert shown(free, "passenger_0")[:, :, 2].min() < -0.02  # ... and its apron runs through it
    apron = shown(held, "passenger_0")
    assert 0.0 < apron[:, :, 2].min() < 0.005
    assert sum(len(find_crossings([(frame, PLATE_SIDES), GROUND]).edges) for frame in apron) == 0
    assert shown(held)[-1, :, 2].min() > 0.02
    others = len(find_crossings([(shown(held)[-1], SIDES), (apron[-1], PLATE_SIDES)], own=False).edges)
    assert others == 0


def test_a_bake_goes_on_with_the_same_bits_and_looks_at_what_collides_alone(tmp_path: Path) -> None:
    shot = falling(True)
    whole = run.bake(shot, still(shot), tmp_path / "whole")
    with pytest.raises(Cancelled):
        run.bake(shot, still(shot, until=10), tmp_path / "part")
    part = run.bake(shot, still(shot), tmp_path / "part")
    assert np.array_equal(shown(whole), shown(part)) and part.report["computed"] < COUNT
    other = run.bake(shot, still(shot, lift=-0.03), tmp_path / "part")  # the apron hangs lower now
    assert other.report["computed"] == COUNT and not np.array_equal(shown(whole), shown(other))
    loose = falling(False)
    assert loose.identity() != shot.identity()
    run.bake(loose, still(loose), tmp_path / "loose")
    same = run.bake(loose, still(loose, lift=-0.03), tmp_path / "loose")
    assert same.report["computed"] == 0  # it has no say in the motion of a body that does not feel it


def test_a_finished_bake_knows_who_collides_and_a_check_looks_at_it(tmp_path: Path) -> None:
    outcome = run.bake(falling(True), still(falling(True)), tmp_path)
    with Store.open(tmp_path, outcome.id) as store:
        assert stored_sample(store, 3).carried[0].collides
        again = remake.stored_shot(store, falling(True).settings)
        assert np.array_equal(again.passengers[0].triangles, PLATE_SIDES)
        ground = Collided(ground=0.0)
        assert not any(told_contact.new_crossings(store, falling(True), ground, k) for k in range(COUNT))
    through = run.bake(falling(False), still(falling(False)), tmp_path / "through")
    with Store.open(tmp_path / "through", through.id) as store:
        seen, unseen = (
            [told_contact.new_crossings(store, falling(on), ground, k) for k in range(COUNT)] for on in (True, False)
        )
        assert any(seen) and not any(unseen)


@pytest.mark.parametrize("part", [1.0, 0.0])
def test_a_settled_start_stands_on_what_is_worn(tmp_path: Path, part: float) -> None:
    """The apron hangs just above the ground and sags from there: aslant, so that the ground cuts it; or level, so that
    all of it comes to lie under the ground."""
    worn = PLATE + UP - (0.0, 0.0, 0.035)
    worn[:, 2] = 0.005 + part * (worn[:, 2] - 0.005)
    held = (BALL[:, 2] > 0.3).astype(float)

    def heights(collides: bool) -> np.ndarray:
        shot = falling(collides, free_body=False, start="settled", keep_pose=0.0, jiggle=1.0, young=0.0)
        (apron,) = shot.passengers
        apron = dataclasses.replace(apron, rest=worn, first=worn)
        painted = dataclasses.replace(shot.painted, follow=held)
        low = dataclasses.replace(shot, rest=shot.rest - (0.0, 0.0, 0.035), painted=painted, passengers=(apron,))
        return shown(run.bake(low, still(low), tmp_path / str(collides)), "passenger_0")[:, :, 2]

    assert worn[:, 2].min() > 0.0
    through = heights(False)
    assert through.min() < -0.01 and (part > 0.0 or through.max() < 0.0)
    assert heights(True).min() > 0.0
