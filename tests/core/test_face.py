"""What shape keys tell of a face: jaw, what skull and jaw carry, flesh and its depth; on a head of our own."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from sinew.core.paint import face as finding
from sinew.core.paint.face import JAW, SKULL, SOFT, Face, find_face, moves_of_poses, named_jaw, told_by
from sinew.core.paint.face_likeness import looks_like_face

sys.path.append(str(Path(__file__).resolve().parents[2] / "examples"))
import head_mesh  # noqa: E402

pytestmark = pytest.mark.once
HEAD = head_mesh.build_head(0.006)
NAMES = list(HEAD.keys)
KEYS = np.stack(list(HEAD.keys.values()))


def found(vertices: np.ndarray = HEAD.vertices, keys: np.ndarray = KEYS, names: list[str] = NAMES) -> Face:
    face = find_face(vertices, HEAD.triangles, keys, names)
    assert face is not None
    return face


def depth_at(face: Face, place: tuple[float, float, float]) -> float:
    """Of the flesh under the skin nearest to a place, millimetres."""
    skin = np.flatnonzero(HEAD.part == "skin")
    return 1e3 * float(face.depth[skin[np.linalg.norm(HEAD.vertices[skin] - place, axis=1).argmin()]])


NAMELESS = [f"Key {k}" for k in range(len(NAMES))]


@pytest.mark.parametrize("names", [NAMES, NAMELESS], ids=["named", "nameless"])
def test_jaw_and_what_it_carries_are_found_with_names_and_without(names: list[str]) -> None:
    face = found(names=names)
    assert NAMES[face.jaw_key] == "jawOpen"
    assert face.jaw is not None and np.degrees(face.jaw.angle) == pytest.approx(20.0, abs=0.1)
    hinge = head_mesh.HINGE[None]
    assert np.abs((face.jaw(hinge) - hinge)[0, 1:]).max() < 1e-4  # it turns about the axis that the head was made with
    carriers = {"upper teeth": SKULL, "eye": SKULL, "lower teeth": JAW, "tongue": JAW, "skin": SOFT}
    for part, carrier in carriers.items():
        assert (face.carrier[HEAD.part == part] == carrier).all(), part


@pytest.mark.parametrize(
    "name",
    [
        *("jawOpen", "JawDrop", "Jaw_Open", "mouthOpen", "AU26_JawDrop", "CTRL_expressions_jawOpen", "head__jaw_open"),
        *("facs_jnt_JawOpen", "eCTRLMouthOpen", "V_Open", "vrc.v_aa", "viseme_aa", "Fcl_MTH_A", "A", "あ"),
    ],
)
def test_the_jaw_key_is_known_by_the_names_that_rigs_give_it(name: str) -> None:
    assert named_jaw(["jawLeft", "mouthClose", "browUp", name, "tongueOut"]) == 3


def test_a_name_says_more_than_a_motion_and_no_name_is_no_matter() -> None:
    """Another key opens the jaw wider."""
    wider = head_mesh.jaw(np.radians(35.0))(HEAD.vertices, HEAD.part)
    keys = np.concatenate([KEYS, wider[None]])
    assert found(keys=keys, names=[*NAMES, "other"]).jaw_key == NAMES.index("jawOpen")
    assert named_jaw(NAMELESS) is None and named_jaw(["jawOpenLeft", "openness"]) is None


def test_a_face_is_told_by_what_its_keys_do_and_other_meshes_are_none() -> None:
    points, moves = HEAD.vertices.astype(np.float32), KEYS.astype(np.float32)
    assert looks_like_face(points, moves)
    skin = np.flatnonzero(HEAD.part == "skin")
    assert looks_like_face(100.0 * points[skin], 100.0 * moves[:, skin])
    assert not looks_like_face(points, moves[:6])
    mouth = np.linalg.norm(points - head_mesh.MOUTH, axis=1) < 0.04
    bulges = [np.where(mouth[:, None], 0.0, move) for move in moves if np.abs(move[HEAD.part == "eye"]).max() == 0.0]
    whole = np.concatenate([np.stack(bulges), [0.1 * points], [points[:, [1, 0, 2]] * (0.2, -0.2, 0.0)]])
    assert not looks_like_face(points, whole.astype(np.float32)[1:])
    assert not looks_like_face(points, np.zeros_like(moves)) and not looks_like_face(points, moves[:0])


def test_flesh_is_deep_where_expressions_move_it_and_bone_where_they_do_not() -> None:
    face = found()
    lips, cheek = depth_at(face, (0.0, -0.112, -0.053)), depth_at(face, (0.05, -0.08, -0.045))
    forehead, crown = depth_at(face, (0.0, -0.07, 0.085)), depth_at(face, (0.0, 0.02, 0.13))
    assert lips > 8.0 and cheek > 5.0 and forehead < 6.0 and crown == 0.0
    still = np.linalg.norm(KEYS, axis=2).max(axis=0) < 1e-6
    assert (face.head[still & (HEAD.part == "skin")] == 1.0).all() and face.head[HEAD.part != "skin"].max() == 0.0
    assert (face.head[HEAD.vertices[:, 2] > 0.12] == 1.0).all() and face.head[face.is_free].max() == 0.0


def test_jaw_is_found_on_skin_alone() -> None:
    keys = np.where((HEAD.part == "skin")[None, :, None], KEYS, 0.0)
    face = found(keys=keys)
    assert NAMES[face.jaw_key] == "jawOpen" and face.jaw is not None
    assert np.degrees(face.jaw.angle) == pytest.approx(20.0, abs=3.0)


def turned(degrees: float, axis: tuple[float, float, float]) -> np.ndarray:
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    cross, angle = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]), np.radians(degrees)
    return np.asarray(np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross)


TURNS = {
    "nods": turned(30.0, (1.0, 0.0, 0.0)),
    "lies": turned(90.0, (1.0, 0.0, 0.0)),
    "tilts": turned(45.0, (0.0, 1.0, 0.0)),
    "shakes": turned(30.0, (0.0, 0.0, 1.0)),
    "askew": turned(77.0, (1.0, 2.0, 3.0)),
    "mirrored": np.diag([-1.0, 1.0, 1.0]),
    "mirrored and askew": turned(130.0, (1.0, -2.0, 0.5)) @ np.diag([-1.0, 1.0, 1.0]),
}


def alike(one: np.ndarray, other: np.ndarray) -> float:
    """How far off, of the largest."""
    return float(np.abs(one - other).max() / np.abs(other).max())


@pytest.mark.parametrize("turn", TURNS.values(), ids=TURNS)
def test_findings_turn_and_grow_with_the_head(turn: np.ndarray) -> None:
    """As precise as Blender stores points; what is near the face among that, as of a whole body."""
    plain = told_by(found(), HEAD.vertices, None)
    vertices = (100.0 * HEAD.vertices @ turn.T + 3.0).astype(np.float32)
    keys = (100.0 * KEYS @ turn.T).astype(np.float32)
    face = told_by(found(vertices.astype(float), keys), vertices.astype(float), None)
    assert face.jaw_key == plain.jaw_key and (face.carrier == plain.carrier).all()
    assert (face.is_free == plain.is_free).all()
    assert face.size / (100.0 * plain.size) == pytest.approx(1.0, abs=1e-5)
    assert max(alike(face.mobility, 100.0 * plain.mobility), alike(face.depth, 100.0 * plain.depth)) < 1e-4
    assert max(alike(getattr(face, name), getattr(plain, name)) for name in ("head", "jaw_share", "chin")) < 1e-4
    assert looks_like_face(vertices, keys)


def test_an_upright_face_is_as_long_as_the_box_around_what_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes, length_of = [], finding.length_of

    def measured(points: np.ndarray, areas: np.ndarray) -> float:
        boxes.append(float(np.ptp(points, axis=0).max()))
        return length_of(points, areas)

    monkeypatch.setattr(finding, "length_of", measured)
    assert found().size == pytest.approx(boxes[-1], rel=0.01)
    assert length_of(np.ones((3, 3)), np.ones(3)) == 0.0


def test_poses_of_bones_tell_the_same_however_the_head_is_turned() -> None:
    poses = [HEAD.vertices + KEYS[k] for k in (0, 5, 9)]
    plain, turn = moves_of_poses(HEAD.vertices, HEAD.triangles, poses), TURNS["askew"]
    moves = moves_of_poses(HEAD.vertices @ turn.T, HEAD.triangles, [pose @ turn.T for pose in poses])
    assert alike(moves, plain @ turn.T) < 1e-6


def test_keys_of_which_nearly_all_are_empty_are_no_face() -> None:
    few = np.where(np.arange(len(KEYS))[:, None, None] == NAMES.index("jawOpen"), KEYS, 0.0)
    assert find_face(HEAD.vertices, HEAD.triangles, np.concatenate([few, few * 0.0]), [*NAMES, *NAMELESS]) is None


def test_too_few_keys_or_keys_without_motion_are_no_face() -> None:
    assert find_face(HEAD.vertices, HEAD.triangles, KEYS[:2], NAMES[:2]) is None
    assert find_face(HEAD.vertices, HEAD.triangles, np.zeros_like(KEYS), NAMES) is None
    assert find_face(HEAD.vertices, HEAD.triangles[:0], KEYS, NAMES) is None
