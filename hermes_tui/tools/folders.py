"""Folders held open, so that a link put in the place of one meanwhile leads nobody elsewhere."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .base import ToolFailure

_HOLD = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def held_folder(folder: Path, raw: str, made: list[Path] | None = None) -> Iterator[int]:
    """Hold a folder by a descriptor for ``dir_fd``, walking to it without following any link.

    Args:
        folder: A real path, links followed; whatever is a link on the way now was put there since.
        raw: The path as the model wrote it, for messages.
        made: Missing folders are made and added here, outermost first; None makes none.

    Raises:
        ToolFailure: A part of the way is no folder any more, or cannot be made.
        FileNotFoundError: It is not there, and none is to be made.
    """
    fd = os.open(folder.anchor, _HOLD)
    try:
        way = Path(folder.anchor)
        for name in folder.parts[1:]:
            way = way / name
            below = _step(fd, name, way, raw, made)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def _step(fd: int, name: str, way: Path, raw: str, made: list[Path] | None) -> int:
    try:
        return os.open(name, _HOLD, dir_fd=fd)
    except FileNotFoundError:
        if made is None:
            raise
    except OSError as error:
        raise _refusal(error, raw) from error
    try:
        os.mkdir(name, dir_fd=fd)
        made.append(way)
    except FileExistsError:
        pass  # somebody else was faster; the opening says what it is
    except OSError as error:
        raise ToolFailure(f"The folder of {raw} cannot be made: {error.strerror}.") from error
    try:
        return os.open(name, _HOLD, dir_fd=fd)
    except OSError as error:
        raise _refusal(error, raw) from error


def _refusal(error: OSError, raw: str) -> ToolFailure:
    if error.errno in (errno.ENOTDIR, errno.ELOOP):
        return ToolFailure(f"{raw} cannot be written: a part of its path is a file or became a link. Nothing was done.")
    return ToolFailure(f"{raw} cannot be written: {error.strerror}. Nothing was done.")
