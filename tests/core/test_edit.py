"""Edit Motion: the Green's function against other ways to find it, the basis against all modes, handles on bent bars,
and a mesh animation edited over arrays."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import sinew
from bodies import box_surface, box_tets
from sinew.core.base.native import module
from sinew.core.cage.cage import Cage
from sinew.core.edit.body import Body
from sinew.core.edit.editor import Editor
from sinew.core.edit.handles import Edits, Handle, parse_handle

Floats = npt.NDArray[np.float64]

RATE = 24.0
DRAG, DAMPING = 0.5, 0.02


def kernel(omega: float, ratio: float, distances: Floats) -> Floats:
    values = np.empty((len(distances), 3))
    module.Edit.kernel(omega, ratio, distances, values)
    return values


def green(squared: float, t: Floats, s: float, **settings: Any) -> Floats:
    values = np.empty(len(t))
    module.Edit.green(settings, squared, np.stack([t, np.full(len(t), s)], 1), values)
    return values


RATIOS, HERTZ = (0.01, 0.05, 0.5, 0.999999999, 1.0, 1.0000001, 1.2, 8.0), (0.25, 3.0, 24.0)


def kernel_error(hertz: float, ratio: float) -> float:
    """How far the kernel and its derivatives are from those of more digits, in units of the frequency."""
    wide = np.clongdouble
    omega = np.longdouble(2.0) * np.arccos(np.longdouble(-1.0)) * np.longdouble(hertz)
    tau = np.linspace(0.0, 3.0 / hertz, 61)
    far = tau.astype(np.longdouble)
    decay = np.longdouble(ratio) * omega
    split = np.sqrt(wide((1 - np.longdouble(ratio)) * (1 + np.longdouble(ratio)))) * omega
    if ratio == 1.0:
        cosine, sine = np.ones(len(tau), wide), far.astype(wide)
    else:
        cosine, sine = np.cos(split * far), np.sin(split * far) / split
    envelope = np.exp(-decay * far)
    wanted = [
        envelope * (cosine + decay * sine),
        -(omega**2) * envelope * sine,
        -(omega**2) * envelope * (cosine - decay * sine),
    ]
    found = kernel(float(omega), ratio, tau)
    assert np.array_equal(kernel(float(omega), ratio, -tau[1:]) * [1, -1, 1], found[1:])
    off = [np.abs(found[:, k] - exact.real).max() / float(omega) ** k for k, exact in enumerate(wanted)]
    return float(max(off))


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("hertz", HERTZ)
def test_the_kernel_and_its_derivatives_are_those_of_more_digits(hertz: float, ratio: float) -> None:
    assert kernel_error(hertz, ratio) < 1e-12


def banded(squared: float, damping: float, length: float, cells: int, at: int, held: bool) -> tuple[Floats, Floats]:
    """The least integral of (z'' + d z' + l z)^2 / 2 minus z at one moment, by differences: pentadiagonal."""
    h = np.longdouble(length) / cells
    count = cells + 1
    low, mid, high = 1 / h**2 - damping / (2 * h), -2 / h**2 + squared, 1 / h**2 + damping / (2 * h)
    row = np.array([low, mid, high]) * np.sqrt(h)  # in more digits: differences of differences cancel
    bands = np.zeros((5, count), np.longdouble)  # diagonals -2..2 of the sum of rowᵀ row
    for i in range(3):
        for j in range(3):
            bands[2 + j - i, i : count - 2 + i] += row[i] * row[j]
    right = np.zeros(count)
    right[at] = 1.0
    if held:  # zero edit and velocity
        for k in (0, 1, count - 2, count - 1):
            bands[2, k] += 1e16 * bands[2, at]
    return (np.arange(count) * h).astype(float), solve_bands(bands, right)


def solve_bands(bands: Floats, right: Floats) -> Floats:
    """Symmetric elimination in two off-diagonals."""
    count = len(right)
    d, e, f, x = (one.astype(np.longdouble) for one in (bands[2], bands[3], bands[4], right))
    for k in range(count):
        for off, value in ((1, e[k]), (2, f[k])):
            if k + off < count:
                ratio = value / d[k]
                d[k + off] -= ratio * value
                if off == 1 and k + 2 < count:
                    e[k + 1] -= ratio * f[k]
                x[k + off] -= ratio * x[k]
    for k in range(count - 1, -1, -1):
        known = (e[k] * x[k + 1] if k + 1 < count else 0.0) + (f[k] * x[k + 2] if k + 2 < count else 0.0)
        x[k] = (x[k] - known) / d[k]
    return x.astype(float)


@pytest.mark.parametrize("hertz", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("ratio", [0.05, 0.4])
def test_what_an_impulse_does_is_what_a_fine_banded_solve_finds_between_held_ends(hertz: float, ratio: float) -> None:
    squared = (2 * np.pi * hertz) ** 2
    damping = 2 * ratio * np.sqrt(squared)
    length = 3.0
    times, fine = banded(squared, damping, length, 12_000, 4_000, held=True)
    found = green(squared, times, length / 3, drag=damping, damping=1e-12, begin=0.0, end=length)
    assert np.abs(found - fine).max() < 1e-3 * np.abs(fine).max()
    assert found[0] == found[-1] == 0.0


def test_an_edit_without_force_residuals_is_smooth_and_a_loop_is_the_sum_of_its_rounds() -> None:
    t = np.linspace(0.0, 2.0, 51)
    smooth = green(40.0, t, 1.0, smoothness=0.01)
    scale = 1 / (2 * np.sqrt(2) * 0.01**0.25 * 40.0**0.75)
    assert smooth.max() == pytest.approx(scale, rel=2e-3)
    once = [green(400.0, t + k * 2.0, 1.0, drag=4.0) for k in range(-20, 21)]
    assert green(400.0, t, 1.0, drag=4.0, period=2.0) == pytest.approx(np.sum(once, axis=0), rel=1e-9, abs=1e-15)


# A bar, held at one end


class Bar:
    def __init__(self, cells: tuple[int, int, int] = (16, 2, 2), held: bool = True) -> None:
        size = (1.0, 0.1, 0.1)
        self.vertices, self.tets = box_tets(cells, size)
        count = len(self.vertices)
        owner = np.zeros(count, np.int32)
        weights = np.zeros((count, 4))
        for e, tet in enumerate(self.tets):
            for i, v in enumerate(tet):
                owner[v], weights[v] = e, np.eye(4)[i]
        self.cage = Cage(self.vertices, self.tets, owner, weights)
        corners = self.vertices[self.tets]
        volume = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6.0
        mass = np.zeros(count)
        np.add.at(mass, self.tets, np.repeat(volume[:, None] * 250.0, 4, 1))
        self.fixed = ((self.vertices[:, 0] < 1e-9) & held).astype(np.int32)
        self.body = Body(mass, np.zeros(count), self.fixed, DRAG, DAMPING, 0.5, young=np.full(len(self.tets), 3e4))
        self.tip = int(np.argmin(np.linalg.norm(self.vertices - [1.0, 0.05, 0.05], axis=1)))
        self.middle = int(np.argmin(np.linalg.norm(self.vertices - [0.5, 0.05, 0.05], axis=1)))

    def bent(self, degrees: float) -> Floats:
        angle = np.radians(degrees)
        if angle == 0.0:
            return self.vertices.copy()
        x, y, z = self.vertices.T
        radius = 1.0 / angle - (z - 0.05)
        return np.stack([radius * np.sin(angle * x), y, 1.0 / angle - radius * np.cos(angle * x)], 1)

    def editor(self, rate: float = RATE) -> Editor:
        return Editor(self.cage, self.body, rate)


class Moment:
    def __init__(self, shape: Floats) -> None:
        self.shape = np.ascontiguousarray(shape)

    def places(self, shape: Floats, vertices: Any) -> Floats:
        return shape[list(vertices)]


def pulled(bar: Bar, shown: Floats, by: Any, frame: float = 24.0, **more: Any) -> Edits:
    return Edits(handles=(Handle((bar.tip,), frame, tuple(by), **more),))


@pytest.mark.parametrize("degrees", [0.0, 90.0, 180.0, 270.0])
def test_long_pulls_on_bent_bars_land_in_few_rounds(degrees: float) -> None:
    bar = Bar()
    shown = bar.bent(degrees)
    random = np.random.default_rng(3)
    tried = 0
    for _ in range(10):
        way = random.normal(size=3)
        way *= 0.4 / np.linalg.norm(way)
        if np.linalg.norm(shown[bar.tip] + way - [0, 0.05, 0.05]) > 0.98:
            continue  # beyond its length
        tried += 1
        editor = bar.editor()
        landed = editor.solve(pulled(bar, shown, way), lambda f: Moment(shown), polish=False)
        moved = editor.frame(24.0, shown)
        assert np.linalg.norm(moved[bar.tip] - shown[bar.tip] - way) < 1e-4
        assert landed.rounds <= 10
    assert tried >= 3


def turned_error() -> float:
    """How far the edit of a turned input is from the edit, turned."""
    bar = Bar()
    shown, by = bar.bent(120.0), np.array([0.1, 0.2, -0.1])
    turn, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    results = []
    for rotation in (np.eye(3), turn):
        editor = bar.editor()
        editor.solve(pulled(bar, shown, rotation @ by), lambda f, r=rotation: Moment(shown @ r.T))
        results.append(editor.frame(30.0, np.ascontiguousarray(shown @ rotation.T)) @ rotation)
    assert np.abs(results[0] - shown).max() > 0.01
    return float(np.abs(results[0] - results[1]).max())


def test_a_turned_input_gives_the_turned_edit() -> None:
    assert turned_error() < 1e-9


def test_body_axes_turn_with_the_body() -> None:
    bar = Bar()
    shown = bar.bent(0.0)[:, [1, 0, 2]] * [-1, 1, 1]  # a quarter turn about z
    editor = bar.editor()
    editor.solve(pulled(bar, shown, (0.0, 0.1, 0.0), axes="body"), lambda f: Moment(shown))
    moved = editor.frame(24.0, np.ascontiguousarray(shown))[bar.tip] - shown[bar.tip]
    assert moved == pytest.approx([-0.1, 0.0, 0.0], abs=1e-4)


def changed_frames() -> int:
    """How many frames have other bits where nothing is pulled: without handles, cleared, muted, without influence, and
    with one that pulls nowhere."""
    bar, changed = Bar(), 0
    shown = bar.bent(77.0)
    cleared = bar.editor()
    cleared.solve(pulled(bar, shown, (0.1, 0, 0)), lambda f: Moment(shown))
    for edits in (
        Edits(),
        pulled(bar, shown, (0.1, 0, 0), mute=True),
        pulled(bar, shown, (0.1, 0, 0), influence=0.0),
        pulled(bar, shown, (0.0, 0, 0)),
    ):
        for editor in (bar.editor(), cleared):
            editor.solve(edits, lambda f: Moment(shown))
            changed += sum(editor.frame(f, shown).tobytes() != shown.tobytes() for f in (0.0, 24.0, 31.0))
    return changed


def test_no_handle_a_muted_one_and_one_that_pulls_nowhere_keep_the_bits() -> None:
    assert changed_frames() == 0


def test_beyond_the_range_nothing_changes_and_a_handle_there_is_told() -> None:
    bar = Bar()
    shown = bar.bent(0.0)
    editor = bar.editor()
    handle = Handle((bar.tip,), 24.0, (0.0, 0.2, 0.0))
    editor.solve(Edits(handles=(handle,), range=(12, 40)), lambda f: Moment(shown))
    for frame in (0.0, 12.0, 40.0, 90.0):
        assert editor.frame(frame, shown).tobytes() == shown.tobytes()
    assert np.abs(editor.frame(24.0, shown) - shown).max() == pytest.approx(0.2, rel=0.05)
    near = np.abs(editor.frame(12.5, shown) - shown).max()
    assert 0.0 < near < 0.01  # it begins at rest
    with pytest.raises(sinew.Error, match="outside the range"):
        Edits(handles=(handle,), range=(30, 40))


def rate_and_order_errors() -> tuple[float, float]:
    """How far edits at other frame rates and samples are from that at 24, at a time that they have in common; and how
    far that of the same handles in another order."""
    bar = Bar()
    shown = bar.bent(60.0)

    def edited(rate: float, turned: bool = False) -> Floats:
        handles = [
            Handle((bar.tip,), 1.0 * rate, (0.0, 0.2, 0.0)),
            Handle((bar.middle,), 1.5 * rate, (0.0, -0.05, 0.0)),
            Handle((bar.tip,), 2.0 * rate, (0.05, 0.0, 0.0)),
        ]
        editor = bar.editor(rate)
        editor.solve(Edits(handles=tuple(handles[::-1] if turned else handles)), lambda f: Moment(shown))
        return editor.frame(1.25 * rate, shown)

    one = edited(24.0)
    rates = max(float(np.abs(edited(rate) - one).max()) for rate in (30.0, 60.0, 48.0, 96.0))
    return rates, float(np.abs(edited(24.0, turned=True) - one).max())


def test_frame_rates_and_the_order_of_handles_do_not_matter() -> None:
    rates, order = rate_and_order_errors()
    assert rates < 1e-9 and order < 1e-6


def test_a_pulled_tip_bends_the_bar_stays_for_a_while_and_rings_at_its_damped_frequency() -> None:
    bar = Bar()
    shown = bar.bent(0.0)
    stiff = Body(**{**bar.body.__dict__, "young": np.full(len(bar.tets), 2e6), "damping": 0.001, "drag": 0.2})
    editor = Editor(bar.cage, stiff, RATE)
    editor.solve(pulled(bar, shown, (0.0, 0.02, 0.0)), lambda f: Moment(shown))

    def at(frame: float, vertex: int, way: Floats) -> float:
        return float((editor.frame(frame, shown)[vertex] - shown[vertex]) @ way)

    side = np.array([0.0, 1.0, 0.0])
    assert 0.25 < at(24.0, bar.middle, side) / at(24.0, bar.tip, side) < 0.40
    assert at(25.0, bar.tip, side) / at(24.0, bar.tip, side) > 0.5
    squared = np.empty(2)
    world = module.World(bar.vertices, bar.tets, bar.fixed, 2e6, 0.4, 1000.0, "neo_hookean")
    world.frequencies(squared)
    rings = []
    for way in np.array([[0.0, 1.0, 1.0], [0.0, 1.0, -1.0]]) / np.sqrt(2.0):  # its tets are cut along one diagonal
        editor.solve(pulled(bar, shown, 0.02 * way), lambda f: Moment(shown))
        frames = np.linspace(40.0, 160.0, 2401)
        heights = np.array([at(f, bar.tip, way) for f in frames])
        crossings = frames[1:][(heights[1:] > 0) & (heights[:-1] <= 0)]
        rings.append(RATE / float(np.diff(crossings).mean()))
    hertz = np.sqrt(squared) / (2 * np.pi)
    ratio = (0.2 + 0.001 * squared) / (2 * np.sqrt(squared))
    assert sorted(rings) == pytest.approx(sorted(hertz * np.sqrt(1 - ratio**2)), rel=0.05)


def test_a_drag_beside_other_handles_goes_on_from_them_and_its_end_depends_on_nothing_else() -> None:
    bar = Bar()
    shown = {float(f): Moment(bar.bent(2.0 * f)) for f in (24, 30, 48, 72)}
    handles = [Handle((bar.tip,), f, (0.0, 0.1, 0.05 * k)) for k, f in enumerate((24.0, 48.0, 72.0))]

    def moved(one: Editor) -> Floats:
        return one.frame(30.0, shown[30.0].shape)

    dragged, whole = bar.editor(), bar.editor()
    dragged.solve(Edits(handles=tuple(handles[:2])), shown.__getitem__)
    for step in range(5):
        last = Handle((bar.tip,), 72.0, (0.0, 0.1, 0.025 * step))
        found = dragged.solve(Edits(handles=(*handles[:2], last)), shown.__getitem__, goes_on=True, polish=False)
        at = dragged.frame(72.0, shown[72.0].shape)[bar.tip] - shown[72.0].shape[bar.tip]
        assert np.linalg.norm(at - last.by) < 2e-4
        assert max(found.missed) < 2e-4
    whole.solve(Edits(handles=tuple(handles)), shown.__getitem__)
    edit = np.abs(moved(whole) - shown[30.0].shape).max()
    assert np.abs(moved(dragged) - moved(whole)).max() < 0.05 * edit, "what is shown while dragging is near what stays"
    dragged.solve(Edits(handles=tuple(handles)), shown.__getitem__)
    assert moved(dragged).tobytes() == moved(whole).tobytes()
    for left in (handles[1:], handles[:2], [handles[0], handles[2]], handles[::-1]):
        fresh = bar.editor()
        for one in (dragged, fresh):
            one.solve(Edits(handles=tuple(left)), shown.__getitem__)
        assert moved(dragged).tobytes() == moved(fresh).tobytes()


@pytest.mark.parametrize("by", [(-0.38, 0.1, 0.07), (-0.2, 0.05, 0.02)])
def test_what_a_long_drag_shows_stays_when_it_ends(by: tuple[float, float, float]) -> None:
    """A straight bar that is pressed together gives way to either side, in one arc or two."""
    bar = Bar()
    shown, way = bar.vertices, np.array(by)
    moment = Moment(shown)

    def moved(one: Editor) -> Floats:
        return one.frame(24.0, shown)

    dragged, leapt, whole = bar.editor(), bar.editor(), bar.editor()
    for step in range(1, 13):
        found = dragged.solve(pulled(bar, shown, way * step / 12), lambda f: moment, goes_on=True, polish=False)
        assert max(found.missed) < 2e-4
    seen = moved(dragged)
    leapt.solve(pulled(bar, shown, way), lambda f: moment, polish=False)
    assert np.abs(moved(leapt) - seen).max() > 0.2, "at one leap it lands otherwise"
    dragged.solve(pulled(bar, shown, way), lambda f: moment)
    assert np.abs(moved(dragged) - seen).max() < 2e-3, "nothing jumps when the mouse lets go"
    whole.solve(pulled(bar, shown, way), lambda f: moment)
    assert moved(whole).tobytes() == moved(dragged).tobytes(), "and what stays depends on the handle alone"


def test_a_radius_that_changes_beside_a_handle_near_by_throws_nothing_about() -> None:
    bar = Bar(held=False)
    shown = {f: Moment(bar.bent(3.0 * f)) for f in (24.0, 26.0)}
    near = int(np.argmin(np.linalg.norm(bar.vertices - [0.95, 0.1, 0.1], axis=1)))
    editor, first = bar.editor(), Handle((bar.tip,), 24.0, (0.0, 0.5, -0.1))
    editor.solve(Edits(handles=(first,)), shown.__getitem__)
    for step in range(6):
        other = Handle((near,), 26.0, (0.0, 0.2, -0.1), radius=0.1 * 1.15**step)
        found = editor.solve(Edits(handles=(first, other)), shown.__getitem__, goes_on=True, polish=False)
        assert max(found.missed) < 2e-4, (step, found)
    editor.solve(Edits(handles=(other,)), shown.__getitem__, goes_on=True, polish=False)
    assert np.abs(editor.frame(26.0, shown[26.0].shape) - shown[26.0].shape).max() < 0.6, "without the first"


def test_a_bar_is_twisted_all_around_by_dragging_it_in_steps() -> None:
    bar = Bar((16, 4, 4))
    corners = ((1.0, 0.0, 0.0), (1.0, 0.1, 0.0), (1.0, 0.1, 0.1))
    ends = [int(np.argmin(np.linalg.norm(bar.vertices - corner, axis=1))) for corner in corners]
    centre, moment, editor = np.array([0.0, 0.05, 0.05]), Moment(bar.vertices), bar.editor()
    for step in range(1, 25):
        angle = np.radians(360.0) * step / 24
        turn = np.array([[1, 0, 0], [0, np.cos(angle), -np.sin(angle)], [0, np.sin(angle), np.cos(angle)]])
        places = (bar.vertices[ends] - centre) @ turn.T + centre
        handles = tuple(
            Handle((v,), 24.0, tuple(place), axes="place", radius=0.04)
            for v, place in zip(ends, places.tolist(), strict=True)
        )
        landed = editor.solve(Edits(handles=handles), lambda f: moment, goes_on=True, polish=False)
        assert max(landed.missed) < 1e-3
    moved = editor.frame(24.0, bar.vertices)
    assert np.abs(moved[ends] - bar.vertices[ends]).max() < 1e-3, "all around"
    angles = []
    for x in np.linspace(0.0, 1.0, 17):
        ring = np.abs(bar.vertices[:, 0] - x) < 1e-6
        rest, now = ((p[ring] - p[ring].mean(axis=0))[:, 1:] for p in (bar.vertices, moved))
        cross = rest.T @ now
        angles.append(np.arctan2(cross[0, 1] - cross[1, 0], cross[0, 0] + cross[1, 1]))
    turned = np.degrees(np.unwrap(angles))
    assert abs(turned[-1] - turned[0]) == pytest.approx(360.0, abs=10.0)


def test_a_held_handle_holds_its_place() -> None:
    bar = Bar()
    editor = bar.editor()
    place = np.array([0.9, 0.3, 0.05])

    def shown(frame: float) -> Floats:
        return bar.bent(1.0 + frame)

    handle = Handle((bar.tip,), 20.0, tuple(place), axes="place", until=30.0)
    landed = editor.solve(Edits(handles=(handle,)), lambda f: Moment(shown(f)))
    assert landed.missed[0] < 1e-4
    for frame in np.arange(20.0, 30.1, 0.5):
        assert np.linalg.norm(editor.frame(frame, shown(frame))[bar.tip] - place) < 2e-3
    assert np.linalg.norm(editor.frame(40.0, shown(40.0))[bar.tip] - place) > 0.02


def test_a_body_that_nothing_holds_is_moved_whole_and_comes_back() -> None:
    bar = Bar(held=False)
    shown = bar.bent(40.0)
    editor = bar.editor()
    editor.solve(pulled(bar, shown, (0.0, 0.5, 0.0)), lambda f: Moment(shown))
    moved = editor.frame(24.0, shown) - shown
    assert moved[bar.tip] == pytest.approx([0.0, 0.5, 0.0], abs=1e-4)
    assert np.abs(moved[:, 1].mean()) > 0.05
    assert np.abs(editor.frame(2400.0, shown) - shown).max() < 0.01


# The basis


def modes_of(bar: Bar) -> tuple[Floats, Floats]:
    """All modes of a bar: eigenvalues, and shapes of what is free as columns."""
    free = np.repeat(bar.fixed == 0, 3)
    stiffness = stiffness_of(bar)[np.ix_(free, free)]
    root = np.sqrt(np.repeat(bar.body.mass, 3)[free])
    squared, modes = np.linalg.eigh(stiffness / root[:, None] / root[None])
    return squared, modes / root[:, None]


def full_basis(bar: Bar, C: Floats, t: float, target: Floats) -> Floats:
    """The edit of the least forces in all modes, at another moment; C (3, free dofs)."""
    free = np.repeat(bar.fixed == 0, 3)
    squared, shapes = modes_of(bar)
    rows = C @ shapes

    def kernels(a: float, b: float) -> Floats:
        return np.array([green(q, np.array([a]), b, drag=DRAG, damping=DAMPING)[0] for q in squared])

    matrix = (rows * kernels(1.0, 1.0)) @ rows.T
    result = np.zeros(len(free))
    result[free] = shapes @ (kernels(t, 1.0) * (rows.T @ np.linalg.solve(matrix, target)))
    return result.reshape(-1, 3)


def stiffness_of(bar: Bar) -> Floats:
    world = module.World(bar.vertices, bar.tets, np.zeros(len(bar.vertices), np.int32), 3e4, 0.4, 1000.0, "neo_hookean")
    gradients, blocks = np.empty((len(bar.tets), 12)), np.empty((len(bar.tets), 90))
    world.evaluate(bar.vertices, gradients, blocks)
    pairs = [(0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2), (3, 3)]
    full = np.zeros((3 * len(bar.vertices),) * 2)
    for tet, values in zip(bar.tets, blocks.reshape(-1, 10, 3, 3), strict=True):
        for (i, j), block in zip(pairs, values, strict=True):
            a, b = slice(3 * tet[i], 3 * tet[i] + 3), slice(3 * tet[j], 3 * tet[j] + 3)
            full[a, b] += block
            if i != j:
                full[b, a] += block.T
    return full


# Where a bar is pulled, and how far, in tenths of a millimetre: at its tip, to an S, to a bump between four places
# that are held.
PULLS = {
    "tip": {(1.0, 0.05, 0.05): (0.0, 1.0, 0.5)},
    "S": {(0.5, 0.05, 0.05): (0.0, 1.0, 0.0), (1.0, 0.05, 0.05): (0.0, -1.0, 0.3)},
    "bump": {
        (0.5, 0.05, 0.1): (0.0, 0.0, 1.0),
        **{(x, y, 0.05): (0.0, 0.0, 0.0) for x in (0.2, 0.8) for y in (0.0, 0.1)},
    },
}
MOMENTS = (1.0, 1.1, 1.6)


def basis_error(moment: float, case: str) -> float:
    """How far a small edit of handles at one second is, at a moment, from that of all modes of the bar."""
    bar = Bar((10, 2, 2))
    editor = bar.editor()

    def vertex(place: tuple[float, float, float]) -> int:
        return int(np.argmin(np.linalg.norm(bar.vertices - place, axis=1)))

    handles = [
        Handle((vertex(place),), RATE, tuple(1e-4 * np.array(by)), radius=0.15) for place, by in PULLS[case].items()
    ]
    editor.solve(Edits(handles=tuple(handles)), lambda f: Moment(bar.vertices), polish=False)
    found = np.empty_like(bar.vertices)
    editor._native.field(moment, found)
    at = np.empty_like(bar.vertices)
    editor._native.field(1.0, at)
    patches = [editor._weights(one.vertices, one.radius)[0][bar.fixed == 0] for one in handles]
    C = np.concatenate([np.kron(patch, np.eye(3)) for patch in patches])  # at rest a row is the mean of its patch
    exact = full_basis(bar, C, moment, C @ at[bar.fixed == 0].ravel())
    return float(np.linalg.norm(found - exact) / np.linalg.norm(exact))


@pytest.mark.parametrize("case", list(PULLS))
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_few_solves_are_as_good_as_all_modes(moment: float, case: str) -> None:
    assert basis_error(moment, case) < 0.01


def paper_edit(squared: Floats, rows: Floats, target: Floats, steps: int, at: int) -> Floats:
    """Amplitudes (modes, steps + 1) of the edit of one handle by the paper's own system, over three seconds: its
    stencil (appendix A) in each mode, no edit on the first and last two steps, its Green's functions (5), superimposed
    (6)."""
    h, count = np.longdouble(3.0) / steps, steps + 1
    damping = DRAG + DAMPING * squared
    a = np.stack([np.ones(len(squared)), -2.0 - damping * h + h**2 * squared, 1.0 + damping * h])
    bands = np.zeros((5, count, len(squared)), np.longdouble)
    for i in range(3):
        for j in range(3):
            bands[2 + j - i, i : count - 2 + i] += a[i] * a[j] / h**3
    for k in (0, 1, count - 2, count - 1):
        bands[2, k] += 1e16 * bands[2, at]
    right = np.zeros((count, len(squared)))
    right[at] = 1.0
    green_functions = solve_bands(bands, right).T
    impulse = np.linalg.solve((rows * green_functions[:, at]) @ rows.T, target)
    found: Floats = green_functions * (rows.T @ impulse)[:, None]
    return found


def oracle_error() -> tuple[float, float]:
    """How far the edit in the lowest modes of a bar, in closed form, is from the paper's system, refined; and how far
    that one still is from itself. Of the largest of the edit."""
    bar = Bar((8, 1, 1))
    squared, shapes = (one[..., :30] for one in modes_of(bar))  # reduced, as there
    tip = 3 * int(np.flatnonzero(np.flatnonzero(bar.fixed == 0) == bar.tip)[0])
    rows, target = shapes[tip : tip + 3], np.array([0.0, 0.1, 0.05])
    levels = [paper_edit(squared, rows, target, steps, steps // 3)[:, :: steps // 300] for steps in (600, 1200, 2400)]
    # The stencil is of first order: two levels tell what is left. Finer ones are lost in rounding.
    coarse, fine = (shapes @ (2.0 * after - before) for before, after in itertools.pairwise(levels))
    times = np.linspace(0.0, 3.0, 301)
    green_functions = np.array(
        [green(one, times, 1.0, drag=DRAG, damping=DAMPING, begin=0.0, end=3.0) for one in squared]
    )
    impulse = np.linalg.solve((rows * green_functions[:, 100]) @ rows.T, target)
    ours = shapes @ (green_functions * (rows.T @ impulse)[:, None])
    largest = np.abs(fine).max()
    return float(np.abs(ours - fine).max() / largest), float(np.abs(fine - coarse).max() / 3.0 / largest)


def test_an_edit_is_that_of_the_papers_own_system_made_finer() -> None:
    bar = Bar((8, 1, 1))
    lowest = np.empty(6)
    world = module.World(bar.vertices, bar.tets, bar.fixed, 3e4, 0.4, 1000.0, "neo_hookean")
    world.frequencies(lowest)
    assert lowest == pytest.approx(modes_of(bar)[0][:6], rel=1e-6), "as ARPACK finds them"
    ours, own = oracle_error()
    assert own < 2e-4 and ours < 1e-3, (ours, own)


# Over arrays


def waving(frames: int) -> tuple[Floats, Any, list[Floats]]:
    rest, triangles = box_surface((12, 2, 2), (1.2, 0.2, 0.2))
    moves = []
    for frame in range(frames):
        angle = 0.6 * np.sin(0.3 * frame) * rest[:, 0] + 1e-12
        moves.append(rest + np.stack([0 * angle, 0.3 * angle * rest[:, 0], 0 * angle], 1))
    return rest, triangles, moves


def test_a_mesh_animation_is_edited_in_ten_lines_and_the_rest_of_it_stays() -> None:
    rest, triangles, frames = waving(30)
    follow = (rest[:, 0] < 0.15).astype(float)
    tip = int(np.argmax(rest @ [1, 0.1, 0.1]))
    edited = sinew.EditedFrames(rest, triangles, frames, follow, sinew.Settings(resolution=8), frame_rate=24)
    assert all(np.array_equal(edited[i], frames[i]) for i in (0, 11, 29))
    edited.pull(tip, 15, (0.0, 0.0, 0.3))
    assert edited[15][tip] == pytest.approx(frames[15][tip] + [0, 0, 0.3], abs=2e-4)
    assert 0.05 < np.abs(edited[16][tip, 2] - frames[16][tip, 2]) < 0.3
    assert np.array_equal(edited[15][follow == 1], frames[15][follow == 1]) or (
        np.abs(edited[15][follow == 1] - frames[15][follow == 1]).max() < 1e-9
    )
    region = (rest[:, 0] > 0.6).astype(float)
    within = sinew.edit(
        rest, triangles, frames, [sinew.Handle((tip,), 15, (0.0, 0.0, 0.2))], follow,
        settings=sinew.Settings(resolution=8), region=region,
    )  # fmt: skip
    near = rest[:, 0] < 0.35
    assert np.abs(within[15] - frames[15])[near].max() < 1e-6 < np.abs(edited[15] - frames[15])[near].max()


def test_an_edited_animation_is_a_sequence() -> None:
    rest, triangles, frames = waving(4)
    edited = sinew.EditedSheet(rest, triangles, frames, (rest[:, 0] < 0.15).astype(float))
    edited.pull(np.argmax(rest[:, 0]), 3, (0.0, 0.0, 0.1))
    every = list(edited)
    assert len(every) == 4 and not np.array_equal(every[3], frames[3])
    assert np.array_equal(edited[-1], every[3]) and np.array_equal(edited[-1:], every[3:])
    assert np.array_equal(edited[::-2], every[::-2]) and edited[4:] == []
    for beyond in (4, -5):
        with pytest.raises(IndexError):
            edited[beyond]


def test_bad_handles_are_answered_in_a_sentence() -> None:
    rest, triangles, frames = waving(4)
    follow = (rest[:, 0] < 0.15).astype(float)
    edited = sinew.EditedFrames(rest, triangles, frames, follow, sinew.Settings(resolution=8))
    with pytest.raises(sinew.Error, match="no frame 9"):
        edited.pull(0, 9, (0, 0, 1))
    with pytest.raises(sinew.Error, match="no frame 9"):
        edited.pull(0, 2, (0, 0, 1), until=9)
    with pytest.raises(sinew.Error, match="no vertex 9999: the mesh has"):
        edited.pull(9999, 2, (0, 0, 1))
    for kind in (sinew.EditedFrames, sinew.EditedSheet):
        with pytest.raises(sinew.Error, match=f"{len(rest) - 1} follow weights and {len(rest)} vertices"):
            kind(rest, triangles, frames, follow[1:])
    edited.pull(int(np.argmin(rest[:, 0])), 2, (0.0, 0.0, 0.1), radius=0.01)
    with pytest.raises(sinew.Error, match="follows the animation exactly"):
        edited[2]
    edited.edits = Edits(handles=(Handle((10**6,), 1, (0, 0, 1)),))
    with pytest.raises(sinew.Error, match="is not there"):
        edited[0]
    for wrong in ("1,2,3", "a,2,0,0,0", "3,4,0,0,nan"):
        with pytest.raises(sinew.Error):
            parse_handle(wrong)
    with pytest.raises(sinew.Error, match="cannot be read"):
        Edits.from_text('{"handles": 3}')


def test_edits_are_plain_text_and_come_back_from_it() -> None:
    edits = Edits(
        handles=(parse_handle("12,10-20,0.1,0,0.5"), Handle((3, 4), 7.0, (1.0, 0.0, 0.0), axes="body", mute=True)),
        wiggle=0.5,
        range=(1, 40),
    )
    assert Edits.from_text(edits.to_text()) == edits
    assert parse_handle("3+4+5,7,0,0,1").vertices == (3, 4, 5)
    named = edits.of_mesh("these faces")
    assert named.mesh == "these faces" and named.with_handles(*edits.handles).of_mesh("others").mesh == "these faces"
    assert dataclasses.replace(named, handles=()).of_mesh("others").mesh == "" == Edits().of_mesh("others").mesh
    assert Edits().to_text() == "" and Edits.from_text("") == Edits()
