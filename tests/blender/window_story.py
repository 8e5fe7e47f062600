"""One working day of an artist, in a real window and with a mouse: from the zip in an empty profile to quitting.

Run by test_ui_window.py, and for the pictures of the manual by `make pictures`:

    blender --enable-event-simulate --python window_story.py -- SINEW.zip CALF.blend
"""

from __future__ import annotations

import importlib
import sys
import time
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parent))

import bpy
import numpy as np
from window import Steps, Window, run

ZIP, FILE = (Path(name) for name in sys.argv[sys.argv.index("--") + 1 :])
NAME = "Calf"


def module(name: str) -> Any:
    """A module of the installed add-on."""
    package = "bl_ext.user_default.sinew" if "bl_ext.user_default.sinew" in sys.modules else "sinew"
    return importlib.import_module(f"{package}.{name}")


def calf() -> Any:
    return bpy.data.objects[NAME]


def item() -> Any:
    return next(item for item in bpy.context.scene.sinew.setups if item.object == calf())


def state() -> Any:
    return module("ui.setup.state").of(item())


def job() -> Any:
    return module("ui.job_operator")


def baked_now() -> str:
    """Id of the bake that is played."""
    return module("scene.setup").find_of(calf(), bpy.context.scene).bake


def modifiers() -> list[str]:
    return [modifier.type for modifier in calf().modifiers]


def shown(frame: int) -> np.ndarray:
    bpy.context.scene.frame_set(frame)
    mesh = calf().evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    flat = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", flat)
    return flat.reshape(-1, 3)


def bake(w: Window) -> Steps:
    yield from w.click("sinew.bake")
    yield from w.wait_until(job().is_running, 5, "the bake begins")


def baked(w: Window) -> Steps:
    """Waits until the running bake has come to its end."""
    yield from w.wait_until(lambda: not job().is_running(), 120, "the bake ends")
    yield 0.5
    assert not job().running.failed, job().running.message


def undo(w: Window) -> Steps:
    region = w.region("VIEW_3D")
    yield from w.move(region.x + region.width / 2, region.y + region.height / 2)
    yield 0.2
    yield from w.key("Z", ctrl=True)
    yield 0.5


def redo(w: Window) -> Steps:
    yield from w.key("Z", ctrl=True, shift=True)
    yield 0.5


def install(w: Window) -> Steps:
    preferences = bpy.context.preferences
    preferences.view.filebrowser_display_type = "SCREEN"
    editor = w.area("VIEW_3D")
    editor.type = "PREFERENCES"
    is_extension = hasattr(bpy.ops, "extensions") and "EXTENSIONS" in {
        entry.identifier for entry in preferences.bl_rna.properties["active_section"].enum_items
    }
    preferences.active_section = "EXTENSIONS" if is_extension else "ADDONS"
    yield 1.0
    yield from w.picture("install")
    if is_extension:
        region = w.region("PREFERENCES")
        top = region.y + region.height
        points = [(region.x + region.width - x, top - y) for y in (16, 30, 44) for x in range(12, 120, 12)]
        yield from w.open_menu("USERPREF_MT_extensions_settings", points)
        yield from w.picture("install-menu")
        yield from w.click_in_menu("extensions.package_install_files", beside=30)
    else:
        yield from w.click("preferences.addon_install", "PREFERENCES")
    yield from w.wait_until(lambda: any(a.type == "FILE_BROWSER" for a in w.window.screen.areas), 10, "file browser")
    yield 1.0
    browser = w.area("FILE_BROWSER").spaces[0]
    browser.params.directory, browser.params.filename = bytes(ZIP.parent), ZIP.name
    yield 1.0
    yield from w.picture("install-file")
    w.call(bpy.ops.file.execute, area="FILE_BROWSER")
    yield 2.0
    if not is_extension:
        yield from w.wait_until(lambda: (Path(bpy.utils.user_resource("SCRIPTS")) / "addons/sinew").exists(), 20)
        yield 0.5
        yield from w.picture("install-enable")
        yield from w.click("preferences.addon_enable", "PREFERENCES", tuple(0.005 * i for i in range(2, 14)))
    yield from w.wait_until(lambda: hasattr(bpy.types.Scene, "sinew"), 20, "the add-on registers")
    yield 0.5
    yield from w.picture("installed")
    assert module("core.base.native").module.__file__.startswith(str(Path(bpy.utils.user_resource("SCRIPTS")).parent))
    w.area("PREFERENCES").type = "VIEW_3D"
    yield 0.5


def open_file(w: Window) -> Steps:
    bpy.ops.wm.open_mainfile(filepath=str(FILE))
    yield 1.5
    w.area("PROPERTIES").spaces[0].context = "PHYSICS"
    view = w.area("VIEW_3D").spaces[0]
    view.region_3d.view_location, view.region_3d.view_distance = (0.2, -0.3, 0.6), 5.5
    view.show_gizmo = False
    if w.pictures is None:  # nobody looks: draw as little as possible
        view.overlay.show_overlays = False
        bpy.context.preferences.system.viewport_aa = "OFF"
    yield 0.5
    region = w.region("VIEW_3D")
    yield from w.move(region.x + region.width / 2, region.y + region.height / 2)
    yield from w.press_mouse()
    assert bpy.context.view_layer.objects.active == calf(), bpy.context.view_layer.objects.active
    yield 0.5


def add(w: Window) -> Steps:
    yield from w.picture("add")
    yield from w.click("sinew.add()")  # not one of those beside it, which name a method
    assert item().object == calf()
    assert module("scene.setup").find_of(calf(), bpy.context.scene).method == "enrich"
    yield 0.5
    yield from w.picture("added")


def rig_and_search(w: Window) -> Steps:
    """With the rig selected its meshes are offered, and F3 finds the menu."""
    rig = calf().modifiers[0].object
    bpy.context.view_layer.objects.active = rig
    yield 0.5
    yield from w.picture("rig")
    yield from w.click("sinew.select")
    assert bpy.context.view_layer.objects.active == calf() and calf().select_get()
    region = w.region("VIEW_3D")
    yield from w.move(region.x + region.width / 2, region.y + region.height / 2)
    bpy.ops.ed.undo_push(message="Before the search")
    yield from w.key("F3")
    yield 0.5
    yield from w.type_text("sinew remove")
    yield 0.8
    yield from w.picture("search")
    yield from w.key("RET")
    yield from w.wait_until(lambda: not len(bpy.context.scene.sinew.setups), 5, "F3 finds Sinew > Remove")
    yield from undo(w)
    yield from w.wait_until(lambda: len(bpy.context.scene.sinew.setups) == 1, 5, "the setup is back")


def escape(w: Window) -> Steps:
    """Esc while frames are sampled: all is as it was."""
    bpy.context.scene.frame_set(86)
    yield from bake(w)
    yield from w.key("ESC")
    yield from w.wait_until(lambda: not job().is_running(), 20, "the bake stops")
    yield 0.5
    told = (job().running.message, bpy.context.scene.frame_current, state().text)
    assert bpy.context.scene.frame_current == 86, told
    assert modifiers() == ["ARMATURE"] and calf().modifiers[0].show_viewport
    assert state().kind == "NOTHING"


def cancel_and_resume(w: Window) -> Steps:
    yield from w.click(".zero_resolution")  # 24, slow enough to be stopped
    assert item().resolution == 24
    yield from bake(w)
    yield from w.wait_until(lambda: not job().running.sampling, 60, "sampling ends")
    assert bpy.context.scene.frame_current == 86
    yield from w.picture("baking")
    w.call(bpy.ops.sinew.cancel)  # looking for the button may take longer than the bake
    yield from w.wait_until(lambda: not job().is_running(), 20, "the bake stops")
    yield 0.3
    assert not job().running.failed and "bake again" in job().running.message, job().running.message
    assert state().kind != "BAKED"
    yield from w.picture("cancelled")

    yield from bake(w)
    yield from w.wait_until(lambda: not job().running.sampling, 60, "sampling ends")
    bpy.context.scene.frame_set(90)  # the scene is free
    yield from baked(w)
    assert state().kind == "BAKED" and bpy.context.scene.frame_current == 90
    assert modifiers() == ["ARMATURE", "MESH_CACHE"]
    timeline = module("ui.setup.timeline")
    yield from w.wait_until(lambda: timeline.last == [timeline.Span(84, 98, 97, True)], 5, "the timeline shows it")
    yield from w.picture("baked")


def play(w: Window) -> Steps:
    region = w.region("VIEW_3D")
    yield from w.move(region.x + region.width / 2, region.y + 40)
    before = bpy.context.scene.frame_current
    yield from w.key("SPACE")
    yield from w.wait_until(lambda: bpy.context.scene.frame_current != before, 10, "it plays")
    yield from w.key("SPACE")
    yield 0.3
    assert not w.window.screen.is_animation_playing


def switch(w: Window) -> Steps:
    modifier = calf().modifiers[-1]
    result = shown(92)
    yield from w.click("sinew.show(result=False")
    assert not modifier.show_viewport and not modifier.show_render
    given = shown(92)
    assert np.isfinite(result).all() and np.abs(result - given).max() > 1e-3
    yield from w.picture("input")
    yield from w.click("sinew.show(result=True")
    assert modifier.show_viewport and modifier.show_render
    assert np.array_equal(shown(92), result)
    yield from w.picture("result")


def paint(w: Window) -> Steps:
    yield from w.click("sinew.paint_follow_group")
    ob = calf()
    assert ob.mode == "WEIGHT_PAINT"
    assert ob.vertex_groups.active.name == "Sinew Follow", ob.vertex_groups.active.name
    tools = bpy.context.scene.tool_settings
    unified = getattr(tools.weight_paint, "unified_paint_settings", None) or tools.unified_paint_settings
    unified.weight, unified.size = 1.0, 40
    yield 0.5

    def weights() -> np.ndarray:
        group = ob.vertex_groups.active
        found = [[g.weight for g in v.groups if g.group == group.index] for v in ob.data.vertices]
        return np.array([weight[0] if weight else 0.0 for weight in found])

    before = weights()
    bpy.ops.ed.undo_push(message="Before the stroke")
    region = w.region("VIEW_3D")
    middle = region.x + region.width / 2, region.y + region.height / 2
    ear = middle[0] - 45, middle[1] + 135
    yield from w.drag([(ear[0] + 6 * step, ear[1] + 2 * step) for step in range(-8, 8)])
    yield 0.5
    after = weights()
    assert np.abs(after - before).max() > 0.3 and (np.abs(after - before) > 0.0).mean() < 0.5
    yield from w.wait_until(lambda: state().kind == "STALE", 10, "the panel says stale")
    yield 0.5
    yield from w.picture("painting")
    bpy.ops.object.mode_set(mode="OBJECT")
    old = shown(92)
    yield from w.set_number(".resolution", "12")
    assert item().resolution == 12
    before_bake = baked_now()
    yield from bake(w)
    yield from baked(w)
    assert state().kind == "BAKED" and np.abs(shown(92) - old).max() > 1e-4
    after = baked_now()
    yield from undo(w)
    yield from w.wait_until(lambda: baked_now() == before_bake, 5, "one undo brings the last bake back")
    assert item().resolution == 12, "the step before is another"
    yield from redo(w)
    yield from w.wait_until(lambda: baked_now() == after, 5, "and one redo the new one")
    assert state().kind == "BAKED"


def tune(w: Window) -> Steps:
    yield from w.set_number(".jiggle", "2")
    assert item().jiggle == 2.0
    yield from w.wait_until(lambda: state().kind == "STALE" and "Jiggle" in state().text, 10, state().text)
    yield 0.3
    yield from w.picture("stale")
    yield from undo(w)
    yield from w.wait_until(lambda: item().jiggle == 3.0, 5, "Jiggle is as before")
    assert state().kind == "BAKED", state()
    yield from redo(w)
    yield from w.wait_until(lambda: item().jiggle == 2.0, 5, "Jiggle is changed again")


def open_presets(w: Window) -> Steps:
    yield from w.find("sinew.remove", columns=(0.84,))
    x, y = w.mouse
    yield from w.open_menu("SINEW_PT_presets", [(x - step, y) for step in range(12, 60, 8)])


def presets(w: Window) -> Steps:
    known = module("core.methods.presets").load_all()
    yield from open_presets(w)
    yield from w.picture("presets")
    yield from w.click_in_menu('sinew.apply_preset(name="heavy"')
    assert abs(item().jiggle - known["heavy"].values["jiggle"]) < 1e-5, item().jiggle
    yield from w.key("ESC")  # it stays open, for another try
    yield 0.3
    yield from undo(w)
    yield from w.wait_until(lambda: item().jiggle == 3.0, 5, "Jiggle is as before")


def delete_bake(w: Window) -> Steps:
    with_bake = modifiers()
    yield from w.click("sinew.delete_bake")
    assert modifiers() == ["ARMATURE"] and calf().modifiers[0].show_viewport
    assert state().kind == "NOTHING"
    yield from undo(w)
    yield from w.wait_until(lambda: modifiers() == with_bake, 5, "the bake is back")
    assert state().kind in ("BAKED", "STALE")
    yield from redo(w)
    yield from w.wait_until(lambda: modifiers() == ["ARMATURE"], 5, "the bake is gone again")


def quit_while_baking(w: Window) -> Steps:
    yield from w.set_number(".resolution", "24")
    yield from bake(w)
    yield from w.wait_until(lambda: not job().running.sampling, 60, "sampling ends")
    assert job().is_running()
    print("the artist quits", flush=True)
    w.call(bpy.ops.wm.quit_blender)
    yield 60.0
    raise AssertionError("Blender did not quit")


def story(w: Window) -> Steps:
    chapters = (install, open_file, add, rig_and_search, presets, escape, cancel_and_resume, play, switch, paint, tune)
    chapters = (*chapters, delete_bake)
    for chapter in (*chapters, quit_while_baking):
        start = time.monotonic()
        yield from chapter(w)
        print(f"-- {chapter.__name__}: {time.monotonic() - start:.0f} s", flush=True)


bpy.context.preferences.view.show_splash = False
run(story)
