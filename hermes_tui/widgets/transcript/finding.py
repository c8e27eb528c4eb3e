"""Find words in all entries, drawn or not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..entries.base import Entry


@dataclass(frozen=True, slots=True)
class Hit:
    """One occurrence."""

    entry: Entry
    number: int
    """Which occurrence of its entry, from 0."""


class Finder:
    """The hits of one query, in reading order.

    Args:
        query: Words to find, in any case.
        entries: Where to look.
    """

    def __init__(self, query: str, entries: Sequence[Entry]) -> None:
        self.pattern = re.compile(re.escape(query), re.IGNORECASE)
        words = query.lower()
        self.hits = [
            Hit(entry, number)
            for entry in entries
            # Most entries hold none: a plain search is many times faster than a pattern.
            if words in (text := entry.source()).lower()
            for number in range(len(self.pattern.findall(text)))
        ]
        self._current = -1

    @property
    def current(self) -> Hit | None:
        """The hit that was gone to last."""
        return self.hits[self._current] if 0 <= self._current < len(self.hits) else None

    @property
    def number(self) -> int:
        """Its number from 1; 0 when there is none."""
        return self._current + 1

    def step(self, direction: int, near: Entry | None) -> Hit | None:
        """Go to the next hit, around the ends; the first step starts at an entry that is on the screen.

        Args:
            direction: +1 down, -1 up.
            near: Where the reader is.
        """
        if not self.hits:
            return None
        if self._current < 0 and near is not None:
            at_or_after = [i for i, hit in enumerate(self.hits) if hit.entry.position >= near.position]
            if direction > 0:
                self._current = at_or_after[0] if at_or_after else 0
            else:
                self._current = (at_or_after[0] if at_or_after else 0) - 1
            self._current %= len(self.hits)
        else:
            self._current = (self._current + direction) % len(self.hits)
        return self.hits[self._current]
