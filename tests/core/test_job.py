"""A bake in a thread, and the file in which samples wait for it."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import fake_engine
import numpy as np
import pytest
from sinew.core.bake.job import Job, Plan, RowJob
from sinew.core.bake.run import Outcome
from sinew.core.bake.shot import Carried, Sample
from sinew.core.bake.spool import Spool
from sinew.core.base.errors import BadInput, Cancelled, Error
from test_bake import COUNT, PASSENGER, make_shot, samples, with_passenger


@pytest.fixture(autouse=True)
def engine(monkeypatch) -> type[fake_engine.FakeEnricher]:
    return fake_engine.install(monkeypatch)


def wait_for(condition: Any) -> None:
    end = time.monotonic() + 20.0
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    assert condition()


def fed(job: Job, count: int = COUNT) -> Job:
    for sample in samples():
        if sample.index < count:
            job.put(sample)
    if count == COUNT:
        job.end_of_samples()
    return job


def test_samples_come_out_as_they_went_in_while_others_go_in(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    given = list(with_passenger(samples()))
    taken: list[Sample] = []
    reader = threading.Thread(target=lambda: taken.extend(spool))
    reader.start()
    for sample in given:
        spool.put(sample)
        time.sleep(0.001)
    spool.end()
    reader.join(20.0)
    assert len(taken) == len(given)
    for one, other in zip(given, taken, strict=True):
        assert (one.index, one.amount) == (other.index, other.amount)
        pairs = [(one, other), *zip(one.carried, other.carried, strict=True)]
        assert all(np.array_equal(a.positions, b.positions) and np.array_equal(a.matrix, b.matrix) for a, b in pairs)
    spool.close()


def test_a_spool_leaves_no_file_and_takes_nothing_after_its_end(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    carried = Carried(np.ones((2, 3), np.float32), np.eye(4))
    spool.put(Sample(0, np.ones((3, 3), np.float32), np.eye(4), 1.0, (carried,)))
    assert list(tmp_path.iterdir()) == []
    spool.close()
    spool.put(Sample(1, np.ones((3, 3), np.float32), np.eye(4)))


def test_cancelling_wakes_whoever_waits_for_a_sample(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    ended: list[str] = []

    def read() -> None:
        try:
            list(spool)
        except KeyboardInterrupt:
            ended.append("interrupted")

    reader = threading.Thread(target=read)
    reader.start()
    spool.cancel()
    reader.join(20.0)
    assert ended == ["interrupted"]


def test_a_job_bakes_what_it_is_given_and_tells_when_it_can_be_played(tmp_path: Path, engine: Any) -> None:
    engine.delay = 0.01
    job = Job([Plan(make_shot(passengers=(PASSENGER,)))], tmp_path / "sinew", tmp_path)
    for sample in with_passenger(samples()):
        job.put(sample)
    assert job.ready == [None]  # the last sample is not announced yet
    job.end_of_samples()
    wait_for(lambda: job.ready[0] is not None)
    assert not job.ended and job.ready[0] is not None and (job.ready[0][1] / "passenger_0.pc2").is_file()
    assert job.wait(20.0) and job.result()[0].id == job.ready[0][0]
    assert job.progress[:3] == ("Baking", COUNT, COUNT)


def test_a_cancelled_job_keeps_its_frames_and_the_next_one_continues(tmp_path: Path, engine: Any) -> None:
    engine.delay = 0.15
    job = fed(Job([Plan(make_shot())], tmp_path / "sinew", tmp_path))
    wait_for(lambda: job.progress[0] == "Baking" and job.progress[1] >= 3)
    job.cancel()
    assert job.wait(20.0)
    with pytest.raises(Cancelled, match="kept"):
        job.result()
    engine.fits = 0
    engine.delay = 0.0
    again = fed(Job([Plan(make_shot())], tmp_path / "sinew", tmp_path))
    assert again.wait(20.0) and job.ready[0] is not None and again.result()[0].id == job.ready[0][0]
    assert engine.fits < COUNT


def test_a_job_that_is_cancelled_while_it_waits_for_samples_ends(tmp_path: Path) -> None:
    job = fed(Job([Plan(make_shot())], tmp_path / "sinew", tmp_path), count=4)
    job.cancel()
    assert job.wait(20.0)
    with pytest.raises(Cancelled):
        job.result()


def test_an_error_in_the_thread_is_raised_by_the_one_who_asks(tmp_path: Path) -> None:
    job = Job([Plan(make_shot())], tmp_path / "sinew", tmp_path)
    job.put(Sample(0, np.ones((3, 3), np.float32), np.eye(4)))
    job.end_of_samples()
    assert job.wait(20.0)
    with pytest.raises(BadInput, match="number of vertices"):
        job.result()


def test_a_frame_that_takes_long_ends_in_its_middle(tmp_path: Path, engine, monkeypatch) -> None:
    """As native work does, which looks at its monitor in every round."""
    began = threading.Event()

    def advance(self: Any, *_: Any) -> None:
        began.set()
        assert self.monitor.cancelled.wait(20.0)
        raise Cancelled("Cancelled.")

    monkeypatch.setattr(engine, "advance", advance)
    job = fed(Job([Plan(make_shot())], tmp_path / "bakes", tmp_path))
    assert began.wait(20.0)
    job.cancel()
    assert job.wait(10.0)
    with pytest.raises(Cancelled, match="finished and kept"):
        job.result()


def fed_row(job: RowJob, dropped: int = -1, short: int = -1) -> RowJob:
    """All samples of all members, but for one that is dropped and one that gets a wrong one."""
    for sample in samples():
        for member in range(len(job.results)):
            if member == short and sample.index == 3:
                job.put(Sample(3, np.ones((3, 3), np.float32), np.eye(4)), member)
            elif member != dropped:
                job.put(sample, member)
            elif sample.index == 4:
                job.drop(member, BadInput("There is no frame 5."))
    job.end_of_samples()
    return job


def row_of(folder: Path, count: int = 3) -> RowJob:
    return RowJob([Plan(make_shot(owner_setup=f"{number}")) for number in range(count)], folder / "sinew", folder)


def test_the_setups_of_a_row_are_baked_one_after_the_other(tmp_path: Path, engine: Any) -> None:
    engine.delay = 0.01
    job = fed_row(row_of(tmp_path))
    seen = []
    while not job.wait(0.002):
        finished = [isinstance(one, Outcome) for one in job.results]
        assert finished == sorted(finished, reverse=True)
        seen.append(job.progress)
    assert [outcome.id for outcome in job.result()] == [ready[0] for ready in job.ready if ready is not None]
    baking = [(done, total) for stage, done, total, _ in seen if stage == "Baking"]
    assert baking == sorted(baking) and {total for _, total in baking} == {3 * COUNT}
    assert [job.done_of(number, [COUNT] * 3) for number in range(3)] == [COUNT] * 3


def test_a_setup_of_a_row_that_fails_or_is_dropped_leaves_the_others_alone(tmp_path: Path) -> None:
    job = fed_row(row_of(tmp_path), dropped=0, short=1)
    assert job.wait(20.0) and len(job.result()) == 1
    dropped, short, good = job.results
    assert isinstance(dropped, BadInput) and "no frame 5" in str(dropped)
    assert isinstance(short, Error) and "number of vertices" in str(short) and isinstance(good, Outcome)


def test_a_row_in_which_all_fail_fails(tmp_path: Path) -> None:
    job = fed_row(row_of(tmp_path, 1), short=0)
    assert job.wait(20.0)
    with pytest.raises(Error, match="number of vertices"):
        job.result()


def test_a_cancelled_row_ends_and_keeps_what_is_finished(tmp_path: Path, engine: Any) -> None:
    engine.delay = 0.03
    job = fed_row(row_of(tmp_path))
    wait_for(lambda: isinstance(job.results[0], Outcome) and job.progress[1] > COUNT + 1)
    job.cancel()
    assert job.wait(20.0) and isinstance(job.results[0], Outcome) and job.results[2] is None
    with pytest.raises(Cancelled, match="kept"):
        job.result()
