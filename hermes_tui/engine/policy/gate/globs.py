"""Expand a glob as bash does, within a limit, to know which files a command would get."""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Callable, Iterator

MAX_SEEN = 4000
"""Directory entries looked at for one word."""
_MAGIC = re.compile(r"[*?\[]")
_QUOTED = re.compile(r"\[([*?\[])\]")


class TooManyError(Exception):
    """The glob may match more files than can be looked at."""


def expand_glob(pattern: str, cwd: str, tick: Callable[[], None]) -> list[str]:
    """Return the absolute paths that match.

    Args:
        pattern: With quoted specials in brackets, as :class:`~.facts.Word` has it. ``**`` is a plain star.
        cwd: Absolute folder for relative patterns.
        tick: Called now and then; may raise to stop.

    Raises:
        TooManyError: More entries than :data:`MAX_SEEN` would have to be looked at.
    """
    parts = [part for part in pattern.split("/") if part]
    found = ["/" if pattern.startswith("/") else cwd]
    seen = 0
    for part in parts:
        if not _MAGIC.search(part) or _QUOTED.sub("", part) == re.sub(r"[*?\[]", "", part):
            name = _QUOTED.sub(r"\1", part)
            found = [path for path in (os.path.join(folder, name) for folder in found) if os.path.lexists(path)]  # noqa: PTH118
            continue
        matches = re.compile(fnmatch.translate(part.replace("[^", "[!"))).match
        hidden = part.startswith(".")
        matched: list[str] = []
        for folder in found:
            tick()
            for name in _names(folder):
                seen += 1
                if seen > MAX_SEEN:
                    raise TooManyError
                if (hidden or not name.startswith(".")) and matches(name):
                    matched.append(os.path.join(folder, name))  # noqa: PTH118
        found = matched
    return found


def _names(folder: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                yield entry.name
    except OSError:
        return
