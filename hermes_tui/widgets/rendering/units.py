"""Units: the smallest parts of an entry that are measured, drawn and forgotten on their own."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from typing_extensions import override

from .markdown import TAB, References, render
from .rows import Frame, Piece, Row, wrapped
from .wrapping import estimate_cells, estimate_rows

SLOW_S: Final = 0.004
"""A unit that takes longer to draw is drawn less often while it grows."""
MIN_PERIOD_S: Final = 0.08
PERIOD_FACTOR: Final = 4
"""A slow unit rests this many times its cost."""


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
