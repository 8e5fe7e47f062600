"""What a finished bake gives to other programs: a PC2 of its range, and a copy of the mesh whose shape keys it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from ..core.bake import folders, pc2
from ..core.bake.manifest import Manifest
from ..core.base.errors import BadInput
from ..scene import frame_keys, setup
from .target import Target, bake_root, sentences

_MOST_KEYS = 1000


def why_no_export(ob: Any, scene: Any, target: Target) -> str:
    """Why the bake of an object cannot be given away, or ""."""
    manifest = _finished(ob, scene, target)[1]
    return "" if manifest is not None else "There is no finished bake: bake first"


def export_pc2(ob: Any, scene: Any, target: Target, file: Path) -> int:
    """Writes the range that plays, one sample after the other. How many samples."""
    with _opened(ob, scene, target) as baked:
        found = baked.manifest
        begin = (found.frame_start - found.first_frame) * found.samples_per_frame
        count = baked.header.samples - begin
        header = pc2.Header(baked.header.vertices, count, float(found.frame_start), 1.0 / found.samples_per_frame)
        try:
            with open(file, "w+b") as out:
                pc2.write_header(out, header)
                for index in range(count):
                    pc2.write_slot(out, header, index, pc2.read_slot(baked.file, baked.header, begin + index))
        except OSError as error:
            raise BadInput(f"{file} cannot be written ({error.strerror}): choose another place.") from error
    return count


def make_shape_keys(ob: Any, scene: Any, target: Target) -> Any:
    """A copy of the object whose shape keys are the frames of its bake, each of them keyed. It stays as it is."""
    with _opened(ob, scene, target) as baked, sentences():
        found = baked.manifest
        frames = range(found.frame_start, found.frame_end + 1)
        if len(frames) > _MOST_KEYS:
            raise BadInput(f"{len(frames)} frames are more than a mesh should have shape keys: save a PC2 instead.")
        wanted = [(frame, (frame - found.first_frame) * found.samples_per_frame) for frame in frames]
        return frame_keys.make_object(
            ob, [(frame, pc2.read_slot(baked.file, baked.header, index)) for frame, index in wanted]
        )


@dataclass(frozen=True)
class _Baked:
    manifest: Manifest
    file: BinaryIO
    header: pc2.Header


@contextmanager
def _opened(ob: Any, scene: Any, target: Target) -> Iterator[_Baked]:
    folder, manifest = _finished(ob, scene, target)
    if folder is None or manifest is None:
        raise BadInput(f'"{ob.name}" has no finished bake: bake first.')
    try:
        file = open(folder / "result.pc2", "rb")  # noqa: SIM115 (it is closed below)
    except OSError as error:
        raise BadInput(f'The bake of "{ob.name}" is lost: bake again.') from error
    with file:
        yield _Baked(manifest, file, pc2.read_header(file, "The bake"))


def _finished(ob: Any, scene: Any, target: Target) -> tuple[Path | None, Manifest | None]:
    entry = setup.find_of(ob, scene) if ob is not None else None
    if entry is None or not entry.bake:
        return None, None
    root = bake_root(ob, entry, target)
    manifest = folders.read_manifest(root, entry.bake)
    return (root / entry.bake, manifest) if manifest is not None and manifest.complete else (None, None)
