"""A trial fit: the frames that tell most, and how far a cage is off on them."""

from __future__ import annotations

import numpy as np
import pytest
from bodies import box_surface, rotation
from sinew.core.base.errors import Cancelled
from sinew.core.flesh import trial
from sinew.core.flesh.settings import Settings
from sinew.core.geometry.poses import CANDIDATES, candidates, most_different
from sinew.core.paint.parts import Parts

REST, TRIANGLES = box_surface((16, 4, 4), (1.0, 0.25, 0.25))


def twisted(angle: float) -> np.ndarray:
    return np.stack([rotation((1, 0, 0), angle * point[0]) @ point for point in REST])


def wavy(amount: float) -> np.ndarray:
    return REST + np.outer(amount * np.sin(12 * np.pi * REST[:, 0]), (0.0, 0.0, 1.0))


def test_frames_are_spread_over_the_range_and_missing_ones_left_out() -> None:
    assert candidates(5, 8) == [5, 6, 7, 8]
    found = candidates(1, 1000, missing={1000})
    assert found[0] == 1 and len(found) == CANDIDATES - 1 and 1000 not in found


def test_the_most_different_poses_are_chosen_whatever_the_place_of_the_body() -> None:
    poses = [REST + (0.01 * i, 0.0, 0.0) for i in range(12)]
    poses[4] = twisted(1.5) + (3.0, 0.0, 0.0)
    poses[7] = twisted(-1.5)
    poses[9] = REST @ rotation((0, 0, 1), 2.0).T  # turned as a whole: nothing to be fitted
    assert most_different(REST, poses, 2) == [4, 7]
    assert len(most_different(REST, poses[:3])) == 3


def test_a_coarse_cage_is_told_to_be_off_where_the_mesh_is_wavy() -> None:
    frames = [(3, REST), (8, wavy(0.05))]
    coarse, fine = (
        trial.fit_frames(REST, TRIANGLES, frames, Settings().replace({"resolution": resolution}))
        for resolution in (4, 24)
    )
    assert coarse.worst.frame == 8 and coarse.find(3) is coarse.fits[0] and coarse.find(4) is None
    assert coarse.fits[0].max < 1e-3 < 5 * fine.rms < coarse.rms
    assert coarse.tets < fine.tets and coarse.inverted == 0
    told = "\n".join(coarse.told())
    assert "frames 3, 8" in told and "(frame 8)" in told and "No inverted tets" in told


def test_vertices_without_input_are_not_measured() -> None:
    hidden = REST[:, 0] > 0.9
    given = [(1, np.where(hidden[:, None], 7.0, REST))]
    parts = Parts(~hidden, np.full(len(REST), -1, np.int32))
    found = trial.fit_frames(REST, TRIANGLES, given, Settings().replace({"resolution": 8}), parts=parts)
    assert found.worst.max < 1e-3


def test_it_stops_between_frames_and_tells_how_far_it_is() -> None:
    told: list[tuple[str, int, int]] = []

    def check() -> None:
        if len(told) == 2:
            raise Cancelled

    frames = [(index, REST) for index in range(4)]
    settings = Settings().replace({"resolution": 4})
    with pytest.raises(Cancelled):
        trial.fit_frames(
            REST, TRIANGLES, frames, settings, check=check, progress=lambda *where: told.append(where)
        )
    assert told == [("Fitting", 0, 4), ("Fitting", 1, 4)]
