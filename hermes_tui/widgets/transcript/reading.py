"""Walking entries, opening and closing them, finding words in all of them."""

from __future__ import annotations

from typing import Any

from textual.message import Message
from typing_extensions import override

from ..entries.base import Entry
from .column import Place
from .content import TranscriptContent
from .finding import Finder, Hit


class TranscriptReading(TranscriptContent):
    """The part of the transcript that takes a reader to places."""

    class OlderWanted(Message, namespace="transcript"):
        """The reader is near the first entry; older ones, if there are any, belong above it."""

    class EntryActivated(Message, namespace="transcript"):
        """The reader opened or closed an entry."""

        def __init__(self, entry: Entry) -> None:
            super().__init__()
            self.entry = entry

    class CopyRequested(Message, namespace="transcript"):
        """The reader wants text on the clipboard."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class LinkClicked(Message, namespace="transcript"):
        """The reader clicked an address; nothing was opened."""

        def __init__(self, url: str) -> None:
            super().__init__()
            self.url = url

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._asked_above: Entry | None = None

    # -- going places -------------------------------------------------------------------------------------------------

    def go_to_end(self) -> None:
        """Follow the end again."""
        self.anchored = True
        self._schedule()

    def go_to_start(self) -> None:
        """Show the first entry."""
        if self._column.entries:
            self._go_to(self._column.start_of(self._column.entries[0]))

    def go_to_entry(self, entry: Entry) -> None:
        """Bring an entry into view, moving as little as possible."""
        column, height = self._column, self.size.height
        self._flush_changes()
        body = column.body(entry)
        rows = sum(len(body.draw(unit, column.frame)) for unit in range(min(height, len(body.units))))
        column.changed(entry)
        start = column.start_of(entry)
        first = column.row_of(start)
        if first >= self._top and first + rows <= self._top + height - 1:
            return
        if first < self._top or rows >= height - 1:
            self._go_to(start)
        elif entry.position == len(column.entries) - 1:
            self.go_to_end()
        else:
            self._go_to(column.move(start, rows + 1 - height))

    def _go_to(self, place: Place) -> None:
        """Put a place at the top of the window."""
        if self._pin is None:
            return
        self._pin = place
        self._top = self._column.row_of(place)
        self.anchored = False
        self._update()
        self._ask_for_older()

    @override
    def scroll_to(self, x: float | None = None, y: float | None = None, **options: Any) -> None:
        """Scroll, and ask for older entries near the top."""
        super().scroll_to(x, y, **options)
        if y is not None and y <= self._top:
            self._ask_for_older()

    def _ask_for_older(self) -> None:
        """Ask once for each first entry."""
        first = self._column.entries[0] if self._column.entries else None
        if first is not None and first is not self._asked_above and self._top <= self.size.height:
            self._asked_above = first
            self.post_message(self.OlderWanted())

    # -- the entry cursor ---------------------------------------------------------------------------------------------

    def move_cursor(self, step: int, user_only: bool = False) -> Entry | None:
        """Walk the entries; the first step starts at what is on the screen.

        Args:
            step: +1 down, -1 up.
            user_only: Stop only at the person's own messages.

        Returns:
            The entry under the cursor, None when there is nothing to walk.
        """
        entries = self._column.entries
        if self.cursor is None or not self._column.holds(self.cursor):
            seen = [entry for _, entry, _, _ in self._window]
            if not seen:
                return None
            index = seen[-1].position + 1 if step < 0 else seen[0].position - 1
        else:
            index = self.cursor.position
        index += step
        while 0 <= index < len(entries):
            entry = entries[index]
            if entry.height(self._column.frame) and (entry.KIND == "user" or not user_only):
                self.cursor = entry
                self.go_to_entry(entry)
                self._schedule()
                return entry
            index += step
        if step > 0:
            self.cursor = None if user_only else self.cursor
            self.go_to_end()
        return self.cursor

    def clear_cursor(self) -> None:
        """Leave the entries alone."""
        self.cursor = None
        self._schedule()

    def toggle(self, entry: Entry) -> None:
        """Open or close an entry; the rows above it stay where they are."""
        frame = self._column.frame
        entry.expanded = not entry.is_open(frame)
        self.anchored = self.anchored and self._pin is None
        self.changed(entry)
        self.post_message(self.EntryActivated(entry))

    # -- finding ------------------------------------------------------------------------------------------------------

    def find(self, query: str) -> int:
        """Mark all occurrences of words in all entries, drawn or not; empty ends it.

        Returns:
            How many there are.
        """
        self._finder = Finder(query, self._column.entries) if query else None
        self._marker.forget()
        self._schedule()
        return len(self._finder.hits) if self._finder is not None else 0

    def find_next(self, direction: int = 1) -> int:
        """Go to the next hit (+1) or the one before (-1), around the ends.

        Returns:
            The hit's number from 1; 0 when there is none.
        """
        finder = self._finder
        if finder is None:
            return 0
        near = self._window[0][1] if self._window else None
        hit = finder.step(direction, near)
        if hit is not None and self._column.holds(hit.entry):
            self._show_hit(hit, finder)
        return finder.number

    def _show_hit(self, hit: Hit, finder: Finder) -> None:
        column, entry = self._column, hit.entry
        place = self._place_of(hit, finder)
        if place is None and not entry.is_open(column.frame):
            entry.expanded = True
            column.changed(entry)
            place = self._place_of(hit, finder)
        place = place or column.start_of(entry)
        self.cursor = entry
        # Drawing the hit may have changed the heights above the window.
        top = column.row_of(self._pin) if self._pin is not None and column.holds(self._pin.entry) else self._top
        if top <= column.row_of(place) < top + self.size.height:
            self._schedule()
        else:
            self._go_to(column.move(place, -(self.size.height // 3)))

    def _place_of(self, hit: Hit, finder: Finder) -> Place | None:
        """Return the row of a hit; the last row with one, when drawing hides some occurrences."""
        body = self._column.body(hit.entry)
        seen, last = 0, None
        for unit in range(len(body.units)):
            if not body.units[unit].may_contain(finder.pattern):
                continue
            for number, row in enumerate(body.draw(unit, self._column.frame)):
                if found := len(finder.pattern.findall(row.text)):
                    seen, last = seen + found, Place(hit.entry, unit, number)
                    if seen > hit.number:
                        return last
        return last
