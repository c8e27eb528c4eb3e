"""The list of the session browser: any number of sessions, grouped by day, only visible rows drawn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.message import Message

from .line_list import LineList
from .line_text import Span
from .session_list_text import SessionItem, facts_row, group_of, title_row

_NEAR_END = 30
RIGHT_BUTTON = 3


class SessionList(LineList):
    """Draws sessions in two rows each.

    Args:
        home: The home folder, shown as ``~``.
        current_id: The session that is open here.
        clock: Unix time.
    """

    ITEM_HEIGHT: ClassVar[int] = 2

    class NearEnd(Message):
        """The reader comes close to the last loaded row."""

    class MenuWanted(Message):
        """The session that was put under the cursor was clicked with the right button."""

    def __init__(self, *, home: str = "", current_id: str = "", clock: Callable[[], float] = time.time) -> None:
        super().__init__()
        self._home = home
        self._current_id = current_id
        self._clock = clock
        self._entries: list[SessionItem | str] = []
        self._grouping = ""
        self.marked: set[str] = set()
        """Ids of the sessions that were marked with ``space``."""

    @property
    def items(self) -> list[SessionItem]:
        """The sessions, in order."""
        return [entry for entry in self._entries if isinstance(entry, SessionItem)]

    @property
    def current(self) -> SessionItem | None:
        """The session under the cursor."""
        entry = self._entries[self.cursor] if 0 <= self.cursor < len(self._entries) else None
        return entry if isinstance(entry, SessionItem) else None

    def set_items(self, items: Sequence[SessionItem], grouping: str = "", select: str = "") -> None:
        """Show other sessions.

        Args:
            items: The first page.
            grouping: ``updated_at`` or ``created_at`` puts them under days; empty doesn't.
            select: Id of the session to put the cursor on; the first one when it is not there.
        """
        self._entries, self._grouping = [], grouping
        self.marked &= {item.row.id for item in items}
        self._add(items)
        self.items_changed(self._index_of(select) if select else 0)

    def append_items(self, items: Sequence[SessionItem]) -> None:
        """Add a page at the end; nothing moves."""
        self._add(items)
        self.items_changed()

    def replace(self, items: Sequence[SessionItem]) -> None:
        """Show changed sessions, keeping the cursor where it is."""
        at = self.cursor
        self._entries = []
        self._add(items)
        self.items_changed(at)

    def row_of_cursor(self) -> int:
        """Return the row of the window where the item under the cursor begins."""
        return self.cursor * self.ITEM_HEIGHT - round(self.scroll_offset.y)

    def toggle_mark(self) -> None:
        """Mark or unmark the session under the cursor."""
        item = self.current
        if item is not None:
            self.marked ^= {item.row.id}
            self.refresh()

    def mark_all(self) -> None:
        """Mark all loaded sessions, or none when all are marked."""
        ids = {item.row.id for item in self.items}
        self.marked = set() if ids <= self.marked else ids
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Ask for a menu on the right button; the others move the cursor and pick."""
        if event.button != RIGHT_BUTTON:
            return
        event.stop()
        event.prevent_default()
        index = self.item_at(event)
        if index is not None:
            self.cursor = index
            self.post_message(self.MenuWanted())

    def _add(self, items: Sequence[SessionItem]) -> None:
        now = self._clock()
        last = next((entry for entry in reversed(self._entries) if isinstance(entry, str)), "")
        for item in items:
            group = self._group(item, now)
            if group and group != last:
                self._entries.append(group)
                last = group
            self._entries.append(item)

    def _group(self, item: SessionItem, now: float) -> str:
        if not self._grouping:
            return ""
        return "Pinned" if item.row.pinned else group_of(getattr(item.row, self._grouping), now)

    def _index_of(self, session_id: str) -> int:
        for index, entry in enumerate(self._entries):
            if isinstance(entry, SessionItem) and entry.row.id == session_id:
                return index
        return 0

    def item_count(self) -> int:
        """Return the sessions and headings loaded."""
        return len(self._entries)

    def is_heading(self, index: int) -> bool:
        """A day cannot be picked."""
        return isinstance(self._entries[index], str)

    def draw(self, index: int, row: int, width: int) -> Sequence[Span]:
        """Draw a heading or one of a session's two rows."""
        entry = self._entries[index]
        if isinstance(entry, str):
            return [(entry, "heading")] if row else []
        if row:
            return facts_row(entry, width, self._home, self._current_id)
        return title_row(entry, width, self._clock(), is_marked=entry.row.id in self.marked)

    def watch_cursor(self, old: int, new: int) -> None:
        """Ask for more when the cursor comes near the end."""
        super().watch_cursor(old, new)
        self._ask_for_more()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Ask for more when the window comes near the end."""
        super().watch_scroll_y(old_value, new_value)
        self._ask_for_more()

    def _ask_for_more(self) -> None:
        bottom = (round(self.scroll_offset.y) + self.size.height) // self.ITEM_HEIGHT
        if max(bottom, self.cursor) + _NEAR_END >= len(self._entries):
            self.post_message(self.NearEnd())
