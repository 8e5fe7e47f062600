"""Steps in a real window, by simulated events and the calls of the buttons. Exit code 0 is good.

Run by test_ui_window.py:

    blender --enable-event-simulate arm.blend --python window_steps.py
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

sys.path.append(str(Path(__file__).resolve().parents[2] / "addon"))


def steps() -> Iterator[float]:
    """Yields the seconds to wait before it goes on."""
    import sinew
    from sinew.ui import job_operator
    from sinew.ui.enrich import properties, state

    sinew.register()
    window = bpy.context.window_manager.windows[0]
    scene, ob = window.scene, bpy.data.objects["Arm"]
    window.view_layer.objects.active = ob
    area = next(area for area in window.screen.areas if area.type == "PROPERTIES")
    yield 0.5
    area.spaces[0].context = "PHYSICS"
    yield 0.5
    region = next(region for region in area.regions if region.type == "WINDOW")

    def press(operator: Any, *arguments: Any) -> None:
        with bpy.context.temp_override(window=window, area=area, region=region):
            operator(*arguments)

    def escape(value: str) -> None:
        window.event_simulate(type="ESC", value=value, x=region.x + 20, y=region.y + 20)

    press(bpy.ops.sinew.add)
    item = properties.find(scene, ob)
    item.resolution, item.substeps = 5, 1
    yield 0.3

    # Esc while the frames are sampled: all is as it was.
    scene.frame_set(7)
    frames, scene.frame_end = scene.frame_end, 5000
    press(bpy.ops.sinew.bake, "INVOKE_DEFAULT")
    assert job_operator.running.sampling
    yield 0.3
    escape("PRESS")
    yield 0.1
    escape("RELEASE")
    yield 0.5
    assert not job_operator.is_running() and scene.frame_current == 7
    scene.frame_end = frames
    assert [modifier.name for modifier in ob.modifiers] == ["Armature"] and ob.modifiers[0].show_viewport

    # Bake, and go on while the thread works.
    press(bpy.ops.sinew.bake, "INVOKE_DEFAULT")
    for _ in range(600):
        if not job_operator.running.sampling:
            break
        yield 0.1
    assert scene.frame_current == 7
    scene.frame_set(9)
    for _ in range(600):
        if not job_operator.is_running():
            break
        yield 0.1
    yield 0.5
    assert not job_operator.running.failed, job_operator.running.message
    assert state.of(item).kind == state.BAKED and scene.frame_current == 9
    assert "Sinew" in ob.modifiers

    # Undo takes the bake back, redo brings it again.
    press(bpy.ops.ed.undo)
    yield 0.5
    assert "Sinew" not in bpy.data.objects["Arm"].modifiers
    press(bpy.ops.ed.redo)
    yield 0.5
    ob = bpy.data.objects["Arm"]
    assert "Sinew" in ob.modifiers
    item = properties.find(window.scene, ob)
    assert state.of(item).kind == state.BAKED

    # Quit while a bake runs.
    item.resolution = 20
    press(bpy.ops.sinew.bake, "INVOKE_DEFAULT")
    for _ in range(600):
        if not job_operator.running.sampling:
            break
        yield 0.1
    assert job_operator.is_running()
    print("all steps done", flush=True)
    bpy.ops.wm.quit_blender()


def tick() -> float | None:
    try:
        return next(running, None)
    except BaseException:  # noqa: BLE001 (Blender would go on after any exception, for ever)
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(9)


running = steps()
bpy.context.preferences.view.show_splash = False
bpy.app.timers.register(tick, first_interval=2.0, persistent=True)
