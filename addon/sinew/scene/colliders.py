"""What a body collides with: the objects of a collection, or all with Blender's own Collision physics, as triangles on
the current frame."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from . import animation, compat
from .errors import SceneError
from .objects import unit_of
from .subject import check_finite, evaluated_mesh, placement, shown

Floats = npt.NDArray[np.float64]

_TYPES = frozenset("MESH CURVE SURFACE FONT META".split())  # those that show a surface
# Where a mesh has these alone, and none of their values is animated, it keeps its shape.
_STILL = frozenset("BEVEL COLLISION DECIMATE EDGE_SPLIT SOLIDIFY SUBSURF TRIANGULATE WELD WIREFRAME".split())
# Blender's Friction of a collider goes from 0 to 80; its 5, which every new one has, is our coefficient of 0.4.
_FRICTION = 0.08


@dataclass(frozen=True)
class Obstacle:
    """What a collider is on all frames."""

    name: str
    triangles: npt.NDArray[np.int32]  # (m, 3)
    vertices: int
    thickness: float  # around its surface, metres
    friction: float | None  # coefficient; None: that of the body which touches it
    shape: npt.NDArray[np.float32] | None  # (v, 3) local, of one that only moves as a whole; None: it deforms


def find(body: Any, collection: str, excluded: Collection[Any] = ()) -> list[Any]:
    """The objects that a body collides with, by name: those of a collection, or else ("") those of the scene that have
    Collision physics. Neither the body itself nor what is excluded: what it carries, bodies of the same world."""
    scene = bpy.context.scene
    if collection:
        found = [ob for ob in _collection(collection).all_objects if ob.name in scene.objects]
    else:
        found = [ob for ob in scene.objects if ob.collision is not None and ob.collision.use]
    return sorted((ob for ob in found if ob != body and ob not in excluded), key=lambda ob: str(ob.name))


def _collection(name: str) -> Any:
    collections = bpy.context.scene.collection.children_recursive
    found = next((one for one in collections if one.name == name), None)
    if found is None:
        names = [one.name for one in collections]
        close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
        hint = f'did you mean "{close[0]}"?' if close else "choose another, or leave Collection empty."
        raise SceneError(f'There is no collection "{name}" in scene "{bpy.context.scene.name}": {hint}')
    return found


class Colliders:
    """Some objects as obstacles. A context manager: inside, those that are hidden are shown."""

    def __init__(self, objects: Sequence[Any]) -> None:
        self.warnings: list[str] = []
        self.obstacles: list[Obstacle] = []  # once they are looked at
        self._objects = list(objects)
        self._colliders: list[_Collider] = []
        self._restore = contextlib.ExitStack()

    def __enter__(self) -> Colliders:
        self.look()
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def look(self) -> None:
        """Which of the objects can be touched, on the current frame; those that cannot are told."""
        bpy.context.view_layer.update()  # what was linked just now is not yet in the view layer
        with contextlib.ExitStack() as restore:
            for ob in self._objects:
                reason = self._take(ob, restore)
                if reason:
                    self.warnings.append(f'"{ob.name}" does not collide: {reason}.')
            self._restore = restore.pop_all()
        self.obstacles = [one.obstacle for one in self._colliders]

    def _take(self, ob: Any, restore: contextlib.ExitStack) -> str:
        """Why an object is no obstacle; "" where it is one now."""
        if ob.instance_type == "COLLECTION" and ob.instance_collection is not None:
            return "it is an instance of a collection, which has no mesh of its own. Make it real"
        if ob.type not in _TYPES:
            return "" if ob.type in ("EMPTY", "ARMATURE", "CAMERA", "LIGHT") else f"it is of type {ob.type.lower()}"
        if ob.name not in bpy.context.view_layer.objects:
            return "it is in a collection that is excluded from the view layer"
        try:
            restore.enter_context(shown(ob))
        except SceneError:
            return "it is in a hidden collection. Show it in the viewport"
        collider = _Collider(ob)
        if not len(collider.obstacle.triangles):
            return "it has no faces"
        self._colliders.append(collider)
        return ""

    def leave(self) -> None:
        self._restore.close()

    def now(self, when: str) -> list[tuple[npt.NDArray[np.float32] | None, Floats]]:
        """For each obstacle its vertices (v, 3), local, or None where it keeps its shape, and the matrix (4, 4) to
        world metres, on the current frame. `when` is for sentences."""
        return [collider.now(when) for collider in self._colliders]


class _Collider:
    def __init__(self, ob: Any) -> None:
        self._ob = ob
        with _surface(ob) as mesh:
            mesh.calc_loop_triangles()
            flat = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
            mesh.loop_triangles.foreach_get("vertices", flat)
            positions = compat.mesh_positions(mesh)
            self._corners = _corners(mesh)
        scene = bpy.context.scene
        check_finite(ob, positions, f"frame {scene.frame_current}")
        physics = ob.collision if ob.collision is not None and ob.collision.use else None
        unit = unit_of(scene)
        self.obstacle = Obstacle(
            name=ob.name,
            triangles=flat.reshape(-1, 3),
            vertices=len(positions),
            thickness=0.0 if physics is None else float(physics.thickness_outer) * unit,
            friction=None if physics is None else _FRICTION * float(physics.cloth_friction),
            shape=positions if keeps_shape(ob) else None,
        )

    def now(self, when: str) -> tuple[npt.NDArray[np.float32] | None, Floats]:
        if self.obstacle.shape is not None:
            return None, placement(self._ob, when)
        with _surface(self._ob) as mesh:
            positions, corners = compat.mesh_positions(mesh), _corners(mesh)
        if len(positions) != self.obstacle.vertices or not np.array_equal(corners, self._corners):
            raise SceneError(
                f'The topology of the collider "{self._ob.name}" changes at {when} ({self.obstacle.vertices} vertices '
                f"before, {len(positions)} then): apply or remove the modifier that changes it, or take the object out "
                "of what collides."
            )
        check_finite(self._ob, positions, when)
        return positions, placement(self._ob, when)


@contextlib.contextmanager
def _surface(ob: Any) -> Iterator[Any]:
    """The evaluated mesh, also of a curve or a text."""
    if ob.type == "MESH":
        yield evaluated_mesh(ob)
        return
    bpy.context.view_layer.update()
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    try:
        yield evaluated.to_mesh()
    finally:
        evaluated.to_mesh_clear()


def _corners(mesh: Any) -> npt.NDArray[np.int32]:
    corners = np.empty(len(mesh.loops), dtype=np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    return corners


def keeps_shape(ob: Any) -> bool:
    """Whether nothing but its place can change, by all that is known of its modifiers."""
    if ob.type != "MESH" or ob.data.shape_keys is not None or ob.data.animation_data is not None:
        return False
    if any(modifier.type not in _STILL for modifier in ob.modifiers if modifier.show_viewport):
        return False
    return not any(path.startswith("modifiers[") for path in animation.animated(ob))
