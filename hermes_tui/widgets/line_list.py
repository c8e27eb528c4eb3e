"""A virtual list: any number of rows, only the visible ones drawn.

A subclass says how many items there are, draws one, and may declare some of them headings. Every item has the same
height, so a place on the screen is found by division.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from .line_text import Span
from .line_view import StyledLines


class LineList(StyledLines, can_focus=True):
    """A list with a cursor. Subclasses override :meth:`item_count`, :meth:`draw` and :meth:`is_heading`."""

    ITEM_HEIGHT: ClassVar[int] = 1
    """Rows of one item."""
    DEFAULT_CSS = "LineList { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1)", "Up", show=False),
        Binding("down", "move(1)", "Down", show=False),
        Binding("pageup", "page(-1)", "Page up", show=False),
        Binding("pagedown", "page(1)", "Page down", show=False),
        Binding("home", "edge(0)", "First", show=False),
        Binding("end", "edge(1)", "Last", show=False),
        Binding("enter", "select", "Choose", show=False),
    ]

    cursor: reactive[int] = reactive(-1, repaint=False)
    """Index of the item under the cursor; -1 when there is none."""
    active: reactive[bool] = reactive(True)
    """Draw the cursor strongly even without focus (when a search field drives the list)."""

    class ItemMessage(Message):
        """Says something of an item."""

        def __init__(self, view: LineList, index: int) -> None:
            super().__init__()
            self.view = view
            self.index = index

        @property
        def control(self) -> LineList:
            """The list."""
            return self.view

    class Moved(ItemMessage):
        """The cursor is on another item."""

    class Chosen(ItemMessage):
        """An item was picked with Enter or a click on the cursor."""

    def item_count(self) -> int:
        """Return the number of items."""
        raise NotImplementedError

    def draw(self, index: int, row: int, width: int) -> Sequence[Span]:
        """Return row ``row`` (0-based) of an item in at most ``width`` cells."""
        raise NotImplementedError

    def is_heading(self, index: int) -> bool:
        """Return whether the cursor must pass over this item."""
        del index
        return False

    def items_changed(self, cursor: int | None = None) -> None:
        """Take the new number of items; ``cursor`` places the cursor (the first item when it has none)."""
        count = self.item_count()
        self.set_extent(self.scrollable_content_region.width, count * self.ITEM_HEIGHT)
        wanted = self.cursor if cursor is None else cursor
        target = self._nearest(max(0, min(wanted, count - 1)), 1) if count else -1
        if target == self.cursor:
            self._announce()
        self.cursor = target
        if cursor is not None:
            self.call_after_refresh(self.show_cursor)
        self.refresh()

    def show_cursor(self) -> None:
        """Scroll as little as needed to see the item under the cursor, and a heading right above it."""
        if self.cursor < 0:
            return
        first = self.cursor * self.ITEM_HEIGHT
        lead = self.ITEM_HEIGHT if self.cursor and self.is_heading(self.cursor - 1) else 0
        height = self.scrollable_content_region.height
        top = round(self.scroll_offset.y)
        if first - lead < top:
            self.scroll_to(y=max(0, first - lead), animate=False)
        elif first + self.ITEM_HEIGHT > top + height:
            self.scroll_to(y=first + self.ITEM_HEIGHT - height, animate=False)

    def watch_cursor(self, old: int, new: int) -> None:
        """Redraw both items and tell the owner."""
        for index in (old, new):
            if index >= 0:
                self.refresh_lines(index * self.ITEM_HEIGHT, self.ITEM_HEIGHT)
        self.show_cursor()
        self._announce()

    def is_at_first(self) -> bool:
        """Return whether nothing can be picked above the cursor."""
        return self.cursor <= max(0, self._nearest(0, 1)) if self.item_count() else True

    def _announce(self) -> None:
        if self.is_mounted:
            self.post_message(self.Moved(self, self.cursor))

    def _nearest(self, index: int, step: int) -> int:
        """Return the nearest item that is no heading, looking in direction ``step`` first."""
        count = self.item_count()
        for direction in (step, -step):
            at = index
            while 0 <= at < count:
                if not self.is_heading(at):
                    return at
                at += direction
        return -1

    def action_move(self, step: int) -> None:
        """Move by one item."""
        if self.item_count():
            at = max(0, min(self.cursor + step, self.item_count() - 1))
            self.cursor = self._nearest(at, step) if self.cursor >= 0 else self._nearest(0, 1)

    def action_page(self, step: int) -> None:
        """Move by a screenful."""
        if self.item_count():
            by = max(1, self.size.height // self.ITEM_HEIGHT - 1)
            self.cursor = self._nearest(max(0, min(self.cursor + step * by, self.item_count() - 1)), step)

    def action_edge(self, last: int) -> None:
        """Move to the first or the last item."""
        if self.item_count():
            self.cursor = self._nearest(self.item_count() - 1, -1) if last else self._nearest(0, 1)

    def action_select(self) -> None:
        """Pick the item under the cursor."""
        if self.cursor >= 0:
            self.post_message(self.Chosen(self, self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse is; a click on the cursor picks."""
        index = self.item_at(event)
        if index is None:
            return
        event.stop()
        if index == self.cursor:
            self.action_select()
        else:
            self.cursor = index

    def item_at(self, event: events.Click) -> int | None:
        """Return the item under the mouse; None for a heading or nothing."""
        index = (event.y + round(self.scroll_offset.y)) // self.ITEM_HEIGHT
        return index if 0 <= index < self.item_count() and not self.is_heading(index) else None

    def on_resize(self, event: events.Resize) -> None:
        """Keep the cursor in view."""
        del event
        self.set_extent(self.scrollable_content_region.width, self.item_count() * self.ITEM_HEIGHT)
        self.show_cursor()

    def render_line(self, y: int) -> Strip:
        """Draw one visible row."""
        width = self.scrollable_content_region.width
        index, row = divmod(y + round(self.scroll_offset.y), self.ITEM_HEIGHT)
        if index >= self.item_count():
            return Strip.blank(width, self.rich_style)
        if index != self.cursor:
            return self.strip_of([("  ", ""), *self.draw(index, row, width - 3)], width)
        bar = "accent" if self.has_focus or self.active else "muted"
        return self.strip_of([("\u258c ", bar), *self.draw(index, row, width - 3)], width, "cursor")

    def watch_has_focus(self, _has_focus: bool) -> None:
        """The cursor is drawn stronger with focus."""
        super().watch_has_focus(_has_focus)
        if self.cursor >= 0:
            self.refresh_lines(self.cursor * self.ITEM_HEIGHT, self.ITEM_HEIGHT)
