"""The cage of a bake, read for the viewport: also while the bake goes on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from ..bake.look import slot_of
from ..bake.manifest import MANIFEST_LIMIT, Manifest, is_id
from ..bake.store import Store
from ..base import disk
from ..cage.view import CageView, make_view

Floats = npt.NDArray[np.float64]


def load_view(root: Path, bake: str) -> CageView:
    """The cage of a bake, as it is at rest."""
    from ..cage.cage import Cage  # it needs the native module, which not everybody who imports us has
    from ..geometry.surface import areas_and_size
    from ..paint.weights import cage_weights

    with Store.open(root, bake) as store:
        cage = Cage(*(store.constant(f"cage_{name}") for name in ("vertices", "tets", "binding", "weights")))
        areas, _ = areas_and_size(store.constant("rest"), store.constant("triangles"))
        inside = store.constant("cage_follow") if store.manifest.counts["inside"] else None
        weights = cage_weights(cage, areas, store.constant("follow"), inside)
        rest_frame = store.manifest.settings.get("rest_frame")
        index = slot_of(store.manifest, rest_frame) if isinstance(rest_frame, int) else 0
        return make_view(cage.vertices, cage.tets, weights, store.read("matrix", index))


def read_manifest(root: Path, bake: str) -> Manifest:
    return Manifest.from_json(disk.read_json(root / bake / "manifest.json", MANIFEST_LIMIT), root / bake)


def read_shape(root: Path, manifest: Manifest, name: str, index: int) -> Floats | None:
    """The "fitted" or "simulated" cage (n, 3) of one sample, world metres; None where it is not computed yet. It reads
    that one slot only, also while the bake goes on."""
    if name not in ("fitted", "simulated") or not is_id(manifest.id):
        return None
    size = manifest.counts.get("cage_vertices", 0) * 24
    with disk.open_regular(root / manifest.id / f"{name}.f64", "rb") as file, disk.sentences(root / manifest.id):
        file.seek(index * size)
        raw = file.read(size)
    if len(raw) != size:
        return None
    shape: Floats = np.frombuffer(raw, "<f8").reshape(-1, 3)
    # A slot that nobody wrote is a hole in the file, and a torn one cannot be told apart from strange numbers.
    return shape if shape.any() and np.isfinite(shape).all() else None
