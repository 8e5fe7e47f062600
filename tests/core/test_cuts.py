"""Jumps of the input are told from fast motion, and nothing of what moved before acts on what comes after."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import shots
import sinew
from bodies import box_surface, rotation
from sinew.core.bake import run
from sinew.core.bake.cuts import Cuts
from sinew.core.bake.report import lines
from sinew.core.bake.shot import Sample
from sinew.core.bake.store import Store
from sinew.core.base.errors import Cancelled
from sinew.core.flesh.settings import Settings

pytestmark = pytest.mark.once

T_POSE = {"arms": 90.0, "legs": 5.0, "bend": 0.0}


def turn(degrees: float, axis: int = 1) -> Any:
    return rotation(tuple(float(k == axis) for k in range(3)), np.radians(degrees))


def bar() -> tuple[Any, Any, Any]:
    """Held at one end."""
    vertices, triangles = box_surface((12, 3, 3), (1.6, 0.4, 0.4))
    vertices = vertices - vertices.min(axis=0)
    return vertices, triangles, np.clip(1.2 - 2.0 * vertices[:, 0], 0.0, 1.0)


def figure(arms: float = 10.0, legs: float = 5.0, bend: float = 0.0, swing: float = 0.0) -> Any:
    """A person of points, two metres tall. Degrees: arms from the body, legs apart, the trunk forward, and one arm and
    leg before the other."""
    line = np.linspace(0.0, 1.0, 12)[:, None]
    trunk = np.concatenate([line * [0, 0, 0.75] + [x, 0, 0] for x in (-0.15, -0.05, 0.05, 0.15)])
    parts = []
    for side in (-1.0, 1.0):
        arm = line * [0, 0, -0.75] @ turn(-side * arms).T @ turn(side * swing, axis=0).T + [0.2 * side, 0, 0.75]
        leg = line * [0, 0, -0.9] @ turn(-side * legs).T @ turn(-side * swing, axis=0).T + [0.1 * side, 0, 0]
        parts += [(arm, True), (leg, False)]
    upper = np.concatenate([trunk, *(part for part, is_arm in parts if is_arm)]) @ turn(bend, axis=0).T
    return np.concatenate([upper, *(part for part, is_arm in parts if not is_arm)]) + [0, 0, 0.9]


def walk(frames: int, speed: float = 1.0) -> list[Any]:
    return [figure(swing=30 * np.sin(0.5 * speed * k)) + [0.0, 0.06 * speed * k, 0.0] for k in range(frames)]


def found(frames: list[Any], **options: Any) -> list[int]:
    def pose(i: int) -> Any:
        return frames[i] if 0 <= i < len(frames) else None

    size = float(np.ptp(figure(), axis=0).max())
    cuts = Cuts(pose, np.ones(len(frames[0])), options.pop("scale", 1.0) * size, **options)
    return [i for i in range(len(frames)) if cuts.at(i)]


def test_a_pose_of_its_own_on_the_first_frame_is_seen() -> None:
    take = walk(20)
    assert found(take) == []
    assert found([figure(**T_POSE), *take[1:]]) == [1]


def test_it_does_not_matter_where_the_body_is_how_it_is_turned_and_how_large_it_is() -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        scale = 10.0 ** rng.uniform(-3, 3)
        around = turn(rng.uniform(0, 360), 0) @ turn(rng.uniform(0, 360), 2)
        take = [scale * (frame @ around.T + [3, 0, 1]) for frame in [figure(**T_POSE), *walk(20)[1:]]]
        assert found(take, scale=scale) == [1]
    # and the first pose may stand and look elsewhere
    assert found([figure(**T_POSE) @ turn(90, 2).T + [0.3, 0.1, 0.0], *walk(20)[1:]]) == [1]


def test_a_first_pose_that_is_held_before_the_shot_begins_is_seen_too() -> None:
    held = [figure(**T_POSE)] * 6
    assert found([*held, *walk(20)], played_from=5) == [6]


def test_a_change_of_the_whole_pose_is_a_cut_and_so_is_one_of_place() -> None:
    other = walk(12)
    sitting = [figure(arms=60.0, legs=80.0, bend=60.0 + k) + [0.0, 0.8, 0.0] for k in range(12)]
    assert found([*other, *sitting]) == [12]
    assert found([*other, *(frame + [3.0, 2.0, 0.0] for frame in walk(24)[12:])]) == [12]


@pytest.mark.parametrize("speed", (1.0, 1.5, 2.0, 4.0))
def test_fast_motion_is_no_cut(speed: float) -> None:
    """Up to half a swing in two frames."""
    assert [i for i in found(walk(60, speed)) if i > 1] == []
    assert found(walk(60, min(speed, 1.5))) == []


def test_motion_that_begins_ends_and_turns_suddenly_is_no_cut() -> None:
    still = [figure()] * 12
    raised = [figure(arms=10.0 + 35.0 * k) for k in range(5)]  # a quarter of a turn in three frames
    assert found([*still, *raised, *([raised[-1]] * 12)]) == []
    landing = [figure() + [0, 0, max(0.0, 2.0 - 0.25 * k)] for k in range(16)]
    crouching = [figure(bend=min(40.0, max(0.0, 12.0 * (k - 8)))) - figure() for k in range(16)]
    assert found([a + b for a, b in zip(landing, crouching, strict=True)]) == []
    spin = [figure(**T_POSE) @ turn(50.0 * k, 2).T for k in range(16)]
    assert found(spin) == []
    flight = [figure() + [2.0 * k, 0, 0] for k in range(16)]
    assert found(flight) == []


def test_poses_that_are_held_for_some_frames_each_are_no_cuts_but_for_the_first() -> None:
    keys = [figure(arms=10 + 70 * (k % 3), legs=10 + 25 * (k % 2)) for k in range(8)]
    held = [pose for pose in keys for _ in range(4)]
    assert found(held)[1:] == []


def test_with_several_samples_a_frame_all_between_two_frames_of_a_jump_are_in_it() -> None:
    keys = [figure(**T_POSE), *walk(12)[1:]]
    pairs = itertools.pairwise(keys)
    samples = [a + t * (b - a) for a, b in pairs for t in (0.0, 0.25, 0.5, 0.75)] + [keys[-1]]
    assert found(samples, a_frame=4) == [1, 2, 3, 4]


def bent_bar(vertices: Any, bend: float) -> Any:
    """By an angle that grows along it, degrees."""
    angles = np.radians(bend) * vertices[:, 0] / np.ptp(vertices[:, 0])
    (x, y, z), c, s = vertices.T, np.cos(angles), np.sin(angles)
    return np.stack([c * x - s * z, y, s * x + c * z], axis=1)


def take_of_a_bar() -> tuple[Any, Any, Any, list[Any]]:
    """The rest pose, then a slow motion far from it."""
    vertices, triangles, follow = bar()
    return vertices, triangles, follow, [vertices, *(bent_bar(vertices, 60.0 + 2.0 * k) for k in range(11))]


def bake_bar(
    folder: Any, first: int = 0, stop: int = -1, **settings: Any
) -> tuple[dict[str, Any], list[Any], list[Any]]:
    """Report, results and input; `first` frames are left out, and Ctrl+C strikes at sample `stop`."""
    vertices, triangles, follow, frames = take_of_a_bar()
    parts = np.arange(settings.get("samples", 1)) / settings.get("samples", 1)
    frames = [a + t * (b - a) for a, b in itertools.pairwise(frames[first:]) for t in parts] + frames[-1:]
    values = Settings(resolution=8, **settings)
    count = (len(frames) - 1) // values.samples + 1
    shot = shots.make_shot(vertices, triangles, follow, len(frames), settings=values, frame_end=count)

    def samples() -> Iterator[Sample]:
        for index, frame in enumerate(frames):
            if index == stop:
                raise KeyboardInterrupt
            yield Sample(index, frame.astype(np.float32), np.eye(4))

    outcome = run.bake(shot, samples(), folder)
    with Store.open(folder, outcome.id) as store:
        return outcome.report, [store.read_result(i) for i in range(len(frames))], frames


@pytest.mark.parametrize("start", ("moving", "settled", "rest"))
def test_the_first_pose_shows_the_input_and_the_rest_is_as_if_it_were_not_there(tmp_path: Any, start: str) -> None:
    report, shown, frames = bake_bar(tmp_path / "with", start=start)
    _, alone, _ = bake_bar(tmp_path / "without", first=1, start=start)
    assert report["restarts"] == [2]
    assert sum("The pose of frame 1 is far from that of frame 2" in line for line in lines(report)) == 1
    assert np.abs(shown[0] - frames[0]).max() < 1e-6
    assert max(np.abs(a - b).max() for a, b in zip(shown[1:], alone, strict=True)) < 1e-3
    assert max(np.abs(a - b).max() for a, b in zip(shown, frames, strict=True)) > 1e-3, "and not all of it is"


def test_arrays_are_enriched_as_a_bake_is(tmp_path: Any) -> None:
    vertices, triangles, follow, frames = take_of_a_bar()
    _, shown, _ = bake_bar(tmp_path)
    stream = sinew.enrich(vertices, triangles, iter(frames), follow, 24.0, resolution=8)
    assert max(np.abs(a - b).max() for a, b in zip(shown, stream, strict=True)) < 1e-3


@pytest.mark.parametrize("start", ("moving", "settled"))
@pytest.mark.parametrize("stop", (1, 2, 3, 4, 8))
def test_an_interrupted_bake_goes_on_over_a_cut_with_the_same_bits(tmp_path: Any, stop: int, start: str) -> None:
    with pytest.raises(Cancelled):
        bake_bar(tmp_path / "cut", stop=stop, start=start)
    _, resumed, _ = bake_bar(tmp_path / "cut", start=start)
    _, whole, _ = bake_bar(tmp_path / "whole", start=start)
    assert np.array_equal(resumed, whole)


def test_several_samples_a_frame_start_on_the_frame_after_the_first_pose(tmp_path: Any) -> None:
    report, shown, frames = bake_bar(tmp_path, samples=4)
    assert report["restarts"] == [2]
    off = [np.abs(a - b).max() for a, b in zip(shown, frames, strict=True)]
    assert max(off[:5]) < 1e-5 < max(off[5:]) < 0.05


def test_a_longer_range_takes_over_what_was_baked_but_not_what_looked_beyond_its_end(tmp_path: Any) -> None:
    """The old range ends on the first frame of a jump, which only the next frames tell."""
    vertices, triangles, follow, frames = take_of_a_bar()
    row = [*(bent_bar(vertices, 0.5 * k) for k in range(10)), *frames[1:]]

    def baked(folder: Any, count: int, previous: str = "") -> run.Outcome:
        shot = shots.make_shot(vertices, triangles, follow, count, settings=Settings(resolution=8))
        samples = (Sample(i, frame.astype(np.float32), np.eye(4)) for i, frame in enumerate(row[:count]))
        return run.bake(shot, samples, folder, previous=previous)

    short = baked(tmp_path / "a", 11)
    longer, fresh = baked(tmp_path / "a", len(row), short.id), baked(tmp_path / "b", len(row))
    assert longer.report["restarts"] == fresh.report["restarts"] == [11]
    assert 0 < longer.report["computed"] < len(row)
    names = ("simulated.f64", "velocity.f64", "result.pc2")
    assert all((longer.folder / name).read_bytes() == (fresh.folder / name).read_bytes() for name in names)


def test_a_teleport_leaves_steady_flesh_on_its_input() -> None:
    vertices, triangles, follow = bar()
    frames = [vertices + [0.05 * k, 0, 0] + ([30.0, 5.0, 0.0] if k >= 5 else [0, 0, 0]) for k in range(10)]
    for frame, surface in zip(frames, sinew.enrich(vertices, triangles, frames, follow, resolution=8), strict=True):
        assert np.abs(surface - frame).max() < 2e-3
