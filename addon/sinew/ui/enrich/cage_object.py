"""The cage as an object of the scene, on whose vertices the artist says what follows inside the body."""

from __future__ import annotations

from typing import Any

import bpy
import numpy as np

from ...core.cage.view import CageView, all_edges
from ...setups.flesh.body import FOLLOW_GROUP


def make(ob: Any, view: CageView) -> Any:
    """A wire object where the body is, its vertices in the body's own space. It is not rendered."""
    inverse = np.linalg.inv(view.matrix)
    local = view.vertices @ inverse[:3, :3].T + inverse[:3, 3]
    mesh = bpy.data.meshes.new(f"{ob.name} Cage")
    mesh.from_pydata(local.tolist(), all_edges(view.tets).tolist(), [])
    made = bpy.data.objects.new(f"{ob.name} Cage", mesh)
    made.matrix_world = ob.matrix_world
    made.display_type, made.show_in_front, made.hide_render = "WIRE", True, True
    made.vertex_groups.new(name=FOLLOW_GROUP)
    for collection in ob.users_collection:
        collection.objects.link(made)
    return made
