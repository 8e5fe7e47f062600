"""The bake folders under one root: finding, continuing and removing them."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from ..base import disk
from ..base.errors import Error, StoreError
from .manifest import MANIFEST_LIMIT, Manifest, PassengerEntry, is_id
from .shot import Shot
from .store import Store

_USERS = "used_by.json"  # in a bake folder: other .blend files that play it


def manifests(root: Path) -> Iterator[Manifest]:
    """The readable manifests under `root`; damaged folders are passed over."""
    try:
        names = sorted(os.listdir(root))
    except OSError:
        return
    for name in names:
        found = read_manifest(root, name)
        if found is not None:
            yield found


def read_manifest(root: Path, bake_id: str) -> Manifest | None:
    """The manifest of one bake, or None where there is no readable one."""
    if not is_id(bake_id) or not disk.is_plain_folder(root / bake_id):
        return None
    try:
        read = Manifest.from_json(disk.read_json(root / bake_id / "manifest.json", MANIFEST_LIMIT), root / bake_id)
    except Error:
        return None
    return read if read.id == bake_id else None


def bakes_of(root: Path, previous: str, shot: Shot, identity: str) -> list[Manifest]:
    """The bakes of the same body by the same build: `previous`, and others of this setup, which no saved file may know
    of; complete ones first."""
    found = [
        manifest
        for manifest in manifests(root)
        if (manifest.id == previous or manifest.owner == shot.owner)
        and (manifest.method, manifest.identity) == (shot.method.name, identity)
        and manifest.is_by(shot.build)
    ]
    return sorted(found, key=lambda manifest: (not manifest.complete, manifest.id != previous))


def open_unfinished(root: Path, bakes: Iterable[Manifest], shot: Shot) -> Store | None:
    """The first of these bakes that is an interrupted one of this very setup, to be continued, or None."""
    for manifest in bakes:
        if manifest.complete or manifest.owner != shot.owner or manifest.passengers != entries(shot):
            continue
        if manifest.samples == shot.samples:
            try:
                return Store.open(root, manifest.id, writable=True)
            except StoreError:
                continue  # damaged or in use: a new folder is always possible
    return None


def open_source(root: Path, bakes: Iterable[Manifest]) -> Store | None:
    """The first of these bakes that frames can be taken over from, or None."""
    for manifest in bakes:
        try:
            opened = Store.open(root, manifest.id)
        except StoreError:
            continue
        if opened.done == manifest.samples if manifest.complete else opened.done > 0:
            return opened
        opened.close()
    return None


def entries(shot: Shot) -> tuple[PassengerEntry, ...]:
    """What a manifest says of the shot's passengers."""
    return tuple(
        PassengerEntry(one.object_name, len(one.rest), one.rigid, 0 if one.triangles is None else len(one.triangles))
        for one in shot.passengers
    )


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


def remove_leftovers(
    root: Path,
    owner_file: str,
    keep: Collection[str],
    *,
    setups: Collection[str] | None = None,
    home: Path | None = None,
) -> None:
    """Deletes bakes of that .blend that it does not play any more: replaced ones, and interrupted ones of older
    settings; `setups` limits it to theirs. With another .blend in its folder `home` (Save As, a version-up) complete
    ones stay: it may be what that file plays. None: the .blend lies beside `root`."""
    alone = all(other.name == owner_file for other in (home or root.parent).glob("*.blend"))
    for manifest in list(manifests(root)):
        if manifest.id in keep or manifest.owner_file != owner_file or (manifest.complete and not alone):
            continue
        if manifest.complete and _is_used_elsewhere(root / manifest.id):
            continue
        if setups is None or manifest.owner_setup in setups:
            remove(root, manifest.id, owner_file)


def disk_use(root: Path) -> dict[str, int]:
    """Bytes on the disk of each bake under `root`, by its id. What two of them share counts for the first."""
    seen: set[tuple[int, int]] = set()
    found = {}
    for manifest in manifests(root):
        used = 0
        for path in (root / manifest.id).iterdir():
            with contextlib.suppress(OSError):  # it may go meanwhile
                about = path.stat()
                if (about.st_dev, about.st_ino) not in seen:
                    used += getattr(about, "st_blocks", 0) * 512 or about.st_size  # where files may have holes
                    seen.add((about.st_dev, about.st_ino))
        found[manifest.id] = used
    return found


def note_user(folder: Path, blend: Path) -> None:
    """Writes into a bake folder that a .blend elsewhere plays it too (Save As into another folder, an appended object),
    so that its owner does not delete it. What cannot be written to is left alone."""
    users = _users(folder)
    name = os.path.relpath(blend, folder)
    if name not in users:
        with contextlib.suppress(StoreError):
            disk.write_atomically(folder / _USERS, json.dumps([*users, name]).encode())


def _users(folder: Path) -> list[str]:
    try:
        found = disk.read_json(folder / _USERS, 65_536)
    except StoreError:
        return []
    return [name for name in found if isinstance(name, str)] if isinstance(found, list) else []


def _is_used_elsewhere(folder: Path) -> bool:
    return any((folder / name).resolve().is_file() for name in _users(folder))


def move(root: Path, bake_id: str, target: Path, owner_file: str) -> Path:
    """Moves a bake folder under another root, where it belongs to `owner_file`: what was baked before the file was
    saved for the first time. It is copied, then removed, where the disks differ. The new folder."""
    with Store.open(root, bake_id, writable=True) as store:
        store.describe(owner_file=owner_file)
    with disk.sentences(target):
        target.mkdir(parents=True, exist_ok=True)
        try:
            os.rename(root / bake_id, target / bake_id)
        except OSError:
            _copy(root / bake_id, target / bake_id)
            shutil.rmtree(root / bake_id, ignore_errors=True)
    return target / bake_id


def copy(root: Path, bake_id: str, target: Path, owner_file: str) -> Path:
    """The same, and the bake stays where it is, too: for a copy of a file that was never saved."""
    with disk.sentences(target):
        target.mkdir(parents=True, exist_ok=True)
        _copy(root / bake_id, target / bake_id)
    with Store.open(target, bake_id, writable=True) as store:
        store.describe(owner_file=owner_file)
    return target / bake_id


def _copy(folder: Path, target: Path) -> None:
    """Whole or not at all."""
    unfinished = target.parent / f".{target.name}.moving"
    shutil.rmtree(unfinished, ignore_errors=True)
    shutil.copytree(folder, unfinished)
    os.rename(unfinished, target)
