"""Wrapped text that moves by what a reader sees as one character.

Textual's document counts code points and re-divides Rich texts; this one measures whole graphemes and slices strings.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise

from rich.cells import cell_len, split_graphemes
from textual.document._wrapped_document import WrappedDocument

_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_SKIN_TONES = range(0x1F3FB, 0x1F400)


def grapheme_starts(text: str) -> list[int]:
    """Return the index of the first code point of every grapheme, and the length of the text at the end."""
    if text.isascii():
        return list(range(len(text) + 1))
    starts: list[int] = []
    lone_flag = False  # an odd flag letter waits for its partner
    for start, end, _ in split_graphemes(text)[0]:
        code = ord(text[start])
        is_flag = code in _FLAG_LETTERS
        joins = (is_flag and lone_flag) or (code in _SKIN_TONES and bool(starts))
        lone_flag = is_flag and not lone_flag and end - start == 1
        if not joins:
            starts.append(start)
    if not starts or starts[-1] != len(text):
        starts.append(len(text))
    return starts


def previous_grapheme(text: str, column: int) -> int:
    """Return where the grapheme before ``column`` starts; 0 at the start."""
    if column <= 0:
        return 0
    if text.isascii():
        return column - 1
    return max(start for start in grapheme_starts(text) if start < column)


def next_grapheme(text: str, column: int) -> int:
    """Return where the grapheme at ``column`` ends; the length at the end."""
    if column >= len(text):
        return len(text)
    if text.isascii():
        return column + 1
    return min(start for start in grapheme_starts(text) if start > column)


def snap_to_grapheme(text: str, column: int) -> int:
    """Return the nearest boundary at or before ``column``."""
    if text.isascii():
        return column
    starts = grapheme_starts(text)
    return starts[max(0, bisect_right(starts, column) - 1)]


class GraphemeDocument(WrappedDocument):
    """The wrapped view of the composer's text."""

    @property
    def height(self) -> int:
        """Rows after wrapping."""
        return len(self._offset_to_line_info)

    def wrap(self, width: int, tab_width: int | None = None) -> None:
        """Wrap everything anew."""
        super().wrap(width, tab_width)
        self._keep_graphemes_whole(0, len(self._wrap_offsets) - 1)

    def wrap_range(self, start: tuple[int, int], old_end: tuple[int, int], new_end: tuple[int, int]) -> None:
        """Wrap again what an edit touched."""
        super().wrap_range(start, old_end, new_end)
        self._keep_graphemes_whole(start[0], max(start[0], new_end[0]))

    def _keep_graphemes_whole(self, first: int, last: int) -> None:
        """Textual folds a long word between code points; move such a break to the grapheme's start."""
        for index in range(max(0, first), min(last, len(self._wrap_offsets) - 1) + 1):
            offsets = self._wrap_offsets[index]
            line = self.document.lines[index]
            if offsets and not line.isascii():
                self._wrap_offsets[index] = [snap_to_grapheme(line, offset) for offset in offsets]

    def get_sections(self, line_index: int) -> list[str]:
        """Return the rows of one line."""
        line = self.document.lines[line_index]
        bounds = [0, *self._wrap_offsets[line_index], len(line)]
        return [line[start:end] for start, end in pairwise(bounds)]

    def get_target_document_column(self, line_index: int, x_offset: int, y_offset: int) -> int:
        """Return the column of the grapheme under a cell.

        Args:
            line_index: The line, negative from the end.
            x_offset: Cells from the start of the row.
            y_offset: The row within the line, negative from the end.
        """
        line = self.document.lines[line_index]
        bounds = [0, *self._wrap_offsets[line_index], len(line)]
        row = y_offset % (len(bounds) - 1)
        start, end = bounds[row], bounds[row + 1]
        section = line[start:end]
        column = start + self._column_at(section, x_offset)
        is_last_row = row == len(bounds) - 2
        return column if is_last_row or column < end else start + previous_grapheme(section, len(section))

    def _column_at(self, section: str, cells: int) -> int:
        position = 0
        starts = grapheme_starts(section)
        for start, end in pairwise(starts):
            piece = section[start:end]
            tab = self._tab_width
            position += tab - position % tab if piece == "\t" else cell_len(piece)
            if position > cells:
                return start
        return len(section)
