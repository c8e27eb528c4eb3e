"""Brings paths to the states they should have.

Each file changes in one step: whoever looks, or a crash, finds the old or the new one. (Only a file with several hard
links is written in place, so that it stays one file.) What must go goes first, from the inside out; then folders, files
and links come, from the outside in; the modes of folders last. A path that is not as planned any more at the very
moment is left alone.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from ...tools.base import ToolFailure
from ...tools.folders import held_folder
from ..types.errors import StoreError
from ..types.files import NOTHING, FileMove, FileState
from .look import look
from .plan import CHANGED

_RWX = stat.S_IRWXU


def restore(moves: Sequence[FileMove], content: Callable[[FileState], bytes]) -> dict[str, str]:
    """Make the moves; returns those that could not be made, path -> why. Blocks on the disk.

    Args:
        moves: What :mod:`.plan` found possible.
        content: Returns the bytes of a state; raises ``StoreError`` when they are gone.
    """
    failed: dict[str, str] = {}
    todo = [move for move in moves if move.now != move.target]
    steps: list[tuple[Callable[[FileMove, Callable[[FileState], bytes]], None], list[FileMove]]] = [
        (_open_up, sorted(filter(_is_folder_change, todo), key=_depth)),
        (_take_away, sorted(filter(_must_go, todo), key=_depth, reverse=True)),
        (_put, sorted((move for move in todo if move.target != NOTHING), key=_depth)),
        (_close_up, sorted((m for m in todo if m.target.kind == "folder"), key=_depth, reverse=True)),
    ]
    for step, chosen in steps:
        for move in chosen:
            if move.path in failed:
                continue
            try:
                step(move, content)
            except _Changed:
                failed[move.path] = CHANGED
            except (StoreError, ToolFailure) as error:
                failed[move.path] = error.message
            except OSError as error:
                failed[move.path] = error.strerror or str(error)
    return failed


class _Changed(Exception):
    """Something else is at the path by now."""


def _depth(move: FileMove) -> int:
    return move.path.count("/")


def _is_folder_change(move: FileMove) -> bool:
    return move.now.kind == "folder" and move.target.kind == "folder"


def _must_go(move: FileMove) -> bool:
    """Whether the present thing is removed first: always, but for a file or link that another takes the place of."""
    if move.now == NOTHING or _is_folder_change(move):
        return False
    return move.target == NOTHING or "folder" in (move.now.kind, move.target.kind)


def _check(move: FileMove) -> None:
    if look(move.path).state != move.now:
        raise _Changed


def _open_up(move: FileMove, content: Callable[[FileState], bytes]) -> None:
    """Let a folder be written into while the rest is done."""
    del content
    path = Path(move.path)
    with held_folder(path.parent, move.path) as folder:
        _check(move)
        if move.now.mode & _RWX != _RWX:
            os.chmod(path.name, move.now.mode | _RWX, dir_fd=folder)


def _close_up(move: FileMove, content: Callable[[FileState], bytes]) -> None:
    del content
    if look(move.path).state.kind == "folder":
        os.chmod(move.path, move.target.mode)  # noqa: PTH101


def _take_away(move: FileMove, content: Callable[[FileState], bytes]) -> None:
    del content
    path = Path(move.path)
    with held_folder(path.parent, move.path) as folder:
        _check(move)
        if move.now.kind == "folder":
            os.rmdir(path.name, dir_fd=folder)
        else:
            os.unlink(path.name, dir_fd=folder)


def _put(move: FileMove, content: Callable[[FileState], bytes]) -> None:
    path = Path(move.path)
    with held_folder(path.parent, move.path) as folder:
        match move.target.kind:
            case "folder":
                if not _is_folder_change(move):
                    os.mkdir(path.name, move.target.mode | _RWX, dir_fd=folder)
            case "link":
                _exchange(move, folder, lambda name: os.symlink(content(move.target), os.fsencode(name), dir_fd=folder))
            case _:
                _put_file(move, folder, content(move.target))


def _put_file(move: FileMove, folder: int, content: bytes) -> None:
    name = Path(move.path).name
    is_file = move.now.kind == "file" and not _must_go(move)
    old = os.stat(name, dir_fd=folder, follow_symlinks=False) if is_file else None
    if old is not None and move.now.digest == move.target.digest:
        _check(move)
        os.chmod(name, move.target.mode, dir_fd=folder)
    elif old is not None and old.st_nlink > 1:
        _check(move)
        _write(os.open(name, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder), content, move.target.mode)
    else:
        _exchange(move, folder, lambda beside: _write_beside(folder, beside, content, move.target.mode, old))


def _exchange(move: FileMove, folder: int, make: Callable[[str], None]) -> None:
    """Make the new thing beside the old one, and put it in its place if that is still as it was."""
    name = Path(move.path).name
    # The same name each time: what a crash left behind is written over when the undo is repeated.
    beside = f".{os.fsencode(name)[:200].decode('utf-8', 'ignore')}.undo.tmp"
    with suppress(FileNotFoundError):
        os.unlink(beside, dir_fd=folder)
    try:
        make(beside)
        if _must_go(move):
            if look(move.path).state != NOTHING:
                raise _Changed
        else:
            _check(move)
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise


def _write_beside(folder: int, name: str, content: bytes, mode: int, old: os.stat_result | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(name, flags, 0o600, dir_fd=folder)
    if old is not None:
        with suppress(OSError):  # only root may give files away
            os.fchown(fd, old.st_uid, old.st_gid)
    _write(fd, content, mode)


def _write(fd: int, content: bytes, mode: int) -> None:
    """Write all of a file and close it."""
    try:
        view = memoryview(content)
        while view:
            view = view[os.write(fd, view) :]
        os.ftruncate(fd, len(content))
        os.fchmod(fd, mode)
        os.fsync(fd)
    finally:
        os.close(fd)
