"""Turn a program's bytes into the plain text that a terminal would have left on its screen, line by line.

Escapes vanish, carriage returns and backspaces overwrite, other control characters become visible marks. Nothing that
leaves here can move a cursor, set a title or reorder text.
"""

from __future__ import annotations

import codecs
import re

LINE_CAP = 65_536
"""A line longer than this leaves in pieces, so that memory stays flat on output without newlines."""
COLUMN_CAP = 1_000
"""How far a cursor movement may pad a line."""
_PENDING_CAP = 4_096

_C0 = r"\x00-\x08\x0b-\x1f\x7f-\x9f"
_BIDI = r"\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f"
_STRING_END = r"\x07\x1b\x9c\n\r"
_SPECIAL = re.compile(f"[{_C0}{_BIDI}]")
_TOKEN = re.compile(
    rf"(?P<plain>[^\n{_C0}{_BIDI}]+)"
    r"|(?P<newline>\n)"
    r"|(?:\x1b\[|\x9b)(?P<args>[0-?]*)[ -/]*(?P<final>[@-~])"
    rf"|(?P<string>(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^{_STRING_END}]*(?:\x07|\x1b\\|\x9c))"
    r"|(?P<escape>\x1b[ -/]*[0-~]|\x1b|[\x90\x98\x9b\x9d-\x9f])"
    r"|(?P<control>.)",
    re.DOTALL,
)
_UNFINISHED = re.compile(
    rf"(?:(?:\x1b\[|\x9b)[0-?]*[ -/]*|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^{_STRING_END}]*\x1b?|\x1b[ -/]*)\Z"
)
_DROPPED = "\x07\x0e\x0f"
_BINARY_SAMPLE = 16_384
"""After so much binary output, control characters are marked instead of obeyed, which is a hundred times faster."""


class InertStream:
    """An incremental filter: feed bytes, get finished lines. One thread at a time."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._pending = ""
        self._line = ""
        self._column = 0
        self.byte_count = 0
        self.odd_count = 0
        """How many undecodable bytes and NULs passed."""

    @property
    def is_binary(self) -> bool:
        """Whether so much of it is undecodable that it can't be text."""
        return self.byte_count >= 256 and self.odd_count * 8 >= self.byte_count

    @property
    def partial(self) -> str:
        """The line in progress."""
        return self._line

    def feed(self, data: bytes) -> str:
        """Take the next bytes and return the text of the lines they finished, each with its newline."""
        self.byte_count += len(data)
        text = self._pending + self._decoder.decode(data)
        self._pending = ""
        self.odd_count += text.count("\ufffd")
        if self._column == len(self._line) and _SPECIAL.search(text) is None:
            return self._feed_plain(text)
        if self.is_binary and self.byte_count > _BINARY_SAMPLE:
            return self._feed_plain(text.translate(_MARKS))
        unfinished = _UNFINISHED.search(text)
        if unfinished is not None and len(unfinished.group()) <= _PENDING_CAP:
            self._pending = unfinished.group()
            text = text[: unfinished.start()]
        return self._feed_tokens(text)

    def finish(self) -> str:
        """Return what is left, without a newline at its end."""
        rest = self._feed_tokens(self._pending + self._decoder.decode(b"", final=True))
        rest += self._line
        self._pending = self._line = ""
        self._column = 0
        return rest

    def _feed_plain(self, text: str) -> str:
        head, newline, tail = text.rpartition("\n")
        finished = self._line + head + newline if newline else ""
        self._line = tail if newline else self._line + tail
        finished += self._overflow()
        self._column = len(self._line)
        return finished

    def _feed_tokens(self, text: str) -> str:
        finished: list[str] = []
        for token in _TOKEN.finditer(text):
            match token.lastgroup:
                case "plain":
                    self._put(token.group())
                    finished.append(self._overflow())
                case "newline":
                    finished.append(self._line + "\n")
                    self._line, self._column = "", 0
                case "final":
                    self._control_sequence(token.group("args"), token.group("final"))
                case "control":
                    self._control(token.group())
        return "".join(finished)

    def _overflow(self) -> str:
        if len(self._line) <= LINE_CAP:
            return ""
        piece, self._line, self._column = self._line, "", 0
        return piece

    def _put(self, text: str) -> None:
        line, column = self._line, self._column
        if column > len(line):
            line = line.ljust(column)
        self._line = line + text if column == len(line) else line[:column] + text + line[column + len(text) :]
        self._column = column + len(text)

    def _control(self, char: str) -> None:
        if char == "\r":
            self._column = 0
        elif char == "\b":
            self._column = max(0, self._column - 1)
        elif char not in _DROPPED:
            self.odd_count += char == "\0"
            self._put(visible(char))

    def _control_sequence(self, args: str, final: str) -> None:
        number = int(args) if args.isdecimal() and len(args) < 6 else 0
        match final:
            case "K" if number == 0:
                self._line = self._line[: self._column]
            case "K" if number == 1:
                self._line = " " * min(self._column, len(self._line)) + self._line[self._column :]
            case "K":
                self._line = ""
            case "G":
                self._column = min(max(number, 1) - 1, max(COLUMN_CAP, len(self._line)))
            case "C":
                self._column = min(self._column + max(number, 1), max(COLUMN_CAP, len(self._line)))
            case "D":
                self._column = max(0, self._column - max(number, 1))
            case _:
                pass


def visible(char: str) -> str:
    """Return a mark for a control or text-reordering character: its control picture, or its code point."""
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else f"<U+{code:04X}>"


_MARKS = {code: visible(chr(code)) for code in (*range(9), *range(11, 32), *range(0x7F, 0xA0))}
