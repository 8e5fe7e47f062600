"""Another mesh that cloth follows: the coarse one that it was subdivided from, which then carries it, or one of any
making that has the same painted groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...core.geometry.place import inverse, placed
from ...core.geometry.sparse import Rows, stacked
from ...core.geometry.subdivide import Faces
from ...core.methods.tracks.settings import Settings, group_names
from ...scene import attributes, compat, stack
from ...scene.errors import SceneError
from ...scene.objects import find_object
from ...scene.sampler import Rest, Sampler, rest_now
from ...scene.steps import Steps
from ...scene.subject import check_finite, evaluated_mesh, placement, shown

Floats = npt.NDArray[np.float64]


def guide_of(ob: Any, settings: Settings) -> Any | None:
    """The object that is the guide, a sentence where it cannot be; None where the cloth is its own."""
    if not settings.guide_object:
        return None
    found = find_object(settings.guide_object)
    if found == ob:
        raise SceneError(f'"{ob.name}" cannot be its own guide: choose another mesh, or leave Guide empty.')
    for name in group_names(settings.region_groups) if len(found.data.vertices) != len(ob.data.vertices) else ():
        if not attributes.has_weights(ob, name):
            continue  # that is told where groups are read
        if not _may_carry(found, ob):
            _check_partner(found, ob, name)
    return found


def _check_partner(guide: Any, ob: Any, name: str) -> None:
    if not attributes.has_weights(guide, name):
        raise SceneError(
            f'The guide "{guide.name}" has no group "{name}": paint there what belongs to that of "{ob.name}", or take '
            "it out of Groups."
        )


def _may_carry(guide: Any, ob: Any) -> bool:
    """Whether a mesh looks like another one subdivided, at a glance."""
    return len(guide.data.polygons) > 0 and len(ob.data.polygons) % len(guide.data.polygons) == 0


class Guide:
    """As it is shown, with a bake of its own where it plays one, but without what changes its vertices after that."""

    def __init__(self, sampler: Sampler, ob: Any) -> None:
        sampler.hold(shown(ob))
        sampler.hold(stack.hidden_from(ob, stack.find_place(ob, ()), plays=True))
        self._ob = ob
        mesh = evaluated_mesh(ob)
        self.faces = faces_of(mesh)
        self.carries: Rows | None = None
        self._pairs: Rows | None = None

    def now(self, when: str) -> Floats:
        """(g, 3) world metres on the current frame."""
        positions = compat.mesh_positions(evaluated_mesh(self._ob))
        if len(positions) != self.faces.points:
            raise SceneError(
                f'The guide "{self._ob.name}" has {len(positions)} vertices at {when} and {self.faces.points} before: '
                "apply or remove the modifier that changes them."
            )
        check_finite(self._ob, positions, when)
        return placed(placement(self._ob, when), positions.astype(np.float64))

    def _carried(self, when: str, matrix: Floats) -> npt.NDArray[np.float32]:
        """The vertices of the cloth on the current frame, under its own matrix."""
        assert self.carries is not None
        return placed(inverse(matrix), self.carries.means(self.now(when))).astype(np.float32)

    def look(self, sampler: Sampler, rest: Rest, groups: Sequence[str]) -> Steps[None]:
        """How it says where the cloth is: from now on it carries the sampled body, or is paired with it by groups."""
        from ...core.methods.tracks.guide import find_levels, make_averages  # they need the native module

        if not len(self.faces.sizes):
            raise SceneError(f'The guide "{self._ob.name}" has no faces: choose a mesh with a surface.')
        self.carries = find_levels(self.faces, len(rest.positions), rest.edges)
        yield
        if self.carries is not None:
            sampler.body.led = self._carried
            return
        if not groups:
            raise SceneError(
                f'The guide "{self._ob.name}" ({self.faces.points} vertices) is not the mesh that "{sampler.ob.name}" '
                f"({len(rest.positions)}) is subdivided from, and no groups are named that both have: make the fine "
                "mesh by Flesh Out, or paint groups of the same names on both and write these in Groups."
            )
        rows = []
        for name in groups:
            _check_partner(self._ob, sampler.ob, name)
            own, weights = yield from rest_now(self._ob, name)
            assert weights is not None
            if not (weights > 0.0).any():
                raise SceneError(f'Nothing is painted in the group "{name}" of the guide "{self._ob.name}".')
            rows.append(make_averages(own.positions, own.triangles, None, {name: weights}).rows)
        self._pairs = stacked(rows)

    @property
    def is_paired(self) -> bool:
        return self._pairs is not None

    def paired(self, when: str) -> Floats:
        """(groups, 3) where it has the groups on the current frame."""
        assert self._pairs is not None
        return self._pairs.means(self.now(when))


def faces_of(mesh: Any) -> Faces:
    sizes, corners = np.empty(len(mesh.polygons), np.int32), np.empty(len(mesh.loops), np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    mesh.loops.foreach_get("vertex_index", corners)
    return Faces(len(mesh.vertices), sizes, corners)
