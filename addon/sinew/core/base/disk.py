"""Careful file access: nothing is followed out of a bake folder, and every failure becomes a sentence."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO

from .errors import StoreError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_FULL = (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC), errno.EFBIG)
_DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextlib.contextmanager
def sentences(path: Path | str) -> Iterator[None]:
    """Turns the operating system's errors about `path` into sentences."""
    try:
        yield
    except OSError as error:
        where = error.filename or path
        if error.errno in _FULL:
            text = f"The disk that holds {where} is full: free some space and bake again, finished frames are kept."
        elif error.errno in _DENIED:
            text = f"{where} cannot be written or read: check the permissions of its folder."
        elif error.errno in (errno.ENOENT, errno.ENOTDIR):
            text = f"{where} does not exist: bake again, or bring the folder back."
        elif error.errno == errno.ELOOP:
            text = f"{where} is a link, which a bake folder must not hold: remove it and bake again."
        else:
            text = f"{where} cannot be used ({error.strerror or error}): check the disk and bake again."
        raise StoreError(text) from error


def open_regular(path: Path, mode: str) -> BinaryIO:
    """Opens a regular file, never through a link. `mode`: "rb", "r+b" or "w+b" (must be new)."""
    flags = {"rb": os.O_RDONLY, "r+b": os.O_RDWR, "w+b": os.O_RDWR | os.O_CREAT | os.O_EXCL}[mode]
    flags |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
    with sentences(path):
        descriptor = os.open(path, flags, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise StoreError(f"{path} is not an ordinary file: remove it and bake again.")
        # The descriptor may write and read whatever the buffered wrapper calls itself.
        file: IO[Any] = os.fdopen(descriptor, "rb" if mode == "rb" else "r+b")
        return file  # type: ignore[return-value]
    except BaseException:
        with contextlib.suppress(OSError):
            os.close(descriptor)
        raise


def is_plain_folder(path: Path) -> bool:
    """Whether `path` is a folder and not a link to one."""
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def write_atomically(path: Path, data: bytes) -> None:
    """Replaces the file in one step: a reader, or a kill, sees the old or the new content and nothing between."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.new")
    with sentences(path):
        try:
            with open(temporary, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes a rename in `folder` last through a power cut, where the system allows it."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_json(path: Path, limit: int) -> Any:
    """Parses a JSON file of at most `limit` bytes."""
    with open_regular(path, "rb") as file, sentences(path):
        if os.fstat(file.fileno()).st_size > limit:
            raise StoreError(f"{path} is too large, so it is damaged: delete its folder and bake again.")
        data = file.read(limit + 1)
    return parse_json(data, path)


def parse_json(data: bytes, path: Path) -> Any:
    """Parses JSON strictly: no NaN, no infinity, no absurd nesting."""

    def refuse(text: str) -> Any:
        raise ValueError(text)

    try:
        return json.loads(data.decode("utf-8"), parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path} is damaged: delete its folder and bake again.") from error


def check_free_space(folder: Path, needed: int) -> None:
    """Refuses work that cannot fit on the disk, before it starts."""
    with sentences(folder):
        free = shutil.disk_usage(folder).free
    if free < needed:
        raise StoreError(
            f"The disk that holds {folder} is too full: the bake needs {needed / 1e6:.0f} MB and "
            f"{free / 1e6:.0f} MB are free."
        )


class FolderLock:
    """Keeps a second writer out of a folder. The system releases it when the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        path = folder / "lock"
        try:
            self._file: BinaryIO | None = open_regular(path, "w+b")
        except StoreError:
            self._file = open_regular(path, "r+b")
        try:
            if fcntl is not None:
                fcntl.flock(self._file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            else:
                import msvcrt

                msvcrt.locking(self._file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError as error:
            self.release()
            raise StoreError(f"Another bake is writing to {folder}: wait until it ends, or stop it.") from error

    def release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def share(source: Path, target: Path) -> None:
    """A second name for a file, or a copy where the disk has no hard links. Whoever writes to it calls `unshare`."""
    with sentences(target):
        try:
            os.link(source, target, follow_symlinks=False)
        except OSError:
            shutil.copyfile(source, target, follow_symlinks=False)


def is_shared(path: Path) -> bool:
    """Whether the file has a second name."""
    with sentences(path):
        return os.lstat(path).st_nlink > 1


def unshare(path: Path) -> None:
    """Makes a file with a second name one of its own. A kill leaves it as it was."""
    temporary = path.with_name(f".{path.name}.own")
    with sentences(path):
        temporary.unlink(missing_ok=True)
        shutil.copyfile(path, temporary, follow_symlinks=False)
        os.replace(temporary, path)
