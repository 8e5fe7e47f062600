"""Edit Motion inside a bake: the last layer of its results, made anew from the bake folder, to the bit the same where
nothing is pulled."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shots
from bodies import box_surface
from sinew.core.bake import remake, run, told_edits
from sinew.core.bake.report import lines
from sinew.core.bake.shot import Sample
from sinew.core.bake.store import Store
from sinew.core.base.errors import Cancelled
from sinew.core.edit.contacts import find_entered
from sinew.core.edit.handles import Edits, Handle
from sinew.core.flesh.painted import FleshPaint, Masks
from sinew.core.flesh.settings import Settings
from test_remake import COUNT, HAT, REST, baked, make_shot, played, samples

pytestmark = pytest.mark.once

__all__ = ["baked"]

TIP = int(np.argmax(REST @ [0.1, 0.2, 1.0]))
AT = 6.0  # sample 5


def pull(*by: float, frame: float = AT, **more: Any) -> Handle:
    return Handle((TIP,), frame, by or (0.15, 0.1, 0.0), **more)  # type: ignore[arg-type]


def with_edits(*handles: Handle, **more: Any) -> Settings:
    names = ("wiggle", "spread", "range", "free", "below", "contacts", "floor")
    how = {name: more.pop(name) for name in names if name in more}
    return Settings(resolution=8, jiggle=2.0, edits=Edits(handles=handles, **how).to_text(), **more)


def edited(bake: run.Outcome, settings: Settings, *shown: Any) -> run.Outcome:
    return remake.remake(bake.folder.parent, bake.id, settings, *shown)


def test_a_pulled_vertex_lands_and_the_motion_around_it_follows(baked: run.Outcome) -> None:
    before, outcome = played(baked), edited(baked, with_edits(pull()))
    moved = played(outcome).astype(float) - before
    assert np.linalg.norm(moved[5, TIP] - [0.15, 0.1, 0.0]) < 1e-4
    assert np.linalg.norm(moved[6, TIP]) > 0.05 and np.linalg.norm(moved[4, TIP]) > 0.05
    assert np.array_equal(played(outcome)[:, REST[:, 2] < 0.05], before[:, REST[:, 2] < 0.05]), "what follows stays"
    told = outcome.report["edits"]
    assert told["handles"] == 1 and told["missed_relative"] < 1e-4


def test_an_edit_that_does_nothing_has_the_bits_of_the_bake(baked: run.Outcome) -> None:
    assert not np.array_equal(played(edited(baked, with_edits(pull()))), played(baked))
    for handles in ((), (pull(mute=True),), (pull(influence=0.0),), (pull(0.0, 0.0, 0.0),)):
        outcome = edited(baked, with_edits(*handles))
        for name in ("result", "passenger_0"):
            assert np.array_equal(played(outcome, name), played(baked, name))
    full = edited(baked, with_edits(pull()))
    cleared = remake.remake(full.folder.parent, full.id, with_edits())
    assert np.array_equal(played(cleared), played(baked))


def test_passengers_go_along(baked: run.Outcome) -> None:
    outcome = edited(baked, with_edits(pull()))
    hat, body = ((played(outcome, name).astype(float) - played(baked, name))[5] for name in ("passenger_0", "result"))
    under = body[-len(HAT.rest) :]
    assert np.linalg.norm(under, axis=1).max() > 0.1
    assert np.linalg.norm(hat - under, axis=1).max() < 0.3 * np.linalg.norm(under, axis=1).max()


def test_a_new_bake_with_edits_is_what_an_edited_bake_is(baked: run.Outcome, tmp_path: Path) -> None:
    settings = with_edits(pull(), pull(0.0, -0.1, 0.0, frame=8.0))
    anew = run.bake(make_shot(settings=settings), samples(), tmp_path)
    for name in ("result", "passenger_0"):
        assert np.array_equal(played(anew, name), played(edited(baked, settings), name))
    again = run.bake(make_shot(settings=settings), samples(), tmp_path, previous=anew.id)
    assert again.unchanged
    changed = run.bake(make_shot(settings=with_edits(pull())), samples(), tmp_path, previous=anew.id)
    assert not changed.unchanged
    assert np.array_equal(played(changed), played(edited(baked, with_edits(pull()))))


def test_a_bake_that_is_stopped_while_edits_are_shown_goes_on_to_the_same(tmp_path: Path) -> None:
    shot = make_shot(settings=with_edits(pull()))

    def stop(stage: str, done: int, total: int, left: float) -> None:
        if stage == "Showing" and done == 4:
            raise KeyboardInterrupt

    with pytest.raises(Cancelled):
        run.bake(shot, samples(), tmp_path / "stopped", progress=stop)
    resumed = run.bake(shot, samples(), tmp_path / "stopped")
    assert np.array_equal(played(resumed), played(run.bake(shot, samples(), tmp_path / "whole")))


def test_edits_act_after_amount_and_back_to_animation(baked: run.Outcome) -> None:
    for other in ({"amount": 0.5}, {"follow_after": 0.7}, {"amount": 0.0}, {"maximum_offset": 0.02}):
        without = played(edited(baked, with_edits(**other))).astype(float)
        moved = played(edited(baked, with_edits(pull(), **other))) - without
        assert np.linalg.norm(moved[5, TIP] - [0.15, 0.1, 0.0]) < 2e-4, other


def test_an_amount_that_changes_where_a_handle_is_changes_all_frames(baked: run.Outcome) -> None:
    settings = with_edits(pull(0.1, 0.2, 1.1, axes="place"))
    outcome = edited(baked, settings)
    amounts = [0.0 if index == 5 else 1.0 for index in range(COUNT)]
    again = remake.remake(outcome.folder.parent, outcome.id, settings, amounts=amounts)
    straight = remake.remake(baked.folder.parent, baked.id, settings, amounts=amounts)
    assert np.array_equal(played(again), played(straight))
    assert not np.array_equal(played(again)[6], played(outcome)[6])


def test_baked_in_edits_play_the_same_and_the_next_ones_pull_them(baked: run.Outcome) -> None:
    first = Edits(handles=(pull(),))
    plain = played(edited(baked, with_edits(*first.handles)))
    text = first.baked_in().to_text()
    assert Edits.from_text(text) == first.baked_in() and not first.baked_in().acting
    inside = edited(baked, Settings(resolution=8, jiggle=2.0, edits=text))
    assert np.array_equal(played(inside), plain)
    more = dataclasses.replace(first.baked_in(), handles=(pull(0.0, 0.0, 0.1),))
    twice = played(edited(baked, Settings(resolution=8, jiggle=2.0, edits=more.to_text()))).astype(float)
    assert np.linalg.norm(twice[5, TIP] - plain[5, TIP] - [0.0, 0.0, 0.1]) < 2e-4
    assert len(more.baked_in().below) == 2


def test_beyond_range_and_region_the_bake_has_its_bits(baked: run.Outcome) -> None:
    outcome = played(edited(baked, with_edits(pull(), range=(4.0, 8.0))))
    still = [0, 1, 2, 3, 7, 8, 9]
    assert np.array_equal(outcome[still], played(baked)[still])
    assert not np.array_equal(outcome[5], played(baked)[5])
    region = (REST[:, 2] > 0.5).astype(float)
    outcome = played(edited(baked, with_edits(pull()), Masks(region=region)))
    low = REST[:, 2] < 0.2
    assert np.array_equal(outcome[:, low], played(baked)[:, low])
    whole = played(edited(baked, with_edits(pull())))
    middle = (REST[:, 2] > 0.25) & (REST[:, 2] < 0.45)
    assert np.abs(outcome - played(baked))[5, middle].max() < 0.5 * np.abs(whole - played(baked))[5, middle].max()


def test_handles_without_a_place_in_the_bake_are_told_and_the_others_act(baked: run.Outcome) -> None:
    outcome = edited(baked, with_edits(pull(), pull(frame=40.0)))
    assert "frame 40 lies outside" in outcome.report["edits"]["left_out"][0]
    assert np.array_equal(played(outcome), played(edited(baked, with_edits(pull()))))
    with Store.open(baked.folder.parent, baked.id) as store:
        same = Edits(handles=(pull(),), mesh=store.manifest.topology)
    settings = Settings(resolution=8, jiggle=2.0)
    kept = edited(baked, settings.replace({"edits": same.to_text()}))
    assert np.array_equal(played(kept), played(edited(baked, with_edits(pull()))))
    other = edited(baked, settings.replace({"edits": dataclasses.replace(same, mesh="another").to_text()}))
    assert "other faces" in other.report["edits"]["left_out"][0]
    assert "1 handle does not act: clear it" in other.report["edits"]["left_out"][0]
    assert np.array_equal(played(other), played(baked))


def test_a_followed_vertex_is_refused_until_it_is_freed(baked: run.Outcome) -> None:
    root = int(np.argmin(REST[:, 2]))
    held = Handle((root,), AT, (0.1, 0.0, 0.0))
    refused = edited(baked, with_edits(held))
    assert "free it" in refused.report["edits"]["left_out"][0]
    assert told_edits.lines(refused.report["edits"])[0] == "No handle acts"
    assert np.array_equal(played(refused), played(baked))
    moved = played(edited(baked, with_edits(held, free=True))).astype(float) - played(baked)
    assert np.linalg.norm(moved[5, root] - [0.1, 0.0, 0.0]) < 2e-4


def test_stopping_leaves_the_bake_as_it_was(baked: run.Outcome) -> None:
    folders = set(baked.folder.parent.iterdir())

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(Cancelled):
        remake.remake(baked.folder.parent, baked.id, with_edits(pull(0.3, 0.0, 0.0)), progress=stop)
    assert set(baked.folder.parent.iterdir()) == folders


def test_handles_in_conflict_meet_half_way_and_the_rest_is_told(baked: run.Outcome) -> None:
    outcome = edited(baked, with_edits(pull(0.1, 0.0, 0.0), pull(-0.1, 0.0, 0.0)))
    moved = (played(outcome).astype(float) - played(baked))[5, TIP]
    assert np.linalg.norm(moved) < 0.01
    assert outcome.report["edits"]["missed"] == pytest.approx(0.1, abs=0.01)
    other = int(np.argsort(np.linalg.norm(REST - REST[TIP], axis=1))[1])
    against = edited(baked, with_edits(pull(0.1, 0.0, 0.0), Handle((other,), AT, (-0.1, 0.0, 0.0)), pull(frame=9.0)))
    (told,) = against.report["edits"]["left_out"]
    assert told.startswith(f"Vertex {TIP} on frame 6 and vertex {other} on frame 6 are pulled against each other")


def test_contacts_that_are_kept_with_nothing_around_are_told(baked: run.Outcome) -> None:
    for floor, is_told in ((None, True), (-1.0, False)):
        outcome = edited(baked, with_edits(pull(0.02, 0.0, 0.0), contacts="above", floor=floor))
        assert any("There is no floor" in one for one in outcome.report["edits"]["left_out"]) == is_told


def test_an_edit_without_a_simulation_is_told_without_lines_of_one(tmp_path: Path) -> None:
    shot = dataclasses.replace(make_shot(), painted=FleshPaint(np.ones(len(REST))))
    shot = dataclasses.replace(shot, settings=shot.settings.replace({"simulate": False}))
    told = " ".join(lines(run.bake(shot, samples(), tmp_path).report))
    assert "fit error" in told and "followed vertices" not in told and "weights" not in told


def test_shares_are_told_without_exponents() -> None:
    for share, told in ((1.3, "130 %"), (0.1, "10 %"), (0.0123, "1.2 %"), (1e-4, "0.01 %"), (1e-9, "under 0.001 %")):
        assert told_edits.percent(share) == told
    report = {"handles": 1, "baked_in": 0, "left_out": [], "missed_relative": 12.3}
    assert told_edits.lines(report) == ["Edited by 1 handle: the farthest misses by 1230 % of size"]


def test_a_huge_pull_is_approached_stays_finite_and_tells_what_it_folds(baked: run.Outcome) -> None:
    outcome = edited(baked, with_edits(pull(0.0, 8.0, -8.0)))
    assert np.isfinite(played(outcome)).all() and np.abs(played(outcome)).max() < 10.0
    assert outcome.report["edits"]["missed_relative"] > 5.0
    folds = edited(baked, with_edits(pull(0.0, 0.3, -1.2)))
    assert any("inside out" in line for line in folds.report["edits"]["left_out"])
    small = edited(baked, with_edits(pull(0.05, 0.0, 0.0)))
    assert small.report["edits"]["left_out"] == []


def test_a_body_that_follows_everywhere_says_that_there_is_nothing_to_pull(tmp_path: Path) -> None:
    shot = dataclasses.replace(make_shot(), painted=FleshPaint(np.ones(len(REST))))
    whole = run.bake(shot, samples(), tmp_path)
    outcome = edited(whole, with_edits(pull()))
    assert outcome.report["edits"]["left_out"] and np.array_equal(played(outcome), played(whole))


def test_a_handle_told_in_other_axes_pulls_to_the_same_place(baked: run.Outcome) -> None:
    world = played(edited(baked, with_edits(pull())))
    with Store.open(baked.folder.parent, baked.id) as store:
        shot = remake.stored_shot(store, with_edits(pull()))
        layer = remake.results_of(store, shot).shown.edited(store)  # type: ignore[attr-defined]
        told = {axes: layer.in_axes(pull(), axes) for axes in ("world", "body", "place")}
        back = layer.in_axes(told["body"], "place")
    assert told["world"] == pull() and back.by == pytest.approx(told["place"].by, abs=1e-9)
    assert np.linalg.norm(np.subtract(told["body"].by, pull().by)) > 0.02, "the body is turned there"
    for handle in told.values():
        assert np.abs(played(edited(baked, with_edits(handle))) - world).max() < 1e-5


def test_contacts_with_a_floor_are_kept_by_a_bake_and_told(baked: run.Outcome) -> None:
    floor = float(played(baked)[:, :, 2].min())
    far = Handle((TIP,), AT, (0.0, 0.1, -0.9))
    sunk, kept = (edited(baked, with_edits(far, free=True, contacts=kind, floor=floor)) for kind in ("", "above"))
    assert played(sunk)[:, :, 2].min() < floor - 0.02
    assert played(kept)[:, :, 2].min() > floor - 0.01
    assert kept.report["edits"]["contact_rows"] > 0 and sunk.report["edits"]["contact_rows"] == 0


def test_a_pull_of_one_end_of_a_ring_into_the_other_is_told_and_pushes_it_if_contacts_are_kept(tmp_path: Path) -> None:
    flat, triangles = box_surface((24, 4, 4), (2.4, 0.3, 0.3))
    angle, radius = flat[:, 0] * 2.3, 0.5 + flat[:, 1]
    rest = np.stack([radius * np.cos(angle), radius * np.sin(angle), flat[:, 2]], 1)
    settings = Settings(resolution=16, simulate=False)
    shot = shots.make_shot(rest, triangles, (np.abs(angle - 2.76) < 0.3).astype(float), COUNT, settings=settings)
    ring = run.bake(shot, (Sample(f, rest.astype(np.float32), np.eye(4), 1.0) for f in range(COUNT)), tmp_path)
    end = int(np.argmin(np.linalg.norm(flat - [2.4, 0.15, 0.15], axis=1)))

    def pulled(contacts: str) -> run.Outcome:
        edits = Edits(handles=(Handle((end,), AT, (0.1, 0.5, 0.0)),), contacts=contacts)
        return edited(ring, settings.replace({"edits": edits.to_text()}))

    free, kept = pulled(""), pulled("above")
    assert any("into each other: choose Stay Out" in line for line in free.report["edits"]["left_out"])
    assert kept.report["edits"]["contact_rows"] > 0 and kept.report["edits"]["missed_relative"] < 1e-3
    surfaces = [played(one)[5].astype(float) for one in (free, kept)]
    inside = [len(find_entered(rest, one, rest, triangles, 3.0).vertices) for one in surfaces]
    assert inside[1] < 0.2 * inside[0]
    other = flat[:, 0] < 1e-9
    assert np.linalg.norm(surfaces[1] - surfaces[0], axis=1)[other].min() > 0.05, "the other end is pushed away"
