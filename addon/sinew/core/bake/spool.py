"""Samples on their way from Blender's thread to a job's, in a temporary file: however far one is ahead of the other,
memory does not grow."""

from __future__ import annotations

import dataclasses
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from ..base import disk
from .shot import Sample

_WAIT = 0.1  # seconds between two looks at whether the work was cancelled


class Spool:
    """One thread puts samples, in order, and says when there are no more; another iterates over them."""

    def __init__(self, folder: Path) -> None:
        """The file lies in `folder`, has no name and is gone when it is closed or the process ends."""
        self._folder = folder
        with disk.sentences(folder):
            self._file = cast(BinaryIO, tempfile.TemporaryFile(dir=folder))  # noqa: SIM115 (closed by close)
        self._heads: list[tuple[Sample, list[int]]] = []  # samples without positions; the bytes of body and passengers
        self._changed = threading.Condition()
        self._ended = False
        self._cancelled = False

    def put(self, sample: Sample) -> None:
        given = [sample.positions, *(part.positions for part in sample.carried)]
        arrays = [np.ascontiguousarray(positions, dtype=np.float32) for positions in given]
        empty = np.empty((0, 3), np.float32)
        carried = tuple(dataclasses.replace(part, positions=empty) for part in sample.carried)
        with self._changed:
            if self._file.closed:
                return
            with disk.sentences(self._folder):
                self._file.seek(0, 2)
                for data in arrays:
                    self._file.write(data.tobytes())
            head = dataclasses.replace(sample, positions=empty, carried=carried)
            self._heads.append((head, [data.nbytes for data in arrays]))
            self._changed.notify()

    def end(self) -> None:
        """No more samples will come."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def cancel(self) -> None:
        """Whoever iterates is stopped as if by Ctrl+C."""
        with self._changed:
            self._cancelled = True
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._file.close()

    def __iter__(self) -> Iterator[Sample]:
        index, offset = 0, 0
        while True:
            with self._changed:
                while not (self._cancelled or self._ended or index < len(self._heads)):
                    self._changed.wait(_WAIT)
                if self._cancelled:
                    raise KeyboardInterrupt
                if index == len(self._heads):
                    return
                head, sizes = self._heads[index]
                with disk.sentences(self._folder):
                    self._file.seek(offset)
                    raws = [self._file.read(size) for size in sizes]
            body, *others = (np.frombuffer(raw, dtype=np.float32).reshape(-1, 3) for raw in raws)
            carried = tuple(
                dataclasses.replace(part, positions=other) for part, other in zip(head.carried, others, strict=True)
            )
            yield dataclasses.replace(head, positions=body, carried=carried)
            index, offset = index + 1, offset + sum(sizes)
