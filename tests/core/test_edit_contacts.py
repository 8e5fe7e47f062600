"""Edits that keep contacts: with a floor, with meshes that move, from one side, sliding and pinned."""

from __future__ import annotations

import dataclasses

import numpy as np
import numpy.typing as npt
import pytest
from bodies import box_surface
from sinew.core.base.errors import BadInput
from sinew.core.cage.cage import Cage
from sinew.core.edit.contacts import Contacts, find_entered, find_own, gaps_to, may_meet, pairs_within
from sinew.core.edit.editor import Editor, Landed
from sinew.core.edit.handles import Edits, Handle
from test_edit import RATE, Bar, Moment

pytestmark = pytest.mark.once

Floats = npt.NDArray[np.float64]
FRAMES = [float(frame) for frame in range(15, 46)]
PULL = (0.25, 0.0, -0.1)


class Standing(Bar):
    """A bar that nothing holds and that sways on the floor, its lower end flat on it."""

    def __init__(self) -> None:
        super().__init__((16, 3, 3), held=False)
        turned = self.vertices[:, [2, 1, 0]] * [-1.0, 1.0, 1.0]
        self.vertices = np.ascontiguousarray(turned - turned.min(axis=0))
        self.cage = Cage(self.vertices, self.tets, self.cage.binding, self.cage.weights)
        self.tip = int(np.argmin(np.linalg.norm(self.vertices - [0.05, 0.05, 1.0], axis=1)))
        self.below = self.vertices[:, 2] < 1e-9
        self.moments = {frame: Moment(self.at(frame)) for frame in FRAMES}

    def at(self, frame: float) -> Floats:
        sway = 0.15 * np.sin(frame / 10.0) * self.vertices[:, 2] ** 2
        return self.vertices + np.stack([sway, 0.0 * sway, -0.5 * sway**2], 1)

    def pulled(self, contacts: Contacts | None) -> tuple[Landed, Floats]:
        """How it landed, and how the edit moves all vertices on all frames."""
        editor = self.editor()
        edits = Edits(handles=(Handle((self.tip,), 30.0, PULL),))
        landed = editor.solve(edits, self.moments.__getitem__, contacts=contacts)
        return landed, self.moves(editor)

    def moves(self, editor: Editor) -> Floats:
        return np.array([editor.frame(frame, one.shape) - one.shape for frame, one in self.moments.items()])

    def contacts(self, kind: str, **more: object) -> Contacts:
        found: dict[str, object] = {"floor": 0.0, **more}
        return Contacts(kind, FRAMES, lambda frame: self.moments[frame].shape, 1.0, **found)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def bar() -> Standing:
    return Standing()


LONGEST = float(np.linalg.norm(PULL))


def test_without_looking_at_contacts_the_bar_sinks_and_slips(bar: Standing) -> None:
    landed, moves = bar.pulled(None)
    assert landed.contact_rows == 0
    assert moves[:, bar.below, 2].min() < -0.1 * LONGEST
    assert np.abs(moves[:, bar.below, :2]).max() > 0.3 * LONGEST


def test_from_one_side_it_may_lift_and_does_not_sink(bar: Standing) -> None:
    landed, moves = bar.pulled(bar.contacts("above"))
    assert 0 < landed.contact_rows < 50
    lowest = min((one.shape + by)[:, 2].min() for one, by in zip(bar.moments.values(), moves, strict=True))
    assert lowest > -0.005 * LONGEST
    assert moves[:, bar.below, 2].max() > 0.02, "it tips over its edge"
    assert max(landed.missed) < 1e-4


def test_what_slides_stays_on_the_floor_with_few_rows(bar: Standing) -> None:
    landed, moves = bar.pulled(bar.contacts("slide"))
    assert landed.contact_rows < 50
    assert np.abs(moves[:, bar.below, 2]).max() < 0.01 * LONGEST
    assert np.abs(moves[:, bar.below, :2]).max() > 0.1 * LONGEST, "it may slide"
    assert landed.slipped < 0.01 * LONGEST and max(landed.missed) < 1e-4


def test_what_is_pinned_stays_where_it_is(bar: Standing) -> None:
    landed, moves = bar.pulled(bar.contacts("pin"))
    assert np.linalg.norm(moves[:, bar.below], axis=2).max() < 0.01 * LONGEST
    assert np.abs(moves[15, bar.tip] - PULL).max() < 1e-4
    assert landed.contact_rows <= 96


def test_a_wall_that_moves_is_not_entered(bar: Standing) -> None:
    box, faces, *_ = box_surface((4, 4, 4), (0.2, 1.0, 1.0))

    def wall(frame: float) -> list[tuple[Floats, npt.NDArray[np.int32]]]:
        near = 0.02 + bar.at(frame)[:, 0].max()
        return [(np.asarray(box, float) - np.min(box, axis=0) + [near, -0.5, 0.3], np.asarray(faces, np.int32))]

    def depth(moves: Floats) -> float:
        pairs = zip(bar.moments.items(), moves, strict=True)
        return -min(float(gaps_to(wall(frame)[0], one.shape + by)[0].min()) for (frame, one), by in pairs)

    foot = int(np.flatnonzero(bar.below)[0])
    edits = Edits(handles=(Handle((foot,), 30.0, (-0.25, 0.0, 0.0)),))  # its other end swings to the wall
    found = []
    for contacts in (None, bar.contacts("above", floor=None, meshes=wall)):
        editor = bar.editor()
        editor.solve(edits, bar.moments.__getitem__, contacts=contacts)
        found.append(depth(bar.moves(editor)))
    assert found[0] > 0.03
    assert found[1] < 0.002


def test_contacts_that_cannot_be_kept_tear_nothing(bar: Standing) -> None:
    box, faces = box_surface((2, 2, 2), (1.0, 1.0, 2.0))
    box = np.asarray(box, float) - np.min(box, axis=0)

    def slot(frame: float) -> list[tuple[Floats, npt.NDArray[np.int32]]]:
        """Two walls that the bar stands between."""
        return [(box * [0.05, 1, 1] + [at, -0.5, -0.5], np.asarray(faces, np.int32)) for at in (-0.2, 0.25)]

    editor = bar.editor()
    handles = (Handle((bar.tip,), 30.0, (0.6, 0.2, 0.0)), Handle((bar.middle,), 31.0, (-0.6, 0.0, 0.0)))
    contacts = bar.contacts("above", meshes=slot)
    landed = editor.solve(Edits(handles=handles), bar.moments.__getitem__, contacts=contacts)
    moves = bar.moves(editor)
    assert np.isfinite(moves).all() and np.abs(moves).max() < 4.0 * 0.7
    assert max(landed.missed) > 0.1, "told"


def test_gaps_are_distances_with_a_side() -> None:
    box, faces, *_ = box_surface((2, 2, 2), (1.0, 1.0, 1.0))
    low = np.min(box, axis=0)
    points = low + np.array([[0.5, 0.5, 1.25], [0.5, 0.5, 0.9], [1.3, 1.4, 0.5], [0.5, 0.5, 1.0]])
    gaps, ways = gaps_to((np.asarray(box, float), np.asarray(faces, np.int32)), points)
    assert gaps == pytest.approx([0.25, -0.1, 0.5, 0.0], abs=1e-9)
    assert ways == pytest.approx(np.array([[0, 0, 1], [0, 0, 1], [0.6, 0.8, 0], [0, 0, 1]]), abs=1e-9)


def test_a_drag_keeps_contacts_of_its_frame_and_an_edit_is_the_same_however_it_was_reached(bar: Standing) -> None:
    contacts, dragged = bar.contacts("slide"), bar.editor()
    for step in range(6):
        by = tuple(np.array(PULL) * step / 5.0)
        edits = Edits(handles=(Handle((bar.tip,), 30.0, by),))
        dragged.solve(edits, bar.moments.__getitem__, goes_on=True, polish=False, contacts=contacts)
    moved = dragged.frame(30.0, bar.moments[30.0].shape) - bar.moments[30.0].shape
    assert np.linalg.norm(moved[bar.tip] - PULL) < 1e-3
    assert np.abs(moved[bar.below, 2]).max() < 0.05 * LONGEST
    dragged.solve(edits, bar.moments.__getitem__, contacts=contacts)
    _, whole = bar.pulled(bar.contacts("slide"))
    assert np.array_equal(bar.moves(dragged), whole)


def test_contacts_that_nobody_knows_are_refused() -> None:
    with pytest.raises(BadInput, match="choose from above, slide, pin"):
        Edits(contacts="glue")
    edits = Edits(contacts="pin", floor=0.25)
    assert Edits.from_text(edits.to_text()) == edits


class Rolling(Standing):
    """It lies on the floor, and rolls over one edge after the other: an edit is turned with it."""

    def at(self, frame: float) -> Floats:
        angle = np.radians(9.0 * (frame - FRAMES[0]))
        x, y, z = (self.vertices[:, [2, 1, 0]] * [1.0, -1.0, 1.0] - [0.0, -0.05, 0.05]).T
        high = y * np.sin(angle) + z * np.cos(angle)
        return np.stack([x, y * np.cos(angle) - z * np.sin(angle) - 0.05 * angle, high - high.min()], axis=1)


def test_what_nothing_holds_but_its_contacts_keeps_all_of_them_and_lands() -> None:
    bar, by = Rolling(), (0.05, 0.2, 0.0)
    editor = bar.editor()
    edits = Edits(handles=(Handle((bar.tip,), 30.0, by),))
    landed = editor.solve(edits, bar.moments.__getitem__, contacts=bar.contacts("slide"))
    moves, longest = bar.moves(editor), float(np.linalg.norm(by))
    touches = np.array([one.shape[:, 2] < 1e-6 for one in bar.moments.values()])
    assert touches.sum() > 500 and np.linalg.norm(moves[:, bar.tip], axis=1).min() > 0.01, "all frames are concerned"
    assert max(landed.missed) < 0.01 * longest
    assert np.abs(moves[touches][:, 2]).max() < 0.03 * longest


def outside_of(tets: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """The faces (m, 3) that tets have to themselves, looking out."""
    faces = np.concatenate([tets[:, corners] for corners in ([0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3])])
    _, index, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    found: npt.NDArray[np.int32] = faces[index[count == 1]]
    return found


class Pair(Standing):
    """Two bars of one mesh that stand beside each other and touch, on their sides."""

    GAP = 0.002

    def __init__(self) -> None:
        super().__init__()
        one, count = self.vertices, len(self.vertices)
        self.vertices = np.concatenate([one, one + [0.0, 0.1 + self.GAP, 0.0]])
        self.tets = np.concatenate([self.tets, self.tets + count])
        owner = np.concatenate([self.cage.binding, self.cage.binding + len(self.tets) // 2])
        self.cage = Cage(self.vertices, self.tets, owner, np.tile(self.cage.weights, (2, 1)))
        body, fixed = self.body, np.tile(self.fixed, 2)
        self.body = dataclasses.replace(
            body, mass=np.tile(body.mass, 2), drive=np.tile(body.drive, 2), fixed=fixed, young=np.tile(body.young, 2)
        )
        self.moments = {frame: Moment(self.at(frame)) for frame in FRAMES}
        self.touching = np.abs(one[:, 1] - 0.1) < 1e-9, np.abs(one[:, 1]) < 1e-9  # of the first, of the second

    def parts(self) -> tuple[Floats, npt.NDArray[np.int32]]:
        return self.vertices, outside_of(self.tets)

    def apart(self, kind: str, by: tuple[float, float, float]) -> Floats:
        """How much farther apart the two are, on each frame, at all that touched but what is pulled."""
        editor, contacts = self.editor(), self.contacts(kind, floor=None, parts=self.parts()) if kind else None
        edits = Edits(handles=(Handle((self.tip,), 30.0, by),))
        landed = editor.solve(edits, self.moments.__getitem__, contacts=contacts)
        assert max(landed.missed) < 1e-3
        one, other = np.split(self.moves(editor), 2, axis=1)
        found: Floats = (other[:, self.touching[1]] - one[:, self.touching[0]])[..., 1]
        return found


def test_parts_of_a_body_that_touch_go_along_and_do_not_enter_each_other() -> None:
    pair, pushed, drawn = Pair(), (0.0, 0.2, 0.0), (0.0, -0.2, 0.0)
    own = find_own(pair.vertices, *pair.parts(), 0.004)
    one, other = np.flatnonzero(pair.touching[0]), np.flatnonzero(pair.touching[1]) + len(pair.vertices) // 2
    missed = {*one, *other} - set(own.vertices)  # corners look elsewhere
    assert set(own.vertices) <= {*one, *other} and len(missed) < 0.1 * len(own.vertices)
    assert own.gaps.max() == pytest.approx(pair.GAP, abs=1e-9) and own.gaps.min() > 0.5 * pair.GAP
    assert pair.apart("", pushed).min() < -0.15, "nobody looks: one enters the other"
    assert pair.apart("above", pushed).min() > -0.01, "pushed, it pushes"
    assert pair.apart("above", drawn).max() > 0.15, "drawn away, it lets go"
    low = np.abs(pair.vertices[: len(pair.vertices) // 2, 2][pair.touching[0]]) < 0.6  # far from what is pulled itself
    assert np.abs(pair.apart("slide", drawn)[:, low]).max() < 0.01, "what slides comes along"


class Apart(Pair):
    """The same, far from each other."""

    GAP = 0.05


def test_what_a_pull_brings_into_another_part_of_the_body_pushes_it_away() -> None:
    apart, pushed = Apart(), (0.0, 0.3, 0.0)
    shown = apart.moments[30.0].shape
    assert find_own(shown, *apart.parts(), 0.004).vertices.size == 0, "nothing touches"
    through = apart.apart("", pushed)
    assert through.min() < -0.2, "nobody looks: one is pulled right through the other"
    for kind in ("above", "slide"):
        assert apart.apart(kind, pushed).min() > -apart.GAP, kind
    editor = apart.editor()
    editor.solve(Edits(handles=(Handle((apart.tip,), 30.0, (0.0, 0.1, 0.0)),)), apart.moments.__getitem__)
    moved = editor.frame(30.0, shown)
    one, other = np.split(moved, 2)
    depth = one[apart.touching[0], 1].max() - other[apart.touching[1], 1].min()
    found = find_entered(shown, moved, *apart.parts())
    assert depth > 0.02 and len(found.vertices) > 5
    rest, faces = apart.parts()
    inside_out = find_entered(shown, moved, rest, np.ascontiguousarray(faces[:, ::-1]))
    assert np.array_equal(inside_out.vertices, found.vertices), "faces may look either way"
    assert len(find_entered(moved, moved, *apart.parts()).vertices) == 0, "what was so before is no news"


def test_near_points_are_all_found() -> None:
    points = np.random.default_rng(7).normal(size=(300, 3)) * [1.0, 0.3, 2.0]
    v, w = pairs_within(points, 0.2)
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    wanted = {(int(a), int(b)) for a, b in zip(*np.nonzero(far < 0.2), strict=True) if a != b}
    assert set(zip(v.tolist(), w.tolist(), strict=True)) == wanted and len(v) == len(wanted) > 100


def test_points_that_look_at_each_other_are_not_passed_over() -> None:
    random = np.random.default_rng(11)
    points, normals = random.normal(size=(400, 3)), random.normal(size=(400, 3))
    points[200:], normals[200:] = points[200:] + [6.0, 0.0, 0.0], [0.0, 0.0, 1.0] + 0.3 * normals[200:]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    v, w = pairs_within(points, 0.3)
    facing = np.unique(v[(normals[v] * normals[w]).sum(axis=1) < -0.3])
    some = may_meet(points, normals, 0.3)
    assert len(facing) > 20 and some[facing].all()
    assert not some[200:].all(), "what looks one way is passed over"
    assert not may_meet(points, np.tile([0.0, 0.0, 1.0], (400, 1)), 0.3).any()


class Lying(Standing):
    """It lies over the floor, so high, and stays."""

    def __init__(self, height: float) -> None:
        self.height = height
        super().__init__()
        self.corner = int(np.argmin(np.linalg.norm(self.at(0.0) - [0.0, 0.0, height], axis=1)))

    def at(self, frame: float) -> Floats:
        return self.vertices[:, [2, 1, 0]] * [1.0, -1.0, 1.0] + [0.0, 0.1, self.height]

    def pulled_down(self, vertex: int, by: float, hold: float) -> tuple[Landed, Floats, Floats]:
        """How it landed, how far the pulled vertex came, and how low each vertex is on its worst frame."""
        editor = Editor(self.cage, self.body, RATE, hold=hold)
        edits = Edits(handles=(Handle((vertex,), 30.0, (0.0, 0.0, -by)),))
        landed = editor.solve(edits, self.moments.__getitem__, contacts=self.contacts("above"))
        moves = self.moves(editor)
        return landed, moves[FRAMES.index(30.0), vertex], (self.at(0.0) + moves)[:, :, 2].min(axis=0)


@pytest.mark.parametrize("hold", [2.0, 0.3])
def test_a_body_in_the_air_that_is_pulled_through_the_floor_lands_on_it(hold: float) -> None:
    bar = Lying(0.15)
    landed, moved, lowest = bar.pulled_down(bar.corner, 0.3, hold)
    assert lowest.min() > -0.002
    assert moved[2] == pytest.approx(-0.15, abs=0.002) and np.linalg.norm(moved[:2]) < 0.002
    assert max(landed.missed) == pytest.approx(0.15, abs=0.002), "told"
