"""Cloth: what is pinned and what is averaged stays on the animation, the rest is a thin shell of its material."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fabric_lab import bending_length, expected_length
from sheets import sheet, waving
from sinew.core.bake import fields, run
from sinew.core.bake.contact import Collided
from sinew.core.bake.obstacles import gather
from sinew.core.bake.report import lines
from sinew.core.bake.shot import Passenger, Sample, Shot
from sinew.core.bake.store import Store
from sinew.core.base.errors import BadInput, Cancelled
from sinew.core.geometry.crossings import find_crossings
from sinew.core.geometry.subdivide import Faces, subdivide
from sinew.core.methods import presets
from sinew.core.methods.tracks import METHOD
from sinew.core.methods.tracks.cloth import Acting, Cloth, drape
from sinew.core.methods.tracks.guide import find_regions, make_averages
from sinew.core.methods.tracks.material import warp_of
from sinew.core.methods.tracks.painted import ClothPaint
from sinew.core.methods.tracks.settings import Settings

pytestmark = pytest.mark.once

REST, SIDES = sheet(8, 8, 0.05)
PINNED = (REST[:, 0] < 1e-9).astype(float)
FRAMES = 8


def poses(count: int = FRAMES, rate: float = 24.0) -> list[Any]:
    return [waving(REST, frame / rate) for frame in range(count)]


def make_cloth(regions: int, **changes: Any) -> Cloth:
    averages = make_averages(REST, SIDES, find_regions(poses(), SIDES, regions, 0.5) if regions else None)
    return Cloth(REST, SIDES, PINNED, Settings().replace(changes), 24.0, averages=averages)


def test_averages_and_pins_stay_on_the_guide_and_the_rest_does_not() -> None:
    cloth = make_cloth(6)
    state, frames = cloth.begin(*poses()[:2]), poses()
    for index in range(1, FRAMES - 1):
        state, step = cloth.advance(state, (frames[max(index - 2, 0)], *frames[index - 1 : index + 2]))
        assert step.residual <= 1e-10 * cloth.size and step.unconverged == 0
        assert (state.positions[PINNED == 1.0] == frames[index][PINNED == 1.0]).all()
    assert np.abs(state.positions - frames[FRAMES - 2]).max() > 1e-3 * cloth.size


def test_without_averages_it_goes_its_own_way() -> None:
    """What the averages are for: the same cloth, pinned alone, leaves the guide."""
    frames = poses()
    held, free = (list(drape(REST, SIDES, frames, PINNED, regions=count))[-1] for count in (12, 0))
    away = [np.sqrt(((shape - frames[-1]) ** 2).sum(axis=1).mean()) for shape in (held, free)]
    assert away[1] > 3.0 * away[0]


def test_a_still_sheet_without_weight_stays_where_it_is() -> None:
    still = [REST] * 4
    for shape in drape(REST, SIDES, still, PINNED, regions=4, gravity=(0.0, 0.0, 0.0)):
        assert np.abs(shape - REST).max() < 1e-10


def test_regions_are_about_as_many_as_asked_for_and_of_one_piece() -> None:
    for count in (1, 5, 20):
        regions = find_regions(poses(), SIDES, count, 0.3)
        assert set(regions) == set(range(count))


def test_rows_are_means_and_a_shift_shifts_them() -> None:
    regions = find_regions([REST], SIDES, 5, 0.0)
    painted = np.clip(4.0 * REST[:, 0], 0.0, 1.0)
    rows = make_averages(REST, SIDES, regions, {"Painted": painted}).rows
    assert rows.count == 6
    shift = np.array([1.0, -2.0, 3.0])
    assert np.allclose(rows.means(REST + shift) - rows.means(REST), shift, atol=1e-12)
    # that of a linear weight over the sheet is known: its mean over a fine grid of the same weight
    corners = REST[SIDES]
    fine = np.random.default_rng(1).dirichlet((1.0, 1.0, 1.0), (len(SIDES), 400))
    weight = np.einsum("mki,mi->mk", fine, painted[SIDES])
    places = np.einsum("mki,mij->mkj", fine, corners)
    expected = (weight[..., None] * places).sum(axis=(0, 1)) / weight.sum()
    assert np.abs(rows.means(REST)[5] - expected).max() < 2e-3


def test_hats_of_a_guide_share_out_the_whole_cloth() -> None:
    """Each is the mean around a vertex of the guide, and all of them together are the mean of all."""
    guide = Faces(4, np.array([4], np.int32), np.array([0, 1, 2, 3], np.int32))
    made = subdivide(guide, 3)
    places = made.mix.means(np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], float))
    quads = made.faces.corners.reshape(-1, 4)
    sides = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    averages = make_averages(places, sides, hats=made.mix)
    assert list(averages.names) == [f"Vertex {k} of the guide" for k in range(4)] and averages.first_group == 4
    means = averages.rows.means(places)
    assert np.allclose(means.mean(axis=0), (0.5, 0.5, 0.0)) and np.allclose(means[0, :2], 1.0 / 3.0, atol=0.02)


def sagged(pointwise: bool) -> tuple[float, float]:
    """How far a sheet after a coarse one that stands still goes from it: at the guide's vertices, and elsewhere."""
    guide = Faces(9, np.full(4, 4, np.int32), np.array([0, 1, 4, 3, 1, 2, 5, 4, 3, 4, 7, 6, 4, 5, 8, 7], np.int32))
    made = subdivide(guide, 3)
    rest = made.mix.means(np.array([(0.2 * (k % 3), 0.2 * (k // 3), 0.0) for k in range(9)]))
    quads = made.faces.corners.reshape(-1, 4)
    sides = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)
    averages = make_averages(rest, sides, hats=made.mix, pointwise=pointwise)
    assert averages.rows.count == 9
    cloth = Cloth(rest, sides, np.zeros(len(rest)), Settings(air=0.0), 24.0, averages=averages)
    state = cloth.begin(rest)
    for _ in range(6):
        state, step = cloth.advance(state, (rest, rest, rest, rest))
        assert step.residual <= 1e-10 * cloth.size
    away = np.linalg.norm(state.positions - rest, axis=1)
    return float(away[:9].max()), float(away[9:].max())


def test_cloth_that_goes_through_the_points_of_its_guide_hangs_from_them_like_a_tent() -> None:
    """Which is what averages are for: by them its weight is held everywhere alike."""
    means, points = sagged(False), sagged(True)
    assert max(means) < 1e-9
    assert points[0] < 1e-10 and points[1] > 5e-3


def test_patches_that_keep_their_turn_have_moments_and_a_shift_leaves_these() -> None:
    regions, painted = find_regions([REST], SIDES, 4, 0.0), {"All": np.ones(len(REST))}
    averages = make_averages(REST, SIDES, regions, painted, turns=True, paired=True)
    assert averages.rows.count == 13 and averages.first_group == 12
    assert averages.names[4] == "Region 1, the way it lies" and averages.names[12] == 'Group "All"'
    moments = averages.rows.means(REST)[4:12]
    assert np.allclose(averages.rows.means(REST + (1.0, 2.0, 3.0))[4:12], moments, atol=1e-12)
    turned = REST[:, [1, 2, 0]]
    assert np.allclose(averages.rows.means(turned)[4:12], moments[:, [1, 2, 0]], atol=1e-12)
    assert np.linalg.norm(moments, axis=1).min() > 0.02  # as long as a patch is wide


def test_patches_that_keep_their_turn_lie_as_the_guide_has_them() -> None:
    """A free sheet with one patch: nothing turns it but the guide, which tips over, and its mean alone does not say."""
    angle = np.radians(30.0)
    tip = np.array([(np.cos(angle), 0, -np.sin(angle)), (0, 1, 0), (np.sin(angle), 0, np.cos(angle))])
    middle = REST.mean(axis=0)
    frames = [(REST - middle) @ tip.T + middle if k > 3 else REST for k in range(10)]
    leaning = []
    for turns in (False, True):
        alone = {"gravity": (0.0, 0.0, 0.0), "air": 0.0, "calm": 50.0}
        *_, last = drape(REST, SIDES, frames, regions=1, region_turns=turns, **alone)
        leaning.append(float(np.std(last[:, 2])) / float(np.std(frames[-1][:, 2])))
    assert leaning[0] < 0.5 and leaning[1] == pytest.approx(1.0, abs=0.05)


def test_what_is_painted_nowhere_is_answered() -> None:
    with pytest.raises(BadInput, match='"Cuff"'):
        make_averages(REST, SIDES, None, {"Cuff": np.zeros(len(REST))})


def test_the_same_at_any_scale_of_the_scene() -> None:
    small = list(drape(REST, SIDES, poses(), PINNED, real_size=0.4))
    large = list(drape(50.0 * REST, SIDES, [50.0 * pose for pose in poses()], PINNED, real_size=0.4))
    for one, other in zip(small, large, strict=True):
        assert np.abs(50.0 * one - other).max() < 50.0 * 1e-4 * 0.4


def swung(rate: float) -> Any:
    """Where a strip is after a third of a second, let go flat with one end pinned."""
    rest, sides = sheet(10, 2, 0.04)
    pinned = (rest[:, 0] < 1e-9).astype(float)
    count = round(rate / 3.0) + 1
    *_, last = drape(rest, sides, [rest] * count, pinned, rate)
    return last


def test_the_same_at_any_frame_rate() -> None:
    base = swung(24.0)
    fallen = np.abs(base[:, 2]).max()
    assert fallen > 0.1
    for rate in (30.0, 60.0):
        assert np.abs(swung(rate) - base).max() < 0.05 * fallen


def elastica(stiffness: float, load: float, length: float) -> float:
    """The angle, degrees, by which the chord of a heavy clamped strip falls: B t'' = -w s cos t from its tip on, by
    bisection over the angle at the tip."""
    low, high, steps = 0.0, 0.5 * np.pi, 2000
    h = length / steps
    for _ in range(50):
        tip = 0.5 * (low + high)
        angle, slope, x, z = tip, 0.0, 0.0, 0.0
        for k in range(steps):
            slope -= h * load * (k + 0.5) * h * np.cos(angle) / stiffness
            x, z = x + h * np.cos(angle), z + h * np.sin(angle)
            angle += h * slope
        low, high = (low, tip) if angle > 0.0 else (tip, high)
    return float(np.degrees(np.arctan2(z, x)))


def hung(**changes: Any) -> float:
    """By which angle, degrees, a clamped strip hangs down; `scale` times as large."""
    scale, painted = changes.pop("scale", 1.0), changes.pop("painted", {})
    rest, sides = sheet(10, 2, 0.01 * scale)
    pinned = (rest[:, 0] < 0.015 * scale).astype(float)
    settings = Settings().replace({"precision": 1e-7, **changes})
    averages, weights = make_averages(rest, sides), {name: np.full(len(rest), one) for name, one in painted.items()}
    cloth = Cloth(rest, sides, pinned, settings, 24.0, averages=averages, material=weights)
    settled = cloth.settle(rest)
    assert cloth.is_settled
    tip = settled[-1] - settled[pinned == 1.0].max(axis=0)
    return float(np.degrees(np.arctan2(-tip[2], tip[0])))


def test_dials_and_painted_weights_change_the_material_as_they_say() -> None:
    plain = hung()
    assert hung(wrinkle_size=2.0, scale=2.0) == pytest.approx(plain, abs=0.5)  # twice as large, the same shape
    assert hung(stiff=10.0) < plain - 10.0 and hung(heavy=3.0) > plain + 2.0
    assert hung(stiff_painted=7.0, painted={"stiff": 1.0}) == pytest.approx(hung(stiff=7.0), abs=1e-3)
    assert hung(stiff_painted=7.0, painted={"stiff": 0.0}) == pytest.approx(plain, abs=1e-3)
    assert hung(heavy_painted=9.0, painted={"heavy": 0.5}) == pytest.approx(hung(heavy=3.0), abs=1e-3)


def played(rest: Any, sides: Any, pinned: Any, pose: Any, begin: Any, frames: int, changes: Any) -> Iterator[Any]:
    """The state after each frame, of cloth whose pins are held in a pose."""
    cloth = Cloth(rest, sides, pinned, Settings().replace(changes), 24.0, averages=make_averages(rest, sides))
    state = cloth.begin(begin)
    for _ in range(frames):
        state, _ = cloth.advance(state, (pose, pose, pose, pose))
        yield state


def swings(calm: float) -> float:
    """How fast a strip still is, m/s, that was let go half a radian off its place: in the last half of a second."""
    rest, sides = sheet(10, 3, 0.02)
    rest = rest[:, [1, 2, 0]] * (1.0, 1.0, -1.0)
    pinned = (rest[:, 2] > -1e-9).astype(float)
    cos, sin = np.cos(0.5), np.sin(0.5)
    tilted = np.stack([rest[:, 0], cos * rest[:, 1] - sin * rest[:, 2], sin * rest[:, 1] + cos * rest[:, 2]], axis=1)
    changes = {"calm": calm, "air": 0.0, "bend": 1e-3}
    states = list(played(rest, sides, pinned, rest, tilted, 24, changes))
    return max(float(np.abs(state.velocities).max()) for state in states[12:])


def folds_kept(crumple: float) -> float:
    """How bent a strip stays, radians over all of its folds, that was rolled up and is let go."""
    rest, sides = sheet(10, 2, 0.02)
    pinned, radius = (rest[:, 0] < 0.015).astype(float), 0.05
    angle = rest[:, 0] / radius
    rolled = np.stack([radius * np.sin(angle), rest[:, 1], radius * (1.0 - np.cos(angle))], axis=1)
    changes = {"crease": 5.0, "crumple": crumple, "gravity": (0.0, 0.0, 0.0), "air": 0.0, "calm": 0.3}
    *_, state = played(rest, sides, pinned, rest, rolled, 12, changes)
    assert state.inner is not None
    return float(np.abs(state.inner[: len(state.inner) // 2]).sum())


def folds_of_curtains(wrinkle_size: float) -> int:
    """How often curtains that are gathered by a tenth turn back, below their upper border: of several, which begin with
    other small dents, because where one of them buckles is chance."""
    edge = 0.008
    rest, sides = sheet(50, 8, edge)
    rest = np.ascontiguousarray(rest[:, [0, 2, 1]] - (0.0, 0.0, rest[:, 1].max()))
    pinned = (rest[:, 2] > -0.75 * edge).astype(float)
    line = np.flatnonzero(np.abs(rest[:, 2] + 5.0 * edge) < 0.3 * edge)
    line = line[np.argsort(rest[line, 0])]
    count = 0
    for seed in range(1, 4):
        pose = rest * (0.9, 1.0, 1.0)
        pose[:, 1] += 1e-3 * np.random.default_rng(seed).normal(size=len(rest))
        *_, state = played(rest, sides, pinned, pose, pose, 12, {"calm": 0.3, "wrinkle_size": wrinkle_size})
        turns = np.sign(np.diff(state.positions[line, 1]))
        count += int((turns[1:] != turns[:-1]).sum())
    return count


@pytest.mark.parametrize(
    ("measured", "values", "is_more"),
    [
        (lambda stiff: hung(stiff=stiff), (0.3, 1.0, 3.0, 10.0), False),
        (lambda heavy: hung(heavy=heavy), (0.1, 0.3, 1.0, 3.0), True),
        (lambda size: hung(wrinkle_size=size), (0.5, 1.0, 2.0, 4.0), False),
        (folds_of_curtains, (1.0, 2.0, 4.0, 8.0), False),
        (folds_kept, (0.0, 0.5, 1.0, 2.0, 4.0), True),
        (swings, (0.25, 0.5, 1.0, 2.0, 4.0), True),
    ],
    ids=["stiff", "heavy", "wrinkle_size", "wrinkles", "crumple", "settle"],
)
def test_a_dial_does_the_more_the_further_it_is_turned(measured: Any, values: Any, is_more: bool) -> None:
    found = np.array([measured(value) for value in values])
    assert (np.diff(found) > 0.0).all() if is_more else (np.diff(found) < 0.0).all(), found


def test_the_warp_runs_along_u_and_hangs_down_without_a_map() -> None:
    turned = REST[:, [0, 2, 1]]  # upright
    up, woven = np.array([0.0, 0.0, 1.0]), Settings(shear=0.1)
    assert warp_of(Settings(), turned, SIDES, None, up) is None
    assert np.allclose(warp_of(woven, turned, SIDES, None, up), up)
    assert np.allclose(warp_of(woven, REST, SIDES, None, up), (1.0, 0.0, 0.0))  # level
    for mirrored in (1.0, -1.0):
        uv = np.stack([turned[:, 0] + turned[:, 2], mirrored * turned[:, 2]], axis=1)[SIDES]
        assert np.allclose(warp_of(woven, turned, SIDES, uv, up), (1.0, 0.0, 0.0))


def test_light_cloth_floats_down_and_wind_takes_it_along() -> None:
    none = np.zeros(len(REST))
    averages = make_averages(REST, SIDES)

    def moved(air: float, fields: Any = None) -> Any:
        cloth = Cloth(REST, SIDES, none, Settings(air=air, calm=100.0, weight=0.05), 24.0, averages=averages)
        state, acting = cloth.begin(REST), Acting() if fields is None else Acting((fields, fields))
        for _ in range(12):
            state, _ = cloth.advance(state, (REST, REST, REST, REST), acting)
        return state.velocities.mean(axis=0)

    assert moved(0.0)[2] < -4.0 and -1.2 < moved(1.2)[2] < -0.6  # it falls at 0.9 m/s
    still = dict.fromkeys(fields.COLUMNS, 0.0) | {"unit": 1.0, "strength": 3.0}
    kinds = {"type": "WIND", "shape": "POINT", "falloff_type": "SPHERE", "z_direction": "BOTH"}
    row = fields.make_row({**still, **kinds, "place": (0.0, 0.0, 0.0), "axis": (0.0, 0.0, 1.0)})
    assert -0.6 + 3.0 - 0.6 < moved(1.2, np.array([row]))[2] < 3.0


def test_a_clamped_strip_bends_as_the_heavy_elastica_does() -> None:
    """Between a narrow strip of hinges, which has 8/9 of the stiffness of a plate, and the plate; the clamp is
    somewhere in the last cell."""
    weight, bend, columns = 0.2, 2e-5, 16
    length = 2.0 * (bend / (weight * 9.81)) ** (1.0 / 3.0)  # twice its bending length, as the strip test has it
    rest, sides = sheet(columns + 1, 3, length / (columns * np.sqrt(0.75)))
    pinned = (rest[:, 0] < 1.5 * length / columns).astype(float)  # two columns: it is clamped
    settings = Settings().replace({"bend": bend, "weight": weight, "contraction": 0.0, "precision": 1e-7})
    cloth = Cloth(rest, sides, pinned, settings, 24.0, averages=make_averages(rest, sides))
    settled = cloth.settle(rest)
    assert cloth.is_settled
    clamp, tip = settled[pinned == 1.0][:, 0].max(), settled[rest[:, 0] > rest[:, 0].max() - 1e-9].mean(axis=0)
    angle = np.degrees(np.arctan2(-tip[2], tip[0] - clamp))
    least = elastica(bend, weight * 9.81, length)
    most = elastica(8.0 / 9.0 * bend, weight * 9.81, length * (1.0 + 0.5 / columns))
    assert 0.99 * least < angle < 1.01 * most and most < 1.2 * least


def test_creased_cloth_stays_bent_and_springy_cloth_does_not() -> None:
    rest, sides = sheet(10, 2, 0.02)
    pinned = (rest[:, 0] < 1e-9).astype(float)

    def left(crease: float) -> float:
        """Of its bends, when the load is gone."""
        settings = Settings().replace({"crease": crease, "bend": 1e-5})
        cloth = Cloth(rest, sides, pinned, settings, 24.0, averages=make_averages(rest, sides))
        state = cloth.begin(rest)
        for _ in range(6):
            state, _ = cloth.advance(state, (rest, rest, rest, rest))
        assert state.inner is not None
        return float(np.abs(state.inner[: len(state.inner) // 2]).max())

    assert left(2.0) > 0.02 and left(0.0) == 0.0


def test_a_strip_of_each_fabric_bends_at_its_bending_length() -> None:
    """The fast half of `tests/benchmark/cloth.py materials`."""
    for name in ("silk", "denim", "leather"):
        values = presets.load(name).values
        assert bending_length(values) == pytest.approx(expected_length(values), rel=0.05)


def test_presets_are_materials_and_the_heavier_hangs_the_calmer() -> None:
    known = {name: one for name, one in presets.load_all().items() if one.method == "tracks"}
    names = {"silk", "cotton", "wool", "denim", "leather", "vinyl", "rubber_sheet", "paper", "foil", "tin"}
    assert set(known) == names and all(one.is_material for one in known.values())
    assert Settings().look() == dict(known["cotton"].values)
    for preset in known.values():  # each of them moves, and nothing bursts
        *_, last = drape(REST, SIDES, poses(3), PINNED, **preset.values)
        assert np.isfinite(last).all() and np.abs(last - poses(3)[-1]).max() < 0.5


@pytest.mark.parametrize(
    "rest, sides, words",
    [(REST, np.zeros((0, 3), np.int32), "no faces"), (np.zeros_like(REST), SIDES, "has an area")],
)
def test_a_mesh_without_surface_is_answered(rest: Any, sides: Any, words: str) -> None:
    with pytest.raises(BadInput, match=words):
        list(drape(rest, sides, [rest], PINNED))


def test_faces_without_area_and_doubled_ones_do_no_harm() -> None:
    bad = np.concatenate([SIDES, SIDES[:2], [[0, 1, 1]], [[0, 0, 0]]]).astype(np.int32)
    good, same = (list(drape(REST, sides, poses(4), PINNED))[-1] for sides in (SIDES, bad))
    assert np.abs(good - same).max() < 1e-12


def cube(cells: int) -> tuple[Any, Any]:
    """A closed box of 0.4 m, in triangles; sides turn outwards."""
    faces = Faces(8, np.full(6, 4, np.int32), np.array(
        [0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4, 2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5], np.int32
    ))  # fmt: skip
    corners = 0.4 * np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    made = subdivide(faces, cells)
    quads = made.faces.corners.reshape(-1, 4)
    return made.mix.means(corners), np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)


def fin() -> tuple[Any, Any]:
    """A third sheet that is sewn to the middle of another: each edge of the seam has three triangles."""
    lifted = REST[:, [2, 1, 0]] + (REST[36, 0], 0.0, 0.0)
    joined = np.arange(len(REST)) + len(REST)
    joined[:9] = np.arange(36, 45)  # its first column is the other's middle one
    lifted[:9] = REST[36:45]
    return np.concatenate([REST, lifted]), np.concatenate([SIDES, joined[SIDES]]).astype(np.int32)


def pieces() -> tuple[Any, Any]:
    """Two sheets that touch nothing, and a vertex of no face."""
    other = REST + (0.0, 0.0, 0.3)
    return np.concatenate([REST, other, [(5.0, 0.0, 0.0)]]), np.concatenate([SIDES, SIDES + len(REST)]).astype(np.int32)


@pytest.mark.parametrize("make", [lambda: cube(3), fin, pieces], ids=["closed solid", "seam of three", "pieces"])
def test_any_surface_is_cloth(make: Any) -> None:
    """It swings, its patches stay where they belong, and nothing bursts or is left behind."""
    rest, sides = make()
    frames = [waving(rest, k / 24.0) for k in range(6)]
    pinned = (rest[:, 0] < 1e-9).astype(float)
    *_, last = drape(rest, sides, frames, pinned, regions=6, air=0.0)
    edges = np.unique(np.sort(sides[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1), axis=0)
    lengths = [np.linalg.norm(shape[edges[:, 0]] - shape[edges[:, 1]], axis=1) for shape in (last, rest)]
    assert np.isfinite(last).all() and (lengths[0] / lengths[1]).min() > 0.3 and (lengths[0] / lengths[1]).max() < 1.3
    assert 1e-3 < np.abs(last - frames[-1]).max() < 0.3
    used = np.unique(sides)
    assert np.abs(last[used].mean(axis=0) - frames[-1][used].mean(axis=0)).max() < 0.05
    loose = np.setdiff1d(np.arange(len(rest)), used)
    assert np.abs(last[loose] - frames[-1][loose]).max(initial=0.0) < 1e-12


# Through the machinery of bakes.


def make_shot(**changes: Any) -> Shot:
    settings = Settings().replace({"regions": 4, **changes})
    regions = find_regions(poses(), SIDES, settings.regions, settings.flat) if settings.regions else None
    return Shot(
        rest=REST, triangles=SIDES, settings=settings, method=METHOD, samples=FRAMES, first_frame=1, frame_start=1,
        frame_end=FRAMES, frame_rate=24.0, gravity=(0.0, 0.0, -9.81), owner_file="shot.blend", owner_object="Sheet",
        painted=ClothPaint(PINNED, regions),
    )  # fmt: skip


def samples(count: int = FRAMES, stop_at: int = -1) -> Iterator[Sample]:
    for index, pose in enumerate(poses(count)):
        if index == stop_at:
            raise Cancelled("stopped")
        yield Sample(index, pose.astype(np.float32), np.eye(4))


def results(outcome: run.Outcome) -> list[Any]:
    with Store.open(outcome.folder.parent, outcome.id) as store:
        return [store.read_result(index) for index in range(FRAMES)]


def test_a_bake_of_cloth_is_what_arrays_give_and_tells_of_itself(tmp_path: Path) -> None:
    outcome = run.bake(make_shot(), samples(), tmp_path)
    frames = [pose.astype(np.float32).astype(float) for pose in poses()]
    cloth = make_cloth(4)
    state = cloth.begin(*frames[:2])
    for index in range(1, 4):
        before = frames[index - 2] if index > 1 else None
        state, _ = cloth.advance(state, (before, *frames[index - 1 : index + 2]))
        assert np.abs(results(outcome)[index] - state.positions).max() < 1e-6
    told = "\n".join(lines(outcome.report))
    assert "4 averages held to" in told and outcome.report["cloth"]["residual_relative"] < 1e-10
    assert outcome.report["follow_error"]["max_relative"] < 1e-6


def test_averages_that_say_nothing_new_are_named_and_the_others_hold(tmp_path: Path) -> None:
    right = np.clip(4.0 * (REST[:, 0] - 0.2), 0.0, 1.0) * (PINNED < 1.0)
    groups = {"Right": right, "Cuff": 0.5 * right, "All": np.ones(len(REST))}
    shot = dataclasses.replace(make_shot(regions=0), painted=ClothPaint(PINNED, groups=groups))
    report = run.bake(shot, samples(), tmp_path).report
    (told,) = (line for line in report["warnings"] if "left out of the averages" in line)
    assert 'Group "Cuff"' in told and 'Group "Right"' not in told and 'Group "All"' not in told
    assert report["cloth"]["residual_relative"] < 1e-10


def test_a_mesh_too_coarse_for_its_material_is_told(tmp_path: Path) -> None:
    """Its edges are 5 cm long."""

    def told(**changes: Any) -> str:
        report = run.bake(make_shot(**changes), samples(), tmp_path / str(len(changes))).report
        return " ".join(line for line in report["warnings"] if "Flesh Out" in line)

    assert told() == "" and "5.0 cm long and folds of this material 0.9 cm" in told(bend=1e-6)
    assert told(bend=1e-6, wrinkle_size=3.0) == "" and told(bend=1e-6, gravity=(0.0, 0.0, 0.0), regions=3) == ""


def test_a_continued_bake_has_the_same_bits(tmp_path: Path) -> None:
    shot = make_shot(crease=5.0)
    whole = run.bake(shot, samples(), tmp_path / "whole")
    with pytest.raises(Cancelled):
        run.bake(shot, samples(stop_at=5), tmp_path / "two")
    begun = [path.name for path in (tmp_path / "two").iterdir() if (path / "manifest.json").exists()]
    continued = run.bake(shot, samples(), tmp_path / "two", previous=begun[0] if begun else "")
    for one, other in zip(results(whole), results(continued), strict=True):
        assert (one == other).all()


def test_amount_is_made_anew_without_a_simulation(tmp_path: Path) -> None:
    first = run.bake(make_shot(), samples(), tmp_path)
    shot = dataclasses.replace(make_shot(), settings=make_shot().settings.replace({"amount": 0.0}))
    none = run.bake(shot, samples(), tmp_path, previous=first.id)
    assert none.report["computed"] == 0
    for shape, pose in zip(results(none), poses(), strict=True):
        assert np.abs(shape - pose).max() < 1e-6


def test_another_undeformed_shape_on_each_frame_bends_the_cloth(tmp_path: Path) -> None:
    """Without weight it takes the shape that its hinges want, and an amount of nothing leaves it as it is."""
    ridged = REST + np.stack([0.0 * REST[:, 0], 0.0 * REST[:, 0], 0.02 * (np.arange(len(REST)) % 2)], axis=1)
    still = [REST] * FRAMES

    def lifted(amounts: Any) -> list[float]:
        def sampled() -> Iterator[Sample]:
            for index, amount in enumerate(amounts):
                shape = (REST + amount * (ridged - REST)).astype(np.float32)
                yield Sample(index, still[index].astype(np.float32), np.eye(4), read={"undeformed": shape})

        shot = make_shot(regions=0, gravity=(0.0, 0.0, 0.0), air=0.0, bend=1e-3)
        paint = ClothPaint(PINNED, reshaped=True)
        outcome = run.bake(dataclasses.replace(shot, painted=paint, reads=True), sampled(), tmp_path)
        return [float(np.abs(one[:, 2]).max()) for one in results(outcome)]

    none, some = lifted([0.0] * FRAMES), lifted([min(k / 3.0, 1.0) for k in range(FRAMES)])
    assert max(none) < 1e-6 and some[0] < 1e-6
    assert 2e-3 < some[-1] < 0.05


def test_painted_pairs_follow_another_guide(tmp_path: Path) -> None:
    """A group's mean goes where the guide has it, which is elsewhere than where the cloth's own animation does."""
    right = np.clip(4.0 * (REST[:, 0] - 0.2), 0.0, 1.0)
    paint = ClothPaint(PINNED, groups={"Right": right}, paired=True)
    mean = make_averages(REST, SIDES, None, {"Right": right}).rows.means(REST)

    def sampled() -> Iterator[Sample]:
        for index in range(FRAMES):
            wanted = mean + (0.0, 0.0, 0.002 * index)
            yield Sample(index, REST.astype(np.float32), np.eye(4), read={"paired": wanted})

    shot = dataclasses.replace(make_shot(regions=0), painted=paint, reads=True)
    outcome = run.bake(shot, sampled(), tmp_path)
    rows = make_averages(REST, SIDES, None, {"Right": right}).rows
    for index, shape in enumerate(results(outcome)[1:], 1):
        assert np.abs(rows.means(shape.astype(float)) - mean - (0.0, 0.0, 0.002 * index)).max() < 1e-6
    assert outcome.report["cloth"]["residual_relative"] < 1e-10


@pytest.mark.parametrize("crease", [0.0, 50.0], ids=["springs back", "creases"])
def test_a_settled_start_hangs_in_its_first_pose_and_stays_so(crease: float, tmp_path: Path) -> None:
    shot = make_shot(regions=0, start="settled", crease=crease)

    def still() -> Iterator[Sample]:
        for index in range(FRAMES):
            yield Sample(index, REST.astype(np.float32), np.eye(4))

    outcome = run.bake(shot, still(), tmp_path)
    first, *_, last = results(outcome)
    assert (REST - first)[:, 2].max() > 0.1 and np.abs(last - first).max() < 2e-3
    assert not any("no rest" in warning for warning in outcome.report["warnings"])


def test_a_settled_start_lies_on_what_it_meets(tmp_path: Path) -> None:
    """Hanging by one side it would reach farther down than the ground is."""
    shot = make_shot(regions=0, start="settled", collide=True, calm=0.3)
    shot = dataclasses.replace(shot, painted=ClothPaint(PINNED, collided=Collided(ground=-0.1)))
    still = (Sample(index, REST.astype(np.float32), np.eye(4)) for index in range(FRAMES))
    first, *_, last = results(run.bake(shot, still, tmp_path))
    assert -0.1 < first[:, 2].min() < -0.09 and np.abs(last - first).max() < 5e-3
    assert len(find_crossings([(first.astype(float), SIDES)]).edges) == 0


def test_a_settled_start_has_its_averages_where_the_guide_has_them_and_its_undeformed_shape() -> None:
    right, wide = (REST[:, 0] > 0.2).astype(float), 1.1 * REST
    averages = make_averages(REST, SIDES, None, {"Right": right}, paired=True)
    cloth = Cloth(REST, SIDES, np.zeros(len(REST)), Settings(), 24.0, averages=averages)
    wanted = averages.rows.means(REST) + (0.0, 0.0, 0.1)
    settled = cloth.settle(REST, Acting(shapes=(wide, wide), paired=(wanted,) * 4))
    assert np.abs(averages.rows.means(settled) - wanted).max() < 1e-9 * cloth.size
    edge = np.linalg.norm(settled[SIDES[:, 0]] - settled[SIDES[:, 1]], axis=1)
    made = np.linalg.norm(REST[SIDES[:, 0]] - REST[SIDES[:, 1]], axis=1)
    assert abs(np.median(edge / made) - 1.1) < 0.01


def test_what_nothing_holds_and_what_is_pinned_all_over_is_told(tmp_path: Path) -> None:
    rest, sides = pieces()
    pinned = (rest[:, 0] < 1e-9).astype(float)
    upper = rest[:, 2] > 0.2
    patches = np.where(upper[sides[:, 0]], -1, 0)
    for number, (follow, regions, told) in enumerate((
        (pinned, None, ""), (pinned * ~upper, None, "1 of the 2 pieces"), (0.0 * pinned, patches, "1 of the 2 pieces"),
        (pinned * upper, patches, ""), (0.0 * pinned, None, "Nothing holds the cloth"),
        (np.where(np.arange(len(rest)) < len(rest) - 1, 1.0, 0.0), None, "All of the cloth is pinned"),
    )):  # fmt: skip
        shot = make_shot(regions=0)
        shot = dataclasses.replace(
            shot, rest=rest, triangles=sides, samples=2, frame_end=2, painted=ClothPaint(follow, regions)
        )
        still = (Sample(index, rest.astype(np.float32), np.eye(4)) for index in range(2))
        warnings = run.bake(shot, still, tmp_path / str(number)).report["warnings"]
        found = [line for line in warnings if "holds" in line or "pinned" in line]
        assert [told in line for line in found] == [True] * bool(told), (told, warnings)


def test_groups_keep_the_way_they_lie_but_those_that_a_guide_has_too() -> None:
    right = {"Right": (REST[:, 0] > 0.2).astype(float)}
    alone, turning, paired = (
        make_averages(REST, SIDES, None, right, turns=turns, paired=paired)
        for turns, paired in ((False, False), (True, False), (True, True))
    )
    assert alone.rows.count == paired.rows.count == 1 and turning.rows.count == 3
    angle = 0.4
    turned = REST @ np.array([(1, 0, 0), (0, np.cos(angle), np.sin(angle)), (0, -np.sin(angle), np.cos(angle))])
    along = [turning.rows.means(shape)[:-1] for shape in (REST, turned)]
    lengths = [np.linalg.norm(one, axis=1) for one in along]
    assert np.allclose(*lengths) and np.abs(along[1] - along[0]).max() > 0.1 * lengths[0].max()
    assert turning.names[-1] == 'Group "Right"'


def test_what_rides_on_it_goes_along_as_a_whole(tmp_path: Path) -> None:
    button = np.array([[0.2, 0.2, 0.01], [0.21, 0.2, 0.01], [0.2, 0.21, 0.01], [0.2, 0.2, 0.02]])
    shot = make_shot()
    rides = Passenger("Button", button, button, np.zeros(4, np.int32), True)
    shot = dataclasses.replace(shot, passengers=(rides,))

    def carried() -> Iterator[Sample]:
        from sinew.core.bake.shot import Carried

        for sample in samples():
            moved = waving(button, sample.index / 24.0).astype(np.float32)
            yield dataclasses.replace(sample, carried=(Carried(moved, np.eye(4)),))

    outcome = run.bake(shot, carried(), tmp_path)
    with Store.open(outcome.folder.parent, outcome.id) as store:
        for index in range(FRAMES):
            shown = store.read_result(index, store.result_names[1]).astype(float)
            given = waving(button, index / 24.0)
            lengths = [np.linalg.norm(points - points[0], axis=1) for points in (shown, given)]
            assert np.abs(lengths[0] - lengths[1]).max() < 1e-5
    assert np.abs(shown - given).max() > 1e-4


# What it meets.


def dropped(collide: bool) -> tuple[Cloth, Any]:
    """A free sheet that falls on the ground a hand's breadth below it, after a second and a half."""
    settings = Settings().replace({"collide": collide, "calm": 0.3})
    cloth = Cloth(REST, SIDES, np.zeros(len(REST)), settings, 24.0, averages=make_averages(REST, SIDES))
    acting = Acting()
    if collide:
        cloth.collide(Collided(ground=-0.1), (None, None))
        acting = Acting(ends=((None, None), (None, None)))
    state = cloth.begin(REST)
    for _ in range(36):
        state, _ = cloth.advance(state, (REST, REST, REST, REST), acting)
    return cloth, state


def test_it_lies_on_the_ground_at_its_gap_and_falls_through_where_it_does_not_collide() -> None:
    cloth, state = dropped(True)
    gap = cloth.settings.collision_distance * cloth.size
    height = state.positions[:, 2] + 0.1
    assert height.min() > 0.9 * gap and height.max() < 3.0 * gap
    assert np.abs(state.velocities).max() < 1e-3 * cloth.size
    assert dropped(False)[1].positions[:, 2].max() < -0.2


def test_averages_hold_exactly_while_the_ground_presses() -> None:
    """The guide dips to where its lowest mean is a little above the ground, and its lowest parts are below it."""
    way = poses(18)
    averages = make_averages(REST, SIDES, find_regions([REST], SIDES, 4, 0.0))
    cloth = Cloth(REST, SIDES, np.zeros(len(REST)), Settings().replace({"collide": True}), 24.0, averages=averages)
    ground = min(float(averages.rows.means(pose)[:, 2].min()) for pose in way) - 0.001
    assert min(float(pose[:, 2].min()) for pose in way) < ground
    cloth.collide(Collided(ground=ground), (None, None))
    acting, pressed, state = Acting(ends=((None, None), (None, None))), 0.0, cloth.begin(*way[:2])
    for k in range(1, 17):
        state, step = cloth.advance(state, (way[max(k - 2, 0)], *way[k - 1 : k + 2]), acting)
        assert step.residual <= 1e-10 * cloth.size and state.positions[:, 2].min() > ground
        assert step.touched is not None
        pressed = max(pressed, float(step.touched.report["planes"]))
    assert pressed > 0.0


def led_through_each_other(most: float) -> tuple[Cloth, Any, Any]:
    """Two sheets, the guide of one of which is led 10 mm through the other's: how it ends."""
    one, sides = sheet(6, 6, 0.05)
    both = np.concatenate([one, one + np.array([0.003, 0.002, 0.02])])
    every = np.concatenate([sides, sides + len(one)])
    regions = find_regions([one], sides, 4, 0.0)
    averages = make_averages(both, every, np.concatenate([regions, regions + 4]))
    settings = Settings().replace({"collide": True, "most_pull": most, "calm": 0.3})
    cloth = Cloth(both, every, np.zeros(len(both)), settings, 24.0, averages=averages)
    cloth.collide(Collided(), (None, None))

    def pose(k: int) -> Any:
        way = min(max(k, 0) / 8.0, 1.0)
        moved: Any = both.copy()
        moved[len(one) :, 2] -= 0.03 * way * way * (3.0 - 2.0 * way)
        return moved

    acting, state, step = Acting(ends=((None, None), (None, None))), cloth.begin(pose(0), pose(1)), None
    for k in range(1, 12):
        state, step = cloth.advance(state, (pose(k - 2), pose(k - 1), pose(k), pose(k + 1)), acting)
    assert len(find_crossings([(state.positions, every)]).edges) == 0
    return cloth, state, step


def longest(cloth: Cloth, state: Any) -> float:
    """By how much the longest edge is longer than it was made."""
    ends = cloth.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    now, made = (np.linalg.norm(x[ends[:, 0]] - x[ends[:, 1]], axis=1) for x in (state.positions, cloth.rest))
    return float((now / made).max() - 1.0)


def test_patches_that_may_pull_no_more_lag_where_guides_go_through_each_other() -> None:
    """Whatever it takes stretches the cloth by a tenth and more; with a bound it lags as much as they are through."""
    cloth, state, step = led_through_each_other(20.0)
    assert step.lagging >= 2 and 0.004 < step.lag < 0.013 and step.residual <= 1e-10 * cloth.size
    assert longest(cloth, state) < 0.02
    cloth, state, step = led_through_each_other(0.0)
    assert step.lagging == 0 and step.residual <= 1e-10 * cloth.size and longest(cloth, state) > 0.1


def test_patches_that_lag_where_the_guide_is_stretched_come_in_again_as_it_shrinks() -> None:
    """Twenty times its weight stretches cotton by nothing that is seen: what the guide is longer, it lags."""
    averages = make_averages(REST, SIDES, find_regions([REST], SIDES, 4, 0.0))
    settings = Settings().replace({"most_pull": 20.0, "calm": 0.3})
    cloth = Cloth(REST, SIDES, np.zeros(len(REST)), settings, 24.0, averages=averages)
    middle = REST.mean(axis=0)

    def pose(k: int) -> Any:
        return middle + (REST - middle) * (1.0 + 0.5 * np.sin(np.pi * min(max(k, 0), 12) / 12.0) ** 2)

    state, steps = cloth.begin(pose(0), pose(1)), []
    for k in range(1, 24):
        state, step = cloth.advance(state, (pose(k - 2), pose(k - 1), pose(k), pose(k + 1)))
        steps.append(step)
        assert step.residual <= 1e-10 * cloth.size and longest(cloth, state) < 0.05
    assert steps[5].lagging == 4 and steps[5].lag > 0.03
    assert all(step.lagging == 0 for step in steps[-4:])


def test_a_bound_that_no_patch_reaches_changes_nothing() -> None:
    frames = poses()
    free, bound = (list(drape(REST, SIDES, frames, PINNED, regions=6, most_pull=most)) for most in (0.0, 1e4))
    assert all((one == other).all() for one, other in zip(free, bound, strict=True))


@pytest.mark.parametrize("changes", [{}, {"regions": 4, "most_pull": 2.0}], ids=["pinned", "lags"])
def test_a_continued_bake_that_collides_has_the_same_bits(changes: Any, tmp_path: Path) -> None:
    shot = make_shot(collide=True, **changes)
    regions = find_regions(poses(), SIDES, 4, 0.5) if changes else None
    shot = dataclasses.replace(shot, painted=ClothPaint(PINNED, regions=regions, collided=Collided(ground=-0.05)))
    whole = run.bake(shot, samples(), tmp_path / "whole")
    assert max(results(whole)[-1][:, 2]) > -0.05 and whole.report["cloth"]["followed_vertices"] == 9
    assert (whole.report["cloth"]["lagging"] > 0) == any("lag" in line for line in lines(whole.report)) == bool(changes)
    with pytest.raises(Cancelled):
        run.bake(shot, samples(stop_at=5), tmp_path / "two")
    begun = [path.name for path in (tmp_path / "two").iterdir() if (path / "manifest.json").exists()]
    continued = run.bake(shot, samples(), tmp_path / "two", previous=begun[0] if begun else "")
    for one, other in zip(results(whole), results(continued), strict=True):
        assert (one == other).all()


# From the undeformed shape.


class Arm:
    """What a sleeve is worn on, as an obstacle that deforms."""

    name, thickness, friction, shape = "arm", 0.0, None, None

    def __init__(self, triangles: Any, vertices: int) -> None:
        self.triangles, self.vertices = triangles, vertices


def tube(radius: float, low: float, high: float, rings: int) -> tuple[Any, Any]:
    """Along x, open at both ends."""
    around = 16
    angles = 2.0 * np.pi * np.arange(around) / around
    points = [(x, radius * np.cos(a), radius * np.sin(a)) for x in np.linspace(low, high, rings) for a in angles]
    sides = []
    for i in range(rings - 1):
        for j in range(around):
            a, b = i * around + j, i * around + (j + 1) % around
            sides += [(a, a + around, b), (b, a + around, b + around)]
    return np.array(points), np.array(sides, np.int32)


def crooked(points: Any, angle: float) -> Any:
    """Bent at the middle, as by two bones."""
    turned = points @ np.array([(np.cos(angle), 0, np.sin(angle)), (0, 1, 0), (-np.sin(angle), 0, np.cos(angle))])
    share = np.clip(points[:, :1] / 0.04 + 0.5, 0.0, 1.0)
    return (1.0 - share) * points + share * turned


@pytest.mark.parametrize("is_led", [True, False])
def test_a_sleeve_is_led_with_the_arm_from_rest_and_comes_out_free_of_it(is_led: bool, tmp_path: Path) -> None:
    """On the first frame the arm is crooked, and the sleeve as animated runs through it. Both begin straight; where the
    arm stood crooked from the start, the sleeve would begin through it."""
    rest, sides = tube(0.05, -0.2, 0.2, 17)
    arm, skin = tube(0.035, -0.3, 0.3, 25)
    pinned = (rest[:, 0] < -0.19).astype(float)
    bent = crooked(arm, 1.0)
    worn = crooked(rest, 0.4)  # it does not bend as far as the arm does
    assert len(find_crossings([(worn, sides), (bent, skin)], own=False).edges) > 0
    read = Collided(obstacles=gather([Arm(skin, len(arm))], {"arm": arm} if is_led else None))
    shot = make_shot(regions=0, collide=True, start="rest", preroll=24, self_collision=False)
    shot = dataclasses.replace(
        shot, rest=rest, triangles=sides, samples=3, frame_end=3, painted=ClothPaint(pinned, collided=read), reads=True
    )

    def sampled() -> Iterator[Sample]:
        for index in range(3):
            met = {"obstacle_matrices": np.eye(4), "obstacle_deformed": bent.astype(np.float32)}
            yield Sample(index, worn.astype(np.float32), np.eye(4), read=met)

    outcome = run.bake(shot, sampled(), tmp_path)
    with Store.open(outcome.folder.parent, outcome.id) as store:
        shapes = [store.read_result(index).astype(float) for index in range(3)]
    crossing = [len(find_crossings([(shape, sides), (bent, skin)], own=False).edges) for shape in shapes]
    assert (crossing == [0, 0, 0]) == is_led
