"""What the cage holds together although the animation takes it apart is named, and nothing else is."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import near_meshes
import numpy as np
import pytest
from shots import make_shot
from sinew.core.bake.run import bake
from sinew.core.bake.shot import Sample
from sinew.core.cage import welds
from sinew.core.cage.cage import Cage, build_cage
from sinew.core.cage.welds import Labels, find_welds, look_at_rest, name_parts
from sinew.core.flesh import trial
from sinew.core.flesh.settings import Settings

pytestmark = pytest.mark.once


def leg_labels(count: int) -> Labels:
    """The tube of the crossed legs: one leg is its first half."""
    return Labels(("thigh.L", "thigh.R"), (np.arange(count) >= count // 2).astype(np.int32))


def welded(cage: Cage, body: near_meshes.Posed, **more: Any) -> list[welds.Weld]:
    rest, triangles, opened = body
    return find_welds(cage, rest, triangles, [rest + 0.5 * (opened - rest), opened], **more)


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", near_meshes.BODIES)
def test_what_shares_tets_is_found_and_what_has_its_own_is_not(name: str, factor: float) -> None:
    make, resolution = near_meshes.BODIES[name]
    body = make()
    size = np.ptp(body[0], axis=0).max()
    found = welded(build_cage(*body[:2], int(factor * resolution), separate_parts=False), body)
    assert found and found[0].apart > 0.05 * size
    for weld in found:
        assert not set(weld.first) & set(weld.second)
    assert welded(build_cage(*body[:2], int(factor * resolution)), body) == []


def test_gmsh_welds_and_the_advice_is_the_lattice() -> None:
    body = near_meshes.hand()
    cage = build_cage(*body[:2], 16, mesher="gmsh")
    assert cage.note == ""
    told = welds.sentence(welded(cage, body), None, Settings(mesher="gmsh"), cage)
    assert "around vertices" in told and "lattice mesher" in told and "Gmsh" in told


def test_parts_are_called_by_their_names() -> None:
    body = near_meshes.crossed_legs()
    cage = build_cage(*body[:2], 24, separate_parts=False)
    found = welded(cage, body)
    assert name_parts(found, leg_labels(len(body[0]))) == ["thigh.L and thigh.R"]
    told = welds.sentence(found, leg_labels(len(body[0])), Settings(separate_parts=False), cage)
    assert "thigh.L and thigh.R" in told and "switch Separate Parts on" in told
    nameless = name_parts(found, None)
    assert len(nameless) == 1
    one, other = (int(word) for word in nameless[0].split() if word.isdigit())
    # The vertices that are named belong to either leg and lie close together.
    assert (one < len(body[0]) // 2) != (other < len(body[0]) // 2)
    assert np.linalg.norm(body[0][one] - body[0][other]) < 0.15


@pytest.mark.parametrize("move", ["still", "bent", "stretched", "swollen", "rolled"])
def test_no_alarm_where_nothing_is_taken_apart(move: str) -> None:
    """A thin plate whose sides share tets, moved as cartoons are, and legs that stay crossed."""
    places, triangles, _ = near_meshes.slit_block(1, 1, 40, 30, 10)
    rest = 0.025 * places * (0.4, 1.0, 1.0)
    x, y, z = rest.T
    poses = {
        "still": rest,
        "bent": np.stack([x + 0.6 * y * y, y, z], axis=1),
        "stretched": rest * (0.5, 1.0, 4.0),
        "swollen": np.stack([x + np.where(x > 0.005, 0.2, 0.0) * np.sin(np.pi * y) * np.sin(np.pi * z), y, z], axis=1),
        "rolled": np.stack([(0.2 + x) * np.cos(4 * y), (0.2 + x) * np.sin(4 * y), z], axis=1),
    }
    for resolution in (8, 16):
        cage = build_cage(rest, triangles, resolution, separate_parts=False)
        assert find_welds(cage, rest, triangles, [poses[move]]) == []
    crossed = near_meshes.crossed_legs()[0]
    body = (crossed, near_meshes.crossed_legs()[1], crossed * (1.0, 1.0, 1.3))
    assert welded(build_cage(*body[:2], 24, separate_parts=False), body) == []


def test_eyes_that_roll_and_seams_are_no_welds() -> None:
    rest, triangles, shells = near_meshes.head_with_eyes()
    cage = build_cage(rest, triangles, 12)
    rolled, eye = rest.copy(), shells == 1
    middle = rest[eye].mean(axis=0)
    rolled[eye] = middle + (rest[eye] - middle) @ np.diag([-1.0, -1.0, 1.0])
    assert find_welds(cage, rest, triangles, [rolled]) == []
    soup = rest[triangles.ravel()] * (1.0, 1.0, 1.0)
    faces = np.arange(triangles.size, dtype=np.int32).reshape(-1, 3)
    assert find_welds(build_cage(soup, faces, 12), soup, faces, [soup * (1.0, 1.0, 3.0)]) == []


def test_vertices_without_input_are_not_looked_at() -> None:
    body = near_meshes.hand()
    cage = build_cage(*body[:2], 16, separate_parts=False)
    assert welded(cage, body) and not welded(cage, body, seen=body[0][:, 2] < 0.1)


def test_a_trial_fit_names_what_is_welded() -> None:
    rest, triangles, opened = near_meshes.crossed_legs()
    frames, names = [(1, rest), (9, opened)], leg_labels(len(rest))
    apart, together = (
        trial.fit_frames(
            rest, triangles, frames, Settings(resolution=16, separate_parts=separate), labels=names
        ).told()
        for separate in (True, False)
    )
    assert not any("Welded" in line for line in apart)
    assert any(line.startswith("Welded: thigh.L and thigh.R") for line in together)


@pytest.mark.parametrize("separate", [True, False])
def test_a_bake_names_what_is_welded(separate: bool, tmp_path: Path) -> None:
    rest, triangles, opened = near_meshes.crossed_legs()
    shot = make_shot(
        rest, triangles, np.ones(len(rest)), 4, labels=leg_labels(len(rest)),
        settings=Settings(resolution=12, separate_parts=separate),
    )  # fmt: skip
    frames = [rest + step * (opened - rest) for step in np.linspace(0.0, 1.0, 4)]
    taken = (Sample(index, frame.astype(np.float32), np.eye(4)) for index, frame in enumerate(frames))
    report = bake(shot, taken, tmp_path).report
    assert report["welded"] == ([] if separate else ["thigh.L and thigh.R"])
    assert any("Welded" in warning for warning in report["warnings"]) == (not separate)


def test_a_new_cage_is_said_to_weld_near_parts() -> None:
    rest, triangles, _ = near_meshes.crossed_legs()
    names = leg_labels(len(rest))
    for separate, said in ((False, True), (True, False)):
        settings = Settings(resolution=16, separate_parts=separate)
        cage = build_cage(rest, triangles, 16, separate_parts=separate)
        told = look_at_rest(cage, rest, triangles, settings, names)
        assert ("thigh.L and thigh.R share tets" in told) == said and bool(told) == said
    ball, faces = near_meshes.ball(0.5)
    lonely = build_cage(ball, faces, 12, separate_parts=False)
    assert look_at_rest(lonely, ball, faces, Settings(resolution=12, separate_parts=False), None) == ""


def test_it_takes_little_time() -> None:
    """About 25,000 vertices, welded all along, five poses: the search takes a fraction of a second, said a second here
    for the sake of busy machines."""
    rest, triangles, opened = near_meshes.hand(0.0, 5)
    copies = np.concatenate([rest + (0.0, 0.2 * i, 0.0) for i in range(4)])
    faces = np.concatenate([triangles + i * len(rest) for i in range(4)])
    moved = np.concatenate([opened + (0.0, 0.2 * i, 0.0) for i in range(4)])
    assert len(copies) > 25_000
    cage = build_cage(copies, faces, 32, separate_parts=False)
    begin = time.process_time()
    assert find_welds(cage, copies, faces, [copies + step * (moved - copies) for step in np.linspace(0.2, 1.0, 5)])
    assert time.process_time() - begin < 1.0
