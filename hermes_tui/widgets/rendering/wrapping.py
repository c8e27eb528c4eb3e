"""Break text into rows of cells. Owns the arithmetic of wide characters, joined emoji and break points."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style

from ..line_text import clip, clusters

Run: TypeAlias = tuple[str, Style]
"""Text without line ends, in one style."""

Range: TypeAlias = tuple[int, int]

_WIDE = (
    "\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6"
    "\U0001f000-\U0001faff\U00020000-\U0003fffd"
)
_CLOSING = "\u3001\u3002\uff0c\uff0e\uff01\uff1f\uff1a\uff1b\u300d\u300f\u3011\u300b\u3009\uff09\uff3d\uff5d\u2026"
_WORD = re.compile(
    rf"\s+|[\U0001f1e6-\U0001f1ff]{{2}}"
    rf"|[{_WIDE}](?:[\ufe0f\U0001f3fb-\U0001f3ff\u0300-\u036f\u20e3]|\u200d.)*[{_CLOSING}]*"
    rf"|[^\s{_WIDE}]+[{_CLOSING}]*"
)


def wrap_ranges(text: str, width: int) -> list[Range]:
    """Return the ranges of the rows that show one line of prose; blanks at a break belong to no row.

    Args:
        text: A line without line ends or tabs.
        width: Cells of a row, at least 2.
    """
    if text.isascii():
        return _wrap_ascii(text, width)
    if cell_len(text) <= width:
        return [(0, len(text))]
    return _wrap_words(text, width)


def _wrap_ascii(text: str, width: int) -> list[Range]:
    rows: list[Range] = []
    start, end = 0, len(text)
    while end - start > width:
        cut = text.rfind(" ", start, start + width + 1)
        if cut <= start:
            rows.append((start, start + width))
            start += width
            continue
        rows.append((start, cut))
        start = cut
        while start < end and text[start] == " ":
            start += 1
    if start < end or not rows:
        rows.append((start, end))
    return rows


def _wrap_words(text: str, width: int) -> list[Range]:
    rows: list[Range] = []
    start = end = cells = 0
    for match in _WORD.finditer(text):
        word = match.group()
        size = cell_len(word)
        if cells + size <= width:
            cells += size
            end = match.end()
            continue
        if end > start:
            rows.append((start, end))
        if word.isspace():
            start, end, cells = match.end(), match.end(), 0
            continue
        start, end, cells = match.start(), match.end(), size
        if size > width:
            pieces = chop_ranges(word, width)
            rows.extend((start + a, start + b) for a, b in pieces[:-1])
            start, cells = start + pieces[-1][0], cell_len(word[pieces[-1][0] :])
    if end > start or not rows:
        rows.append((start, end))
    return [(a, a + len(text[a:b].rstrip(" ")) if b < len(text) else b) for a, b in rows]


def chop_ranges(text: str, width: int) -> list[Range]:
    """Return the ranges of rows that are filled to the last cell, as code and output are shown."""
    if text.isascii():
        return [(i, min(i + width, len(text))) for i in range(0, len(text), width)] or [(0, 0)]
    rows: list[Range] = []
    start = cells = 0
    for begin, _end, size in clusters(text):
        if cells + size > width and begin > start:
            rows.append((start, begin))
            start, cells = begin, 0
        cells += size
    rows.append((start, len(text)))
    return rows


def cut_runs(runs: Sequence[Run], ranges: Iterable[Range]) -> list[list[Segment]]:
    """Return the segments of each range of the joined text of ``runs``; ranges ascend."""
    rows: list[list[Segment]] = []
    index = position = 0
    count = len(runs)
    for start, end in ranges:
        row: list[Segment] = []
        while index < count and position + len(runs[index][0]) <= start:
            position += len(runs[index][0])
            index += 1
        at, offset = index, position
        while at < count and offset < end:
            text, style = runs[at]
            piece = text[max(0, start - offset) : end - offset]
            if piece:
                row.append(Segment(piece, style))
            offset += len(text)
            at += 1
        rows.append(row)
    return rows


def wrap_runs(runs: Sequence[Run], width: int) -> list[list[Segment]]:
    """Return the rows of styled prose."""
    if len(runs) == 1:
        text, style = runs[0]
        return [[Segment(text[a:b], style)] for a, b in wrap_ranges(text, width)]
    return cut_runs(runs, wrap_ranges("".join([text for text, _ in runs]), width))


def chop_runs(runs: Sequence[Run], width: int) -> list[list[Segment]]:
    """Return the rows of styled code."""
    return cut_runs(runs, chop_ranges("".join([text for text, _ in runs]), width))


def cells_of(segments: Iterable[Segment]) -> int:
    """Return the cells that segments take."""
    return sum([cell_len(segment.text) for segment in segments])


def clip_middle(text: str, width: int) -> str:
    """Return a text in at most ``width`` cells, cut in the middle: paths keep their name, commands their start."""
    if cell_len(text) <= width or width < 8 or not text.isascii():
        return clip(text, width)
    tail = (width - 1) // 2
    return f"{text[: width - 1 - tail]}\u2026{text[len(text) - tail :]}"


def estimate_cells(text: str) -> int:
    """Guess the cells of a text at the speed of C: wide characters take three or four bytes and two cells."""
    if text.isascii():
        return len(text)
    return (len(text) + len(text.encode("utf-8", "replace"))) // 2


def estimate_rows(text: str, width: int) -> int:
    """Guess the rows of a text with line ends."""
    lines = text.count("\n") + 1
    return lines + estimate_cells(text) // max(1, width)
