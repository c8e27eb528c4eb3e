"""The transcript: keys, the mouse, selections, over the parts that draw, change and find."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.selection import Selection
from typing_extensions import override

from ..entries.base import Entry
from ..rendering.code_unit import CodeUnit
from ..rendering.inline import is_safe_url
from ..rendering.rows import MARGIN
from .reading import TranscriptReading
from .selecting import selected_text, word_at

_FOLDING = frozenset({"tool", "reasoning"})
"""Kinds whose first row opens and closes them by a click."""


class Transcript(TranscriptReading):
    """The view with everything that keys and the mouse do in it.

    Its messages ask for what it cannot do itself: older entries, the clipboard, opening an address.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "toggle_entry", "Open or close", id="entry_toggle", show=False),
        Binding("y", "copy_entry", "Copy", id="copy", show=False),
        Binding("left_square_bracket", "walk(-1)", "Message above", id="user_up", show=False),
        Binding("right_square_bracket", "walk(1)", "Message below", id="user_down", show=False),
        Binding("n", "step(1)", "Next hit", id="find_next", show=False),
        Binding("N", "step(-1)", "Previous hit", id="find_previous", show=False),
    ]

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._is_dragging = False

    @override
    def action_scroll_home(self) -> None:
        """Show the first entry."""
        self.go_to_start()

    @override
    def action_scroll_end(self) -> None:
        """Follow the end again."""
        self.go_to_end()

    def action_toggle_entry(self) -> None:
        """Open or close the entry under the cursor."""
        if self.cursor is not None:
            self.toggle(self.cursor)

    def action_copy_entry(self) -> None:
        """Copy the source of the entry under the cursor, or of the last answer."""
        answers = (entry for entry in reversed(self._column.entries) if entry.KIND == "assistant")
        entry = self.cursor or next(answers, None)
        if entry is not None:
            self.post_message(self.CopyRequested(entry.source()))

    def action_walk(self, step: int) -> None:
        """Walk the person's own messages."""
        self.move_cursor(step, user_only=True)

    def action_step(self, direction: int) -> None:
        """Go to the next or the previous hit."""
        self.find_next(direction)

    def on_click(self, event: events.Click) -> None:
        """Follow links, open and close entries, copy code, go to the end."""
        x, y = event.x, event.y
        if event.chain > 1:
            self._select_by_click(event)
            return
        if not self.anchored and y == self.size.height - 1 and 0 < self.size.width - x <= self._marker.pill_width:
            self.go_to_end()
            return
        segment_at = self._segment_at(x, y)
        url = segment_at.style.link if segment_at is not None and segment_at.style is not None else None
        if url and is_safe_url(url):
            self.post_message(self.LinkClicked(url))
        elif y < len(self._window):
            _, entry, unit, row = self._window[y]
            self._click_entry(entry, unit, row, x)

    def _segment_at(self, x: int, y: int) -> Segment | None:
        """Return what is drawn in a cell."""
        if 0 <= y < len(self._window):
            for segment in self._window[y][0]:
                x -= segment.cell_length
                if x < 0:
                    return segment
        return None

    def _click_entry(self, entry: Entry, unit: int, row: int, x: int) -> None:
        units = self._column.body(entry).units
        part = units[unit] if unit >= 0 else None
        if isinstance(part, CodeUnit) and part.label and row == part.gap:
            if x >= self.size.width - MARGIN - len(part.label) - 1:
                self.post_message(self.CopyRequested(part.whole_code(units[unit + 1 :])))
        elif entry.KIND in _FOLDING and unit == 0:
            self.cursor = entry
            self.toggle(entry)

    def _select_by_click(self, event: events.Click) -> None:
        """Select a word (two clicks) or the row's text (three); Textual itself would take the whole session."""
        event.prevent_default()
        if event.y >= len(self._window):
            return
        row = self._window[event.y][0]
        span = word_at(row, event.x) if event.chain == 2 else (row.skip, len(row.text.rstrip()))
        line = self._top + event.y - self._origin
        self.screen.selections = {self: Selection.from_offsets(Offset(span[0], line), Offset(span[1], line))}

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Take hold of the scroll thumb."""
        if event.x == self.size.width - 1 and not self.anchored:
            self._is_dragging = True
            self.capture_mouse()
            self._drag_to(event.y)
            event.stop()

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Drag the scroll thumb."""
        if self._is_dragging:
            self._drag_to(event.y)

    def on_mouse_up(self) -> None:
        """Let the scroll thumb go."""
        if self._is_dragging:
            self._is_dragging = False
            self.release_mouse()

    def _drag_to(self, y: int) -> None:
        share = min(1.0, max(0.0, y / max(1, self.size.height - 1)))
        self.scroll_to(y=round(share * self.max_scroll_y))

    @override
    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as it was written: wrapped rows joined, decoration left out."""
        if selection.start is None and selection.end is None:
            return "\n\n".join(entry.source() for entry in self._column.entries), "\n"
        return selected_text(self._column, selection, self._origin), "\n"
