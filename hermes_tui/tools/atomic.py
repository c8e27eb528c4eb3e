"""Write a file so that a reader, or a crash, finds the old or the new content, never a mixture."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .base import ToolFailure
from .folders import held_folder

LOCK_WAIT_S = 2.0
LOCK_POLL_S = 0.005


def write_atomic(
    path: Path, raw: str, content: bytes, *, exists: bool, check: Callable[[], None], mode: int | None = None
) -> None:
    """Replace or create a file.

    The new content goes to a private file beside it, is synced, gets the old one's mode and owner, and takes its
    place. A file with several hard links, or in a folder that takes no new files, is written in place instead. The
    folder is held open all the while: a link put in its place, or above it, changes nothing.

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
        with held_folder(path.parent, raw) as folder:
            old = os.stat(path.name, dir_fd=folder, follow_symlinks=False) if exists else None
            if old is not None and not os.access(path.name, os.W_OK, dir_fd=folder):
                raise ToolFailure(f"{raw} is read-only. Nothing was written: change its mode first if you mean to.")
            with _one_writer(folder, path.name):
                if old is not None and (old.st_nlink > 1 or not os.access(".", os.W_OK, dir_fd=folder)):
                    check()
                    _write_in_place(folder, path.name, content)
                    return
                _exchange(folder, path.name, content, old, mode, check)
    except FileNotFoundError as error:
        raise ToolFailure(f"{raw} cannot be written: its folder is gone.") from error
    except OSError as error:
        raise ToolFailure(f"{raw} cannot be written: {error.strerror}. Nothing was changed.") from error


@contextmanager
def _one_writer(folder: int, name: str) -> Iterator[None]:
    """Let one edit of a file be checked and written at a time, in all agents and programs that lock what they write.

    Who waited finds another file under the name, which the check then notices.
    """
    fd = -1
    with suppress(OSError):  # new, or not to be read: what is checked last has to do
        fd = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    try:
        if fd >= 0:
            _lock(fd)
        yield
    finally:
        if fd >= 0:
            os.close(fd)


def _lock(fd: int) -> None:
    """Lock an open file; go on without when somebody keeps it locked, or nothing can be locked here."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES) or time.monotonic() > deadline:
                return
            time.sleep(LOCK_POLL_S)


def make_parents(path: Path, raw: str) -> list[Path]:
    """Make the folders above a file and return those that are new, outermost first.

    Raises:
        ToolFailure: One of them cannot be made.
    """
    made: list[Path] = []
    with held_folder(path.parent, raw, made):
        return made


def remove_file(path: Path, raw: str, check: Callable[[], None]) -> None:
    """Delete a file that has been looked at.

    Args:
        path: Real path, links followed.
        raw: The path as the model wrote it, for messages.
        check: Called last before it goes; raises to stop it.

    Raises:
        ToolFailure: It cannot be deleted.
    """
    try:
        with held_folder(path.parent, raw) as folder:
            check()
            os.unlink(path.name, dir_fd=folder)
    except FileNotFoundError as error:
        raise ToolFailure(f"{raw} cannot be deleted: it is gone already.") from error
    except OSError as error:
        raise ToolFailure(f"{raw} cannot be deleted: {error.strerror}. Nothing was changed.") from error


def _exchange(
    folder: int, name: str, content: bytes, old: os.stat_result | None, mode: int | None, check: Callable[[], None]
) -> None:
    short = os.fsencode(name)[:200].decode("utf-8", "ignore")
    beside = f".{short}.{secrets.token_hex(6)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    fd = os.open(beside, flags, 0o666 if old is None else 0o600, dir_fd=folder)
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
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise
    _sync_folder(folder)


def _write_in_place(folder: int, name: str, content: bytes) -> None:
    fd = os.open(name, os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, dir_fd=folder)
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


def _sync_folder(folder: int) -> None:
    with suppress(OSError):  # not every file system can
        fd = os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
