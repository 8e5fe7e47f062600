"""Moving pictures for pages: rendered frames as one animated PNG, which browsers play by themselves.

Colours are reduced to a palette, and only what changes from frame to frame is stored, so that some seconds fit into a
few megabytes. Needs numpy alone.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

_BITS = 5  # of each channel that colours are told apart by
_COLOURS = 255  # and one that leaves what is below
_FREQUENT = 128  # of these


def write_moving_picture(path: Path, frames: Sequence[Any], rate: float) -> None:
    """`frames`: arrays (height, width, 3) from 0 to 1, the top row first. Plays for ever."""
    height, width = frames[0].shape[:2]
    clear = _COLOURS
    palette, nearest = _chosen_colours(frames)
    chunks = [
        _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        _chunk(b"acTL", struct.pack(">II", len(frames), 0)),
        _chunk(b"PLTE", palette.tobytes() + b"\0\0\0"),
        _chunk(b"tRNS", bytes([255] * clear + [0])),
    ]
    shown: Any = None
    number = 0
    for frame in frames:
        indices = nearest[_keys(frame)]
        changes = indices if shown is None else np.where(indices == shown, clear, indices)
        top, left, bottom, right = _box(changes != clear)
        changes = changes[top:bottom, left:right]
        placed = (number, right - left, bottom - top, left, top, 1000, round(1000 * rate), 0, int(shown is not None))
        chunks.append(_chunk(b"fcTL", struct.pack(">IIIIIHHBB", *placed)))
        number += 1
        rows = np.concatenate([np.zeros((len(changes), 1), np.uint8), changes.astype(np.uint8)], axis=1)
        data = zlib.compress(rows.tobytes(), 9)
        if shown is None:
            chunks.append(_chunk(b"IDAT", data))
        else:
            chunks.append(_chunk(b"fdAT", struct.pack(">I", number) + data))
            number += 1
        shown = indices
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks) + _chunk(b"IEND", b""))


def _keys(frame: Any) -> Any:
    """The colour of every pixel, by its leading bits."""
    steps = np.rint(np.clip(frame[..., :3], 0.0, 1.0) * (2**_BITS - 1)).astype(np.int32)
    return (steps[..., 0] << 2 * _BITS) | (steps[..., 1] << _BITS) | steps[..., 2]


def _chosen_colours(frames: Sequence[Any]) -> tuple[Any, Any]:
    """Colours (255, 3) for all frames, and for every colour, by its key, which of them is nearest: the most frequent
    ones, then by turns what is far from all of them and frequent, so that a small red patch stays red."""
    count = sum(np.bincount(_keys(frame).ravel(), minlength=8**_BITS) for frame in frames)
    colours = np.stack([np.arange(8**_BITS) >> shift & 2**_BITS - 1 for shift in (2 * _BITS, _BITS, 0)], axis=1)
    used = np.flatnonzero(count)
    chosen = list(np.argsort(-count, kind="stable")[:_FREQUENT])
    distance = ((colours[used, None] - colours[chosen]) ** 2).sum(axis=2)
    number, least = distance.argmin(axis=1), distance.min(axis=1)
    while len(chosen) < _COLOURS:
        chosen.append(used[(least * np.sqrt(count[used])).argmax()])
        off = ((colours[used] - colours[chosen[-1]]) ** 2).sum(axis=1)
        number, least = np.where(off < least, len(chosen) - 1, number), np.minimum(off, least)
    nearest = np.zeros(8**_BITS, np.int32)
    nearest[used] = number
    return np.rint(colours[chosen] * (255 / (2**_BITS - 1))).astype(np.uint8), nearest


def _box(mask: Any) -> tuple[int, int, int, int]:
    """Around what changes; one pixel where nothing does."""
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    if not len(rows):
        return 0, 0, 1, 1
    return int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
