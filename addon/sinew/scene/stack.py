"""Our place in an object's modifier stack, and what must hold below it.

The place is after the last modifier that deforms, so that everything which shapes the animation is sampled, and after
those that make weights right behind it; thereby before whatever changes the vertex count after it (Subdivision at the
end), so that this stays editable.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

import bpy
import numpy as np

from . import animation, compat
from .errors import SceneError

MODIFIER_NAME = "Sinew"

DEFORMING = frozenset(
    "ARMATURE CAST CLOTH CORRECTIVE_SMOOTH CURVE DISPLACE HOOK LAPLACIANDEFORM LAPLACIANSMOOTH LATTICE MESH_CACHE "
    "MESH_DEFORM MESH_SEQUENCE_CACHE SHRINKWRAP SIMPLE_DEFORM SMOOTH SOFT_BODY SURFACE_DEFORM WARP WAVE".split()
)
COUNT_CHANGING = frozenset(
    "ARRAY BEVEL BOOLEAN BUILD DECIMATE EDGE_SPLIT EXPLODE FLUID MASK MESH_TO_VOLUME MIRROR MULTIRES OCEAN "
    "PARTICLE_INSTANCE REMESH SCREW SKIN SOLIDIFY SUBSURF TRIANGULATE VOLUME_TO_MESH WELD WIREFRAME".split()
)
# They change no vertex, but may write the vertex groups that others read.
_WEIGHT_CHANGING = frozenset("VERTEX_WEIGHT_EDIT VERTEX_WEIGHT_MIX VERTEX_WEIGHT_PROXIMITY".split())
GROUP_CHANGING = _WEIGHT_CHANGING | {"DATA_TRANSFER"}


_OWN_FILE = re.compile(r"[/\\\\]sinew[/\\\\][0-9a-f]{16}[/\\\\](result|passenger_\d+)\.pc2$")


def own_modifier(ob: Any) -> Any | None:
    """The modifier that plays our bake, if there is one: by its name, or by its file if the artist has renamed it."""
    modifier = ob.modifiers.get(MODIFIER_NAME)
    if modifier is not None and modifier.type == "MESH_CACHE":
        return modifier
    caches = (modifier for modifier in ob.modifiers if modifier.type == "MESH_CACHE")
    return next((cache for cache in caches if _OWN_FILE.search(cache.filepath)), None)


def others(ob: Any) -> list[Any]:
    """The modifiers but ours, in order."""
    own = own_modifier(ob)
    return [modifier for modifier in ob.modifiers if modifier != own]


def armatures(ob: Any, place: int | None = None) -> list[Any]:
    """The armature objects that deform the object, below `place` only if that is given."""
    found = []
    if ob.parent is not None and ob.parent_type == "ARMATURE" and ob.parent.type == "ARMATURE":
        found.append(ob.parent)
    for modifier in others(ob)[:place]:
        if modifier.type == "ARMATURE" and modifier.object is not None and modifier.object not in found:
            found.append(modifier.object)
        if modifier.type == "SURFACE_DEFORM" and modifier.target not in (None, ob):
            found += [rig for rig in armatures(modifier.target) if rig not in found]
    return found


def has_nodes(ob: Any, place: int) -> bool:
    """Whether geometry nodes work below a place in the stack."""
    return any(modifier.type == "NODES" and modifier.show_viewport for modifier in others(ob)[:place])


def find_place(ob: Any, frames: tuple[int, ...]) -> int:
    """Index among `others` where our modifier belongs. `frames` are looked at to see what node modifiers do; without
    any, no frame is set and these count as if they moved nothing."""
    place = 0
    animated = animation.animated(ob)
    for index, modifier in enumerate(others(ob)):
        if not _is_used(modifier, animated) or compat.is_pinned_last(modifier):
            continue
        if modifier.type in DEFORMING or (frames and modifier.type == "NODES" and _moves_vertices(ob, index, frames)):
            place = index + 1
    for index, modifier in enumerate(others(ob)[place:], place):
        # Weights that are made right after it count too.
        if modifier.type not in _WEIGHT_CHANGING or compat.is_pinned_last(modifier):
            break
        place = index + 1
    return place


def _is_used(modifier: Any, animated: frozenset[str]) -> bool:
    """Whether a modifier is on, now or on some frame."""
    shown = ("show_viewport", "show_render")
    return any(getattr(modifier, name) or _path(modifier, name) in animated for name in shown)


def _path(modifier: Any, name: str) -> str:
    return f'modifiers["{modifier.name}"].{name}'


@contextlib.contextmanager
def hidden_from(ob: Any, place: int, plays: bool = False) -> Iterator[None]:
    """Shows the object as it is below a place: what comes from there on, and our own modifier unless it `plays`, is off
    meanwhile, also where that is keyed."""
    own = None if plays else own_modifier(ob)
    modifiers = others(ob)[place:] + ([own] if own is not None else [])
    before = [(modifier.name, modifier.show_viewport) for modifier in modifiers]
    try:
        with animation.still(ob, [_path(modifier, "show_viewport") for modifier in modifiers]):
            for modifier in modifiers:
                modifier.show_viewport = False
            yield
    finally:
        # By name: undo or a reload in between would leave dangling pointers.
        for name, shown in before:
            if name in ob.modifiers:
                ob.modifiers[name].show_viewport = shown
        bpy.context.view_layer.update()


def check_counts_agree(ob: Any, place: int, scene: Any) -> None:
    """Refuses a stack whose vertex count below our place is another in the viewport than in the render."""
    for modifier in others(ob)[:place]:
        if not (modifier.show_viewport or modifier.show_render):
            continue
        changing = modifier.type in COUNT_CHANGING
        if changing and modifier.show_viewport != modifier.show_render:
            where = "viewport" if modifier.show_viewport else "render"
            raise SceneError(
                f'Modifier "{modifier.name}" of "{ob.name}" is on in the {where} only, so the vertex counts differ: '
                "turn it on in both, or off in both."
            )
        if modifier.type in ("SUBSURF", "MULTIRES"):
            viewport, render = modifier.levels, modifier.render_levels
            if scene.render.use_simplify:
                viewport = min(viewport, scene.render.simplify_subdivision)
                render = min(render, scene.render.simplify_subdivision_render)
            if viewport != render:
                raise SceneError(
                    f'Modifier "{modifier.name}" of "{ob.name}" has {viewport} levels in the viewport and {render} in '
                    "the render, below a modifier that deforms: make them equal, or move it to the end of the stack."
                )


def stack_warnings(ob: Any, place: int) -> list[str]:
    return [
        f'Modifier "{modifier.name}" is on in the {"viewport" if modifier.show_viewport else "render"} only: '
        "the bake holds what the viewport shows."
        for modifier in others(ob)[:place]
        if modifier.show_viewport != modifier.show_render
    ]


def _moves_vertices(ob: Any, index: int, frames: tuple[int, ...]) -> bool:
    """Whether the modifier at `index` keeps the vertex count and moves a vertex on one of the frames."""
    scene = bpy.context.scene
    current, subframe = scene.frame_current, scene.frame_subframe
    try:
        for frame in frames:
            scene.frame_set(frame)
            shapes = []
            for place in (index, index + 1):
                with hidden_from(ob, place):
                    shapes.append(evaluated_positions(ob))
            if shapes[0].shape != shapes[1].shape:
                return False
            if not np.array_equal(shapes[0], shapes[1]):
                return True
    finally:
        scene.frame_set(current, subframe=subframe)
    return False


def evaluated_positions(ob: Any) -> Any:
    """Positions of the object's evaluated mesh now, local space, a copy of our own."""
    bpy.context.view_layer.update()
    mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    return compat.mesh_positions(mesh)
