"""Selected rows into text that reads as it was written."""

from __future__ import annotations

import re
from typing import Final

from rich.cells import cell_len
from textual.selection import Selection

from ..rendering.rows import Row
from .column import Column

MAX_ROWS: Final = 20_000
"""Rows that one selection may copy; more would freeze the screen."""

_WORD = re.compile(r"[\w./~:@%+-]+|\S")


def selected_text(column: Column, selection: Selection, origin: int) -> str:
    """Return the text of a selection.

    Args:
        column: Where the rows are.
        selection: Character and row, rows counted from ``origin``.
        origin: The row number that the selection calls 0.
    """
    first = selection.start.y + origin if selection.start is not None else 0
    last = selection.end.y + origin if selection.end is not None else column.total - 1
    place = column.place_at(first)
    if place is None:
        return ""
    parts: list[str] = []
    count = max(1, min(last - first + 1, MAX_ROWS))
    for number, (row, _, _, _) in enumerate(column.window_from(place, count)):
        start = selection.start.x if selection.start is not None and number == 0 else 0
        end = selection.end.x if selection.end is not None and number == count - 1 else None
        if parts:
            parts.append("\n" if row.joint is None else row.joint)
        parts.append(row.text[max(start, row.skip) : end].rstrip())
    return "".join(parts)


def word_at(row: Row, x: int) -> tuple[int, int]:
    """Return the characters of the word in a cell."""
    text = row.text
    at = 0
    for char in text:
        x -= cell_len(char)
        if x < 0:
            break
        at += 1
    for match in _WORD.finditer(text):
        if match.start() <= at < match.end():
            return match.span()
    return at, at + 1
