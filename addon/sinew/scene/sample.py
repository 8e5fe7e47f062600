"""Takes an object's animation out of Blender as arrays, and leaves the scene as it was."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from . import compat, stack
from .errors import SceneError

Floats = npt.NDArray[np.float64]

AMOUNT = "sinew_amount"  # custom property of an object, 0..2: how much of the simulated motion is used


@dataclass(frozen=True)
class Bone:
    """A deform bone at rest, world metres."""

    name: str
    head: tuple[float, float, float]
    tail: tuple[float, float, float]
    parent: int  # index of the nearest deforming ancestor, or -1
    is_leaf: bool  # no deforming descendant


@dataclass(frozen=True)
class Rest:
    """The rest shape and what goes with it."""

    positions: Floats  # (t, 3) world metres
    triangles: npt.NDArray[np.int32]  # (m, 3)
    edges: npt.NDArray[np.int32]  # (k, 2)
    matrix: Floats  # (4, 4) that took them there from local space
    bones: list[Bone] = field(default_factory=list)
    skin: npt.NDArray[np.float32] | None = None  # (t, bones)
    base_first: bool = True  # the vertices of the mesh datablock are the first of those sampled, in order


def find_object(name: str) -> Any:
    """The mesh object of that name in the open scene; otherwise a sentence with the closest name."""
    scene = bpy.context.scene
    bpy.context.view_layer.update()  # what was linked just now is not yet in the view layer
    meshes = [ob.name for ob in scene.objects if ob.type == "MESH"]
    ob = scene.objects.get(name)
    if ob is None or ob.type != "MESH":
        close = difflib.get_close_matches(name, meshes, n=1, cutoff=0.0)
        hint = f'did you mean "{close[0]}"?' if close else "the scene has no mesh at all."
        if ob is not None:
            raise SceneError(f'Object "{name}" is no mesh but a {ob.type.lower()}: {hint}')
        raise SceneError(f'There is no object "{name}" in scene "{scene.name}": {hint}')
    if ob.mode == "EDIT":
        raise SceneError(f'Object "{name}" is in edit mode: leave it and bake again.')
    if ob.name not in bpy.context.view_layer.objects:
        raise SceneError(f'Object "{name}" is in a collection that is excluded from the view layer: include it.')
    if len(ob.data.vertices) == 0 and not ob.modifiers:
        raise SceneError(f'Object "{name}" has no vertices: choose a mesh that has some.')
    return ob


class Sampler:
    """Samples one object. A context manager: inside, the object shows what is below our place in its stack."""

    def __init__(
        self,
        ob: Any,
        *,
        frame_start: int | None = None,
        frame_end: int | None = None,
        samples: int = 1,
        preroll: int = 0,
        rest_frame: int | None = None,
    ) -> None:
        scene = bpy.context.scene
        self.ob = ob
        self.frame_start = scene.frame_start if frame_start is None else frame_start
        self.frame_end = scene.frame_end if frame_end is None else frame_end
        self.samples = samples
        self.rest_frame = rest_frame
        if self.frame_end < self.frame_start:
            raise SceneError(
                f"The frame range {self.frame_start} to {self.frame_end} is empty: set frame_start and frame_end."
            )
        self.first_frame = self.frame_start - preroll
        self.count = (self.frame_end - self.first_frame) * samples + 1
        self.frame_rate = scene.render.fps / scene.render.fps_base
        self.warnings: list[str] = []
        self._counts: tuple[int, ...] | None = None
        self._restore = contextlib.ExitStack()

    def __enter__(self) -> Sampler:
        scene, ob = bpy.context.scene, self.ob
        with contextlib.ExitStack() as restore:
            restore.callback(scene.frame_set, scene.frame_current, subframe=scene.frame_subframe)
            restore.enter_context(_shown(ob))
            middle = (self.frame_start + self.frame_end) // 2
            self.place = stack.find_place(ob, (self.frame_start, middle, self.frame_end))
            stack.check_counts_agree(ob, self.place, scene)
            self.warnings += stack.stack_warnings(ob, self.place)
            restore.enter_context(stack.hidden_from(ob, self.place))
            self._restore = restore.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._restore.close()

    @property
    def gravity(self) -> tuple[float, float, float]:
        """The scene's gravity in m/s2; the number in the scene is taken as such whatever its unit scale."""
        scene = bpy.context.scene
        x, y, z = scene.gravity if scene.use_gravity else (0.0, 0.0, 0.0)
        return (x, y, z)

    def frames(self) -> Iterator[tuple[int, npt.NDArray[np.float32], Floats, float]]:
        """All samples in order: index, local positions, matrix to world metres, amount."""
        for index in range(self.count):
            frame = self.first_frame + index // self.samples
            bpy.context.scene.frame_set(frame, subframe=(index % self.samples) / self.samples)
            yield (index, *self._now(f"frame {frame}"), self._amount())

    def rest(self) -> Rest:
        """The rest shape, placed where the object is on the first sample (or on the rest frame)."""
        scene, ob = bpy.context.scene, self.ob
        scene.frame_set(self.first_frame if self.rest_frame is None else self.rest_frame)
        sampled, matrix = self._now(f"frame {scene.frame_current}")
        with _undeformed_copy(ob, self.place) as copy:
            mesh = _evaluated_mesh(copy)
            if self.rest_frame is not None:
                local = sampled
                if len(mesh.vertices) != len(local):
                    mesh = _evaluated_mesh(ob)
            else:
                local = compat.mesh_positions(mesh)
                if len(local) != len(sampled):
                    raise SceneError(
                        f'"{ob.name}" has {len(local)} vertices at rest and {len(sampled)} in the animation: set '
                        "rest_frame to a frame with a good rest shape."
                    )
                _check_finite(ob, local, "the rest shape")
            return _make_rest(ob, self.place, mesh, local, matrix)

    def group(self, name: str) -> Floats:
        """Weights (t,) of a vertex group on the rest mesh as it is at our place; 0 where a vertex has none."""
        if name not in self.ob.vertex_groups:
            names = [group.name for group in self.ob.vertex_groups]
            close = difflib.get_close_matches(name, names, n=1, cutoff=0.0)
            hint = f'did you mean "{close[0]}"?' if close else "it has none at all."
            raise SceneError(f'Object "{self.ob.name}" has no vertex group "{name}": {hint}')
        bpy.context.view_layer.update()
        with _undeformed_copy(self.ob, self.place) as copy:
            return _group_weights(self.ob, _evaluated_mesh(copy), [name])[:, 0].astype(np.float64)

    def _amount(self) -> float:
        """The object's custom property now, which may be keyframed or driven; 1 without one."""
        value = self.ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).get(AMOUNT, 1.0)
        if not isinstance(value, (int, float)) or not np.isfinite(value):
            raise SceneError(f'The custom property "{AMOUNT}" of "{self.ob.name}" must be a number from 0 to 2.')
        return min(max(float(value), 0.0), 2.0)

    def _now(self, when: str) -> tuple[npt.NDArray[np.float32], Floats]:
        ob = self.ob
        mesh = _evaluated_mesh(ob)
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
        _check_finite(ob, positions, when)
        evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        matrix = np.array(evaluated.matrix_world, dtype=np.float64)
        if not np.isfinite(matrix).all():
            raise SceneError(f'The transform of "{ob.name}" is not finite at {when}: check its keys and constraints.')
        scales = np.linalg.svd(matrix[:3, :3], compute_uv=False)
        if scales[2] <= 1e-9 * scales[0] or scales[0] < 1e-30:
            raise SceneError(f'"{ob.name}" or a parent has zero scale at {when}: give it a scale.')
        matrix[:3] *= bpy.context.scene.unit_settings.scale_length or 1.0
        return positions, matrix


def _evaluated_mesh(ob: Any) -> Any:
    bpy.context.view_layer.update()
    return ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data


def rest_now(ob: Any, group: str = "") -> tuple[Rest, Floats | None]:
    """The rest shape where the object is now, and the weights of a vertex group on it. No frame is set, so that a pose
    without keys stays."""
    place = stack.find_place(ob, ())
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    matrix[:3] *= bpy.context.scene.unit_settings.scale_length or 1.0
    with _undeformed_copy(ob, place) as copy:
        mesh = _evaluated_mesh(copy)
        local = compat.mesh_positions(mesh)
        _check_finite(ob, local, "the rest shape")
        weights = _group_weights(ob, mesh, [group])[:, 0].astype(np.float64) if group in ob.vertex_groups else None
        return _make_rest(ob, place, mesh, local, matrix), weights


def _make_rest(ob: Any, place: int, mesh: Any, local: npt.NDArray[np.float32], matrix: Floats) -> Rest:
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    edges = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", edges)
    bones = _deform_bones(ob, place)
    skin = _group_weights(ob, mesh, [bone.name for bone in bones]) if bones else None
    positions = local.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    return Rest(
        positions, triangles.reshape(-1, 3), edges.reshape(-1, 2), matrix, bones, skin, _base_is_first(ob, place)
    )


def _check_finite(ob: Any, positions: npt.NDArray[np.float32], when: str) -> None:
    bad = np.flatnonzero(~np.isfinite(positions).all(axis=1))
    if len(bad):
        raise SceneError(
            f'Vertex {bad[0]} of "{ob.name}" has no finite coordinates at {when} ({len(bad)} such vertices): '
            "repair or delete them."
        )


@contextlib.contextmanager
def _shown(ob: Any) -> Iterator[None]:
    """Blender evaluates only what is visible: shows a hidden object meanwhile."""
    hide_viewport, hidden = ob.hide_viewport, ob.hide_get()
    try:
        if hide_viewport:
            ob.hide_viewport = False
        if hidden:
            ob.hide_set(False)
        if not ob.visible_get():
            raise SceneError(f'Object "{ob.name}" is in a hidden collection: show it in the viewport and bake again.')
        yield
    finally:
        if hidden:
            ob.hide_set(True)
        if hide_viewport:
            ob.hide_viewport = True


@contextlib.contextmanager
def _undeformed_copy(ob: Any, place: int) -> Iterator[Any]:
    """A temporary second object on the same mesh: the basis shape, only what changes the vertex count below `place`."""
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
            copy.active_shape_key_index = 0
        bpy.context.scene.collection.objects.link(copy)
        yield copy
    finally:
        bpy.data.objects.remove(copy)
        bpy.context.view_layer.update()


def _is_kept_at_rest(modifier: Any) -> bool:
    # Node modifiers that keep the count deform, and those that change it lie beyond our place.
    return modifier.type in stack.COUNT_CHANGING or modifier.type in stack.GROUP_CHANGING


def armatures(ob: Any, place: int) -> list[Any]:
    """The armature objects that deform the object below `place`."""
    found = []
    if ob.parent is not None and ob.parent_type == "ARMATURE" and ob.parent.type == "ARMATURE":
        found.append(ob.parent)
    for modifier in stack.others(ob)[:place]:
        if modifier.type == "ARMATURE" and modifier.object is not None and modifier.object not in found:
            found.append(modifier.object)
    return found


def _deform_bones(ob: Any, place: int) -> list[Bone]:
    """Deform bones that have a vertex group, in world metres at rest, where their armature is now."""
    bones: list[Bone] = []
    depsgraph = bpy.context.evaluated_depsgraph_get()
    unit = bpy.context.scene.unit_settings.scale_length or 1.0
    for armature in armatures(ob, place):
        world = armature.evaluated_get(depsgraph).matrix_world
        deforming = [bone for bone in armature.data.bones if bone.use_deform and bone.name in ob.vertex_groups]
        offset = len(bones)
        index = {bone.name: offset + i for i, bone in enumerate(deforming)}
        for bone in deforming:
            parent = bone.parent
            while parent is not None and parent.name not in index:
                parent = parent.parent
            leaf = not any(child.name in index for child in bone.children_recursive)
            bones.append(
                Bone(
                    bone.name,
                    tuple(world @ bone.head_local * unit),
                    tuple(world @ bone.tail_local * unit),
                    index[parent.name] if parent is not None else -1,
                    leaf,
                )
            )
    return bones


def _group_weights(ob: Any, mesh: Any, names: list[str]) -> npt.NDArray[np.float32]:
    """Weights (t, names) of vertex groups on an evaluated mesh."""
    column = {ob.vertex_groups[name].index: i for i, name in enumerate(names) if name in ob.vertex_groups}
    weights = np.zeros((len(mesh.vertices), len(names)), dtype=np.float32)
    for vertex in mesh.vertices:
        for element in vertex.groups:
            if element.group in column:
                weights[vertex.index, column[element.group]] = element.weight
    return weights


def _base_is_first(ob: Any, place: int) -> bool:
    changing = [m for m in stack.others(ob)[:place] if m.show_viewport and m.type in stack.COUNT_CHANGING]
    return all(modifier.type in ("MIRROR", "SUBSURF", "MULTIRES") for modifier in changing)


def remove_group(ob: Any, name: str) -> None:
    if name in ob.vertex_groups:
        ob.vertex_groups.remove(ob.vertex_groups[name])


def write_group(ob: Any, name: str, weights: Floats) -> bool:
    """Makes a vertex group from weights of the first vertices; False where the object cannot keep one (linked)."""
    if ob.library is not None or ob.data.library is not None or ob.override_library is not None:
        return False
    group = ob.vertex_groups.get(name) or ob.vertex_groups.new(name=name)
    for vertex, weight in enumerate(weights[: len(ob.data.vertices)].tolist()):
        group.add([vertex], weight, "REPLACE")
    return True
