"""Paths as the model writes them, and opening what they name without surprises."""

from __future__ import annotations

import difflib
import errno
import os
import stat
import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from .base import ToolFailure
from .ports import ToolContext
from .session import shell_of

_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}
_SEEN_CALLS = 64


@dataclass(frozen=True, slots=True)
class Seen:
    """What an assessment saw: where a path led, and what was there."""

    real: str
    digest: str | None = None
    """Hash of the file there; empty when there was none, None when it was not looked at."""


class Assessed:
    """What was assessed per call, so that a swap before the call runs is noticed. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[tuple[str, str], Seen] = OrderedDict()

    def remember(self, call_id: str, raw: str, seen: Seen) -> None:
        """Keep what an assessment saw."""
        with self._lock:
            self._seen[call_id, raw] = seen
            while len(self._seen) > _SEEN_CALLS:
                self._seen.popitem(last=False)

    def recall(self, call_id: str, raw: str) -> Seen | None:
        """Return what the assessment of this call saw, if there was one."""
        with self._lock:
            return self._seen.get((call_id, raw))


def assessed(context: ToolContext) -> Assessed:
    """Return the session's memory of assessments."""
    return context.state.get("assessed", Assessed)


def resolve(context: ToolContext, raw: str) -> Path:
    """Return the absolute path that ``raw`` names: ``~`` expanded, relative to the shell's folder, links kept.

    Raises:
        ToolFailure: It is empty or cannot be a path.
    """
    if not raw.strip():
        raise ToolFailure("The path is empty.")
    try:
        if b"\0" in os.fsencode(raw):
            raise ToolFailure("The path holds a NUL character.")
    except UnicodeEncodeError:
        raise ToolFailure("The path holds half a Unicode character: send it again.") from None
    path = Path(raw)
    if raw.startswith("~"):
        home = context.env.get("HOME", "")
        if raw == "~" or raw.startswith("~/"):
            path = Path(home or Path.home()) / raw[2:]
        else:
            path = _expand_user(path)
    if path.is_absolute():
        return path
    base = Path(shell_of(context).cwd)
    return (base if base.is_dir() else context.workspace) / path


def _expand_user(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def real_path(context: ToolContext, raw: str) -> Path:
    """Return where ``raw`` really leads, links followed, and refuse when that changed since it was assessed."""
    path = resolve(context, raw)
    try:
        real = Path(os.path.realpath(path))
    except OSError as error:  # it is being changed this very moment
        raise ToolFailure(f"{raw} cannot be followed: {error.strerror}. Try again.") from error
    seen = assessed(context).recall(context.call_id, raw)
    if seen is not None and seen.real != str(real):
        raise ToolFailure(f"{raw} leads elsewhere than a moment ago, to {show(real)}. Nothing was done: try again.")
    return real


def status_of(path: Path, raw: str) -> os.stat_result | None:
    """Return what is at a path, None when there is nothing.

    Raises:
        ToolFailure: It may not be looked at.
    """
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refusal(path, raw, error) from error


def open_regular(path: Path, raw: str, flags: int = os.O_RDONLY) -> int:
    """Open a regular file, never blocking on pipes and devices, and return its descriptor.

    Args:
        path: A real path, links followed.
        raw: The path as the model wrote it, for messages.
        flags: Access mode.

    Raises:
        ToolFailure: There is none, it is no regular file, or it may not be opened.
    """
    try:
        fd = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY | os.O_NOFOLLOW)
    except FileNotFoundError:
        raise missing(path, raw) from None
    except OSError as error:
        raise _refusal(path, raw, error) from error
    mode = os.fstat(fd).st_mode
    if stat.S_ISREG(mode) and _is_at(fd, path):
        return fd
    os.close(fd)
    if stat.S_ISREG(mode):
        raise ToolFailure(f"{raw} leads elsewhere than a moment ago. Nothing was done: try again.")
    raise ToolFailure(f"{raw} is {kind_of(mode)}, not a regular file.")


def _is_at(fd: int, path: Path) -> bool:
    """Whether an open file is where it was looked for; a folder above it may have become a link meanwhile."""
    try:
        opened = Path(f"/proc/self/fd/{fd}").readlink()
    except OSError:
        return True  # not told on this system
    return opened == path or not opened.exists()


def kind_of(mode: int) -> str:
    """Name a file type in words."""
    return _KINDS.get(stat.S_IFMT(mode), "a special file")


def _refusal(path: Path, raw: str, error: OSError) -> ToolFailure:
    match error.errno:
        case errno.ELOOP:
            return ToolFailure(f"{raw} became a link, or its links run in a circle.")
        case errno.ENXIO:
            return ToolFailure(f"{raw} is a socket or device, not a regular file.")
        case errno.EISDIR:
            return ToolFailure(f"{raw} is a folder.")
        case errno.ENOTDIR:
            return ToolFailure(f"{raw} cannot exist: a part of its path is a file, not a folder.")
        case errno.EACCES | errno.EPERM:
            return ToolFailure(f"No permission to open {raw} ({show(path)}).")
        case errno.ENAMETOOLONG:
            return ToolFailure("The path is longer than the system allows.")
        case _:
            return ToolFailure(f"{raw} cannot be opened: {error.strerror}.")


def missing(path: Path, raw: str) -> ToolFailure:
    """Say that a path does not exist, with the nearest names."""
    parent = path.parent
    wanted = path.name
    while not parent.is_dir() and parent != parent.parent:
        parent, wanted = parent.parent, parent.name
    near = nearest_names(parent, wanted)
    where = f" The folder {show(parent)} has nothing named {wanted}." if parent != path.parent else ""
    hint = " Near it: " + ", ".join(near) + "." if near else ""
    return ToolFailure(f"{raw} does not exist.{where}{hint}", similar=near)


def nearest_names(folder: Path, wanted: str, count: int = 5) -> list[str]:
    """Return names in a folder that look like ``wanted``, best first."""
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for _, entry in zip(range(5_000), entries, strict=False)]
    except OSError:
        return []
    folded = {name.casefold(): name for name in sorted(names, reverse=True)}
    close = difflib.get_close_matches(wanted.casefold(), folded, n=count, cutoff=0.6)
    stem = wanted.casefold().partition(".")[0]
    close += [name for name in sorted(folded) if len(stem) > 2 and stem in name and name not in close]
    return [show(folded[name]) for name in close[:count]]


def show(path: Path | str) -> str:
    """Return a path as text on one line: control characters and undecodable bytes as escapes."""
    text = os.fsencode(str(path)).decode("utf-8", "backslashreplace")
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def show_relative(context: ToolContext, path: Path) -> str:
    """Return a path relative to the workspace when it lies inside."""
    root = os.path.realpath(context.workspace)
    text = str(path)
    return show(os.path.relpath(text, root)) if text.startswith(root + os.sep) else show(text)
