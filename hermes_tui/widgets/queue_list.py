"""Messages that wait for the running turn: rows above the composer that can be edited, moved and deleted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from .inert import one_line
from .line_text import clip

MAX_ROWS = 5
"""More waiting messages than this scroll."""
_BUTTONS = "  edit  ✕ "
_PLAIN_BUTTONS = "  edit  x "


class QueueList(Widget, can_focus=True):
    """Hidden while nothing waits. It changes nothing itself: it says what is wanted and shows what it is given.

    Args:
        plain: ASCII only.
        id: Widget id.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"queue--head", "queue--cursor", "queue--quiet"}
    DEFAULT_CSS = """
    QueueList { display: none; height: auto; width: 1fr; padding: 0 1; color: $foreground; }
    QueueList > .queue--head { color: $accent; }
    QueueList > .queue--quiet { color: $muted; }
    QueueList > .queue--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move_cursor(-1)", "Up", show=False),
        Binding("down", "move_cursor(1)", "Down", show=False),
        Binding("enter,e", "edit", "Edit", id="queue.edit"),
        Binding("delete,backspace,d", "remove", "Delete", id="queue.delete"),
        Binding("shift+up,K", "shift(-1)", "Earlier", id="queue.earlier"),
        Binding("shift+down,J", "shift(1)", "Later", id="queue.later"),
        Binding("escape", "leave", "Back", show=False),
    ]

    @dataclass
    class EditRequested(Message):
        """A message is to go back into the composer."""

        index: int

    @dataclass
    class DeleteRequested(Message):
        """A message is to be dropped."""

        index: int

    @dataclass
    class MoveRequested(Message):
        """A message is to change its place."""

        index: int
        to: int

    class Left(Message):
        """The focus is to go back to the composer."""

    def __init__(self, *, plain: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._buttons = _PLAIN_BUTTONS if plain else _BUTTONS
        self._items: tuple[str, ...] = ()
        self._held = False
        self._cursor = 0
        self._top = 0

    @property
    def items(self) -> tuple[str, ...]:
        """What waits, next one first."""
        return self._items

    def set_items(self, items: Sequence[str], *, held: bool = False) -> None:
        """Show what waits, next one first; lays out only when the number of rows changes.

        Args:
            items: The messages.
            held: They wait for the next message, not for the end of a turn.
        """
        self._held = held
        rows_before = self._row_count
        was_empty = not self._items
        self._items = tuple(items)
        last = max(0, len(self._items) - 1)
        self._cursor = last if was_empty else min(self._cursor, last)
        self._keep_visible()
        if self.display != bool(self._items):
            if not self._items and self.has_focus:
                self.post_message(self.Left())
            self.display = bool(self._items)
        self.refresh(layout=self._row_count != rows_before)

    @property
    def _row_count(self) -> int:
        return min(MAX_ROWS, len(self._items))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """A head line and the rows."""
        del container, viewport, width
        return 1 + self._row_count

    def render_line(self, y: int) -> Strip:
        """Draw the head or one message."""
        base = self.rich_style
        width = self.size.width
        if y == 0:
            head = base + self.get_component_rich_style("queue--head", partial=True)
            quiet = base + self.get_component_rich_style("queue--quiet", partial=True)
            words = (
                "enter edit · d delete · shift+up/down move · esc back"
                if self.has_focus
                else f"{'sent with your next message' if self._held else 'sent after this turn'} · shift+tab edits"
            )
            count = f"{len(self._items)} queued"
            room = width - cell_len(count) - 2
            while " · " in words and cell_len(words) > room:
                words = words.rpartition(" · ")[0]
            hint = clip(f"  {words}", max(0, room + 2))
            return Strip([Segment(count, head), Segment(hint, quiet)]).adjust_cell_length(width, base)
        index = self._top + y - 1
        if index >= len(self._items):
            return Strip.blank(width, base)
        if self.has_focus and index == self._cursor:
            base = quiet = self.get_component_rich_style("queue--cursor")
        else:
            quiet = base + self.get_component_rich_style("queue--quiet", partial=True)
        number = f"{index + 1:>2} "
        room = max(0, width - len(number) - len(_BUTTONS))
        text = clip(one_line(self._items[index]), room)
        padding = " " * (room - cell_len(text))
        return Strip(
            [Segment(number, quiet), Segment(text + padding, base), Segment(self._buttons, quiet)]
        ).adjust_cell_length(width, base)

    def action_move_cursor(self, delta: int) -> None:
        """Go to another row; below the last one is the composer."""
        if delta > 0 and self._cursor == len(self._items) - 1:
            self.post_message(self.Left())
            return
        self._cursor = max(0, min(self._cursor + delta, len(self._items) - 1))
        self._keep_visible()
        self.refresh()

    def action_edit(self) -> None:
        """Pull the message back into the composer."""
        if self._items:
            self.post_message(self.EditRequested(self._cursor))

    def action_remove(self) -> None:
        """Drop the message."""
        if self._items:
            self.post_message(self.DeleteRequested(self._cursor))

    def action_shift(self, delta: int) -> None:
        """Move the message, and the cursor with it."""
        target = self._cursor + delta
        if 0 <= target < len(self._items):
            self.post_message(self.MoveRequested(self._cursor, target))
            self._cursor = target

    def action_leave(self) -> None:
        """Go back to the composer."""
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        """Edit or delete by the words at the end of a row; anywhere else chooses the row."""
        event.stop()
        index = self._top + event.y - 1
        if not 0 <= index < len(self._items):
            return
        self._cursor = index
        from_end = self.content_size.width + self.gutter.left - event.x
        if from_end <= 3:
            self.action_remove()
        elif from_end <= len(_BUTTONS):
            self.action_edit()
        self.refresh()

    def on_focus(self) -> None:
        """Start at the newest message, the one that is regretted most often."""
        self._cursor = max(0, len(self._items) - 1)
        self._keep_visible()
        self.refresh()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh()

    def _keep_visible(self) -> None:
        rows = max(1, self._row_count)
        self._top = max(0, min(max(self._top, self._cursor - rows + 1), self._cursor, len(self._items) - rows))
