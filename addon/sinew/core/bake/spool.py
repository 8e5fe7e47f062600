"""Samples on their way from Blender's thread to a job's, in a temporary file: however far one is ahead of the other,
memory does not grow."""

from __future__ import annotations

import dataclasses
import math
import tempfile
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import numpy as np
import numpy.typing as npt

from ..base import disk
from .shot import Sample

_WAIT = 0.1  # seconds between two looks at whether the work was cancelled


class Source(Protocol):
    """Samples in order."""

    def next(self, wait: bool) -> Sample | None:
        """The next one; None where none is there yet and nobody waits, or where there are no more."""

    @property
    def ended(self) -> bool:
        """Whether there are no more."""


class Given:
    """Samples that are made when somebody waits for them."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._samples = iter(samples)
        self.ended = False

    def next(self, wait: bool) -> Sample | None:
        sample = next(self._samples, None) if wait else None
        self.ended = wait and sample is None
        return sample


@dataclasses.dataclass(frozen=True)
class _Head:
    """A sample without its arrays, where these begin in the file, and what they are: of the body, its passengers, and
    what its method reads."""

    sample: Sample
    offset: int
    shapes: list[tuple[tuple[int, ...], str]]


class Spool:
    """One thread puts samples, in order, and says when there are no more; another takes them."""

    def __init__(self, folder: Path) -> None:
        """The file lies in `folder`, has no name and is gone when it is closed or the process ends."""
        self._folder = folder
        with disk.sentences(folder):
            self._file = cast(BinaryIO, tempfile.TemporaryFile(dir=folder))  # noqa: SIM115 (closed by close)
        self._heads: deque[_Head] = deque()
        self._end = 0  # of what is used of the file
        self._changed = threading.Condition()
        self._ended = False
        self._cancelled = False

    def put(self, sample: Sample) -> None:
        given = [sample.positions, *(part.positions for part in sample.carried)]
        arrays = [np.ascontiguousarray(positions, dtype=np.float32) for positions in given]
        arrays += [np.ascontiguousarray(values) for values in sample.read.values()]
        empty = np.empty((0, 3), np.float32)
        carried = tuple(dataclasses.replace(part, positions=empty) for part in sample.carried)
        bare = dataclasses.replace(sample, positions=empty, carried=carried, read=dict.fromkeys(sample.read, empty))
        with self._changed:
            if self._file.closed:
                return
            if not self._heads:
                self._end = 0  # all that was there has been taken
            with disk.sentences(self._folder):
                self._file.seek(self._end)
                for data in arrays:
                    self._file.write(data.tobytes())
            self._heads.append(_Head(bare, self._end, [(data.shape, data.dtype.str) for data in arrays]))
            self._end += sum(data.nbytes for data in arrays)
            self._changed.notify()

    def end(self) -> None:
        """No more samples will come."""
        with self._changed:
            self._ended = True
            self._changed.notify()

    def cancel(self) -> None:
        """Whoever takes samples is stopped as if by Ctrl+C."""
        with self._changed:
            self._cancelled = True
            self._changed.notify()

    def close(self) -> None:
        with self._changed:
            self._file.close()

    @property
    def ended(self) -> bool:
        return self._ended and not self._heads

    def next(self, wait: bool) -> Sample | None:
        with self._changed:
            while wait and not (self._cancelled or self._ended or self._heads):
                self._changed.wait(_WAIT)
            if self._cancelled:
                raise KeyboardInterrupt
            if not self._heads:
                return None
            head = self._heads[0]
            with disk.sentences(self._folder):
                self._file.seek(head.offset)
                body, *others = (self._read(*shape) for shape in head.shapes)
            self._heads.popleft()
        bare, count = head.sample, len(head.sample.carried)
        pairs = zip(bare.carried, others[:count], strict=True)
        carried = tuple(dataclasses.replace(part, positions=other) for part, other in pairs)
        read = dict(zip(bare.read, others[count:], strict=True))
        return dataclasses.replace(bare, positions=body, carried=carried, read=read)

    def _read(self, shape: tuple[int, ...], kind: str) -> npt.NDArray[Any]:
        raw = self._file.read(math.prod(shape) * np.dtype(kind).itemsize)
        return np.frombuffer(raw, dtype=kind).reshape(shape)

    def __iter__(self) -> Iterator[Sample]:
        while (sample := self.next(wait=True)) is not None:
            yield sample
