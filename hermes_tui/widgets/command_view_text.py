"""A command as a person must see it: every character visible, the dangerous parts marked. No widget."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Sequence

from hermes_tui.engine.types.requests import CommandPart

from .line_text import Line, Span

_SEVERITY = {"unknown": 1, "danger": 2, "never": 3}
_STYLE_OF = {1: "unknown", 2: "danger", 3: "danger"}

_SHELL_TOKENS = re.compile(
    r"""(?P<comment>(?:(?<=\s)|^)\#[^\n]*)
      | (?P<string>'[^']*'|"(?:\\.|[^"\\])*")
      | (?P<variable>\$\{[^}\n]*\}|\$[A-Za-z_]\w*|\$[0-9@*?$!\#-])
      | (?P<operator>&&|\|\||[|&;<>()]+)""",
    re.VERBOSE,
)
_PYTHON_TOKENS = re.compile(
    r"""(?P<comment>\#[^\n]*)
      | (?P<string>[rRbBfFuU]{0,2}(?:\"{3}(?s:.*?)\"{3}|'{3}(?s:.*?)'{3}
          |'(?:\\.|[^'\\\n])*'|\"(?:\\.|[^\"\\\n])*\"))
      | (?P<operator>\b(?:KEYWORDS)\b)
      | (?P<variable>\b\d[\w.]*)""".replace("KEYWORDS", "|".join(keyword.kwlist)),
    re.VERBOSE,
)
_TOKENS = {"command": _SHELL_TOKENS, "code": _PYTHON_TOKENS}
_TRAILING = re.compile(r"[ \t]+(?=\r?\n|\Z)")

_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
_BLANK_LETTERS = (
    (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x2800, 0x2800), (0x3164, 0x3164), (0xFE00, 0xFE0F),
    (0xFFA0, 0xFFA0), (0xE0100, 0xE01EF),
)  # fmt: skip
"""Letters and selectors that draw nothing. Source: Unicode, Default_Ignorable_Code_Point; the blank Braille cell."""

LINE_END = "\u21b5"
TAB = "\u21e5   "
BLANK = "\u00b7"


def command_lines(
    text: str, parts: Sequence[CommandPart] = (), *, language: str = "command", styles: Sequence[str] = ()
) -> list[Line]:
    """Return the lines that show a command whole.

    Newlines, tabs, trailing blanks and characters that cannot be seen become visible symbols. Colours of shell syntax
    give way to the mark of a dangerous part.

    Args:
        text: The command, untouched.
        parts: Its commands with their classes and offsets into ``text``.
        language: Whose syntax is coloured: ``command`` (shell), ``code`` (Python), none else.
        styles: Style of each character, instead of a language's.
    """
    painted = list(styles) or [""] * len(text)
    if language in _TOKENS and not styles:
        painted = _syntax_styles(text, _TOKENS[language])
    _mark_parts(painted, parts)
    trailing = {i for match in _TRAILING.finditer(text) for i in range(*match.span())}
    lines: list[Line] = []
    row: list[Span] = []
    for index, char in enumerate(text):
        if char == "\n":
            row.append((LINE_END, "muted"))
            lines.append(Line(joined_spans(row), prose=False))
            row = []
            continue
        row.append(_shown(char, painted[index], index in trailing))
    if row or not lines:
        lines.append(Line(joined_spans(row), prose=False))
    return lines


def hidden_count(text: str) -> int:
    """Return how many characters of a text cannot be seen as they are (line ends and tabs apart)."""
    return sum(1 for char in text if char not in "\n\t" and symbol_of(char) != char)


def symbol_of(char: str) -> str:
    """Return what stands for a character that would not be seen, or that would move the cursor; else itself."""
    code = ord(char)
    if 0x20 <= code < 0x7F:
        return char
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if 0xDC80 <= code <= 0xDCFF:
        return f"\u2039\\x{code - 0xDC00:02X}\u203a"
    is_unseen = unicodedata.category(char) in _UNSEEN or any(low <= code <= high for low, high in _BLANK_LETTERS)
    return f"\u2039U+{code:04X}\u203a" if is_unseen else char


def _shown(char: str, style: str, trailing: bool) -> Span:
    if char == "\t":
        return TAB, "muted"
    if trailing and char == " ":
        return BLANK, "hidden"
    symbol = symbol_of(char)
    return (char, style) if symbol == char else (symbol, "hidden")


def _syntax_styles(text: str, tokens: re.Pattern[str]) -> list[str]:
    styles = [""] * len(text)
    for match in tokens.finditer(text):
        start, end = match.span()
        styles[start:end] = [match.lastgroup or ""] * (end - start)
    return styles


def _mark_parts(styles: list[str], parts: Sequence[CommandPart]) -> None:
    """Paint the classes over the syntax, the worst last."""
    risky = [part for part in parts if part.danger_class in _SEVERITY]
    for part in sorted(risky, key=lambda part: _SEVERITY[part.danger_class]):
        start, end = max(0, part.start), min(part.end, len(styles))
        if end > start:
            styles[start:end] = [_STYLE_OF[_SEVERITY[part.danger_class]]] * (end - start)


def joined_spans(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Join neighbours of one style."""
    joined: list[Span] = []
    texts: list[str] = []
    last = None
    for text, style in spans:
        if style != last and texts:
            joined.append(("".join(texts), last or ""))
            texts = []
        texts.append(text)
        last = style
    if texts:
        joined.append(("".join(texts), last or ""))
    return tuple(joined)
