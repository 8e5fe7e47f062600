from __future__ import annotations

import dataclasses
import json
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any

import fake_engine
import numpy as np
import pytest
import shots
from sinew.core.bake import pc2, report, run
from sinew.core.bake.shot import Carried, Passenger, Sample, Shot
from sinew.core.bake.store import Store
from sinew.core.base.errors import BadInput, Cancelled, Error
from sinew.core.flesh.settings import Settings
from sinew.core.paint.parts import Parts

COUNT = 12
REST = np.random.default_rng(3).normal(size=(40, 3))


@pytest.fixture(autouse=True)
def engine(monkeypatch) -> type[fake_engine.FakeEnricher]:
    return fake_engine.install(monkeypatch)


def make_shot(**changes: Any) -> Shot:
    given = {"rest": REST, "triangles": np.zeros((1, 3), np.int32), "follow": np.linspace(0, 1, 40), "samples": COUNT}
    return shots.make_shot(**{**given, **changes})


def samples(
    count: int = COUNT, changed: int | None = None, amount: Callable[[int], float] = lambda _: 1.0
) -> Iterator[Sample]:
    for index in range(count):
        positions = (REST + [np.sin(index), 0.1 * index, 0]).astype(np.float32)
        if index == changed:
            positions[0] += 0.25
        matrix = np.diag([2.0, 2.0, 2.0, 1.0])
        matrix[:3, 3] = (index, 0, 0)
        yield Sample(index, positions, matrix, amount(index))


PASSENGER = Passenger("Eye", REST[:7] + 0.5, REST[:7] + 0.5, np.zeros(7, np.int32), rigid=True)


def with_passenger(given: Iterator[Sample], *, late: int = COUNT) -> Iterator[Sample]:
    """The same samples with a passenger; from sample `late` on it is somewhere else."""
    for sample in given:
        positions = (PASSENGER.rest + 0.1 * sample.index + (sample.index >= late)).astype(np.float32)
        yield dataclasses.replace(sample, carried=(Carried(positions, 2.0 * np.eye(4)),))


def passenger_results(outcome: run.Outcome) -> list[Any]:
    with Store.open(outcome.folder.parent, outcome.id) as store:
        return [store.read_result(index, "passenger_0") for index in range(store.manifest.samples)]


def results(outcome: run.Outcome) -> bytes:
    return (outcome.folder / "result.pc2").read_bytes()


def interrupted(count: int) -> Iterator[Sample]:
    """Stops at a sample, which is asked for when all before it is computed: a state looks two samples ahead."""
    before = fake_engine.FakeEnricher.steps
    for sample in samples():
        if sample.index == count:
            assert fake_engine.FakeEnricher.steps - before == max(0, count - 3)
            raise KeyboardInterrupt
        yield sample


def test_the_result_is_the_input_in_local_space_plus_the_added_motion(tmp_path) -> None:
    outcome = run.bake(make_shot(), samples(), tmp_path)
    with open(outcome.folder / "result.pc2", "rb") as file:
        header = pc2.read_header(file, "result")
        assert (header.vertices, header.samples) == (40, COUNT)
        moved = 0.0
        for sample in samples():
            result = pc2.read_slot(file, header, sample.index)
            # The last vertex has weight 1.
            assert np.allclose(result[-1], sample.positions[-1], atol=1e-6)
            moved = max(moved, float(np.abs(result[0] - sample.positions[0]).max()))
        assert moved > 0.01


def test_results_are_those_of_a_plain_loop_without_files(tmp_path) -> None:
    """Counter-test of order and look-ahead."""
    shot = make_shot()
    enricher = fake_engine.FakeEnricher(REST, None, shot.painted.follow, shot.settings, 24.0, gravity=None, cage=None)
    worlds, fitted = [], []
    for sample in samples():
        worlds.append(sample.positions.astype(float) @ sample.matrix[:3, :3].T + sample.matrix[:3, 3])
        fitted.append(enricher.fit(worlds[-1], fitted[-1] if fitted else None).positions)
    state = enricher.begin(fitted[0], fitted[1])
    states = [state]
    for i in range(COUNT - 1):
        window = (fitted[i - 1] if i else None, fitted[i], fitted[i + 1], fitted[i + 2] if i + 2 < COUNT else None)
        state, _ = enricher.advance(state, window)
        states.append(state)
    outcome = run.bake(shot, samples(), tmp_path)
    with Store.open(tmp_path, outcome.id) as store:
        for i in range(COUNT):
            assert np.array_equal(store.read("fitted", i), fitted[i])
            assert np.array_equal(store.read("simulated", i), states[i].positions)
            assert np.array_equal(store.read("velocity", i), states[i].velocities)


@pytest.mark.parametrize("stop", [0, 1, 2, 3, 7, COUNT - 1])
def test_an_interrupted_bake_goes_on_with_the_same_bits(tmp_path, engine, stop: int) -> None:
    whole = run.bake(make_shot(), samples(), tmp_path / "whole")
    with pytest.raises(Cancelled, match="kept"):
        run.bake(make_shot(), interrupted(stop), tmp_path / "cut")
    engine.fits = 0
    resumed = run.bake(make_shot(), samples(), tmp_path / "cut")
    assert results(resumed) == results(whole)
    assert (resumed.folder / "simulated.f64").read_bytes() == (whole.folder / "simulated.f64").read_bytes()
    assert len(os.listdir(tmp_path / "cut")) == 1


def test_finished_frames_are_not_computed_again(tmp_path, engine) -> None:
    def slow() -> Iterator[Sample]:
        for sample in samples():
            if sample.index == 10:
                # Let the worker finish what it has.
                while len(list(tmp_path.glob("*/frames.jsonl"))) == 0 or done() < 8:
                    threading.Event().wait(0.01)
                raise KeyboardInterrupt
            yield sample

    def done() -> int:
        return next(tmp_path.glob("*/frames.jsonl")).read_text().count('"frame"')

    with pytest.raises(Cancelled):
        run.bake(make_shot(), slow(), tmp_path)
    engine.fits = engine.steps = 0
    run.bake(make_shot(), samples(), tmp_path)
    assert engine.fits <= 4 and engine.steps <= 4


@pytest.mark.parametrize("changed", [0, 1, 5, COUNT - 1])
def test_a_changed_frame_and_later_ones_are_computed_anew(tmp_path, engine, changed: int) -> None:
    first = run.bake(make_shot(), samples(), tmp_path / "a")
    engine.fits = 0
    second = run.bake(make_shot(), samples(changed=changed), tmp_path / "a", previous=first.id)
    assert engine.fits <= COUNT - changed + 2
    fresh = run.bake(make_shot(), samples(changed=changed), tmp_path / "b")
    assert results(second) == results(fresh)
    assert second.id != first.id and (tmp_path / "a" / first.id).is_dir()


@pytest.mark.parametrize("changed", [0, 1, 4, 5, 6])
def test_a_change_before_a_resumed_bake_leaves_nothing_stale(tmp_path, changed: int) -> None:
    with pytest.raises(Cancelled):
        run.bake(make_shot(), interrupted(6), tmp_path / "a")
    resumed = run.bake(make_shot(), samples(changed=changed), tmp_path / "a")
    fresh = run.bake(make_shot(), samples(changed=changed), tmp_path / "b")
    assert results(resumed) == results(fresh)


def test_an_unchanged_bake_stays_and_nothing_is_computed(tmp_path, engine) -> None:
    first = run.bake(make_shot(), samples(), tmp_path)
    engine.fits = 0
    again = run.bake(make_shot(), samples(), tmp_path, previous=first.id)
    assert again.unchanged and again.id == first.id and engine.fits == 0
    assert os.listdir(tmp_path) == [first.id]


def test_another_file_gets_a_folder_of_its_own_without_new_simulation(tmp_path, engine) -> None:
    first = run.bake(make_shot(), samples(), tmp_path)
    engine.fits = 0
    other = run.bake(make_shot(owner_file="shot_v2.blend"), samples(), tmp_path, previous=first.id)
    assert other.id != first.id and results(other) == results(first) and engine.fits == 0


def test_why_another_mesher_was_used_is_told_however_the_bake_came_to_its_end(tmp_path, engine, monkeypatch) -> None:
    monkeypatch.setattr(fake_engine.FakeCage, "note", "The lattice stood in.")
    with pytest.raises(Cancelled, match="kept"):
        run.bake(make_shot(), interrupted(5), tmp_path)
    monkeypatch.setattr(fake_engine.FakeCage, "note", "")  # the cage is now that of the folder
    resumed = run.bake(make_shot(), samples(), tmp_path)
    assert "The lattice stood in." in resumed.report["warnings"]
    shown = run.bake(make_shot(settings=Settings(amount=0.0)), samples(), tmp_path, previous=resumed.id)
    assert "The lattice stood in." in shown.report["warnings"]
    other = run.bake(make_shot(), samples(), tmp_path / "other")
    assert "The lattice stood in." not in other.report["warnings"]


def test_amount_needs_no_new_simulation(tmp_path, engine) -> None:
    first = run.bake(make_shot(), samples(), tmp_path)
    engine.fits = engine.steps = 0
    shot = make_shot(settings=Settings(amount=0.0))
    second = run.bake(shot, samples(), tmp_path, previous=first.id)
    assert (engine.fits, engine.steps) == (0, 0)
    with Store.open(tmp_path, second.id) as store:
        for sample in samples():
            assert np.allclose(store.read_result(sample.index), sample.positions, atol=1e-5)


def fade(index: int) -> float:
    return index / (COUNT - 1)


def test_a_changed_curve_of_amount_makes_results_anew_and_nothing_else(tmp_path, engine) -> None:
    first = run.bake(make_shot(), samples(), tmp_path / "a")
    engine.fits = engine.steps = 0
    second = run.bake(make_shot(), samples(amount=fade), tmp_path / "a", previous=first.id)
    assert (engine.fits, engine.steps) == (0, 0) and second.id != first.id
    assert not {"fitting", "simulation"} & set(second.report["seconds"])
    again = run.bake(make_shot(), samples(amount=fade), tmp_path / "a", previous=second.id)
    assert again.unchanged
    fresh = run.bake(make_shot(), samples(amount=fade), tmp_path / "b")
    assert results(second) == results(fresh)
    with Store.open(tmp_path / "a", first.id) as full, Store.open(tmp_path / "a", second.id) as faded:
        for sample in samples():
            added = full.read_result(sample.index) - sample.positions
            expected = sample.positions + fade(sample.index) * added
            assert np.allclose(faded.read_result(sample.index), expected, atol=1e-5)


def test_amounts_that_change_while_a_bake_is_interrupted_are_those_of_the_end(tmp_path) -> None:
    with pytest.raises(Cancelled):
        run.bake(make_shot(), interrupted(6), tmp_path / "a")
    resumed = run.bake(make_shot(), samples(amount=fade), tmp_path / "a")
    fresh = run.bake(make_shot(), samples(amount=fade), tmp_path / "b")
    assert results(resumed) == results(fresh)


@pytest.mark.parametrize("count", [1, 2, COUNT - 3, COUNT + 3])
def test_another_range_takes_over_what_it_can_and_is_exact(tmp_path, engine, count: int) -> None:
    first = run.bake(make_shot(), samples(), tmp_path / "a")
    engine.fits = 0
    shot = make_shot(samples=count, frame_end=count)
    second = run.bake(shot, samples(count), tmp_path / "a", previous=first.id)
    assert engine.fits <= max(2, count - COUNT + 3)
    fresh = run.bake(shot, samples(count), tmp_path / "b")
    assert results(second) == results(fresh)


@pytest.mark.parametrize("change", [{"settings": Settings(jiggle=2.0)}, {"frame_rate": 25.0}, {"rest": REST + 0.001}])
def test_another_setting_starts_anew(tmp_path, engine, change: dict[str, Any]) -> None:
    first = run.bake(make_shot(), samples(), tmp_path)
    engine.fits = 0
    run.bake(make_shot(**change), samples(), tmp_path, previous=first.id)
    assert engine.fits == COUNT


def test_a_changed_engine_bakes_anew_and_one_that_is_not_known_counts_as_the_same(tmp_path, engine) -> None:
    first = run.bake(make_shot(), samples(), tmp_path)
    engine.fits = 0
    assert run.bake(make_shot(build="a"), samples(), tmp_path, previous=first.id).unchanged and engine.fits == 0
    second = run.bake(make_shot(build="a"), samples(changed=COUNT - 1), tmp_path, previous=first.id)
    assert 0 < engine.fits < COUNT
    with Store.open(tmp_path, second.id) as store:
        assert store.manifest.build == "a"
    known = run.bake(make_shot(build="a"), samples(), tmp_path / "b")
    assert run.bake(make_shot(build="a"), samples(), tmp_path / "b", previous=known.id).unchanged
    engine.fits = 0
    third = run.bake(make_shot(build="b"), samples(), tmp_path / "b", previous=known.id)
    assert engine.fits == COUNT and not third.unchanged
    with Store.open(tmp_path / "b", third.id) as store:
        assert store.manifest.build == "b"


@pytest.mark.parametrize("changed", [0, 1, 5, COUNT - 1])
def test_frames_of_two_engines_are_never_mixed(tmp_path, engine, changed: int) -> None:
    first = run.bake(make_shot(build="a"), samples(), tmp_path / "a")
    engine.fits = 0
    second = run.bake(make_shot(build="b"), samples(changed=changed), tmp_path / "a", previous=first.id)
    assert engine.fits == COUNT
    fresh = run.bake(make_shot(build="b"), samples(changed=changed), tmp_path / "b")
    assert results(second) == results(fresh)


def test_an_interrupted_bake_is_not_continued_by_another_build(tmp_path, engine) -> None:
    with pytest.raises(Cancelled):
        run.bake(make_shot(build="a"), interrupted(6), tmp_path)
    engine.fits = 0
    run.bake(make_shot(build="b"), samples(), tmp_path)
    assert engine.fits == COUNT


def test_damaged_data_of_a_finished_frame_is_noticed(tmp_path) -> None:
    first = run.bake(make_shot(), samples(), tmp_path)
    good = results(first)
    with open(first.folder / "simulated.f64", "r+b") as file:
        file.seek(5 * 96 + 8)
        file.write(b"garbage!")
    second = run.bake(make_shot(), samples(), tmp_path, previous=first.id)
    assert not second.unchanged and results(second) == good


def test_a_failure_of_the_engine_reaches_the_caller(tmp_path, engine, monkeypatch) -> None:
    def failing(*_: Any) -> None:
        raise BadInput("no")

    monkeypatch.setattr(engine, "advance", failing)
    with pytest.raises(BadInput, match="no"):
        run.bake(make_shot(), samples(), tmp_path)


def test_a_failure_of_the_source_reaches_the_caller_and_ends_the_thread(tmp_path) -> None:
    def failing() -> Iterator[Sample]:
        yield from samples(3)
        raise RuntimeError("scene")

    before = threading.active_count()
    with pytest.raises(RuntimeError, match="scene"):
        run.bake(make_shot(), failing(), tmp_path)
    assert threading.active_count() == before


def test_too_few_samples_are_an_error(tmp_path) -> None:
    with pytest.raises(BadInput, match="Only 5 of 12"):
        run.bake(make_shot(), samples(5), tmp_path)


def test_a_result_that_is_not_finite_is_refused(tmp_path, engine, monkeypatch) -> None:
    monkeypatch.setattr(engine, "drawn", lambda self, fitted, moved, sampled, limit: sampled * np.inf)
    with pytest.raises(Error, match="finite"), np.errstate(invalid="ignore"):
        run.bake(make_shot(), samples(), tmp_path)


def test_progress_ends_at_the_total(tmp_path) -> None:
    told: list[tuple[str, int, int]] = []
    run.bake(make_shot(), samples(), tmp_path, progress=lambda *progress: told.append(progress[:3]))
    assert told[-1] == ("Baking", COUNT, COUNT)


def test_ctrl_c_while_the_cage_is_built_stops_it_and_leaves_no_folder(tmp_path, engine, monkeypatch) -> None:
    def build(self: Any, *_: Any, monitor: Any, **__: Any) -> None:
        if not monitor.cancelled.wait(20):
            raise AssertionError("not cancelled")
        raise Cancelled("by the monitor")

    told: list[tuple[str, int, int]] = []

    def strike(*progress: Any) -> None:
        told.append(progress[:3])
        raise KeyboardInterrupt

    monkeypatch.setattr(engine, "__init__", build)
    with pytest.raises(Cancelled, match="while the cage was built"):
        run.bake(make_shot(), samples(), tmp_path / "root", progress=strike)
    assert told == [("Building", 1, 4)] and not (tmp_path / "root").exists()


def test_the_report_is_json_and_tells_what_happened(tmp_path) -> None:
    outcome = run.bake(make_shot(), samples(), tmp_path)
    told = json.loads(json.dumps(outcome.report, allow_nan=False))
    for key in (
        "frames vertices tets fit_error follow_error added_motion inverted_tets newton_rounds substeps seconds "
        "peak_memory warnings restarts"
    ).split():
        assert key in told
    assert told["frames"] == COUNT and told["vertices"] == 40 and told["tets"] == 1
    assert told["newton_rounds"]["total"] == 2 * (COUNT - 1)
    assert told["follow_error"]["max_relative"] < 1e-6 < told["added_motion"]["rms_relative"]
    assert len(told["fit_error"]["rms_per_sample"]) == COUNT
    assert {"sampling", "fitting", "simulation", "detail", "total"} <= set(told["seconds"])
    assert told["peak_memory"] > 1e6
    assert report.lines(told)[0].startswith("Body: 12 frames")


def test_added_motion_counts_all_vertices_and_free_and_followed_ones_apart(tmp_path, engine, monkeypatch) -> None:
    def shifted(self: Any, fitted: Any, moved: Any, sampled: Any, limit: float) -> Any:
        return sampled + np.where(self.follow >= 1, 0.5, np.where(self.follow < 0.5, 0.125, 100.0))[:, None] * [1, 0, 0]

    monkeypatch.setattr(engine, "drawn", shifted)
    told = run.bake(make_shot(), samples(), tmp_path).report
    assert told["follow_error"]["max"] == pytest.approx(0.5, rel=1e-4)
    added, follow = told["added_motion"], make_shot().painted.follow
    squares = np.where(follow >= 1, 0.5, np.where(follow < 0.5, 0.125, 100.0)) ** 2
    assert added["max"] == pytest.approx(100.0, rel=1e-4)
    assert added["rms"] == pytest.approx(squares.mean() ** 0.5, rel=1e-4)
    assert added["free_rms"] == pytest.approx(0.125, rel=1e-4) and added["free_vertices"] == (follow < 0.5).sum()


def test_motion_of_vertices_that_carry_no_input_is_not_added_to_it(tmp_path, engine, monkeypatch) -> None:
    tracked = np.arange(40) < 30
    shift = np.where(tracked, 0.125, 100.0)[:, None] * [1, 0, 0]
    monkeypatch.setattr(engine, "drawn", lambda self, fitted, moved, sampled, limit: sampled + shift)
    shot = make_shot(parts=Parts(tracked, np.full(40, -1, np.int32)))
    assert run.bake(shot, samples(), tmp_path).report["added_motion"]["max"] == pytest.approx(0.125, rel=1e-4)


@pytest.mark.parametrize(("follow", "hint"), [(0.0, "Nothing is followed"), (1.0, "little to see")])
def test_extreme_weights_get_a_hint(tmp_path, follow: float, hint: str) -> None:
    told = run.bake(make_shot(follow=np.full(40, follow)), samples(), tmp_path).report
    assert any(hint in warning for warning in told["warnings"])


def test_little_motion_gets_a_hint_and_visible_motion_none(tmp_path, engine, monkeypatch) -> None:
    for share, amount, hinted in ((0.002, 1.0, True), (0.02, 1.0, False), (0.002, 0.0, False)):
        shift = share * np.ptp(REST, axis=0).max() * np.array([1.0, 0.0, 0.0])
        monkeypatch.setattr(engine, "drawn", lambda self, fitted, moved, sampled, limit, by=shift: sampled + by)
        shot = make_shot(settings=Settings(resolution=4, amount=amount))
        told = run.bake(shot, samples(), tmp_path / f"{share} {amount}").report["warnings"]
        assert any("lower Jiggle (2.1 Hz" in warning for warning in told) == hinted


def test_a_body_that_its_averages_hold_is_not_said_to_drift(tmp_path) -> None:
    shot = make_shot(follow=np.zeros(40), settings=Settings(resolution=4, average_regions=3))
    assert not any("drift" in warning for warning in run.bake(shot, samples(), tmp_path).report["warnings"])


def test_flesh_drawn_back_is_counted_and_told_when_it_is_more_than_a_handful(tmp_path, engine, monkeypatch) -> None:
    for repaired in (2, 6):
        monkeypatch.setattr(engine, "repaired", repaired)
        told = run.bake(make_shot(), samples(), tmp_path / str(repaired)).report
        assert told["repaired_tets"] == {"total": repaired * (COUNT - 1), "max": repaired}
        assert any("drawn back" in warning for warning in told["warnings"]) == (repaired > 5)


def test_memory_does_not_grow_with_the_number_of_frames(tmp_path) -> None:
    import tracemalloc

    big = np.random.default_rng(0).normal(size=(20_000, 3))

    def many(count: int) -> Iterator[Sample]:
        for index in range(count):
            yield Sample(index, (big + index).astype(np.float32), np.eye(4))

    peaks = []
    for count in (30, 120):
        shot = make_shot(rest=big, follow=np.zeros(20_000), samples=count, frame_end=count)
        tracemalloc.start()
        run.bake(shot, many(count), tmp_path / str(count))
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # 90 more frames of 240 kB each would be 21 MB.
    assert peaks[1] < peaks[0] + 2e6


def test_a_passenger_moves_by_what_is_added_and_the_body_as_without_it(tmp_path) -> None:
    alone = run.bake(make_shot(), samples(), tmp_path / "a")
    shot = make_shot(passengers=(PASSENGER,))
    both = run.bake(shot, with_passenger(samples()), tmp_path / "b")
    assert results(alone) == results(both)
    moved = 0.0
    for given, shown in zip(with_passenger(samples()), passenger_results(both), strict=True):
        offset = shown - given.carried[0].positions
        assert np.allclose(offset, offset[0], atol=1e-5)
        moved = max(moved, float(np.abs(offset).max()))
    assert moved > 0.01


@pytest.mark.parametrize("late", [0, 4, COUNT - 1])
def test_a_passenger_that_changes_needs_no_new_simulation(tmp_path, engine, late: int) -> None:
    shot = make_shot(passengers=(PASSENGER,))
    first = run.bake(shot, with_passenger(samples()), tmp_path)
    engine.fits = engine.steps = 0
    second = run.bake(shot, with_passenger(samples(), late=late), tmp_path, previous=first.id)
    assert (engine.fits, engine.steps) == (0, 0) and not second.unchanged
    fresh = run.bake(shot, with_passenger(samples(), late=late), tmp_path / "fresh")
    assert np.array_equal(passenger_results(second), passenger_results(fresh)) and results(second) == results(fresh)
    assert run.bake(shot, with_passenger(samples(), late=late), tmp_path, previous=second.id).unchanged


def test_a_new_passenger_needs_no_new_simulation(tmp_path, engine) -> None:
    first = run.bake(make_shot(), samples(), tmp_path)
    engine.fits = engine.steps = 0
    second = run.bake(make_shot(passengers=(PASSENGER,)), with_passenger(samples()), tmp_path, previous=first.id)
    assert (engine.fits, engine.steps) == (0, 0)
    fresh = run.bake(make_shot(passengers=(PASSENGER,)), with_passenger(samples()), tmp_path / "fresh")
    assert np.array_equal(passenger_results(second), passenger_results(fresh))


def test_a_new_passenger_after_an_interruption_keeps_the_finished_frames(tmp_path, engine) -> None:
    with pytest.raises(Cancelled):
        run.bake(make_shot(), interrupted(8), tmp_path)
    engine.fits = 0
    shot = make_shot(passengers=(PASSENGER,))
    second = run.bake(shot, with_passenger(samples()), tmp_path)
    assert engine.fits < COUNT
    fresh = run.bake(shot, with_passenger(samples()), tmp_path / "fresh")
    assert np.array_equal(passenger_results(second), passenger_results(fresh)) and results(second) == results(fresh)


def test_a_folder_can_be_played_as_soon_as_all_samples_are_taken(tmp_path, engine) -> None:
    engine.delay = 0.02
    seen: list[Any] = []

    def ready(name: str, folder: Any) -> None:
        with Store.open(tmp_path, name) as store:
            seen.append([store.done, *(np.abs(store.read_result(index)).max() > 0.0 for index in range(COUNT))])

    outcome = run.bake(make_shot(), samples(), tmp_path, ready=ready)
    assert len(seen) == 1 and all(seen[0][1:]) and seen[0][0] < COUNT
    assert outcome.folder.is_dir()


@pytest.mark.parametrize(("averages", "told"), [(0, True), (4, False)])
def test_a_body_that_nothing_holds_is_told_unless_averages_hold_it(tmp_path, averages: int, told: bool) -> None:
    shot = make_shot(follow=np.zeros(len(REST)), settings=Settings(average_regions=averages))
    outcome = run.bake(shot, samples(), tmp_path)
    assert any("may drift" in warning for warning in outcome.report["warnings"]) == told
