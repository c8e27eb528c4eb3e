"""Which files this session has read, as what, so that an edit of a file that changed since is refused."""

from __future__ import annotations

import threading

from .base import ToolFailure
from .ports import ToolContext
from .textfile import Stamp

Window = tuple[int, int]
"""First line and number of lines asked for."""


class ReadTable:
    """Stamps by real path. Any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._stamps: dict[str, Stamp] = {}
        self._windows: dict[str, dict[Window, bool]] = {}

    def note(self, real: str, stamp: Stamp) -> None:
        """Remember a file as it was just read or written; a changed one was not given yet."""
        with self._lock:
            if not self._matches(real, stamp):
                self._windows.pop(real, None)
            self._stamps[real] = stamp

    def is_repeated(self, real: str, window: Window) -> bool:
        """Whether these lines were given before and are still the same; every second repeat says no.

        The model may ask because the text is no longer before it, so it gets the text when it asks once more.
        """
        with self._lock:
            given = self._windows.setdefault(real, {})
            repeated = given.get(window, False)
            given[window] = not repeated
            return repeated

    def check_fresh(self, real: str, raw: str, stamp: Stamp) -> None:
        """Refuse to go on with a file that changed since it was read.

        Raises:
            ToolFailure: It did.
        """
        with self._lock:
            known = self._stamps.get(real)
            if known is None or self._matches(real, stamp):
                return
        raise ToolFailure(
            f"{raw} changed on disk since you read it. Nothing was written: read it again, then repeat the edit.",
            stale=True,
        )

    def _matches(self, real: str, stamp: Stamp) -> bool:
        known = self._stamps.get(real)
        if known is None:
            return False
        if known.digest and stamp.digest:
            return known.digest == stamp.digest
        return (known.mtime_ns, known.size, known.inode) == (stamp.mtime_ns, stamp.size, stamp.inode)


def read_table(context: ToolContext) -> ReadTable:
    """Return the session's table."""
    return context.state.get("files_read", ReadTable)
