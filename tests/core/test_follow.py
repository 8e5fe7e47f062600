from __future__ import annotations

import numpy as np
import pytest
from sinew.core.geometry.solid import Solid, solid_of
from sinew.core.paint.follow import Segment, automatic_follow, body_of

pytestmark = pytest.mark.once


def ball(centre: tuple[float, float, float], radii: tuple[float, float, float], count: int = 24) -> tuple:
    """A closed ellipsoid: positions and triangles."""
    theta = np.linspace(0, np.pi, count + 1)[1:-1]
    phi = np.arange(2 * count) * np.pi / count
    t, p = (grid.ravel() for grid in np.meshgrid(theta, phi, indexing="ij"))
    points = np.stack([np.sin(t) * np.cos(p), np.sin(t) * np.sin(p), np.cos(t)], axis=1)
    points = np.concatenate([points, [[0, 0, 1], [0, 0, -1]]])
    wide, faces = 2 * count, []
    for i in range(count - 2):
        for j in range(wide):
            a, b = i * wide + j, i * wide + (j + 1) % wide
            faces += [(a, a + wide, b), (b, a + wide, b + wide)]
    top, bottom, last = len(points) - 2, len(points) - 1, (count - 2) * wide
    for j in range(wide):
        faces += [(top, j, (j + 1) % wide), (bottom, last + (j + 1) % wide, last + j)]
    return points * radii + centre, np.array(faces, np.int32)


def joined(*parts: tuple) -> tuple:
    positions, triangles, offset = [], [], 0
    for points, faces in parts:
        positions.append(points)
        triangles.append(faces + offset)
        offset += len(points)
    return np.concatenate(positions), np.concatenate(triangles).astype(np.int32)


def creature() -> tuple:
    """A belly on a spine along its back, a head, a hand on an arm, a tail; skin by the nearest bone."""
    positions, triangles = joined(
        ball((0, 0, 0), (1.0, 0.6, 0.6)), ball((1.3, 0, 0.4), (0.35, 0.3, 0.3)), ball((-1.6, 0, 0.4), (0.8, 0.08, 0.08))
    )
    bones = [
        Segment("spine", (-0.9, 0, 0.4), (0.9, 0, 0.4), -1, False),
        Segment("head", (1.0, 0, 0.4), (1.6, 0, 0.4), 0, True),
        Segment("tail.001", (-0.9, 0, 0.4), (-1.6, 0, 0.4), 0, False),
        Segment("tail.002", (-1.6, 0, 0.4), (-2.4, 0, 0.4), 2, True),
    ]
    skin = np.zeros((len(positions), 4), np.float32)
    skin[positions[:, 0] > 0.95, 1] = 1
    skin[(positions[:, 0] < -0.95) & (positions[:, 0] >= -1.6), 2] = 1
    skin[positions[:, 0] < -1.6, 3] = 1
    skin[skin.sum(axis=1) == 0, 0] = 1
    return positions, triangles, bones, skin


def test_bone_parts_follow_and_soft_parts_are_free() -> None:
    positions, triangles, bones, skin = creature()
    weights = automatic_follow(positions, triangles, None, bones, skin)
    assert weights.shape == (len(positions),) and weights.min() >= 0.0 and weights.max() <= 1.0
    x, z = positions[:, 0], positions[:, 2]
    assert (weights[x > 1.1] == 1.0).all()  # head
    assert weights[(abs(x) < 0.5) & (z < -0.5)].max() < 0.3  # belly
    assert (weights[(abs(x) < 0.5) & (z > 0.55)] > 0.5).all()  # back, beside the spine
    assert weights[x < -2.0].max() < 0.3  # tip of the tail


def test_joints_whose_tails_point_anywhere_count_as_bones_to_the_next_joint() -> None:
    """glTF knows joints only: every tail lies at +X of its head, which is wrong on one side of the body."""
    arms = [ball((side * 1.3, 0, 0.5), (0.8, 0.15, 0.1)) for side in (1, -1)]
    positions, triangles = joined(ball((0, 0, 0), (0.6, 0.5, 1.0)), *arms)
    joints = {"torso": ((0, 0, -0.6), -1), "chest": ((0, 0, 0.5), 0)}
    for side, name in ((1, "L"), (-1, "R")):
        joints[f"joint_{name}_1"] = ((side * 0.6, 0, 0.5), 1)
        joints[f"joint_{name}_2"] = ((side * 1.1, 0, 0.5), len(joints) - 1)
        joints[f"joint_{name}_3"] = ((side * 1.6, 0, 0.5), len(joints) - 1)
    parents = [parent for _, parent in joints.values()]
    bones = [
        Segment(name, head, (head[0] + 0.17, *head[1:]), parent, i not in parents)
        for i, (name, (head, parent)) in enumerate(joints.items())
    ]
    x, z = positions[:, 0], positions[:, 2]
    skin = np.zeros((len(positions), len(bones)), np.float32)
    reach = np.searchsorted((0.6, 1.1, 1.6), abs(x))
    skin[np.arange(len(x)), np.where(reach == 0, np.where(z > 0, 1, 0), np.where(x > 0, 1, 4) + reach)] = 1
    weights = automatic_follow(positions, triangles, None, bones, skin)
    assert (weights[abs(x) > 1.1] == 1.0).all()
    mirrored = np.array([np.linalg.norm(positions - p, axis=1).argmin() for p in positions * (-1, 1, 1)])
    assert np.abs(weights - weights[mirrored]).mean() < 0.01


def test_weights_are_smooth_along_edges() -> None:
    positions, triangles, bones, skin = creature()
    weights = automatic_follow(positions, triangles, None, bones, skin)
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]]])
    jumps = np.abs(weights[edges[:, 0]] - weights[edges[:, 1]])
    assert np.quantile(jumps, 0.95) < 0.2 and jumps.max() < 0.7


@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_the_size_of_the_character_does_not_matter(scale: float) -> None:
    positions, triangles, bones, skin = creature()
    scaled = []
    for bone in bones:
        head, tail = (tuple(scale * np.array(end)) for end in (bone.head, bone.tail))
        scaled.append(Segment(bone.name, head, tail, bone.parent, bone.is_leaf))
    expected = automatic_follow(positions, triangles, None, bones, skin)
    assert np.allclose(automatic_follow(scale * positions, triangles, None, scaled, skin), expected, atol=0.02)


def test_a_body_all_along_its_bones_still_gets_a_free_part_and_a_firm_one() -> None:
    positions, triangles = ball((0, 0, 0), (3.0, 0.2, 0.2))
    bones = [Segment(f"b{i}", (i - 3, 0, 0), (i - 2, 0, 0), i - 1, i == 5) for i in range(6)]
    weights = automatic_follow(positions, triangles, None, bones, None)
    assert (weights < 0.5).mean() > 0.03 and (weights >= 1.0).mean() > 0.05


def test_an_unrigged_body_without_limbs_follows_at_its_waist_and_is_free_at_its_ends() -> None:
    positions, triangles = ball((0, 0, 0), (0.5, 0.5, 1.0))
    weights = automatic_follow(positions, triangles)
    assert (weights[abs(positions[:, 2]) > 0.95] < 0.25).all()
    assert (weights[abs(positions[:, 2]) < 0.05] > 0.9).all()


def test_an_unrigged_body_with_limbs_follows_at_its_limbs_and_is_free_at_its_belly() -> None:
    limbs = [ball((x, y, -1.0), (0.12, 0.12, 1.0)) for x in (-0.6, 0.6) for y in (-0.4, 0.4)]
    positions, triangles = joined(ball((0, 0, 0), (1.0, 0.6, 0.6)), *limbs)
    weights = automatic_follow(positions, triangles)
    assert (weights[positions[:, 2] < -1.2] == 1.0).all()
    assert weights[: len(positions) - sum(len(limb[0]) for limb in limbs)].min() < 0.2


def test_split_vertices_at_a_seam_get_equal_weights() -> None:
    positions, triangles, bones, skin = creature()
    split, index = positions[triangles.ravel()], np.arange(triangles.size, dtype=np.int32).reshape(-1, 3)
    whole = automatic_follow(positions, triangles, None, bones, skin)
    parted = automatic_follow(split, index, None, bones, skin[triangles.ravel()])
    assert np.allclose(parted, whole[triangles.ravel()], atol=1e-9)


def test_small_separate_pieces_take_one_weight() -> None:
    positions, triangles, bones, skin = creature()
    eye, faces = ball((1.6, 0.2, 0.5), (0.06, 0.06, 0.06), 6)
    both, all_faces = joined((positions, triangles), (eye, faces))
    eye_skin = np.zeros((len(eye), 4), np.float32)
    eye_skin[:, 1] = 1
    weights = automatic_follow(both, all_faces, None, bones, np.concatenate([skin, eye_skin]))
    assert (weights[len(positions) :] == 1.0).all()


@pytest.mark.parametrize(
    "positions", [np.zeros((1, 3)), np.zeros((5, 3)), np.eye(3), np.random.default_rng(0).normal(size=(50, 3))]
)
def test_meshes_without_volume_or_faces_get_finite_weights(positions: np.ndarray) -> None:
    weights = automatic_follow(positions, np.zeros((0, 3), np.int32), np.zeros((0, 2), np.int32))
    assert weights.shape == (len(positions),) and np.isfinite(weights).all()


def test_thickness_is_the_radius_inside() -> None:
    positions, triangles = joined(ball((0, 0, 0), (1, 1, 1)), ball((2.5, 0, 0), (1.2, 0.25, 0.25)))
    solid = Solid(positions, triangles)
    radius = solid.at(positions, solid.thick)
    assert np.median(radius[: len(positions) // 2]) == pytest.approx(1.0, rel=0.12)
    assert np.median(radius[len(positions) // 2 :]) == pytest.approx(0.25, rel=0.35)


def test_a_hollow_body_with_a_hole_is_as_thick_as_a_closed_one() -> None:
    positions, triangles = ball((0, 0, 0), (1, 1, 1))
    opened = triangles[positions[triangles][:, :, 2].min(axis=1) > -0.9]
    solid = Solid(positions, opened)
    assert np.median(solid.at(positions, solid.thick)) == pytest.approx(1.0, rel=0.12)


def test_the_cells_of_a_body_are_made_once_and_those_of_another_anew() -> None:
    positions, triangles = ball((0, 0, 0), (1, 1, 1), 8)
    first = solid_of(positions, triangles)
    assert solid_of(positions.copy(), triangles.copy()) is first
    assert solid_of(positions * (1, 1, 2), triangles).shape != first.shape
    assert solid_of(positions, triangles[:-1]) is not first


def test_what_a_body_is_made_of_is_found_once_for_its_bones_and_skin() -> None:
    positions, triangles = ball((0, 0, 0), (1, 1, 1), 8)
    low, middle, high = (0.0, 0.0, -1.0), (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
    bones = [Segment("a", low, middle, -1, False), Segment("b", middle, high, 0, True)]
    upper = (positions[:, 2:] > 0.0).astype(np.float32)
    skin = np.hstack([1.0 - upper, upper])
    first = body_of(positions, triangles, bones, skin)
    assert body_of(positions.copy(), triangles.copy(), list(bones), skin.copy()) is first
    # Two that are asked for by turns are both kept; a third takes the place of that which was not asked for longest.
    second = body_of(positions, triangles, None, None)
    assert body_of(positions, triangles, bones, skin) is first and body_of(positions, triangles, None, None) is second
    assert body_of(positions, triangles, bones[:1], skin[:, :1]) is not first
    assert body_of(positions, triangles, None, None) is second
    first = body_of(positions, triangles, bones, skin)
    for other in ((bones, skin[:, ::-1]), (bones[:1], skin[:, :1]), (bones, None), (None, None)):
        assert body_of(positions, triangles, *other) is not first
        first = body_of(positions, triangles, bones, skin)
