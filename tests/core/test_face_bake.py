"""A face as a bake: a still head gives back its input, a shaken one its jiggle, whether it talks or not."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sinew.core.bake import run
from sinew.core.bake.contact import Collided
from sinew.core.bake.results import world
from sinew.core.bake.shot import Sample, Shot
from sinew.core.bake.store import Store
from sinew.core.base.errors import BadInput, Cancelled
from sinew.core.geometry.crossings import find_crossings
from sinew.core.methods.face import METHOD
from sinew.core.methods.face import cage as cage_module
from sinew.core.methods.face.cage import make_face_cage
from sinew.core.methods.face.edited import Laid
from sinew.core.methods.face.engine import make_enricher
from sinew.core.methods.face.materials import KeyMaterial, parse, stiffness_of_skin, strain_of_skin
from sinew.core.methods.face.painted import make_paint, solid_carried
from sinew.core.methods.face.settings import Settings
from sinew.core.paint.face import JAW, find_face, moves_of_poses, told_by
from sinew.core.paint.follow import Segment
from sinew.core.paint.head_bones import bones_of_head, head_bone
from sinew.core.paint.parts import AS_INPUT

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples"))
import head_mesh  # noqa: E402
from shapes import cap  # noqa: E402

pytestmark = pytest.mark.once

HEAD = head_mesh.build_head(0.007)
NAMES = list(HEAD.keys)
KEYS = np.stack(list(HEAD.keys.values()))
REST = HEAD.vertices.astype(np.float32).astype(np.float64)
FOUND = find_face(REST, HEAD.triangles, KEYS, NAMES)
assert FOUND is not None
FACE = FOUND
PAINT = make_paint(REST, HEAD.triangles, FACE, safe=REST + FACE.opened)
COUNT = 20


def settings(**changes: Any) -> Settings:
    return Settings().replace({**METHOD.fresh, "resolution": 24, **changes})


def turned(degrees: float) -> np.ndarray:
    a = np.radians(degrees)
    return np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])


def talk(seed: int = 5) -> np.ndarray:
    """(frames, keys) values of a wild performance, below 0 and above 1 too."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.1, 0.4, (COUNT, len(NAMES))) * np.linspace(0.0, 1.0, COUNT)[:, None].clip(0.0, 0.2) * 5.0


def speech() -> np.ndarray:
    """(frames, keys) values as people talk: some of the keys, each at its own pace."""
    rng, t = np.random.default_rng(5), np.arange(COUNT)[:, None] / 24.0
    pace = rng.uniform(0.5, 2.5, len(NAMES))
    values: np.ndarray = 0.25 * (1.0 - np.cos(2 * np.pi * pace * t)) * (rng.random(len(NAMES)) < 0.3)
    return values


def frames(values: np.ndarray | None, degrees: Any = None) -> list[np.ndarray]:
    """The surface on each frame: keys at some values, the head turned."""
    posed = [REST if values is None else REST + np.tensordot(values[i], KEYS, 1) for i in range(COUNT)]
    angles = np.zeros(COUNT) if degrees is None else degrees
    return [(pose @ turned(angle).T).astype(np.float32) for pose, angle in zip(posed, angles, strict=True)]


SHAKEN = 25.0 * np.sin(2 * np.pi * np.arange(COUNT) / 8.0) * np.clip(np.arange(COUNT) / 3.0, 0.0, 1.0)


def make_shot(paint: Any = PAINT, **changes: Any) -> Shot:
    return Shot(
        rest=REST, triangles=HEAD.triangles, settings=settings(**changes), method=METHOD, samples=COUNT, first_frame=1,
        frame_start=1, frame_end=COUNT, frame_rate=24.0, gravity=(0.0, 0.0, -9.81), owner_file="shot.blend",
        owner_object="Head", painted=paint,
    )  # fmt: skip


def samples(surfaces: list[np.ndarray], keys: np.ndarray | None = None) -> Iterator[Sample]:
    for index, surface in enumerate(surfaces):
        yield Sample(index, surface, np.eye(4), read={} if keys is None else {"keys": keys[index][:, None]})


def baked(root: Path, surfaces: list[np.ndarray], **changes: Any) -> tuple[run.Outcome, np.ndarray, np.ndarray]:
    """What came of it, how far the simulated cage is from the fitted one on each frame, and how far the surface is
    from its input (frames, t)."""
    outcome = run.bake(make_shot(**changes), samples(surfaces), root)
    with Store.open(root, outcome.id) as store:
        cages = np.array([store.read("simulated", i) - store.read("fitted", i) for i in range(COUNT)])
        shown = np.array([store.read_result(i, "result") for i in range(COUNT)])
    return outcome, np.linalg.norm(cages, axis=2), np.linalg.norm(shown - np.array(surfaces), axis=2)


def test_a_still_head_gives_back_its_input_whatever_it_says(tmp_path: Path) -> None:
    outcome, cages, surface = baked(tmp_path, frames(talk()))
    size = np.ptp(REST, axis=0).max()
    assert cages.max() < 1e-6 * size
    assert surface.max() < 1e-6 * size
    assert outcome.report["inverted_tets"]["fitted"] == 0


COLLIDED = dataclasses.replace(PAINT, collided=Collided())
TEETH = solid_carried(HEAD.triangles, FACE)


def test_a_still_head_that_collides_gives_back_its_input_where_lips_go_through_teeth(tmp_path: Path) -> None:
    surfaces = frames(talk())
    skin = HEAD.triangles[(HEAD.part[HEAD.triangles] == "skin").all(axis=1)]
    meshes = ([(pose.astype(float), skin), (pose.astype(float), TEETH)] for pose in surfaces)
    assert max(len(find_crossings(pair, False)[0]) for pair in meshes) > 10
    outcome, cages, surface = baked(tmp_path, surfaces, paint=COLLIDED, collide=True)
    size = np.ptp(REST, axis=0).max()
    assert cages.max() < 1e-6 * size and surface.max() < 1e-6 * size
    assert outcome.report["contact"]["exempt"]["samples"] > 0


def test_teeth_hold_lips_that_are_thrown_against_them(tmp_path: Path) -> None:
    way = 0.06 * np.sin(2 * np.pi * np.arange(8) / 8.0)
    surfaces = [(REST + [0.0, by, 0.0]).astype(np.float32) for by in way]
    skin = HEAD.triangles[(HEAD.part[HEAD.triangles] == "skin").all(axis=1)]
    through = []
    for changes in ({}, {"paint": COLLIDED, "collide": True}):
        shot = dataclasses.replace(make_shot(jiggle=4.0, **changes), samples=8, frame_end=8)
        outcome = run.bake(shot, samples(surfaces), tmp_path)
        with Store.open(tmp_path, outcome.id) as store:
            shown = [store.read_result(i, "result").astype(float) for i in range(8)]
        through.append(max(len(find_crossings([(one, skin), (one, TEETH)], False)[0]) for one in shown))
    assert through[0] > 50 and through[1] == 0


def test_lashes_and_tear_lines_are_films_that_nothing_touches() -> None:
    closed = HEAD.triangles[np.isin(HEAD.part[HEAD.triangles[:, 0]], ("eye", "upper teeth", "lower teeth", "tongue"))]
    assert sorted(map(tuple, TEETH.tolist())) == sorted(map(tuple, closed.tolist()))
    eye = np.flatnonzero(HEAD.part[HEAD.triangles[:, 0]] == "eye")
    film = np.delete(HEAD.triangles, eye[::2], axis=0)
    assert not (HEAD.part[solid_carried(film, FACE)] == "eye").any()


@pytest.mark.parametrize("scheme", ["tr_bdf2", "implicit_euler"])
def test_with_inertia_expressions_overshoot(tmp_path: Path, scheme: str) -> None:
    values = talk()
    moved = np.abs(np.tensordot(values, KEYS, 1)).max()
    _, light, _ = baked(tmp_path, frames(values), scheme=scheme)
    _, heavy, _ = baked(tmp_path, frames(values), scheme=scheme, expression_inertia=1.0)
    assert light.max() < 1e-6 < 0.02 * moved < heavy.max()


def test_a_shaken_head_jiggles_alike_whether_it_talks_or_not(tmp_path: Path) -> None:
    _, _, silent = baked(tmp_path, frames(None, SHAKEN))
    _, _, talking = baked(tmp_path, frames(talk(), SHAKEN))
    free = FACE.is_free
    assert silent.max() > 1e-3
    assert 0.9 < np.sqrt((talking[:, free] ** 2).mean() / (silent[:, free] ** 2).mean()) < 1.1


def test_rebalancing_is_the_same_by_the_way_of_the_paper(tmp_path: Path) -> None:
    """Algorithm 1 as corrected, beside the change of variable in the same scheme; materials are constant."""
    chosen = {"scheme": "implicit_euler", "substeps": 3}
    _, still, _ = baked(tmp_path, frames(talk()), expression="rebalanced", **chosen)
    assert still.max() < 1e-6 * np.ptp(REST, axis=0).max()
    shaken, free = frames(speech(), SHAKEN), FACE.is_free
    _, _, ours = baked(tmp_path, shaken, **chosen)
    _, _, theirs = baked(tmp_path, shaken, expression="rebalanced", **chosen)
    quotient = np.sqrt((theirs[:, free] ** 2).mean() / (ours[:, free] ** 2).mean())
    assert abs(quotient - 1.0) < 0.03 and not np.array_equal(ours, theirs)
    _, dialled, _ = baked(tmp_path, frames(talk()), expression="rebalanced", expression_inertia=0.5, **chosen)
    assert dialled.max() > 1e-3


def test_what_skull_and_jaw_carry_and_what_is_far_from_flesh_is_as_the_input_to_the_bit(tmp_path: Path) -> None:
    _, _, surface = baked(tmp_path, frames(talk(), SHAKEN))
    assert PAINT.parts is not None
    carried = PAINT.parts.rigid == AS_INPUT
    assert (HEAD.part[~carried] == "skin").all() and carried[HEAD.part == "lower teeth"].all()
    assert surface[:, carried].max() == 0.0
    bone = ~carried & ~FACE.is_free
    assert bone.any() and surface[:, bone].max() < 1e-6


def test_the_jaw_shakes_cheeks_as_much_as_it_is_told(tmp_path: Path) -> None:
    values = np.zeros((COUNT, len(NAMES)))
    values[:, NAMES.index("jawOpen")] = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(COUNT) / 6.0)
    _, none, _ = baked(tmp_path, frames(values))
    _, half, _ = baked(tmp_path, frames(values), jaw_weight=0.5)
    _, whole, _ = baked(tmp_path, frames(values), jaw_weight=1.0)
    assert none.max() < 1e-6 < 3e-4 < half.max() < whole.max()


def test_the_cage_fits_every_key_and_mixture(tmp_path: Path) -> None:
    """At the resolution that a face has by itself; lips have tets of their own."""
    chosen = settings(resolution=0)
    cage = make_face_cage(REST, HEAD.triangles, PAINT, chosen)
    assert not cage.note and cage.safe_vertices is not None
    enricher = make_enricher(REST, HEAD.triangles, PAINT, chosen.replace({"simulate": False}), 24.0, cage)
    rng = np.random.default_rng(1)
    mixtures = [rng.uniform(0.0, 1.0, 5) @ KEYS[rng.choice(len(KEYS), 5, False)].reshape(5, -1) for _ in range(4)]
    moves = [HEAD.keys[name] for name in NAMES if name in ("jawOpen", "mouthPucker", "mouthFunnel", "jawLeft")]
    for move in [*moves, *(mixture.reshape(-1, 3) for mixture in mixtures)]:
        fit = enricher.fit(REST + move)
        assert fit.rms < 0.5e-3 and fit.max < 5e-3 and fit.inverted == 0


def test_a_lower_lip_that_is_driven_far_into_the_face_folds_no_tet() -> None:
    """As correctives do that are meant for an open jaw."""
    chosen = settings(simulate=False)
    cage = make_face_cage(REST, HEAD.triangles, PAINT, chosen)
    fit = make_enricher(REST, HEAD.triangles, PAINT, chosen, 24.0, cage).fit(REST - 1.5 * FACE.opened)
    assert fit.inverted == 0 and fit.rms < 1e-3


def test_a_cage_that_is_built_with_the_mouth_closed_or_welded_fits_worse() -> None:
    from sinew.core.flesh.enricher import Enricher

    chosen = settings()
    opened = REST + FACE.opened
    off = []
    for paint, apart in ((PAINT, True), (dataclasses.replace(PAINT, safe=None), False)):
        cage = make_face_cage(REST, HEAD.triangles, paint, chosen.replace({"separate_parts": apart}))
        still = chosen.replace({"simulate": False})
        enricher = Enricher(REST, HEAD.triangles, paint.follow, still, cage=cage, parts=paint.parts)
        off.append(enricher.fit(opened).max)
    assert off[1] > 3.0 * off[0]


def test_of_a_whole_body_the_cage_is_built_around_the_face_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies below the face is cut off and closed, and flesh is the same."""
    chosen = settings(resolution=0)
    whole = make_face_cage(REST, HEAD.triangles, PAINT, chosen)
    monkeypatch.setattr(cage_module, "_LARGER", 0.0)
    monkeypatch.setattr(cage_module, "_AROUND", 0.15)
    cut = make_face_cage(REST, HEAD.triangles, PAINT, chosen)
    assert 0.8 < len(cut.tets) / len(whole.tets) < 1.2
    assert PAINT.parts is not None
    carried = cut.interpolate(cut.vertices)[PAINT.parts.tracked]
    assert np.abs(carried - REST[PAINT.parts.tracked]).max() < 1e-9


def test_a_face_that_stops_goes_on_with_the_same_bits(tmp_path: Path) -> None:
    surfaces = frames(talk(), SHAKEN)

    def stopping() -> Iterator[Sample]:
        for sample in samples(surfaces):
            if sample.index == 12:
                raise KeyboardInterrupt
            yield sample

    with pytest.raises(Cancelled):
        run.bake(make_shot(), stopping(), tmp_path / "two")
    with_stop = run.bake(make_shot(), samples(surfaces), tmp_path / "two")
    without = run.bake(make_shot(), samples(surfaces), tmp_path / "one")
    with Store.open(tmp_path / "two", with_stop.id) as two, Store.open(tmp_path / "one", without.id) as one:
        for index in range(COUNT):
            assert np.array_equal(two.read("simulated", index), one.read("simulated", index))


def test_after_an_edit_a_bake_goes_on_as_before_where_it_has_met_that(tmp_path: Path) -> None:
    """A few frames are acted otherwise: what comes before them is kept, what flesh has forgotten is taken over and
    marked, and a whole bake has the bits of one that never knew another."""
    count = 56
    turns = 25.0 * np.sin(2 * np.pi * np.arange(count) / 16.0)
    values = np.zeros((count, len(NAMES)))
    values[:, NAMES.index("jawOpen")] = 0.3 - 0.3 * np.cos(np.arange(count) / 3.0)
    edited = values.copy()
    edited[6:9, NAMES.index("mouthSmile_L")] = 0.8

    def take(root: Path, acted: np.ndarray, **how: Any) -> run.Outcome:
        posed = [REST + np.tensordot(one, KEYS, 1) for one in acted]
        surfaces = [(pose @ turned(turn).T).astype(np.float32) for pose, turn in zip(posed, turns, strict=True)]
        shot = dataclasses.replace(make_shot(resolution=16, substeps=2), samples=count, frame_end=count)
        return run.bake(shot, samples(surfaces), root, **how)

    def states(root: Path, outcome: run.Outcome) -> np.ndarray:
        with Store.open(root, outcome.id) as store:
            return np.array([store.read("simulated", i) for i in range(count)])

    first = take(tmp_path / "one", values)
    again = take(tmp_path / "one", edited, previous=first.id)
    alone = take(tmp_path / "two", edited)
    spliced = [int(frame) for frame in again.report["spliced"]]
    assert first.report["spliced"] == [] == alone.report["spliced"]
    assert spliced == list(range(spliced[0], count + 1)) and 20 < spliced[0] < count
    assert again.report["computed"] < spliced[0] - 2
    before, now = states(tmp_path / "one", first), states(tmp_path / "one", again)
    anew = states(tmp_path / "two", alone)
    assert np.array_equal(now[: spliced[0] - 1], anew[: spliced[0] - 1]) and not np.array_equal(now[6], before[6])
    assert np.array_equal(now[spliced[0] - 1 :], before[spliced[0] - 1 :])
    assert np.abs(now - anew).max() < 2e-6 * np.ptp(REST, axis=0).max()
    assert take(tmp_path / "one", edited, previous=again.id).unchanged
    whole = take(tmp_path / "one", edited, previous=again.id, whole=True)
    assert not whole.unchanged and whole.report["spliced"] == []
    assert np.array_equal(states(tmp_path / "one", whole), anew)


def test_an_edited_performance_shows_at_once_what_another_bake_would_make_of_it(tmp_path: Path) -> None:
    """The same shake with other words, and the head elsewhere: nearer to it than what was added is by itself."""
    words = speech()[:, ::-1]
    edited = [(pose @ turned(40.0).T + [0.1, 0.2, 0.3]).astype(np.float32) for pose in frames(words, SHAKEN)]
    first = run.bake(make_shot(), samples(frames(speech(), SHAKEN)), tmp_path)
    again = run.bake(make_shot(), samples(edited), tmp_path)
    with Store.open(tmp_path, first.id) as old, Store.open(tmp_path, again.id) as new:
        laid = Laid(old)
        as_it_was = [laid.surface(i, world(old, i)) - old.read_result(i, "result") for i in range(COUNT)]
        assert np.abs(as_it_was).max() < 1e-7
        now = np.array([laid.surface(i, world(new, i)) for i in range(COUNT)])
        anew = np.array([new.read_result(i, "result") for i in range(COUNT)])
        added = [old.read_result(i, "result") - world(old, i) for i in range(COUNT)]
    free = FACE.is_free

    def length(moved: Any) -> float:
        return float(np.sqrt((np.asarray(moved)[:, free] ** 2).sum(axis=2).mean()))

    assert np.abs(now - anew)[:, ~free].max() < 1e-6
    jiggle, off = length(anew - np.array(edited)), length(now - anew)
    moved_alone = length(np.array(added) @ turned(40.0).T - (anew - np.array(edited)))
    assert off < 0.06 * jiggle and off < 0.6 * moved_alone


def test_what_hangs_at_rest_is_carried_to_rest_in_another_expression() -> None:
    chosen = settings(keep_pose=0.0)
    cage = make_face_cage(REST, HEAD.triangles, PAINT, chosen)
    enricher = make_enricher(REST, HEAD.triangles, PAINT, chosen, 24.0, cage)
    closed, opened = (enricher.fit(REST + value * FACE.opened).positions for value in (0.0, 0.6))
    hangs, hangs_open = enricher.settle(closed), enricher.settle(opened)
    carried = enricher.carried(closed, hangs, opened)
    moved_alone = np.abs(opened + hangs - closed - hangs_open).max()
    assert np.abs(carried - hangs_open).max() < 1e-6 * enricher.size < 1e-2 * moved_alone
    assert np.array_equal(enricher.carried(closed, closed, closed), closed)


STIFF = "jawOpen=5; mouthPucker=0.5 [Lips]"


def test_stiffness_by_key_is_read_and_told_where_it_is_wrong() -> None:
    rows = parse(STIFF)
    assert rows == (KeyMaterial("jawOpen", 5.0), KeyMaterial("mouthPucker", 0.5, "Lips"))
    assert parse("; ".join(map(str, rows))) == rows and parse("") == ()
    for wrong in ("jawOpen", "jawOpen=", "jawOpen=x", "jawOpen=0.01", "jawOpen=3 Lips", "=3"):
        with pytest.raises(BadInput, match="says no stiffness of a key"):
            parse(wrong)


def test_flesh_is_as_stiff_as_keys_say_and_a_still_head_stays_its_input(tmp_path: Path) -> None:
    values = talk()
    keys = values[:, [NAMES.index("jawOpen"), NAMES.index("mouthPucker")]]
    paint = dataclasses.replace(PAINT, materials=np.ones((2, len(REST))))
    changes = {"paint": paint, "key_stiffness": STIFF, "tighten": 1.0}
    still, shaken = frames(values), frames(values, SHAKEN)

    def offsets(surfaces: list[np.ndarray], key_values: np.ndarray) -> np.ndarray:
        outcome = run.bake(make_shot(**changes), samples(surfaces, key_values), tmp_path)
        with Store.open(tmp_path, outcome.id) as store:
            return np.array([store.read("simulated", i) - store.read("fitted", i) for i in range(COUNT)])

    assert np.abs(offsets(still, keys)).max() < 1e-6 * np.ptp(REST, axis=0).max()
    firm, soft = (np.sqrt((offsets(shaken, key) ** 2).mean()) for key in (keys * 0 + [1.0, 0.0], keys * 0 + [0.0, 1.0]))
    assert firm < 0.6 * soft


def test_what_is_shown_of_the_skin_is_what_flesh_is_told() -> None:
    square = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]])
    sides = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    stretched = square * (1.4, 0.8, 1.0) @ turned(30.0).T[[2, 0, 1]]
    assert strain_of_skin(square, sides, square) == pytest.approx(np.zeros(4), abs=1e-7)
    assert strain_of_skin(square, sides, stretched) == pytest.approx(np.full(4, np.hypot(0.4, 0.2)))
    rows, where = parse("a=5; b=0.5"), np.array([[1.0, 1.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0]])
    assert stiffness_of_skin(rows, where, np.array([1.0, 0.5])) == pytest.approx([5.0, 4.75, 1.0, 3.0])
    tight = stiffness_of_skin((), where, np.zeros(0), 2.0, np.array([0.0, 0.15, 0.3, 9.0]))
    assert tight == pytest.approx([1.0, 2.0, 3.0, 3.0])


def test_painted_bone_holds_and_painted_flesh_is_free() -> None:
    bone = np.where(REST[:, 0] > 0.0, 1.0, 0.0)
    paint = make_paint(REST, HEAD.triangles, FACE, bone)
    assert paint.face is not None
    skin = HEAD.part == "skin"
    assert not paint.face.is_free[bone >= 0.5].any() and paint.face.is_free[skin & (bone < 0.5)].all()


def test_a_rig_of_bones_alone_is_told_by_its_animation() -> None:
    poses = [pose.astype(np.float64) @ turned(7.0 * i).T + [0.1 * i, 0.0, 0.0] for i, pose in enumerate(frames(talk()))]
    moves = moves_of_poses(REST, HEAD.triangles, poses)
    face = find_face(REST, HEAD.triangles, moves, [""] * len(moves))
    assert face is not None
    mouth = np.linalg.norm(REST - head_mesh.MOUTH, axis=1) < 0.02
    assert face.is_free[mouth & (HEAD.part == "skin")].mean() > 0.9 and not face.is_free[REST[:, 2] > 0.11].any()


def test_the_head_is_told_by_skin_that_one_bone_carries() -> None:
    skin = np.zeros((len(REST), 2), np.float32)
    skin[:, 0] = np.clip((REST[:, 2] + 0.02) / 0.02, 0.0, 1.0)
    skin[:, 1] = 1.0 - skin[:, 0]
    face = told_by(FACE, REST, skin)
    assert face.head.any() and not face.head[skin[:, 0] < 0.98].any()


def test_of_a_body_of_bones_what_hangs_on_the_head_is_a_face() -> None:
    """Arms that swing are none, though they move more than lips do; what lies between head and body counts a part."""
    body = REST[:, 2] < -0.12
    swung = np.where(body[:, None], (REST - [0.0, 0.0, -0.12]) @ turned(40.0).T + [0.0, 0.0, -0.12], REST)
    poses = [(swung + pose - REST) @ turned(9.0 * i).T for i, pose in enumerate(frames(talk()))]
    of_head = np.clip((REST[:, 2] + 0.12) / 0.02, 0.0, 1.0)
    whole = moves_of_poses(REST, HEAD.triangles, poses, head=(REST[:, 2] > 0.06) * 1.0, of_head=of_head)
    assert np.abs(whole[:, body]).max() == 0.0
    face = find_face(REST, HEAD.triangles, whole, [""] * len(whole))
    assert face is not None and not face.is_free[body].any()
    mouth = np.linalg.norm(REST - head_mesh.MOUTH, axis=1) < 0.02
    assert face.is_free[mouth & (HEAD.part == "skin")].mean() > 0.9


def bone(name: str, head: tuple[float, float, float], tail: tuple[float, float, float], parent: int) -> Segment:
    return Segment(name, head, tail, parent, False)


@pytest.mark.parametrize("name", ["head", "Head", "mixamorig:Head", "head.x", "J_Bip_C_Head", "DEF-spine.006"])
def test_bones_of_a_head_are_told_by_its_name_and_where_they_are(name: str) -> None:
    bones = [
        bone("DEF-spine", (0.0, 0.0, 1.0), (0.0, 0.0, 1.3), -1),
        bone("DEF-neck", (0.0, 0.0, 1.4), (0.0, 0.0, 1.5), 0),
        bone("forehead_L", (0.0, -0.05, 1.6), (0.0, -0.05, 1.65), -1),  # of a rig whose face bones hang on nothing
        bone(name, (0.0, 0.0, 1.5), (0.0, 0.0, 1.7), 1),
        bone("jaw", (0.0, 0.0, 1.5), (0.0, -0.1, 1.45), 3),
        bone("clavicle.L", (0.02, 0.0, 1.4), (0.2, 0.0, 1.4), 0),
        bone("hand.L", (0.8, 0.0, 1.4), (0.9, 0.0, 1.4), 5),
    ]
    assert head_bone(bones) == 3
    assert sorted(bones_of_head(bones, 3)) == [2, 3, 4]


def test_no_bone_is_called_head_by_a_part_of_a_word() -> None:
    assert head_bone([bone("forehead", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0), -1)]) is None


def test_a_skull_says_how_deep_flesh_is() -> None:
    """A ball inside the head: flesh is what lies between it and the skin that moves."""
    face, skin = FACE, HEAD.part == "skin"
    ball, sides = cap(24, 32, np.pi, True)
    skull = 0.06 * ball + [0.0, -0.02, -0.03]
    triangles = np.array([(f[0], f[i], f[i + 1]) for f in sides for i in range(1, len(f) - 1)], np.int32)
    found = make_paint(REST, HEAD.triangles, face, None, (np.ascontiguousarray(skull), triangles)).face
    assert found is not None
    off = np.linalg.norm(REST - [0.0, -0.02, -0.03], axis=1) - 0.06
    near = found.is_free & skin & (off < 0.02) & (off > 0.002)
    assert near.any() and np.abs(found.depth - off)[near].max() < 1e-3
    assert not found.is_free[(face.depth == 0.0)].any() and found.depth.max() <= 0.15 * face.size + 1e-12
    assert not found.is_free[skin & (np.abs(off) < 1e-4)].any()


def frame_of(turn: np.ndarray, shift: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = turn, shift
    return matrix


def test_a_bone_or_an_object_that_carries_the_head_says_how_it_moves(tmp_path: Path) -> None:
    """The head is shaken; what carries it lies elsewhere and is turned and mirrored by itself."""
    surfaces = frames(talk(), SHAKEN)
    _, found, _ = baked(tmp_path, surfaces)
    own = frame_of(turned(50.0), (0.3, 0.1, 2.0)) @ np.diag([-1.0, 1.0, 1.0, 1.0])
    heads = [frame_of(turned(angle)) @ own for angle in SHAKEN]
    paint = dataclasses.replace(PAINT, frames=("head_frame",))
    outcome = run.bake(make_shot(paint=paint), led(surfaces, head_frame=heads), tmp_path)
    with Store.open(tmp_path, outcome.id) as store:
        off = [np.linalg.norm(store.read("simulated", i) - store.read("fitted", i), axis=1) for i in range(COUNT)]
    assert np.abs(np.array(off) - found).max() < 1e-5 * np.ptp(REST, axis=0).max()
    still = dataclasses.replace(make_shot(paint=paint))
    outcome = run.bake(still, led(surfaces, head_frame=[own] * COUNT), tmp_path)  # so all of it is expression
    with Store.open(tmp_path, outcome.id) as store:
        off = [np.abs(store.read("simulated", i) - store.read("fitted", i)).max() for i in range(COUNT)]
    assert max(off) < 1e-6 * np.ptp(REST, axis=0).max()


def test_a_bone_or_an_object_that_carries_the_jaw_says_how_it_moves(tmp_path: Path) -> None:
    values = np.zeros((COUNT, len(NAMES)))
    values[:, NAMES.index("jawOpen")] = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(COUNT) / 6.0)
    surfaces, shares = frames(values), values[:, NAMES.index("jawOpen")]
    paint = dataclasses.replace(PAINT, frames=("jaw_frame",))

    def most(opening: np.ndarray) -> float:
        jaws = [about_hinge(share * head_mesh.OPEN) @ frame_of(turned(20.0), (0.0, -0.05, -0.07)) for share in opening]
        outcome = run.bake(make_shot(paint=paint, jaw_weight=1.0), led(surfaces, jaw_frame=jaws), tmp_path)
        with Store.open(tmp_path, outcome.id) as store:
            return max(float(np.abs(store.read("simulated", i) - store.read("fitted", i)).max()) for i in range(COUNT))

    assert most(shares) > 1e-3
    assert most(0.0 * shares) < 1e-6 * np.ptp(REST, axis=0).max()


def about_hinge(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    return frame_of(turn, tuple(head_mesh.HINGE - turn @ head_mesh.HINGE))


def led(surfaces: list[np.ndarray], **frames_of: list[np.ndarray]) -> Iterator[Sample]:
    """Samples of which bones say where head or jaw is."""
    for index, surface in enumerate(surfaces):
        yield Sample(index, surface, np.eye(4), read={name: rows[index] for name, rows in frames_of.items()})


def test_where_the_jaw_is_teeth_tell(tmp_path: Path) -> None:
    from sinew.core.geometry.surface import areas_and_size
    from sinew.core.methods.face.expression import Frames

    areas, _ = areas_and_size(REST, HEAD.triangles)
    tell = Frames(REST, areas, FACE, True)
    jaw = KEYS[NAMES.index("jawOpen")]
    at = tell.at((REST + jaw) @ turned(30.0).T)
    assert at.jaw is not None
    assert np.abs(at.head.rotation - turned(30.0)).max() < 1e-7
    teeth = FACE.carrier == JAW
    assert np.abs(at.jaw(REST[teeth]) - (REST + jaw)[teeth]).max() < 1e-6
