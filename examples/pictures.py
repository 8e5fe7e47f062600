"""Pictures of a bake: contact sheets, single pictures, films. Input beside result beside a heat map of added motion.

Works headless in Blender 3.4 and later on any object whose Sinew modifier plays a bake (without one, input and result
are the same). From the command line, on a saved file:

    python pictures.py FILE.blend OBJECT OUT.png [frame ...]
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from moving_picture import write_moving_picture
from stage import Stage


def contact_sheet(
    ob: Any,
    frames: Sequence[int],
    path: Path,
    *,
    columns: Sequence[str] = ("input", "result", "heat"),
    cell: tuple[int, int] = (420, 340),
    turn: float = 52.0,
    across: int = 1,
) -> dict[str, float]:
    """Chosen frames, `across` of them in a row. Returns their added motion as fractions of size: largest and rms."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    rows, added, size = [], [], 1.0
    with tempfile.TemporaryDirectory() as folder:
        # The first row carries the titles, the last one the legend.
        kinds = ((True, False), (False, False), (False, True)) if len(frames) > across else ((True, True),)
        last_row = (len(frames) - 1) // across
        stages = [
            Stage(ob, frames, columns, cell=cell, turn=turn, header=first, legend=last and "heat" in columns)
            for first, last in kinds
        ]
        for i, frame in enumerate(frames):
            row = i // across
            stage = stages[0 if row == 0 else -1 if row == last_row else 1]
            size = stage.size
            added.append(stage.show(frame).added / size)
            label = stage.write(f"frame {frame}", -0.47, stage.half_height - stage.band - 0.16, 0.12, "LEFT")
            picture = Path(folder) / f"row{i}.png"
            stage.render(picture)
            bpy.data.objects.remove(label)
            rows.append(read_picture(picture))
        for stage in stages:
            stage.close()
    rows += [np.ones_like(rows[-1])] * (-len(rows) % across)
    lines = [np.concatenate(rows[i : i + across], axis=1) for i in range(0, len(rows), across)]
    write_picture(path, np.concatenate(lines))
    everything = np.concatenate(added)
    return {"largest": float(everything.max()), "rms": float(np.sqrt((everything**2).mean()))}


def film(
    ob: Any,
    frames: Sequence[int],
    path: Path,
    *,
    columns: Sequence[str] = ("input", "result"),
    cell: tuple[int, int] = (480, 420),
    turn: float = 52.0,
    samples: str = "FXAA",
) -> None:
    """An H.264 .mp4 at the scene's rate."""
    path = Path(path).resolve()
    render = bpy.context.scene.render
    rate = (render.fps, render.fps_base)
    stage = Stage(ob, frames, columns, cell=cell, turn=turn, samples=samples)
    with tempfile.TemporaryDirectory() as folder:
        stage.scene.render.image_settings.compression = 5
        for i, frame in enumerate(frames):
            stage.show(frame)
            stage.render(Path(folder) / f"{i:05d}.png")
        size = (stage.scene.render.resolution_x, stage.scene.render.resolution_y)
        stage.close()
        encode(Path(folder), len(frames), size, rate, path)


def moving_picture(
    ob: Any,
    frames: Sequence[int],
    path: Path,
    *,
    columns: Sequence[str] = ("input", "result"),
    cell: tuple[int, int] = (320, 300),
    turn: float = 52.0,
) -> None:
    """An animated PNG for a page, at the rate of the scene if `frames` are all of them, else at a fraction of it."""
    render = bpy.context.scene.render
    stage = Stage(ob, frames, columns, cell=cell, turn=turn, samples="FXAA")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for frame in frames:
            stage.show(frame)
            stage.render(Path(folder) / "frame.png")
            rows.append(read_picture(Path(folder) / "frame.png")[..., :3])
    stage.close()
    rate = render.fps / render.fps_base / max(1, frames[1] - frames[0] if len(frames) > 1 else 1)
    write_moving_picture(path, rows, rate)


def encode(folder: Path, count: int, size: tuple[int, int], rate: tuple[int, float], path: Path) -> None:
    """Numbered .png files to .mp4, by Blender's own encoder."""
    scene = bpy.data.scenes.new("Encode")
    editor = scene.sequence_editor_create()
    strips = editor.strips if hasattr(editor, "strips") else editor.sequences  # renamed in 4.4
    strip = strips.new_image("frames", str(folder / "00000.png"), 1, 1)
    for i in range(1, count):
        strip.elements.append(f"{i:05d}.png")
    strip.frame_final_duration = count
    scene.frame_start, scene.frame_end = 1, count
    render = scene.render
    render.fps, render.fps_base = rate
    render.resolution_x, render.resolution_y, render.resolution_percentage = *size, 100
    render.use_sequencer = True
    scene.view_settings.view_transform = "Standard"
    if hasattr(render.image_settings, "media_type"):  # 5.0
        render.image_settings.media_type = "VIDEO"
    render.image_settings.file_format = "FFMPEG"
    render.ffmpeg.format, render.ffmpeg.codec = "MPEG4", "H264"
    render.ffmpeg.constant_rate_factor, render.ffmpeg.gopsize = "HIGH", 12
    written = folder / "film.mp4"
    render.filepath, render.use_file_extension = str(written), True
    bpy.ops.render.render(animation=True, scene=scene.name)
    bpy.data.scenes.remove(scene)
    found = sorted(folder.glob("film*.mp4"))
    path.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(str(found[0]), str(path))


def read_picture(path: Path) -> np.ndarray:
    """(height, width, 4), top row first, values as stored."""
    image = bpy.data.images.load(str(path))
    flat = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(flat)
    out = flat.reshape(image.size[1], image.size[0], 4)[::-1]
    bpy.data.images.remove(image)
    return out


def write_picture(path: Path, pixels: np.ndarray) -> None:
    image = bpy.data.images.new("picture", pixels.shape[1], pixels.shape[0])
    image.pixels.foreach_set(np.ascontiguousarray(pixels[::-1], np.float32).ravel())
    image.file_format = "PNG"
    image.filepath_raw = str(path)
    image.save()
    bpy.data.images.remove(image)


def spread_frames(start: int, end: int, count: int) -> list[int]:
    return sorted({int(f) for f in np.round(np.linspace(start, end, count))})


def main(arguments: Sequence[str]) -> int:
    if len(arguments) < 3:
        print(__doc__)
        return 2
    file, name, out, *frames = arguments
    bpy.ops.wm.open_mainfile(filepath=str(Path(file).resolve()))
    ob = bpy.data.objects[name]
    scene = bpy.context.scene
    chosen = [int(f) for f in frames] or spread_frames(scene.frame_start, scene.frame_end, 6)
    added = contact_sheet(ob, chosen, Path(out))
    print(f"{out}: added motion rms {added['rms']:.2%}, largest {added['largest']:.2%} of size")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
