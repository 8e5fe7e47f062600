"""Collisions in a real window: bake two bodies that touch, play, look at the contacts. Run by
test_collision_window.py; exit code 0 is good.

    blender --enable-event-simulate balls.blend --python collision_steps.py [-- PICTURE.png]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "addon"))

import bpy
import numpy as np
from window import Steps, Window, run

PICTURE = Path(sys.argv[sys.argv.index("--") + 1]) if "--" in sys.argv else None
NAMES = ("Lower", "Upper")
LANDED = 12  # a frame on which both lie on each other


def shown(name: str, frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    mesh = bpy.data.objects[name].evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def story(window: Window) -> Steps:
    import sinew
    from sinew.ui import job_operator
    from sinew.ui.setup import collisions, contacts, properties, state

    collisions.SINEW_PT_collisions.bl_options = set()  # open
    sinew.register()
    scene = bpy.context.scene
    window.window.view_layer.objects.active = bpy.data.objects[NAMES[0]]
    yield 0.5
    window.area("PROPERTIES").spaces[0].context = "PHYSICS"
    yield 0.5

    def item(name: str) -> Any:
        return properties.find(scene, bpy.data.objects[name])

    for name in NAMES:
        window.window.view_layer.objects.active = bpy.data.objects[name]
        yield 0.3
        window.call(bpy.ops.sinew.add)
        yield 0.5
        item(name).resolution, item(name).substeps, item(name).jiggle, item(name).free_body = 4, 2, 6.0, True
        item(name).collide = item(name).ground = True
    window.call(bpy.ops.sinew.bake, "INVOKE_DEFAULT")
    yield from window.wait_until(lambda: state.of(item("Upper")).kind == state.BAKED, 90.0, "the bake")
    yield from window.wait_until(lambda: not job_operator.is_running())
    for name in NAMES:
        state.forget()
        assert state.of(item(name)).kind == state.BAKED, state.of(item(name)).text
    assert state.together_with(item("Upper")) == ["Lower"]
    lower, upper = (shown(name, LANDED) for name in NAMES)
    assert lower[:, 2].min() > 0.0 and upper[:, 2].mean() > lower[:, 2].mean() + 0.2, "one lies on the other"

    window.call(bpy.ops.screen.animation_play)
    yield 1.0
    assert window.window.screen.is_animation_playing
    window.call(bpy.ops.screen.animation_cancel)
    scene.frame_set(LANDED)
    item("Upper").show_contacts = True
    window.call(bpy.ops.view3d.view_selected, area="VIEW_3D")
    yield 1.0
    drawn = contacts.drawn_of(item("Upper"), LANDED)
    assert drawn is not None and drawn.pressing > 0 and drawn.batches, "contacts are drawn"
    assert contacts._shown, "and no error has hidden them"
    if PICTURE is not None:
        window.take(PICTURE)
    print("all steps done", flush=True)


run(story)
