"""The overlay, the cage and the presets in a real window. Run by test_overlay_window.py; exit code 0 is good.

    blender --enable-event-simulate arm.blend --python overlay_steps.py
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
    from sinew.ui.enrich import cage, overlay, view, weights
    from sinew.ui.setup import properties, state

    sinew.register()
    window = bpy.context.window_manager.windows[0]
    window.view_layer.objects.active = bpy.data.objects["Arm"]
    areas = {area.type: area for area in window.screen.areas}
    yield 0.5
    areas["PROPERTIES"].spaces[0].context = "PHYSICS"
    yield 0.5

    def press(operator: Any, *arguments: Any, **values: Any) -> None:
        area = areas["PROPERTIES"]
        region = next(region for region in area.regions if region.type == "WINDOW")
        with bpy.context.temp_override(window=window, area=area, region=region):
            operator(*arguments, **values)

    def item() -> Any:
        return properties.find(window.scene, bpy.data.objects["Arm"])

    def drawn() -> set[str]:
        """What the overlay has drawn since it was asked last."""
        found = {what for what, _ in overlay._batches}
        overlay.forget()
        areas["VIEW_3D"].tag_redraw()
        return found

    def key(name: str) -> Iterator[float]:
        area = areas["VIEW_3D"]
        for value in ("PRESS", "RELEASE"):
            window.event_simulate(type=name, value=value, x=area.x + 200, y=area.y + 200)
            yield 0.1

    # A preset, and undo.
    press(bpy.ops.sinew.add)
    press(bpy.ops.ed.undo_push, message="before")
    press(bpy.ops.sinew.apply_preset, "INVOKE_DEFAULT", True, name="heavy")
    assert abs(item().jiggle - 1.6) < 1e-6
    press(bpy.ops.ed.undo)
    yield 0.5
    assert abs(item().jiggle - 3.0) < 1e-6
    yield 0.5

    # Esc while a large cage is built.
    item().resolution = 180
    press(bpy.ops.sinew.build_cage, "INVOKE_DEFAULT")
    yield 0.3
    assert job_operator.is_running("Arm")
    yield from key("ESC")
    for _ in range(100):
        if not job_operator.is_running():
            break
        yield 0.1
    yield 0.5
    assert cage.find(item()) is None and "stopped" in job_operator.running.message, job_operator.running.message

    # A cage, drawn; undo does not touch it, as nothing of the scene has changed.
    item().resolution = 8
    press(bpy.ops.sinew.build_cage, "INVOKE_DEFAULT")
    for _ in range(100):
        yield 0.1
        if not job_operator.is_running():
            break
    yield 1.0
    assert cage.find(item()) is not None and item().show_cage
    assert "cage" in drawn()
    press(bpy.ops.ed.undo_push, message="one")
    bpy.data.objects["Arm"].location.x = 1.0
    press(bpy.ops.ed.undo_push, message="two")
    press(bpy.ops.ed.undo)
    yield 1.0
    assert item().show_cage and cage.find(item()) is not None and "cage" in drawn()

    # Weights, and the switch of the viewport's overlays.
    item().show_weights = True
    for _ in range(100):
        yield 0.1
        if weights.is_ready(item()):
            break
    yield 1.0
    assert drawn() == {"cage", "weights"}
    space = areas["VIEW_3D"].spaces[0]
    space.overlay.show_overlays = False
    yield 0.5
    overlay.forget()
    yield 0.7
    assert drawn() == set()
    space.overlay.show_overlays = True
    yield 0.5

    # Bake All, frame by frame in the viewport, then the object goes.
    press(bpy.ops.sinew.bake_all, "INVOKE_DEFAULT")
    for _ in range(600):
        yield 0.1
        if state.of(item()).kind == state.BAKED:
            break
    assert state.of(item()).kind == state.BAKED, job_operator.running.message
    item().cage_shape = view.SIMULATED
    window.scene.frame_set(5)
    yield 1.0
    assert "cage" in drawn()
    bpy.data.objects.remove(bpy.data.objects["Arm"])
    yield 1.0
    overlay.forget()
    yield 0.5
    assert drawn() == set()

    # Another file, the add-on disabled and enabled while it draws.
    bpy.ops.wm.open_mainfile(filepath=bpy.data.filepath)
    yield 1.0
    assert not view.is_anything_shown()
    sinew.unregister()
    yield 0.5
    assert not overlay._drawings.handles
    print("all steps done", flush=True)
    os._exit(0)


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
