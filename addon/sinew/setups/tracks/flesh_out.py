"""Flesh Out: the fine mesh of a coarse one, whose faces are subdivided where they are. It follows the coarse one, and
folds between its vertices."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from ...core.geometry.subdivide import Subdivided, subdivide
from ...scene import compat, setup, stack
from ...scene.errors import SceneError
from ...scene.groups import write_group
from ...scene.subject import Subject, evaluated_mesh, shown
from ..passengers import new_setup
from ..target import sentences
from .guide import faces_of

_MOST_VERTICES = 2_000_000
_BOUND = "Sinew Guide"


@sentences()
def flesh_out(ob: Any, levels: int, scene: Any) -> Any:
    """A new object with a mesh so many times finer, its UV maps, materials, vertex groups and shape keys, and a setup
    whose guide is `ob`."""
    with shown(ob):
        subject = Subject(ob)
        subject.place = stack.find_place(ob, ())
        with subject.undeformed_copy() as copy:
            evaluated_mesh(copy)
            graph = bpy.context.evaluated_depsgraph_get()
            shape = copy.evaluated_get(graph)
            source = bpy.data.meshes.new_from_object(shape, preserve_all_data_layers=True, depsgraph=graph)
        try:
            faces = faces_of(source)
            if not len(faces.sizes):
                raise SceneError(f'"{ob.name}" has no faces to be subdivided: choose a mesh with a surface.')
            if len(faces.sizes) * 4**levels > _MOST_VERTICES:
                count = len(faces.sizes) * 4**levels
                raise SceneError(f'"{ob.name}" with {levels} levels would have {count} faces: take fewer levels.')
            made = subdivide(faces, levels)
            fine = _object_of(ob, source, made, scene)
            _carry_groups(source, ob, fine, made)
            _carry_keys(ob, fine, made)
        finally:
            bpy.data.meshes.remove(source)
        _bind(ob, fine)
    old = setup.find_of(ob, scene, "tracks")
    entry = new_setup(fine, scene, "tracks")
    entry.settings = {**entry.settings, **(old.settings if old is not None else {}), "guide_object": ob.name}
    setup.save_of(fine, entry, scene)
    ob.hide_render = True
    return fine


def shows_guide(fine: Any) -> bool:
    """Whether it moves with its guide before it is baked."""
    return _BOUND in fine.modifiers


def _object_of(ob: Any, source: Any, made: Subdivided, scene: Any) -> Any:
    mesh = bpy.data.meshes.new(f"{ob.data.name} Fine")
    positions = made.mix.means(compat.mesh_positions(source).astype(np.float64))
    ends = np.cumsum(made.faces.sizes)[:-1]
    polygons = [corners.tolist() for corners in np.split(made.faces.corners, ends)]
    mesh.from_pydata(positions.tolist(), [], polygons)
    for material in source.materials:
        mesh.materials.append(material)
    for name, kind in (("material_index", np.int32), ("use_smooth", bool)):
        old = np.empty(len(source.polygons), kind)
        source.polygons.foreach_get(name, old)
        mesh.polygons.foreach_set(name, old[made.origin])
    for layer in source.uv_layers:
        flat = np.empty(2 * len(source.loops), np.float32)
        layer.data.foreach_get("uv", flat)
        uv = made.corner_mix.means(flat.reshape(-1, 2).astype(np.float64))
        mesh.uv_layers.new(name=layer.name).data.foreach_set("uv", uv.astype(np.float32).ravel())
    if source.uv_layers.active is not None:
        mesh.uv_layers.active = mesh.uv_layers[source.uv_layers.active.name]
    mesh.update()
    fine = bpy.data.objects.new(f"{ob.name} Fine", mesh)
    for collection in ob.users_collection or [scene.collection]:
        collection.objects.link(fine)
    fine.parent = ob
    return fine


def _carry_groups(source: Any, ob: Any, fine: Any, made: Subdivided) -> None:
    names = [group.name for group in ob.vertex_groups]
    weights = np.zeros((len(source.vertices), len(names)))
    for vertex in source.vertices:
        for element in vertex.groups:
            if element.group < len(names):
                weights[vertex.index, element.group] = element.weight
    spread = made.mix.means(weights) if names else weights
    for number, name in enumerate(names):
        write_group(fine, name, spread[:, number])


def _carry_keys(ob: Any, fine: Any, made: Subdivided) -> None:
    """To choose an undeformed shape from: they move nothing, as the guide has their motion."""
    keys = ob.data.shape_keys.key_blocks if ob.data.shape_keys is not None else ()
    for key in keys:
        if int(made.mix.points.max()) + 1 != len(key.data):
            return  # modifiers made more vertices of them
        flat = np.empty(3 * len(key.data), np.float32)
        key.data.foreach_get("co", flat)
        carried = made.mix.means(flat.reshape(-1, 3).astype(np.float64))
        new = fine.shape_key_add(name=key.name, from_mix=False)
        new.data.foreach_set("co", carried.astype(np.float32).ravel())
        new.value = 0.0


def _bind(ob: Any, fine: Any) -> None:
    """So that it moves with the guide before it is baked, and on a farm that has no Sinew: by a modifier of Blender's,
    bound while both are undeformed. Where that cannot be, the bake knows the way all the same."""
    modifier = fine.modifiers.new(_BOUND, "SURFACE_DEFORM")
    modifier.target = ob
    keys = ob.data.shape_keys
    before = ob.show_only_shape_key, ob.active_shape_key_index
    with _without_deforming(ob):
        if keys is not None:
            ob.show_only_shape_key, ob.active_shape_key_index = True, 0
        evaluated_mesh(ob)
        with bpy.context.temp_override(object=fine, active_object=fine, selected_objects=[fine]):
            bpy.ops.object.surfacedeform_bind(modifier=modifier.name)
        if keys is not None:
            ob.show_only_shape_key, ob.active_shape_key_index = before
    if not modifier.is_bound:
        fine.modifiers.remove(modifier)


@contextlib.contextmanager
def _without_deforming(ob: Any) -> Iterator[None]:
    deforming = [(one.name, one.show_viewport) for one in ob.modifiers if one.type in stack.DEFORMING]
    try:
        for name, _ in deforming:
            ob.modifiers[name].show_viewport = False
        yield
    finally:
        for name, was in deforming:
            ob.modifiers[name].show_viewport = was
