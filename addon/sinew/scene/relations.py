"""Which objects refer to others, and so may change when those do."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bpy

_HOLDERS = (bpy.types.Scene, bpy.types.Screen, bpy.types.WindowManager, bpy.types.WorkSpace, bpy.types.Library)


def referring_to(objects: Iterable[Any]) -> set[Any]:
    """The objects that refer to one of these, be it through others: by modifiers, constraints, parents, node trees,
    collections or drivers."""
    users: Any = bpy.data.user_map()
    found: set[Any] = set()
    left = list(objects)
    while left:
        for user in users.get(left.pop(), ()):
            if user not in found and not isinstance(user, _HOLDERS):
                found.add(user)
                left.append(user)
    return {user for user in found if isinstance(user, bpy.types.Object)}
