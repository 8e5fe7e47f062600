"""A small stage that shows an animated object several times side by side: input, result, heat map of added motion.

The stage is a scene of its own: copies of the evaluated mesh stand in a row across an orthographic camera, so every
column is seen from the same side, and nothing of the file's own cameras, lights or render settings matters. Everything
is scaled so that the object's size (diagonal of its bounding box) is 2. Rendered by Workbench: headless, software GL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import radians
from pathlib import Path
from typing import Any

import bpy
import numpy as np

SIZE = 2.0  # of the object on the stage
MODIFIER = "Sinew"
TITLES = {"input": "input", "result": "with Sinew", "heat": "added motion"}
# Linear. The studio light takes a floor's colour down, so these are bright.
SKY = (0.66, 0.76, 0.88)
FLOOR = np.array(((0.86, 0.90, 0.95), (0.98, 1.02, 1.06)))
SHADOW = np.array((0.50, 0.56, 0.66))
INK = np.array((0.004, 0.006, 0.010))
# No motion is grey, the most is crimson. Values as seen on screen.
HEAT = np.array(((0.80, 0.82, 0.85), (0.98, 0.86, 0.38), (0.95, 0.48, 0.16), (0.62, 0.05, 0.18)))
HEAT_AT = (0.0, 0.25, 0.6, 1.0)


def to_linear(color: np.ndarray) -> np.ndarray:
    return np.where(color < 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)


def heat_colors(values: np.ndarray) -> np.ndarray:
    """Linear colours (n,3) of values 0..1."""
    return to_linear(np.stack([np.interp(values, HEAT_AT, HEAT[:, k]) for k in range(3)], axis=-1))


def axes(turn: float, tilt: float) -> np.ndarray:
    """Right, up and towards the camera (3,3) in the world, degrees. turn 0 looks at the front (from -Y), 90 at the left
    side (from +X)."""
    turn, tilt = radians(turn), radians(tilt)
    right = np.array((np.cos(turn), np.sin(turn), 0.0))
    back = np.cos(tilt) * np.array((np.sin(turn), -np.cos(turn), 0.0)) + np.sin(tilt) * np.array((0, 0, 1.0))
    return np.stack([right, np.cross(back, right), back])


@dataclass(frozen=True)
class Frame:
    """World positions (t,3), with our modifier off and on."""

    input: np.ndarray
    result: np.ndarray

    @property
    def added(self) -> np.ndarray:
        return np.linalg.norm(self.result - self.input, axis=1)


def evaluated(ob: Any) -> tuple[Any, np.ndarray]:
    """The evaluated object and its world positions (t,3)."""
    ob.update_tag()
    shown = ob.evaluated_get(bpy.context.evaluated_depsgraph_get())
    flat = np.empty(3 * len(shown.data.vertices), np.float32)
    shown.data.vertices.foreach_get("co", flat)
    matrix = np.array(shown.matrix_world)
    return shown, flat.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def sample(ob: Any, frame: int) -> Frame:
    """Leaves the scene at `frame` and the modifier as it was."""
    bpy.context.scene.frame_set(frame)
    modifier = ob.modifiers.get(MODIFIER)
    if modifier is None:
        place = evaluated(ob)[1]
        return Frame(place, place)
    before = modifier.show_viewport
    try:
        modifier.show_viewport = False
        without = evaluated(ob)[1]
        modifier.show_viewport = True
        return Frame(without, evaluated(ob)[1])
    finally:
        modifier.show_viewport = before
        ob.update_tag()


def surface_colors(mesh: Any) -> np.ndarray:
    """Linear colours (loops,3): the mesh's colour attribute, else its textures and materials."""
    count = len(mesh.loops)
    corner_vertex = np.empty(count, np.int32)
    mesh.loops.foreach_get("vertex_index", corner_vertex)
    painted = mesh.color_attributes.get("Color")
    if painted is not None:
        flat = np.empty(4 * len(painted.data), np.float32)
        painted.data.foreach_get("color", flat)
        colors = flat.reshape(-1, 4)[:, :3]
        return colors[corner_vertex] if painted.domain == "POINT" else colors
    colors = np.full((count, 3), 0.55)
    sizes, index = np.empty(len(mesh.polygons), np.int32), np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_total", sizes)
    mesh.polygons.foreach_get("material_index", index)
    slot = np.repeat(index, sizes)
    for i, material in enumerate(mesh.materials):
        if material is not None:
            colors[slot == i] = material_colors(mesh, material, slot == i)
    return colors


def material_colors(mesh: Any, material: Any, corners: np.ndarray) -> np.ndarray:
    nodes = material.node_tree.nodes if material.use_nodes and material.node_tree else []
    image = next((n.image for n in nodes if n.type == "TEX_IMAGE" and n.image and n.image.size[0]), None)
    if image is not None and mesh.uv_layers:
        uv = np.empty(2 * len(mesh.loops), np.float32)
        mesh.uv_layers[0].data.foreach_get("uv", uv)
        pixels = np.empty(image.size[0] * image.size[1] * image.channels, np.float32)
        image.pixels.foreach_get(pixels)
        pixels = pixels.reshape(image.size[1], image.size[0], image.channels)
        at = (uv.reshape(-1, 2)[corners] % 1.0 * image.size).astype(int)
        return to_linear(pixels[at[:, 1] % image.size[1], at[:, 0] % image.size[0], :3])
    shader = next((n for n in nodes if n.type == "BSDF_PRINCIPLED"), None)
    color = shader.inputs["Base Color"].default_value if shader else material.diffuse_color
    return np.array(color[:3])


def paint(mesh: Any, colors: np.ndarray) -> None:
    """Corner colours (loops,3), linear, as what Workbench shows."""
    attribute = mesh.color_attributes.get("Stage") or mesh.color_attributes.new("Stage", "FLOAT_COLOR", "CORNER")
    flat = np.ones((len(mesh.loops), 4), np.float32)
    flat[:, :3] = colors
    attribute.data.foreach_set("color", flat.ravel())
    index = mesh.color_attributes.find("Stage")
    mesh.color_attributes.active_color_index = index
    mesh.color_attributes.render_color_index = index


class Stage:
    """`columns`: some of "input", "result", "heat". `frames`: what will be shown, for the framing."""

    def __init__(
        self,
        ob: Any,
        frames: Sequence[int],
        columns: Sequence[str],
        *,
        cell: tuple[int, int] = (420, 360),
        turn: float = 52.0,
        tilt: float = 12.0,
        samples: str = "8",
        header: bool = True,
        legend: bool = False,
    ) -> None:
        self.ob, self.columns, self.cell = ob, list(columns), cell
        self.scene = bpy.data.scenes.new("Stage")
        self.owned: list[Any] = []
        self.right, self.up, back = axes(turn, tilt)
        self.look, self.ahead = -back, np.cross((0, 0, 1.0), self.right)
        self._survey(frames)
        self._camera(samples, header, legend)
        self._copies(frames[0])
        self._floor()
        if header:
            for i, name in enumerate(self.columns):
                self.write(TITLES[name], i, self.half_height - 0.62 * self.band, 0.5 * self.band)
        if legend:
            self._legend()

    # -- set-up

    def _survey(self, frames: Sequence[int]) -> None:
        """One pass over the input: size, ground, path of the follow shot, room that a cell needs, largest motion."""
        centers, boxes, floors, sizes, hottest = [], [], [], [], []
        spread = np.stack([self.right, self.up])
        for frame in frames:
            shot = sample(self.ob, frame)
            points = np.concatenate([shot.input, shot.result])
            centers.append(0.5 * (shot.input.min(0) + shot.input.max(0)))
            flat = points @ spread.T
            boxes.append((flat.min(0), flat.max(0)))
            floors.append(shot.input[:, 2].min())
            sizes.append(np.linalg.norm(np.ptp(shot.input, axis=0)))
            hottest.append(np.percentile(shot.added, 99))
        self.size = float(np.median(sizes)) or 1.0
        self.ground = float(np.min(floors))
        self.hottest = max(float(np.max(hottest)), 1e-6 * self.size)
        path = np.array(centers)
        path[:, 2] = self.ground
        steps = np.asarray(frames, float)
        near = np.exp(-0.5 * ((steps[:, None] - steps[None]) / 8.0) ** 2)
        path = near @ path / near.sum(1, keepdims=True)
        self.path = dict(zip(frames, path))
        low = np.min([b[0] - spread @ c for b, c in zip(boxes, path)], axis=0) / self.size * SIZE
        high = np.max([b[1] - spread @ c for b, c in zip(boxes, path)], axis=0) / self.size * SIZE
        self.low, self.high = low - 0.06 * SIZE, high + 0.04 * SIZE

    def _camera(self, samples: str, header: bool, legend: bool) -> None:
        scene, count = self.scene, len(self.columns)
        wide, tall = self.high - self.low
        cell_ratio = self.cell[0] / self.cell[1]
        wide = max(wide, tall * cell_ratio)
        self.pitch = wide
        self.half_height = 0.5 * wide / cell_ratio
        self.band = 0.11 * SIZE if header else 0.0
        self.foot = 0.11 * SIZE if legend else 0.0
        pixels = self.cell[0] / wide
        scene.render.resolution_x = count * self.cell[0]
        extra = int(round((self.band + self.foot) * pixels))
        scene.render.resolution_y = (self.cell[1] + extra + 1) // 2 * 2
        self.half_height = 0.5 * scene.render.resolution_y / pixels
        camera = bpy.data.cameras.new("Stage")
        camera.type = "ORTHO"
        camera.sensor_fit = "HORIZONTAL"
        camera.ortho_scale = count * wide
        camera.clip_start, camera.clip_end = 0.1, 200.0
        self.camera = bpy.data.objects.new("Stage", camera)
        scene.collection.objects.link(self.camera)
        scene.camera = self.camera
        matrix = np.eye(4)
        matrix[:3, :3] = np.stack([self.right, self.up, -self.look], axis=1)
        # What is shown lies between `low` and `high` around the followed place; the header and legend bands go outside.
        self.middle = 0.5 * (self.low + self.high)
        lift = 0.5 * (self.band - self.foot)
        matrix[:3, 3] = self.middle[0] * self.right + (self.middle[1] + lift) * self.up - 50.0 * self.look
        self.camera.matrix_world = _matrix(matrix)
        render = scene.render
        render.engine = "BLENDER_WORKBENCH"
        render.resolution_percentage = 100
        render.image_settings.file_format = "PNG"
        render.image_settings.color_mode = "RGB"
        render.film_transparent = False
        render.dither_intensity = 0.0  # plain grounds make small files
        scene.view_settings.view_transform = "Standard"
        scene.display.render_aa = samples
        shading = scene.display.shading
        shading.light, shading.color_type = "STUDIO", "VERTEX"
        shading.studio_light = "paint.sl"  # soft and bright
        shading.show_cavity, shading.cavity_type = True, "WORLD"
        shading.show_shadows, shading.show_object_outline = False, False
        shading.show_specular_highlight = True
        world = bpy.data.worlds.new("Stage")
        world.color = SKY
        scene.world = world
        self.owned += [world, camera]

    def _add(self, name: str, mesh: Any) -> Any:
        ob = bpy.data.objects.new(name, mesh)
        self.scene.collection.objects.link(ob)
        return ob

    def _copies(self, frame: int) -> None:
        bpy.context.scene.frame_set(frame)
        shown = evaluated(self.ob)[0]
        mesh = bpy.data.meshes.new_from_object(shown)
        self.corner_vertex = np.empty(len(mesh.loops), np.int32)
        mesh.loops.foreach_get("vertex_index", self.corner_vertex)
        paint(mesh, surface_colors(mesh))
        self.meshes, self.shadows = [], []
        for i, name in enumerate(self.columns):
            self.meshes.append(mesh.copy())
            self._add(name, self.meshes[-1]).location = self._offset(i)
            self.shadows.append(mesh.copy())
            self.shadows[-1].polygons.foreach_set("use_smooth", np.zeros(len(mesh.polygons), bool))
            paint(self.shadows[-1], SHADOW)
            self._add(name, self.shadows[-1]).location = self._offset(i)
        bpy.data.meshes.remove(mesh)

    def _offset(self, column: int) -> np.ndarray:
        return (column - 0.5 * (len(self.columns) - 1)) * self.pitch * self.right

    def _floor(self) -> None:
        """Tiles along the camera's axes; a whole number of them a column, so that all columns stand alike."""
        tile = self.pitch / max(2, round(self.pitch / (0.28 * SIZE)))
        across = int(np.ceil(0.5 * len(self.columns) * self.pitch / tile)) + 8
        deep = int(np.ceil(1.1 * SIZE / tile)) + 2
        corners, colors = [], []
        for i in range(-across, across):
            for j in range(-3 * deep, deep):
                for a, b in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)):
                    corners.append(tile * (a * self.right + b * self.ahead))
                    colors.append(FLOOR[(i + j) % 2])
        self.tile = tile
        self.floor_home = np.array(corners) - (0, 0, 0.004)
        faces = np.arange(len(corners)).reshape(-1, 4)
        self.floor = bpy.data.meshes.new("Floor")
        self.floor.from_pydata(self.floor_home.tolist(), [], faces.tolist())
        paint(self.floor, np.array(colors))
        self.floor_object = self._add("Floor", self.floor)

    def write(self, text: str, column: float, height: float, size: float, align: str = "CENTER") -> Any:
        """Text that faces the camera, `height` above the picture's middle, centred on a column."""
        curve = bpy.data.curves.new("Text", "FONT")
        curve.body, curve.size, curve.align_x = text, size, align
        holder = bpy.data.objects.new("Text", curve)
        mesh = holder.to_mesh().copy()
        holder.to_mesh_clear()
        bpy.data.objects.remove(holder)
        bpy.data.curves.remove(curve)
        paint(mesh, INK)
        return self._face_camera(mesh, column, height)

    def _face_camera(self, mesh: Any, column: float, height: float) -> Any:
        ob = self._add("Label", mesh)
        matrix = np.array(self.camera.matrix_world)
        across = (column - 0.5 * (len(self.columns) - 1)) * self.pitch
        matrix[:3, 3] += 30.0 * self.look + across * self.right + height * self.up
        ob.matrix_world = _matrix(matrix)
        return ob

    def _legend(self) -> None:
        column = self.columns.index("heat")
        steps, wide, tall = 24, 0.5 * self.pitch, 0.2 * self.foot
        t = np.linspace(0.0, 1.0, steps + 1)
        x = (t - 0.5) * wide
        points = np.concatenate([np.stack([x, 0 * x, 0 * x], 1), np.stack([x, 0 * x + tall, 0 * x], 1)])
        faces = [(i, i + 1, steps + 2 + i, steps + 1 + i) for i in range(steps)]
        mesh = bpy.data.meshes.new("Legend")
        mesh.from_pydata(points.tolist(), [], faces)
        index = np.empty(len(mesh.loops), np.int32)
        mesh.loops.foreach_get("vertex_index", index)
        paint(mesh, heat_colors(np.tile(t, 2))[index])
        bottom = -self.half_height
        self._face_camera(mesh, column, bottom + 0.68 * self.foot)
        most = f"{100 * self.hottest / self.size:.1f} % of size"
        self.write("0", column - 0.25, bottom + 0.22 * self.foot, 0.34 * self.foot)
        self.write(most, column + 0.25, bottom + 0.22 * self.foot, 0.34 * self.foot)

    # -- use

    def show(self, frame: int) -> Frame:
        """Poses the copies as in that frame."""
        shot = sample(self.ob, frame)
        scale, center = SIZE / self.size, self.path[frame]
        for name, mesh, shadow in zip(self.columns, self.meshes, self.shadows):
            points = (shot.input if name == "input" else shot.result) - center
            points = points * scale
            self._move(mesh, points)
            flat = points - np.outer(points[:, 2], (0.25, -0.15, 1.0))
            self._move(shadow, flat - (0, 0, 0.002))
            if name == "heat":
                warmth = np.clip(shot.added / self.hottest, 0.0, 1.0)
                paint(mesh, heat_colors(warmth)[self.corner_vertex])
        # The floor stays in the world while the camera follows; whole tiles do not show.
        drift = -scale * center
        drift = sum(np.fmod(drift @ axis, 2 * self.tile) * axis for axis in (self.right, self.ahead))
        self.floor_object.location = drift
        return shot

    @staticmethod
    def _move(mesh: Any, points: np.ndarray) -> None:
        mesh.vertices.foreach_set("co", points.astype(np.float32).ravel())
        mesh.update()

    def render(self, path: Path) -> None:
        self.scene.render.filepath = str(path)
        bpy.ops.render.render(write_still=True, scene=self.scene.name)

    def close(self) -> None:
        for ob in list(self.scene.objects):
            data = ob.data
            bpy.data.objects.remove(ob)
            if isinstance(data, bpy.types.Mesh):
                bpy.data.meshes.remove(data)
        for block in self.owned:
            kind = bpy.data.worlds if isinstance(block, bpy.types.World) else bpy.data.cameras
            kind.remove(block)
        bpy.data.scenes.remove(self.scene)


def _matrix(values: np.ndarray) -> Any:
    from mathutils import Matrix

    return Matrix(values.tolist())
