"""How a bake begins and ends: loops that close, settled starts, missing frames; with the real engine on a small bar."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import shots
from bodies import box_surface
from sinew.core.bake import remake, run
from sinew.core.bake.missing import bridge, parse_frames
from sinew.core.bake.shot import Carried, Sample, Shot
from sinew.core.bake.store import Store
from sinew.core.base.errors import BadInput, Cancelled
from sinew.core.cage.approach import Approach
from sinew.core.edit.handles import Edits, Handle
from sinew.core.flesh.enrich import enrich
from sinew.core.flesh.enricher import Enricher
from sinew.core.flesh.settings import Settings

pytestmark = pytest.mark.once

REST, TRIANGLES = box_surface((10, 3, 3), (1.0, 0.2, 0.2))
PERIOD = 16
EYE = np.eye(4)


def shake(index: int) -> Any:
    return (0.0, 0.0, 0.15 * np.sin(2 * np.pi * index / PERIOD))


def run_away(index: int) -> Any:
    return (0.0, 0.5 * index, 0.0)


def samples(count: int, move: Callable[[int], Any] = shake) -> Iterator[Sample]:
    for index in range(count):
        yield Sample(index, (REST + np.array(move(index))).astype(np.float32), EYE)


def make_shot(count: int, **settings: Any) -> Shot:
    values = {"resolution": 8, "jiggle": 4.0, "settle": 0.6, "keep_pose": 1.0, **settings}
    follow = (REST[:, 0] < 0.15).astype(float)
    return shots.make_shot(REST, TRIANGLES, follow, count, settings=Settings().replace(values))


def baked(outcome: run.Outcome) -> Any:
    with Store.open(outcome.folder.parent, outcome.id) as store:
        return np.array([store.read_result(index) for index in range(store.manifest.samples)])


def offsets(result: Any) -> Any:
    return result - np.array([sample.positions for sample in samples(len(result))])


def seam(result: Any, count: int) -> float:
    """How unlike the flesh is to itself one period later, as a fraction of size."""
    offset = offsets(result)
    following = 3.0 * (offset[-1] - offset[-2]) + offset[-3]  # where the last steps lead
    first = offset[0] if count == PERIOD else offset[1]
    return float(np.abs(following - first).max())


@pytest.mark.parametrize("count", [PERIOD, PERIOD + 1])
def test_a_loop_ends_as_it_begins_whether_its_last_frame_repeats_the_first_or_not(tmp_path: Path, count: int) -> None:
    outcome = run.bake(make_shot(count, loop=True), samples(count), tmp_path)
    told = outcome.report["loop"]
    assert told["seam_relative"] < 1e-3 and not told["blended"] and 1 <= told["cycles"] <= 20
    result = baked(outcome)
    assert np.abs(result - np.array([s.positions for s in samples(count)])).max() > 0.02  # it does move
    plain = offsets(baked(run.bake(make_shot(PERIOD + 2), samples(PERIOD + 2), tmp_path / "plain")))
    assert seam(result, count) < 0.4 * np.abs(plain[PERIOD] - plain[0]).max()
    if count > PERIOD:
        assert np.abs(result[-1] - result[0]).max() < 1e-3


def test_an_edit_of_a_loop_goes_over_its_seam(tmp_path: Path) -> None:
    plain = run.bake(make_shot(PERIOD, loop=True), samples(PERIOD), tmp_path)
    tip = int(np.argmax(REST @ [1.0, 0.01, 0.01]))
    pulled = Edits(handles=(Handle((tip,), 1.0, (0.0, 0.1, 0.0)),)).to_text()  # on its first frame
    settings = make_shot(PERIOD, loop=True, edits=pulled).settings
    moved = (baked(remake.remake(tmp_path, plain.id, settings)) - baked(plain))[:, tip, 1]
    assert moved[0] == pytest.approx(0.1, abs=1e-4)
    assert moved[-1] == pytest.approx(moved[1], rel=0.1) and moved[1] > 0.03, "as much before it, at the end, as after"
    once = run.bake(make_shot(PERIOD), samples(PERIOD), tmp_path)
    settings = make_shot(PERIOD, edits=pulled).settings
    cut = (baked(remake.remake(tmp_path, once.id, settings)) - baked(once))[:, tip, 1]
    assert abs(cut[-1]) < 0.5 * moved[-1], "what is no loop knows nothing of its end"


def test_a_loop_is_that_of_an_endless_simulation(tmp_path: Path) -> None:
    cycles = 8
    count = cycles * PERIOD
    endless = baked(run.bake(make_shot(count), samples(count), tmp_path / "endless"))
    loop = baked(run.bake(make_shot(PERIOD, loop=True), samples(PERIOD), tmp_path / "loop"))
    assert np.abs(endless[-PERIOD - 2 : -2] - np.roll(loop, 2, axis=0)).max() < 2e-3


@pytest.mark.parametrize("values", [{"settle": 10.0}, {"settle": 20.0, "jiggle": 1.0}])
def test_a_loop_that_does_not_close_is_blended_and_told(tmp_path: Path, monkeypatch: Any, values: Any) -> None:
    from sinew.core.bake import beginning

    monkeypatch.setattr(beginning, "_MOST_CYCLES", 2)
    count = PERIOD + 1
    outcome = run.bake(make_shot(count, loop=True, **values), samples(count), tmp_path)
    assert outcome.report["loop"]["blended"] and outcome.report["loop"]["seam_relative"] > 1e-3
    assert any("blended" in warning for warning in outcome.report["warnings"])
    result = baked(outcome)
    assert np.abs(result[-1] - result[0]).max() < 1e-7
    again = np.concatenate([result[:-1], result[:-1]])
    jerks = np.abs(np.diff(again, 3, axis=0)).max(axis=(1, 2))
    assert jerks[PERIOD - 3 : PERIOD].max() < 1.2 * jerks[: PERIOD - 3].max()  # nor does its speed jump there


def test_half_a_cycle_is_told(tmp_path: Path) -> None:
    def half(index: int) -> Any:
        return shake(index / 2.0)

    for name, move in (("half", half), ("whole", shake)):
        outcome = run.bake(make_shot(PERIOD + 1, loop=True), samples(PERIOD + 1, move), tmp_path / name)
        told = any("half a cycle" in warning for warning in outcome.report["warnings"])
        assert told == outcome.report["loop"]["kink"] == (name == "half")


def test_a_loop_of_several_samples_a_frame_must_end_on_its_first_frame(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="add one frame"):
        run.bake(make_shot(PERIOD, loop=True, samples=2), samples(PERIOD), tmp_path)


@pytest.mark.parametrize("stop", [3, 14])
def test_an_interrupted_loop_goes_on_with_the_same_bits(tmp_path: Path, monkeypatch: Any, stop: int) -> None:
    from sinew.core.bake import beginning, worker

    monkeypatch.setattr(beginning, "_MOST_CYCLES", 2)
    shot = make_shot(PERIOD, loop=True, settle=10.0)  # blended, which is the hard case
    whole = baked(run.bake(shot, samples(PERIOD), tmp_path / "whole"))
    simulate = worker.Worker.advance

    def interrupted(self: Any, moved: Any) -> Any:
        if self.computes == stop:
            raise Cancelled("Stopped")
        return simulate(self, moved)

    with monkeypatch.context() as patch:
        patch.setattr(worker.Worker, "advance", interrupted)
        with pytest.raises(Cancelled):
            run.bake(shot, samples(PERIOD), tmp_path / "parts")
    assert np.array_equal(whole, baked(run.bake(shot, samples(PERIOD), tmp_path / "parts")))


def test_what_does_not_come_back_is_no_loop(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no loop"):
        run.bake(make_shot(8, loop=True), samples(8, run_away), tmp_path)
    with pytest.raises(BadInput, match="four frames"):
        run.bake(make_shot(3, loop=True), samples(3), tmp_path)


def test_a_settled_start_hangs_already(tmp_path: Path) -> None:
    """With Keep Pose off the bar sags: from a plain start it falls first, from a settled one it stays."""
    moved = {}
    for start in ("moving", "settled"):
        shot = make_shot(12, keep_pose=0.0, start=start)
        result = baked(run.bake(shot, samples(12, lambda _: (0.0, 0.0, 0.0)), tmp_path / start))
        moved[start] = float(np.abs(np.diff(result[:, :, 2], axis=0)).max())
        sag = float((REST[:, 2] - result[-1, :, 2]).max())
        assert start == "moving" or sag > 0.005
    assert moved["settled"] < 1e-3 * moved["moving"]


def curl(angle: float) -> Any:
    """The bar bent to an arc of that angle, which keeps the lengths along its middle."""
    along, up = REST[:, 0], REST[:, 2] - 0.1
    turn, radius = angle * along, 1.0 / angle
    return np.column_stack([(radius - up) * np.sin(turn), REST[:, 1], radius - (radius - up) * np.cos(turn)])


def curled(count: int, angle: float = 1.8, speed: float = 0.02) -> Iterator[Sample]:
    """A bar that is bent and goes on bending, while it flies."""
    for index in range(count):
        moved = curl(angle + speed * index) + [5.0, 0.03 * index, 1.0]
        yield Sample(index, moved.astype(np.float32), EYE)


def test_from_rest_it_comes_to_the_first_pose_without_a_jump_and_nothing_shrinks_on_the_way() -> None:
    enricher = Enricher(REST, TRIANGLES, (REST[:, 0] < 0.15).astype(float), Settings().replace({"resolution": 10}))
    pose, following = (enricher.fit(sample.positions).positions for sample in curled(2))
    way = Approach(enricher.cage, pose, following, 24)
    poses = np.array([way.at(i) for i in range(25)])
    edges = enricher.cage.tets[:, [0, 1]]
    lengths = np.linalg.norm(poses[:, edges[:, 0]] - poses[:, edges[:, 1]], axis=-1)
    rest = enricher.cage.vertices
    assert np.allclose(lengths[0], np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=-1))  # turned as a whole
    assert np.array_equal(poses[24], pose)
    ends = np.sort(lengths[[0, 24]], axis=0)
    assert (lengths[1:24] > 0.97 * ends[0]).all() and (lengths[1:24] < 1.03 * ends[1]).all()
    straight = np.linspace(0.0, 1.0, 25)[:, None, None] * (poses[24] - poses[0]) + poses[0]
    shrunk = np.linalg.norm(straight[12, edges[:, 0]] - straight[12, edges[:, 1]], axis=-1)
    assert (shrunk < 0.95 * ends[0]).any()  # as a mixture of the two would
    steps = np.diff(poses, axis=0)
    assert np.abs(steps[0]).max() < 0.02 and np.abs(np.diff(steps, axis=0)).max() < 0.02
    assert np.abs(2.0 * steps[-1] - steps[-2] - (following - pose)).max() < 0.25 * np.abs(following - pose).max()


def test_a_start_at_rest_arrives_swinging(tmp_path: Path) -> None:
    count, results = 12, {}
    for start, preroll in (("moving", 0), ("rest", 0), ("rest", 24), ("rest", 96)):
        shot = make_shot(count, start=start, preroll=preroll, jiggle=2.0, settle=2.0)
        results[start, preroll] = baked(run.bake(shot, curled(count), tmp_path / f"{start}{preroll}"))
    given = np.array([sample.positions for sample in curled(count)])
    held, free = REST[:, 0] < 0.15, REST[:, 0] > 0.8
    assert np.array_equal(results["rest", 0], results["rest", 24])  # a second
    away = {key: np.linalg.norm(result - given, axis=2) for key, result in results.items()}
    assert away["moving", 0][0].max() < 1e-5 < 0.02 < away["rest", 24][0, free].max() < 0.5
    assert away["rest", 96][0, free].max() < away["rest", 24][0, free].max()  # it has had time to calm down
    for key in results:
        assert away[key][:, held].max() < 1e-5
    steps = np.linalg.norm(np.diff(results["rest", 24], axis=0), axis=2)
    assert steps[0].max() < 1.5 * steps[1:].max()


def test_an_interrupted_start_at_rest_goes_on_with_the_same_bits(tmp_path: Path, monkeypatch: Any) -> None:
    from sinew.core.bake import worker

    shot = make_shot(8, start="rest", preroll=6)
    whole = baked(run.bake(shot, curled(8), tmp_path / "whole"))
    simulate = worker.Worker.advance

    def interrupted(self: Any, moved: Any) -> Any:
        if self.computes == 3:
            raise Cancelled("Stopped")
        return simulate(self, moved)

    with monkeypatch.context() as patch:
        patch.setattr(worker.Worker, "advance", interrupted)
        with pytest.raises(Cancelled):
            run.bake(shot, curled(8), tmp_path / "parts")
    assert np.array_equal(whole, baked(run.bake(shot, curled(8), tmp_path / "parts")))


def test_frames_are_named_by_numbers_and_ranges() -> None:
    assert parse_frames("12, 15-18;20") == {12, 15, 16, 17, 18, 20}
    assert parse_frames("") == set() and parse_frames("-3") == {-3}
    for wrong in ("x", "5-3", "1-2-3", "4.5"):
        with pytest.raises(BadInput, match="12, 15-18"):
            Settings().replace({"missing_frames": wrong})


def bridged(missing: set[int], count: int, move: Callable[[int], Any]) -> Any:
    good = (sample for sample in samples(count, move) if sample.index not in missing)
    return list(bridge(good, count))


def test_missing_frames_are_bridged_smoothly_and_the_ends_are_held() -> None:
    def throw(index: int) -> Any:
        return (0.3 * index, 0.0, 0.02 * index * (20 - index))

    for missing in ({4}, {3, 4, 5}, {2, 3, 7, 8}, {9, 11}):
        found = bridged(missing, 14, throw)
        assert [sample.index for sample in found] == list(range(14))
        for one, true in zip(found, samples(14, throw), strict=True):
            assert np.abs(one.positions - true.positions).max() < (0.12 if one.index in missing else 1e-12)
        heights = np.array([sample.positions[0, 2] for sample in found])
        assert np.abs(np.diff(heights, 2)).max() < 0.15  # no kink
    found = bridged({0, 1, 13}, 14, throw)
    assert np.array_equal(found[0].positions, found[2].positions)
    assert np.array_equal(found[13].positions, found[12].positions)


def turned(degrees: float) -> Any:
    angle = np.radians(degrees)
    turn = np.eye(4)
    turn[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    return turn


def edge_lengths(points: Any) -> Any:
    corners = np.asarray(points, np.float64)[TRIANGLES]
    return np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)


def spinning(index: int, degrees: float, by_object: bool) -> Sample:
    """A bar that spins and flies, by its vertices or as an object, and a passenger on it that spins the other way."""
    turn, other = turned(degrees * index), turned(-degrees * index) @ np.diag([1.0, -2.0, 1.0, 1.0])
    turn[:3, 3] = [0.2 * index, 0.0, 0.01 * index * index]
    world = REST @ turn[:3, :3].T + turn[:3, 3]
    rider = (world[:, :3] + [0.0, 0.0, 0.3] - other[:3, 3]) @ np.linalg.inv(other[:3, :3]).T
    body = (REST, turn) if by_object else (world, EYE)
    return Sample(index, body[0].astype(np.float32), body[1], 1.0, (Carried(rider.astype(np.float32), other),))


def in_world(positions: Any, matrix: Any) -> Any:
    return positions.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]


@pytest.mark.parametrize("by_object", [False, True])
@pytest.mark.parametrize("degrees", [10, 30, 40])  # of which five are 50, 150 and 200
def test_what_spins_keeps_its_lengths_over_missing_frames_and_so_do_passengers(degrees: int, by_object: bool) -> None:
    given = [spinning(index, degrees, by_object) for index in range(14)]
    found = list(bridge((sample for sample in given if sample.index not in {5, 6, 7, 8}), 14))
    assert [sample.index for sample in found] == list(range(14))
    lengths = edge_lengths(REST)
    for sample in found:
        carried = sample.carried[0]
        body, rider = in_world(sample.positions, sample.matrix), in_world(carried.positions, carried.matrix)
        assert np.abs(edge_lengths(body) / lengths - 1.0).max() < 0.02
        assert np.abs(edge_lengths(rider) / lengths - 1.0).max() < 0.02
        assert np.abs(rider - body - [0.0, 0.0, 0.3]).max() < 1e-3  # it stays on
    paths = [np.array([in_world(one.positions, one.matrix) for one in samples]) for samples in (found, given)]
    kinks, curves = (np.abs(np.diff(path, 2, axis=0)).max() for path in paths)
    assert kinks < 1.1 * curves  # no more than the true motion turns


def test_a_joint_that_bends_keeps_its_lengths_over_missing_frames() -> None:
    def bent(index: int) -> Any:
        return curl(1e-3 + 0.3 * (index - 6.5))  # a hinge of 86 degrees within the gap

    given = [Sample(index, bent(index).astype(np.float32), EYE) for index in range(14) if index not in {5, 6, 7, 8}]
    for sample in bridge(given, 14):
        assert np.abs(edge_lengths(sample.positions) / edge_lengths(bent(sample.index)) - 1.0).max() < 0.02
        assert np.abs(sample.positions - bent(sample.index)).max() < 0.05


WAYS: list[dict[str, Any]] = [
    {}, {"start": "settled"}, {"start": "rest"}, {"start": "rest", "preroll": 5}, {"loop": True},
    {"loop": True, "settle": 20.0},
]  # fmt: skip


@pytest.mark.parametrize("settings", WAYS, ids=str)
@pytest.mark.parametrize("count", [PERIOD, PERIOD + 1])
def test_over_arrays_it_begins_and_closes_as_a_bake_does(tmp_path: Path, settings: dict[str, Any], count: int) -> None:
    shot = make_shot(count, **{"keep_pose": 0.3, **settings})
    by_bake = baked(run.bake(shot, samples(count), tmp_path))
    frames = [sample.positions.astype(np.float64) for sample in samples(count)]

    def over_arrays(**changes: Any) -> Any:
        chosen = {**shot.settings.changed(), **changes}
        return np.array(list(enrich(REST, TRIANGLES, frames, shot.painted.follow, **chosen)))

    assert np.abs(over_arrays() - by_bake).max() < 1e-3  # fits go in pairs there
    if settings:
        assert np.abs(over_arrays(start="moving", loop=False) - by_bake).max() > 5e-3
