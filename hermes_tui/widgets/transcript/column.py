"""All entries as one column of rows. Only what a window needs is drawn; the rest is a height.

Places are named by entry, unit and row, never by a row number of the whole column, because guesses above become exact
while a person reads. Knows no widget.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from ..entries.base import Entry
from ..rendering.body import Body
from ..rendering.heights import Heights
from ..rendering.rows import Frame, Row

MAX_BODIES: Final = 160
"""Entries that keep their rows."""
MAX_UNITS: Final = 500
"""Units that keep rows in one entry; the ones far from the window go first."""


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

    # -- changing --------------------------------------------------------------------------------------------------

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

    # -- places ----------------------------------------------------------------------------------------------------

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
        rows = self._draw(entry, unit)
        return Place(entry, unit, max(0, min(inside, len(rows) - 1)))

    def start_of(self, entry: Entry) -> Place:
        """Return the first row of an entry."""
        return Place(entry, -1 if self._gap(entry) else 0, 0)

    def move(self, place: Place, rows: int) -> Place:
        """Return the place some rows away, counted in drawn rows; stops at the ends."""
        walk = self._down(place) if rows >= 0 else self._up(place)
        left = abs(rows)
        for entry, unit, count, offset in walk:
            here = count - offset if rows >= 0 else offset + 1
            if left < here:
                return Place(entry, unit, offset + left if rows >= 0 else offset - left)
            left -= here
            place = Place(entry, unit, max(0, count - 1) if rows >= 0 else 0)
        return place

    # -- windows ---------------------------------------------------------------------------------------------------

    def window_from(self, place: Place, height: int) -> list[tuple[Row, Entry, int, int]]:
        """Draw the rows from a place down."""
        found: list[tuple[Row, Entry, int, int]] = []
        for entry, unit, _count, offset in self._down(place):
            rows = self._unit_rows(entry, unit)
            part = rows[offset : offset + height - len(found)]
            found += [(row, entry, unit, offset + i) for i, row in enumerate(part)]
            if len(found) >= height:
                break
        return found

    def window_to_end(self, height: int) -> list[tuple[Row, Entry, int, int]]:
        """Draw the last rows."""
        if not self.entries:
            return []
        found: list[tuple[Row, Entry, int, int]] = []
        last = self.entries[-1]
        units = len(self.body(last).units)
        for entry, unit, count, _offset in self._up(Place(last, units - 1, 1 << 30)):
            rows = self._unit_rows(entry, unit)
            part = [(row, entry, unit, i) for i, row in enumerate(rows)]
            found[:0] = part[max(0, count - (height - len(found))) :]
            if len(found) >= height:
                break
        return found

    def _down(self, place: Place) -> Iterator[tuple[Entry, int, int, int]]:
        """Walk units downward: ``(entry, unit, rows, first row)``; each is drawn, so its height is exact."""
        unit, offset = place.unit, place.row
        for index in range(self.index(place.entry), len(self.entries)):
            entry = self.entries[index]
            for number in range(unit, len(self.body(entry).units)):
                rows = len(self._unit_rows(entry, number))
                if offset < rows:
                    yield entry, number, rows, offset
                offset = 0
            unit, offset = -1, 0

    def _up(self, place: Place) -> Iterator[tuple[Entry, int, int, int]]:
        """Walk units upward: ``(entry, unit, rows, last row)``."""
        unit: int | None = place.unit
        offset: int | None = place.row
        for index in range(self.index(place.entry), -1, -1):
            entry = self.entries[index]
            if unit is None:
                unit = len(self.body(entry).units) - 1
            for number in range(unit, -2, -1):
                rows = len(self._unit_rows(entry, number))
                if rows:
                    yield entry, number, rows, rows - 1 if offset is None else min(offset, rows - 1)
                offset = None
            unit = offset = None

    def _unit_rows(self, entry: Entry, unit: int) -> list[Row]:
        if unit < 0:
            return [self.frame.blank()] if self._gap(entry) else []
        return self._draw(entry, unit)

    def _gap(self, entry: Entry) -> int:
        return 1 if entry.spaced and self.heights[entry.position] else 0

    # -- drawing ---------------------------------------------------------------------------------------------------

    def body(self, entry: Entry) -> Body:
        """Return an entry's units, and remember that it is in use."""
        fresh = not entry.is_measured
        body = entry.body(self.frame)
        self._recent[entry] = None
        self._recent.move_to_end(entry)
        if fresh:
            self.heights[entry.position] = self._height(entry)
        return body

    def _draw(self, entry: Entry, unit: int) -> list[Row]:
        body = self.body(entry)
        rows = body.draw(unit, self.frame)
        self.heights[entry.position] = self._height(entry)
        return rows

    def trim(self, first: Entry, last: Entry) -> None:
        """Forget rows that were not needed lately, none between two visible entries."""
        while len(self._recent) > MAX_BODIES:
            entry = next(iter(self._recent))
            del self._recent[entry]
            if self.holds(entry) and not first.position <= entry.position <= last.position:
                entry.forget()
        for entry in (first, last):
            units = self.body(entry).units
            if len(units) > MAX_UNITS and sum(unit.rows_cache is not None for unit in units) > MAX_UNITS:
                for unit in units:
                    unit.forget()
