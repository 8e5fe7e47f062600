"""Edit Motion inside a bake of cloth: the last layer of its results, by its own triangles."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sinew.core.bake import remake, run
from sinew.core.bake.report import lines
from sinew.core.bake.shot import Passenger
from sinew.core.bake.store import Store
from sinew.core.edit.handles import Edits, Handle
from sinew.core.methods.tracks import METHOD
from sinew.core.methods.tracks.painted import ClothPaint
from test_cloth import FRAMES, PINNED, REST, make_shot, poses, results, samples

pytestmark = pytest.mark.once

CORNER = int(np.argmax(REST @ [1.0, 1.0, 0.0]))
AT = 5.0  # sample 4


def with_edits(*handles: Handle, **more: Any) -> dict[str, Any]:
    return {"edits": Edits(handles=handles, **more).to_text()}


def pull(*by: float, frame: float = AT, vertex: int = CORNER, **more: Any) -> Handle:
    return Handle((vertex,), frame, by or (0.0, 0.02, 0.1), **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def baked(tmp_path_factory: Any) -> run.Outcome:
    return run.bake(make_shot(), samples(), tmp_path_factory.mktemp("cloth"))


def edited(bake: run.Outcome, values: dict[str, Any], *shown: Any) -> run.Outcome:
    settings = make_shot().settings.replace(values)
    return remake.remake(bake.folder.parent, bake.id, settings, *shown)


def test_a_pulled_corner_lands_the_rest_follows_and_nothing_is_simulated(baked: run.Outcome) -> None:
    outcome = edited(baked, with_edits(pull()))
    before, moved = np.array(results(baked), float), np.array(results(outcome), float)
    off = moved - before
    assert np.abs(off[4, CORNER] - [0.0, 0.02, 0.1]).max() < 1e-5
    assert 0.02 < np.linalg.norm(off[5, CORNER]) < 0.1 and not off[:, PINNED == 1.0].any()
    assert outcome.report["edits"]["missed_relative"] < 1e-4 and outcome.report["computed"] == 0
    assert any("Edited by 1 handle: all land" in line for line in lines(outcome.report))
    again = edited(outcome, {})
    assert all((one == other).all() for one, other in zip(results(again), results(baked), strict=True))


def test_no_edit_a_muted_one_and_frames_beyond_the_range_keep_their_bits(baked: run.Outcome) -> None:
    for values in (with_edits(pull(mute=True)), with_edits(pull(0.0, 0.0, 0.0)), with_edits()):
        outcome = edited(baked, values)
        assert all((one == other).all() for one, other in zip(results(outcome), results(baked), strict=True))
    outcome = edited(baked, with_edits(pull(), range=(3.0, 7.0)))
    for index in range(FRAMES):
        same = (results(outcome)[index] == results(baked)[index]).all()
        assert same == (index in (0, 1, 2, 6, 7))


def test_a_bake_that_is_edited_from_the_start_is_the_same(baked: run.Outcome, tmp_path: Path) -> None:
    values = with_edits(pull(), pull(0.0, 0.0, -0.05, frame=7.0))
    anew = run.bake(make_shot(**values), samples(), tmp_path)
    for one, other in zip(results(anew), results(edited(baked, values)), strict=True):
        assert (one == other).all()


def test_it_acts_after_amount_within_its_region_and_on_pins_when_they_are_freed(baked: run.Outcome) -> None:
    for amount in (0.0, 0.5):
        plain, moved = (np.array(results(edited(baked, {"amount": amount, **more})), float) for more in
                        ({}, with_edits(pull())))  # fmt: skip
        assert np.abs(moved[4, CORNER] - plain[4, CORNER] - [0.0, 0.02, 0.1]).max() < 1e-5
    region = (REST[:, 1] > 0.2).astype(float)
    within = np.array(results(edited(baked, with_edits(pull()), region))) != np.array(results(baked))
    assert within[4, CORNER].all() and not within[:, region == 0.0].any()
    pinned = pull(0.0, 0.0, 0.05, vertex=0, radius=0.01)
    held = edited(baked, with_edits(pinned))
    assert "free it" in held.report["edits"]["left_out"][0]
    freed = np.array(results(edited(baked, with_edits(pinned, free=True))), float) - results(baked)
    assert np.abs(freed[4, 0] - [0.0, 0.0, 0.05]).max() < 1e-5


def test_buttons_go_along(tmp_path: Path) -> None:
    from sinew.core.bake.shot import Carried

    button = REST[CORNER] + np.array([[-0.02, -0.02, 0.01], [-0.01, -0.02, 0.01], [-0.02, -0.01, 0.01]])
    shot = make_shot()
    shot = dataclasses.replace(shot, passengers=(Passenger("Button", button, button, np.zeros(3, np.int32), True),))
    carried = (Carried(button.astype(np.float32), np.eye(4)),)
    outcome = run.bake(shot, (dataclasses.replace(one, carried=carried) for one in samples()), tmp_path)
    pulled = remake.remake(outcome.folder.parent, outcome.id, shot.settings.replace(with_edits(pull())))
    places = []
    for one in (outcome, pulled):
        with Store.open(one.folder.parent, one.id) as store:
            places.append([store.read_result(4, name).astype(float) for name in store.result_names])
    apart = [np.linalg.norm(cloth[:, None] - one[None], axis=2).min(axis=0) for cloth, one in places]
    assert np.abs(apart[0] - apart[1]).max() < 0.01
    assert np.linalg.norm(places[1][1] - places[0][1], axis=1).min() > 0.04


def test_a_sheet_that_is_not_simulated_is_as_animated_and_can_be_pulled(tmp_path: Path) -> None:
    """Animation from nothing, or an Alembic cache: the mesh itself, no cage."""
    shot = make_shot()
    shot = dataclasses.replace(shot, settings=shot.settings.replace({"simulate": False, "regions": 0}))
    plain = run.bake(dataclasses.replace(shot, painted=ClothPaint(PINNED)), samples(), tmp_path)
    for shape, pose in zip(results(plain), poses(), strict=True):
        assert (shape == pose.astype(np.float32)).all()
    assert not any("falls" in warning for warning in plain.report["warnings"])
    free = run.bake(dataclasses.replace(shot, painted=ClothPaint(np.zeros(len(REST)))), samples(), tmp_path / "free")
    moved = edited(free, with_edits(pull()))
    off = np.array(results(moved), float) - results(free)
    assert np.abs(off[4, CORNER] - [0.0, 0.02, 0.1]).max() < 1e-5
    assert METHOD.settings.all()["edits"].belongs == "result"
    told = " ".join(lines(moved.report))
    assert "Edited by 1 handle: all land" in told and "regions" not in told and "steps a sample" not in told
