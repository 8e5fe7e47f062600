"""What bodies that collide tell the native contact and keep of it: surfaces, obstacles, states of any length, points.
Contact and ensemble are fakes here, which move nothing and remember what they were told."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bodies import box_surface
from shots import make_shot
from sinew.core.bake import contact, method, obstacles, run, told_contact
from sinew.core.bake.collisions import CollisionSettings
from sinew.core.bake.contact import Body, Collided
from sinew.core.bake.method import Layout
from sinew.core.bake.move import Move, Touch, Touched, World
from sinew.core.bake.settings import BakeSettings
from sinew.core.bake.shot import Sample
from sinew.core.bake.store import Store
from sinew.core.flesh.settings import Settings
from sinew.core.methods.enrich import METHOD

REST, TRIANGLES = box_surface((4, 2, 2), (1.0, 0.3, 0.3))
FLAT = np.array([(0, 1, 2)], np.int32)
HERE = np.eye(4)


@dataclass
class Mesh:
    name: str
    vertices: int
    triangles: Any = field(default_factory=lambda: FLAT)
    shape: Any = None
    thickness: float = 0.02
    friction: float | None = None


def collided(**changes: Any) -> Collided:
    wall = Mesh("wall", 3, shape=np.eye(3, dtype=np.float32), friction=0.7)
    return Collided(obstacles=obstacles.gather([wall, Mesh("soft", 4)]), **changes)


def touch_of(read: Collided, state: bytes = b"", lift: float = 0.1, **values: Any) -> Touch:
    """Of a body that stands still, while the wall is lifted."""
    lifted = HERE.copy()
    lifted[2, 3] = lift
    soft = np.zeros((4, 3), np.float32)
    ends = ((np.concatenate([HERE, HERE]), soft), (np.concatenate([HERE, lifted]), soft + 1.0))
    body = Body(CollisionSettings(collide=True, **values), REST, TRIANGLES, 2.0, read, ends[0])
    return body.touch((None, REST, REST, None), ends, state, True)


def test_a_body_and_what_it_meets_are_told_in_metres() -> None:
    weights = np.linspace(0.0, 1.0, len(REST))
    read = collided(friction=weights, thickness=1.0 - weights, ground=-0.4)
    touch = touch_of(read, thickness=0.01, friction=0.5, collision_distance=0.002)
    assert touch.member["friction"] == pytest.approx(0.5 * weights)
    assert touch.member["thickness"] == pytest.approx(0.02 * (1.0 - weights))
    assert touch.settings["gap"] == pytest.approx(0.004) and touch.settings["separate"] == 2.0
    soft, wall, ground = touch.obstacles
    assert [len(one["rest"]) for one in (soft, wall, ground)] == [4, 3, 8] and touch.meets == [True] * 3
    assert wall["friction"].tolist() == [0.7] * 3 and soft["friction"].tolist() == [0.5] * 4
    assert np.array_equal(wall["triangles"], FLAT) and wall["thickness"].tolist() == [0.02] * 3
    assert touch.ways[0][1] == pytest.approx(np.ones((4, 3)))
    assert touch.ways[1][0] == pytest.approx(np.eye(3))
    assert touch.ways[1][1] == pytest.approx(np.eye(3) + (0.0, 0.0, 0.1))
    assert touch.ways[2][0][:, 2].max() == -0.4


def test_with_object_collision_off_only_the_ground_is_left() -> None:
    touch = touch_of(collided(ground=0.0), object_collision=False)
    assert touch.meets == [False, False, True] and not touch.member["body_collision"]


def test_groups_that_ignore_each_other_are_told_whatever_else_a_vertex_is_in() -> None:
    arm, body = (REST[:, 0] > 0.5).astype(float), (REST[:, 2] > 0.1).astype(float)
    touch = touch_of(collided(ignored={"Arm": arm, "Body": body}), ignored_pairs="Arm:Body")
    groups, ignored = touch.member["groups"], touch.ignored.tolist()
    for a, b in np.random.default_rng(2).integers(0, len(REST), (200, 2)):
        wanted = bool(arm[a] and body[b] or arm[b] and body[a])
        both = ((groups[a], groups[b]), (groups[b], groups[a]))
        assert any(one >> i & 1 and other >> j & 1 for one, other in both for i, j in ignored) == wanted


class FakeContact:
    def __init__(self, touches: Any) -> None:
        self.touches, self.led = list(touches), list[tuple[Any, ...]]()

    def lead(self, *told: Any) -> None:
        self.led.append(told)

    def state(self) -> bytes:
        return bytes([len(self.led)])

    def report(self) -> dict[str, Any]:
        return {"planes": 3}


class FakeEnsemble:
    def __init__(self, simulations: Any, met: Any = None) -> None:
        self.count, self.met = len(simulations), met

    def advance(self, moves: Any, *monitor: Any) -> list[Any]:
        return [("together", self.count, *arguments) for arguments in moves]


class FakeSimulation:
    def advance(self, *arguments: Any) -> Any:
        return ("alone", *arguments)


@pytest.fixture
def contacts(monkeypatch: pytest.MonkeyPatch) -> list[FakeContact]:
    made: list[FakeContact] = []

    def make(touches: Any) -> FakeContact:
        made.append(FakeContact(touches))
        return made[-1]

    monkeypatch.setattr("sinew.core.bake.move.make_contact", make)
    monkeypatch.setattr("sinew.core.bake.move.make_ensemble", FakeEnsemble)
    return made


def test_one_that_touches_goes_with_a_contact_of_its_own_and_its_state_goes_on(contacts: list[FakeContact]) -> None:
    world, simulation = World(), FakeSimulation()
    assert world.advance([Move(simulation, (1,))]) == [("alone", 1)] and not contacts
    (first,) = world.advance([Move(simulation, (2,), touch=touch_of(collided()))])
    assert isinstance(first, Touched) and first.numbers == ("together", 1, 2) and first.state == b"1 \1"
    (second,) = world.advance([Move(simulation, (3,), touch=touch_of(collided(), first.state))])
    (only,) = contacts
    assert [told[2] for told in only.led] == [None, b"\1"] and second.state == b"1 \2"


def test_what_was_touched_counts_only_for_the_same_bodies(contacts: list[FakeContact]) -> None:
    world, pair = World(), [FakeSimulation(), FakeSimulation()]

    def go(state: bytes, *who: int) -> list[Any]:
        moves = [Move(pair[k], (k,), touch=touch_of(collided(), state)) if k in who else None for k in (0, 1)]
        return world.advance(moves)

    both = go(b"", 0, 1)
    assert [one.member for one in both] == [0, 1] and both[0].state == both[1].state == b"11 \1"
    none, alone = go(both[1].state, 1)  # the other has a cut
    assert none is None and alone.member == 0 and alone.state == b"-1 \1"
    assert contacts[1].led[0][2] is None
    go(alone.state, 0, 1)
    assert contacts[0].led[1][2] is None


def test_contacts_of_a_body_are_packed_and_damaged_ones_are_none() -> None:
    report: Mapping[str, Any] = {
        "points": np.arange(9.0).tobytes(),
        "normals": np.tile([0.0, 0.0, 1.0], 3).tobytes(),
        "forces": np.array([1.0, 2.0, 3.0]).tobytes(),
        "surfaces": np.array([(0, 1), (1, 0), (2, 1)], np.int32).tobytes(),
        "exempt_points": np.ones(3).tobytes(),
        "exempt_surfaces": np.array([(0, 0)], np.int32).tobytes(),
        "rounds": 2,
    }
    points = contact.points_of(Touched((), b"", report, 0))
    again = contact.unpacked(points.packed())
    assert again is not None
    assert again.places.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]  # the third is none of this body's
    assert again.normals[:, 2].tolist() == [1.0, -1.0] and again.forces.tolist() == [1.0, 2.0]
    assert again.exempt.tolist() == [[1.0, 1.0, 1.0]]
    assert contact.numbers_of(Touched((), b"", report, 0))["contact_rounds"] == 2.0
    assert contact.unpacked(points.packed()[:-1]) is None and contact.unpacked(b"") is None


def test_files_are_there_only_for_one_that_collides() -> None:
    assert contact.files_of({}) == Layout()
    files = contact.files_of(collided(is_keyed=True).counts())
    assert files.pieces == (contact.STATE, contact.POINTS) and contact.KEYED in files.inputs
    assert obstacles.DEFORMED in files.inputs and "obstacle_triangles" in files.constants


@pytest.fixture
def noted() -> Iterator[None]:
    """Flesh whose samples have notes of any length."""

    def layout(vertices: int, counts: Mapping[str, int]) -> Layout:
        return dataclasses.replace(METHOD.layout(vertices, counts), pieces=("notes",))

    method.register(dataclasses.replace(METHOD, layout=layout))
    yield
    method.register(METHOD)


def test_pieces_of_any_length_are_kept_hashed_copied_and_shared(tmp_path: Path, noted: None) -> None:
    settings: BakeSettings = Settings(resolution=4, simulate=False)
    shot = make_shot(REST, TRIANGLES, np.ones(len(REST)), 3, settings=settings)
    source = (Sample(k, REST.astype(np.float32), np.eye(4)) for k in range(3))
    outcome = run.bake(shot, source, tmp_path)
    with Store.open(tmp_path, outcome.id, writable=True) as store:
        assert store.read_piece("notes", 1) == b""
        before = store.digest(1)
        store.write_piece("notes", 1, b"long one")
        store.write_piece("notes", 0, b"zero")
        store.write_piece("notes", 1, b"short")
        store.write_piece("notes", 2, b"")
        store.write_piece("notes", 0, b"longer than before")
        wanted = [b"longer than before", b"short", b""]
        assert [store.read_piece("notes", k) for k in range(3)] == wanted
        assert store.digest(1) != before
        for k in range(3):
            mark = store.marks[k]
            assert mark is not None
            store.mark_done(k, mark.result, mark.numbers)
        with Store.fork(tmp_path, store) as fork:
            fork.write_piece("notes", 2, b"of the fork alone")
            assert store.read_piece("notes", 2) == b"" and fork.read_piece("notes", 0) == wanted[0]
            fork.copy_from(store, 3)
            assert [fork.read_piece("notes", k) for k in range(3)] == wanted
    with Store.open(tmp_path, outcome.id) as store:
        assert [store.read_piece("notes", k) for k in range(3)] == wanted
    with open(outcome.folder / "notes.bin", "r+b") as file:
        file.truncate(3)
    with Store.open(tmp_path, outcome.id) as store:
        mark = store.marks[0]
        assert mark is not None and store.read_piece("notes", 0) == b"" and store.digest(0) != mark.data


def test_pairs_of_ignored_groups_are_no_matter_of_a_check() -> None:
    settings = CollisionSettings(collide=True, ignored_pairs="Arm:Body, Ear:Ear")
    weights = {"Arm": [1, 1, 0, 0, 0, 0], "Body": [0, 0, 1, 1, 1, 0], "Ear": [0, 0, 0, 1, 1, 1]}
    read = {name: np.array(one, float) for name, one in weights.items()}
    bits, pairs = contact.ignored_groups(settings, read, 6)
    edges = np.array([(0, 1), (2, 3), (0, 2), (3, 4), (5, 0)], np.int32)
    triangles = np.array([(2, 3, 4), (0, 1, 1), (2, 3, 4), (3, 4, 5), (3, 4, 5)], np.int32)
    assert told_contact.ignores(bits, pairs, edges, triangles).tolist() == [True, True, False, True, False]
