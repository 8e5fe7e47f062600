"""Contact against ipctk: what crosses, how far pairs are apart, and when they come near."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import referee
from bodies import box_surface, rod, sphere
from shots import make_shot
from sinew.core.bake import obstacles, run
from sinew.core.bake.before import Member
from sinew.core.bake.contact import Collided
from sinew.core.bake.shot import Sample
from sinew.core.bake.spool import Given
from sinew.core.bake.store import Store
from sinew.core.base.native import module
from sinew.core.flesh.settings import Settings
from sinew.core.geometry.crossings import find_crossings
from sinew.core.methods.tracks.cloth import Acting, Cloth
from sinew.core.methods.tracks.guide import find_regions, make_averages
from sinew.core.methods.tracks.settings import Settings as ClothSettings
from test_crossings import calf, edges_of

Floats = npt.NDArray[np.float64]
BAG = sphere(12, 16, (0.1, 0.1, 0.3))
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


Mesh = tuple[Floats, npt.NDArray[np.int32]]
FREE = {"resolution": 5, "free_body": True, "young": 1e5, "damping_stiffness": 0.01}
COUNT = 10


class Ram:
    """A ball that is led from one frame to the next by so much."""

    name, thickness, friction = "ram", 0.0, None

    def __init__(self, centre: tuple[float, float, float], step: tuple[float, float, float]) -> None:
        points, self.triangles = sphere(6, 8, (0.3, 0.3, 0.3))
        self.shape, self.vertices = (points + centre).astype(np.float32), len(points)
        self._step = np.array(step)

    def at(self, k: int) -> Floats:
        place = np.eye(4)
        place[:3, 3] = k * self._step
        return place


def bakes(folder: Path, bodies: list[tuple[Mesh, Any, list[Floats]]], ram: Ram | None, **values: Any) -> list[Mesh]:
    """All that collides as one mesh a frame. Bodies: at rest, what of them follows, frames of the input."""
    read = Collided() if ram is None else Collided(obstacles=obstacles.gather([ram]))
    ground = obstacles.ground(0.0, (0.0, 0.0, 0.5), 1.0)
    read = Collided(obstacles=read.obstacles, ground=0.0)
    members = []
    for number, ((rest, triangles), follow, frames) in enumerate(bodies):
        settings = Settings().replace({"collide": True, "strict": True, **values})
        met = read if settings.collide else None
        name = {"owner_setup": str(number), "owner_object": str(number)}
        shot = make_shot(rest, triangles, follow, COUNT, settings=settings, collided=met, **name)
        outer = {} if ram is None or met is None else {obstacles.MATRICES: ram.at}
        samples = []
        for k in range(COUNT):
            shape = frames[k % len(frames)].astype(np.float32)
            samples.append(Sample(k, shape, np.eye(4), read={name: at(k) for name, at in outer.items()}))
        members.append(Member(shot, Given(samples), world="one"))
    outcomes = run.bake_group(members, folder)
    found = []
    for k in range(COUNT):
        meshes = [ground]
        for outcome, ((_, triangles), _, _) in zip(outcomes, bodies, strict=True):
            with Store.open(outcome.folder.parent, outcome.id) as store:
                meshes.append((store.read_result(k).astype(np.float64), triangles))
        if ram is not None:
            meshes.append((ram.shape + ram.at(k)[:3, 3], ram.triangles))
        starts = np.cumsum([0, *(len(points) for points, _ in meshes)])
        triangles = [sides + start for (_, sides), start in zip(meshes, starts)]
        found.append((np.concatenate([points for points, _ in meshes]), np.concatenate(triangles).astype(np.int32)))
    return found


def thrown(folder: Path, **values: Any) -> list[Mesh]:
    ball, sides = sphere(6, 8, (0.4, 0.4, 0.4))
    bodies = [((ball + (x, 0.0, 0.6), sides), np.zeros(len(ball)), [ball + (x, 0.0, 0.6)]) for x in (-0.45, 0.45)]
    ram = Ram((0.1, 0.2, 2.9), (0.0, 0.0, -0.25))
    return bakes(folder, bodies, ram, **FREE, initial_spin=(0.3, 0.2, 0.0), **values)


def swept(folder: Path, **values: Any) -> list[Mesh]:
    """At 60 m/s."""
    ball, sides = sphere(6, 8, (0.4, 0.4, 0.4))
    ball = ball + (0.0, 0.0, 0.6)
    ram = Ram((-3.3, 0.1, 0.5), (2.5, 0.0, 0.0))
    weightless = {"gravity": (0.0, 0.0, 0.0)}
    return bakes(folder, [((ball, sides), np.zeros(len(ball)), [ball])], ram, **FREE, **weightless, **values)


def closed(folder: Path, **values: Any) -> list[Mesh]:
    """A horseshoe whose input runs through itself where it is free."""
    rest, sides = rod(0.15, 3.0, 10, 30)
    rest = rest - (rest.min(axis=0) + rest.max(axis=0)) / 2.0 + np.random.default_rng(3).normal(0.0, 1e-3, rest.shape)

    def bent(turn: float) -> Floats:
        angle = 2.0 * np.pi * turn / 3.0
        (x, y, z), radius = rest.T, 1.0 / angle
        return np.stack([(radius - y) * np.sin(angle * x), radius - (radius - y) * np.cos(angle * x), z + 0.6], 1)

    frames = [bent(min(0.6 + 0.09 * k, 1.15)) for k in range(COUNT)]
    follow = (np.abs(rest[:, 0]) < 0.4).astype(float)
    return bakes(folder, [((frames[0], sides), follow, frames)], None, resolution=20, jiggle=4.0, **values)


def pressed(folder: Path, **values: Any) -> list[Mesh]:
    """A ball presses on flesh that is held below, down to where the flesh follows."""
    rest, sides = box_surface((8, 8, 4), (1.0, 1.0, 0.4))
    rest = rest + (-0.5, -0.5, 0.1)
    ram = Ram((0.03, 0.02, 1.0), (0.0, 0.0, -0.062))
    return bakes(folder, [((rest, sides), (rest[:, 2] < 0.15).astype(float), [rest])], ram, resolution=10, **values)


def judged(frames: list[Mesh]) -> npt.NDArray[np.bool_]:
    """Which frames the referee finds intersections in."""
    positions, triangles = np.stack([points for points, _ in frames]), frames[0][1]
    edges = edges_of(triangles)
    answer = referee.ask("frames", rest=positions[0], edges=edges, triangles=triangles, positions=positions)
    found: npt.NDArray[np.bool_] = answer["any"]
    return found


@pytest.mark.parametrize("scene", [thrown, closed, pressed])
def test_no_frame_of_a_strict_bake_has_intersections_for_the_referee(
    tmp_path: Path, scene: Callable[..., list[Mesh]]
) -> None:
    assert judged(scene(tmp_path / "off", collide=False, strict=False)).any()  # without, it would run through
    assert not judged(scene(tmp_path / "on")).any()


def test_what_a_ram_meets_at_60_metres_a_second_goes_along_with_it(tmp_path: Path) -> None:
    frames = swept(tmp_path)
    assert not judged(frames).any()
    ground, ball = 8, len(sphere(6, 8, (0.4, 0.4, 0.4))[0])
    places = np.stack([points[ground:, 0] for points, _ in frames])
    assert abs(places[1, :ball].mean()) < 0.5 and places[-1, :ball].mean() > 0.9 * places[-1, ball:].mean() > 15.0


def led_through_itself(frame: int) -> Floats:
    """A bag that travels while its ends are turned to one side and, after some frames, through each other."""
    points, _ = BAG
    angle = 0.015 * frame**2 * np.sin(0.5 * np.pi * np.clip(points[:, 2] / 0.2, -1.0, 1.0))
    x, y, z = points.T
    cos, sin = np.cos(angle), np.sin(angle)
    return np.stack([x * cos + z * sin + 0.02 * frame, y, z * cos - x * sin], axis=1)


def test_no_frame_of_a_bag_whose_guide_goes_through_itself_does() -> None:
    """Its averages go where the guide has them all the same, and it is not torn."""
    sides = BAG[1]
    guide = [led_through_itself(frame) for frame in range(14)]
    averages = make_averages(guide[0], sides, find_regions(guide[::4], sides, 3, 0.5))
    settings = ClothSettings().replace({"collide": True, "bend": 1e-4})
    cloth = Cloth(guide[0], sides, np.zeros(len(guide[0])), settings, 24.0, averages=averages)
    cloth.collide(Collided(), (None, None))
    acting = Acting(ends=((None, None), (None, None)))
    state, shown = cloth.begin(guide[0], guide[1]), [guide[0]]
    for frame in range(1, len(guide) - 1):
        state, step = cloth.advance(state, (guide[max(frame - 2, 0)], *guide[frame - 1 : frame + 2]), acting)
        shown.append(state.positions)
        assert step.residual < 1e-10 * cloth.size
    edges = edges_of(sides)

    def crosses(frames: list[Floats]) -> Any:
        return referee.ask("frames", rest=guide[0], edges=edges, triangles=sides, positions=np.array(frames))["any"]

    assert crosses(guide).sum() >= 4 and not crosses(shown).any()
    lengths = [np.linalg.norm(one[edges[:, 0]] - one[edges[:, 1]], axis=1) for one in (guide[0], shown[-1])]
    assert np.quantile(lengths[1] / lengths[0], 0.95) < 1.2
