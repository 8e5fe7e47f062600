"""Edits that keep contacts: with a floor, with meshes that move, from one side, sliding and pinned."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from bodies import box_surface
from sinew.core.base.errors import BadInput
from sinew.core.cage.cage import Cage
from sinew.core.edit.contacts import Contacts, gaps_to
from sinew.core.edit.editor import Editor, Landed
from sinew.core.edit.handles import Edits, Handle
from test_edit import Bar, Moment

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
