"""Contact against ipctk: what crosses, how far pairs are apart, and when they come near."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import referee
from sinew.core.base.native import module
from sinew.core.geometry.crossings import find_crossings
from test_crossings import calf, edges_of

Floats = npt.NDArray[np.float64]
pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not referee.AVAILABLE, reason="ipctk is not here: python3 tests/tools/environment.py referee"),
]


def distances_of(points: Floats, edges: bool) -> Floats:
    distances = np.empty(len(points))
    module.pair_distances(points, edges, distances)
    return distances


def judge_pairs(begin: Floats, end: Floats, edges: bool, gap: float) -> Floats:
    """Checks distances and times of pairs; returns our times.

    We prove that a distance stays above `kept`, and stop within a hundredth of it. The judge's time for a distance is
    never late; it is early by no more than its tolerance, and as it measures along the axes one by one, by no more than
    a root of 3. So, asked for less and for a little more, it gives bounds."""
    distances = distances_of(begin, edges)
    kept = np.minimum(0.1 * gap, 0.9 * distances)
    less = np.maximum(kept - 10.0 * referee.TOLERANCE, 0.0) / np.sqrt(3.0)
    answer = referee.ask("pairs", begin=begin, end=end, edges=edges, least=np.stack([less, 1.02 * kept]))
    assert np.abs(answer["distances"] - distances).max() < 1e-9
    times = np.empty(len(begin))
    module.pair_times(begin, end, edges, gap, times)
    late, early = answer["times"]
    assert (times <= late + 1e-12).all(), (times - late).max()
    assert (times >= early - 1e-12).all(), (early - times).max()
    assert np.median((late - early)[late < 2.0]) < 0.02  # the bounds say something
    return times


@pytest.mark.parametrize("edges", [False, True])
def test_random_pairs_are_as_far_apart_and_meet_when_the_referee_says(edges: bool) -> None:
    random = np.random.default_rng(8)
    begin = random.uniform(-1.0, 1.0, (2000, 12))
    end = begin + random.uniform(0.05, 1.5, (2000, 1)) * random.uniform(-1.0, 1.0, (2000, 12))
    times = judge_pairs(begin, end, edges, 0.02)
    assert (times < 1.0).sum() > 30 and (times == 2.0).sum() > 100


@pytest.mark.parametrize("seed", range(3))
def test_random_triangles_cross_where_the_referee_says(seed: int) -> None:
    random = np.random.default_rng(seed)
    centres = random.uniform(-1.0, 1.0, (60, 1, 3))
    points = (centres + random.uniform(-0.6, 0.6, (60, 3, 3))).reshape(-1, 3)
    triangles = np.arange(180, dtype=np.int32).reshape(-1, 3)
    edges = edges_of(triangles)
    answer = referee.ask("crossings", points=points, edges=edges, triangles=triangles)
    found = find_crossings([(points, triangles)])
    ours = np.concatenate([found.edges[:, 1:], found.triangles[:, 1:]], axis=1)
    theirs = np.concatenate([edges[answer["found"][:, 0]], answer["found"][:, 1:]], axis=1)
    assert np.array_equal(ours, theirs) and len(ours) > 20 and answer["any"]


def legs_together(amount: float) -> Floats:
    """The calf with its legs turned inwards from the hips down, in radians."""
    points, _ = calf()
    side = np.sign(points[:, 0]) * np.clip(np.abs(points[:, 0]) / 0.05, 0.0, 1.0)
    angle = amount * side * np.clip((0.6 - points[:, 2]) / 0.3, 0.0, 1.0)
    down = points[:, 2] - 0.6
    turned = points[:, 0] * np.cos(angle) + down * np.sin(angle)
    return np.stack([turned, points[:, 1], 0.6 - points[:, 0] * np.sin(angle) + down * np.cos(angle)], axis=1)


def test_a_calf_crosses_its_legs_in_the_frames_that_the_referee_names() -> None:
    rest, triangles = calf()
    positions = np.stack([legs_together(amount) for amount in np.linspace(0.0, 0.6, 13)])
    answer = referee.ask("frames", rest=rest, edges=edges_of(triangles), triangles=triangles, positions=positions)
    ours = np.array([len(find_crossings([(frame, triangles)]).edges) > 0 for frame in positions])
    assert np.array_equal(ours, answer["any"])
    assert not ours[0] and ours[-1]


def test_pairs_of_a_calf_between_two_frames_meet_when_the_referee_says() -> None:
    _, triangles = calf()
    frames = [legs_together(amount) for amount in np.linspace(0.0, 0.6, 25)]
    first = next(k for k, frame in enumerate(frames) if len(find_crossings([(frame, triangles)]).edges))
    begin, end = frames[first - 1], frames[first]
    edges = edges_of(triangles)
    answer = referee.ask("candidates", edges=edges, triangles=triangles, begin=begin, end=end, radius=0.002)
    hits = 0
    for name, is_edges in (("faces", False), ("edges", True)):
        pairs = answer[name][:: max(1, len(answer[name]) // 1500)]
        ways = [np.ascontiguousarray(frame[pairs].reshape(-1, 12)) for frame in (begin, end)]
        hits += int((judge_pairs(ways[0], ways[1], is_edges, 0.005) < 1.0).sum())
    assert hits > 0
