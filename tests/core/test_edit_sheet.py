"""Edit Motion on surfaces without volume: by their own triangles, with the fourth vertex along the normal."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sinew
from sinew.core.edit.body import Sheet
from sinew.core.edit.handles import Edits, Handle
from sinew.core.edit.motion import SWING, EditedSheet, shell_of
from test_edit import RATE, green

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

WIDE, HIGH = 17, 13  # vertices
FRAMES = 48


def curtain(wide: int = WIDE, high: int = HIGH) -> tuple[Floats, Ints]:
    """2 m by 1.5 m, hanging in the plane of x and z."""
    u, v = np.meshgrid(np.linspace(0.0, 2.0, wide), np.linspace(0.0, 1.5, high), indexing="ij")
    number = np.arange(wide * high).reshape(wide, high)
    corners = [part.ravel() for part in (number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:])]
    a, b, c, d = corners
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]).astype(np.int32)
    return np.stack([u.ravel(), 0.0 * u.ravel(), -v.ravel()], 1), triangles


REST, TRIANGLES = curtain()
CORNER = WIDE * HIGH - 1
TOP = (REST[:, 2] > -1e-9).astype(float)


def swaying(frame: float) -> Floats:
    sway = 0.15 * np.sin(3.0 * REST[:, 0] + 0.2 * frame) * -REST[:, 2]
    return REST + np.stack([0.0 * sway, sway, 0.0 * sway], 1)


GIVEN = [swaying(frame) for frame in range(FRAMES)]


def edited(*handles: Handle, frames: Any = None, **more: Any) -> EditedSheet:
    return EditedSheet(REST, TRIANGLES, frames or GIVEN, TOP, RATE, edits=Edits(handles=handles), **more)


def test_a_sheet_keeps_its_bits_until_it_is_pulled_and_then_lands() -> None:
    sheet = edited()
    assert all(np.array_equal(sheet[i], GIVEN[i]) for i in (0, 20, 47))
    sheet.pull(CORNER, 20, (0.1, -0.5, 0.3), mute=True)
    assert np.array_equal(sheet[20], GIVEN[20])
    sheet = edited()
    sheet.pull(CORNER, 20, (0.1, -0.5, 0.3))
    moved = sheet[20] - GIVEN[20]
    assert np.abs(moved[CORNER] - [0.1, -0.5, 0.3]).max() < 1e-4
    assert not moved[TOP == 1.0].any(), "what follows stays"
    lengths = np.linalg.norm(moved, axis=1).reshape(WIDE, HIGH)
    assert 0.3 < lengths[-3, -1] / lengths[-1, -1] < 0.95 and lengths[:4].max() < 0.25 * lengths[-1, -1]
    later = [float(np.linalg.norm(sheet[i][CORNER] - GIVEN[i][CORNER])) for i in (21, 23, 40)]
    assert later[0] > 0.3 and later[0] > later[1] > later[2]


def test_a_corner_is_flapped_over_without_being_torn() -> None:
    sheet = edited()
    low, side = WIDE * HIGH - 5, (WIDE - 4) * HIGH - 1
    middle, axis = (GIVEN[20][low] + GIVEN[20][side]) / 2, GIVEN[20][side] - GIVEN[20][low]
    axis /= np.linalg.norm(axis)
    flap = (CORNER, CORNER - 1, CORNER - HIGH)
    for step in range(1, 19):
        angle, handles = np.pi * step / 18, []
        for vertex in flap:
            arm = GIVEN[20][vertex] - middle
            across = np.cross(axis, arm) * np.sin(angle) + axis * (axis @ arm) * (1 - np.cos(angle))
            x, y, z = (middle + arm * np.cos(angle) + across).tolist()
            handles.append(Handle((vertex,), 20.0, (x, y, z), axes="place", radius=0.15))
        sheet.drag(*handles)
        assert max(sheet.landed.missed) < 1e-3

    def areas(shape: Floats) -> Floats:
        a, b, c = (shape[TRIANGLES[:, i]] for i in range(3))
        found: Floats = np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2
        return found

    ratio = areas(sheet[20]) / areas(GIVEN[20])
    assert ratio.min() > 0.1 and ratio.max() < 3.0
    before, after = (np.cross(x[TRIANGLES[:, 1]] - x[TRIANGLES[:, 0]], x[TRIANGLES[:, 2]] - x[TRIANGLES[:, 0]]) for x in
                     (GIVEN[20], sheet[20]))  # fmt: skip
    turned = (before * after).sum(axis=1) / np.linalg.norm(before, axis=1) / np.linalg.norm(after, axis=1)
    assert turned.min() < -0.3 and np.median(turned) > 0.8, "some of it shows its back, most of it hangs as before"


def test_a_turned_sheet_gives_the_turned_edit() -> None:
    turn, _ = np.linalg.qr(np.random.default_rng(5).normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    by, results = np.array([0.1, -0.4, 0.2]), []
    for rotation in (np.eye(3), turn):
        frames = [frame @ rotation.T for frame in GIVEN]
        x, y, z = (rotation @ by).tolist()
        sheet = edited(Handle((CORNER,), 20.0, (x, y, z)), frames=frames)
        results.append(sheet[22] @ rotation)
    assert np.abs(results[0] - GIVEN[22]).max() > 0.1
    assert np.abs(results[0] - results[1]).max() < 1e-9


def stiffness(sheet: Sheet, stretch: float, bend: float, poisson: float) -> Floats:
    """Membrane and hinges about a flat rest, written down once more: plane stress in each triangle, and
    D edge² / (area + area) times the squared angle of each edge."""
    x, found = sheet.vertices, np.zeros((3 * len(sheet.vertices),) * 2)
    plane = stretch / (1 - poisson**2) * np.array([[1, poisson, 0], [poisson, 1, 0], [0, 0, (1 - poisson) / 2]])
    edges: dict[tuple[int, int], list[int]] = {}
    for triangle in sheet.cells.tolist():
        p = x[triangle][:, [0, 2]]  # y is across
        area = 0.5 * np.linalg.det(np.array([p[1] - p[0], p[2] - p[0]]))
        slopes = np.linalg.inv(np.column_stack([p, np.ones(3)]))[:2]  # of the shape functions
        strain = np.zeros((3, 9))
        for i in range(3):
            strain[0, 3 * i], strain[1, 3 * i + 2] = slopes[:, i]
            strain[2, 3 * i], strain[2, 3 * i + 2] = slopes[1, i], slopes[0, i]
        own = np.add.outer(3 * np.array(triangle), np.arange(3)).ravel()
        found[np.ix_(own, own)] += abs(area) * strain.T @ plane @ strain
        for i in range(3):
            a, b, c = triangle[i], triangle[(i + 1) % 3], triangle[(i + 2) % 3]
            edges.setdefault((min(a, b), max(a, b)), []).append(c)
    for (a, b), opposite in edges.items():
        if len(opposite) == 2:
            own, flat = [a, b, *opposite], x[[a, b, *opposite]][:, [0, 2]]
            edge = flat[1] - flat[0]
            heights = [abs(float(np.linalg.det(np.array([edge, flat[k] - flat[0]])))) for k in (2, 3)]
            angle = np.zeros(4)  # by the heights across of its four corners
            for k, height in zip((2, 3), heights, strict=True):
                along = float((flat[k] - flat[0]) @ edge / (edge @ edge))
                length = np.linalg.norm(edge)
                angle[[0, 1, k]] += length / height * np.array([-(1 - along), -along, 1.0])
            k = bend * float(edge @ edge) / (0.5 * sum(heights))
            across = 3 * np.array(own) + 1
            found[np.ix_(across, across)] += k * np.outer(angle, angle)
    return found


@pytest.mark.parametrize("moment", [1.0, 1.1, 1.5])
def test_the_shapes_of_a_sheet_are_those_of_all_its_modes(moment: float) -> None:
    """At rest, for a small pull across: a row is then the mean of its patch."""
    rest, triangles = curtain(11, 9)
    top, corner = (rest[:, 2] > -1e-9).astype(float), len(rest) - 1
    sheet = Sheet(rest, triangles)
    shell = shell_of(sheet, top)
    handle = Handle((corner,), RATE, (0.0, 2e-4, 0.0), radius=0.5)
    one = EditedSheet(rest, triangles, [rest] * 60, top, RATE, edits=Edits(handles=(handle,)))
    one[24]
    found, at = np.empty_like(rest), np.empty_like(rest)
    one.editor._native.field(moment, found)
    one.editor._native.field(1.0, at)
    free = np.repeat(shell.fixed == 0, 3)
    K = stiffness(sheet, shell.stretch, shell.bend, shell.poisson) + np.diag(np.repeat(shell.drive, 3))
    root = np.sqrt(np.repeat(shell.mass, 3)[free])
    squared, modes = np.linalg.eigh(K[np.ix_(free, free)] / root[:, None] / root[None])
    assert squared.min() == pytest.approx((2 * np.pi * SWING) ** 2, rel=0.5), "nothing swings more slowly"
    shapes = modes / root[:, None]
    patch, _ = one.editor._weights((corner,), 0.5)
    C = np.kron(patch[shell.fixed == 0], np.eye(3))
    rows = C @ shapes

    def kernels(t: float) -> Floats:
        damped = {"drag": shell.drag, "damping": shell.damping}
        return np.array([green(q, np.array([t]), 1.0, **damped)[0] for q in squared])

    matrix = (rows * kernels(1.0)) @ rows.T
    exact = shapes @ (kernels(moment) * (rows.T @ np.linalg.solve(matrix, C @ at.ravel()[free])))
    assert np.linalg.norm(found.ravel()[free] - exact) < 0.01 * np.linalg.norm(exact)


def test_a_sheet_is_pulled_onto_a_floor_and_not_through_it() -> None:
    lowest = -1.6
    far = Handle((CORNER,), 20.0, (0.0, -0.3, -0.4))
    sunk = edited(far)
    kept = edited(far)
    kept.edits = Edits(handles=(far,), contacts="above", floor=lowest)
    assert min(sunk[i][:, 2].min() for i in range(16, 26)) < lowest - 0.05
    assert min(kept[i][:, 2].min() for i in range(FRAMES)) > lowest - 0.01


def test_regions_and_body_axes_hold_for_sheets_too() -> None:
    region = (REST[:, 0] > 1.0).astype(float)
    sheet = edited(Handle((CORNER,), 20.0, (0.0, -0.3, 0.0)), region=region)
    moved = np.linalg.norm(sheet[20] - GIVEN[20], axis=1)
    assert moved[CORNER] == pytest.approx(0.3, abs=1e-4) and not moved[REST[:, 0] < 0.9].any()
    turned = [frame[:, [1, 0, 2]] * [-1, 1, 1] for frame in [REST] * 40]  # a quarter turn about z
    own = edited(Handle((CORNER,), 20.0, (0.0, 0.2, 0.0), axes="body"), frames=turned)
    assert own[20][CORNER] - turned[20][CORNER] == pytest.approx([-0.2, 0.0, 0.0], abs=1e-3)


def test_what_is_no_sheet_is_told_and_what_hangs_on_nothing_stays() -> None:
    with pytest.raises(sinew.Error, match="no faces"):
        EditedSheet(REST, np.zeros((0, 3), np.int32), GIVEN)
    with pytest.raises(sinew.Error, match="is not there"):
        EditedSheet(REST, [[0, 1, 999]], GIVEN)
    with pytest.raises(sinew.Error, match="has an area"):
        EditedSheet(REST, [[0, 1, 2]], GIVEN)  # on one line
    with pytest.raises(sinew.Error, match="nothing to edit"):
        EditedSheet(REST, TRIANGLES, GIVEN, np.ones(len(REST)))
    pinned = edited(Handle((0,), 20.0, (0.0, 0.1, 0.0), radius=0.01))
    with pytest.raises(sinew.Error, match="follows the animation exactly"):
        pinned[20]
    # A vertex of no face, a face without area, and one that is there twice.
    more = [np.concatenate([frame, [[9.0, 9.0, 9.0]]]) for frame in GIVEN]
    sides = np.concatenate([TRIANGLES, TRIANGLES[:1], [[0, 1, 2]]]).astype(np.int32)
    whole = EditedSheet(np.concatenate([REST, [[9.0, 9.0, 9.0]]]), sides, more, [*TOP, 0.0])
    whole.pull(CORNER, 20, (0.0, -0.3, 0.0))
    assert whole[20][CORNER, 1] - GIVEN[20][CORNER, 1] == pytest.approx(-0.3, abs=1e-4)
    assert np.array_equal(whole[20][-1], [9.0, 9.0, 9.0])
    # Nothing holds it: it is moved whole, and comes back.
    loose = EditedSheet(REST, TRIANGLES, [REST] * 200, edits=Edits(handles=(Handle((CORNER,), 20.0, (0.0, 0.4, 0.0)),)))
    assert loose[20][CORNER, 1] == pytest.approx(0.4, abs=1e-4) and np.abs(loose[190] - REST).max() < 0.02


def test_sheets_are_told_from_bodies() -> None:
    from bodies import box_surface
    from sinew.core.geometry.sheet import is_sheet

    box, sides = box_surface((6, 6, 6), (1.0, 1.0, 1.0))
    assert is_sheet(REST, TRIANGLES) and is_sheet(*curtain(2, 2))
    assert not is_sheet(box, sides) and not is_sheet(box, sides[:-4]), "a hole is none"
    lid = np.asarray(box)[sides][..., 2].max(axis=1) < np.max(box, axis=0)[2] - 1e-9
    assert not is_sheet(box, np.asarray(sides)[lid]), "an open box is none"
    two = np.concatenate([TRIANGLES, TRIANGLES[:, ::-1] + len(REST)])
    assert is_sheet(np.concatenate([REST, REST + [0.0, 0.5, 0.0]]), two), "two leaves are sheets"
    assert not is_sheet(REST, np.zeros((0, 3), np.int32))


def test_bodies_are_told_from_bags_and_from_sheets_with_two_sides() -> None:
    from bodies import box_surface
    from sinew.core.geometry.sheet import is_solid

    box, sides = (np.asarray(one) for one in box_surface((6, 6, 6), (1.0, 1.0, 1.0)))
    assert is_solid(box, sides) and is_solid(box + 100.0, sides[:, ::-1]), "anywhere, and inside out"
    assert is_solid(box * (1.0, 0.3, 0.2), sides), "a plank"
    assert not is_solid(box * (2.0, 1.5, 0.05), sides), "a quilt"
    lid = box[sides][..., 2].max(axis=1) < box[:, 2].max() - 1e-9
    assert not is_solid(box, sides[lid]) and not is_solid(REST, TRIANGLES)
    assert not is_solid(REST, np.zeros((0, 3), np.int32)) and not is_solid(np.zeros((0, 3)), np.zeros((0, 3), np.int32))
