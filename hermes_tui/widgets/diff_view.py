"""Unified diffs as rows: line numbers, colours, hunk headers; two columns where there is room."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, Literal, TypeAlias

from rich.segment import Segment
from typing_extensions import override

from .inert import clean_line
from .rendering.code import LineLexer, language_of
from .rendering.markdown import TAB
from .rendering.rows import BAR, Frame, Piece
from .rendering.units import Unit
from .rendering.wrapping import Run, cells_of, chop_runs

SIDE_BY_SIDE: Final = 120
"""Cells from which old and new stand beside each other, where that was asked for."""
CHUNK: Final = 60
"""Diff lines in one unit."""

Kind: TypeAlias = Literal["add", "remove", "same", "hunk", "file"]

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)")
_SIGNS: Final = {"add": "+", "remove": "-", "same": " "}


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a diff."""

    kind: Kind
    text: str
    old: int = 0
    """Line number before, 0 when it did not exist."""
    new: int = 0
    """Line number after, 0 when it is gone."""


def parse_diff(diff: str, clean: Callable[[str], str] = clean_line) -> list[DiffLine]:
    """Read a unified diff; lines that are none of its own are kept as context.

    Args:
        diff: The text.
        clean: Makes a line fit to be drawn; the caller does that itself when it is the identity.
    """
    lines: list[DiffLine] = []
    old = new = 0
    for raw in diff.split("\n"):
        line = clean(raw)
        if match := _HUNK.match(line):
            old, new = int(match[1]), int(match[2])
            lines.append(DiffLine("hunk", match[3], old, new))
        elif old == new == 0 and line.startswith(("--- ", "+++ ", "diff ", "index ")):
            if line.startswith("+++ "):
                lines.append(DiffLine("file", line[4:].removeprefix("b/")))
        elif line.startswith(("--- ", "diff --git ")) and lines and lines[-1].kind != "hunk" and _starts_file(line):
            old = new = 0
        elif line.startswith("+"):
            lines.append(DiffLine("add", line[1:], 0, new))
            new += 1
        elif line.startswith("-"):
            lines.append(DiffLine("remove", line[1:], old, 0))
            old += 1
        elif line.startswith("\\"):
            continue
        elif line or raw is not diff:
            lines.append(DiffLine("same", line[1:], old, new))
            old, new = old + 1, new + 1
    while lines and lines[-1].kind == "same" and not lines[-1].text:
        lines.pop()
    return lines


def _starts_file(line: str) -> bool:
    return line.startswith("diff --git ") or line.startswith("--- a/") or line == "--- /dev/null"


def count_changes(lines: Sequence[DiffLine]) -> tuple[int, int]:
    """Return how many lines were added and removed."""
    return sum(line.kind == "add" for line in lines), sum(line.kind == "remove" for line in lines)


class DiffUnit(Unit):
    """Some lines of a diff.

    Args:
        lines: What to show.
        language: Lexer name.
        digits: Cells of a line number.
        side_by_side: Old beside new, where the view is wide enough.
        show_files: Show the names of files (a diff of one file has its name elsewhere).
    """

    __slots__ = ("_digits", "_language", "_lines", "_show_files", "_side")

    def __init__(
        self, lines: Sequence[DiffLine], language: str, digits: int, *, side_by_side: bool, show_files: bool
    ) -> None:
        super().__init__()
        self._lines = lines
        self._language = language
        self._digits = digits
        self._side = side_by_side
        self._show_files = show_files

    @override
    def estimate(self, width: int) -> int:
        return len(self._lines)

    @override
    def pieces(self, frame: Frame) -> list[Piece]:
        if self._side and frame.inner >= SIDE_BY_SIDE:
            pieces = list(self._columns(frame))
        else:
            pieces = [piece for line in self._lines for piece in self._unified(line, frame)]
        return [piece.indented([frame.seg(BAR, "rule")]) for piece in pieces]

    def _unified(self, line: DiffLine, frame: Frame) -> list[Piece]:
        if line.kind in {"hunk", "file"}:
            return self._heading(line, frame)
        width = _room(frame) - self._digits - 4
        rows = self._code(line, frame, width)
        number = str(line.new or line.old or "").rjust(self._digits)
        return [
            Piece([*self._margin(line, number if i == 0 else "", frame), *row], self._digits + 4, "" if i else None)
            for i, row in enumerate(rows)
        ]

    def _columns(self, frame: Frame) -> Iterator[Piece]:
        half = (_room(frame) - 1) // 2
        bar = frame.seg("\u2502", "rule")
        for left, right in _pairs(self._lines):
            if left is not None and left.kind in {"hunk", "file"}:
                yield from self._heading(left, frame)
                continue
            columns = [self._half(left, frame, half, old=True), self._half(right, frame, half, old=False)]
            blank = [frame.palette.blank(half, "base")]
            for row_left, row_right in zip_longest(*columns, fillvalue=blank):
                yield Piece([*row_left, bar, *row_right])

    def _half(self, line: DiffLine | None, frame: Frame, width: int, *, old: bool) -> list[list[Segment]]:
        if line is None:
            return []
        number = str((line.old if old else line.new) or "").rjust(self._digits)
        rows = self._code(line, frame, width - self._digits - 4)
        return [[*self._margin(line, number if i == 0 else "", frame), *row] for i, row in enumerate(rows)]

    def _margin(self, line: DiffLine, number: str, frame: Frame) -> list[Segment]:
        ground = line.kind if line.kind in {"add", "remove"} else "base"
        roles = (line.kind,) if ground != "base" else ("muted",)
        sign = _SIGNS[line.kind] if number else " "
        return [
            frame.seg(f"{number or ' ' * self._digits} ", "muted", ground=ground),
            frame.seg(f"{sign}  "[:3], *roles, ground=ground),
        ]

    def _code(self, line: DiffLine, frame: Frame, width: int) -> list[list[Segment]]:
        """Return the text of a line in rows of exactly ``width`` cells."""
        ground = line.kind if line.kind in {"add", "remove"} else "base"
        text = line.text.expandtabs(TAB)
        runs: list[Run] = LineLexer(frame.code, self._language).line(text, frame.palette, ground)
        rows = chop_runs(runs, max(2, width))
        for row in rows:
            if (free := width - cells_of(row)) > 0:
                row.append(frame.palette.blank(free, ground))
        return rows

    def _heading(self, line: DiffLine, frame: Frame) -> list[Piece]:
        if line.kind == "file":
            return [
                Piece(row) for row in chop_runs([(line.text, frame.style("tool"))], _room(frame))
            ] * self._show_files
        text = f"{' ' * self._digits} \u22ef  {line.text.strip()}".rstrip()
        return [Piece(chop_runs([(text, frame.style("muted"))], _room(frame))[0], len(text))]


def _room(frame: Frame) -> int:
    """Return the cells right of the bar."""
    return frame.inner - len(BAR)


def _pairs(lines: Sequence[DiffLine]) -> Iterator[tuple[DiffLine | None, DiffLine | None]]:
    """Stand removed and added lines of one change beside each other."""
    removed: list[DiffLine] = []
    added: list[DiffLine] = []
    for line in [*lines, None]:
        if line is not None and line.kind == "remove" and not added:
            removed.append(line)
        elif line is not None and line.kind == "add":
            added.append(line)
        else:
            yield from zip_longest(removed, added)
            removed, added = [], []
            if line is not None and line.kind == "remove":
                removed.append(line)
            elif line is not None:
                yield line, line


def diff_units(diff: str, path: str = "", *, limit: int = 0, side_by_side: bool = True) -> tuple[list[Unit], int]:
    """Return a diff as units, and how many lines were left out.

    Args:
        diff: Unified diff.
        path: The file, for colours; may be empty.
        limit: Lines to show at most; 0 shows all.
        side_by_side: Old beside new, where the view is wide enough.
    """
    lines = parse_diff(diff)
    files = [line.text for line in lines if line.kind == "file"]
    path = path or (files[0] if len(files) == 1 else "")
    language = language_of(path.rsplit(".", 1)[-1]) if "." in path else ""
    digits = len(str(max((max(line.old, line.new) for line in lines), default=1)))
    shown = lines[:limit] if limit else lines
    if shown and shown[0].kind == "file" and len(files) == 1:
        shown = shown[1:]
    if shown and shown[0].kind == "hunk" and not shown[0].text:
        shown = shown[1:]
    units: list[Unit] = [
        DiffUnit(shown[i : i + CHUNK], language, digits, side_by_side=side_by_side, show_files=len(files) > 1)
        for i in range(0, len(shown), CHUNK)
    ]
    return units, len(lines) - limit if limit and len(lines) > limit else 0
