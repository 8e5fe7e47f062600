"""PC2 point cache files: what Blender's own Mesh Cache modifier plays.

A header of 32 bytes, then for each sample the positions of all vertices as little-endian float32 xyz in the
object's own space. Samples are fixed slots, so any one can be written in place.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from ..base.errors import StoreError

_HEADER = struct.Struct("<12siiffi")
_MAGIC = b"POINTCACHE2\0"
HEADER_SIZE = _HEADER.size
MAX_COUNT = 2**31 - 1


@dataclass(frozen=True)
class Header:
    vertices: int
    samples: int
    start: float = 0.0
    rate: float = 1.0

    @property
    def slot_size(self) -> int:
        return 12 * self.vertices

    @property
    def file_size(self) -> int:
        return HEADER_SIZE + self.samples * self.slot_size


def write_header(file: BinaryIO, header: Header) -> None:
    """Writes the header and gives the file its whole size; slots not yet written are zero."""
    file.seek(0)
    file.write(_HEADER.pack(_MAGIC, 1, header.vertices, header.start, header.rate, header.samples))
    file.truncate(header.file_size)


def read_header(file: BinaryIO, name: str) -> Header:
    """The header of a file whose size agrees with it; anything else is answered with a sentence."""
    file.seek(0)
    raw = file.read(HEADER_SIZE)
    if len(raw) != HEADER_SIZE:
        raise StoreError(f"{name} is too short for a PC2 file: bake again.")
    magic, version, vertices, start, rate, samples = _HEADER.unpack(raw)
    if magic != _MAGIC or version != 1:
        raise StoreError(f"{name} is not a PC2 file of version 1: bake again.")
    if vertices < 1 or samples < 1:
        raise StoreError(f"{name} claims {vertices} vertices and {samples} samples: bake again.")
    header = Header(vertices, samples, start, rate)
    size = os.fstat(file.fileno()).st_size
    if size != header.file_size:
        raise StoreError(f"{name} has {size} bytes where its header asks for {header.file_size}: bake again.")
    return header


def write_slot(file: BinaryIO, header: Header, index: int, positions: npt.NDArray[np.float32]) -> None:
    """Writes sample `index`, (vertices, 3) local positions, in one write so that a reader never sees a torn one."""
    if not 0 <= index < header.samples:
        raise IndexError(f"sample {index} of {header.samples}")
    data = np.ascontiguousarray(positions, dtype="<f4")
    if data.shape != (header.vertices, 3):
        raise ValueError(f"positions have shape {data.shape}, not {(header.vertices, 3)}")
    file.seek(HEADER_SIZE + index * header.slot_size)
    file.write(data.tobytes())
    file.flush()


def read_slot(file: BinaryIO, header: Header, index: int, name: str = "The PC2 file") -> npt.NDArray[np.float32]:
    """Sample `index` as (vertices, 3) float32."""
    if not 0 <= index < header.samples:
        raise StoreError(f"{name} has {header.samples} samples, so there is no number {index}.")
    file.seek(HEADER_SIZE + index * header.slot_size)
    raw = file.read(header.slot_size)
    if len(raw) != header.slot_size:
        raise StoreError(f"{name} ends in the middle of sample {index}: bake again.")
    return np.frombuffer(raw, dtype="<f4").reshape(-1, 3).astype(np.float32)
