"""One object of the scene as it is below our place in its modifier stack."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from . import animation, compat, stack
from .errors import SceneError
from .objects import unit_of

Floats = npt.NDArray[np.float64]


class Subject:
    """A context manager: inside, the object shows what is below our place in its stack."""

    def __init__(self, ob: Any) -> None:
        self.ob = ob
        self.place = 0
        self.warnings: list[str] = []
        # Local positions under a matrix to world metres, where another mesh says where its vertices are.
        self.led: Callable[[str, Floats], npt.NDArray[np.float32]] | None = None
        self._counts: tuple[int, ...] | None = None
        self._restore = contextlib.ExitStack()

    def enter(self, frames: tuple[int, ...]) -> None:
        """`frames` are those on which node modifiers are tried whether they deform."""
        with contextlib.ExitStack() as restore:
            restore.enter_context(shown(self.ob))
            self.place = stack.find_place(self.ob, frames)
            stack.check_counts_agree(self.ob, self.place, bpy.context.scene)
            self.warnings += stack.stack_warnings(self.ob, self.place)
            restore.enter_context(stack.hidden_from(self.ob, self.place))
            self._restore = restore.pop_all()

    def leave(self) -> None:
        self._restore.close()

    def now(self, when: str) -> tuple[npt.NDArray[np.float32], Floats]:
        """Local positions on the current frame and the matrix to world metres. `when` is for sentences."""
        ob = self.ob
        mesh = evaluated_mesh(ob)
        if not ob.visible_get():
            raise SceneError(
                f'"{ob.name}" is hidden at {when}, and Blender does not evaluate what is hidden: show it there, or '
                "name the frame in Missing."
            )
        counts = (len(mesh.vertices), len(mesh.edges), len(mesh.polygons), len(mesh.loops))
        if counts[0] == 0:
            raise SceneError(f'Object "{ob.name}" has no vertices at {when}: choose a mesh that has some.')
        if self._counts is not None and counts != self._counts:
            raise SceneError(
                f'The topology of "{ob.name}" changes at {when} ({self._counts[0]} vertices before, {counts[0]} then): '
                "apply or remove the modifier that changes it, or choose a frame range in which it stays."
            )
        self._counts = counts
        positions = compat.mesh_positions(mesh)
        matrix = placement(ob, when)
        scales = np.linalg.svd(matrix[:3, :3], compute_uv=False)
        if scales[2] <= 1e-9 * scales[0] or scales[0] < 1e-30:
            raise SceneError(f'"{ob.name}" or a parent has zero scale at {when}: give it a scale.')
        if self.led is not None:
            positions = self.led(when, matrix)
        check_finite(ob, positions, when)
        return positions, matrix

    def undeformed_copy(self, shape_key: int = 0) -> contextlib.AbstractContextManager[Any]:
        """A temporary object with what changes the vertex count below our place, and without what deforms, in the shape
        of a shape key."""
        return _undeformed_copy(self.ob, self.place, shape_key)

    @contextlib.contextmanager
    def undeformed(self, shape_key: int = 0) -> Iterator[Any]:
        """Its evaluated mesh."""
        with self.undeformed_copy(shape_key) as copy:
            yield evaluated_mesh(copy)

    def check_finite(self, positions: npt.NDArray[np.float32], when: str) -> None:
        check_finite(self.ob, positions, when)


def evaluated_mesh(ob: Any) -> Any:
    bpy.context.view_layer.update()
    return ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data


def placement(ob: Any, when: str) -> Floats:
    """The matrix (4, 4) from local space to world metres, on the current frame."""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    if not np.isfinite(matrix).all():
        raise SceneError(f'The transform of "{ob.name}" is not finite at {when}: check its keys and constraints.')
    matrix[:3] *= unit_of(bpy.context.scene)
    return matrix


def check_finite(ob: Any, positions: npt.NDArray[np.float32], when: str) -> None:
    bad = np.flatnonzero(~np.isfinite(positions).all(axis=1))
    if len(bad):
        raise SceneError(
            f'Vertex {bad[0]} of "{ob.name}" has no finite coordinates at {when} ({len(bad)} such vertices): '
            "repair or delete them."
        )


@contextlib.contextmanager
def shown(ob: Any) -> Iterator[None]:
    """Blender evaluates only what is visible: shows a hidden object meanwhile, also where that is keyed or driven."""
    hide_viewport, hidden = ob.hide_viewport, ob.hide_get()
    try:
        with animation.still(ob, ["hide_viewport"]):
            if hide_viewport:
                ob.hide_viewport = False
            if hidden:
                ob.hide_set(False)
            if not ob.visible_get():
                raise SceneError(
                    f'Object "{ob.name}" is in a hidden collection: show it in the viewport and bake again.'
                )
            yield
    finally:
        if hidden:
            ob.hide_set(True)
        if hide_viewport:
            ob.hide_viewport = True


@contextlib.contextmanager
def _undeformed_copy(ob: Any, place: int, shape_key: int) -> Iterator[Any]:
    """A temporary second object on the same mesh: one shape key, only what changes the vertex count below `place`."""
    kept = {
        modifier.name
        for index, modifier in enumerate(stack.others(ob))
        if index < place and _is_kept_at_rest(modifier)
    }
    copy = ob.copy()
    try:
        copy.animation_data_clear()
        for name in [modifier.name for modifier in copy.modifiers if modifier.name not in kept]:
            copy.modifiers.remove(copy.modifiers[name])
        if copy.parent_type == "ARMATURE":
            copy.parent_type = "OBJECT"
        if copy.data.shape_keys is not None:
            copy.show_only_shape_key = True
            copy.active_shape_key_index = shape_key
        bpy.context.scene.collection.objects.link(copy)
        yield copy
    finally:
        bpy.data.objects.remove(copy)
        bpy.context.view_layer.update()


def _is_kept_at_rest(modifier: Any) -> bool:
    # Node modifiers that keep the count deform, and those that change it lie beyond our place.
    return modifier.type in stack.COUNT_CHANGING or modifier.type in stack.GROUP_CHANGING
