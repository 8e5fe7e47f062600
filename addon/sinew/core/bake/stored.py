"""The frames of an earlier bake, to bake from again: after a change of settings or weights alone the animation need not
be played anew."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ..base.errors import StoreError
from ..base.hashes import hash_arrays
from . import folders, layout
from .manifest import Manifest
from .shot import Sample, Shot, sample_hash, stored_sample
from .store import Store

_LOOKED_AT = 5  # frames that are compared with those of the scene


class Stored:
    """Samples of a shot, read from a bake that holds them. Close it."""

    def __init__(self, store: Store, shot: Shot, amounts: Sequence[float]) -> None:
        self._store, self._count, self._amounts = store, shot.samples, amounts
        self._offset = _offset(store.manifest, shot)

    def samples(self) -> Iterator[Sample]:
        return map(self._at, range(self._count))

    def is_sound(self) -> Iterator[bool]:
        """Sample by sample, whether it is what was put there."""
        for index in range(self._count):
            mark = self._store.marks[self._offset + index]
            yield mark is not None and mark.input == sample_hash(self._at(index))

    def looked_at(self) -> list[int]:
        """Samples to compare with those of the scene, over the whole range."""
        return sorted({round(part * (self._count - 1) / (_LOOKED_AT - 1)) for part in range(_LOOKED_AT)})

    def agrees(self, taken: Iterable[Sample]) -> Iterator[bool]:
        """Sample by sample, whether those of the scene are these."""
        for sample in taken:
            own = self._at(sample.index)
            pairs = zip(sample.carried, own.carried, strict=True)
            yield (sample_hash(sample), sample.amount) == (sample_hash(own), own.amount) and all(
                np.array_equal(a.positions, b.positions) and np.array_equal(a.matrix, b.matrix) for a, b in pairs
            )

    def close(self) -> None:
        self._store.close()

    def _at(self, index: int) -> Sample:
        sample = stored_sample(self._store, self._offset + index)
        return dataclasses.replace(sample, index=index, amount=self._amounts[index])


def open_stored(roots: Iterable[Path], shot: Shot, amounts: Sequence[float]) -> Stored | None:
    """A complete bake under one of the folders that holds the frames of a shot, or None. `amounts`: those of now."""
    if not shot.input_mark or shot.reads:
        return None
    topology = hash_arrays(shot.triangles)
    for root in dict.fromkeys(roots):
        for manifest in folders.manifests(root):
            if manifest.complete and manifest.topology == topology and _holds(manifest, shot):
                try:
                    return Stored(Store.open(root, manifest.id), shot, amounts)
                except StoreError:
                    continue  # damaged
    return None


def _holds(manifest: Manifest, shot: Shot) -> bool:
    missing = str(manifest.settings.get("missing_frames", ""))
    offset = _offset(manifest, shot)
    is_inside = offset >= 0 and offset + shot.samples <= manifest.samples
    if missing:  # what bridges a gap may depend on where the range ends
        is_inside = offset == 0 and shot.samples == manifest.samples
    return is_inside and (
        manifest.report.get("input_mark") == shot.input_mark
        and missing == shot.settings.missing_frames
        and (manifest.vertices, manifest.samples_per_frame) == (len(shot.rest), shot.settings.samples)
        and [one.vertices for one in manifest.passengers] == [len(one.rest) for one in shot.passengers]
        and not layout.of_method(manifest).inputs
    )


def _offset(manifest: Manifest, shot: Shot) -> int:
    """Of the shot's first sample in a bake."""
    return (shot.first_frame - manifest.first_frame) * shot.settings.samples
