"""Looks for words in what a job writes, and says so now and then instead of each time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

INTERVAL_S: Final = 15.0
"""A job speaks up at most this often. Source: design, watch 1 per 15 s."""
MAX_STRIKES: Final = 3
"""So many intervals in a row with more to say than may be said end the watch."""
MAX_LINES: Final = 20
MAX_LINE_CHARS: Final = 200


class Watch:
    """Turns matching lines into news. One thread at a time.

    Args:
        words: Texts, any of which makes a line match.
        clock: Monotonic seconds.
    """

    def __init__(self, words: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._words = tuple(words)
        self._clock = clock
        self._next_s = float("-inf")
        self._missed = 0
        self._strikes = 0

    def look(self, text: str) -> str:
        """Return what to say about finished lines; empty when nothing matches or it is too soon."""
        if not self._words:
            return ""
        lines = [line for line in text.splitlines() if any(word in line for word in self._words)]
        if not lines:
            return ""
        now = self._clock()
        if now < self._next_s:
            self._missed += len(lines)
            return ""
        return self._say(lines, now)

    def _say(self, lines: list[str], now: float) -> str:
        self._strikes = self._strikes + 1 if self._missed else 0
        self._next_s = now + INTERVAL_S
        said = [line[:MAX_LINE_CHARS] for line in lines[-MAX_LINES:]]
        unsaid = self._missed + len(lines) - len(said)
        self._missed = 0
        if unsaid:
            said.append(f"({unsaid} more matching lines were not told)")
        if self._strikes >= MAX_STRIKES:
            self._words = ()
            said.append("(It matches too often: this watch is off now.)")
        return "\n".join(said)
