"""Units: the smallest parts of an entry that are measured, drawn and forgotten on their own."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any, Final, cast

from typing_extensions import override

from .code import LineLexer
from .inline import inline_runs
from .markdown import TAB, References, code_rows, parse_inline, render
from .rows import Frame, Piece, Row, wrapped
from .tables import Align, Cell, TableLayout, header_rows, plan_table, table_rows
from .wrapping import estimate_cells, estimate_rows

SLOW_S: Final = 0.004
"""A unit that takes longer to draw is drawn less often while it grows."""
MIN_PERIOD_S: Final = 0.08
PERIOD_FACTOR: Final = 4
"""A slow unit rests this many times its cost."""

_PIPE = re.compile(r"(?<!\\)\|")


def split_cells(line: str) -> list[str]:
    """Split a table row at its bars."""
    line = line.strip()
    line = line.removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.strip().replace("\\|", "|") for cell in _PIPE.split(line)]


class Unit:
    """Something with rows. Subclasses say how many they expect and how they look."""

    __slots__ = ("gap", "height", "key", "rows_cache")

    def __init__(self, gap: int = 0) -> None:
        self.gap = gap
        """Empty rows above."""
        self.rows_cache: list[Row] | None = None
        self.key: object = None
        """The frame that ``height`` is exact for; None when it is a guess."""
        self.height = 0

    def estimate(self, width: int) -> int:
        """Guess the rows below the gap."""
        raise NotImplementedError

    def pieces(self, frame: Frame) -> list[Piece]:
        """Draw."""
        raise NotImplementedError

    def draw(self, frame: Frame) -> list[Row]:
        """Return the rows, the gap's included; cached until the frame changes."""
        if self.rows_cache is None or self.key is not frame.key:
            body = [frame.row(piece) for piece in self.pieces(frame)]
            self.rows_cache = [frame.blank()] * (self.gap if body else 0) + body
            self.height = len(self.rows_cache)
            self.key = frame.key
        return self.rows_cache

    def due_in(self) -> float:
        """Return the seconds until the rows may be drawn again; 0 when they are up to date."""
        return 0.0

    def forget(self) -> None:
        """Drop the rows; the height stays."""
        self.rows_cache = None

    def learn_reference(self) -> None:
        """A link definition arrived."""

    def may_contain(self, pattern: re.Pattern[str]) -> bool:
        """Say whether it is worth drawing the unit to find words in it."""
        del pattern
        return True


class MarkdownUnit(Unit):
    """A paragraph, heading, list item, quote, rule, indented code or raw HTML.

    Args:
        text: Its Markdown.
        gap: Empty rows above.
        references: Link definitions, shared by the message.
        ordinal: Number of its first list item.
    """

    __slots__ = ("_cost_s", "_drawn_at", "_ordinal", "_references", "_stale", "text")

    def __init__(self, text: str, gap: int, references: References, ordinal: int | None = None) -> None:
        super().__init__(gap)
        self.text = text
        self._references = references
        self._ordinal = ordinal
        self._cost_s = 0.0
        self._drawn_at = 0.0
        self._stale: list[Row] | None = None

    def same_as(self, other: MarkdownUnit) -> bool:
        """Say whether the other would look the same."""
        return self.text == other.text and self.gap == other.gap and self._ordinal == other._ordinal

    def inherit_cost(self, older: MarkdownUnit) -> None:
        """Take over how dear the last version was, and its rows until this one is drawn."""
        self._cost_s, self._drawn_at = older._cost_s, older._drawn_at
        if self._cost_s > SLOW_S:
            self._stale = older.rows_cache or older._stale
            self.height = older.height

    @override
    def estimate(self, width: int) -> int:
        return estimate_rows(self.text, width)

    @override
    def pieces(self, frame: Frame) -> list[Piece]:
        return render(self.text, frame, self._references, frame.inner, self._ordinal)

    @override
    def draw(self, frame: Frame) -> list[Row]:
        if self._stale is not None:
            if self.due_in() > 0 and self._stale and self._stale[0].cell_length == frame.width:
                return self._stale
            self._stale = None
        if self.rows_cache is None or self.key is not frame.key:
            started = time.perf_counter()
            super().draw(frame)
            self._drawn_at = time.perf_counter()
            self._cost_s = self._drawn_at - started
        assert self.rows_cache is not None
        return self.rows_cache

    @override
    def due_in(self) -> float:
        if self._stale is None:
            return 0.0
        return max(0.0, self._drawn_at + max(MIN_PERIOD_S, PERIOD_FACTOR * self._cost_s) - time.perf_counter())

    def settle(self) -> None:
        """Stop showing an older version: the unit is final."""
        self._stale = None

    @override
    def may_contain(self, pattern: re.Pattern[str]) -> bool:
        return pattern.search(self.text) is not None

    @override
    def learn_reference(self) -> None:
        if "]" in self.text:
            self.rows_cache = None
            self.key = None


class CodeUnit(Unit):
    """Some lines of a fence. Lines are coloured once, also while more follow.

    Args:
        language: Lexer name.
        carry: What string or comment is open at the first line.
        gap: Empty rows above.
        label: Shown at the right of the first row.
    """

    __slots__ = ("_done", "_drawn", "_lexer", "_partial", "_pieces", "carry", "label", "language", "lines")

    def __init__(self, language: str, carry: str, gap: int, label: str = "") -> None:
        super().__init__(gap)
        self.language = language
        self.carry = carry
        self.label = label
        self.lines: list[str] = []
        self._partial = ""
        self._lexer: LineLexer | None = None
        self._pieces: list[Row] = []
        self._drawn: object = None
        self._done = 0

    def add(self, line: str) -> None:
        """Add a whole line."""
        self.lines.append(line)
        self._partial = ""
        self.rows_cache = None
        self.key = None

    def whole_code(self, following: Sequence[Unit]) -> str:
        """Return the code of the fence that starts here.

        Args:
            following: The units after this one.
        """
        lines = list(self.lines)
        for unit in following:
            if not isinstance(unit, CodeUnit) or unit.gap or unit.label:
                break
            lines += unit.lines
        return "\n".join(lines)

    def set_partial(self, text: str) -> None:
        """Show an unfinished line, plain; empty for none."""
        if text != self._partial:
            self._partial = text
            self.rows_cache = None
            self.key = None

    @override
    def estimate(self, width: int) -> int:
        return max(1, sum(1 + len(line) // width for line in self.lines))

    @override
    def forget(self) -> None:
        super().forget()
        self._pieces, self._lexer = [], None

    @override
    def draw(self, frame: Frame) -> list[Row]:
        if self.rows_cache is not None and self.key is frame.key:
            return self.rows_cache
        if self._lexer is None or self._drawn is not frame.key:
            self._lexer = LineLexer(frame.code, self.language, self.carry)
            self._pieces, self._drawn, done = [], frame.key, 0
        else:
            done = self._done
        lexer = self._lexer
        for number, line in enumerate(self.lines[done:], done):
            label = self.label if number == 0 else ""
            runs = lexer.line(line.expandtabs(TAB), frame.palette, "code")
            self._pieces += [frame.row(p) for p in code_rows([runs], frame, frame.inner, label)]
        self._done = len(self.lines)
        rows = [frame.blank()] * self.gap + self._pieces
        if self._partial or not self.lines:
            runs = [(self._partial.expandtabs(TAB), frame.style(ground="code"))]
            label = "" if self.lines else self.label
            rows += [frame.row(p) for p in code_rows([runs], frame, frame.inner, label)]
        self.rows_cache, self.height, self.key = rows, len(rows), frame.key
        return rows


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


class LinesUnit(Unit):
    """Lines of plain text: output, user text, reasoning.

    Args:
        lines: Safe to draw, without line ends.
        roles: Their style.
        ground: What they lie on.
        prefix: Decoration before each row.
        gap: Empty rows above.
        wrap: True breaks at words, False fills rows.
        mark: Role of a bar at the left edge; empty for none.
    """

    __slots__ = ("_lines", "_look", "_mark", "_prefix", "_wrap")

    def __init__(
        self,
        lines: Sequence[str],
        *roles: str,
        ground: str = "base",
        prefix: str = "",
        gap: int = 0,
        wrap: bool = False,
        mark: str = "",
    ) -> None:
        super().__init__(gap)
        self._lines = lines
        self._look = (ground, roles)
        self._prefix = prefix
        self._wrap = wrap
        self._mark = mark

    @override
    def estimate(self, width: int) -> int:
        width = max(4, width - len(self._prefix))
        return sum(1 + max(0, estimate_cells(line) - 1) // width for line in self._lines)

    @override
    def pieces(self, frame: Frame) -> list[Piece]:
        ground, roles = self._look
        style = frame.palette.style(ground, *roles)
        width = max(4, frame.inner - len(self._prefix))
        prefix = [frame.seg(self._prefix, "rule", ground=ground)] if self._prefix else []
        pieces: list[Piece] = []
        for line in self._lines:
            rows = wrapped([(line.expandtabs(TAB), style)], width, chop=not self._wrap, ground=ground)
            pieces += [piece.indented(prefix) for piece in rows] if prefix else rows
        return pieces

    @override
    def draw(self, frame: Frame) -> list[Row]:
        if self._mark and (self.rows_cache is None or self.key is not frame.key):
            mark = frame.seg("\u258c", self._mark, ground=self._look[0])
            body = [frame.row(piece, mark) for piece in self.pieces(frame)]
            self.rows_cache = [frame.blank()] * self.gap + body
            self.height, self.key = len(self.rows_cache), frame.key
        return super().draw(frame)


class DrawnUnit(Unit):
    """A few rows made by a function: headers, notes, dividers.

    Args:
        make: Draws the pieces.
        rows: How many are expected.
        gap: Empty rows above.
    """

    __slots__ = ("_expected", "_make")

    def __init__(self, make: Callable[[Frame], list[Piece]], rows: int = 1, gap: int = 0) -> None:
        super().__init__(gap)
        self._make = make
        self._expected = rows

    @override
    def estimate(self, width: int) -> int:
        return self._expected

    @override
    def pieces(self, frame: Frame) -> list[Piece]:
        return self._make(frame)


def line_units(lines: Sequence[str], *roles: str, chunk: int = 60, gap: int = 0, **look: Any) -> list[Unit]:
    """Return lines as units of bounded size.

    Args:
        lines: Safe to draw, without line ends.
        roles: Their style.
        chunk: Lines in one unit.
        gap: Empty rows above the first.
        look: Further arguments of :class:`LinesUnit`.
    """
    return [
        LinesUnit(lines[start : start + chunk], *roles, gap=gap if start == 0 else 0, **look)
        for start in range(0, len(lines), chunk)
    ]
