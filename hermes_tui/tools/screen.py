"""A terminal's screen as text: what a program that draws with escape sequences has left on it.

Colours and other looks are read over; what is kept is which character stands in which cell. One thread at a time.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from typing import Final

ROWS: Final = 24
COLUMNS: Final = 80
"""The size that every program can live with."""
_TAB = 8
_PENDING_CAP = 4_096
_NUMBER_CAP = 10_000

_STRING_END = r"\x07\x1b\x9c"
_TOKEN = re.compile(
    r"(?P<plain>[\x20-\x7e]+)"
    r"|\x1b\[(?P<private>[<-?]?)(?P<args>[0-9;:]*)(?P<middle>[ -/]*)(?P<final>[@-~])"
    rf"|(?P<string>\x1b[\]PX^_][^{_STRING_END}]*(?:\x07|\x1b\\|\x9c))"
    r"|\x1b(?P<charset>[()*+])(?P<set>.)"
    r"|\x1b(?P<escape>[ #%]?[0-~])"
    r"|(?P<other>.)",
    re.DOTALL,
)
_UNFINISHED = re.compile(rf"\x1b(?:\[[<-?]?[0-9;:]*[ -/]*|[\]PX^_][^{_STRING_END}]*\x1b?|[()*+ #%]?)\Z")
_LINES: Final = dict(zip("`afgjklmnopqrstuvwxyz{|}~", "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·", strict=True))
"""The line-drawing set of a VT100. Source: its user guide, table 3-9."""


class Screen:
    """Cells, a cursor, and the lines that scrolled away.

    Args:
        rows: Height.
        columns: Width.
    """

    def __init__(self, rows: int = ROWS, columns: int = COLUMNS) -> None:
        self.rows = rows
        self.columns = columns
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._scrolled: list[str] = []
        self._replies: list[bytes] = []
        self._reset()

    def _reset(self) -> None:
        self.row = self.column = 0
        self._cells = [self._blank() for _ in range(self.rows)]
        self._main: tuple[list[list[str]], int, int] | None = None
        self._top, self._bottom = 0, self.rows - 1
        self._saved = (0, 0)
        self._wraps = True
        self._is_past_end = False
        """A character stands in the last column; the next one goes to the next line."""
        self._inserts = False
        self._is_origin = False
        self._sets = ["B", "B"]
        self._shift = 0
        self._last = " "

    def _blank(self) -> list[str]:
        return [" "] * self.columns

    # What a reader asks

    @property
    def is_alternate(self) -> bool:
        """Whether a full-screen program has the screen to itself."""
        return self._main is not None

    def lines(self) -> list[str]:
        """Return the rows, trailing blanks and empty rows at the end left out."""
        rows = ["".join(row).rstrip() for row in self._cells]
        while rows and not rows[-1]:
            rows.pop()
        return rows

    def text(self) -> str:
        """Return the screen as text."""
        return "\n".join(self.lines())

    def take_scrolled(self) -> list[str]:
        """Return the lines that left at the top since the last call; a full-screen program's are not kept."""
        scrolled, self._scrolled = self._scrolled, []
        return scrolled

    def take_replies(self) -> bytes:
        """Return what a terminal would answer to the program's questions since the last call."""
        replies, self._replies = self._replies, []
        return b"".join(replies)

    # What a program writes

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        text = self._pending + self._decoder.decode(data)
        self._pending = ""
        if (unfinished := _UNFINISHED.search(text)) and len(unfinished.group()) < _PENDING_CAP:
            self._pending = unfinished.group()
            text = text[: unfinished.start()]
        for token in _TOKEN.finditer(text):
            match token.lastgroup:
                case "plain":
                    self._write(token.group())
                case "final":
                    self._control_sequence(token)
                case "set":
                    if token.group("charset") in "()":
                        self._sets["()".index(token.group("charset"))] = token.group("set")
                case "escape":
                    self._escape(token.group("escape"))
                case "other":
                    self._other(token.group())

    def _write(self, text: str) -> None:
        """Put single-width characters."""
        if self._sets[self._shift] == "0":
            text = "".join(_LINES.get(char, char) for char in text)
        self._last = text[-1]
        while text:
            if self._is_past_end:
                self._wrap()
            room = self.columns - self.column
            piece, text = text[:room], text[room:]
            if text and not self._wraps:
                piece, text = piece[:-1] + text[-1], ""
            self._put(list(piece))

    def _put(self, cells: list[str]) -> None:
        """Put cells that fit into the rest of the row."""
        row, start, end = self._cells[self.row], self.column, self.column + len(cells)
        if self._inserts:
            row[start:start] = cells
            del row[self.columns :]
        else:
            self._split_wide(row, start)
            self._split_wide(row, end)
            row[start:end] = cells
        self._is_past_end = end >= self.columns and self._wraps
        self.column = min(end, self.columns - 1)

    @staticmethod
    def _split_wide(row: list[str], at: int) -> None:
        """Blank a wide character that a border at ``at`` would cut in two; its second cell is an empty text."""
        if 0 < at < len(row) and not row[at]:
            row[at - 1] = row[at] = " "

    def _wrap(self) -> None:
        self._is_past_end = False
        self.column = 0
        self._line_feed()

    def _other(self, char: str) -> None:
        if char >= " " and char != "\x7f":
            if not "\x80" <= char <= "\x9f":
                self._write_wide(char)
            return
        match char:
            case "\r":
                self.column, self._is_past_end = 0, False
            case "\n" | "\x0b" | "\x0c":
                self._line_feed()
            case "\b":
                self.column, self._is_past_end = max(0, self.column - 1), False
            case "\t":
                self.column = min(self.columns - 1, (self.column // _TAB + 1) * _TAB)
            case "\x0e" | "\x0f":
                self._shift = int(char == "\x0e")

    def _write_wide(self, char: str) -> None:
        """Put a character outside ASCII: one cell, two, or none of its own."""
        if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
            at = self.column if self._is_past_end else self.column - 1
            row = self._cells[self.row]
            if at > 0 and not row[at]:
                at -= 1
            if at >= 0 and len(row[at]) < 8:
                row[at] += char
            return
        if unicodedata.east_asian_width(char) not in "WF":
            self._write(char)
            return
        if self._is_past_end or self.column + 2 > self.columns:
            if not self._wraps:
                return
            self._wrap()
        self._last = char
        self._put([char, ""])

    def _line_feed(self) -> None:
        self._is_past_end = False
        if self.row == self._bottom:
            self._scroll_up(1)
        else:
            self.row = min(self.row + 1, self.rows - 1)

    def _scroll_up(self, count: int) -> None:
        count = min(count, self._bottom - self._top + 1)
        gone = self._cells[self._top : self._top + count]
        if self._top == 0 and self._main is None:
            self._scrolled += ["".join(row).rstrip() for row in gone]
        self._delete_lines(self._top, count)

    def _delete_lines(self, at: int, count: int) -> None:
        count = min(count, self._bottom - at + 1)
        del self._cells[at : at + count]
        self._cells[self._bottom - count + 1 : self._bottom - count + 1] = [self._blank() for _ in range(count)]

    def _insert_lines(self, at: int, count: int) -> None:
        count = min(count, self._bottom - at + 1)
        del self._cells[self._bottom - count + 1 : self._bottom + 1]
        self._cells[at:at] = [self._blank() for _ in range(count)]

    def _escape(self, code: str) -> None:
        match code:
            case "7":
                self._saved = (self.row, self.column)
            case "8":
                self._go_to(*self._saved)
            case "D":
                self._line_feed()
            case "E":
                self._wrap()
            case "M" if self.row == self._top:
                self._insert_lines(self._top, 1)
            case "M":
                self._go_to(self.row - 1, self.column)
            case "c":
                self._reset()

    def _go_to(self, row: int, column: int) -> None:
        self.row = max(0, min(row, self.rows - 1))
        self.column = max(0, min(column, self.columns - 1))
        self._is_past_end = False

    def _control_sequence(self, token: re.Match[str]) -> None:
        private, final = token.group("private"), token.group("final")
        args = [min(int(word), _NUMBER_CAP) if word.isdecimal() else 0 for word in token.group("args").split(";")]
        if token.group("middle"):
            return
        if final in "hl" and private in ("", "?"):
            for arg in args:
                self._set_mode(private, arg, final == "h")
        elif final in "nc":
            self._answer(private + final, args[0])
        elif not private and final in "JKLMPX@ST":
            self._edit(final, args[0])
        elif not private:
            self._move(final, args)

    def _move(self, final: str, args: list[int]) -> None:
        number = max(1, args[0])
        row, column = self.row, self.column
        match final:
            case "A" | "F":
                self._go_to(max(row - number, self._top if row >= self._top else 0), 0 if final == "F" else column)
            case "B" | "E" | "e":
                low = self._bottom if row <= self._bottom else self.rows - 1
                self._go_to(min(row + number, low), 0 if final == "E" else column)
            case "C" | "a":
                self._go_to(row, column + number)
            case "D":
                self._go_to(row, column - number)
            case "G" | "`":
                self._go_to(row, number - 1)
            case "d":
                self._go_to(number - 1 + (self._top if self._is_origin else 0), column)
            case "H" | "f":
                self._go_to(number - 1 + (self._top if self._is_origin else 0), (args[1] if len(args) > 1 else 1) - 1)
            case "b":
                self._write(self._last * min(number, self.columns * self.rows))
            case "r":
                bottom = args[1] if len(args) > 1 and args[1] else self.rows
                if 0 <= number - 1 < min(bottom, self.rows) - 1:
                    self._top, self._bottom = number - 1, min(bottom, self.rows) - 1
                    self._go_to(self._top if self._is_origin else 0, 0)
            case "s":
                self._saved = (row, column)
            case "u":
                self._go_to(*self._saved)

    def _edit(self, final: str, arg: int) -> None:
        row, number = self._cells[self.row], max(1, arg)
        is_inside = self._top <= self.row <= self._bottom
        self._is_past_end = False
        match final:
            case "J" | "K":
                self._erase(final, arg)
            case "L" if is_inside:
                self._insert_lines(self.row, number)
                self.column = 0
            case "M" if is_inside:
                self._delete_lines(self.row, number)
                self.column = 0
            case "P":
                del row[self.column : self.column + number]
                row += [" "] * (self.columns - len(row))
            case "@":
                row[self.column : self.column] = [" "] * min(number, self.columns)
                del row[self.columns :]
            case "X":
                end = min(self.columns, self.column + number)
                row[self.column : end] = [" "] * (end - self.column)
            case "S":
                self._scroll_up(number)
            case "T":
                self._insert_lines(self._top, number)

    def _erase(self, final: str, part: int) -> None:
        """Erase in the row, or in the screen: from the cursor, up to it, or all."""
        row, at = self._cells[self.row], self.column
        if part == 0:
            row[at:] = [" "] * (self.columns - at)
        elif part == 1:
            row[: at + 1] = [" "] * (at + 1)
        elif part == 2:
            row[:] = self._blank()
        if final == "J":
            others = {0: range(self.row + 1, self.rows), 1: range(self.row), 2: range(self.rows)}.get(part, ())
            for number in others:
                self._cells[number] = self._blank()

    def _set_mode(self, private: str, mode: int, is_on: bool) -> None:
        match (private, mode):
            case ("", 4):
                self._inserts = is_on
            case ("?", 6):
                self._is_origin = is_on
                self._go_to(self._top if is_on else 0, 0)
            case ("?", 7):
                self._wraps = is_on
            case ("?", 47 | 1047 | 1049) if is_on and self._main is None:
                self._main = (self._cells, self.row, self.column)
                self._cells = [self._blank() for _ in range(self.rows)]
            case ("?", 47 | 1047 | 1049) if not is_on and self._main is not None:
                self._cells, row, column = self._main
                self._main = None
                self._top, self._bottom = 0, self.rows - 1
                self._go_to(row, column)

    def _answer(self, question: str, arg: int) -> None:
        match (question, arg):
            case ("n", 5):
                self._replies.append(b"\x1b[0n")
            case ("n", 6):
                self._replies.append(f"\x1b[{self.row + 1};{self.column + 1}R".encode())
            case ("c", 0):
                self._replies.append(b"\x1b[?6c")
            case (">c", 0):
                self._replies.append(b"\x1b[>0;0;0c")
