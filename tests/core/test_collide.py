"""Flesh that collides: soft bodies dropped, thrown, pressed and let through, baked, and looked at as exported."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import box_surface, sphere
from shots import make_shot
from sinew.core.bake import contact, obstacles, remake, run
from sinew.core.bake.before import Member
from sinew.core.bake.contact import Collided
from sinew.core.bake.shot import Sample, Shot
from sinew.core.bake.spool import Given
from sinew.core.bake.store import Store
from sinew.core.base.errors import Cancelled
from sinew.core.base.native import module
from sinew.core.cage.cage import Cage
from sinew.core.cage.safe import measure_filling
from sinew.core.edit.handles import Edits, Handle
from sinew.core.flesh.enrich import enrich
from sinew.core.flesh.settings import Settings
from sinew.core.geometry.crossings import find_crossings
from sinew.core.geometry.surface import areas_and_size

BALL, BALL_TRIANGLES = sphere(7, 10, (0.5, 0.5, 0.5))
SOFT = {"resolution": 5, "free_body": True, "young": 1e5, "damping_stiffness": 0.01, "collide": True}
GAP = 0.001  # of size, which is about that of the box around a ball


def shot_of(at: Any, count: int, read: Collided | None, name: str = "ball", **values: Any) -> Shot:
    settings = Settings().replace({**SOFT, **values})
    rest = BALL + np.array(at)
    met = read if settings.collide else None
    follow = np.zeros(len(rest))
    return make_shot(rest, BALL_TRIANGLES, follow, count, settings=settings, collided=met, owner_setup=name)


def still(shot: Shot, **read: Any) -> Iterator[Sample]:
    """The input stands still; what is read of a sample is told by its number."""
    for k in range(shot.samples):
        more = {name: values(k) for name, values in read.items()}
        yield Sample(k, shot.rest.astype(np.float32), np.eye(4), read=more)


def surfaces(outcome: run.Outcome) -> np.ndarray:
    with Store.open(outcome.folder.parent, outcome.id) as store:
        return np.array([store.read_result(k) for k in range(store.manifest.samples)], np.float64)


def numbers(outcome: run.Outcome, name: str) -> list[float]:
    with Store.open(outcome.folder.parent, outcome.id) as store:
        return [getattr(mark.numbers, name) for mark in store.marks if mark is not None]


def simulated(outcome: run.Outcome) -> np.ndarray:
    with Store.open(outcome.folder.parent, outcome.id) as store:
        return np.array([store.read("simulated", k) for k in range(store.manifest.samples)])


def crossings(*meshes: Any, own: bool = True) -> int:
    return len(find_crossings(meshes, own).edges)


def dropped(folder: Path, count: int = 16, height: float = 0.55, **values: Any) -> run.Outcome:
    shot = shot_of((0.0, 0.0, height), count, Collided(ground=0.0), **values)
    return run.bake(shot, still(shot), folder)


def test_a_ball_that_is_dropped_bounces_and_rests_on_the_ground_at_its_gap(tmp_path: Path) -> None:
    outcome = dropped(tmp_path, 40, damping_stiffness=0.04, initial_velocity=(0.0, 0.0, -1.0))
    shown = surfaces(outcome)
    lowest = shown[:, :, 2].min(axis=1)
    middle = shown[:, :, 2].mean(axis=1)
    assert (lowest > 0.0).all()
    assert middle.min() < middle[-1] - 0.01  # it was pressed together, ...
    assert middle.max() > 0.55 - 0.05
    assert lowest[-5:] == pytest.approx(GAP, rel=0.03)
    assert np.abs(np.diff(middle[-4:])).max() < 1e-3  # ... and has come to rest
    ground = obstacles.ground(0.0, (0.0, 0.0, 0.5), 1.0)
    assert sum(crossings((frame, BALL_TRIANGLES), ground) for frame in shown) == 0
    assert max(numbers(outcome, "planes")) > 3 and sum(numbers(outcome, "exempt")) == 0


def test_without_collide_it_falls_through(tmp_path: Path) -> None:
    outcome = dropped(tmp_path, 12, collide=False)
    assert surfaces(outcome)[-1, :, 2].max() < 0.5


@pytest.mark.once
def test_steps_that_an_impact_makes_too_rough_are_cut(tmp_path: Path) -> None:
    """A fast ball, against the same with thirty-two steps a frame: nearer to it than with the three that it takes where
    it flies, for about twice as many."""
    kept = {"damping_stiffness": 0.04, "initial_velocity": (0.0, 0.0, -4.0)}
    truth, whole, cut = (
        dropped(tmp_path / str(steps), 12, substeps=steps, **kept) for steps in (32, 3, 0)
    )  # 0: as it needs
    off, better = (np.sqrt(np.mean((surfaces(one) - surfaces(truth)) ** 2)) for one in (whole, cut))
    assert better < 0.8 * off, (better, off)
    assert sum(numbers(whole, "substeps")) < sum(numbers(cut, "substeps")) < 2.5 * sum(numbers(whole, "substeps"))


def test_with_nothing_near_it_has_the_bits_of_one_that_does_not_collide(tmp_path: Path) -> None:
    on, off = (dropped(tmp_path / str(k), 6, 30.0, collide=k == 1) for k in (1, 0))
    assert np.array_equal(simulated(on), simulated(off)) and np.array_equal(surfaces(on), surfaces(off))
    assert sum(numbers(on, "ccds")) > 0
    near = dropped(tmp_path / "near", 10, 0.55)
    assert not np.array_equal(simulated(near)[-1] - 0.55, simulated(off)[-1] - 30.0)


def test_a_bake_that_is_cut_off_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    whole = dropped(tmp_path / "whole", 14)
    shot = shot_of((0.0, 0.0, 0.55), 14, Collided(ground=0.0))

    def until(sample: int) -> Iterator[Sample]:
        for one in still(shot):
            if one.index == sample:
                raise Cancelled("enough")
            yield one

    with pytest.raises(Cancelled):
        run.bake(shot, until(11), tmp_path / "part")
    part = run.bake(shot, still(shot), tmp_path / "part")
    assert numbers(whole, "planes")[7] > 0
    assert np.array_equal(simulated(whole), simulated(part))


@pytest.mark.once
def test_the_bits_do_not_depend_on_the_number_of_threads(tmp_path: Path) -> None:
    found = []
    for threads in (1, 2, 4):
        module.set_threads(threads)
        found.append(simulated(dropped(tmp_path / str(threads), 9)))
    module.set_threads(0)
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def test_keyed_off_it_passes_through(tmp_path: Path) -> None:
    shot = shot_of((0.0, 0.0, 0.55), 14, Collided(ground=0.0, is_keyed=True))
    passes = run.bake(shot, still(shot, collide_now=lambda k: np.zeros(1)), tmp_path / "off")
    holds = run.bake(shot, still(shot, collide_now=lambda k: np.ones(1)), tmp_path / "on")
    assert surfaces(passes)[-1, :, 2].max() < 0.4
    assert surfaces(holds)[:, :, 2].min() > 0.0
    assert np.array_equal(simulated(holds), simulated(dropped(tmp_path / "plain", 14)))


def masses(outcome: run.Outcome, shot: Shot) -> np.ndarray:
    """Of the cage's vertices, as the simulation has them."""
    with Store.open(outcome.folder.parent, outcome.id) as store:
        cage = Cage(*(store.constant(f"cage_{name}") for name in ("vertices", "tets", "binding", "weights")))
    areas, size = areas_and_size(shot.rest, shot.triangles)
    fill, thickness = measure_filling(cage, shot.rest, shot.triangles, None, None)
    paint = {"follow": np.zeros(len(shot.rest)), "fill": fill, "thickness": thickness}
    young, mass, drive = np.zeros(len(cage.tets)), np.zeros(len(cage.vertices)), np.zeros(len(cage.vertices))
    told = {"young": shot.settings.young, "size": size}
    module.Enrich.material(cage.native, areas, told, paint, young, mass, drive, np.zeros(len(mass), np.int32))
    return mass


def test_two_bodies_meet_and_keep_their_momentum(tmp_path: Path) -> None:
    weightless = {"gravity": (0.0, 0.0, 0.0)}
    shots = [
        shot_of((-0.6, 0.0, 0.0), 14, Collided(), "left", initial_velocity=(2.0, 0.0, 0.0), **weightless),
        shot_of((0.6, 0.1, 0.0), 14, Collided(), "right", initial_velocity=(-1.0, 0.0, 0.0), **weightless),
    ]
    members = [Member(shot, Given(still(shot)), world="one") for shot in shots]
    outcomes = run.bake_group(members, tmp_path)
    for one, other in zip(*map(surfaces, outcomes), strict=True):
        assert crossings((one, BALL_TRIANGLES), (other, BALL_TRIANGLES)) == 0
    assert max(numbers(outcomes[0], "planes")) > 3
    mass = [masses(*both) for both in zip(outcomes, shots, strict=True)]

    def momenta(k: int) -> np.ndarray:
        found = []
        for outcome, own in zip(outcomes, mass, strict=True):
            with Store.open(outcome.folder.parent, outcome.id) as store:
                found.append(own @ store.read("velocity", k))
        return np.array(found)

    begun, ended = momenta(0), momenta(13)
    assert begun[:, 0] == pytest.approx([2.0 * mass[0].sum(), -1.0 * mass[1].sum()], rel=1e-6)
    assert ended[0, 0] < 0.2 * mass[0].sum() and ended[1, 0] > 0.8 * mass[1].sum()  # they bounced
    assert ended.sum(axis=0) == pytest.approx(begun.sum(axis=0), abs=1e-9 * np.abs(begun).sum())


def spiky(height: float) -> Any:
    """A block at a height with a spike below, which its frames have and its rest has not: no matter of the cage."""
    rest, triangles = box_surface((10, 10, 3), (1.0, 1.0, 0.4))
    spike = np.flatnonzero((np.abs(rest[:, :2] - 0.5).max(axis=1) < 1e-9) & (rest[:, 2] == 0.0))
    frame = rest.copy()
    frame[spike, 2] -= 0.06
    return rest + (0.0, 0.0, height), triangles, frame + (0.0, 0.0, height), int(spike[0])


def test_what_is_exported_collides_with_its_detail_and_not_the_cage(tmp_path: Path) -> None:
    rest, triangles, frame, spike = spiky(0.3)
    settings = Settings().replace({**SOFT, "resolution": 3, "young": 1e6})
    shot = make_shot(rest, triangles, np.zeros(len(rest)), 12, settings=settings, collided=Collided(ground=0.0))
    samples = (Sample(k, frame.astype(np.float32), np.eye(4)) for k in range(12))
    shown = surfaces(run.bake(shot, samples, tmp_path))
    others = np.arange(len(rest)) != spike
    assert shown[:, :, 2].min() > 0.0
    stands = shown[:, spike, 2] < 1.1 * GAP
    assert shown[stands][:, others, 2].min(axis=1).max() > 0.015  # on its spike alone


def test_a_wall_that_comes_pushes_it_away(tmp_path: Path) -> None:
    corners = np.array([(x, y, z) for x in (-0.1, 0.1) for y in (-1.0, 1.0) for z in (-1.0, 1.0)], np.float32)
    _, sides = obstacles.ground(0.0, (0.0, 0.0, 0.0), 1.0)

    class Wall:
        name, vertices, triangles, shape, thickness, friction = "wall", 8, sides[:, ::-1], corners, 0.01, None

    read = Collided(obstacles=obstacles.gather([Wall()]))
    shot = shot_of((0.0, 0.0, 0.0), 12, read, gravity=(0.0, 0.0, 0.0))

    def wall(k: int) -> np.ndarray:
        place = np.eye(4)
        place[0, 3] = -1.0 + 0.06 * k
        return place

    outcome = run.bake(shot, still(shot, **{obstacles.MATRICES: wall}), tmp_path)
    shown = surfaces(outcome)
    for k, frame in enumerate(shown):
        assert crossings((frame, BALL_TRIANGLES), (corners + wall(k)[:3, 3], Wall.triangles)) == 0
    away = shown[:, :, 0].min(axis=1) - (-0.9 + 0.06 * np.arange(12))
    assert away.min() > 0.1 * (0.01 + GAP) and away[7:9] == pytest.approx(0.01 + GAP, rel=0.05)
    assert shown[0, :, 0].mean() + 0.1 < shown[-1, :, 0].mean()
    with Store.open(outcome.folder.parent, outcome.id) as store:
        points = contact.unpacked(store.read_piece(contact.POINTS, 11))
    assert points is not None and len(points.forces) and (points.forces > 0.0).all()
    strongest = int(points.forces.argmax())
    assert points.normals[strongest, 0] > 0.9  # away from the wall

    def pulled(kept: str) -> list[int]:
        """Where an edit that pulls the ball about brings it into the wall."""
        handle = Handle((int(BALL[:, 2].argmax()),), 7.0, (-0.3, 0.0, 0.0))
        edits = Edits(handles=(handle,), contacts=kept).to_text()
        frames = surfaces(remake.remake(tmp_path, outcome.id, shot.settings.replace({"edits": edits})))
        walls = [(corners + wall(k)[:3, 3], Wall.triangles) for k in range(len(frames))]
        return [k for k, frame in enumerate(frames) if crossings((frame, BALL_TRIANGLES), walls[k])]

    assert pulled("") and not pulled("above")


def test_a_settled_start_stands_on_the_ground_and_not_in_it(tmp_path: Path) -> None:
    rest, triangles = box_surface((6, 2, 2), (1.5, 0.3, 0.3))
    rest = rest + (0.0, 0.0, 0.02)
    follow = (rest[:, 0] < 0.3).astype(float)
    count = 6

    def begun(folder: str, **values: Any) -> np.ndarray:
        chosen = {"resolution": 7, "keep_pose": 0.0, "jiggle": 1.0, "start": "settled", **values}
        read = Collided(ground=0.0) if values else None
        shot = make_shot(rest, triangles, follow, count, settings=Settings().replace(chosen), collided=read)
        return surfaces(run.bake(shot, still(shot), tmp_path / folder))

    assert begun("off")[0, :, 2].min() < -0.05  # it sags that far
    shown = begun("on", collide=True)
    assert (shown[:, :, 2] > 0.0).all()
    assert np.abs(shown[-1] - shown[0]).max() < 0.02  # at rest, nearly


def test_arrays_are_enriched_with_obstacles() -> None:
    rest = BALL + (0.0, 0.0, 0.55)
    table = obstacles.ground(0.0, (0.0, 0.0, 0.5), 1.0)
    free = {key: value for key, value in SOFT.items() if key != "collide"}
    falls, lies, stands = (
        np.array(list(enrich(rest, BALL_TRIANGLES, [rest] * 9, np.zeros(len(rest)), **free, **more)))
        for more in ({}, {"collide": True, "obstacles": [table]}, {"collide": True, "ground": True})
    )
    assert falls[-1, :, 2].min() < -0.2
    assert lies[:, :, 2].min() > 0.0 and stands[:, :, 2].min() > 0.0
