"""What draws into the editors of Blender at every redraw."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from typing import Any

import bpy
import gpu

_gpu: Any = gpu  # the stubs know less than Blender


class Drawings:
    """Draw handlers that come and go together. After an error they give up, because it would come back at every redraw,
    for ever. What they set of the graphics card is put back."""

    def __init__(self, give_up: Callable[[], None]) -> None:
        self._give_up = give_up
        self.handles: list[tuple[Any, Any]] = []

    def add(self, space: Any, draw: Callable[[Any], None], when: str) -> None:
        """`draw` gets the context, in every window region of that kind of editor."""
        self.handles.append((space, space.draw_handler_add(self._guarded(draw), (), "WINDOW", when)))

    def remove(self) -> None:
        while self.handles:
            space, handle = self.handles.pop()
            space.draw_handler_remove(handle, "WINDOW")

    def _guarded(self, draw: Callable[[Any], None]) -> Callable[[], None]:
        def safely() -> None:
            try:
                draw(bpy.context)
            except Exception:  # noqa: BLE001 (whatever it is)
                self._give_up()
                traceback.print_exc()
            finally:
                _gpu.state.blend_set("NONE")
                _gpu.state.depth_test_set("NONE")
                _gpu.state.point_size_set(1.0)

        return safely
