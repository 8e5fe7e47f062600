"""Balance after the bake: exact ends, no simulation, no look at the scene, no bake that is half old and half new."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shots
from bodies import box_surface, rotation
from sinew.core.bake import remake, run
from sinew.core.bake.before import check_inputs
from sinew.core.bake.shot import Carried, Passenger, Sample, Shot
from sinew.core.bake.store import Store
from sinew.core.base.errors import BadInput, Cancelled, StoreError
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.painted import Masks
from sinew.core.flesh.settings import Settings
from sinew.core.paint.parts import Parts
from sinew.core.paint.regions import Regions

COUNT = 10
REST, TRIANGLES = box_surface((3, 3, 9), (0.3, 0.3, 1.0))
FOLLOW = (REST[:, 2] < 0.15).astype(float)
HAT = Passenger("Hat", REST[-9:] + [0, 0, 0.05], REST[-9:] + [0, 0, 0.05], np.zeros(9, np.int32), rigid=False)


def pose(index: int) -> Any:
    return rotation((0, 1, 0), 0.7 * np.sin(0.9 * index))


def make_shot(**changes: Any) -> Shot:
    given = {"settings": Settings(resolution=8, jiggle=2.0), "passengers": (HAT,)}
    return shots.make_shot(REST, TRIANGLES, FOLLOW, COUNT, **{**given, **changes})


def samples() -> Iterator[Sample]:
    for index in range(COUNT):
        turn = pose(index)
        carried = Carried((HAT.rest @ turn.T).astype(np.float32), np.eye(4))
        yield Sample(index, (REST @ turn.T).astype(np.float32), np.eye(4), 1.0, (carried,))


@pytest.fixture(scope="module")
def baked(tmp_path_factory: Any) -> run.Outcome:
    return run.bake(make_shot(), samples(), tmp_path_factory.mktemp("bakes"))


def with_after(value: float, **others: Any) -> Settings:
    return Settings(resolution=8, jiggle=2.0, follow_after=value, **others)


def played(outcome: run.Outcome, name: str = "result") -> Any:
    with Store.open(outcome.folder.parent, outcome.id) as store:
        return np.array([store.read_result(index, name) for index in range(COUNT)])


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != "lock"}


def test_fully_drawn_back_is_the_input_and_half_way_lies_between(baked: run.Outcome) -> None:
    root = baked.folder.parent
    full = remake.remake(root, baked.id, with_after(1.0))
    for name, given in (("result", [s.positions for s in samples()]),
                        ("passenger_0", [s.carried[0].positions for s in samples()])):  # fmt: skip
        assert np.array_equal(played(full, name), np.array(given)), name
        assert np.abs(played(baked, name) - given).max() > 0.01, "the simulation must be seen"
        half = played(remake.remake(root, baked.id, with_after(0.5)), name)
        before, now = (np.linalg.norm(result - given, axis=2).max() for result in (played(baked, name), half))
        assert 0.3 * before < now < 0.7 * before
    assert full.report["added_motion"]["max"] < 1e-6 < baked.report["added_motion"]["max"]


def test_it_is_what_a_bake_with_these_settings_makes_and_can_be_undone(baked: run.Outcome, tmp_path: Any) -> None:
    weights = np.clip(REST[:, 2], 0.0, 1.0)
    anew = run.bake(make_shot(settings=with_after(0.7), masks=Masks(after=weights)), samples(), tmp_path)
    again = remake.remake(baked.folder.parent, baked.id, with_after(0.7), Masks(after=weights))
    for name in ("result", "passenger_0"):
        assert np.array_equal(played(anew, name), played(again, name))
    with Store.open(again.folder.parent, again.id) as store:
        shot = make_shot(settings=with_after(0.7), masks=Masks(after=weights))
        assert check_inputs(store, shot, samples()) is None
        assert check_inputs(store, make_shot(), samples()) == (0, "amount")
    back = remake.remake(again.folder.parent, again.id, with_after(0.0))
    assert np.array_equal(played(back), played(baked))


def test_painted_weights_count_and_move_only_what_they_mark(baked: run.Outcome) -> None:
    upper = (REST[:, 2] > 0.7).astype(float)
    result = played(remake.remake(baked.folder.parent, baked.id, with_after(1.0), Masks(after=upper)))
    moved = np.linalg.norm(result - played(baked), axis=2).max(axis=0)
    assert moved[REST[:, 2] > 0.9].max() > 0.01
    assert moved[REST[:, 2] < 0.15].max() < 1e-6


def test_neither_the_old_bake_nor_what_the_two_share_is_written_to(baked: run.Outcome) -> None:
    before = contents(baked.folder)
    again = remake.remake(baked.folder.parent, baked.id, with_after(0.4))
    shared = {path.name for path in again.folder.iterdir() if os.stat(path).st_nlink > 1}
    assert {"input.f32", "simulated.f64", "fitted.f64", "velocity.f64"} <= shared and "result.pc2" not in shared
    with Store.open(again.folder.parent, again.id, writable=True) as store:
        store.write("simulated", 3, np.zeros_like(store.read("simulated", 3)))
        assert not store.read("simulated", 3).any()
    assert contents(baked.folder) == before


def test_a_disk_without_hard_links_gets_copies(baked: run.Outcome, monkeypatch: Any) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "no links here")

    expected = played(remake.remake(baked.folder.parent, baked.id, with_after(0.6)))
    monkeypatch.setattr(os, "link", refuse)
    again = remake.remake(baked.folder.parent, baked.id, with_after(0.6))
    assert np.array_equal(played(again), expected)
    assert all(os.stat(path).st_nlink == 1 for path in again.folder.iterdir())


def test_stopping_leaves_the_bake_as_it_was_and_no_folder(baked: run.Outcome) -> None:
    def stop(stage: str, done: int, total: int, left: float) -> None:
        if done == 4:
            raise KeyboardInterrupt

    before, folders = contents(baked.folder), set(baked.folder.parent.iterdir())
    with pytest.raises(Cancelled):
        remake.remake(baked.folder.parent, baked.id, with_after(0.3), progress=stop)
    assert set(baked.folder.parent.iterdir()) == folders
    assert contents(baked.folder) == before


def test_after_a_kill_every_frame_is_old_or_new_and_whole_and_a_bake_finishes_it(baked: run.Outcome) -> None:
    root = baked.folder.parent
    shot = dataclasses.replace(make_shot(settings=with_after(0.3)), owner_setup="killed")
    with Store.open(root, baked.id) as old:
        store = Store.fork(root, old, owner_setup="killed")
        results = dataclasses.replace(remake.results_of(old, shot), store=store)
        for index in range(4):
            mark = store.marks[index]
            assert mark is not None
            results.write(index, "new", mark.numbers)
        store.close()  # as a kill would
    with Store.open(root, store.manifest.id) as left:
        assert not left.manifest.complete
        assert [mark is not None and mark.result == "new" for mark in left.marks] == [True] * 4 + [False] * 6
        assert all(mark is not None and mark.data == left.digest(i) for i, mark in enumerate(left.marks))
    finished = run.bake(shot, samples(), root)
    assert finished.id == store.manifest.id and finished.report["computed"] == 0
    assert np.array_equal(played(finished), played(remake.remake(root, baked.id, with_after(0.3))))


def test_damaged_and_unfinished_bakes_are_refused(baked: run.Outcome) -> None:
    root = baked.folder.parent
    with Store.open(root, baked.id) as old, Store.fork(root, old) as store:
        store.write("simulated", 5, store.read("simulated", 4))
        store.complete(old.manifest.report)
        damaged = store.manifest.id
    with pytest.raises(StoreError, match="damaged at sample 5"):
        remake.remake(root, damaged, with_after(0.3))
    with Store.open(root, baked.id) as old, Store.fork(root, old) as store:
        unfinished = store.manifest.id
    with pytest.raises(StoreError, match="not complete"):
        remake.remake(root, unfinished, with_after(0.3))
    with pytest.raises(BadInput, match="between 0"):
        remake.remake(root, baked.id, with_after(0.3), Masks(after=np.full(len(REST), 2.0)))


def test_what_has_not_changed_is_not_made_again(baked: run.Outcome) -> None:
    assert remake.remake(baked.folder.parent, baked.id, with_after(0.0)).unchanged
    once = remake.remake(baked.folder.parent, baked.id, with_after(0.2))
    assert not once.unchanged and remake.remake(once.folder.parent, once.id, with_after(0.2)).unchanged


def test_amount_and_maximum_offset_act_on_what_is_drawn_back() -> None:
    frames = [REST @ pose(index).T for index in range(6)]
    plain, half = (Enricher(REST, TRIANGLES, FOLLOW, with_after(value, maximum_offset=0.01)) for value in (0.0, 0.5))
    fits = [plain.fit(frames[0]).positions]
    for frame in frames[1:]:
        fits.append(plain.fit(frame, fits[-1]).positions)
    state = plain.begin(fits[0], fits[1])
    for index in range(5):
        after = fits[index + 2] if index < 4 else None
        state, _ = plain.advance(state, (fits[index - 1] if index else None, fits[index], fits[index + 1], after))
    assert np.array_equal(half.moved(fits[5], state.positions, 0.0), fits[5])
    offset = np.linalg.norm(half.moved(fits[5], state.positions, 2.0) - fits[5], axis=1)
    assert 0.005 < offset.max() < 0.0101 * half.size


def test_tracked_and_rigid_parts_lie_in_the_folder_too(tmp_path: Path) -> None:
    parts = Parts(REST[:, 2] < 0.9, np.where(REST[:, 2] < 0.2, 0, -1).astype(np.int32))
    root = tmp_path / "bakes"
    plain = run.bake(make_shot(parts=parts, settings=with_after(0.0)), samples(), root)
    anew = run.bake(make_shot(parts=parts, settings=with_after(0.6)), samples(), tmp_path / "anew")
    again = remake.remake(root, plain.id, with_after(0.6))
    assert np.array_equal(played(anew), played(again))
    assert not np.array_equal(played(plain), played(again))


def test_a_frame_that_comes_again_while_a_slider_moves_has_the_bits_of_a_new_one(baked: run.Outcome) -> None:
    with Store.open(baked.folder.parent, baked.id) as store:

        def made(results: Any, index: int, strength: float) -> Any:
            results.show(with_after(strength))
            return results.made(index)[0]

        def new_results() -> Any:
            return remake.results_of(store, remake.stored_shot(store, with_after(0.5), None))

        results = new_results()
        for index, strength in ((4, 0.2), (4, 0.5), (4, 0.8), (5, 0.8), (5, 0.3), (4, 0.3)):
            assert np.array_equal(made(results, index, strength), made(new_results(), index, strength))


def test_the_way_back_from_the_world_is_exact_for_any_object() -> None:
    from sinew.core.geometry.place import inverse, placed

    random = np.random.default_rng(3)
    points = random.normal(size=(20, 3))
    for _ in range(100):
        matrix = np.eye(4)
        matrix[:3] = random.normal(size=(3, 4))
        if np.linalg.cond(matrix) < 100.0:
            back = placed(inverse(matrix), placed(matrix, points))
            assert np.abs(back - points).max() < 1e-11
    assert np.isnan(inverse(np.diag([1.0, 1.0, 0.0, 1.0]))).any()


def test_the_core_of_a_limb_stays_on_the_input_after_the_bake_too(tmp_path: Path) -> None:
    """Also when the results are made anew from the folder alone."""
    bones = np.array([[0.15, 0.15, 0.2, 0.15, 0.15, 0.9, 0.12]])
    shot = make_shot(regions=Regions(bones=bones))
    outcome = run.bake(shot, samples(), tmp_path)
    anew = remake.remake(tmp_path, outcome.id, with_after(0.5))
    with Store.open(tmp_path, anew.id) as store:
        stored = remake.stored_shot(store, with_after(0.5), None)
        results = remake.results_of(store, stored)
        core = ~np.isnan(store.constant("cage_follow"))
        moved = 0.0
        for index in range(COUNT):
            fitted, simulated = store.read("fitted", index), store.read("simulated", index)
            balanced = results.shown.shown.balanced(fitted, simulated)
            assert core.sum() > 3 and np.array_equal(balanced[core], fitted[core])
            moved = max(moved, float(np.abs(balanced - simulated).max()))
    assert moved > 1e-3
