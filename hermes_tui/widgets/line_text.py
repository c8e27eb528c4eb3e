"""Styled lines as plain data, and the arithmetic of showing them in cells: wrapping, cutting, clipping.

Owns no widget. A style is a name; the widget that draws the line maps it to a component class.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rich.cells import cell_len, split_graphemes

from .inert import clean_line

Span: TypeAlias = tuple[str, str]
"""Text without line ends, and the name of its style (empty for plain)."""


@dataclass(frozen=True, slots=True)
class Line:
    """One logical line."""

    spans: tuple[Span, ...] = ()
    hang: int = 0
    """Cells by which its wrapped rows are indented."""
    prose: bool = True
    """Break between words; otherwise anywhere, dropping nothing, as commands and output need."""
    ground: str = ""
    """Style that lies under the whole row."""

    @property
    def text(self) -> str:
        """The line without styles."""
        return self.spans[0][0] if len(self.spans) == 1 else "".join(text for text, _ in self.spans)


def line(text: str, style: str = "", hang: int = 0) -> Line:
    """Return a line of one style."""
    return Line(((text, style),), hang)


def shown(text: str) -> str:
    """Return one line of untrusted text as it can be drawn: inert, tabs as blanks."""
    return text if text.isascii() and text.isprintable() else clean_line(text).expandtabs(4)


def clusters(text: str) -> list[tuple[int, int, int]]:
    """Return ``(start, end, cells)`` for every character as a reader sees it."""
    found = split_graphemes(text)[0]
    if "\u200d" in text:  # joiners that join nothing are measured differently there
        return [(start, end, cell_len(text[start:end])) for start, end, _ in found]
    return found


def wrap(text: str, width: int, hang: int = 0, *, prose: bool = True) -> list[tuple[int, int]]:
    """Return the ``[start, end)`` ranges of the rows that show ``text``; at least one.

    Args:
        text: A line without line ends.
        width: Cells of the first row.
        hang: Cells that later rows lose to their indent.
        prose: Break at blanks and drop the blank at the break.
    """
    ascii_only = text.isascii()
    if width <= 0 or (len(text) <= width and ascii_only) or cell_len(text) <= width:
        return [(0, len(text))]
    units = [(i, i + 1, 1) for i in range(len(text))] if ascii_only else clusters(text)
    rows: list[tuple[int, int]] = []
    start, cells, room = 0, 0, width
    break_at = -1  # index after which the present row may be broken
    cells_at_break = 0
    for begin, end, size in units:
        if cells + size > room and begin > start:
            if prose and text[begin] != " " and break_at > start:
                rows.append((start, break_at))
                start, cells = break_at, cells - cells_at_break
            else:
                rows.append((start, begin))
                start, cells = begin, 0
            break_at, room = -1, max(1, width - hang)
        cells += size
        if text[begin] == " " or size == 2:
            break_at, cells_at_break = end, cells
    rows.append((start, len(text)))
    return _trim(text, rows) if prose else rows


def _trim(text: str, rows: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Drop the blanks at soft breaks."""
    trimmed: list[tuple[int, int]] = []
    for number, (start, end) in enumerate(rows):
        begin = start
        while number and begin < end and text[begin] == " ":
            begin += 1
        if begin < end or not number:
            trimmed.append((begin, end))
    return trimmed


def cut(spans: Iterable[Span], start: int, end: int) -> list[Span]:
    """Return the spans of the characters ``[start, end)``."""
    piece: list[Span] = []
    position = 0
    for text, style in spans:
        if position >= end:
            break
        part = text[max(0, start - position) : end - position]
        if part and position + len(text) > start:
            piece.append((part, style))
        position += len(text)
    return piece


def overlay(spans: Sequence[Span], marks: Iterable[tuple[int, int]], style: str) -> list[Span]:
    """Return the spans with the ranges ``marks`` (sorted, apart) in another style."""
    result: list[Span] = []
    position = 0
    for start, end in marks:
        if end <= position:
            continue
        result += cut(spans, position, start)
        marked = "".join(text for text, _ in cut(spans, max(start, position), end))
        if marked:
            result.append((marked, style))
        position = end
    return result + cut(spans, position, sum(len(text) for text, _ in spans))


def clip(text: str, width: int) -> str:
    """Return text of at most ``width`` cells, with an ellipsis where it was cut."""
    if width <= 0:
        return ""
    if cell_len(text) <= width:
        return text
    cells = 0
    for start, _, size in clusters(text):
        if cells + size > width - 1:
            return text[:start] + "\u2026"
        cells += size
    return text


def clip_start(text: str, width: int) -> str:
    """Return the end of a text in at most ``width`` cells, as paths are cut."""
    if cell_len(text) <= width:
        return text
    cells = 0
    for _, end, size in reversed(clusters(text)):
        if cells + size > width - 1:
            return "\u2026" + text[end:] if width > 0 else ""
        cells += size
    return text


def clip_spans(spans: Sequence[Span], width: int) -> list[Span]:
    """Clip a row of spans to ``width`` cells."""
    room = width
    row: list[Span] = []
    for text, style in spans:
        if room <= 0:
            break
        part = clip(text, room)
        row.append((part, style))
        if part != text:
            break
        room -= cell_len(part)
    return row


def cells_of(spans: Iterable[Span]) -> int:
    """Return the width of a row of spans in cells."""
    return sum(cell_len(text) for text, _ in spans)
