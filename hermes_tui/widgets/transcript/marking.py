"""Marks on finished rows: the cursor's bar, hits, selected text, the pill, the scroll thumb."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.selection import Selection
from textual.strip import Strip

from ..entries.base import Entry
from ..rendering.rows import Frame, Row
from .column import Shown
from .finding import Finder


def restyle(strip: Strip, ranges: Iterable[tuple[int, int]], style: Style) -> Strip:
    """Return a strip with ranges of characters (ascending) in another style."""
    segments: list[Segment] = []
    position = 0
    todo = [(start, end) for start, end in ranges if end > start]
    for text, old, _ in strip:
        start, end = position, position + len(text)
        position = end
        at = start
        for first, last in todo:
            if last <= at or first >= end:
                continue
            if first > at:
                segments.append(Segment(text[at - start : first - start], old))
            segments.append(Segment(text[max(first, at) - start : last - start], style if old is None else old + style))
            at = min(last, end)
        if at < end:
            segments.append(Segment(text[at - start :], old))
    return Strip(segments, strip.cell_length)


def replace_end(strip: Strip, segments: list[Segment]) -> Strip:
    """Return a strip with other segments over its last cells."""
    cells = sum(cell_len(segment.text) for segment in segments)
    kept = strip.crop(0, max(0, strip.cell_length - cells))
    return Strip([*kept, *segments], strip.cell_length)


def replace_start(strip: Strip, segment: Segment) -> Strip:
    """Return a strip with another segment over its first cells."""
    return Strip([segment, *strip.crop(cell_len(segment.text), strip.cell_length)], strip.cell_length)


@dataclass(frozen=True, slots=True)
class Marks:
    """What to mark in a window."""

    cursor: Entry | None
    finder: Finder | None
    selection: Selection | None
    selection_style: Style | None
    first_line: int
    """The selection's number of the first row."""
    away: tuple[int, int, int] | None
    """Row, rows of the column and new rows below, when the window is not at the end."""


class Marker:
    """Lays marks over rows. An unchanged row stays the same object, so that it is not written again."""

    def __init__(self) -> None:
        self._cache: dict[tuple[int, object], tuple[Strip, Strip]] = {}
        self.pill_width = 0
        """Cells at the right end of the last row that the pill takes."""

    def forget(self) -> None:
        """Drop all finished marks: rows or colours changed."""
        self._cache.clear()

    def rows(self, window: Sequence[Shown], height: int, frame: Frame, marks: Marks) -> list[Strip]:
        """Return exactly ``height`` rows."""
        if marks.cursor is None and marks.finder is None and marks.selection is None:
            rows: list[Strip] = [row for row, _, _, _ in window]
        else:
            rows = [self._mark(row, entry, y, frame, marks) for y, (row, entry, _, _) in enumerate(window)]
        rows += [frame.blank()] * (height - len(rows))
        if marks.away is not None and rows:
            self._add_thumb(rows, frame, *marks.away[:2])
            rows[-1] = self._with_pill(rows[-1], frame, marks.away[2])
        return rows

    def _mark(self, row: Row, entry: Entry, y: int, frame: Frame, marks: Marks) -> Strip:
        strip: Strip = row
        if entry is marks.cursor and row is not frame.blank():
            bar = frame.seg("\u258c", "active")
            strip = self._cached(strip, "cursor", lambda s: replace_start(s, bar))
        finder = marks.finder
        if finder is not None and (spans := [match.span() for match in finder.pattern.finditer(row.text)]):
            is_current = finder.current is not None and finder.current.entry is entry
            style = frame.style(*(("under", "strong") if is_current else ()), ground="mark")
            strip = self._cached(strip, (finder, is_current), lambda s: restyle(s, spans, style))
        span = marks.selection.get_span(marks.first_line + y) if marks.selection is not None else None
        if span is not None and marks.selection_style is not None:
            end = len(row.text.rstrip()) if span[1] == -1 else span[1]
            strip = restyle(strip, [(max(span[0], row.skip), end)], marks.selection_style)
        return strip

    def _with_pill(self, row: Strip, frame: Frame, new_lines: int) -> Strip:
        text = f" {new_lines:,} new line{'s' if new_lines != 1 else ''} \u00b7 end " if new_lines else " end "
        self.pill_width = len(text) + 1
        segments = [frame.seg(text, "active", "strong", ground="panel"), frame.palette.blank(1, "base")]
        return self._cached(row, ("pill", new_lines), lambda s: replace_end(s, segments))

    def _add_thumb(self, rows: list[Strip], frame: Frame, top: int, total: int) -> None:
        height = len(rows)
        size = max(1, height * height // max(1, total))
        first = max(0, round((height - size) * top / max(1, total - height)))
        thumb = frame.seg("\u2590", "muted")
        for y in range(first, min(height, first + size)):
            rows[y] = self._cached(rows[y], "thumb", lambda s: replace_end(s, [thumb]))

    def _cached(self, strip: Strip, key: object, make: Callable[[Strip], Strip]) -> Strip:
        found = self._cache.get((id(strip), key))
        if found is None:
            if len(self._cache) > 1_000:
                self._cache.clear()
            # The strip is kept beside the result, so that its id is not given to another one.
            found = self._cache[id(strip), key] = strip, make(strip)
        return found[1]
