"""The window of the transcript: which rows are in view, and which of them have to be written.

What to draw comes from :class:`~.column.Column`. This module keeps the reader's row still while heights above become
exact, and tells Textual which rows changed. Private parts of Textual are used only here, in ``_place_window``.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from textual import events
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from typing_extensions import override

from ..entries.base import Entry
from ..rendering.code import CodeStyler
from ..rendering.markdown import warm_up
from ..rendering.palette import Palette
from ..rendering.rows import Detail, Frame, ReasoningLevel
from .column import Column, Place, Shown
from .finding import Finder
from .greeting import Greeting
from .marking import Marker, Marks

WARM_UP_AFTER_S: Final = 0.5
"""When the first paint is certainly over."""
LIVE_HZ: Final = 8
"""How often clocks and spinners move while something runs."""


class TranscriptWindow(ScrollView, can_focus=True):
    """Draws a column of entries, and follows its end or its reader.

    Args:
        detail: How much of tool calls is shown.
        reasoning: How much of reasoning is shown.
        animate: False draws no spinners.
        clock: Monotonic seconds, for tests.
    """

    DEFAULT_CSS = """
    TranscriptWindow { height: 1fr; overflow-x: hidden; overflow-y: scroll; scrollbar-size: 0 0; }
    """
    ALLOW_SELECT = True

    anchored: reactive[bool] = reactive(True, repaint=False)
    """True while the view follows the end."""
    new_lines: reactive[int] = reactive(0, repaint=False)
    """Rows that arrived below while the reader was elsewhere."""

    def __init__(
        self,
        *,
        detail: Detail = "normal",
        reasoning: ReasoningLevel = "line",
        animate: bool = True,
        clock: Callable[[], float] = time.monotonic,
        **widget_options: Any,
    ) -> None:
        super().__init__(**widget_options)
        self.clock = clock
        """Monotonic seconds."""
        styler = CodeStyler(self._on_lexer_loaded)
        frame = Frame(80, Palette({}), styler, detail=detail, reasoning=reasoning, animate=animate, now=clock())
        self._column = Column(frame)
        self._dirty: dict[Entry, None] = {}
        self._live: dict[Entry, None] = {}
        self._pin: Place | None = None
        self._top = 0
        self._placed_size = Size()
        self._origin = 0
        self._window: list[Shown] = []
        self._rows: list[Strip] = []
        self._filtered: tuple[list[Strip], tuple[LineFilter, ...], list[Strip]] = ([], (), [])
        self._is_due = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: Timer | None = None
        self._late: Timer | None = None
        self._marker = Marker()
        self._finder: Finder | None = None
        self.cursor: Entry | None = None
        """The chosen entry, if any."""
        self.greeting: Greeting | None = None
        """Shown while there are no entries."""

    # -- how it is drawn ----------------------------------------------------------------------------------------------

    def _on_mount(self, event: events.Mount) -> None:
        super()._on_mount(event)
        self._is_due = False
        self._loop = asyncio.get_running_loop()
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._follow_theme())
        period_s = 1 / LIVE_HZ if self._column.frame.animate else 1.0
        self._timer = self.set_interval(period_s, self._tick, pause=True)
        self._follow_theme()
        self.set_timer(WARM_UP_AFTER_S, lambda: threading.Thread(target=warm_up, name="warm-up", daemon=True).start())

    def _follow_theme(self) -> None:
        palette = Palette(self.app.theme_variables)
        self._column.frame = replace(self._column.frame, palette=palette)
        self._marker.forget()
        self._schedule()

    def _on_lexer_loaded(self) -> None:
        """A language became available; called from the thread that loaded it."""
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._follow_lexers)

    def _follow_lexers(self) -> None:
        self._column.frame = replace(self._column.frame)
        self._schedule()

    def on_resize(self) -> None:
        """Follow a new size."""
        self._follow_size()
        self._schedule()

    def _follow_size(self) -> None:
        width = self.size.width
        if width and width != self._column.frame.width:
            self._flush_changes()
            self._column.reframe(replace(self._column.frame, width=width), keep_units=True)
            self._marker.forget()

    # -- the window ---------------------------------------------------------------------------------------------------

    def _schedule(self) -> None:
        """Bring the window up to date before the next paint; many changes cost one pass."""
        if not self._is_due:
            self._is_due = True
            if self.is_mounted:
                self.call_next(self._update)

    def _flush_changes(self) -> None:
        for entry in self._dirty:
            if self._column.holds(entry):
                before = self._column.total
                self._column.changed(entry)
                self._count_new(self._column.total - before)
                if entry.is_live:
                    self._live[entry] = None
                else:
                    self._live.pop(entry, None)
        self._dirty = {entry: None for entry in self._dirty if entry.is_behind}

    def _count_new(self, rows: int) -> None:
        if not self.anchored and rows > 0:
            self.new_lines += rows

    def _update(self) -> None:
        """Choose the rows of the window, and have the changed ones written."""
        self._is_due = False
        if not self.size.width or not self.size.height:
            return
        column = self._column
        self._follow_size()
        column.frame.now = self.clock()
        self._flush_changes()
        height = self.size.height
        if not self.anchored and self._pin is not None:
            self._window = column.window_from(self._pin, height)
            if len(self._window) < height:
                self._window = column.window_to_end(height)
            self.anchored = not self._window or column.is_end(self._window[-1])
        else:
            self._window = column.window_to_end(height)
        if self.anchored and self.new_lines:
            self.new_lines = 0
        self._place_window()
        self._paint()
        if self._window:
            column.trim(self._window)
        self._rest_or_run()

    def _place_window(self) -> None:
        """Tell Textual where the window is, without a layout or a repaint of everything."""
        column = self._column
        self._placed_size = self.size
        if self._pin is not None and column.holds(self._pin.entry):
            # The same row had another number when it was last seen: selections move along.
            self._origin += column.row_of(self._pin) - self._top
        if self._window:
            _, entry, unit, row = self._window[0]
            self._pin = Place(entry, unit, row)
            self._top = column.row_of(self._pin)
        else:
            self._pin, self._top = None, 0
        self.set_reactive(Widget.virtual_size, Size(self.size.width, max(column.total, self.size.height)))
        self.set_reactive(Widget.scroll_y, float(self._top))
        self.set_reactive(Widget.scroll_target_y, float(self._top))

    def _paint(self) -> None:
        """Compare with what was painted last; refresh from the first changed row to the last."""
        frame, height = self._column.frame, self.size.height
        if self.greeting is not None and not self._column.entries:
            rows = self.greeting.rows(frame, height)
        else:
            rows = self._marker.rows(self._window, height, frame, self._marks())
        old, self._rows = self._rows, rows
        changed = [y for y, row in enumerate(rows) if y >= len(old) or old[y] is not row]
        if not changed:
            return
        width = self.size.width
        if len(changed) > 6:
            self.refresh(Region(0, changed[0], width, changed[-1] - changed[0] + 1))
        else:
            self.refresh(*(Region(0, y, width, 1) for y in changed))

    def _marks(self) -> Marks:
        selection = self.text_selection
        return Marks(
            cursor=self.cursor,
            finder=self._finder,
            selection=selection,
            selection_style=self.screen.get_component_rich_style("screen--selection") if selection else None,
            first_line=self._top - self._origin,
            away=None if self.anchored else (self._top, self._column.total, self.new_lines),
        )

    def _rest_or_run(self) -> None:
        """Run the clock only while something visible moves by itself."""
        visible = {entry for _, entry, _, _ in self._window}
        self._dirty.update((entry, None) for entry in visible if entry.is_behind)
        moves = any(entry.KIND != "assistant" for entry in self._live.keys() & visible)
        if self._timer is not None:
            if moves:
                self._timer.resume()
            else:
                self._timer.pause()
        if self._dirty and self._late is None:
            self._late = self.set_timer(1 / 60, self._draw_late)
        if self._late is None:
            frame = self._column.frame
            units = (entry.body(frame).units[unit] for _, entry, unit, _ in self._window if unit >= 0)
            if (due_s := max((unit.due_in() for unit in units), default=0.0)) > 0:
                self._late = self.set_timer(due_s, self._draw_late)

    def _draw_late(self) -> None:
        self._late = None
        self._schedule()

    def _tick(self) -> None:
        for entry in self._live:
            if entry.KIND != "assistant":
                self._dirty[entry] = None
        self._schedule()

    # -- what Textual asks --------------------------------------------------------------------------------------------

    @override
    def render_lines(self, crop: Region) -> list[Strip]:
        """Return finished rows: they carry their ground, so nothing is laid under them."""
        if self._is_due or len(self._rows) != self.size.height or self._column.frame.width != self.size.width:
            self._update()
        rows = self._filtered_rows()[crop.y : crop.bottom]
        if crop.x or crop.width != self.size.width:
            rows = [row.crop(crop.x, crop.right) for row in rows]
        return rows

    def _filtered_rows(self) -> list[Strip]:
        """Return the rows after the app's filters (no colour, ANSI colours); only new rows go through them."""
        filters = tuple(self.get_line_filters())
        old_rows, old_filters, old = self._filtered
        if old_rows is self._rows and old_filters == filters:
            return old
        keep = len(old) if old_filters == filters else 0
        background = self._column.frame.palette.background
        rows: list[Strip] = []
        for y, row in enumerate(self._rows):
            if y < keep and old_rows[y] is row:
                rows.append(old[y])
                continue
            strip = row
            for line_filter in filters:
                strip = strip.apply_filter(line_filter, background)
            rows.append(strip)
        self._filtered = self._rows, filters, rows
        return rows

    @override
    def render_line(self, y: int) -> Strip:
        """Return a row with the places of its characters, for finding what the mouse points at."""
        row = self._rows[y] if y < len(self._rows) else self._column.frame.blank()
        return row.apply_offsets(0, self._top + y - self._origin)

    @override
    def render(self) -> str:
        """Nothing: rows come from :meth:`render_lines`."""
        return ""

    @property
    @override
    def allow_vertical_scroll(self) -> bool:
        """The scroll bar is drawn by the view itself, so Textual's own is never shown."""
        return True

    @override
    def scroll_to(self, x: float | None = None, y: float | None = None, **options: Any) -> None:
        """Scroll at once: an animation would aim at a row number that changes on the way."""
        super().scroll_to(x, y, **{**options, "animate": False})

    @override
    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Follow the reader: wheel, keys, dragging."""
        self._scroll_by_reader(round(new_value))

    def _scroll_by_reader(self, row: int) -> None:
        column, height = self._column, self.size.height
        if self._pin is None or row == self._top:
            return
        if self.size != self._placed_size:  # Textual fits the number to a new size: nobody scrolled
            self._schedule()
            return
        self._flush_changes()
        near = abs(row - self._top) <= 3 * height
        # Near steps count drawn rows: the end itself may still be a guess.
        self.anchored = not near and row >= column.total - height
        if not self.anchored:
            self._pin = column.move(self._pin, row - self._top) if near else column.place_at(row)
            self._top = column.row_of(self._pin) if self._pin is not None else 0
        self._update()

    @override
    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self._paint()
