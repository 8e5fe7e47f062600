"""Setups that share a world: simulated together as its bodies, each with its own results, continued together."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from bodies import box_surface
from fake_method import registered, trail
from shots import make_shot
from sinew.core.bake import folders, method, run
from sinew.core.bake.before import Member
from sinew.core.bake.clock import Clock
from sinew.core.bake.company import Company
from sinew.core.bake.method import Method
from sinew.core.bake.numbers import Numbers
from sinew.core.bake.shot import Sample, Shot
from sinew.core.bake.spool import Given
from sinew.core.bake.store import Store
from sinew.core.bake.worker import Worker
from sinew.core.base.errors import BadInput, Cancelled
from sinew.core.base.native import module
from sinew.core.flesh.settings import Settings

pytestmark = pytest.mark.once

COUNT = 10
REST, TRIANGLES = box_surface((10, 3, 3), (1.0, 0.3, 0.3))
FOLLOW = np.where(REST[:, 0] < 0.25, 1.0, 0.0)


def shot_of(name: str, count: int = COUNT, jiggle: float = 3.0, **changes: Any) -> Shot:
    settings = Settings(resolution=8, jiggle=jiggle, substeps=3)
    return make_shot(REST, TRIANGLES, FOLLOW, count, owner_setup=name, owner_object=name, settings=settings, **changes)


def samples(shift: float, count: int = COUNT, bump: int = -1) -> Iterator[Sample]:
    """A bar that is shaken; on frame `bump` a little farther."""
    for k in range(count):
        way = np.array([0.0, 0.1 * np.sin(0.9 * k + shift), shift + 0.05 * np.cos(0.7 * k) + 0.02 * (k == bump)])
        yield Sample(k, (REST + way).astype(np.float32), np.eye(4))


def company(world: str = "one", bump: int = -1, previous: tuple[str, str] = ("", "")) -> list[Member]:
    return [
        Member(shot_of("left"), Given(samples(0.0)), previous[0], world=world),
        Member(shot_of("right", jiggle=5.0), Given(samples(0.5, bump=bump)), previous[1], world=world),
    ]


def played(outcome: run.Outcome) -> Any:
    with Store.open(outcome.folder.parent, outcome.id) as store:
        return np.array([store.read("simulated", k) for k in range(COUNT)])


@pytest.fixture
def joint_moves(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many simulations each ensemble has."""
    sizes: list[int] = []

    def made(simulations: list[Any]) -> Any:
        sizes.append(len(simulations))
        return module.Ensemble(simulations)

    monkeypatch.setattr("sinew.core.bake.move.make_ensemble", made)
    return sizes


def test_together_each_moves_as_it_does_alone_while_nothing_joins_them(tmp_path: Path, joint_moves: list[int]) -> None:
    together = [played(one) for one in run.bake_group(company(), tmp_path / "together")]
    assert joint_moves == [2]
    alone = [played(one) for one in run.bake_group(company(world=""), tmp_path / "alone")]
    assert joint_moves == [2]
    for one, other in zip(together, alone, strict=True):
        assert np.abs(one - other).max() < 2e-4  # a step ends within 1e-5 of its minimum, over thirty of them
        assert np.abs(one - one.mean(axis=1, keepdims=True) - (one[0] - one[0].mean(axis=0))).max() > 0.01


@pytest.mark.parametrize("stop", [1, 7, 2 * COUNT - 1])
def test_an_interrupted_company_goes_on_with_the_same_bits(tmp_path: Path, stop: int) -> None:
    def strike(stage: str, done: int, total: int, left: float) -> None:
        if stage == "Baking" and done >= stop:
            raise KeyboardInterrupt

    whole = [played(one) for one in run.bake_group(company(), tmp_path / "whole")]
    with pytest.raises(Cancelled, match="kept"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "_OFTEN", 0.0)
        run.bake_group(company(), tmp_path / "parts", progress=strike)
    outcomes = run.bake_group(company(), tmp_path / "parts")
    assert len(list((tmp_path / "parts").iterdir())) == 2
    assert all(np.array_equal(played(one), other) for one, other in zip(outcomes, whole, strict=True))


def test_a_kill_between_two_marks_of_a_sample_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    whole = [played(one) for one in run.bake_group(company(), tmp_path / "whole")]
    finish = run.Worker.finish

    def killed(self: Any, numbers: Any) -> None:
        if self.computes == 5 and self.shot.owner_setup == "right":
            raise Cancelled("Stopped")
        finish(self, numbers)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Cancelled):
        patch.setattr(run.Worker, "finish", killed)
        run.bake_group(company(), tmp_path / "parts")
    outcomes = run.bake_group(company(), tmp_path / "parts")
    assert all(np.array_equal(played(one), other) for one, other in zip(outcomes, whole, strict=True))


def test_what_is_unchanged_stays_and_what_changes_of_one_is_computed_for_all(tmp_path: Path) -> None:
    first = run.bake_group(company(), tmp_path)
    previous = (first[0].id, first[1].id)
    again = run.bake_group(company(previous=previous), tmp_path)
    assert [one.unchanged for one in again] == [True, True] and [one.id for one in again] == [*previous]
    bumped = run.bake_group(company(bump=6, previous=previous), tmp_path)
    assert [one.unchanged for one in bumped] == [False, False]
    fresh = run.bake_group(company(bump=6), tmp_path / "fresh")
    for one, other, before in zip(bumped, fresh, first, strict=True):
        assert np.array_equal(played(one), played(other))
        assert np.array_equal(played(one)[:4], played(before)[:4])


def test_a_bake_is_not_kept_beside_another_bake_of_its_companion(tmp_path: Path) -> None:
    first = run.bake_group(company(), tmp_path)
    second = run.bake_group(company(bump=6, previous=(first[0].id, first[1].id)), tmp_path)
    moved = tmp_path / "moved"  # where only these two lie, as after an undo
    for outcome in (first[0], second[1]):
        folders.copy(tmp_path, outcome.id, moved, "shot.blend")
    mixed = run.bake_group(company(bump=6, previous=(first[0].id, second[1].id)), moved)
    assert [one.unchanged for one in mixed] == [False, False]
    for one, other in zip(mixed, second, strict=True):
        assert np.array_equal(played(one), played(other))
    made = [folders.read_manifest(moved, one.id) for one in mixed]
    assert made[0] and made[1] and made[0].together == made[1].together != ""
    # Where all of them lie, those that were made together are found.
    again = run.bake_group(company(bump=6, previous=(first[0].id, second[1].id)), tmp_path)
    assert all(np.array_equal(played(one), played(other)) for one, other in zip(again, second, strict=True))


@pytest.mark.parametrize("gone", [0, 1])
def test_an_interrupted_bake_does_not_go_on_without_that_of_its_companion(tmp_path: Path, gone: int) -> None:
    def strike(stage: str, done: int, total: int, left: float) -> None:
        if stage == "Baking" and done >= 8:
            raise KeyboardInterrupt

    whole = run.bake_group(company(bump=2), tmp_path / "whole")
    with pytest.raises(Cancelled), pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "_OFTEN", 0.0)
        run.bake_group(company(), tmp_path, progress=strike)
    owner = ("left", "right")[gone]
    for manifest in list(folders.manifests(tmp_path)):
        if manifest.owner_setup == owner:
            assert folders.remove(tmp_path, manifest.id, "shot.blend")
    outcomes = run.bake_group(company(bump=2), tmp_path)
    assert all(np.array_equal(played(one), played(other)) for one, other in zip(outcomes, whole, strict=True))
    assert [one.report["computed"] for one in outcomes] == [COUNT, COUNT]


def test_a_bake_alone_is_not_taken_for_one_in_company(tmp_path: Path) -> None:
    alone = run.bake_group(company(world=""), tmp_path)
    together = run.bake_group(company(previous=(alone[0].id, alone[1].id)), tmp_path)
    assert [one.unchanged for one in together] == [False, False]


def worker_at(index: int, begun: list[int]) -> Worker:
    """One whose engine only says where it begins."""

    def begin(store: Any, first: int, pulse: Any) -> int:
        begun.append(first)
        return first

    engine = SimpleNamespace(begin=begin, move=lambda *_: time.sleep(0.02), advance=lambda *_: Numbers())
    store = SimpleNamespace(done=index, marks=[None] * COUNT, void_from=lambda first: None)
    return Worker(cast(Any, store), shot_of("one"), cast(Any, engine), Clock(), taken=COUNT)


def test_who_goes_back_begins_there_again() -> None:
    begun: list[int] = []
    worker = worker_at(5, begun)
    assert worker.begin() and worker.begin()
    worker.go_back(2)
    assert worker.begin() and begun == [5, 2]


def test_a_company_falls_in_line_when_it_is_told_and_not_when_it_is_asked() -> None:
    one, other = worker_at(5, []), worker_at(3, [])
    together = Company([one, other])
    assert (one.computes, other.computes) == (3, 3)
    other.go_back(1)
    assert together.can_step and one.computes == 3
    together.fall_in_line()
    assert one.computes == 1


def test_joint_seconds_are_shared_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Worker, "finish", lambda worker, numbers: None)
    workers = [worker_at(3, []), worker_at(3, [])]
    for worker in workers:
        monkeypatch.setattr(worker, "_prepared", COUNT)
    start = time.monotonic()
    Company(workers).step()
    elapsed = time.monotonic() - start
    seconds = [worker.clock.seconds["simulation"] for worker in workers]
    assert 0.04 <= sum(seconds) <= elapsed and seconds[0] == seconds[1]


def test_those_that_do_not_fit_together_are_told_before_any_work(tmp_path: Path) -> None:
    longer = Member(shot_of("long", COUNT + 2), Given(samples(0.2, COUNT + 2)), world="one")
    with pytest.raises(BadInput, match='"left" and "long" are simulated together: give them the same frame range'):
        run.bake_group([company()[0], longer], tmp_path)
    looped = dataclasses.replace(company()[1].shot, settings=Settings(resolution=8, loop=True))
    with pytest.raises(BadInput, match="no loop"):
        run.bake_group([company()[0], Member(looped, Given(samples(0.5)), world="one")], tmp_path)
    for change, word in ({"scheme": "implicit_euler"}, "Scheme"), ({"newton_rounds": 4}, "Rounds"):
        other = dataclasses.replace(company()[1].shot, settings=Settings(resolution=8, **change))
        with pytest.raises(BadInput, match=f'"left" and "right" are simulated together: give them the same {word}'):
            run.bake_group([company()[0], Member(other, Given(samples(0.5)), world="one")], tmp_path)
    assert not tmp_path.exists() or not list(tmp_path.iterdir())


def test_a_method_without_native_work_keeps_step_with_one_that_has_it(tmp_path: Path) -> None:
    def members(made: Method, world: str) -> list[Member]:
        flesh, trailing = company(world)
        return [flesh, dataclasses.replace(trailing, shot=trail(trailing.shot, made))]

    with registered(Settings) as made:
        together = run.bake_group(members(made, "one"), tmp_path / "together")
        alone = run.bake_group(members(made, ""), tmp_path / "alone")
        assert [one.report["method"] for one in together] == ["enrich", "trail"]
        for one, other in zip(together, alone, strict=True):
            assert (one.folder / "result.pc2").read_bytes() == (other.folder / "result.pc2").read_bytes()
    assert made.name not in [one.name for one in method.known()]
