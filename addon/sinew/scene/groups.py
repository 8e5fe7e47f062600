"""Weights of vertices: reading and writing vertex groups and attributes."""

from __future__ import annotations

import difflib
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt

from . import attributes, compat, node_weights, stack
from .errors import SceneError
from .objects import sharers
from .steps import Steps, finished
from .subject import Subject, evaluated_mesh

Floats = npt.NDArray[np.float64]

_VERTICES_A_STEP = 5_000
_GROUPS_A_STEP = 16


def refuse_group(ob: Any, name: str) -> None:
    """Says that there are no such weights, and which ones may be meant."""
    names = attributes.names(ob)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    known = ", ".join(f'"{one}"' for one in names[:5]) + (" and more" if len(names) > 5 else "")
    hint = f'did you mean "{close[0]}"?' if close else f"it has {known}." if names else "it has none at all."
    if any(modifier.type == "NODES" for modifier in stack.others(ob)[stack.find_place(ob, ()) :]):
        hint += " What nodes store counts if they come before the last modifier that deforms."
    raise SceneError(f'Object "{ob.name}" has no vertex group or float attribute of points "{name}": {hint}')


def rest_weights(subject: Subject, names: list[str], unpainted: float = 0.0) -> Steps[npt.NDArray[np.float32]]:
    """Weights (t, names) of vertex groups on the rest mesh at our place; `unpainted` for vertices not in the last."""
    with subject.undeformed_copy() as copy:
        return (yield from copied_weights(copy, names, unpainted))


def copied_weights(copy: Any, names: list[str], unpainted: float = 0.0) -> Steps[npt.NDArray[np.float32]]:
    """The same of an undeformed copy that there is already: on a large mesh it takes as long to make as the weights to
    read."""
    columns: dict[int, list[int]] = {}
    for i, name in enumerate(names):
        if name in copy.vertex_groups:
            columns.setdefault(copy.vertex_groups[name].index, []).append(i)
    weights = np.zeros((len(evaluated_mesh(copy).vertices), len(names)), dtype=np.float32)
    if compat.NODES_READ_GROUPS and unpainted == 0.0:  # they cannot tell 0 from not being in a group
        yield from _read_by_nodes(copy, columns, weights)
    elif columns:
        weights[:, -1:] = unpainted
        yield from _read_by_vertices(copy, columns, weights)
    return weights


def _read_by_nodes(copy: Any, columns: dict[int, list[int]], weights: npt.NDArray[np.float32]) -> Steps[None]:
    groups = list(columns)
    for begin in range(0, len(groups), _GROUPS_A_STEP):
        now = groups[begin : begin + _GROUPS_A_STEP]
        read = node_weights.read(copy, [copy.vertex_groups[group].name for group in now])
        for group, column in zip(now, read.T, strict=True):
            weights[:, columns[group]] = column[:, None]
        yield


def whole_group(group: Any, count: int) -> npt.NDArray[np.float32] | None:
    """The weights of a vertex group that all `count` vertices of its object are in, as those are that Sinew makes: read
    three times as fast as vertex by vertex. None where one is not."""
    try:
        return np.fromiter(map(group.weight, range(count)), np.float32, count)
    except RuntimeError:
        return None


def _read_by_vertices(copy: Any, columns: dict[int, list[int]], weights: npt.NDArray[np.float32]) -> Steps[None]:
    if len(columns) == 1 and not copy.modifiers:  # none makes vertices, or weighs them
        [(index, own)] = columns.items()
        whole = whole_group(copy.vertex_groups[index], len(weights))
        if whole is not None:
            weights[:, own] = whole[:, None]
            return
    for begin in range(0, len(weights), _VERTICES_A_STEP):
        # What Blender evaluated may be gone after a step, so it is asked for again.
        for vertex in evaluated_mesh(copy).vertices[begin : begin + _VERTICES_A_STEP]:
            for element in vertex.groups:
                for column in columns.get(element.group, ()):
                    weights[vertex.index, column] = element.weight
        yield


def group_now(ob: Any, name: str, unpainted: float = 0.0) -> Steps[Floats]:
    """Weights (t,) of a vertex group or an attribute on the mesh as it shows now, as modifiers and nodes make them.
    `unpainted` is for vertices that are not in the group, or whose attribute is below 0."""
    mesh = evaluated_mesh(ob)
    stored = attributes.read(mesh, name)
    weights = np.full(len(mesh.vertices), unpainted, np.float32)
    if stored is not None:
        if not np.isfinite(stored).all():
            raise SceneError(f'The weights "{name}" of "{ob.name}" are not all numbers: check what makes them.')
        weights = np.where(stored < 0.0, np.float32(unpainted), stored)
    elif name not in ob.vertex_groups:
        refuse_group(ob, name)
    else:
        index = ob.vertex_groups[name].index
        for begin in range(0, len(weights), _VERTICES_A_STEP):
            # What Blender evaluated may be gone after a step, so it is asked for again.
            for vertex in evaluated_mesh(ob).vertices[begin : begin + _VERTICES_A_STEP]:
                for element in vertex.groups:
                    if element.group == index:
                        weights[vertex.index] = element.weight
            yield
    return np.clip(weights, 0.0, 1.0).astype(np.float64)


def shown_group(ob: Any, place: int, name: str, unpainted: float) -> Floats:
    """Weights of a vertex group or an attribute at a place of the stack; if there are none, at its end: without a look
    at other frames nodes that deform are taken for ones that do not."""
    with stack.hidden_from(ob, place):  # at once: nobody may see the object so
        if name in ob.vertex_groups or attributes.read(evaluated_mesh(ob), name) is not None:
            return finished(group_now(ob, name, unpainted))
    return finished(group_now(ob, name, unpainted))


def plain_weights(ob: Any, name: str) -> Floats:
    """(t,) of a vertex group on the mesh without modifiers; 0 where a vertex has none, and where there is no group."""
    group = ob.vertex_groups.get(name)
    weights = np.zeros(len(ob.data.vertices))
    if group is not None:
        for vertex in ob.data.vertices:
            for entry in vertex.groups:
                if entry.group == group.index:
                    weights[vertex.index] = entry.weight
    return weights


def painted_points(name: str, group: str, matrix: Floats) -> Floats:
    """(k, 4) the vertices of an object that are in a group, taken by `matrix` from its own space, and their weights."""
    ob = bpy.data.objects.get(name)
    if ob is None or ob.type != "MESH":
        raise SceneError(f'There is no mesh object "{name}" to read weights inside the body from: choose one, or none.')
    if group not in ob.vertex_groups:
        raise SceneError(f'Object "{name}" has no vertex group "{group}": make one and paint it, or choose no object.')
    index = ob.vertex_groups[group].index
    found = [
        (*vertex.co, element.weight)
        for vertex in ob.data.vertices
        for element in vertex.groups
        if element.group == index
    ]
    points = np.array(found, np.float64).reshape(-1, 4)
    return np.column_stack([points[:, :3] @ matrix[:3, :3].T + matrix[:3, 3], points[:, 3]])


def copy_group(source: Any, target: Any, name: str) -> bool:
    """Copies a vertex group between meshes with the same vertices, unless the target has one of that name. Whether it
    did."""
    if name not in source.vertex_groups or name in target.vertex_groups or why_no_group(target):
        return False
    active = source.vertex_groups.active_index, target.vertex_groups.active_index
    source.vertex_groups.active_index = source.vertex_groups[name].index
    target.vertex_groups.new(name=name)
    with bpy.context.temp_override(object=source, active_object=source, selected_editable_objects=[source, target]):
        bpy.ops.object.data_transfer(
            data_type="VGROUP_WEIGHTS",
            vert_mapping="TOPOLOGY",
            layers_select_src="ACTIVE",
            layers_select_dst="NAME",
            mix_mode="REPLACE",
        )
    source.vertex_groups.active_index, target.vertex_groups.active_index = active
    return True


def remove_group(ob: Any, name: str) -> None:
    if name in ob.vertex_groups:
        ob.vertex_groups.remove(ob.vertex_groups[name])


def why_no_group(ob: Any) -> str:
    """Why no vertex group can be made on an object, or ""."""
    if ob.library is not None or ob.data.library is not None or ob.override_library is not None:
        return f'"{ob.name}" is linked and cannot keep a vertex group: make it in its own file.'
    others = sharers(ob)
    if others:
        return (
            f'The mesh of "{ob.name}" is also that of "{others[0]}", and so would be a vertex group on it: give each '
            "its own mesh first (Object > Relations > Make Single User)."
        )
    return ""


def rounded(weights: Floats) -> Floats:
    """Multiples of 1/200: vertices of equal weight go into a group by one call, which is ten times faster."""
    return np.rint(200.0 * weights) / 200.0


def write_group(ob: Any, name: str, weights: Floats) -> bool:
    """Makes a vertex group from weights of the first vertices, rounded; False where the object cannot keep one."""
    if why_no_group(ob):
        return False
    group = ob.vertex_groups.get(name) or ob.vertex_groups.new(name=name)
    levels = np.rint(200.0 * np.asarray(weights)[: len(ob.data.vertices)]).astype(np.int64)
    order = np.argsort(levels, kind="stable")
    for vertices in np.split(order, np.flatnonzero(np.diff(levels[order])) + 1):
        if len(vertices):
            group.add(vertices.tolist(), levels[vertices[0]] / 200.0, "REPLACE")
    return True
