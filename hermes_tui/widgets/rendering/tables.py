"""Tables that fit: columns shrink and wrap; where even that is too narrow, each row becomes a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from rich.cells import cell_len
from rich.segment import Segment

from .rows import Piece
from .wrapping import Run, cells_of, wrap_runs

if TYPE_CHECKING:
    from .palette import Palette

Cell: TypeAlias = list[Run]
Align: TypeAlias = Literal["left", "center", "right"]

MIN_COLUMN: Final = 7
"""Narrower columns break most words; records read better."""
_BAR: Final = " \u2502 "


@dataclass(frozen=True, slots=True)
class TableLayout:
    """How wide each column is; ``widths`` is empty when rows become records."""

    widths: tuple[int, ...]
    aligns: tuple[Align, ...]
    label_width: int = 0
    """Cells of a record's labels."""


def cells_in(cell: Cell) -> int:
    """Return the cells of a table cell on one line."""
    return sum([cell_len(text) for text, _ in cell])


def plan_table(rows: Sequence[Sequence[Cell]], aligns: Sequence[Align], width: int) -> TableLayout:
    """Choose column widths from a sample of rows, the header first.

    Args:
        rows: The sample; later rows use the same widths.
        aligns: One a column.
        width: Cells for the whole table.
    """
    columns = len(aligns)
    natural = [max((cells_in(row[i]) for row in rows if i < len(row)), default=1) or 1 for i in range(columns)]
    room = width - len(_BAR) * (columns - 1)
    if sum(natural) <= room:
        return TableLayout(tuple(natural), tuple(aligns))
    cap = _widest_cap(natural, room)
    if cap < MIN_COLUMN and max(natural) > cap:
        labels = max((cells_in(cell) for cell in rows[0]), default=0) if rows else 0
        return TableLayout((), tuple(aligns), max(1, min(labels, width // 3)))
    widths = [min(cells, cap) for cells in natural]
    spare = room - sum(widths)
    for i, cells in enumerate(natural):
        if spare > 0 and cells > widths[i]:
            widths[i], spare = widths[i] + 1, spare - 1
    return TableLayout(tuple(widths), tuple(aligns))


def _widest_cap(natural: Sequence[int], room: int) -> int:
    """Return the largest limit on columns with which all of them fit."""
    left = room
    remaining = sorted(natural)
    while remaining:
        share = left // len(remaining)
        if remaining[0] > share:
            return share
        left -= remaining.pop(0)
    return left


def table_rows(
    rows: Sequence[Sequence[Cell]], layout: TableLayout, width: int, palette: Palette, header: Sequence[Cell]
) -> list[Piece]:
    """Return the rows of a table's body, or its records."""
    pieces: list[Piece] = []
    for row in rows:
        if layout.widths:
            pieces += _grid_row(row, layout, palette)
        else:
            pieces += _record(row, layout, width, palette, header)
    return pieces


def header_rows(header: Sequence[Cell], layout: TableLayout, palette: Palette) -> list[Piece]:
    """Return the header and the rule below it; nothing for records, which repeat their labels."""
    if not layout.widths:
        return []
    rule = "\u2500\u253c\u2500".join("\u2500" * cells for cells in layout.widths)
    return [*_grid_row(header, layout, palette), Piece([Segment(rule, palette.style("base", "rule"))])]


def _grid_row(row: Sequence[Cell], layout: TableLayout, palette: Palette) -> list[Piece]:
    plain = palette.style("base")
    bar = Segment(_BAR, palette.style("base", "rule"))
    columns: list[list[list[Segment]]] = [
        wrap_runs(row[i] or [("", plain)], max(2, cells)) if i < len(row) else [[]]
        for i, cells in enumerate(layout.widths)
    ]
    pieces: list[Piece] = []
    for line in range(max(len(column) for column in columns)):
        segments: list[Segment] = []
        for i, column in enumerate(columns):
            if i:
                segments.append(bar)
            content = column[line] if line < len(column) else []
            free = max(0, layout.widths[i] - cells_of(content))
            left = {"left": 0, "center": free // 2, "right": free}[layout.aligns[i]]
            segments += [Segment(" " * left, plain)] if left else []
            segments += content
            segments += [Segment(" " * (free - left), plain)] if free > left else []
        pieces.append(Piece(segments))
    return pieces


def _record(
    row: Sequence[Cell], layout: TableLayout, width: int, palette: Palette, header: Sequence[Cell]
) -> list[Piece]:
    plain, label_style = palette.style("base"), palette.style("base", "muted")
    label_width = layout.label_width
    pieces: list[Piece] = []
    for i in range(len(layout.aligns)):
        cell = row[i] if i < len(row) else []
        label = wrap_runs([("".join(t for t, _ in header[i]) if i < len(header) else "", label_style)], label_width)
        value = wrap_runs(cell or [("", plain)], max(4, width - label_width - 2))
        for line in range(max(len(label), len(value))):
            left = label[line] if line < len(label) else []
            pad = Segment(" " * (label_width + 2 - cells_of(left)), plain)
            pieces.append(Piece([*left, pad, *(value[line] if line < len(value) else [])]))
    pieces.append(Piece([Segment("\u2500" * min(width, 24), palette.style("base", "rule"))]))
    return pieces
