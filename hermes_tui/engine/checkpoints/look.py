"""Looking at a path: its state, and its bytes while they are small enough to keep."""

from __future__ import annotations

import hashlib
import io
import os
import stat
from dataclasses import dataclass

from ..types.files import NOTHING, UNKEPT, FileState

MAX_FILE_BYTES = 10_000_000
"""Contents of larger files are not kept. Source: the limit of the original's checkpoints."""
RACY_NS = 50_000_000
"""A file changed less than this before it was looked at may change again without its times telling: a clock tick of the
kernel is up to 10 ms, of some network file systems more."""

Stat = tuple[int, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a path found."""

    state: FileState
    content: bytes = b""
    """Of a kept file its bytes, of a link its target."""
    stat: Stat = (0, 0, 0, 0, 0)


def stat_of(status: os.stat_result) -> Stat:
    """Return what tells an untouched file."""
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_mode)


def digest_of(content: bytes) -> str:
    """Hash bytes."""
    return hashlib.blake2b(content, digest_size=20).hexdigest()


def look(path: str) -> Look:
    """Look at a path itself, not at what a link leads to. Blocks on the disk; raises nothing."""
    try:
        status = os.lstat(path)
    except OSError:
        return Look(NOTHING)
    return look_closer(path, status)


def look_closer(path: str, status: os.stat_result) -> Look:
    """Look at a path whose status is known."""
    mode, seen = status.st_mode, stat_of(status)
    if stat.S_ISDIR(mode):
        return Look(FileState("folder", stat.S_IMODE(mode)), b"", seen)
    if stat.S_ISLNK(mode):
        try:
            target = os.fsencode(os.readlink(path))  # noqa: PTH115 - exactly as it is
        except OSError:
            return Look(NOTHING)
        return Look(FileState("link", 0, len(target), digest_of(target)), target, seen)
    if stat.S_ISREG(mode):
        return _look_at_file(path, status)
    return Look(FileState("other", stat.S_IMODE(mode), 0, f"{UNKEPT}{stat.S_IFMT(mode):o}"), b"", seen)


def _look_at_file(path: str, status: os.stat_result) -> Look:
    if status.st_size <= MAX_FILE_BYTES:
        try:
            fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except OSError:
            return _unkept(status)
        with os.fdopen(fd, "rb", buffering=0) as file:
            status = os.fstat(fd)
            if stat.S_ISREG(status.st_mode):
                content = _read(file)
                if content is not None:
                    state = FileState("file", stat.S_IMODE(status.st_mode), len(content), digest_of(content))
                    return Look(state, content, stat_of(status))
    return _unkept(status)


def _read(file: io.FileIO) -> bytes | None:
    """Return all bytes, None when they are too many or cannot be read."""
    content = b""
    try:
        while piece := file.read(MAX_FILE_BYTES + 1 - len(content)):
            content += piece
            if len(content) > MAX_FILE_BYTES:
                return None
    except OSError:
        return None
    return content


def _unkept(status: os.stat_result) -> Look:
    mark = f"{UNKEPT}{status.st_mtime_ns}.{status.st_ino}"
    return Look(FileState("file", stat.S_IMODE(status.st_mode), status.st_size, mark), b"", stat_of(status))
