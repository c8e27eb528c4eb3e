"""Some lines of a fence."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from .code import LineLexer
from .markdown import TAB, code_rows
from .rows import Frame, Row
from .units import Unit


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
