"""The transcript's widget: scrolling, anchoring, and painting only rows that changed.

What to draw comes from :class:`~.column.Column`; this module decides which rows are in the window, keeps the reader's
row still while heights above become exact, and tells Textual which rows to write. Marks (cursor, hits, selection) are
laid over finished rows. Private parts of Textual are used only here: see :meth:`TranscriptView._place_window`.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rich.segment import Segment
from textual import events
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
from ..rendering.palette import Palette
from ..rendering.rows import Detail, Frame, ReasoningLevel, Row
from .column import Column, Place, Shown
from .finding import Finder
from .marking import replace_end, replace_start, restyle

LIVE_HZ = 8
"""How often clocks and spinners move while something runs."""


class TranscriptView(ScrollView, can_focus=True):
    """All entries of a session in one scrolling view; see :class:`~.transcript.Transcript` for what a reader can do.

    Args:
        detail: How much of tool calls is shown.
        reasoning: How much of reasoning is shown.
        animate: False draws no spinners.
        clock: Monotonic seconds, for tests.
    """

    DEFAULT_CSS = """
    TranscriptView { height: 1fr; overflow-x: hidden; overflow-y: scroll; scrollbar-size: 0 0; }
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
        self._clock = clock
        styler = CodeStyler(self._on_lexer_loaded)
        frame = Frame(80, Palette({}), styler, detail=detail, reasoning=reasoning, animate=animate, now=clock())
        self._column = Column(frame)
        self._dirty: dict[Entry, None] = {}
        self._live: dict[Entry, None] = {}
        self._pin: Place | None = None
        self._top = 0
        self._origin = 0
        self._window: list[Shown] = []
        self._rows: list[Strip] = []
        self._is_due = False
        self._pill_width = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._timer: Timer | None = None
        self._late: Timer | None = None
        self._marked: dict[tuple[int, object], tuple[Strip, Strip]] = {}
        self._finder: Finder | None = None
        self.cursor: Entry | None = None
        """The chosen entry, if any."""

    # -- content ---------------------------------------------------------------------------------------------------

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries, oldest first. Read only."""
        return self._column.entries

    def append(self, entry: Entry) -> None:
        """Add an entry at the end."""
        self._insert(len(self._column.entries), [entry])

    def insert_before(self, entry: Entry, entries: Sequence[Entry]) -> None:
        """Insert entries above another one; the reader's row stays where it is."""
        self._insert(self._column.index(entry), entries)

    def prepend(self, entries: Sequence[Entry]) -> None:
        """Insert entries above all others; the reader's row stays where it is."""
        self._insert(0, entries)

    def _insert(self, index: int, entries: Sequence[Entry]) -> None:
        if not entries:
            return
        before, at_end = self._column.total, index == len(self._column.entries)
        self._column.insert(index, entries)
        if at_end:
            self._count_new(self._column.total - before)
        for entry in entries:
            if entry.is_live:
                self._live[entry] = None
        self._schedule()

    def changed(self, entry: Entry) -> None:
        """Draw an entry again after it changed; only its changed rows are written."""
        if self._column.holds(entry):
            self._dirty[entry] = None
            self._schedule()

    def replace(self, old: Entry, new: Entry) -> None:
        """Put an entry in another one's place."""
        self._forget(old, new)
        self._column.replace(old, new)
        self._live.update({new: None} if new.is_live else {})
        self._schedule()

    @override
    def remove(self, entry: Entry | None = None) -> Any:
        """Take an entry out; without an entry, take the whole widget off the screen, as every widget can be."""
        if entry is None:
            return super().remove()
        if self._column.holds(entry):
            index = entry.position
            neighbours = self._column.entries[index + 1 : index + 2] or self._column.entries[max(0, index - 1) : index]
            self._forget(entry, neighbours[0] if neighbours else None)
            self._column.remove(entry)
            self._schedule()
        return None

    def clear(self) -> None:
        """Take all entries out, and follow the end again."""
        self._column.clear()
        self._dirty.clear()
        self._live.clear()
        self._pin = self.cursor = self._finder = None
        self.anchored, self.new_lines = True, 0
        self._schedule()

    def _forget(self, entry: Entry, heir: Entry | None) -> None:
        """Let go of an entry that leaves; whatever pointed to it points to its heir."""
        self._dirty.pop(entry, None)
        self._live.pop(entry, None)
        if self._pin is not None and self._pin.entry is entry:
            self._pin = Place(heir, 0, 0) if heir is not None else None
        if self.cursor is entry:
            self.cursor = heir

    def _count_new(self, rows: int) -> None:
        if not self.anchored and rows > 0:
            self.new_lines += rows

    # -- how it is drawn -------------------------------------------------------------------------------------------

    def set_detail(self, detail: Detail) -> None:
        """Show more or less of tool calls."""
        self._reframe(replace(self._column.frame, detail=detail), keep_units=False)

    def set_reasoning_level(self, level: ReasoningLevel) -> None:
        """Show more or less of reasoning."""
        self._reframe(replace(self._column.frame, reasoning=level), keep_units=False)

    @property
    def detail(self) -> Detail:
        """How much of tool calls is shown."""
        return self._column.frame.detail

    @property
    def reasoning_level(self) -> ReasoningLevel:
        """How much of reasoning is shown."""
        return self._column.frame.reasoning

    def _reframe(self, frame: Frame, *, keep_units: bool) -> None:
        self._flush_changes()
        self._column.reframe(frame, keep_units=keep_units)
        self._marked.clear()
        self._schedule()

    def _on_mount(self, event: events.Mount) -> None:
        super()._on_mount(event)
        self._loop = asyncio.get_running_loop()
        self.app.theme_changed_signal.subscribe(self, lambda _theme: self._follow_theme())
        self._timer = self.set_interval(1 / LIVE_HZ, self._tick, pause=True)
        self._follow_theme()

    def _follow_theme(self) -> None:
        palette = Palette(self.app.theme_variables)
        self._column.frame = replace(self._column.frame, palette=palette)
        self._marked.clear()
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
            self._marked.clear()

    # -- the window ------------------------------------------------------------------------------------------------

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

    def _update(self) -> None:
        """Choose the rows of the window, and have the changed ones written."""
        self._is_due = False
        if not self.size.width or not self.size.height:
            return
        column = self._column
        self._follow_size()
        column.frame.now = self._clock()
        self._flush_changes()
        height = self.size.height
        if not self.anchored and self._pin is not None:
            self._window = column.window_from(self._pin, height)
            if len(self._window) < height:
                self._window = column.window_to_end(height)
                self.anchored = True
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
        rows = self._marked_rows()
        old, self._rows = self._rows, rows
        changed = [y for y, row in enumerate(rows) if y >= len(old) or old[y] is not row]
        if not changed:
            return
        width = self.size.width
        if len(changed) > 6:
            self.refresh(Region(0, changed[0], width, changed[-1] - changed[0] + 1))
        else:
            self.refresh(*(Region(0, y, width, 1) for y in changed))

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

    # -- marks -----------------------------------------------------------------------------------------------------

    def _marked_rows(self) -> list[Strip]:
        frame = self._column.frame
        selection = self.text_selection
        if self.cursor is None and self._finder is None and selection is None:
            rows: list[Strip] = [row for row, _, _, _ in self._window]
        else:
            rows = [self._mark(row, entry, y, selection) for y, (row, entry, _, _) in enumerate(self._window)]
        rows += [frame.blank()] * (self.size.height - len(rows))
        if not self.anchored and rows:
            self._add_thumb(rows)
            rows[-1] = self._with_pill(rows[-1])
        return rows

    def _mark(self, row: Row, entry: Entry, y: int, selection: Selection | None) -> Strip:
        """Lay marks over a row; the result is cached, so that an unchanged row is the same object."""
        strip: Strip = row
        frame = self._column.frame
        if entry is self.cursor and row is not frame.blank():
            bar = frame.seg("\u258c", "active", ground="base")
            strip = self._cached(strip, "cursor", lambda s: replace_start(s, bar))
        if self._finder is not None and (spans := [m.span() for m in self._finder.pattern.finditer(row.text)]):
            hit = self._finder.current
            roles = ("under", "strong") if hit is not None and hit.entry is entry else ()
            style = frame.style(*roles, ground="mark")
            strip = self._cached(strip, (self._finder, bool(roles)), lambda s: restyle(s, spans, style))
        if selection is not None and (span := selection.get_span(self._top + y - self._origin)) is not None:
            start, end = span
            spans = [(max(start, row.skip), len(row.text.rstrip()) if end == -1 else end)]
            strip = restyle(strip, spans, self.screen.get_component_rich_style("screen--selection"))
        return strip

    def _cached(self, strip: Strip, key: object, make: Callable[[Strip], Strip]) -> Strip:
        found = self._marked.get((id(strip), key))
        if found is None:
            if len(self._marked) > 1_000:
                self._marked.clear()
            # The strip is kept beside the result, so that its id is not given to another one.
            found = self._marked[id(strip), key] = strip, make(strip)
        return found[1]

    def _with_pill(self, row: Strip) -> Strip:
        count = self.new_lines
        text = f" {count:,} new line{'s' if count != 1 else ''} \u00b7 end " if count else " end "
        self._pill_width = len(text) + 1
        pill = self._column.frame.seg(text, "active", "strong", ground="panel")
        blank = self._column.frame.palette.blank(1, "base")
        return self._cached(row, ("pill", count), lambda s: replace_end(s, [pill, blank]))

    def _is_on_pill(self, x: int, y: int) -> bool:
        return not self.anchored and y == self.size.height - 1 and 0 < self.size.width - x <= self._pill_width

    def _add_thumb(self, rows: list[Strip]) -> None:
        height, total = len(rows), max(1, self._column.total)
        size = max(1, height * height // total)
        first = round((height - size) * self._top / max(1, total - height))
        thumb = self._column.frame.seg("\u2590", "muted")
        for y in range(max(0, first), min(height, first + size)):
            rows[y] = self._cached(rows[y], "thumb", lambda s: replace_end(s, [thumb]))

    # -- what Textual asks -----------------------------------------------------------------------------------------

    @override
    def render_lines(self, crop: Region) -> list[Strip]:
        """Return finished rows: they carry their ground, so nothing is laid under them."""
        if self._is_due or len(self._rows) != self.size.height or self._column.frame.width != self.size.width:
            self._update()
        rows = self._rows[crop.y : crop.bottom]
        if crop.x or crop.width != self.size.width:
            rows = [row.crop(crop.x, crop.right) for row in rows]
        for line_filter in self.get_line_filters():
            background = self._column.frame.palette.background
            rows = [row.apply_filter(line_filter, background) for row in rows]
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
        self._flush_changes()
        if row >= column.total - height:
            self.anchored = True
        else:
            near = abs(row - self._top) <= 3 * height
            self._pin = column.move(self._pin, row - self._top) if near else column.place_at(row)
            self._top = column.row_of(self._pin) if self._pin is not None else 0
            self.anchored = False
        self._update()

    @override
    def selection_updated(self, selection: Selection | None) -> None:
        """Draw the selection."""
        self._paint()

    def _is_at_top(self) -> bool:
        """Say whether the reader came near the first entry."""
        return not self.anchored and self._top <= self.size.height

    def _segment_at(self, x: int, y: int) -> Segment | None:
        """Return what is drawn in a cell."""
        if 0 <= y < len(self._window):
            for segment in self._window[y][0]:
                x -= segment.cell_length
                if x < 0:
                    return segment
        return None
