"""Pictures of the panel and of what it draws into the viewport, in a real window; for docs and for a look at changes.

    blender --background --factory-startup --python examples/panel_pictures.py -- FOLDER      makes FOLDER/calf.blend
    xvfb-run -a -s "-screen 0 1600x1500x24 +extension GLX -nolisten tcp" blender --factory-startup FOLDER/calf.blend \
        --enable-event-simulate --window-geometry 0 0 1600 1500 --python examples/panel_pictures.py -- FOLDER

FOLDER/panel.png is docs/panel.png. Needs imagemagick (`import`, `convert`), and LIBGL_ALWAYS_SOFTWARE=1 where there is
no graphics card.
"""

from __future__ import annotations

import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import bpy

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "addon"), str(HERE)]


def steps(folder: Path) -> Iterator[float]:
    """Yields the seconds to wait before it goes on."""
    import sinew
    from sinew.ui import job_operator
    from sinew.ui.enrich import panel, view, weights
    from sinew.ui.setup import properties

    for shown in (panel.SINEW_PT_regions, panel.SINEW_PT_after):
        shown.bl_options = set()  # open from the beginning
    sinew.register()
    ob = bpy.data.objects["Calf"]
    window = bpy.context.window_manager.windows[0]
    window.view_layer.objects.active = ob
    areas = {area.type: area for area in window.screen.areas}
    yield 0.5
    with bpy.context.temp_override(window=window, area=areas["OUTLINER"]):
        bpy.ops.screen.area_close()
    yield 0.5
    areas["PROPERTIES"].spaces[0].context = "PHYSICS"
    space = areas["VIEW_3D"].spaces[0]
    space.show_region_ui = True
    space.shading.type = "SOLID"

    def press(operator: Any, *arguments: Any, **values: Any) -> None:
        area = areas["PROPERTIES"]
        region = next(region for region in area.regions if region.type == "WINDOW")
        with bpy.context.temp_override(window=window, area=area, region=region):
            operator(*arguments, **values)

    def picture(name: str) -> None:
        subprocess.run(["import", "-window", "root", str(folder / f"{name}.png")], check=True)

    def click(x: int, y: int) -> Iterator[float]:
        """At so many pixels from the left and from the top."""
        for kind, value in (("MOUSEMOVE", "NOTHING"), ("LEFTMOUSE", "PRESS"), ("LEFTMOUSE", "RELEASE")):
            window.event_simulate(type=kind, value=value, x=x, y=window.height - y)
            yield 0.2
        yield 0.5

    def work_ends() -> Iterator[float]:
        while job_operator.is_running():
            yield 0.2
        yield 1.0

    region_3d = areas["VIEW_3D"].spaces[0].region_3d
    region_3d.view_location, region_3d.view_distance = (0.2, 0.1, 0.6), 4.4
    yield 1.0
    picture("1_nothing")
    press(bpy.ops.sinew.add)
    item = properties.find(bpy.context.scene, ob)
    areas["PROPERTIES"].tag_redraw()
    yield 2.5
    picture("2_added")
    tabs = next(region for region in areas["VIEW_3D"].regions if region.type == "UI")
    try:
        tabs.active_panel_category = "Sinew"
    except AttributeError:  # an old Blender
        yield from click(1308, 244)
    yield 0.5
    picture("2_sidebar")
    yield from click(1527, 305)
    yield 0.5
    picture("2_presets")
    window.event_simulate(type="ESC", value="PRESS", x=600, y=500)
    yield 0.2
    window.event_simulate(type="ESC", value="RELEASE", x=600, y=500)
    yield 0.5
    press(bpy.ops.sinew.build_cage, "INVOKE_DEFAULT")
    yield from work_ends()
    picture("3_cage_rest")
    item.show_cage, item.show_weights = False, True
    yield 1.0
    while not weights.is_ready(item):
        yield 0.2
    yield 1.0
    picture("4_weights")
    item.resolution = 12
    item.show_weights = False
    press(bpy.ops.sinew.bake, "INVOKE_DEFAULT")
    while job_operator.running.sampling:
        yield 0.2
    yield 2.0
    picture("5_baking")
    yield from work_ends()
    bpy.context.scene.frame_set(24)
    yield 1.0
    picture("6_baked")
    item.show_cage, item.cage_shape = True, view.FITTED
    yield 1.5
    picture("7_fitted")
    item.cage_shape = view.SIMULATED
    yield 1.0
    picture("8_simulated")
    item.show_inside = True
    yield 1.0
    picture("9_inside")
    item.show_inside = item.show_cage = False
    item.show_weights = True
    item.jiggle = 5.0
    yield 2.5
    picture("10_stale_weights")
    bpy.context.scene.frame_set(30)
    yield 1.0
    picture("11_weights_later")
    item.jiggle, item.show_weights, item.follow_after = 3.0, False, 0.4
    bpy.context.scene.frame_set(24)
    yield 3.0
    picture("12_after")
    compose(folder, areas, window.height)
    print("all pictures done", flush=True)
    os._exit(0)


def compose(folder: Path, areas: dict[str, Any], height: int) -> None:
    """Weights above the simulated cage, and beside them the panel."""

    def cut(name: str, x: int, top: int, width: int, tall: int) -> list[str]:
        return ["(", str(folder / f"{name}.png"), "-crop", f"{width}x{tall}+{x}+{top}", "+repage", ")"]

    space, side = areas["VIEW_3D"], areas["PROPERTIES"]
    top, tall = height - side.y - side.height, side.height
    x, half = space.x + space.width // 2 - 250, tall // 2
    middle = height - space.y - space.height // 2 - half // 2
    views = [*cut("10_stale_weights", x, middle, 500, half), *cut("8_simulated", x, middle, 500, half)]
    panel = cut("12_after", side.x, top, side.width, tall)
    shrink = ["-colors", "200", "-strip", str(folder / "panel.png")]
    subprocess.run(["convert", "(", *views, "-append", ")", *panel, "+append", *shrink], check=True)


def build(folder: Path) -> None:
    import scenes

    scenes.reset_scene()
    scenes.build_character()
    bpy.context.scene.frame_end = 32
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "calf.blend"))


def main() -> None:
    folder = Path(sys.argv[sys.argv.index("--") + 1])
    folder.mkdir(parents=True, exist_ok=True)
    if bpy.app.background:
        build(folder)
        return
    running = steps(folder)

    def tick() -> float | None:
        try:
            return next(running, None)
        except BaseException:  # noqa: BLE001 (Blender would go on after any exception, for ever)
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(9)

    bpy.context.preferences.view.show_splash = False
    bpy.app.timers.register(tick, first_interval=2.0, persistent=True)


main()
