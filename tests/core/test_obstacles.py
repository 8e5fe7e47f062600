"""Obstacles of a body are one mesh, placed by what a sample holds; the settings of collisions count only where they are
on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from sinew.core.bake import obstacles
from sinew.core.bake.collisions import CollisionSettings, groups_of, pairs_of
from sinew.core.base.errors import BadInput
from sinew.core.base.settings import BODY, SIMULATION


@dataclass
class Mesh:
    name: str
    triangles: Any
    vertices: int
    shape: Any = None
    thickness: float = 0.0
    friction: float | None = None


def made(name: str, vertices: int, *, deforms: bool, **values: Any) -> Mesh:
    rng = np.random.default_rng(vertices)
    triangles = rng.integers(0, vertices, (2 * vertices, 3)).astype(np.int32)
    shape = None if deforms else rng.normal(size=(vertices, 3)).astype(np.float32)
    return Mesh(name, triangles, vertices, shape, **values)


def matrix(seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.vstack([rng.normal(size=(3, 4)), (0.0, 0.0, 0.0, 1.0)])


def test_every_vertex_is_placed_by_the_matrix_of_its_own_mesh_and_those_that_deform_come_with_the_sample() -> None:
    meshes = [made("stiff", 5, deforms=False, thickness=0.1, friction=0.3), made("soft", 7, deforms=True)]
    gathered = obstacles.gather(meshes)
    assert gathered.names == ("soft", "stiff") and obstacles.order(meshes) == [1, 0]
    deformed = np.random.default_rng(1).normal(size=(7, 3)).astype(np.float32)
    soft, stiff = matrix(2), matrix(3)
    placed = gathered.placed(np.concatenate([soft, stiff]), deformed)
    assert placed[:7] == pytest.approx(deformed @ soft[:3, :3].T + soft[:3, 3])
    assert placed[7:] == pytest.approx(meshes[0].shape @ stiff[:3, :3].T + stiff[:3, 3])
    assert np.array_equal(gathered.triangles[:14], meshes[1].triangles)
    assert np.array_equal(gathered.triangles[14:], meshes[0].triangles + 7)
    assert gathered.thickness.tolist() == [0.0, 0.1]
    assert np.isnan(gathered.friction[0]) and gathered.friction[1] == 0.3


@pytest.mark.parametrize("kinds", [(), (True,), (False,), (True, False, True)])
def test_the_files_have_the_shapes_of_what_is_gathered(kinds: tuple[bool, ...]) -> None:
    gathered = obstacles.gather([made(str(n), 4 + n, deforms=deforms) for n, deforms in enumerate(kinds)])
    constants, inputs = obstacles.shapes_of(gathered.counts())
    assert (set(constants) == set(gathered.constants())) == bool(kinds)
    for name, (shape, kind) in constants.items():
        assert gathered.constants()[name].shape == shape and gathered.constants()[name].dtype == np.dtype(kind)
    assert ("obstacle_deformed" in inputs) == any(kinds)
    assert not kinds or inputs["obstacle_matrices"][0] == (4 * len(kinds), 4)


def test_the_ground_is_closed_faces_up_and_lies_where_it_is_asked_for() -> None:
    corners, triangles = obstacles.ground(0.5, (3.0, -2.0, 9.0), 1.5)
    edges = {tuple(edge) for a, b, c in triangles for edge in ((a, b), (b, c), (c, a))}
    assert all((b, a) in edges for a, b in edges) and len(edges) == 3 * len(triangles)
    sides = corners[triangles]
    normals = np.cross(sides[:, 1] - sides[:, 0], sides[:, 2] - sides[:, 0])
    assert (np.einsum("ij,ij->i", normals, sides.mean(axis=1) - corners.mean(axis=0)) > 0.0).all()
    assert corners[:, 2].max() == 0.5 and corners[:, 2].min() < -20.0
    assert corners[:, :2].mean(axis=0) == pytest.approx((3.0, -2.0))


def test_settings_of_collisions_count_only_while_they_are_on() -> None:
    off, on = CollisionSettings(friction=0.9, ground=True), CollisionSettings(friction=0.9, ground=True, collide=True)
    names = ("collide", "friction", "ground")
    assert not set(names) & set(off.hashed(BODY, SIMULATION))
    assert [on.hashed(BODY, SIMULATION)[name] for name in names] == [True, 0.9, True]
    assert CollisionSettings().hashed(SIMULATION) == off.hashed(SIMULATION)


def test_pairs_of_groups_are_read_and_a_wrong_one_is_told() -> None:
    assert pairs_of(" Arm:Body , Ear:Ear,") == [("Arm", "Body"), ("Ear", "Ear")]
    for wrong in ("Arm", "Arm:", "a:b:c"):
        with pytest.raises(BadInput, match="is no pair of vertex groups"):
            CollisionSettings(ignored_pairs=wrong)


def test_groups_are_asked_for_only_where_they_have_a_say() -> None:
    values = {"friction_group": "Grip", "thickness_group": "Fur", "ignored_pairs": "Arm:Body, Arm:Leg"}
    assert groups_of(CollisionSettings(**values)) == {}
    assert groups_of(CollisionSettings(collide=True, **values)) == {
        "friction": "Grip", "thickness": "Fur", "ignored Arm": "Arm", "ignored Body": "Body", "ignored Leg": "Leg",
    }  # fmt: skip
