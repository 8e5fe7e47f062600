"""What a body is made of: a torso, limbs in pairs, a head with ears, a tail, the trunk of an elephant.

Its pieces form a tree. With bones, a piece is what a bone carries, and those that share most skin hang together.
Without, pieces come from the shape: from the middle of the body outwards, the cells of equal distance form slices;
where a slice falls apart, a limb begins. Pieces on the plane of symmetry are the axis; what hangs on it aside is a
limb, or an ear where it hangs on the head.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ..geometry.connected import connected_pieces
from ..geometry.solid import Solid

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_DROP = 0.55  # of the thickness so far: a stretch that gets thinner is another one
_SLICE = 2.37  # cells; whole distances lie between slices
_ENDS = 8  # looked for to find the middle
MIRRORED = 0.75  # share of the cells that have a mirror image
_BUMP = 1.4  # of its own thickness: what rises less than that is no limb
_SMALL_LIMB = 0.35  # of the largest limb's length times thickness
_BORDERS = (2.5, 4.0)  # faces of cells, to the 2/3 power of their number; the second where the first finds no head
_EARED = 1.5  # times as likely a head
_SLENDER = 0.65  # of its piece's thickness: an ear
_BULB = 1.15  # times as thick as before: a head on its neck
_WIDE = 8.0  # times the volume of a rod: a sheet
_SPECK = 3.0  # cells: nor what rises less than that

TORSO, LIMB, HEAD, EAR, TAIL = range(5)


@dataclass
class Piece:
    """A part of the body. `reach`: how far it and all beyond it goes from where it begins; `thick`: usual thickness."""

    cells: Ints
    parent: int = -1
    children: list[int] = field(default_factory=list)
    is_axial: bool = True
    thick: float = 0.0
    reach: float = 0.0
    start: Floats = field(default_factory=lambda: np.zeros(3))
    kind: int = TORSO


class Tree:
    """The pieces of a body, the first of them its root."""

    def __init__(self, solid: Solid, of_cell: Ints, parents: list[int]) -> None:
        """`of_cell` (k,): the piece of each cell, -1 for none; `parents`: of the pieces, -1 for the root."""
        self.solid, self.of_cell = solid, of_cell
        self.pieces = [Piece(np.flatnonzero(of_cell == i), parent) for i, parent in enumerate(parents)]
        for index, piece in enumerate(self.pieces):
            piece.thick = self._usual(index, piece.cells)
            if piece.parent >= 0:
                self.pieces[piece.parent].children.append(index)
        for index in range(len(self.pieces)):
            self._measure(index)
        self._find_axis()
        self._name_kinds()

    def _usual(self, index: int, cells: Ints) -> float:
        """How thick a piece is; cells in a ball of another one beside it do not count."""
        own = cells[self.of_cell[self.solid.ball[cells]] == index]
        own = own if len(own) else cells
        return float(np.quantile(self.solid.thick[own], 0.75)) if len(own) else 0.0

    def below(self, index: int) -> list[int]:
        """A piece and all that hang on it."""
        return [index, *(deeper for child in self.pieces[index].children for deeper in self.below(child))]

    def _measure(self, index: int) -> None:
        piece = self.pieces[index]
        cells = np.concatenate([self.pieces[i].cells for i in self.below(index)])
        if not len(cells) or piece.parent < 0:
            return
        parent = self.pieces[piece.parent].cells
        places = self.solid.centres
        beside = np.zeros(self.solid.count, bool)
        beside[parent] = True
        touching = cells[np.any([beside[around[cells]] for around in self.solid.faces], axis=0)]
        if not len(touching):
            middle = places[parent].mean(axis=0) if len(parent) else places[cells].mean(axis=0)
            touching = cells[[np.argmin(((places[cells] - middle) ** 2).sum(axis=1))]]
        piece.start = places[touching].mean(axis=0)
        piece.reach = float(np.linalg.norm(places[cells] - piece.start, axis=1).max())

    def _find_axis(self) -> None:
        """A piece lies on the axis if it is about as much on either side of the plane of symmetry; of a body without
        one, if no other piece is like it."""
        plane = self.solid.plane(MIRRORED)
        likes = np.array([(len(p.cells), p.thick, p.reach) for p in self.pieces]) + 1e-12
        for index, piece in enumerate(self.pieces):
            if plane >= 0:
                piece.is_axial = _lies_on(plane, self.solid.centres[piece.cells])
            else:
                like = (np.abs(np.log(likes / likes[index])) < (0.25, 0.2, 0.2)).all(axis=1)
                piece.is_axial = int(like.sum()) == 1

    def _name_kinds(self) -> None:
        pieces = self.pieces
        axis = [i for i in range(len(pieces)) if self._on_axis(i)]
        sides = {i: [c for c in pieces[i].children if c not in axis] for i in axis}
        for some in sides.values():
            for side in some:
                self._name(side, LIMB)
        stout = {i: [side for side in sides[i] if not self._is_sheet(side)] for i in axis}
        largest = max((self._bulk(side) for some in stout.values() for side in some), default=0.0)
        bears = {i for i in axis if any(self._bulk(side) >= _SMALL_LIMB * largest for side in stout[i])}
        for border in _BORDERS:
            ends = self._ends(axis, bears, border)
            head = self._head(ends, axis)
            if head >= 0:
                break
        for end in ends:
            if end == head:
                self._name_head(end, axis, sides)
            elif pieces[end].reach > 3.0 * pieces[end].thick:
                self._name(end, TAIL)

    def _head(self, ends: list[int], axis: list[int]) -> int:
        """The end that is thick far out, or gets thicker there; -1 if even that is a whip."""
        pieces = self.pieces
        tips = {end: self._tip(end) for end in ends}
        bulbs = {end: self._bulb(end, axis) for end in ends}
        eared = {end: _EARED if self._has_pair(end) else 1.0 for end in ends}
        head = max(ends, key=lambda end: tips[end] * bulbs[end] * eared[end], default=-1)
        if head < 0 or bulbs[head] > _BULB:
            return head
        widest = max(piece.thick for piece in pieces)
        is_whip = tips[head] < 0.25 * widest or pieces[head].reach > 8.0 * pieces[head].thick
        return -1 if is_whip else head

    def _name(self, index: int, kind: int) -> None:
        for deeper in self.below(index):
            self.pieces[deeper].kind = kind

    def _ends(self, axis: list[int], bears: set[int], border: float) -> list[int]:
        """Where the axis goes on beyond the last limbs: neck and head, tail."""
        ends, todo = [], [0]
        for index in todo:
            for child in self.pieces[index].children:
                if child not in axis:
                    continue
                if bears.isdisjoint(self.below(child)) and self._sticks_out(child, border):
                    ends.append(child)
                else:
                    todo.append(child)
        return ends

    def _has_pair(self, end: int) -> bool:
        """Whether thin parts rise on either side of an end, as ears and horns do."""
        solid, plane = self.solid, self.solid.plane(MIRRORED)
        inside = np.isin(self.of_cell, self.below(end))
        thin = inside & (solid.thick < _SLENDER * np.array([piece.thick for piece in self.pieces])[self.of_cell])
        if plane < 0 or not thin.any():
            return False
        away, part = solid.distance_from(np.flatnonzero(~thin)), solid.parts_of(thin)
        own = np.flatnonzero(thin)
        count = int(part.max()) + 1
        rise, nearest = np.zeros(count), np.full(count, np.inf)
        np.maximum.at(rise, part[own], away[own])
        np.minimum.at(nearest, part[own], np.abs(solid.centres[own, plane]))
        thick = np.bincount(part[own], solid.thick[own]) / np.bincount(part[own])
        found = (nearest > solid.cell) & (rise > 3.0 * thick) & (rise > 3.0 * solid.cell)
        return bool(found.any())

    def _tip(self, end: int) -> float:
        """How thick the outer half of an end is, by volume."""
        cells = np.concatenate([self.pieces[i].cells for i in self.below(end)])
        far = np.linalg.norm(self.solid.centres[cells] - self.pieces[end].start, axis=1)
        return float(np.quantile(self.solid.thick[cells[far >= np.median(far)]], 0.75))

    def _way(self, end: int, axis: list[int]) -> list[int]:
        """The pieces from where an end begins to its thickest last one."""
        way = [max(self._leaves(end, axis), key=lambda i: self.pieces[i].thick)]
        while way[-1] != end:
            way.append(self.pieces[way[-1]].parent)
        return way[::-1]

    def _bulb(self, end: int, axis: list[int]) -> float:
        """How many times as thick as before an end gets further on: a head on its neck."""
        return _swelling([self.pieces[i].thick for i in self._way(end, axis)])

    def _leaves(self, end: int, axis: list[int]) -> list[int]:
        below = [i for i in self.below(end) if i in axis]
        return [i for i in below if not any(c in axis for c in self.pieces[i].children)]

    def _sticks_out(self, index: int, most: float) -> bool:
        """Whether a piece and all beyond it has a short border: a patch of the torso has a long one."""
        inside = np.zeros(self.solid.count, bool)
        for i in self.below(index):
            inside[self.pieces[i].cells] = True
        border = sum(int((inside & ~inside[beside]).sum()) for beside in self.solid.faces)
        return border < most * float(inside.sum()) ** (2 / 3)

    def _name_head(self, end: int, axis: list[int], sides: dict[int, list[int]]) -> None:
        """The outermost thick piece is the head, with all around it; what goes on thin and long is a trunk."""
        pieces = self.pieces
        chain = self._way(end, axis)[::-1]
        # The innermost that is thick beside all beyond it; a slim rest is a trunk, a tongue, a ponytail.
        thicks = [pieces[i].thick for i in chain]
        tapers = [_swelling(thicks[k::-1]) < _BULB for k in range(len(chain))]
        cut = max((k for k in range(1, len(chain)) if max(thicks[:k]) < 0.7 * thicks[k] and tapers[k]), default=0)
        head = chain[cut]
        for deeper in self.below(head):
            if deeper in axis:
                pieces[deeper].kind = HEAD
        for child in pieces[head].children:
            run = [i for i in self.below(child) if i in axis]
            heavy = [len(pieces[i].cells) + 1 for i in run]
            usual = float(np.average([pieces[i].thick for i in run], weights=heavy)) if run else 0.0
            if run and pieces[child].reach > 6.0 * usual and usual < 0.7 * pieces[head].thick:
                for index in run:
                    pieces[index].kind = TAIL
        for index in self.below(head):
            for side in sides.get(index, []):
                self._name(side, EAR if self._is_slim(side) else HEAD)

    def _is_sheet(self, index: int) -> bool:
        """Whether a piece with all beyond it is much wider than thick."""
        volume = sum(len(self.pieces[i].cells) for i in self.below(index)) * self.solid.cell**3
        piece = self.pieces[index]
        return volume > _WIDE * np.pi * piece.thick**2 * piece.reach

    def _is_slim(self, index: int) -> bool:
        return self.pieces[index].reach > 3.0 * self.pieces[index].thick

    def _on_axis(self, index: int) -> bool:
        while index >= 0:
            if not self.pieces[index].is_axial:
                return False
            index = self.pieces[index].parent
        return True

    def _bulk(self, index: int) -> float:
        """How much of a limb a piece is with all beyond it."""
        cells = self.pieces[index].cells
        return self.pieces[index].reach * float(np.quantile(self.solid.thick[cells], 0.75)) if len(cells) else 0.0


def _swelling(thicks: list[float]) -> float:
    """How many times as thick as before pieces in a row get."""
    thick = np.maximum(thicks, 1e-12)
    return float(min((thick / np.minimum.accumulate(thick)).max(), 2.5))


def by_bones(solid: Solid, skin: Floats, above: list[int]) -> tuple[Tree, list[int]]:
    """From the skin weights (k, bones) of cells and the parents of bones. And the bone of each piece."""
    owner = skin.argmax(axis=1)
    bones = [int(bone) for bone in np.unique(owner)]
    of_cell = np.searchsorted(bones, owner)
    shared = np.zeros((len(bones), len(bones)))
    own = skin[:, bones]
    for i in range(len(bones)):
        shared[i] = np.minimum(own[:, [i]], own).sum(axis=0)
    touching = np.zeros_like(shared)
    for beside in solid.faces:
        np.add.at(touching, (of_cell, of_cell[beside]), 1.0)
    # Pieces that share no skin touch, perhaps; those that do not even that are near.
    places = np.array([solid.centres[of_cell == i].mean(axis=0) for i in range(len(bones))])
    apart = np.linalg.norm(places[:, None] - places, axis=2) / solid.axes.size
    link = shared + 1e-3 * touching - 1e-6 * apart
    # A joint of the skeleton goes before them, if its two pieces meet at all.
    for i, bone in enumerate(bones):
        if above[bone] in bones:
            j = bones.index(above[bone])
            if shared[i, j] > 0.0 or touching[i, j] > 0.0:
                link[i, j] += shared.sum()
                link[j, i] += shared.sum()
    # What meets on the plane of symmetry hangs together as a spine does.
    plane = solid.plane(MIRRORED)
    middle = [i for i in range(len(bones)) if plane >= 0 and _lies_on(plane, solid.centres[of_cell == i])]
    on_axis = np.ix_(middle, middle)
    link[on_axis] += 0.5 * float(shared.sum()) * (touching[on_axis] > 0.0)
    parents = _rooted(_spanning(link), places, np.bincount(of_cell).astype(np.float64), middle)
    order = _root_first(parents)
    place = np.argsort(order)
    parents = [-1 if parents[i] < 0 else int(place[parents[i]]) for i in order]
    return Tree(solid, place[of_cell], parents), [bones[i] for i in order]


def _spanning(link: Floats) -> list[list[int]]:
    """Neighbours of each piece in the tree of the strongest links."""
    count = len(link)
    neighbours: list[list[int]] = [[] for _ in range(count)]
    inside = [0]
    while len(inside) < count:
        outside = [i for i in range(count) if i not in inside]
        block = link[np.ix_(inside, outside)]
        i, j = np.unravel_index(int(block.argmax()), block.shape)
        a, b = inside[i], outside[j]
        neighbours[a].append(b)
        neighbours[b].append(a)
        inside.append(b)
    return neighbours


def _lies_on(plane: int, places: Floats) -> bool:
    """Whether cells are about as much on either side of a plane of symmetry."""
    aside = places[:, plane]
    return bool(abs(aside.mean()) < 0.3 * np.sqrt((aside**2).mean() + 1e-300))


def _rooted(neighbours: list[list[int]], places: Floats, mass: Floats, middle: list[int]) -> list[int]:
    """Parents, from the piece that is nearest to all mass, of those on the plane of symmetry."""
    count = len(neighbours)

    def walk(start: int) -> tuple[list[int], Floats]:
        parents, far, todo = [-1] * count, np.zeros(count), [start]
        for index in todo:
            for other in neighbours[index]:
                if other != parents[index]:
                    parents[other] = index
                    far[other] = far[index] + np.linalg.norm(places[other] - places[index])
                    todo.append(other)
        return parents, far

    return min((walk(i) for i in middle or range(count)), key=lambda found: float(found[1] ** 2 @ mass))[0]


def _root_first(parents: list[int]) -> list[int]:
    order = [parents.index(-1)]
    for index in order:
        order += [i for i, parent in enumerate(parents) if parent == index]
    return order


def by_shape(solid: Solid) -> Tree:
    """Without bones."""
    return Tree(solid, *_Slices(solid).stretches())


class _Slices:
    """Slices of equal distance from the middle of a body."""

    def __init__(self, solid: Solid) -> None:
        self.solid = solid
        index = np.arange(solid.count)
        self.pairs = np.concatenate([np.stack([index, to], axis=1)[index < to] for to in solid.around])
        piece = connected_pieces(solid.count, self.pairs)
        self.main: Mask = piece == np.bincount(piece).argmax()
        self.far = self._from_middle()

    def _from_middle(self) -> Floats:
        """How far each cell is from the middle of the body: from where all ends are about as far."""
        solid, main, plane = self.solid, np.flatnonzero(self.main), self.solid.plane(MIRRORED)
        deepest = main[np.argmax(solid.depth[main])]
        nearest = solid.distance_from(np.array([deepest]))
        total = np.zeros(solid.count)
        for _ in range(_ENDS):
            end = main[np.argmax(nearest[main])]
            far = solid.distance_from(np.array([end]))
            total[main] += far[main] ** 2
            nearest[main] = np.minimum(nearest[main], far[main])
        inner = main if plane < 0 else main[np.abs(solid.centres[main, plane]) < 0.6 * solid.cell]
        inner = inner if len(inner) else main
        return solid.distance_from(np.array([inner[np.argmin(total[inner])]]))

    def _slices(self) -> tuple[Ints, Ints]:
        """The slice (k,) of each cell, -1 away from the main piece, and the slice below each, -1 for the first."""
        solid, main = self.solid, self.main
        layer = np.where(main, np.floor(np.where(main, self.far, 0.0) / (_SLICE * solid.cell)), -1).astype(np.int64)
        pairs = self.pairs[main[self.pairs].all(axis=1)]
        same = pairs[layer[pairs[:, 0]] == layer[pairs[:, 1]]]
        piece = connected_pieces(solid.count, same)
        piece[~main] = -1
        numbers, slices = np.unique(piece, return_inverse=True)
        slices = slices.reshape(-1) - int(numbers[0] == -1)
        count = int(slices.max()) + 1
        up = pairs[layer[pairs[:, 0]] != layer[pairs[:, 1]]]
        up = np.where((layer[up[:, 0]] < layer[up[:, 1]])[:, None], up, up[:, ::-1])
        below, above = slices[up[:, 0]], slices[up[:, 1]]
        keys, contacts = np.unique(above * count + below, return_counts=True)
        parents = np.full(count, -1)
        order = np.argsort(contacts, kind="stable")
        parents[keys[order] // count] = keys[order] % count  # the largest contact is written last
        return slices, parents

    def stretches(self) -> tuple[Ints, list[int]]:
        """The stretch (k,) of each cell, from fork to fork, and the stretch below each."""
        slices, parents = self._slices()
        solid, count, some = self.solid, len(parents), slices >= 0
        begin, end = np.full(count, np.inf), np.zeros(count)
        np.minimum.at(begin, slices[some], self.far[some])
        np.maximum.at(end, slices[some], self.far[some])
        order = np.argsort(begin)
        height = end.copy()
        volume = np.bincount(slices[some], minlength=count).astype(np.float64)
        heavy = np.bincount(slices[some], solid.thick[some], count)
        for index in order[::-1]:
            if (parent := parents[index]) >= 0:
                height[parent] = max(height[parent], height[index])
                volume[parent] += volume[index]
                heavy[parent] += heavy[index]
        usual = heavy / np.maximum(volume, 1.0)
        # What rises little above its fork is part of what it rises from; so is all above it.
        kept, own = np.zeros(count, bool), np.arange(count)
        for index in order:
            if (parent := parents[index]) < 0:
                kept[index] = True
                continue
            siblings = np.flatnonzero(parents == parent)
            highest = index == siblings[np.argmax(height[siblings])]
            rise = height[index] - end[parent]
            kept[index] = kept[parent] and (highest or rise > max(_BUMP * usual[index], _SPECK * solid.cell))
            if not kept[index]:
                own[index] = own[parent]
        forks = np.bincount(parents[(parents >= 0) & kept], minlength=count) > 1
        stretch = np.full(count, -1)
        below: list[int] = []
        thick = np.zeros(count)
        np.maximum.at(thick, slices[some], solid.thick[some])
        widest: list[float] = []
        for index in order[kept[order]]:
            parent = parents[index]
            if parent < 0 or forks[parent] or thick[index] < _DROP * widest[stretch[parent]]:
                widest.append(0.0)
                stretch[index] = len(below)
                below.append(-1 if parent < 0 else int(stretch[parent]))
            else:
                stretch[index] = stretch[parent]
            widest[stretch[index]] = max(widest[stretch[index]], thick[index])
        return np.where(some, stretch[own[np.maximum(slices, 0)]], -1), below
