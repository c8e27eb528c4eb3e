"""The list that hangs over the composer. It never takes the focus; the composer moves its cursor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from .completion_source import Candidate
from .inert import one_line
from .line_text import clip, clip_start

MAX_ROWS = 8
_MAX_LABEL = 0.6
"""The label may take this part of the width when there is a detail beside it."""


class CompletionPopup(Widget, can_focus=False):
    """Rows of candidates and a note below them.

    Args:
        on_pick: Called with the row that was clicked.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "completion--cursor",
        "completion--match",
        "completion--detail",
    }
    DEFAULT_CSS = """
    CompletionPopup {
        overlay: screen; position: absolute; display: none; height: auto; width: auto;
        background: $panel; color: $foreground;
    }
    CompletionPopup > .completion--cursor { background: $block-cursor-background; color: $block-cursor-foreground; }
    CompletionPopup > .completion--match { color: $accent; text-style: bold; }
    CompletionPopup > .completion--detail { color: $muted; }
    """

    def __init__(self, on_pick: Callable[[Candidate], None]) -> None:
        super().__init__()
        self._on_pick = on_pick
        self._rows: Sequence[Candidate] = ()
        self._note = ""
        self._cursor = 0
        self._top = 0
        self._placed: tuple[int, int, int, int] | None = None

    @property
    def current(self) -> Candidate | None:
        """The candidate under the cursor."""
        return self._rows[self._cursor] if self._rows else None

    @property
    def is_open(self) -> bool:
        """Whether it is shown."""
        return bool(self._rows) or bool(self._note)

    def show(self, rows: Sequence[Candidate], anchor: Region, note: str = "") -> None:
        """Show rows above ``anchor`` (the composer's region), or close if there are neither rows nor a note.

        Args:
            rows: Candidates, best first.
            anchor: Where the composer is on the screen.
            note: A line below the rows, e.g. how many more there are.
        """
        self._rows, self._note = rows, note
        self._cursor = self._top = 0
        self.place(anchor)
        if self.display != self.is_open:
            self.display = self.is_open
        self.refresh()

    def place(self, anchor: Region) -> None:
        """Stand above the composer, no higher than the screen."""
        height = min(MAX_ROWS, len(self._rows)) + bool(self._note)
        height = min(height, max(1, anchor.y))
        placed = (anchor.x, anchor.y - height, anchor.width, height)
        if self.is_open and placed != self._placed:
            self._placed = placed
            self.styles.offset = (anchor.x, anchor.y - height)
            self.styles.width, self.styles.height = anchor.width, height

    def close(self) -> None:
        """Hide it."""
        if self.is_open:
            self._rows, self._note = (), ""
            self.display = False

    def move(self, delta: int) -> None:
        """Move the cursor, around the ends."""
        if not self._rows:
            return
        self._cursor = (self._cursor + delta) % len(self._rows)
        visible = max(1, self.size.height - bool(self._note))
        self._top = min(max(self._top, self._cursor - visible + 1), self._cursor)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        width = self.size.width
        base = self.rich_style
        if self._note and y == self.size.height - 1:
            style = base + self.get_component_rich_style("completion--detail", partial=True)
            return Strip([Segment(set_cell_size(f"  {clip(self._note, width - 2)}", width), style)], width)
        index = self._top + y
        if index >= len(self._rows):
            return Strip.blank(width, base)
        return self._candidate_strip(self._rows[index], width, base, is_current=index == self._cursor)

    def _candidate_strip(self, row: Candidate, width: int, base: Style, *, is_current: bool) -> Strip:
        if is_current:
            base = self.get_component_rich_style("completion--cursor")
        found = base if is_current else base + self.get_component_rich_style("completion--match", partial=True)
        quiet = base if is_current else base + self.get_component_rich_style("completion--detail", partial=True)
        room = width - 4
        label_room = min(room, max(12, int(room * _MAX_LABEL))) if row.detail else room
        label, shift = _shown_label(row, label_room)
        segments = [Segment("  ", base)]
        matched = {position - shift for position in row.positions}
        segments += [Segment(char, found if index in matched else base) for index, char in enumerate(label)]
        used = cell_len(label)
        if row.hint:
            hint = clip(f" {one_line(row.hint)}", room - used)
            segments.append(Segment(hint, quiet))
            used += cell_len(hint)
        if row.detail and room - used > 8:
            column = max(used + 2, min(26, room // 3))
            detail = clip(one_line(row.detail), room - column)
            segments.append(Segment(" " * (column - used) + detail, quiet))
        return Strip(segments).adjust_cell_length(width, base)

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Keep the focus where it is."""
        event.prevent_default()
        event.stop()

    def on_click(self, event: events.Click) -> None:
        """Choose the row under the pointer."""
        event.stop()
        index = self._top + event.y
        if index < len(self._rows):
            self._on_pick(self._rows[index])

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move down."""
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move up."""
        event.stop()
        self.move(-1)


def _shown_label(row: Candidate, room: int) -> tuple[str, int]:
    """Return the label that fits and by how many characters it was cut at the front; paths keep their end."""
    label = one_line(row.label)
    if cell_len(label) <= room or row.detail or "/" not in label:
        return clip(label, room), 0
    short = clip_start(label, room)
    return short, len(label) - len(short)
