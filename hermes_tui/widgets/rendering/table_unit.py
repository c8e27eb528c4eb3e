"""A table, or some of its further rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import cast

from typing_extensions import override

from .inline import inline_runs
from .markdown import References, parse_inline
from .rows import Frame, Piece
from .tables import Align, Cell, TableLayout, header_rows, plan_table, table_rows
from .units import Unit

_PIPE = re.compile(r"(?<!\\)\|")


def split_cells(line: str) -> list[str]:
    """Split a table row at its bars."""
    line = line.strip()
    line = line.removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _PIPE.split(line)]


class TableUnit(Unit):
    """The head of a table with its first rows, or some of its further rows.

    Args:
        header: Source of the header cells.
        aligns: One a column.
        references: Link definitions, shared by the message.
        gap: Empty rows above.
        first: The unit with the head, for further rows.
    """

    __slots__ = ("_cells", "_head", "_layout", "_references", "aligns", "first", "header", "rows")

    def __init__(
        self,
        header: Sequence[str],
        aligns: Sequence[str],
        references: References,
        gap: int,
        first: TableUnit | None = None,
    ) -> None:
        super().__init__(gap)
        self.header = list(header)
        self.aligns = [cast("Align", align) for align in aligns]
        self.first = first
        self.rows: list[list[str]] = []
        self._references = references
        self._cells: list[list[Cell]] = []
        self._head: tuple[object, list[Cell]] = (None, [])
        self._layout: tuple[object, TableLayout] | None = None

    def add(self, cells: Sequence[str]) -> None:
        """Add a whole row; cells beyond the header's are dropped, as everywhere."""
        self.rows.append(list(cells[: len(self.header)]))
        self.rows_cache = self.key = None
        if self.first is None:
            self._layout = None

    @override
    def estimate(self, width: int) -> int:
        return sum(1 + sum(map(len, row)) // max(8, width - 3 * len(row)) for row in self.rows) + 2

    @override
    def forget(self) -> None:
        super().forget()
        self._cells = []
        self._head = (None, [])

    @override
    def pieces(self, frame: Frame) -> list[Piece]:
        head = (self.first or self).head(frame)
        layout = (self.first or self).layout(frame)
        body = table_rows(self.cells(frame), layout, frame.inner, frame.palette, head)
        return body if self.first is not None else header_rows(head, layout, frame.palette) + body

    def head(self, frame: Frame) -> list[Cell]:
        """Return the header's cells in styles."""
        if self._head[0] is not frame.palette:
            self._head = (frame.palette, [self._cell(text, frame, "strong") for text in self.header])
            self._cells = []
        return self._head[1]

    def cells(self, frame: Frame) -> list[list[Cell]]:
        """Return the body's cells in styles; each is parsed once."""
        self.head(frame)
        for row in self.rows[len(self._cells) :]:
            self._cells.append([self._cell(text, frame) for text in row])
        return self._cells

    def layout(self, frame: Frame) -> TableLayout:
        """Return the columns, which the head and the first rows decide."""
        key = (frame.inner, frame.palette)
        if self._layout is None or self._layout[0] != key:
            self._layout = key, plan_table([self.head(frame), *self.cells(frame)], self.aligns, frame.inner)
        return self._layout[1]

    def _cell(self, text: str, frame: Frame, *roles: str) -> Cell:
        lines = inline_runs(parse_inline(text, self._references), frame.palette, "base", roles)
        return [run for line in lines for run in line]

    @override
    def learn_reference(self) -> None:
        self._cells, self._head, self._layout = [], (None, []), None
        self.rows_cache = self.key = None
