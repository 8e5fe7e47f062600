"""Cloth in figures: `PYTHONPATH=addon:examples:tests/core build/env/45/bin/python tests/benchmark/cloth.py [NAME...]`,
one row a line: name, ours, what it is measured against (0: nothing), unit. Names: materials, drape, large, tracks,
clusters, skirt; none is all. With OMP_NUM_THREADS=1 seconds are those of the processor.

`bending_*` and `drape_*`: materials in the two tests of a laboratory (tests/core/fabric_lab.py), against the bending
length of their stiffness and weight, and the drape coefficient that was measured of such a fabric, where one is known.
`drape_441`, `drape_1681`: a sheet over a ball, with friction, 60 frames a second. `tracks_*`: the sizes of the paper's
four examples, with contact. Their overhead is that over the same cloth which is drawn to its guide vertex by vertex and
has no averages. `skirt_*`: one skirt in Sinew and in Blender's own Cloth (rows *_blender), pinned at its waist by both,
of one weight."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Any

import fabric_lab
import numpy as np
from bodies import sphere
from sinew.core.bake.contact import Collided
from sinew.core.bake.obstacles import gather
from sinew.core.geometry.crossings import find_crossings
from sinew.core.methods import presets
from sinew.core.methods.tracks.cloth import Acting, Cloth
from sinew.core.methods.tracks.guide import Averages, find_regions, make_averages
from sinew.core.methods.tracks.settings import Settings

CLOCK = time.process_time if os.environ.get("OMP_NUM_THREADS") == "1" else time.perf_counter
# Drape coefficients in per cent: Matsudaira et al. 2015 (a cotton broadcloth and, for silk, a polyester faille), Memon
# et al. 2021 (the stiffest of their sheep leathers); see presets/.
DRAPES = {"cotton": 82.9, "silk": 28.3, "leather": 69.9}
# Seconds a frame that are asked for; the paper's were 17.7, 15.8, 16.1 and 43.2.
ASKED = {"35": 0.3, "8": 0.3, "88": 0.3, "3038": 1.0}
OVERHEAD, RESIDUAL, CLUSTERS, LARGE = 15.0, 1e-10, 1.0, 2.0
Scene = tuple[Any, Any, Averages, list[Any]]  # rest, triangles, averages, frames


def row(name: str, ours: float, yardstick: float, unit: str) -> None:
    print(f"{name},{ours:.6g},{yardstick:g},{unit}", flush=True)


def materials() -> None:
    for name, preset in presets.load_all().items():
        if preset.method == "tracks":
            expected = 1e3 * fabric_lab.expected_length(preset.values)
            row(f"bending_{name}", 1e3 * fabric_lab.bending_length(preset.values), expected, "mm")
            coefficient, _ = fabric_lab.drape_coefficient(preset.values)
            row(f"drape_{name}", coefficient, DRAPES.get(name, 0.0), "%")


# A sheet over a ball.


def grid(columns: int, rows: int, size: tuple[float, float]) -> tuple[Any, Any]:
    """So many vertices each way, in the plane around 0; quads cut in turn one way and the other."""
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, columns), np.linspace(-0.5, 0.5, rows), indexing="ij")
    rest = np.stack([size[0] * x, size[1] * y, 0.0 * x], axis=2).reshape(-1, 3)
    sides = []
    for i in range(columns - 1):
        for j in range(rows - 1):
            a, b = i * rows + j, (i + 1) * rows + j
            one_way = [(a, b, b + 1), (a, b + 1, a + 1)], [(a, b, a + 1), (a + 1, b, b + 1)]
            sides += one_way[(i + j) % 2]
    return rest, np.array(sides, np.int32)


class Ball:
    """What lies under a sheet, as an obstacle that stands still."""

    name, thickness, friction = "ball", 0.0, None

    def __init__(self, radius: float, height: float) -> None:
        points, self.triangles = sphere(24, 36, (radius, radius, radius))
        self.shape = (points + (0.0, 0.0, height)).astype(np.float32)
        self.vertices = len(points)


def over_ball(side: int, frames: int, rate: float) -> tuple[list[float], int]:
    """Seconds of each frame, and how many edges cross a triangle in all that are looked at."""
    rest, sides = grid(side, side, (1.0, 1.0))
    settings = Settings().replace({"collide": True, "calm": 2.0})
    cloth = Cloth(rest, sides, np.zeros(len(rest)), settings, rate, averages=make_averages(rest, sides))
    ball = Ball(0.25, -0.27)
    end = (np.eye(4), None)
    cloth.collide(Collided(obstacles=gather([ball])), end)
    state, acting, seconds, crossing = cloth.begin(rest), Acting(ends=(end, end)), [], 0
    for frame in range(frames):
        begin = CLOCK()
        state, _ = cloth.advance(state, (rest, rest, rest, rest), acting)
        seconds.append(CLOCK() - begin)
        if frame % 6 == 5:
            crossing += len(find_crossings([(state.positions, sides), (ball.shape, ball.triangles)]).edges)
    return seconds, crossing


def drapes() -> None:
    crossing = 0
    for side, asked in ((21, 0.02), (41, 0.08)):
        seconds, crossed = over_ball(side, 60, 60.0)
        crossing += crossed
        row(f"drape_{side * side}", float(np.mean(seconds)), asked, "s/frame")
    row("drape_intersections", crossing, 0, "")


def large() -> None:
    seconds, crossing = over_ball(141, 10, 24.0)
    row("cloth_20k", float(np.mean(seconds)), LARGE, "s/frame")
    row("cloth_20k_intersections", crossing, 0, "")


# The sizes of the paper's examples.


def coarse_sheet() -> Scene:
    """65 x 25 vertices after a guide of 7 x 5 that waves and travels; four painted regions."""
    rest, sides = grid(65, 25, (1.6, 0.6))
    quarter = np.clip(0.5 + rest[:, 0] / 0.4, 0.0, 1.0), np.clip(0.5 + rest[:, 1] / 0.2, 0.0, 1.0)
    painted = [a * b for a in (quarter[0], 1.0 - quarter[0]) for b in (quarter[1], 1.0 - quarter[1])]
    corners, _ = grid(7, 5, (1.6, 0.6))
    weights = _bilinear(rest, (7, 5), (1.6, 0.6))

    def at(t: float) -> Any:
        lift = 0.12 * np.sin(4.0 * t + 4.0 * corners[:, 0]) + 0.06 * np.cos(6.0 * t + 9.0 * corners[:, 1])
        moved = corners + np.stack([0.1 * np.sin(3.0 * t) + 0.0 * lift, 0.0 * lift, lift], axis=1)
        return weights @ moved

    return rest, sides, make_averages(rest, sides, None, _named(painted)), [at(k / 24.0) for k in range(26)]


def _named(painted: Any) -> dict[str, Any]:
    return {str(number): weights for number, weights in enumerate(painted)}


def _bilinear(points: Any, counts: tuple[int, int], size: tuple[float, float]) -> Any:
    """(t, n) of each point on a grid of so many vertices."""
    hats = []
    for a in (0, 1):
        place = (points[:, a] / size[a] + 0.5) * (counts[a] - 1)
        hats.append(np.maximum(0.0, 1.0 - np.abs(place[:, None] - np.arange(counts[a]))))
    return np.einsum("ti,tj->tij", *hats).reshape(len(points), -1)


def twisted_box() -> Scene:
    """1538 vertices; the eight corners are the guide, whose hats are the averages."""
    cuts = 16
    keys: dict[tuple[int, ...], int] = {}
    sides: list[tuple[int, int, int]] = []
    for axis in range(3):
        for end in (0, cuts):
            for i in range(cuts):
                for j in range(cuts):
                    around = ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1))
                    quad = [keys.setdefault(tuple(np.insert(uv, axis, end).tolist()), len(keys)) for uv in around]
                    out = quad if (end > 0) == (axis != 1) else quad[::-1]
                    sides += [(out[0], out[1], out[2]), (out[0], out[2], out[3])]
    unit = np.array(list(keys), float) / cuts
    rest = 0.4 * (unit - 0.5)
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    hats = np.prod(1.0 - np.abs(unit[:, None, :] - corners[None, :, :]), axis=2)

    def at(t: float) -> Any:
        angle = 1.2 * np.sin(3.0 * t) * corners[:, 2]
        c, s = np.cos(angle), np.sin(angle)
        x, y, z = (0.4 * (corners - 0.5)).T
        return hats @ np.stack([c * x - s * y + 0.1 * np.sin(4.0 * t), s * x + c * y, z], axis=1)

    triangles = np.array(sides, np.int32)
    return rest, triangles, make_averages(rest, triangles, None, _named(hats.T)), [at(k / 24.0) for k in range(26)]


def swung_bag() -> Scene:
    """1297 vertices, open above, with 88 averages; it is swung and turned."""
    rings, around = 36, 36
    a = 2.0 * np.pi * np.arange(around) / around
    points = [(0.0, 0.0, -0.45)]
    for k in range(1, rings + 1):
        part = k / rings
        radius, height = 0.2 * np.sin(0.5 * np.pi * min(1.0, 2.0 * part)), -0.45 + 0.45 * part**1.5
        points += [(radius * np.cos(b), radius * np.sin(b), height) for b in a]
    sides = [(0, 1 + (j + 1) % around, 1 + j) for j in range(around)]
    for k in range(rings - 1):
        for j in range(around):
            p, q = 1 + k * around + j, 1 + k * around + (j + 1) % around
            sides += [(p, q, q + around), (p, q + around, p + around)]
    rest, triangles = np.array(points), np.array(sides, np.int32)
    frames = [_swung(rest, k / 24.0) for k in range(26)]
    return rest, triangles, make_averages(rest, triangles, find_regions(frames[::3], triangles, 88, 0.5)), frames


def _swung(rest: Any, t: float) -> Any:
    angle = 0.7 * np.sin(4.0 * t)
    c, s = np.cos(angle), np.sin(angle)
    x, y, z = rest.T
    return np.stack([c * x + s * z + 0.2 * np.sin(4.0 * t), y, c * z - s * x], axis=1)


def walking_x() -> Scene:
    """3038 vertices with two arms and two legs, 200 averages; it waves them."""
    unit, triangles = sphere(44, 69, (1.0, 1.0, 1.0))
    x, y, z = unit.T
    across = np.hypot(x, z)
    arms = np.abs(2.0 * x * z / np.maximum(across**2, 1e-9)) ** 3 * across**2
    rest = unit * (0.22 + 0.6 * arms)[:, None] * (1.0, 0.5, 1.0)
    frames = []
    for k in range(26):
        x, y, z = rest.T
        turn = 0.5 * np.sin(5.0 * k / 24.0) * np.clip(np.abs(z) / 0.5, 0.0, 1.0) * np.sign(x * z)
        c, s = np.cos(turn), np.sin(turn)
        frames.append(np.stack([x + 0.02 * k, c * y - s * z, s * y + c * z], axis=1))
    return rest, triangles, make_averages(rest, triangles, find_regions(frames[::3], triangles, 200, 0.5)), frames


SCENES: dict[str, Callable[[], Scene]] = {"35": coarse_sheet, "8": twisted_box, "88": swung_bag, "3038": walking_x}


def play(scene: Scene, averaged: bool = True) -> tuple[float, float, int]:
    """Seconds a frame, the largest residual in sizes, and crossing edges in the frames that are looked at."""
    rest, sides, rows, frames = scene
    settings = Settings().replace({"collide": True, "real_size": 1.0})
    kept = rows if averaged else make_averages(rest, sides)
    follow = np.full(len(rest), 0.0 if averaged else 0.3)
    cloth = Cloth(rest, sides, follow, settings, 24.0, averages=kept)
    cloth.collide(Collided(), (None, None))
    acting = Acting(ends=((None, None), (None, None)))
    state, seconds, off, crossing = cloth.begin(frames[0], frames[1]), [], 0.0, 0
    for k in range(1, len(frames) - 1):
        begin = CLOCK()
        state, step = cloth.advance(state, (frames[max(k - 2, 0)], *frames[k - 1 : k + 2]), acting)
        seconds.append(CLOCK() - begin)
        off = max(off, step.residual / cloth.size)
        crossing += len(find_crossings([(state.positions, sides)]).edges) if k % 4 == 0 else 0
    return float(np.mean(seconds)), off, crossing


def tracks() -> None:
    crossing, residual = 0, 0.0
    for name, build in SCENES.items():
        scene = build()
        seconds, off, crossed = play(scene)
        without, _, _ = play(scene, averaged=False)
        residual, crossing = max(residual, off), crossing + crossed
        row(f"tracks_{name}", seconds, ASKED[name], "s/frame")
        row(f"tracks_overhead_{name}", 100.0 * (seconds / without - 1.0), OVERHEAD, "%")
    row("tracks_residual", residual, RESIDUAL, "of size")
    row("cloth_intersections", crossing, 0, "")


def clusters() -> None:
    rest, triangles, _, frames = walking_x()
    begin = CLOCK()
    find_regions(frames[::2], triangles, 200, 0.5)
    row("tracks_clusters_s", CLOCK() - begin, CLUSTERS, "s")


# One skirt in Sinew and in Blender.

SKIRT_FRAMES = 48


def skirts() -> None:
    import tempfile
    from pathlib import Path

    import bpy
    import clothes
    from scenes import reset_scene
    from sinew import setups

    reset_scene()
    body, skirt = clothes.build_dancer(SKIRT_FRAMES)
    body_sides = _triangles(body)
    sides = _triangles(skirt)
    animated, bodies = _films(skirt, body)
    with tempfile.TemporaryDirectory() as folder:
        blend = Path(folder) / "dancer.blend"
        bpy.ops.wm.save_as_mainfile(filepath=str(blend))
        begin = CLOCK()
        setups.bake_object(skirt.name, {}, setups.Target(blend), method="tracks")
        seconds = (CLOCK() - begin) / SKIRT_FRAMES
        ours, _ = _films(skirt, body)
    _tell_skirt("", seconds, animated, ours, bodies, sides, body_sides)

    reset_scene()
    body, skirt = clothes.build_dancer(SKIRT_FRAMES)
    body.modifiers.new("Collision", "COLLISION")
    top = np.abs(animated[0][:, 2] - animated[0][:, 2].max()) < 1e-6
    pins = skirt.vertex_groups.new(name="Pins")
    pins.add([int(v) for v in np.flatnonzero(top)], 1.0, "REPLACE")
    cloth = skirt.modifiers.new("Cloth", "CLOTH")
    area = sum(face.area for face in skirt.data.polygons)
    cloth.settings.vertex_group_mass = pins.name
    cloth.settings.mass = Settings().weight * area / len(skirt.data.vertices)  # of one vertex
    cloth.collision_settings.use_self_collision = True
    cloth.point_cache.frame_start, cloth.point_cache.frame_end = 1, SKIRT_FRAMES
    begin = CLOCK()
    theirs, bodies = _films(skirt, body)
    _tell_skirt("_blender", (CLOCK() - begin) / SKIRT_FRAMES, animated, theirs, bodies, sides, body_sides)


def _triangles(ob: Any) -> Any:
    ob.data.calc_loop_triangles()
    return np.array([triangle.vertices for triangle in ob.data.loop_triangles], np.int32)


def _films(*objects: Any) -> list[list[Any]]:
    """World positions of the vertices of each object on all frames."""
    import bpy

    films: list[list[Any]] = [[] for _ in objects]
    for frame in range(1, SKIRT_FRAMES + 1):
        bpy.context.scene.frame_set(frame)
        graph = bpy.context.evaluated_depsgraph_get()
        for film, ob in zip(films, objects, strict=True):
            shown = ob.evaluated_get(graph)
            flat = np.empty(3 * len(shown.data.vertices), np.float32)
            shown.data.vertices.foreach_get("co", flat)
            matrix = np.array(shown.matrix_world)
            film.append(flat.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3])
    return films


def _tell_skirt(suffix: str, seconds: float, animated: Any, shown: Any, bodies: Any, sides: Any, around: Any) -> None:
    edges = np.unique(np.sort(np.concatenate([sides[:, [0, 1]], sides[:, [1, 2]], sides[:, [2, 0]]]), axis=1), axis=0)

    def lengths(film: Any) -> Any:
        return np.linalg.norm(film[:, edges[:, 0]] - film[:, edges[:, 1]], axis=2)

    films = np.array(shown), np.array(animated)
    stretch = lengths(films[0]) / lengths(films[1])
    crossing = sum(
        len(find_crossings([(cloth, sides), (body, around)]).edges)
        for cloth, body in zip(shown[::4], bodies[::4], strict=True)
    )
    own = sum(len(find_crossings([(body, around)]).edges) for body in bodies[::4])  # what the body does to itself
    drift = np.linalg.norm(films[0].mean(axis=1) - films[1].mean(axis=1), axis=1)
    row(f"skirt_s{suffix}", seconds, 0, "s/frame")
    row(f"skirt_stretch{suffix}", 100.0 * (np.quantile(stretch, 0.99) - 1.0), 0, "% at most on 99 of 100 edges")
    row(f"skirt_intersections{suffix}", crossing - own, 0, "edges on every fourth frame")
    row(f"skirt_drift{suffix}", 1e3 * float(drift.max()), 0, "mm of its middle from the animation")


PARTS = {
    "materials": materials,
    "drape": drapes,
    "large": large,
    "tracks": tracks,
    "clusters": clusters,
    "skirt": skirts,
}


def main(names: list[str]) -> None:
    for name in names or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
