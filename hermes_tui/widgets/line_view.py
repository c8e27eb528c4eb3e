"""A scrolling view of styled lines through Textual's line API: only visible rows are drawn.

Takes plain :class:`~hermes_tui.widgets.line_text.Line` data. Knows nothing of what the lines mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.segment import Segment
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from .line_styles import LineStyles
from .line_text import Line, Span, cut, overlay, wrap


class StyledLines(ScrollView):
    """What all line-API views here share: turning spans into a strip with the theme's styles."""

    DEFAULT_CSS = """
    StyledLines { overflow-x: hidden; overflow-y: auto; scrollbar-size: 0 1; scrollbar-gutter: stable; }
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._line_styles = LineStyles({})
        self._styles_of: Mapping[str, str] | None = None

    @property
    def line_styles(self) -> LineStyles:
        """The styles of the present theme."""
        variables = self.app.theme_variables
        if variables is not self._styles_of:
            self._styles_of, self._line_styles = variables, LineStyles(variables)
        return self._line_styles

    def set_extent(self, width: int, rows: int) -> None:
        """Say how much there is to scroll; the bar shows only where it is needed.

        Textual looks at the bar when the widget's own size changes, which is before the rows are known.
        """
        self.virtual_size = Size(width, rows)
        self.show_vertical_scrollbar = rows > self.container_size.height

    def strip_of(self, spans: Sequence[Span], width: int, ground: str = "") -> Strip:
        """Return a strip of exactly ``width`` cells; ``ground`` names a style to lay under all of it."""
        styles = self.line_styles
        base = self.rich_style + styles[ground] if ground else self.rich_style
        segments = [Segment(text, base + styles[name] if name else base) for text, name in spans]
        return Strip(segments).adjust_cell_length(width, base)


class LineView(StyledLines, can_focus=True):
    """Wrapped, scrollable, markable text.

    Args:
        lines: What to show first.
    """

    class Scrolled(Message):
        """The rows above or below the window changed."""

        def __init__(self, view: LineView) -> None:
            super().__init__()
            self.view = view

        @property
        def control(self) -> LineView:
            """The view."""
            return self.view

    def __init__(self, lines: Sequence[Line] = (), *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: list[Line] = list(lines)
        self._rows: list[tuple[int, int, int]] = []  # line number, start, end
        self._first_rows: list[int] = []  # line number -> its first row
        self._wrapped_for = -1
        self._marks: dict[int, list[tuple[int, int]]] = {}
        self._current: tuple[int, int] | None = None

    @property
    def lines(self) -> Sequence[Line]:
        """The logical lines."""
        return self._lines

    @property
    def hidden_above(self) -> int:
        """Rows above the window."""
        return round(self.scroll_offset.y)

    @property
    def hidden_below(self) -> int:
        """Rows below the window."""
        return max(0, len(self._rows) - self.hidden_above - self.scrollable_content_region.height)

    @property
    def hidden_words(self) -> str:
        """How many rows are out of sight, in words."""
        above, below = self.hidden_above, self.hidden_below
        return ", ".join([f"{above} above"] * (above > 0) + [f"{below} more below"] * (below > 0))

    def set_lines(self, lines: Sequence[Line], *, keep_scroll: bool = False) -> None:
        """Show other lines, from the top unless ``keep_scroll``."""
        self._lines = list(lines)
        self._marks, self._current = {}, None
        self._rows, self._first_rows = [], []  # where there is no width yet, nothing of the old text may be drawn
        self._wrapped_for = -1
        self._rewrap()
        if not keep_scroll:
            self.scroll_to(y=0, animate=False)
        self.refresh(layout=self.styles.auto_dimensions)

    def set_marks(self, marks: dict[int, list[tuple[int, int]]], current: tuple[int, int] | None = None) -> None:
        """Mark character ranges per line; ``current`` is the (line, start) of the one to stand out."""
        self._marks, self._current = marks, current
        self.refresh()

    def show_line(self, number: int, offset: int = 0) -> None:
        """Scroll so that a place in a line is in the upper third."""
        self._rewrap()
        if not self._rows:
            return
        row = self._first_rows[number]
        while row + 1 < len(self._rows) and self._rows[row + 1][:2] <= (number, offset):
            row += 1
        self.scroll_to(y=max(0, row - self.size.height // 3), animate=False)

    def top_line(self) -> int:
        """Return the number of the line at the top of the window."""
        row = min(self.hidden_above, len(self._rows) - 1)
        return self._rows[row][0] if row >= 0 else 0

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the rows that the text needs at this width."""
        del container, viewport
        return max(1, len(_rows_of(self._lines, width - self.styles.scrollbar_size_vertical)[0]))

    def on_resize(self, event: events.Resize) -> None:
        """Wrap again when the width changed, and keep the line at the top."""
        del event
        top = self.top_line()
        if self._rewrap() and self._rows:
            self.scroll_to(y=self._first_rows[min(top, len(self._first_rows) - 1)], animate=False)
        self.post_message(self.Scrolled(self))

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Tell the owner, which may show how much is hidden."""
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled(self))

    def render_line(self, y: int) -> Strip:
        """Draw one visible row."""
        width = self.scrollable_content_region.width
        row = y + round(self.scroll_offset.y)
        if row >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        number, start, end = self._rows[row]
        entry = self._lines[number]
        spans: list[Span] = list(entry.spans)
        if number in self._marks:
            spans = overlay(spans, self._marks[number], "mark")
            if self._current and self._current[0] == number:
                at = self._current[1]
                spans = overlay(spans, [mark for mark in self._marks[number] if mark[0] == at], "current")
        spans = cut(spans, start, end)
        if start and entry.hang:
            spans.insert(0, (" " * entry.hang, ""))
        spans = self._with_selection(spans, row)
        return self.strip_of(spans, width, self.ground_of(number)).apply_offsets(0, row)

    def ground_of(self, number: int) -> str:
        """Return the style that lies under a line; usually none."""
        return self._lines[number].ground

    def row_of(self, number: int) -> int:
        """Return the first row of a line."""
        return self._first_rows[number] if number < len(self._first_rows) else 0

    @property
    def row_count(self) -> int:
        """Rows of all lines."""
        return len(self._rows)

    def line_at(self, row: int) -> int:
        """Return the line that a row belongs to, -1 below the last one."""
        return self._rows[row][0] if 0 <= row < len(self._rows) else -1

    def _with_selection(self, spans: list[Span], row: int) -> list[Span]:
        """Show what the mouse selected."""
        selection = self.text_selection
        selected = selection.get_span(row) if selection is not None else None
        if selected is None:
            return spans
        start, end = selected
        return overlay(spans, [(start, end if end >= 0 else sum(len(text) for text, _ in spans))], "selected")

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as drawn."""
        rows = []
        for number, start, end in self._rows:
            entry = self._lines[number]
            rows.append((" " * entry.hang if start else "") + entry.text[start:end])
        return selection.extract("\n".join(rows)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the new selection."""
        del selection
        self.refresh()

    def _rewrap(self) -> bool:
        """Lay the lines out for the present width; True when anything changed."""
        width = self.scrollable_content_region.width
        if width <= 0 or width == self._wrapped_for:
            return False
        self._rows, self._first_rows = _rows_of(self._lines, width)
        self._wrapped_for = width
        self.set_extent(width, len(self._rows))
        return True


def _rows_of(lines: Sequence[Line], width: int) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Return the rows as (line number, start, end), and for each line its first row."""
    rows: list[tuple[int, int, int]] = []
    firsts: list[int] = []
    for number, entry in enumerate(lines):
        firsts.append(len(rows))
        text = entry.text
        if len(text) <= width and text.isascii():
            rows.append((number, 0, len(text)))
        else:
            rows += [(number, start, end) for start, end in wrap(text, width, entry.hang, prose=entry.prose)]
    return rows, firsts
