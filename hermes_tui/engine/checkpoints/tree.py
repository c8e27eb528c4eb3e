"""The files below a folder as they were last seen, and what became of them since.

A look costs one ``lstat`` for each file and folder; only what changed is read.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ..types.files import NOTHING, FileState
from .ignored import Ignored
from .look import RACY_NS, Look, Stat, look, look_closer, stat_of

_CHUNK_BYTES = 16_000_000
_UNKNOWN: Stat = (-1, -1, -1, -1, -1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a folder is watched. Beyond that only the tools' own edits can be taken back."""

    entries: int = 20_000
    """Files and folders; a look at so many takes about 60 ms."""
    tree_bytes: int = 200_000_000
    """What the files hold together."""
    change_bytes: int = 100_000_000
    """What may change from one look to the next."""
    first_look_s: float = 5.0
    """What the first look may take."""


DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Change:
    """A path that is not what it was."""

    path: str
    before: FileState
    after: FileState


@dataclass(slots=True)
class Found:
    """What one look came to."""

    changes: list[Change] = field(default_factory=list)
    contents: dict[str, bytes] = field(default_factory=dict)
    """New bytes by digest."""
    seen: list[tuple[str, Stat, FileState]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    size_bytes: int = 0
    """Of the contents."""


class Tree:
    """Watches one folder. Not thread-safe: its owner holds a lock.

    Args:
        root: An absolute folder, links followed.
        limits: How much is watched.
    """

    def __init__(self, root: str, limits: Limits = DEFAULT_LIMITS) -> None:
        self.root = root
        self.problem = ""
        """Why the folder is not watched any more; empty while it is."""
        self._limits = limits
        self._stats: dict[str, Stat] = {}
        self._states: dict[str, FileState] = {}
        self._folders: set[str] = set()
        self._ignored: Ignored | None = None

    def first_look(self, known: Mapping[str, tuple[Stat, FileState]], keep: Callable[[Found], None]) -> None:
        """Look at everything; files that are as ``known`` are not read.

        Args:
            known: From an earlier session, by path.
            keep: Takes what was found, a part at a time.
        """
        deadline = time.monotonic() + self._limits.first_look_s
        self._ignored = Ignored(self.root)
        listed = self._list_all(deadline)
        found = Found()
        for path, status in listed if not self.problem else ():
            if self._is_over(deadline):
                return
            old = known.get(path)
            if old is not None and old[0] == stat_of(status):
                self._states[path] = old[1]
                self._stats.setdefault(path, old[0])
                continue
            listed_at = self._stats.get(path)
            self._take(path, look_closer(path, status), found)
            if listed_at is not None:  # a folder is as it was when its names were read, not as it is now
                self._stats[path] = listed_at
            if found.size_bytes > _CHUNK_BYTES:
                keep(found)
                found = Found()
        if not self.problem:
            found.gone += [path for path in known if path not in self._states]
            keep(found)

    def _list_all(self, deadline: float) -> list[tuple[str, os.stat_result]]:
        """Return everything that is watched before any of it is read: it may be too much."""
        listed: list[tuple[str, os.stat_result]] = []
        size_bytes = 0
        for path, status in self._walk(self.root):
            listed.append((path, status))
            size_bytes += status.st_size if stat.S_ISREG(status.st_mode) else 0
            if self._is_over(deadline):
                break
        if size_bytes > self._limits.tree_bytes:
            self.problem = f"its files hold more than {self._limits.tree_bytes // 1_000_000:,} MB"
        return listed

    def _is_over(self, deadline: float) -> bool:
        """Whether the first look must end: nobody wants it any more, or it takes too long."""
        if time.monotonic() > deadline:
            self.problem = f"reading it takes more than {self._limits.first_look_s:.0f} s"
        return bool(self.problem)

    def stop(self) -> None:
        """End a look that another thread has, soon. Any thread."""
        self.problem = "the session is closed"

    def refresh(self) -> Found:
        """Look again and return what changed since the last time."""
        found = Found()
        lstat = os.lstat
        touched: list[str] = []
        for path, old in self._stats.items():
            try:
                now = lstat(path)
            except OSError:
                touched.append(path)
                continue
            if (now.st_mtime_ns, now.st_ctime_ns, now.st_size, now.st_ino, now.st_mode) != old:
                touched.append(path)
        for path in touched:
            one = look(path)
            if path != self.root:
                self._settle(path, one, found)
            if one.state.kind == "folder":
                for new, status in self._walk(path, only_new=True):
                    self._settle(new, look_closer(new, status), found)
            if found.size_bytes > self._limits.change_bytes:
                self.problem = f"more than {self._limits.change_bytes // 1_000_000:,} MB changed at once"
                break
        return found

    def sync(self, path: str, one: Look) -> Found:
        """Take over a look that somebody else had at one path."""
        found = Found()
        if path in self._states or self._is_watched(path):
            self._settle(path, one, found)
        return found

    def _is_watched(self, path: str) -> bool:
        folder, _, name = path.rpartition("/")
        return folder in self._folders and not (self._ignored or _nothing)(folder, name, is_folder=False)

    def _settle(self, path: str, one: Look, found: Found) -> None:
        before = self._states.get(path, NOTHING)
        if one.state.kind == "none":
            self._stats.pop(path, None)
            self._states.pop(path, None)
            found.gone.append(path)
        else:
            self._take(path, one, found)
        if one.state.kind != "folder":
            self._folders.discard(path)
        if before != one.state:
            found.changes.append(Change(path, before, one.state))
        if path.endswith("/.gitignore") and self._ignored is not None:
            self._ignored.forget_rules(path.removesuffix("/.gitignore"))

    def _take(self, path: str, one: Look, found: Found) -> None:
        """Note a look. One at a file that was changed a moment ago does not settle what it is next time."""
        stamp = _UNKNOWN if time.time_ns() - one.stat[1] < RACY_NS else one.stat
        self._stats[path], self._states[path] = stamp, one.state
        if one.state.is_kept and one.state.has_content:
            found.contents[one.state.digest] = one.content
            found.size_bytes += len(one.content)
        found.seen.append((path, stamp, one.state))

    def _walk(self, start: str, *, only_new: bool = False) -> Iterator[tuple[str, os.stat_result]]:
        """Yield what is below a folder and not ignored, a folder before what is in it.

        Args:
            start: The folder.
            only_new: Leave out what is known already, and what is below.
        """
        is_ignored = self._ignored or _nothing
        folders = [start]
        count = len(self._states)
        while folders:
            folder = folders.pop()
            since = time.time_ns()
            try:
                listed = stat_of(os.lstat(folder))
                with os.scandir(folder) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name)
            except OSError:
                continue
            self._folders.add(folder)
            # Names may come within the same tick of the clock as the last change that was seen.
            self._stats[folder] = _UNKNOWN if since - listed[1] < RACY_NS else listed
            for entry in entries:
                is_folder = entry.is_dir(follow_symlinks=False)
                if (only_new and entry.path in self._states) or is_ignored(folder, entry.name, is_folder=is_folder):
                    continue
                try:
                    status = entry.stat(follow_symlinks=False)
                except OSError:
                    continue
                count += 1
                if count > self._limits.entries:
                    self.problem = f"it holds more than {self._limits.entries:,} files"
                    return
                if is_folder:
                    folders.append(entry.path)
                yield entry.path, status


def _nothing(folder: str, name: str, *, is_folder: bool) -> bool:
    del folder, name, is_folder
    return False
