"""Takes an object's animation out of Blender as arrays, and leaves the scene as it was."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import bpy
import numpy as np
import numpy.typing as npt

from . import animation, compat, exact, groups, stack, uv
from .bones import Bone, deform_bones
from .errors import SceneError
from .objects import unit_of
from .steps import Steps, finished
from .subject import Subject, evaluated_mesh

Floats = npt.NDArray[np.float64]
Held = TypeVar("Held")

# Custom properties of an object, 0..2: how much of the simulated motion is used; whether it collides.
AMOUNT = "sinew_amount"
AMOUNT_PATH = f'["{AMOUNT}"]'
COLLIDE = "sinew_collide"


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
    poses: tuple[Floats, ...] = ()  # (t, 3) on some frames: without bones they tell what moves as if it had some


@dataclass(frozen=True)
class PassengerRest:
    """A mesh that is carried along: at rest, and in the first sample."""

    positions: Floats  # (p, 3) world metres
    first: Floats  # (p, 3) world metres
    edges: npt.NDArray[np.int32]  # (k, 2)
    triangles: npt.NDArray[np.int32]  # (m, 3)


Taken = tuple[npt.NDArray[np.float32], Floats]  # local positions, matrix to world metres
_SAME = 2e-3  # of size: a pose of a cycle, one cycle later


class Playhead:
    """Goes to frames; where several sample with one of these, each frame is gone to once for all."""

    def __init__(self) -> None:
        self._at: tuple[int, float] | None = None

    def go(self, frame: int, subframe: float) -> None:
        scene = bpy.context.scene
        wanted = (frame, subframe)
        if self._at != wanted or (scene.frame_current, scene.frame_subframe) != wanted:
            scene.frame_set(frame, subframe=subframe)
            self._at = wanted


class Sampler:
    """Samples one object and those that it carries along. A context manager: inside, each shows what is below our place
    in its stack."""

    def __init__(
        self,
        ob: Any,
        *,
        frame_start: int | None = None,
        frame_end: int | None = None,
        samples: int = 1,
        preroll: int = 0,
        rest_frame: int | None = None,
        missing: Collection[int] = (),
    ) -> None:
        scene = bpy.context.scene
        self.ob = ob
        self.body = Subject(ob)
        self.passengers: list[Subject] = []
        self.playhead = Playhead()
        self.frame_start = scene.frame_start if frame_start is None else frame_start
        self.frame_end = scene.frame_end if frame_end is None else frame_end
        self.samples = samples
        self.rest_frame = rest_frame
        self.missing = frozenset(missing)
        if self.frame_end < self.frame_start:
            raise SceneError(
                f"The frame range {self.frame_start} to {self.frame_end} is empty: set Frame Start and Frame End."
            )
        if all(frame in self.missing for frame in range(self.frame_start, self.frame_end + 1)):
            raise SceneError("All frames are said to be missing: name only the broken ones.")
        self.first_frame = self.frame_start - preroll
        self.count = (self.frame_end - self.first_frame) * samples + 1
        self.frame_rate = scene.render.fps / scene.render.fps_base
        self.meets: Any = None  # what it collides with, where it is simulated with others; None: its own
        self._restore = contextlib.ExitStack()

    def __enter__(self) -> Sampler:
        scene = bpy.context.scene
        with contextlib.ExitStack() as restore:
            restore.callback(scene.frame_set, scene.frame_current, subframe=scene.frame_subframe)
            self._enter(self.body, restore)
            self._restore = restore.pop_all()
        return self

    def add_passenger(self, ob: Any) -> PassengerRest:
        """Carries another object along, from now on. Raises if that cannot be, and nothing has changed then."""
        subject = Subject(ob)
        with contextlib.ExitStack() as restore:
            self._enter(subject, restore)
            rest = self._passenger_rest(subject)
            self._restore.push(restore.pop_all())
        self.passengers.append(subject)
        return rest

    def hold(self, context: contextlib.AbstractContextManager[Held]) -> Held:
        """Enters a context, which is left with this one."""
        return self._restore.enter_context(context)

    def _enter(self, subject: Subject, restore: contextlib.ExitStack) -> None:
        middle = (self.frame_start + self.frame_end) // 2
        subject.enter((self.frame_start, middle, self.frame_end))
        restore.callback(subject.leave)

    def __exit__(self, *_: object) -> None:
        self._restore.close()

    @property
    def place(self) -> int:
        """Of our modifier in the stack of the body."""
        return self.body.place

    @property
    def warnings(self) -> list[str]:
        return [warning for subject in (self.body, *self.passengers) for warning in subject.warnings]

    @property
    def gravity(self) -> tuple[float, float, float]:
        """The scene's gravity in m/s2; the number in the scene is taken as such whatever its unit scale."""
        scene = bpy.context.scene
        x, y, z = scene.gravity if scene.use_gravity else (0.0, 0.0, 0.0)
        return (x, y, z)

    def frames(
        self, indices: Iterable[int] | None = None
    ) -> Iterator[tuple[int, npt.NDArray[np.float32], Floats, float, list[Taken]]]:
        """All samples in order, or some: index, local positions, matrix to world metres, amount, and the passengers.
        Those of missing frames are left out."""
        for index in range(self.count) if indices is None else indices:
            frame = self.first_frame + index // self.samples
            if frame in self.missing:
                continue
            self.playhead.go(frame, (index % self.samples) / self.samples)
            when = f"frame {frame}"
            positions, matrix = self.body.now(when)
            yield index, positions, matrix, self.factor(AMOUNT), [passenger.now(when) for passenger in self.passengers]

    def placed_at(self, frame: int) -> Floats:
        """The vertices (t, 3) on one frame, in world metres."""
        bpy.context.scene.frame_set(frame)
        return _placed(*self.body.now(f"frame {frame}"))

    def repeats(self) -> tuple[bool, bool]:
        """Whether the animation of one cycle, whose last frame may repeat its first, goes on so before and after."""
        middle = (2 * self.frame_start + self.frame_end) // 3
        here = self.placed_at(middle)
        length = self.frame_end - self.frame_start
        near = _SAME * float(np.ptp(here, axis=0).max())

        def is_same(frame: int) -> bool:
            try:
                return float(np.abs(self.placed_at(frame) - here).max()) <= near
            except SceneError:  # not the same mesh, perhaps
                return False

        before, after = (any(is_same(middle + way * (length + k)) for k in (0, 1)) for way in (-1, 1))
        return before, after

    def some_poses(self, count: int) -> Iterator[Floats]:
        """The vertices (t, 3) on so many frames of the range, one after the other; then the scene's frame as it was."""
        scene = bpy.context.scene
        before, part = scene.frame_current, scene.frame_subframe
        frames = np.unique(np.linspace(self.frame_start, self.frame_end, count).round().astype(int))
        try:
            for frame in frames:
                if int(frame) not in self.missing:
                    yield self.placed_at(int(frame))
        finally:
            scene.frame_set(before, subframe=part)

    def safe_at(self, frame: int | None, shape_key: str) -> Floats | None:
        """The vertices (t, 3) of a safe pose: that of a shape key, or of a frame; None where neither is chosen."""
        if shape_key:
            return shape_of_key(self.body, shape_key)
        if frame is None:
            return None
        scene = bpy.context.scene
        before, part = scene.frame_current, scene.frame_subframe
        placed = self.placed_at(frame)
        scene.frame_set(before, subframe=part)
        return placed

    def rest(self) -> Rest:
        """The rest shape, placed where the object is on the first sample (or on the rest frame)."""
        return finished(self.rest_in_steps())

    def rest_in_steps(self) -> Steps[Rest]:
        scene, ob = bpy.context.scene, self.ob
        scene.frame_set(self.first_frame if self.rest_frame is None else self.rest_frame)
        sampled, matrix = self.body.now(f"frame {scene.frame_current}")
        with self.body.undeformed() as mesh:
            if self.rest_frame is not None:
                local = sampled
                if len(mesh.vertices) != len(local):
                    mesh = evaluated_mesh(ob)
            else:
                local = compat.mesh_positions(mesh)
                if len(local) != len(sampled):
                    raise SceneError(
                        f'"{ob.name}" has {len(local)} vertices at rest and {len(sampled)} in the animation: set '
                        "Rest Frame to a frame with a good rest shape."
                    )
                self.body.check_finite(local, "the rest shape")
            rest = _make_rest(self.body, mesh, local, matrix)
        yield
        skin = (yield from groups.rest_weights(self.body, [bone.name for bone in rest.bones])) if rest.bones else None
        return dataclasses.replace(rest, skin=skin)

    def _passenger_rest(self, subject: Subject) -> PassengerRest:
        scene = bpy.context.scene
        if (scene.frame_current, scene.frame_subframe) != (self.first_frame, 0.0):
            scene.frame_set(self.first_frame)
        sampled, matrix = subject.now(f"frame {self.first_frame}")
        with subject.undeformed() as mesh:
            local = compat.mesh_positions(mesh)
            if len(local) == len(sampled) and np.isfinite(local).all():
                return PassengerRest(_placed(local, matrix), _placed(sampled, matrix), _edges(mesh), _triangles(mesh))
        first = _placed(sampled, matrix)
        mesh = evaluated_mesh(subject.ob)
        return PassengerRest(first, first, _edges(mesh), _triangles(mesh))

    def corners(self, name: str) -> Floats | None:
        """(m, 3, 2) of the triangles of the rest mesh in a UV map; see uv.corners."""
        with self.body.undeformed() as mesh:
            mesh.calc_loop_triangles()
            return uv.corners(mesh, name)

    def group(self, name: str) -> Floats:
        """Weights (t,) of a vertex group on the rest mesh as it is at our place, or of an attribute; 0 where a vertex
        has none."""
        return finished(self.group_in_steps(name))

    def group_in_steps(self, name: str, unpainted: float = 0.0) -> Steps[Floats]:
        if name not in self.ob.vertex_groups or stack.has_nodes(self.ob, self.place):
            return (yield from groups.group_now(self.ob, name, unpainted))  # nodes are no part of the rest mesh
        weights = yield from groups.rest_weights(self.body, [name], unpainted)
        return weights[:, 0].astype(np.float64)

    def groups_in_steps(self, names: list[str]) -> Steps[npt.NDArray[np.float32]]:
        """Weights (t, names) of vertex groups on the rest mesh."""
        return (yield from groups.rest_weights(self.body, names))

    def group_now(self, name: str) -> Floats:
        """Weights (t,) of a vertex group on the current frame at our place, as modifiers and nodes make them there."""
        return finished(groups.group_now(self.ob, name))

    def amounts(self) -> list[float] | None:
        """Those of all samples, without going there; None where only that would tell."""
        if self.missing and AMOUNT_PATH in animation.animated(self.ob):
            return None
        return amounts_on(self.ob, [self.first_frame + index / self.samples for index in range(self.count)])

    def mark_in_steps(self) -> Steps[str]:
        """A hash of all that moves the vertices; "" where it cannot be told (see exact.py)."""
        if self.body.led is not None:
            return ""
        return (yield from exact.take(self.body, self.passengers, AMOUNT_PATH))

    @property
    def frame_now(self) -> int:
        return int(bpy.context.scene.frame_current)

    def factor(self, name: str) -> float:
        """A custom property of the object now, which may be keyframed or driven; 1 without one."""
        evaluated = self.ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
        return _checked_factor(self.ob, name, evaluated.get(name, 1.0))


def amounts_on(ob: Any, frames: Sequence[float]) -> list[float] | None:
    """The amount that an object has on some frames, without going there; None where only that would tell it."""
    found = animation.values(ob, AMOUNT_PATH, ob.get(AMOUNT, 1.0), frames)
    return None if found is None else [_checked_factor(ob, AMOUNT, value) for value in found]


def _checked_factor(ob: Any, name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or not np.isfinite(value):
        raise SceneError(f'The custom property "{name}" of "{ob.name}" must be a number from 0 to 2.')
    return min(max(float(value), 0.0), 2.0)


def safe_now(ob: Any, shape_key: str) -> Floats | None:
    """The vertices (t, 3) of a safe shape key where the object is now; None where none is chosen."""
    subject = Subject(ob)
    subject.place = stack.find_place(ob, ())
    return shape_of_key(subject, shape_key) if shape_key else None


def rest_now(
    ob: Any, group: str = "", unpainted: float = 0.0, *, skinned: bool = True
) -> Steps[tuple[Rest, Floats | None]]:
    """The rest shape where the object is now, and the weights of a vertex group on it, `unpainted` for vertices that
    are not in it. No frame is set, so that a pose without keys stays. Unless it is to be `skinned`, it has no skin."""
    subject = Subject(ob)
    subject.place = stack.find_place(ob, ())
    matrix, by_nodes = _matrix(ob), None
    if group and (group not in ob.vertex_groups or stack.has_nodes(ob, subject.place)):
        by_nodes = groups.shown_group(ob, subject.place, group, unpainted)
    with subject.undeformed_copy() as copy:
        mesh = evaluated_mesh(copy)
        local = compat.mesh_positions(mesh)
        subject.check_finite(local, "the rest shape")
        rest = _make_rest(subject, mesh, local, matrix)
        yield
        bones = rest.bones if skinned else []
        names = [bone.name for bone in bones] + ([group] if group in ob.vertex_groups else [])
        weights = yield from groups.copied_weights(copy, names, unpainted if group in ob.vertex_groups else 0.0)
    own = weights[:, -1].astype(np.float64) if group in ob.vertex_groups else None
    skin = weights[:, : len(bones)] if bones else None
    if by_nodes is not None and len(by_nodes) == len(rest.positions):
        own = by_nodes
    if group and own is None:
        raise SceneError(f'The attribute "{group}" of "{ob.name}" is on other vertices than those at rest: bake.')
    return dataclasses.replace(rest, skin=skin), own


def shape_of_key(subject: Subject, name: str) -> Floats:
    """The vertices (t, 3) of the undeformed mesh in the shape of a shape key, where the object is now."""
    ob = subject.ob
    keys = [key.name for key in ob.data.shape_keys.key_blocks] if ob.data.shape_keys is not None else []
    if name not in keys:
        close = difflib.get_close_matches(name, keys, n=1, cutoff=0.0)
        hint = f'did you mean "{close[0]}"?' if close else "it has none at all."
        raise SceneError(f'Object "{ob.name}" has no shape key "{name}": {hint}')
    with subject.undeformed(keys.index(name)) as mesh:
        local = compat.mesh_positions(mesh)
    subject.check_finite(local, f'the shape key "{name}"')
    return _placed(local, _matrix(ob))


def _matrix(ob: Any) -> Floats:
    """To world metres, where the object is now."""
    evaluated = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(evaluated.matrix_world, dtype=np.float64)
    matrix[:3] *= unit_of(bpy.context.scene)
    return matrix


def _make_rest(subject: Subject, mesh: Any, local: npt.NDArray[np.float32], matrix: Floats) -> Rest:
    """Without the skin, which takes longer."""
    ob, place = subject.ob, subject.place
    bones = deform_bones(ob, place)
    positions = _placed(local, matrix)
    return Rest(positions, _triangles(mesh), _edges(mesh), matrix, bones, None, _base_is_first(ob, place))


def _placed(local: npt.NDArray[np.float32], matrix: Floats) -> Floats:
    placed: Floats = local.astype(np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    return placed


def _triangles(mesh: Any) -> npt.NDArray[np.int32]:
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), dtype=np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    return triangles.reshape(-1, 3)


def _edges(mesh: Any) -> npt.NDArray[np.int32]:
    edges = np.empty(2 * len(mesh.edges), dtype=np.int32)
    mesh.edges.foreach_get("vertices", edges)
    return edges.reshape(-1, 2)


def _base_is_first(ob: Any, place: int) -> bool:
    changing = [m for m in stack.others(ob)[:place] if m.show_viewport and m.type in stack.COUNT_CHANGING]
    return all(modifier.type in ("MIRROR", "SUBSURF", "MULTIRES") for modifier in changing)

