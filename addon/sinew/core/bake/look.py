"""One sample of a bake, read for the viewport: that slot alone, also while the bake goes on."""

from __future__ import annotations

import math
import os
import struct
from pathlib import Path

from ..base import disk
from .contact import POINTS, Points, unpacked
from .layout import place_of
from .manifest import Manifest, is_id


def slot_of(manifest: Manifest, frame: float) -> int:
    """The sample that shows a frame; outside the range the nearest one."""
    index = math.floor((frame - manifest.first_frame) * manifest.samples_per_frame + 1e-3)
    return min(max(index, 0), manifest.samples - 1)


def last_change(root: Path, bake: str) -> int:
    """A number that grows with every finished sample of a bake."""
    try:
        return os.stat(root / bake / "frames.jsonl").st_mtime_ns
    except OSError:
        return 0


def read_points(root: Path, manifest: Manifest, index: int) -> Points | None:
    """The contacts of a sample; None where there are none, or not yet."""
    if not is_id(manifest.id) or not manifest.counts.get("collides", 0):
        return None
    folder = root / manifest.id
    with disk.open_regular(folder / f"{place_of(POINTS)}.f64", "rb") as file, disk.sentences(folder):
        file.seek(16 * index)
        raw = file.read(16)
    if len(raw) != 16:
        return None
    begin, size = struct.unpack("<2d", raw)
    if not (0 <= begin < 2**53 and 0 < size < 2**31):
        return None
    with disk.open_regular(folder / f"{POINTS}.bin", "rb") as file, disk.sentences(folder):
        file.seek(int(begin))
        return unpacked(file.read(int(size)))
