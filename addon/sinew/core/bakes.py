"""The bake folders under one root: finding, continuing and removing them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from . import disk
from .errors import Error, StoreError
from .shot import Shot
from .store import MANIFEST_LIMIT, Manifest, Store, is_id


def manifests(root: Path) -> Iterator[Manifest]:
    """The readable manifests under `root`; damaged folders are passed over."""
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return
    for name in names:
        if is_id(name) and disk.is_plain_folder(root / name):
            try:
                data = disk.read_json(root / name / "manifest.json", MANIFEST_LIMIT)
                manifest = Manifest.from_json(data, root / name)
            except Error:
                continue
            if manifest.id == name:
                yield manifest


def open_unfinished(root: Path, shot: Shot, identity: str) -> Store | None:
    """The interrupted bake of this very setup, to be continued by the build that began it, or None."""
    for manifest in manifests(root):
        if manifest.complete or (manifest.owner_file, manifest.owner_object) != shot.owner:
            continue
        if (manifest.identity, manifest.samples, manifest.build) == (identity, shot.samples, shot.build):
            try:
                return Store.open(root, manifest.id, writable=True)
            except StoreError:
                continue  # damaged or in use: a new folder is always possible
    return None


def remove(root: Path, bake_id: str, owner_file: str) -> bool:
    """Deletes a bake folder, if it belongs to that .blend and nobody writes to it. True when it is gone."""
    if not is_id(bake_id) or not disk.is_plain_folder(root / bake_id):
        return False
    try:
        with Store.open(root, bake_id, writable=True) as store:
            if store.manifest.owner_file != owner_file:
                return False
            names = os.listdir(store.folder)
            for name in names:
                if name != "lock":
                    with disk.sentences(store.folder):
                        os.unlink(store.folder / name)
        shutil.rmtree(root / bake_id, ignore_errors=True)
    except (Error, OSError):
        return False
    return True


def remove_leftovers(root: Path, owner_file: str, owner_object: str, keep: str) -> None:
    """Deletes other bakes of the same object in the same file: replaced ones and interrupted ones of older settings.
    With another .blend in the folder (Save As, a version-up) complete ones stay: it may be what that file plays."""
    alone = all(other.name == owner_file for other in root.parent.glob("*.blend"))
    for manifest in list(manifests(root)):
        if manifest.complete and not alone:
            continue
        if manifest.id != keep and (manifest.owner_file, manifest.owner_object) == (owner_file, owner_object):
            remove(root, manifest.id, owner_file)
