"""The files below a folder, found and searched on a thread of their own.

Nothing here blocks its caller: a query returns at once and its result is delivered later, from the index's thread. The
newest query wins. Sources, in order: ``git ls-files``, ``rg --files``, a walk that obeys ``.gitignore`` files.
"""

from __future__ import annotations

import heapq
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import which
from typing import Final, TypeAlias

from hermes_tui.gitignore import IgnoreRules

from .fuzzy import MAX_SCORED, Match, match, matcher

MAX_FILES: Final = 500_000
BATCH: Final = 2_000
"""Paths handled between two looks at what is wanted; also lets the UI thread have the interpreter lock."""
FRESH_S: Final = 10.0
"""An index older than this is built again when a new search begins; the old one answers meanwhile."""
_SKIPPED: Final = frozenset(
    {".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".ruff_cache"}
)


@dataclass(frozen=True, slots=True)
class FileResult:
    """The answer to one query."""

    query: str
    matches: tuple[Match, ...]
    total: int
    """Files that fit, not only those in ``matches``."""
    complete: bool
    """False while the folder is still being read; a better answer follows."""


Deliver: TypeAlias = Callable[[FileResult], None]


class FileIndex:
    """Searches one folder.

    Args:
        root: The folder; nothing outside it is ever listed and links to folders are not followed.
        limit: Matches to return.
    """

    def __init__(self, root: Path, limit: int = 50) -> None:
        self._root = root
        self._limit = limit
        self._wake = threading.Condition()
        self._wanted: tuple[str, Deliver] | None = None
        self._closed = False
        self._thread: threading.Thread | None = None
        self._paths: list[str] = []
        self._built_s = float("-inf")
        self._last: tuple[str, list[str]] = ("", [])  # the last query and all paths that fitted it
        self._process: subprocess.Popen[bytes] | None = None

    def request(self, query: str, deliver: Deliver) -> None:
        """Ask for the files that fit. ``deliver`` is called later on the index's thread, maybe more than once."""
        with self._wake:
            self._wanted = (query, deliver)
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="file-index", daemon=True)
                self._thread.start()
            self._wake.notify()

    def cancel(self) -> None:
        """Drop the query that waits, if any."""
        with self._wake:
            self._wanted = None

    def close(self) -> None:
        """Stop the thread soon; it is a daemon, so nobody needs to wait for it."""
        with self._wake:
            self._closed = True
            self._wake.notify()
        if (process := self._process) is not None:
            process.kill()

    def _serve(self) -> None:
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._closed or self._wanted is not None)
                if self._closed:
                    return
            if time.monotonic() - self._built_s > FRESH_S:
                self._build()
            self._answer(self._paths, complete=True)

    def _build(self) -> None:
        """Read the folder; answer from what is there while it grows."""
        fresh: list[str] = []
        folders: set[str] = set()
        told_s = time.monotonic()
        for path in _list_files(self._root, self._hold):
            fresh.append(path)
            folder = path
            while (cut := folder.rfind("/")) > 0 and (folder := folder[:cut]) + "/" not in folders:
                folders.add(folder + "/")
                fresh.append(folder + "/")
            if len(fresh) % BATCH == 0:
                if self._closed or len(fresh) >= MAX_FILES:
                    break
                if time.monotonic() - told_s > 0.15:
                    self._answer(self._paths or fresh, complete=False)
                    told_s = time.monotonic()
        self._paths, self._built_s, self._last = fresh, time.monotonic(), ("", [])

    def _hold(self, process: subprocess.Popen[bytes] | None) -> None:
        self._process = process
        if process is not None and self._closed:
            process.kill()

    def _answer(self, paths: Sequence[str], *, complete: bool) -> None:
        """Answer the waiting query, unless a newer one comes meanwhile."""
        wanted = self._wanted
        if wanted is None:
            return
        query, deliver = wanted
        last_query, last_found = self._last
        narrows = complete and last_query and query.startswith(last_query)
        found = self._filter(query, last_found if narrows else paths, wanted)
        if found is None:
            return
        if complete:
            self._last = (query, found)
        scored = heapq.nsmallest(MAX_SCORED, found, key=len) if len(found) > MAX_SCORED else found
        matches = [m for path in scored if (m := match(query, path)) is not None]
        best = heapq.nsmallest(self._limit, matches, key=lambda m: (-m.score, len(m.text), m.text))
        with self._wake:
            if self._wanted is not wanted or self._closed:
                return
            if complete:
                self._wanted = None
        deliver(FileResult(query, tuple(best), len(found), complete))

    def _filter(self, query: str, paths: Sequence[str], wanted: object) -> list[str] | None:
        """Return all paths that fit, or None if a newer query came."""
        fits = matcher(query)
        found: list[str] = []
        for start in range(0, len(paths), BATCH):
            found += [path for path in paths[start : start + BATCH] if fits(path.lower())]
            if self._wanted is not wanted or self._closed:
                return None
        return found


def _list_files(root: Path, hold: Callable[[subprocess.Popen[bytes] | None], None]) -> Iterator[str]:
    """Yield relative paths with forward slashes from the first source that works."""
    sources = (
        # A repository may name a program as its file system monitor; nothing of it runs for a list of names.
        [
            "git",
            "-C",
            str(root),
            "-c",
            "core.fsmonitor=false",
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
            "--deduplicate",
        ],
        ["rg", "--files", "--null", "--no-messages", "--hidden", "--glob", "!.git", "--no-require-git", "--", "."],
    )
    for command in sources:
        if which(command[0]) is None:
            continue
        paths = _read_null_separated(command, root, hold)
        first = next(paths, None)
        if first is not None:
            yield first
            yield from paths
            return
    yield from _walk(root)


def _read_null_separated(
    command: list[str], root: Path, hold: Callable[[subprocess.Popen[bytes] | None], None]
) -> Iterator[str]:
    try:
        process = subprocess.Popen(
            command, cwd=root, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    except OSError:
        return
    hold(process)
    assert process.stdout is not None
    rest = b""
    try:
        while piece := process.stdout.read(1 << 16):
            *names, rest = (rest + piece).split(b"\0")
            for name in names:
                yield os.fsdecode(name).removeprefix("./").replace(os.sep, "/")
    finally:
        process.kill()
        process.stdout.close()
        process.wait()
        hold(None)


def _walk(root: Path) -> Iterator[str]:
    """Yield files breadth first, so that near ones come early."""
    from collections import deque

    folders: deque[tuple[str, IgnoreRules]] = deque([("", IgnoreRules(root))])
    while folders:
        prefix, above = folders.popleft()
        try:
            with os.scandir(root / prefix) as scan:
                entries = sorted(scan, key=lambda entry: entry.name)
        except OSError:
            continue
        rules = above.below(prefix)
        for entry in entries:
            path = prefix + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name in _SKIPPED or rules.ignores(path + "/" * is_folder):
                continue
            if is_folder:
                folders.append((path + "/", rules))
            elif entry.is_file():
                yield path
