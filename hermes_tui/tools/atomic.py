"""Write a file so that a reader, or a crash, finds the old or the new content, never a mixture."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from .base import ToolFailure


def write_atomic(
    path: Path, raw: str, content: bytes, *, exists: bool, check: Callable[[], None], mode: int | None = None
) -> None:
    """Replace or create a file.

    The new content goes to a private file beside it, is synced, gets the old one's mode and owner, and takes its
    place. A file with several hard links, or in a folder that takes no new files, is written in place instead.

    Args:
        path: Real path, links followed.
        raw: The path as the model wrote it, for messages.
        content: All of the new bytes.
        exists: Whether it is there.
        check: Called last before the exchange; raises to stop it.
        mode: Permission bits of a new file, when not the usual ones.

    Raises:
        ToolFailure: It cannot be written.
    """
    try:
        old = path.stat() if exists else None
        if old is not None and not os.access(path, os.W_OK):
            raise ToolFailure(f"{raw} is read-only. Nothing was written: change its mode first if you mean to.")
        if old is not None and (old.st_nlink > 1 or not os.access(path.parent, os.W_OK)):
            check()
            _write_in_place(path, content)
            return
        _exchange(path, content, old, mode, check)
    except FileNotFoundError as error:
        raise ToolFailure(f"{raw} cannot be written: its folder is gone.") from error
    except OSError as error:
        raise ToolFailure(f"{raw} cannot be written: {error.strerror}. Nothing was changed.") from error


def make_parents(path: Path, raw: str) -> list[Path]:
    """Make the folders above a file and return those that are new, outermost first.

    Raises:
        ToolFailure: One of them cannot be made.
    """
    absent = []
    for parent in path.parents:
        if parent.exists():
            break
        absent.append(parent)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise ToolFailure(f"{raw} cannot be written: a part of its path is a file, not a folder.") from error
    except OSError as error:
        raise ToolFailure(f"The folder of {raw} cannot be made: {error.strerror}.") from error
    return absent[::-1]


def _exchange(
    path: Path, content: bytes, old: os.stat_result | None, mode: int | None, check: Callable[[], None]
) -> None:
    short = os.fsencode(path.name)[:200].decode("utf-8", "ignore")
    beside = path.with_name(f".{short}.{secrets.token_hex(6)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    fd = os.open(beside, flags, 0o666 if old is None else 0o600)
    try:
        with os.fdopen(fd, "wb", buffering=0) as file:
            _write_all(fd, content)
            if old is not None:
                with suppress(OSError):  # only root may give files away
                    os.fchown(fd, old.st_uid, old.st_gid)
                mode = stat.S_IMODE(old.st_mode)
            if mode is not None:
                os.fchmod(fd, mode)
            os.fsync(file.fileno())
        check()
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _write_in_place(path: Path, content: bytes) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        _write_all(fd, content)
        os.ftruncate(fd, len(content))
        os.fsync(fd)
    finally:
        os.close(fd)


def _write_all(fd: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(fd, view) :]


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every file system can
        fd = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
