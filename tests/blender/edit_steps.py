"""Edit Motion in a real window, by the mouse. Run by test_edit_window.py; exit code 0 is good.

    blender --enable-event-simulate tail.blend --python edit_steps.py
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))
sys.path.append(str(Path(__file__).resolve().parents[2] / "addon"))
sys.path.append(str(Path(__file__).resolve().parents[2] / "examples"))

import bpy
import numpy as np
import scenes
from bpy_extras import view3d_utils
from inside import shown
from mathutils import Euler
from window import Steps, Window, run

AT = 8


def story(window: Window) -> Steps:
    import sinew
    from sinew.ui import job_operator
    from sinew.ui.edit import overlay, stored, tool
    from sinew.ui.setup import live, properties, state

    sinew.register()
    window.window.view_layer.objects.active = bpy.data.objects["Tail"]
    yield 0.5

    def ob() -> Any:
        return bpy.data.objects["Tail"]

    def item() -> Any:
        return properties.find(window.window.scene, ob())

    def handles() -> Any:
        return stored.edits_of(item()).handles

    def places() -> Any:
        """The vertices in the world, as they show."""
        matrix = np.array(ob().matrix_world)
        return shown(ob()) @ matrix[:3, :3].T + matrix[:3, 3]

    def pixels(place: Any) -> tuple[float, float]:
        """Of a place of the world, in the window."""
        region, view = window.region("VIEW_3D"), window.area("VIEW_3D").spaces[0].region_3d
        at = view3d_utils.location_3d_to_region_2d(region, view, place)
        return region.x + at[0], region.y + at[1]

    def press(operator: Any, *arguments: Any, **values: Any) -> None:
        window.call(operator, *arguments, area="VIEW_3D", **values)

    def settled(count: int) -> Steps:
        """Until a drag has ended, on a busy machine too: there are so many handles, and the edit is theirs alone."""

        def is_settled() -> bool:
            edited = stored.opened(item())
            if len(handles()) != count or edited is None or edited.goes_on or live.is_busy():
                return False
            return edited.edits.handles == handles()

        yield from window.wait_until(is_settled, 60.0, f"{count} handles, and no drag")
        yield 0.3

    def lands(vertex: int, before: Any, by: tuple[float, float], within: float = 4.0) -> Steps:
        """Until a vertex is so many pixels away from where it was: what is dragged is seen there."""

        def is_there() -> bool:
            way = np.subtract(pixels(places()[vertex]), pixels(before[vertex]))
            return bool(np.abs(way - by).max() < within)

        yield from window.wait_until(is_there, 30.0, f"vertex {vertex} is {by} pixels away")

    # From the side, so that the mouse moves in the plane of Y and Z.
    press(bpy.ops.view3d.view_axis, type="RIGHT")
    view = window.area("VIEW_3D").spaces[0].region_3d
    view.view_perspective = "ORTHO"
    view.view_location, view.view_distance = (0.0, 0.0, 0.5), 4.0
    yield 0.5

    other = scenes.add_mesh("Other", *scenes.ball_mesh(0.2, 6))
    other.location = (0.0, -1.2, 0.3)
    window.window.view_layer.objects.active = ob()

    # A window takes no notice of the very first click in it.
    yield from window.move(*pixels(np.array([0.0, 0.0, 0.5])))
    yield from window.press_mouse()
    window.window.view_layer.objects.active = ob()
    yield 0.3

    # One button: the mesh is fitted, and the tool is in the hand.
    press(bpy.ops.sinew.edit_motion, "INVOKE_DEFAULT")
    yield from window.wait_until(lambda: item() is not None and state.of(item()).kind == state.BAKED, 120.0, "fitted")
    assert tool.is_on()
    window.window.scene.frame_set(AT)
    yield 0.5
    before = places()
    tip = int(np.argmax(before[:, 2] + 0.01 * before[:, 0]))

    # The drag: it lands under the mouse, at once and after the release.
    start = pixels(before[tip] - [0.0, 0.0, 0.02])
    yield from window.move(*start)
    window.event("LEFTMOUSE", "PRESS")
    yield 0.5
    for part in range(1, 6):
        yield from window.move(start[0] + 20 * part, start[1] - 4 * part)
    yield from window.wait_until(lambda: len(handles()) == 1, 30.0, "a handle")
    pulled = handles()[0].vertices[0]
    yield from lands(pulled, before, (100, -20))
    dragged = places()
    window.event("LEFTMOUSE", "RELEASE")
    yield from settled(1)
    way = np.subtract(pixels(places()[pulled]), pixels(before[pulled]))
    assert np.abs(way - [100, -20]).max() < 2, way
    yield from window.wait_until(lambda: overlay.last.get("after", 0) > 5, 30.0, "the way of the point")
    assert overlay.last["filled"] == 1 and overlay.last["hollow"] == 0, overlay.last
    yield from window.picture("edit-dragged")

    # A drag of it again keeps what was said of it: it holds, half of its way, and comes as far as the mouse.
    item().handles[0].until, item().handles[0].axes, item().handles[0].influence = AT + 1, "body", 0.5
    yield from settled(1)
    at = pixels(places()[pulled])
    yield from window.drag([at, (at[0] + 10, at[1]), (at[0] + 30, at[1] + 12)])
    yield from settled(1)
    one = handles()[0]
    assert (one.until, one.axes, one.influence, one.vertices) == (AT + 1, "body", 0.5, (pulled,)), one
    way = np.subtract(pixels(places()[pulled]), at)
    assert np.abs(way - [30, 12]).max() < 2, way
    window.window.scene.frame_set(AT + 1)  # where it holds too
    yield from window.wait_until(lambda: overlay.last["filled"] == 1, 10.0, "it is filled while it holds")
    at = pixels(places()[pulled])
    yield from window.drag([at, (at[0], at[1] + 10), (at[0] - 20, at[1] + 20)])
    yield from settled(1)
    way = np.subtract(pixels(places()[pulled]), at)
    assert np.abs(way - [-20, 20]).max() < 2, way
    for _ in range(2):
        press(bpy.ops.ed.undo)
        yield 1.0
    item().handles[0].until, item().handles[0].axes, item().handles[0].influence = AT, "world", 1.0
    window.window.scene.frame_set(AT)
    yield from settled(1)
    way = np.subtract(pixels(places()[pulled]), pixels(before[pulled]))
    assert np.abs(way - [100, -20]).max() < 2, (way, handles())

    # Beside the mesh, a click chooses other objects, and X with nothing to take away does no harm.
    yield from window.move(*pixels(np.array(other.location)))
    yield from window.press_mouse()
    assert window.window.view_layer.objects.active == other
    window.window.view_layer.objects.active = ob()
    other.select_set(False)
    yield 0.5

    # Another frame shows its own edit, and a second drag there; X is an axis, Esc goes back.
    window.window.scene.frame_set(AT + 2)
    yield 0.7
    assert np.abs(places()[pulled] - before[pulled]).max() > 0.02
    assert overlay.last["hollow"] == 1, overlay.last
    item().handles_index = -1
    yield from window.move(*pixels(dragged[pulled]))  # the hollow one is chosen by a click
    yield from window.press_mouse()
    assert item().handles_index == 0 and len(handles()) == 1
    here = places()
    start = pixels(0.95 * here[pulled] + 0.05 * here.mean(axis=0))  # inside its outline
    yield from window.move(*start)
    window.event("LEFTMOUSE", "PRESS")
    yield 0.3
    yield from window.move(start[0] - 60, start[1] + 10)
    yield from window.key("Z")
    yield from window.wait_until(lambda: len(handles()) == 2, 30.0, "a second handle")
    second = handles()[1].vertices[0]  # the vertex under the mouse: of two that lie close it may be either
    yield from lands(second, here, (0, 10))
    yield from window.key("ESC")
    window.event("LEFTMOUSE", "RELEASE")
    yield from settled(1)
    assert len(handles()) == 1 and np.abs(places() - here).max() < 1e-5

    yield from window.drag([start, (start[0] - 30, start[1]), (start[0] - 60, start[1] + 10)])
    yield from settled(2)
    assert len(handles()) == 2 == len(item().handles)

    # One step of undo a drag; what is left of the edit shows again by itself.
    press(bpy.ops.ed.undo)
    yield 1.5
    assert len(handles()) == 1, handles()
    window.window.scene.frame_set(AT + 2)  # which was no step of its own
    yield from window.wait_until(lambda: np.abs(places() - here).max() < 1e-4, 20.0, "the first edit shows again")
    press(bpy.ops.ed.redo)
    yield 1.5
    assert len(handles()) == 2, handles()
    yield from lands(second, here, (-60, 10), 2.0)  # where the mouse let go of it

    # In perspective and from anywhere it lands under the mouse too.
    region_3d = window.area("VIEW_3D").spaces[0].region_3d
    before_turn = region_3d.view_rotation.copy()
    region_3d.view_perspective, region_3d.view_rotation = "PERSP", Euler((1.1, 0.2, 0.6)).to_quaternion()
    window.window.scene.frame_set(AT)
    yield 1.0
    here = places()
    start = pixels(here[pulled])
    yield from window.drag([start, (start[0] + 12, start[1] + 4), (start[0] + 30, start[1] + 18)])
    yield from settled(2)
    yield from lands(pulled, here, (30, 18), 2.0)
    press(bpy.ops.ed.undo)
    yield 1.0
    region_3d.view_perspective, region_3d.view_rotation = "ORTHO", before_turn
    window.window.scene.frame_set(AT + 2)
    yield from settled(2)
    here = places()

    # The wheel changes how much is pulled as one.
    at = pixels(places()[pulled])
    yield from window.move(*at)
    window.event("LEFTMOUSE", "PRESS")
    yield 0.2
    yield from window.move(at[0] + 2, at[1])
    for _ in range(5):
        window.event("WHEELUPMOUSE")
        yield 0.1
    window.event("LEFTMOUSE", "RELEASE")
    yield from settled(2)
    assert len(handles()) == 2 and handles()[1].radius > 0.0, handles()

    # Apply, and what is applied plays without any live frame.
    showing = places()
    press(bpy.ops.sinew.apply_edits, "INVOKE_DEFAULT")
    yield from window.wait_until(
        lambda: not job_operator.is_running() and state.of(item()).kind == state.BAKED, 60.0, "applied"
    )
    yield 0.5
    live.end()
    yield 0.3
    assert np.abs(places() - showing).max() < 1e-4
    assert overlay.ticks == [handle.frame for handle in handles()], overlay.ticks

    # Saved while more is pulled: the file plays what was applied.
    start = pixels(places()[pulled])
    yield from window.drag([start, (start[0] + 20, start[1]), (start[0] + 40, start[1])])
    yield 0.5
    press(bpy.ops.wm.save_mainfile)
    yield 0.1
    applied = str(state.target().root)
    assert stored.is_pending(item()) and applied
    yield 1.0
    # X takes the chosen handle away.
    count = len(handles())
    yield from window.move(*start)
    yield from window.key("X")
    yield 0.5
    assert len(handles()) == count - 1
    for left in range(count - 1, -1, -1):
        assert len(handles()) == left
        yield from window.key("X")
        yield 0.5
    yield from window.key("G")
    yield from window.key("X")
    assert ob().name == "Tail" and not handles()
    sinew.unregister()
    yield 0.5
    print("all steps done", flush=True)


run(story)
