"""Methods: what a fake one of a few lines gets from the machinery of a bake, alone and in a group with flesh."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fake_engine
import fake_method
import numpy as np
import pytest
from fake_method import TrailEngine, TrailPaint, trail
from sinew.core.bake import folders, method, remake, run
from sinew.core.bake.before import Member
from sinew.core.bake.job import Job, Plan
from sinew.core.bake.report import lines, told
from sinew.core.bake.settings import BakeSettings
from sinew.core.bake.shot import Sample, stored_sample
from sinew.core.bake.spool import Given, Spool
from sinew.core.bake.store import Store
from sinew.core.base.errors import BadInput, Cancelled, OutOfMemory, StoreError
from sinew.core.base.settings import setting
from sinew.core.flesh.settings import Settings
from test_bake import COUNT, PASSENGER, make_shot, samples, with_passenger


@pytest.fixture(autouse=True)
def engine(monkeypatch: Any) -> type[fake_engine.FakeEnricher]:
    monkeypatch.setattr(TrailEngine, "steps", 0)
    return fake_engine.install(monkeypatch)


@pytest.fixture
def made() -> Iterator[method.Method]:
    with fake_method.registered(Settings) as registered:
        yield registered


def expected(amount: float = 1.0) -> Iterator[Any]:
    """The body by hand."""
    state: Any = None
    tired: Any = 0.0
    for sample in samples():
        placed = sample.positions.astype(float) @ sample.matrix[:3, :3].T + sample.matrix[:3, 3]
        state = placed if state is None else state
        tired = np.maximum(tired, 0.1 * np.linalg.norm(placed - state, axis=1, keepdims=True))
        state = state + 0.5 / (1.0 + tired) * (placed - state)
        shown = placed + amount * (state - placed).mean(axis=0)
        yield (shown - sample.matrix[:3, 3]) @ np.linalg.inv(sample.matrix[:3, :3]).T


def check(outcome: run.Outcome, amount: float = 1.0) -> None:
    with Store.open(outcome.folder.parent, outcome.id) as store:
        assert store.manifest.method == "trail"
        for index, shape in enumerate(expected(amount)):
            assert np.abs(store.read_result(index) - shape).max() < 1e-5


def test_a_method_of_a_few_lines_bakes_reports_and_continues(tmp_path: Path, made: method.Method) -> None:
    shot = trail(make_shot(), made)
    outcome = run.bake(shot, samples(), tmp_path)
    check(outcome)
    assert outcome.report["method"] == "trail" and outcome.report["trail"] > 0.0
    assert not any(word in "\n".join(lines(outcome.report)) for word in ("cage", "followed"))
    assert lines(outcome.report)[0].endswith("one trail") and "note: It trails." in lines(outcome.report)
    assert told(outcome.report)
    assert run.bake(shot, samples(), tmp_path, previous=outcome.id).unchanged
    TrailEngine.steps = 0
    changed = run.bake(shot, samples(changed=COUNT - 1), tmp_path, previous=outcome.id)
    assert TrailEngine.steps == 1 and changed.id != outcome.id


def blown(changed: int = -1) -> Iterator[Sample]:
    for sample in samples():
        breeze = np.array([[0.01 * sample.index, 0.0, 0.02 * (sample.index == changed)]])
        yield dataclasses.replace(sample, read={"breeze": breeze})


def test_what_it_paints_and_reads_on_every_frame_goes_its_own_way(tmp_path: Path, made: method.Method) -> None:
    """Machinery carries both, without a word of what they are."""
    lazy = np.linspace(0.0, 1.0, 40)
    shot = dataclasses.replace(trail(make_shot(), made), painted=TrailPaint(lazy, blows=True), reads=True)
    outcome = run.bake(shot, blown(), tmp_path)
    with Store.open(tmp_path, outcome.id) as store:
        assert store.own_inputs == ("breeze",) and np.array_equal(store.constant("lazy"), lazy)
        given = [store.read("breeze", index)[0, 0] for index in range(COUNT)]
        assert np.allclose(given, 0.01 * np.arange(COUNT), atol=0.0)
        trails = store.read("trail", COUNT - 1) - store.read("placed", COUNT - 1)
        assert np.linalg.norm(trails, axis=1)[-1] > 2.0 * np.linalg.norm(trails, axis=1)[0]  # the laziest is behind
        again = stored_sample(store, 5)
    assert np.array_equal(again.read["breeze"], [[0.05, 0.0, 0.0]])
    assert run.bake(shot, blown(), tmp_path, previous=outcome.id).unchanged
    TrailEngine.steps = 0
    run.bake(shot, blown(changed=COUNT - 2), tmp_path, previous=outcome.id)
    assert TrailEngine.steps == 2  # from the frame on which the breeze is another
    other = dataclasses.replace(shot, painted=TrailPaint(0.5 * lazy, blows=True))
    assert other.identity() != shot.identity()
    TrailEngine.steps = 0
    half = remake.remake(tmp_path, outcome.id, Settings(amount=0.5))
    assert TrailEngine.steps == 0 and not half.unchanged
    with Store.open(tmp_path, half.id) as store:
        assert np.array_equal(remake.stored_shot(store, Settings()).painted.lazy, lazy)


def test_what_it_reads_waits_on_the_disk_as_the_frames_do(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    for sample in blown():
        spool.put(sample)
    spool.end()
    for sample, expected in zip(spool, blown(), strict=True):
        assert np.array_equal(sample.read["breeze"], expected.read["breeze"])
        assert np.array_equal(sample.positions, expected.positions)
    spool.close()


def test_its_results_are_made_anew_without_a_simulation(tmp_path: Path, made: method.Method) -> None:
    outcome = run.bake(trail(make_shot(), made), samples(), tmp_path)
    TrailEngine.steps = 0
    half = remake.remake(tmp_path, outcome.id, Settings(amount=0.5))
    assert TrailEngine.steps == 0
    check(half, 0.5)


def test_it_carries_passengers(tmp_path: Path, made: method.Method) -> None:
    shot = trail(make_shot(passengers=(PASSENGER,)), made)
    outcome = run.bake(shot, with_passenger(samples()), tmp_path)
    check(outcome)
    assert (outcome.folder / "passenger_0.pc2").is_file()


def test_a_bake_of_a_method_that_is_not_known_is_refused_in_a_sentence(tmp_path: Path) -> None:
    with fake_method.registered(Settings) as made:
        outcome = run.bake(trail(make_shot(), made), samples(), tmp_path)
    with pytest.raises(StoreError, match='no method "trail"'):
        Store.open(tmp_path, outcome.id)
    with pytest.raises(BadInput, match="there are enrich"):
        method.find("trail")
    assert folders.read_manifest(tmp_path, outcome.id) is not None  # what it is can still be told


def test_two_methods_never_take_over_from_each_other(tmp_path: Path, made: method.Method) -> None:
    flesh = run.bake(make_shot(), samples(), tmp_path)
    other = run.bake(trail(make_shot(), made), samples(), tmp_path, previous=flesh.id)
    assert TrailEngine.steps == COUNT and other.id != flesh.id


def test_two_methods_that_declare_one_setting_differently_are_refused() -> None:
    @dataclasses.dataclass(frozen=True)
    class Other(BakeSettings):
        jiggle: float = setting(1.0, "Something else")

    with pytest.raises(BadInput, match='enrich and trail declare the setting "jiggle" differently'):
        method.register(fake_method.make(Other))
    assert "trail" not in [one.name for one in method.known()]


def test_what_is_said_when_it_is_stopped_or_lacks_memory_is_not_of_flesh(tmp_path: Path, made: method.Method) -> None:
    def bake(error: type[BaseException]) -> None:
        def fail(shot: Any, store: Any, monitor: Any) -> Any:
            raise error

        shot = trail(make_shot(), dataclasses.replace(made, engine=fail))
        run.bake(shot, samples(), tmp_path)

    with pytest.raises(Cancelled, match="Stopped before the first frame"):
        bake(KeyboardInterrupt)
    with pytest.raises(OutOfMemory, match="close other programs and bake again"):
        bake(MemoryError)


def test_it_takes_over_all_but_what_has_looked_past_the_end(tmp_path: Path, made: method.Method) -> None:
    first = run.bake(trail(make_shot(), made), samples(), tmp_path)
    TrailEngine.steps = 0
    shorter = trail(make_shot(samples=COUNT - 1, frame_end=COUNT - 1), made)
    run.bake(shorter, samples(COUNT - 1), tmp_path, previous=first.id)
    assert TrailEngine.steps == 0  # it looks at no sample after its own


def group(made: method.Method) -> list[Plan]:
    flesh, trailing = make_shot(owner_setup="flesh"), make_shot(owner_setup="trail")
    return [Plan(flesh), Plan(trail(trailing, made))]


def alone(plans: list[Plan], root: Path) -> list[bytes]:
    return [(run.bake(plan.shot, samples(), root).folder / "result.pc2").read_bytes() for plan in plans]


def job_of(plans: list[Plan], tmp_path: Path) -> Job:
    job = Job(plans, tmp_path / "sinew", tmp_path)
    for sample in samples():
        for member in range(len(plans)):
            job.put(sample, member)
    job.end_of_samples()
    assert job.wait(20.0)
    return job


def test_a_job_over_a_group_of_two_methods_keeps_the_results_of_each(tmp_path: Path, made: method.Method) -> None:
    job = job_of(group(made), tmp_path)
    outcomes = job.result()
    assert [outcome.report["method"] for outcome in outcomes] == ["enrich", "trail"]
    assert [ready and ready[0] for ready in job.ready] == [outcome.id for outcome in outcomes]
    assert job.progress[:3] == ("Baking", 2 * COUNT, 2 * COUNT)
    played = [(outcome.folder / "result.pc2").read_bytes() for outcome in outcomes]
    assert played == alone(group(made), tmp_path / "alone")


def test_a_group_goes_on_side_by_side(tmp_path: Path, made: method.Method, engine: Any, monkeypatch: Any) -> None:
    apart: list[int] = []
    monkeypatch.setattr(TrailEngine, "on_step", staticmethod(lambda: apart.append(engine.steps - TrailEngine.steps)))
    job_of(group(made), tmp_path).result()
    assert len(apart) == COUNT and max(abs(one) for one in apart) <= 2


@pytest.mark.parametrize("stop", [1, 5, 2 * COUNT - 1])
def test_an_interrupted_group_is_continued_and_has_the_same_bits(
    tmp_path: Path, made: method.Method, engine: Any, stop: int
) -> None:
    def strike(stage: str, done: int, total: int, left: float) -> None:
        if stage == "Baking" and done >= stop:
            raise KeyboardInterrupt

    def members() -> list[Member]:
        return [Member(plan.shot, Given(samples())) for plan in group(made)]

    root = tmp_path / "sinew"
    with pytest.raises(Cancelled, match="kept"), pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "_OFTEN", 0.0)
        run.bake_group(members(), root, progress=strike)
    outcomes = run.bake_group(members(), root)
    assert engine.steps + TrailEngine.steps <= 2 * COUNT + 2  # what was finished is not computed again
    assert len(list(root.iterdir())) == 2
    played = [(outcome.folder / "result.pc2").read_bytes() for outcome in outcomes]
    assert played == alone(group(made), tmp_path / "alone")
