"""All entries as one column of rows. Only what a window needs is drawn; the rest is a height.

Places are named by entry, unit and row, never by a row number of the whole column, because guesses above become exact
while a person reads. Knows no widget.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ..entries.base import Entry
from ..rendering.body import Body
from ..rendering.heights import Heights
from ..rendering.rows import Frame, Row

MAX_BODIES: Final = 160
"""Entries that keep their rows."""


Shown: TypeAlias = tuple[Row, Entry, int, int]
"""A row in a window: what to draw, and its entry, unit and row."""
Drawn: TypeAlias = tuple[Entry, int, list[Row], int]
"""A unit on a walk: entry, unit, its rows, and the row to start at."""


@dataclass(frozen=True, slots=True)
class Place:
    """A row of the column."""

    entry: Entry
    unit: int
    """Which unit; -1 is the empty row above the entry."""
    row: int


class Column:
    """Entries with their heights.

    Args:
        frame: How to draw.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.entries: list[Entry] = []
        self.heights = Heights()
        self._recent: OrderedDict[Entry, None] = OrderedDict()

    @property
    def total(self) -> int:
        """Rows of the whole column."""
        return self.heights.total

    # -- changing -----------------------------------------------------------------------------------------------------

    def insert(self, index: int, entries: Sequence[Entry]) -> None:
        """Insert entries before ``index``."""
        self.entries[index:index] = entries
        self._number(index)
        self._space(range(index, index + len(entries) + 1))
        self.heights.insert(index, [self._height(entry) for entry in entries])
        after = index + len(entries)
        if after < len(self.entries):
            self.heights[after] = self._height(self.entries[after])

    def remove(self, entry: Entry) -> None:
        """Take an entry out."""
        index = self.index(entry)
        del self.entries[index]
        self.heights.delete(index, index + 1)
        self._recent.pop(entry, None)
        self._number(index)
        self._space(range(index, index + 1))
        if index < len(self.entries):
            self.heights[index] = self._height(self.entries[index])

    def replace(self, old: Entry, new: Entry) -> None:
        """Put an entry in another one's place."""
        index = self.index(old)
        self.insert(index, [new])
        self.remove(old)

    def clear(self) -> None:
        """Take all entries out."""
        self.entries.clear()
        self.heights = Heights()
        self._recent.clear()

    def holds(self, entry: Entry) -> bool:
        """Say whether an entry is in the column."""
        return 0 <= entry.position < len(self.entries) and self.entries[entry.position] is entry

    def index(self, entry: Entry) -> int:
        """Return where an entry stands.

        Raises:
            ValueError: It is not in the column.
        """
        if not self.holds(entry):
            raise ValueError(f"entry {entry.key} is not in the transcript")
        return entry.position

    def changed(self, entry: Entry) -> None:
        """Follow a change of an entry; only that entry is measured."""
        entry.refresh(self.frame)
        self.heights[entry.position] = self._height(entry)

    def reframe(self, frame: Frame, *, keep_units: bool) -> None:
        """Draw differently from now on.

        Args:
            frame: The new frame.
            keep_units: True when only the width or the colours changed.
        """
        self.frame = frame
        for entry in self.entries:
            if not entry.is_measured:
                continue
            if keep_units:
                entry.resize(frame)
            else:
                entry.refresh(frame)
        self.heights = Heights(map(self._height, self.entries))

    def _number(self, start: int) -> None:
        for position in range(start, len(self.entries)):
            self.entries[position].position = position

    def _space(self, indexes: Iterable[int]) -> None:
        for index in indexes:
            if index < len(self.entries):
                entry = self.entries[index]
                entry.spaced = index > 0 and not entry.follows_closely(self.entries[index - 1])

    def _height(self, entry: Entry) -> int:
        rows = entry.height(self.frame)
        return rows + 1 if rows and entry.spaced else rows

    # -- places -------------------------------------------------------------------------------------------------------

    def row_of(self, place: Place) -> int:
        """Return the row number of a place as things are measured now."""
        start = self.heights.start(self.index(place.entry))
        if place.unit < 0:
            return start
        body = self.body(place.entry)
        unit = min(place.unit, max(0, len(body.units) - 1))
        inside = min(place.row, max(0, body.heights[unit] - 1)) if len(body.heights) else 0
        return start + self._gap(place.entry) + body.heights.start(unit) + inside

    def place_at(self, row: int) -> Place | None:
        """Return the place of a row number; None in an empty column."""
        if not self.total:
            return None
        index, inside = self.heights.find(row)
        entry = self.entries[index]
        body = self.body(entry)
        inside -= self._gap(entry)
        if inside < 0:
            return Place(entry, -1, 0)
        unit, inside = body.heights.find(inside)
        rows = self._draw(entry, body, unit)
        return Place(entry, unit, max(0, min(inside, len(rows) - 1)))

    def start_of(self, entry: Entry) -> Place:
        """Return the first row of an entry."""
        return Place(entry, -1 if self._gap(entry) else 0, 0)

    def move(self, place: Place, rows: int) -> Place:
        """Return the place some rows away, counted in drawn rows; stops at the ends."""
        left = abs(rows)
        for entry, unit, drawn, offset in self._down(place) if rows >= 0 else self._up(place):
            here = len(drawn) - offset if rows >= 0 else offset + 1
            if left < here:
                return Place(entry, unit, offset + left if rows >= 0 else offset - left)
            left -= here
            place = Place(entry, unit, len(drawn) - 1 if rows >= 0 else 0)
        return place

    # -- windows ------------------------------------------------------------------------------------------------------

    def window_from(self, place: Place, height: int) -> list[Shown]:
        """Draw the rows from a place down."""
        found: list[Shown] = []
        for entry, unit, rows, offset in self._down(place):
            part = rows[offset : offset + height - len(found)]
            found += [(row, entry, unit, offset + i) for i, row in enumerate(part)]
            if len(found) >= height:
                break
        return found

    def window_to_end(self, height: int) -> list[Shown]:
        """Draw the last rows."""
        if not self.entries:
            return []
        parts: list[list[Shown]] = []
        left = height
        last = self.entries[-1]
        end = Place(last, len(self.body(last).units) - 1, 1 << 30)
        for entry, unit, rows, _ in self._up(end):
            first = max(0, len(rows) - left)
            parts.append([(rows[i], entry, unit, i) for i in range(first, len(rows))])
            left -= len(rows) - first
            if left <= 0:
                break
        return [shown for part in reversed(parts) for shown in part]

    def is_end(self, shown: Shown) -> bool:
        """Say whether a shown row is the last of the column."""
        _, entry, unit, number = shown
        if self.heights.start(entry.position + 1) < self.total:
            return False
        units = self.body(entry).units
        return unit == len(units) - 1 and number == len(self._unit_rows(entry, self.body(entry), unit)) - 1

    def _down(self, place: Place) -> Iterator[Drawn]:
        """Walk units downward from a place."""
        unit, offset = place.unit, place.row
        for index in range(self.index(place.entry), len(self.entries)):
            entry = self.entries[index]
            body = self.body(entry)
            for number in range(unit, len(body.units)):
                rows = self._unit_rows(entry, body, number)
                if offset < len(rows):
                    yield entry, number, rows, offset
                offset = 0
            unit, offset = -1, 0

    def _up(self, place: Place) -> Iterator[Drawn]:
        """Walk units upward from a place."""
        unit, offset = place.unit, place.row
        for index in range(self.index(place.entry), -1, -1):
            entry = self.entries[index]
            body = self.body(entry)
            for number in range(min(unit, len(body.units) - 1), -2, -1):
                if rows := self._unit_rows(entry, body, number):
                    yield entry, number, rows, min(offset, len(rows) - 1)
                offset = 1 << 30
            unit = 1 << 30

    def _unit_rows(self, entry: Entry, body: Body, unit: int) -> list[Row]:
        if unit >= 0:
            return self._draw(entry, body, unit)
        return [self.frame.blank()] if self._gap(entry) else []

    def _gap(self, entry: Entry) -> int:
        return 1 if entry.spaced and self.heights[entry.position] else 0

    # -- drawing ------------------------------------------------------------------------------------------------------

    def body(self, entry: Entry) -> Body:
        """Return an entry's units, and remember that it is in use."""
        fresh = not entry.is_measured
        body = entry.body(self.frame)
        self._recent[entry] = None
        self._recent.move_to_end(entry)
        if fresh:
            self.heights[entry.position] = self._height(entry)
        return body

    def _draw(self, entry: Entry, body: Body, unit: int) -> list[Row]:
        """Return a unit's rows; the heights of unit and entry become exact on the way."""
        guessed = body.heights.total
        rows = body.draw(unit, self.frame)
        if body.heights.total != guessed:
            self.heights[entry.position] = self._height(entry)
        return rows

    def trim(self, window: Sequence[Shown]) -> None:
        """Forget rows that were not needed lately, none of the window's."""
        first, last = window[0][1].position, window[-1][1].position
        while len(self._recent) > MAX_BODIES:
            entry = next(iter(self._recent))
            del self._recent[entry]
            if self.holds(entry) and not first <= entry.position <= last:
                entry.forget()
        for index in {first, last}:
            body = self.body(self.entries[index])
            body.trim({body.units[unit] for _, entry, unit, _ in window if unit >= 0 and entry.position == index})
