"""Search without ripgrep: the same results, slower."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from hermes_tui.gitignore import IgnoreRules

from .globs import GlobFilter
from .ports import CancelToken
from .search_types import Found, Hit, Query

TIMEOUT_S = 60.0
_FILE_CAP = 16 * 1024 * 1024
_SAMPLE = 8_192


def search_content(query: Query, cancel: CancelToken) -> Found:
    """Search file contents."""
    found = Found()
    flags = re.IGNORECASE if query.ignore_case else 0
    try:
        wanted = re.compile(query.pattern, flags)
    except re.error as error:
        wanted = re.compile(re.escape(query.pattern), flags)
        found.notes.append(f"The pattern is no valid regular expression ({error}): searched it as plain text.")
    deadline = time.monotonic() + TIMEOUT_S
    names = [query.start] if query.start != "." else walk(query)
    for name in names:
        found.stopped = "cancel" if cancel.cancelled else "time" if time.monotonic() > deadline else ""
        if found.stopped:
            break
        _search_file(query, name.removeprefix("./"), wanted, found)
        if found.match_count >= query.match_cap:
            found.stopped = "cap"
            break
    return found


def list_files(query: Query, cancel: CancelToken, keep: Callable[[str], bool]) -> Found:
    """List files whose path, relative to the root, passes ``keep``."""
    found = Found()
    for name in walk(query):
        if cancel.cancelled:
            found.stopped = "cancel"
            break
        if keep(name):
            found.names.append(name)
            if len(found.names) >= query.name_cap:
                found.stopped = "cap"
                break
    return found


def walk(query: Query) -> Iterator[str]:
    """Yield the regular files below the root that are neither ignored nor hidden, in order of path."""
    keep = GlobFilter(query.globs)
    rules = IgnoreRules(query.root, (".gitignore", ".ignore"))
    return (name for name in _walk(query.root, rules, query.hidden) if keep(name))


def _walk(root: Path, rules: IgnoreRules, hidden: bool) -> Iterator[str]:
    waiting = [_entries(root, "", rules, hidden)]
    while waiting:
        name, below = next(waiting[-1], ("", None))
        if not name:
            waiting.pop()
        elif below is not None:
            waiting.append(_entries(root, name, below, hidden))
        else:
            yield name


def _entries(root: Path, folder: str, above: IgnoreRules, hidden: bool) -> Iterator[tuple[str, IgnoreRules | None]]:
    """Yield what is in a folder and not ignored: files, and folders with the rules that hold for them."""
    try:
        with os.scandir(root / folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    rules = above.below(folder)
    for entry in entries:
        if entry.name == ".git" or (entry.name.startswith(".") and not hidden):
            continue
        name = f"{folder}{entry.name}"
        is_folder = entry.is_dir(follow_symlinks=False)
        if rules.ignores(name + "/" * is_folder):
            continue
        if is_folder:
            yield name + "/", rules
        elif entry.is_file(follow_symlinks=False):
            yield name, None


def _search_file(query: Query, name: str, wanted: re.Pattern[str], found: Found) -> None:
    try:
        path = query.root / name
        if path.stat().st_size > _FILE_CAP:
            found.notes.append(f"{name} is too large to search without ripgrep.")
            return
        content = path.read_bytes()
    except OSError:
        return
    if b"\0" in content[:_SAMPLE]:
        return
    lines = content.decode("utf-8", "replace").split("\n")
    matching = {index: at for index, line in enumerate(lines) if (at := wanted.search(line))}
    shown: set[int] = set()
    for index in matching:
        shown.update(range(max(0, index - query.context), min(len(lines), index + query.context + 1)))
    for index in sorted(shown):
        match = matching.get(index)
        text = lines[index].removesuffix("\r")
        found.add(Hit(name, index + 1, text, match is not None, match.start() if match else 0))
