"""Bodies that touch: each scene as its animation has it, baked without collisions, and with them.

    python examples/collisions.py SCENE OUT.png [--film FOLDER]

Scenes: ears, belly, ball, walk, pile, cheek. Columns are frames; the rows are the animation, the bake without
collisions and the bake with them. `--film` also writes every frame of the three side by side.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi, sin
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "addon")]

import bpy  # noqa: E402
import close_up  # noqa: E402
import head_mesh  # noqa: E402
import numpy as np  # noqa: E402
import pictures  # noqa: E402
import scenes  # noqa: E402
import shapes  # noqa: E402
from building import add_colors, add_mesh, move_keys, set_frames  # noqa: E402

SKIN, FLOOR, RED = (0.62, 0.40, 0.33), (0.55, 0.60, 0.66), (0.70, 0.10, 0.08)


@dataclass
class Scene:
    """Bodies that are baked together, by name, each with its settings; frames that a picture shows."""

    bodies: dict[str, dict[str, Any]]
    shown: list[int]
    camera: tuple[float, float, float]
    aim: tuple[float, float, float]
    lens: float = 50.0
    size: tuple[int, int] = (300, 240)


# ---- scenes ---------------------------------------------------------------------------------------------------------


def ears() -> Scene:
    """The calf shakes its head in a jump: its ears are thrown against the head, and through it."""
    ob = scenes.build_character()
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 76, 112
    values = {"jiggle": 1.4, "settle": 1.2, "keep_pose": 0.3, "resolution": 30, "preroll": 4}
    return Scene({ob.name: values}, [82, 86, 90, 96, 104], (3.0, -4.2, 1.9), (0.0, -0.6, 1.1), 50.0)


def belly() -> Scene:
    """A seal flops on its belly: the animation lets it sink into the floor."""
    set_frames(1, 44)
    lines = [shapes.mirrored_lines(0.5, 0.036), np.arange(-1.0, 1.0, 0.036), np.arange(-0.5, 0.9, 0.036)]

    def distance(p: np.ndarray) -> np.ndarray:
        m = np.concatenate([np.abs(p[..., :1]), p[..., 1:]], axis=-1)
        body = shapes.chain(p, [(0.0, 0.85, 0.02, 0.06), (0.0, 0.35, 0.05, 0.24), (0.0, -0.15, 0.1, 0.34),
                                (0.0, -0.5, 0.32, 0.22), (0.0, -0.62, 0.55, 0.17)])  # fmt: skip
        body = shapes.blend(body, shapes.ellipsoid(p, (0.0, -0.77, 0.52), (0.1, 0.1, 0.08)), 0.06)
        fin = shapes.round_cone(m, (0.28, -0.25, 0.0, 0.07), (0.42, -0.2, -0.06, 0.045))
        return shapes.blend(body, fin, 0.08)

    vertices, faces = shapes.surface_nets(distance, lines)
    vertices = shapes.even_out(distance, vertices, faces, 6, 0.036)
    ob = add_mesh("Seal", vertices, faces)
    shade = np.clip(0.5 + 0.9 * (vertices[:, 2:] - 0.1), 0.25, 1.0)
    add_colors(ob, "Color", shade * np.array((0.40, 0.46, 0.55)) + 0.06)
    held = np.clip((vertices[:, 2] - 0.12) / 0.25, 0.0, 1.0)
    ob.vertex_groups.new(name="follow")
    for index, weight in enumerate(held):
        ob.vertex_groups["follow"].add([index], float(weight), "REPLACE")
    move_keys(ob, {1: (0.0, 0.0, 0.75), 9: (0.0, -0.1, 0.14), 26: (0.0, -0.1, 0.14), 32: (0.0, -0.15, 0.32),
                   38: (0.0, -0.2, 0.14)})  # fmt: skip
    floor()
    values = {"follow_group": "follow", "jiggle": 2.5, "settle": 0.8, "bone_core": 0.0, "resolution": 16}
    camera, aim = (2.6, -1.7, 0.5), (0.0, -0.1, 0.36)
    return Scene({ob.name: {**values, "ground": True}}, [5, 9, 11, 24], camera, aim, 50.0)


def ball() -> Scene:
    """A soft ball is thrown at the standing calf: both give way."""
    ob = scenes.build_character()
    set_frames(1, 12)
    ob.parent.animation_data_clear()
    bpy.context.view_layer.update()
    middle = middle_of(ob)
    thrown = add_ball(middle + (1.2, 0.15, 0.05))
    floor()
    bodies = {ob.name: SOFT, thrown.name: {**THROWN, "initial_velocity": (-7.0, 0.0, 1.0)}}
    camera = tuple(middle + (2.6, -2.85, 0.7))
    return Scene(bodies, [2, 5, 6, 8], camera, tuple(middle + (0.25, 0.15, 0.0)), 50.0)


def walk() -> Scene:
    """A soft ball is thrown at the walking calf."""
    ob = scenes.build_character()
    set_frames(1, 28)
    bpy.context.scene.frame_set(11)
    middle, time_of_flight, speed = middle_of(ob), 10 / 24, 6.0
    bpy.context.scene.frame_set(1)
    thrown = add_ball(middle + (speed * time_of_flight + 0.5, 0.1, 0.0))
    floor()
    velocity = (-speed, 0.0, 0.5 * 9.81 * time_of_flight)
    bodies = {ob.name: SOFT, thrown.name: {**THROWN, "initial_velocity": velocity}}
    camera, aim = tuple(middle + (3.4, -2.6, 0.7)), tuple(middle + (0.3, 0.0, -0.1))
    return Scene(bodies, [8, 11, 13, 15, 20], camera, aim, 50.0)


SOFT = {"jiggle": 2.0, "settle": 0.9, "ground": True, "resolution": 16}
THROWN = {"free_body": True, "jiggle": 5.0, "ground": True, "density": 400.0, "resolution": 6}


def middle_of(ob: Any) -> np.ndarray:
    """Of its box, as it is posed."""
    mesh = ob.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    places = np.array([tuple(ob.matrix_world @ vertex.co) for vertex in mesh.vertices])
    return 0.5 * (places.min(axis=0) + places.max(axis=0))


def add_ball(place: Any) -> Any:
    vertices, faces = scenes.ball_mesh(0.2, 8)
    thrown = add_mesh("Ball", vertices + place, faces)
    add_colors(thrown, "Color", np.where(np.abs(vertices[:, 2:]) < 0.06, np.array((0.9, 0.85, 0.8)), np.array(RED)))
    return thrown


def pile() -> Scene:
    """Twenty soft bodies fall on a heap."""
    set_frames(1, 36)
    rng = np.random.default_rng(4)
    bodies = {}
    for number in range(20):
        round_one = number % 2 == 0
        vertices, faces = scenes.ball_mesh(0.19, 5) if round_one else scenes.box_mesh((0.32, 0.32, 0.32), 4)
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        turn *= np.sign(np.linalg.det(turn))
        layer, place = divmod(number, 4)
        angle = pi / 2 * place + 0.6 * layer
        centre = (0.26 * cos(angle), 0.26 * sin(angle), 0.45 + 0.55 * layer)
        ob = add_mesh(f"Body{number:02d}", (vertices - vertices.mean(axis=0)) @ turn.T + centre, faces)
        hue = number / 20
        color = 0.5 + 0.4 * np.cos(2 * pi * (hue + np.array((0.0, 0.33, 0.67))))
        add_colors(ob, "Color", np.tile(color**2, (len(vertices), 1)))
        bodies[ob.name] = {"free_body": True, "jiggle": 7.0, "settle": 0.5, "ground": True, "resolution": 4}
    floor()
    return Scene(bodies, [1, 14, 22, 32], (3.2, -3.6, 2.1), (0.0, 0.0, 0.62), 45.0)


def cheek() -> Scene:
    """A finger presses the cheek of a head, and lets go."""
    set_frames(1, 40)
    head = head_mesh.build_head(0.006)
    ob = add_mesh("Head", head.vertices, head.faces)
    colors = {"skin": SKIN, "eye": (0.9, 0.9, 0.9), "upper teeth": (0.9, 0.88, 0.8), "lower teeth": (0.9, 0.88, 0.8)}
    add_colors(ob, "Color", np.array([colors.get(part, RED) for part in head.part]))
    point = np.array((0.062, -0.072, -0.038))
    near = np.exp(-(((head.vertices - point) / 0.045) ** 2).sum(axis=1))
    group = ob.vertex_groups.new(name="follow")
    for index, weight in enumerate(np.where(head.part == "skin", np.clip(1.6 - 2.2 * near, 0.0, 1.0), 1.0)):
        group.add([index], float(weight), "REPLACE")
    way = np.array((0.75, -0.62, 0.1)) / np.linalg.norm((0.75, -0.62, 0.1))
    vertices, faces = scenes.tube_mesh(0.12, 0.011, 14, 16)
    along = vertices[:, :1]
    radius = np.sqrt(np.clip(1.0 - ((0.011 - along) / 0.011).clip(0.0, 1.0) ** 2, 0.02, 1.0))
    vertices = np.concatenate([along, vertices[:, 1:] * radius], axis=1) @ np.linalg.qr(
        np.stack([way, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)], axis=1)
    )[0].T * np.sign(1.0)
    if vertices[-1] @ way < 0.0:
        vertices = -vertices
        faces = [tuple(reversed(face)) for face in faces]
    finger = add_mesh("Finger", vertices, faces)
    add_colors(finger, "Color", np.tile((0.75, 0.52, 0.42), (len(vertices), 1)))
    finger.modifiers.new("Collision", "COLLISION")
    bpy.context.view_layer.update()
    finger.collision.thickness_outer = 0.001
    move_keys(finger, {f: tuple(point + d * way) for f, d in {1: 0.05, 12: -0.014, 24: -0.014, 32: 0.05}.items()})
    values = {"follow_group": "follow", "jiggle": 4.0, "bone_core": 0.0, "resolution": 30, "settle": 0.5}
    return Scene({ob.name: values}, [5, 12, 20, 31], (0.34, -0.62, 0.06), (0.015, -0.02, -0.03), 75.0)


def floor() -> None:
    ground = np.array([(-8, -8, 0), (8, -8, 0), (8, 8, 0), (-8, 8, 0)], float)
    add_colors(add_mesh("Floor", ground, [(0, 1, 2, 3)], smooth=False), "Color", np.tile(FLOOR, (4, 1)))


SCENES: dict[str, Callable[[], Scene]] = {
    "ears": ears, "belly": belly, "ball": ball, "walk": walk, "pile": pile, "cheek": cheek,
}  # fmt: skip


# ---- pictures -------------------------------------------------------------------------------------------------------


def light(made: Scene) -> None:
    scene = bpy.context.scene
    camera = bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera"))
    target = bpy.data.objects.new("Aim", None)
    for new in (camera, target):
        scene.collection.objects.link(new)
    camera.location, target.location, camera.data.lens = made.camera, made.aim, made.lens
    camera.data.clip_start = 0.01
    camera.constraints.new("TRACK_TO").target = target
    scene.camera = camera
    scene.render.engine = "BLENDER_WORKBENCH"
    scene.render.resolution_x, scene.render.resolution_y = made.size
    scene.display.shading.color_type, scene.display.shading.light = "VERTEX", "STUDIO"
    scene.display.shading.studio_light = "paint.sl"
    scene.display.shading.show_cavity = True
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.color = (0.66, 0.76, 0.88)
    scene.view_settings.view_transform = "Standard"
    scene.render.dither_intensity = 0.0


def shown(made: Scene, results: bool) -> None:
    for name in made.bodies:
        modifier = bpy.data.objects[name].modifiers.get("Sinew")
        if modifier is not None:
            modifier.show_viewport = modifier.show_render = results


def bake(made: Scene, blend: Path, collide: bool) -> None:
    from sinew import setups

    start = time.monotonic()
    wanted = [setups.Wanted(name, {**values, "collide": collide}) for name, values in made.bodies.items()]
    outcomes = setups.bake_objects(wanted, setups.Target(blend))
    frames = bpy.context.scene.frame_end - bpy.context.scene.frame_start + 1
    print(f"collide {collide}: {(time.monotonic() - start) / frames:.2f} s a frame")
    for outcome in outcomes if collide else ():
        print(f"  {outcome.report['object']}:", *outcome.report["warnings"], sep="\n    ")


def main(arguments: list[str]) -> int:
    if len(arguments) < 2 or arguments[0] not in SCENES:
        print(__doc__)
        return 2
    scenes.reset_scene()
    made = SCENES[arguments[0]]()
    light(made)
    film = Path(arguments[arguments.index("--film") + 1]) if "--film" in arguments else None
    first, last = bpy.context.scene.frame_start, bpy.context.scene.frame_end
    rows, films = [], []
    with tempfile.TemporaryDirectory() as folder:
        blend, cell = Path(folder) / "scene.blend", Path(folder) / "cell.png"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        for title, collide in (("animation", None), ("without collisions", False), ("with collisions", True)):
            if collide is not None:
                bake(made, blend, collide)
            shown(made, collide is not None)
            told = {frame: title if frame == made.shown[0] else f"{frame}" for frame in made.shown}
            rows.append(np.concatenate([close_up.render(frame, cell, told[frame]) for frame in made.shown], axis=1))
            if film is not None:
                films.append([close_up.render(frame, cell, title) for frame in range(first, last + 1)])
        pictures.write_picture(Path(arguments[1]).resolve(), np.concatenate(rows))
        for number, three in enumerate(zip(*films, strict=True)):
            pictures.write_picture(film.resolve() / f"{number:04d}.png", np.concatenate(three, axis=1))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
