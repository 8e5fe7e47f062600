"""Small scenes of bodies that touch, by Sinew and by Blender's own Soft Body and Cloth:
`PYTHONPATH=addon:examples build/env/45/bin/python tests/benchmark/touching.py [SCENE...] [ENGINE...] [--film FOLDER]`,
one row a line: name, ours, yardstick (0: none), unit. Engines: sinew, soft_body, cloth.

Scenes are ours, after those that ppf-contact-solver shows (a GPU): a paddle topples eight dominoes; a block lies on a
slope that is less steep than friction holds; two rollers draw a block through a gap that is thinner than it. Beside
seconds a frame (60 a second, once cages are made) stand how deep vertices get into what is hard, in percent of a body's
size, how many edges run through other bodies at most, and in percent of size how far in the last half second the block
creeps down its slope. Blender's materials are a guess at what is as stiff. With OMP_NUM_THREADS=1 seconds are those of
the processor, which a busy machine does not change much."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from math import cos, pi, sin, tan
from pathlib import Path
from typing import Any

import bpy
import numpy as np
import numpy.typing as npt
import scenes
from building import add_mesh, set_frames
from sinew import setups
from sinew.core.geometry.crossings import find_crossings

Floats = npt.NDArray[np.float64]
RATE, SLOPE, GRIP = 60, 20.0, 0.5
ENGINES = ("sinew", "soft_body", "cloth")
CLOCK = time.process_time if os.environ.get("OMP_NUM_THREADS") == "1" else time.perf_counter


@dataclass
class Scene:
    """Bodies, the frames, and how deep points lie in what is hard (positive: inside) on a frame."""

    bodies: list[Any]
    frames: int
    depth: Callable[[Floats, int], Floats]
    size: float
    resolution: int
    yardstick: float  # s/frame
    values: dict[str, Any] = field(default_factory=dict)


# ---- scenes ---------------------------------------------------------------------------------------------------------


def hard(name: str, vertices: Any, faces: Any) -> Any:
    """What bodies run against."""
    ob = add_mesh(name, np.asarray(vertices, float), faces, smooth=False)
    ob.modifiers.new("Collision", "COLLISION")
    bpy.context.view_layer.update()
    ob.collision.thickness_outer, ob.collision.cloth_friction = 0.002, GRIP / 0.08
    ob.collision.damping_factor = 0.1
    return ob


def plate(name: str, side: float, cells: int) -> Any:
    """A square around the origin that looks up."""
    line = np.linspace(-side / 2, side / 2, cells + 1)
    x, y = (one.ravel() for one in np.meshgrid(line, line))
    corner = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).ravel()
    faces = np.stack([corner, corner + 1, corner + cells + 2, corner + cells + 1], 1).tolist()
    return hard(name, np.stack([x, y, 0.0 * x], 1), [tuple(face) for face in faces])


def domino() -> Scene:
    set_frames(1, 90)
    plate("Floor", 8.0, 4)
    vertices, faces = scenes.box_mesh((0.1, 0.3, 0.6), 3)
    vertices = vertices - vertices.mean(axis=0)
    bodies = [add_mesh(f"Domino{k}", vertices + (0.3 * k, 0.0, 0.303), faces, smooth=False) for k in range(8)]
    paddle = hard("Paddle", *scenes.box_mesh((0.1, 0.4, 0.2), 1))
    for frame, x in {1: -0.4, 20: 0.02, 30: 0.02, 40: -0.4}.items():
        paddle.location = (x, 0.0, 0.52)
        paddle.keyframe_insert("location", frame=frame)
    return Scene(bodies, 90, lambda points, frame: -points[:, 2], 0.6, 5, 0.1, {"young": 2e5, "settle": 0.3})


def friction(resolution: int = 15) -> Scene:
    set_frames(1, 60)
    slope = SLOPE * pi / 180.0
    down, up = np.array((cos(slope), 0.0, -sin(slope))), np.array((sin(slope), 0.0, cos(slope)))
    plane = plate("Slope", 6.0, 4)
    plane.rotation_euler = (0.0, slope, 0.0)
    vertices, faces = scenes.box_mesh((0.4, 0.2, 0.2), 8)
    vertices = vertices - vertices.mean(axis=0)
    axes = np.stack([down, (0.0, 1.0, 0.0), up])
    block = add_mesh("Block", vertices @ axes + 0.104 * up, faces, smooth=False)
    values = {"young": 1e5, "settle": 0.5}
    return Scene([block], 60, lambda points, frame: -points @ up, 0.4, resolution, 0.2, values)


def roller() -> Scene:
    set_frames(1, 90)
    radius, gap, turn = 0.25, 0.14, 2 * pi * 0.5 / RATE
    for name, side in {"Upper": 1.0, "Lower": -1.0}.items():
        tube, faces = scenes.tube_mesh(0.6, radius, 2, 48)
        tube = (tube - tube.mean(axis=0))[:, [1, 0, 2]]
        rolls = hard(name, tube, faces)
        rolls.location = (0.0, 0.0, side * (radius + gap / 2))
        for frame in (1, 91):
            rolls.rotation_euler = (0.0, side * -turn * (frame - 1), 0.0)
            rolls.keyframe_insert("rotation_euler", frame=frame)
        for curve in scenes_curves(rolls):
            for key in curve.keyframe_points:
                key.interpolation = "LINEAR"
    bpy.context.scene.use_gravity = False
    vertices, faces = scenes.box_mesh((0.6, 0.3, 0.2), 8)
    vertices = vertices - vertices.mean(axis=0)
    block = add_mesh("Block", vertices + (-0.5, 0.0, 0.0), faces, smooth=False)
    # A slide that pushes it in, until the rollers have it.
    slide = hard("Slide", *scenes.box_mesh((0.1, 0.3, 0.1), 1))
    for frame, x in {1: -0.87, 40: -0.55, 55: -0.9}.items():
        slide.location = (x, 0.0, 0.0)
        slide.keyframe_insert("location", frame=frame)

    def depth(points: Floats, frame: int) -> Floats:
        sides = [np.hypot(points[:, 0], points[:, 2] - s * (radius + gap / 2)) for s in (1.0, -1.0)]
        return radius * cos(pi / 48) - np.minimum(*sides)

    return Scene([block], 90, depth, 0.6, 16, 0.2, {"young": 1e5, "settle": 0.5})


def scenes_curves(ob: Any) -> list[Any]:
    return list(ob.animation_data.action.fcurves)


SCENES = {"domino": domino, "friction": friction, "friction_20k": lambda: friction(19), "roller": roller}


# ---- engines --------------------------------------------------------------------------------------------------------


def by_sinew(scene: Scene, folder: Path) -> tuple[list[Floats], float]:
    """Positions of each body (frames, points, 3), and seconds a frame."""
    from sinew.core.bake.store import Store
    from sinew.core.geometry.place import placed

    blend = folder / "scene.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(blend))
    free = {"free_body": True, "collide": True, "friction": GRIP, "resolution": scene.resolution, **scene.values}
    wanted = [setups.Wanted(ob.name, free) for ob in scene.bodies]
    start = CLOCK()
    outcomes = setups.bake_objects(wanted, setups.Target(blend))
    seconds = CLOCK() - start
    made = sum(outcome.report["seconds"].get(stage, 0.0) for outcome in outcomes for stage in ("cage", "rest"))
    found = []
    for outcome in outcomes:
        with Store.open(outcome.folder.parent, outcome.id) as store:
            shown = [placed(store.read("matrix", k), store.read_result(k).astype(float)) for k in range(scene.frames)]
            found.append(np.array(shown))
    print(f"# {sum(outcome.report['tets'] for outcome in outcomes)} tets", file=sys.stderr)
    return found, (seconds - made) / scene.frames


def played(scene: Scene) -> tuple[list[Floats], float]:
    """The same of what Blender simulates while it goes through the frames."""
    taken: list[list[Floats]] = [[] for _ in scene.bodies]
    start = CLOCK()
    for frame in range(1, scene.frames + 1):
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for ob, rows in zip(scene.bodies, taken, strict=True):
            shown = ob.evaluated_get(graph)
            points = np.empty(3 * len(shown.data.vertices), np.float32)
            shown.data.vertices.foreach_get("co", points)
            matrix = np.array(shown.matrix_world)
            rows.append(points.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3])
    return [np.array(rows) for rows in taken], (CLOCK() - start) / scene.frames


def by_soft_body(scene: Scene, folder: Path) -> tuple[list[Floats], float]:
    for ob in scene.bodies:
        soft = ob.modifiers.new("Softbody", "SOFT_BODY").settings
        soft.use_goal, soft.use_stiff_quads, soft.use_edges = False, True, True
        soft.pull, soft.push, soft.bend, soft.shear, soft.damping = 0.9, 0.9, 5.0, 1.0, 5.0
        soft.mass, soft.friction = 0.3, 5.0
        soft.use_edge_collision = soft.use_face_collision = True
        soft.step_min, soft.step_max = 10, 300
    return played(scene)


def by_cloth(scene: Scene, folder: Path) -> tuple[list[Floats], float]:
    for ob in scene.bodies:
        modifier = ob.modifiers.new("Cloth", "CLOTH")
        cloth, touch = modifier.settings, modifier.collision_settings
        cloth.quality, cloth.mass = 15, 0.1
        cloth.tension_stiffness = cloth.compression_stiffness = 80.0
        cloth.shear_stiffness, cloth.bending_stiffness = 80.0, 10.0
        cloth.use_internal_springs = True
        cloth.internal_tension_stiffness = cloth.internal_compression_stiffness = 15.0
        cloth.use_pressure, cloth.use_pressure_volume = True, False
        touch.collision_quality, touch.distance_min, touch.friction = 5, 0.002, GRIP / 0.08
        touch.use_self_collision = False
    return played(scene)


BY = {"sinew": by_sinew, "soft_body": by_soft_body, "cloth": by_cloth}


# ---- what comes of it -----------------------------------------------------------------------------------------------


def triangles_of(ob: Any) -> Any:
    ob.data.calc_loop_triangles()
    return np.array([tuple(one.vertices) for one in ob.data.loop_triangles], np.int32)


def row(name: str, ours: float, yardstick: float, unit: str) -> None:
    print(f"{name},{ours:.6g},{yardstick:g},{unit}", flush=True)


def measure(name: str, engine: str, film: Path | None) -> None:
    scenes.reset_scene()
    bpy.context.scene.render.fps = RATE
    scene = SCENES[name]()
    sides = [triangles_of(ob) for ob in scene.bodies]
    with tempfile.TemporaryDirectory() as folder:
        frames, seconds = BY[engine](scene, Path(folder))
    label = f"contact_{name}" + ("" if engine == "sinew" else f"_{engine}")
    row(label, seconds, scene.yardstick, "s/frame")
    deep = max(float(scene.depth(frame, k + 1).max()) for rows in frames for k, frame in enumerate(rows))
    row(f"{label}_penetration", 100.0 * max(deep, 0.0) / scene.size, 0, "% of size")
    if len(frames) > 1:
        most = 0
        for k in range(0, scene.frames, 3):
            meshes = [(np.ascontiguousarray(rows[k]), side) for rows, side in zip(frames, sides, strict=True)]
            most = max(most, len(find_crossings(meshes, own=False).edges))
        row(f"{label}_crossings", most, 0, "edges at most")
    if name.startswith("friction"):
        went = np.linalg.norm(frames[0][-1].mean(axis=0) - frames[0][-1 - RATE // 2].mean(axis=0))
        row(f"{label}_drift", 100.0 * float(went) / scene.size, 0, "% of size")
    else:  # whether anything came of it: how far the last body has come, along x
        row(f"{label}_travel", float(frames[-1][-1, :, 0].mean() - frames[-1][0, :, 0].mean()), 0, "m")
    if film is not None:
        film.mkdir(parents=True, exist_ok=True)
        np.savez(film / f"{label}.npz", *frames, sides=sides[0])


def main(arguments: list[str]) -> int:
    film = Path(arguments[arguments.index("--film") + 1]) if "--film" in arguments else None
    assert tan(SLOPE * pi / 180.0) < GRIP
    chosen = [name for name in SCENES if name in arguments] or list(SCENES)
    for name in chosen:
        # Bodies of Blender's that look at each other are a cycle of its dependencies: it has no dominoes.
        able = ENGINES[:1] if name in ("domino", "friction_20k") else ENGINES
        for engine in [one for one in able if one in arguments] or able:
            measure(name, engine, film)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
