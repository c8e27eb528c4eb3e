"""Cut streaming Markdown into units that never change again once the next one starts.

Only line ends decide, and only text that came before: so any chunking of a text gives the same units, and a finished
unit is drawn once. A list is cut between its items, a fence into chunks of lines, a long table into chunks of rows; a
token costs the same after fifty thousand others. Owns no look: that is :mod:`markdown`'s.
"""

from __future__ import annotations

import re
from typing import Final

from ..inert import clean_line, clean_partial
from .code import carry_after, language_of
from .code_unit import CodeUnit
from .markdown import TAB, References
from .table_unit import TableUnit, split_cells
from .units import MarkdownUnit, Unit

MAX_PARAGRAPH: Final = 4_000
"""Characters after which a paragraph is continued in another unit, so that its last words stay cheap."""
CODE_CHUNK: Final = 48
"""Lines of code in one unit."""
TABLE_SAMPLE: Final = 40
"""Rows that decide a table's columns."""
TABLE_CHUNK: Final = 40
"""Rows in each further unit of a table."""

_FENCE = re.compile(r"( {0,3})(`{3,}|~{3,})[ ]*(.*)$")
_HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r" {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$")
_SETEXT = re.compile(r" {0,3}(?:=+|-+)\s*$")
_ITEM = re.compile(r"( {0,3})([-+*]|(\d{1,9})([.)]))( +|$)(?=(.*))")
_QUOTE = re.compile(r" {0,3}>")
_DELIMITER = re.compile(r" {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$")
_REFERENCE = re.compile(r" {0,3}\[([^\]^][^\]]*)\]:\s*<?(\S+?)>?(?:\s+[\"'(].*[\"')])?\s*$")
_FOOTNOTE = re.compile(r" {0,3}\[\^[^\]]+\]:")
_HTML_UNTIL = (
    (
        re.compile(r" {0,3}<(script|pre|style|textarea)(?:\s|>|$)", re.I),
        re.compile(r"</(script|pre|style|textarea)>", re.I),
    ),
    (re.compile(r" {0,3}<!--"), re.compile(r"-->")),
    (re.compile(r" {0,3}<\?"), re.compile(r"\?>")),
    (re.compile(r" {0,3}<!\[CDATA\["), re.compile(r"\]\]>")),
)  # fmt: skip
_INDENTED = re.compile(r" {4}")
_START = " #`~>-+*_<[0123456789|:="
"""First characters of a line that may be more than a paragraph's next words."""


class BlockCutter:
    """Takes text in any pieces and keeps ``units``; the last may still grow."""

    def __init__(self) -> None:
        self.units: list[Unit] = []
        self.references: References = {}
        self.closed = 0
        """Units that are final; at most one more follows."""
        self._mode = ""
        self._lines: list[str] = []
        self._size = 0
        self._partial = ""
        self._blanks = 0
        self._gap = 1
        self._fence = ""  # the fence that is open, or the one inside a list item
        self._fence_indent = 0
        self._language = ""
        self._carry = ""
        self._html_end: re.Pattern[str] | None = None
        self._item_width = 0
        self._item_kind = ""
        self._ordinal: int | None = None
        self._table: TableUnit | None = None

    # -- feeding ---------------------------------------------------------------------------------------------------

    def feed(self, text: str) -> None:
        """Take more text, and bring ``units`` up to date."""
        lines = (self._partial + text).split("\n") if self._partial else text.split("\n")
        self._partial = lines.pop()
        self._drop_tail()
        for line in lines:
            self._long_line(line)
        while len(self._partial) > MAX_PARAGRAPH:
            cut = self._partial.rfind(" ", 1, MAX_PARAGRAPH) + 1 or MAX_PARAGRAPH
            self._cut_line(self._partial[:cut])
            self._partial = self._partial[cut:]
        self._show_tail()

    def finish(self) -> None:
        """Take the end of the text."""
        self._drop_tail()
        if self._partial:
            self._long_line(self._partial)
            self._partial = ""
        self._close()
        self.closed = len(self.units)

    def _long_line(self, raw: str) -> None:
        while len(raw) > MAX_PARAGRAPH:
            cut = raw.rfind(" ", 1, MAX_PARAGRAPH) + 1 or MAX_PARAGRAPH
            self._cut_line(raw[:cut])
            raw = raw[cut:]
        self._line(self._safe(raw))

    def _safe(self, raw: str) -> str:
        """Return a line made safe; code keeps its tabs until it is drawn."""
        line = clean_line(raw)
        return line.expandtabs(TAB) if "\t" in line and self._mode != "fence" else line

    def _cut_line(self, raw: str) -> None:
        """Take the beginning of an overlong line; what follows continues without a gap."""
        self._line(self._safe(raw))
        if self._mode == "para":
            self._close(gap=0)

    def _drop_tail(self) -> None:
        del self.units[self.closed + (1 if self._is_shared() else 0) :]

    def _is_shared(self) -> bool:
        """Say whether the open unit is in ``units`` itself and grows there (code, tables)."""
        return self._mode in {"fence", "table"} and len(self.units) > self.closed

    def _show_tail(self) -> None:
        """Show the open unit together with the unfinished line."""
        partial = clean_partial(self._partial)
        if self._mode == "fence":
            unit = self.units[-1]
            assert isinstance(unit, CodeUnit)
            closes = partial.lstrip(" ")[:1] == self._fence[0] and not partial.strip().strip(self._fence[0])
            unit.set_partial("" if closes else partial)
            return
        if self._mode == "table":
            return
        if self._mode or partial.strip():
            lines = [*self._lines, *[""] * self._blanks, partial.expandtabs(TAB)] if partial.strip() else self._lines
            if lines:
                self._put(lines)

    # -- lines -----------------------------------------------------------------------------------------------------

    def _line(self, line: str) -> None:
        """Take one whole line."""
        if self._mode and getattr(self, f"_in_{self._mode}")(line):
            return
        if line.strip():
            self._start(line)
        else:
            self._gap = 1 if self._mode == "" else self._gap

    def _in_fence(self, line: str) -> bool:
        stripped = line.strip()
        if len(stripped) >= len(self._fence) and not stripped.strip(self._fence[0]) and not line.startswith("    "):
            self._close()
            return True
        indent = min(self._fence_indent, len(line) - len(line.lstrip(" ")))
        line = line[indent:]
        unit = self.units[-1]
        assert isinstance(unit, CodeUnit)
        if len(unit.lines) >= CODE_CHUNK:
            self.closed = len(self.units)
            unit = CodeUnit(self._language, self._carry, gap=0)
            self.units.append(unit)
        unit.add(line)
        self._carry = carry_after(self._language, line, self._carry)
        return True

    def _in_html(self, line: str) -> bool:
        self._add(line)
        if self._html_end is not None and self._html_end.search(line):
            self._close()
        return True

    def _in_indent(self, line: str) -> bool:
        if not line.strip():
            self._blanks += 1
            return True
        if _INDENTED.match(line):
            self._add_blanks()
            self._add(line)
            return True
        self._close()
        return False

    def _in_para(self, line: str) -> bool:
        if not line.strip():
            self._close()
            return True
        if line[0] in _START:
            if _SETEXT.match(line):
                self._add(line)
                self._close()
                return True
            if _DELIMITER.match(line) and self._start_table(line):
                return True
            if _interrupts(line):
                self._close()
                return False
        if self._size > MAX_PARAGRAPH:
            self._close(gap=0)
            self._open("para", line)
            return True
        self._add(line)
        return True

    def _in_quote(self, line: str) -> bool:
        if line.strip() and (_QUOTE.match(line) or not _interrupts(line)):
            self._add(line)
            return True
        self._close()
        return not line.strip()

    def _in_item(self, line: str) -> bool:
        if not line.strip():
            self._blanks += 1
            return True
        indent = len(line) - len(line.lstrip(" "))
        if indent >= self._item_width:
            self._add_blanks()
            self._add(line)
            self._follow_fence(line)
            return True
        match = _ITEM.match(line)
        if match and not _RULE.match(line):
            if (match[4] or match[2]) == self._item_kind:
                ordinal = None if self._ordinal is None else self._ordinal + 1
                self._close(gap=min(1, self._blanks))
                self._open_item(match, line, ordinal)
                return True
        elif not self._blanks and not self._fence and not _interrupts(line):
            self._add(line)
            return True
        self._close()
        return False

    def _in_table(self, line: str) -> bool:
        table = self._table
        assert table is not None
        if not line.strip() or _interrupts(line):
            self._close()
            return not line.strip()
        unit = self.units[-1]
        assert isinstance(unit, TableUnit)
        limit = TABLE_SAMPLE if unit is table else TABLE_CHUNK
        if len(unit.rows) >= limit:
            self.closed = len(self.units)
            unit = TableUnit(table.header, table.aligns, self.references, gap=0, first=table)
            self.units.append(unit)
        unit.add(split_cells(line))
        return True

    # -- opening and closing ---------------------------------------------------------------------------------------

    def _start(self, line: str) -> None:
        """Begin the unit that a line opens."""
        if line[0] not in _START:
            self._open("para", line)
            return
        if (match := _FENCE.match(line)) and not (match[2][0] == "`" and "`" in match[3]):
            self._open_fence(match)
        elif _HEADING.match(line) or _RULE.match(line):
            self._open("para", line)
            self._close()
        elif match := _ITEM.match(line):
            self._open_item(match, line, int(match[3]) if match[3] else None)
        elif _QUOTE.match(line):
            self._open("quote", line)
        elif _INDENTED.match(line):
            self._open("indent", line)
        elif _FOOTNOTE.match(line):
            self._open("para", line.replace("[", "\\[", 1))
        elif match := _REFERENCE.match(line):
            self._define(match[1], match[2])
        elif end := next((end for start, end in _HTML_UNTIL if start.match(line)), None):
            self._html_end = end
            self._open("html", line)
            if end.search(line[4:]):
                self._close()
        else:
            self._open("para", line)

    def _open(self, mode: str, line: str) -> None:
        self._mode = mode
        self._lines = [line]
        self._size = len(line)
        self._blanks = 0

    def _open_item(self, match: re.Match[str], line: str, ordinal: int | None) -> None:
        self._open("item", line)
        self._item_kind = match[4] or match[2]
        self._ordinal = ordinal
        spaces = len(match[5])
        self._item_width = len(match[1]) + len(match[2]) + (spaces if 1 <= spaces <= 4 and match[6] else 1)
        self._fence = ""
        self._follow_fence(line[self._item_width :])

    def _open_fence(self, match: re.Match[str]) -> None:
        self._mode = "fence"
        self._fence, self._fence_indent = match[2], len(match[1])
        self._language, self._carry = language_of(match[3]), ""
        unit = CodeUnit(self._language, "", self._gap if self.units else 0, label=match[3].split(" ")[0].strip())
        self.units.append(unit)

    def _start_table(self, line: str) -> bool:
        """Turn the paragraph's last line into a table's header, if the two lines agree."""
        header = split_cells(self._lines[-1])
        marks = split_cells(line)
        if len(header) != len(marks) or ("|" not in self._lines[-1] and "|" not in line):
            return False
        above = self._lines[:-1]
        gap = self._gap
        self._lines = above
        if above:
            self._close()
            gap = 1
        self._lines, self._mode = [], "table"
        unit = TableUnit(header, [_align_of(mark) for mark in marks], self.references, gap if self.units else 0)
        self._table = unit
        self.units.append(unit)
        return True

    def _follow_fence(self, line: str) -> None:
        """Notice fences inside a list item: there, nothing continues a paragraph."""
        if match := _FENCE.match(line.lstrip(" ")):
            if not self._fence:
                self._fence = match[2]
            elif match[2].startswith(self._fence) and not match[3].strip():
                self._fence = ""

    def _add(self, line: str) -> None:
        self._lines.append(line)
        self._size += len(line) + 1

    def _add_blanks(self) -> None:
        self._lines += [""] * self._blanks
        self._blanks = 0

    def _define(self, label: str, url: str) -> None:
        """Learn a link definition; units that may use it are drawn again."""
        key = " ".join(label.split()).upper()
        if key not in self.references:
            self.references[key] = {"title": "", "href": url, "map": [0, 1]}
            for unit in self.units:
                unit.learn_reference()

    def _put(self, lines: list[str]) -> None:
        """Append lines as a unit, keeping the rows of the last preview when nothing changed."""
        unit = MarkdownUnit("\n".join(lines), self._gap if self.units else 0, self.references, self._ordinal)
        last = self._last_preview
        if last is not None and last.same_as(unit):
            unit = last
        elif last is not None:
            unit.inherit_cost(last)
        self._last_preview = unit
        self.units.append(unit)

    def _close(self, gap: int = 1) -> None:
        """Make the open unit final."""
        mode, lines = self._mode, self._lines
        if mode in {"fence", "table"}:
            last = self.units[-1]
            if isinstance(last, CodeUnit):
                last.set_partial("")
        elif mode and lines:
            self._put(lines)
            if self._last_preview is not None:
                self._last_preview.settle()
        self.closed = len(self.units)
        self._mode, self._lines, self._size = "", [], 0
        self._blanks, self._gap = 0, gap
        self._ordinal, self._fence, self._table = None, "", None
        self._last_preview = None

    _last_preview: MarkdownUnit | None = None


def _interrupts(line: str) -> bool:
    """Say whether a line ends a paragraph by starting something else."""
    if line[0] not in _START:
        return False
    if _HEADING.match(line) or _FENCE.match(line) or _QUOTE.match(line) or _RULE.match(line):
        return True
    match = _ITEM.match(line)
    if match:
        return bool(match[6]) and (match[3] is None or int(match[3]) == 1)
    return any(start.match(line) for start, _ in _HTML_UNTIL) or bool(_FOOTNOTE.match(line))


def _align_of(mark: str) -> str:
    mark = mark.strip()
    if mark.endswith(":"):
        return "center" if mark.startswith(":") else "right"
    return "left"
