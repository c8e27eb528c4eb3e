"""Decode the words of a simple command: our own scan of quotes, escapes, tildes, braces and globs.

The parser only says where a command and its expansions begin and end; every character between is read here again, and
anything that does not read as one plain word is refused. So a slip of the grammar becomes a question, not a hole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from glob import escape as glob_escape
from itertools import pairwise
from typing import TypeAlias

from .facts import SOME, UNKNOWN, Word

MAX_BRACES = 64
_META = frozenset(";&|<>()\n")
_GLOB = frozenset("*?[")
_SEQUENCE = re.compile(r"^(-?\d{1,6})\.\.(-?\d{1,6})(?:\.\.-?\d{1,6})?$|^([A-Za-z])\.\.([A-Za-z])(?:\.\.-?\d+)?$")
_ANSI = {
    "n": "\n",
    "t": "\t",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
    "r": "\r",
}
_ANSI_NUMBER = re.compile(r"x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})")

Cell: TypeAlias = tuple[str, bool]
"""A character, and whether it is unquoted."""


class UnreadableError(Exception):
    """The text cannot be read safely; the message says what it holds."""


@dataclass(frozen=True, slots=True)
class Span:
    """An expansion found by the parser: where it ends, and which variables it needs."""

    end: int
    value: Callable[[], str]
    """Gives the text with :data:`UNKNOWN` or :data:`SOME` for what is not known."""
    globbed: Callable[[], bool] = lambda: False
    """True when the value came from a glob."""


@dataclass(frozen=True, slots=True)
class RawWord:
    """A word before expansion: its range and its pieces."""

    start: int
    end: int
    pieces: tuple[tuple[str | Span, bool], ...]
    """Text or expansion, and whether it is unquoted."""


def split_words(text: str, start: int, end: int, spans: Mapping[int, Span], meta: str = "") -> list[RawWord]:
    """Split ``text[start:end]`` into words as bash does.

    Args:
        text: The whole command text.
        start: First character.
        end: One past the last character.
        spans: Expansions by their first character.
        meta: Operator characters that are harmless here (inside ``[[ ]]``): each becomes a word.

    Returns:
        The words in order.

    Raises:
        UnreadableError: The range holds an operator or an open quote.
    """
    words: list[RawWord] = []
    pieces: list[tuple[str | Span, bool]] = []
    at = word_start = start
    while at < end:
        char = text[at]
        if char in " \t" or char in meta:
            if pieces:
                words.append(RawWord(word_start, at, tuple(pieces)))
                pieces = []
            if char in meta and char != "\n":
                words.append(RawWord(at, at + 1, ((char, False),)))
            at += 1
            continue
        if text.startswith("\\\n", at):
            at += 2
            continue
        if not pieces:
            word_start = at
            if char == "#":
                raise UnreadableError("a comment that the parser read as a word")
        at = _scan_piece(text, at, end, spans, pieces)
    if pieces:
        words.append(RawWord(word_start, end, tuple(pieces)))
    return words


def _scan_piece(text: str, at: int, end: int, spans: Mapping[int, Span], pieces: list[tuple[str | Span, bool]]) -> int:
    char = text[at]
    if at in spans:
        pieces.append((spans[at], True))
        return spans[at].end
    if char in _META or char == "`":
        raise UnreadableError("an operator inside a word")
    if char == "\\":
        if at + 1 >= end:
            raise UnreadableError("a backslash at the end")
        pieces.append((text[at + 1], False))
        return at + 2
    if char == "'":
        close = text.find("'", at + 1, end)
        if close < 0:
            raise UnreadableError("an open quote")
        pieces.append((text[at + 1 : close], False))
        return close + 1
    if char == '"':
        return _scan_double(text, at + 1, end, spans, pieces)
    if char == "$" and text.startswith("$'", at):
        return _scan_ansi(text, at + 2, end, pieces)
    if char == "$" and text.startswith('$"', at):
        return _scan_double(text, at + 2, end, spans, pieces)
    if char == "$" and re.match(r"[\w({@*#?!$\-\[]", text[at + 1 : at + 2]):
        raise UnreadableError("an expansion that the parser did not see")
    pieces.append((char, True))
    return at + 1


def _scan_double(text: str, at: int, end: int, spans: Mapping[int, Span], pieces: list[tuple[str | Span, bool]]) -> int:
    pieces.append(("", False))
    while at < end:
        char = text[at]
        if at in spans:
            pieces.append((spans[at], False))
            at = spans[at].end
        elif char == '"':
            return at + 1
        elif char == "`" or (char == "$" and re.match(r"[\w({@*#?!$\-\[]", text[at + 1 : at + 2])):
            raise UnreadableError("an expansion that the parser did not see")
        elif char == "\\" and text[at + 1 : at + 2] in ("$", "`", '"', "\\", "\n"):
            if text[at + 1] != "\n":
                pieces.append((text[at + 1], False))
            at += 2
        else:
            pieces.append((char, False))
            at += 1
    raise UnreadableError("an open quote")


def _scan_ansi(text: str, at: int, end: int, pieces: list[tuple[str | Span, bool]]) -> int:
    pieces.append(("", False))
    while at < end:
        char = text[at]
        if char == "'":
            return at + 1
        if char != "\\":
            pieces.append((char, False))
            at += 1
            continue
        following = text[at + 1 : at + 2]
        number = _ANSI_NUMBER.match(text, at + 1)
        if following in _ANSI and following:
            pieces.append((_ANSI[following], False))
            at += 2
        elif number:
            pieces.append((_ansi_character(number), False))
            at = number.end()
        elif following == "c" or text.startswith("x{", at + 1):
            raise UnreadableError("an unusual escape in a quoted word")
        else:
            pieces.append(("\\" + following, False))
            at += 1 + len(following)
    raise UnreadableError("an open quote")


def _ansi_character(number: re.Match[str]) -> str:
    hexadecimal = number[1] or number[2] or number[3]
    code = int(hexadecimal, 16) if hexadecimal else int(number[4], 8) & 0xFF
    if code <= 2 or code > 0x10FFFF or (number[2] is None and number[3] is None and code > 0x7F):
        raise UnreadableError("a character code in a quoted word that is no text")
    return chr(code)


def expand(raw: RawWord, home: str) -> list[Word]:
    """Turn a raw word into decoded words: expansions, braces, tilde, globs.

    Args:
        raw: From :func:`split_words`.
        home: What ``~`` stands for.

    Returns:
        One word, or several after brace expansion.

    Raises:
        UnreadableError: The braces expand to too much.
    """
    cells: list[Cell] = []
    globbed = False
    for piece, unquoted in raw.pieces:
        if isinstance(piece, Span):
            value = piece.value()
            globbed = globbed or piece.globbed()
            cells.extend(_value_cells(value, unquoted))
        else:
            cells.extend((char, unquoted) for char in piece)
    return [_finish(alternative, raw, home, globbed) for alternative in _expand_braces(cells)]


def _value_cells(value: str, unquoted: bool) -> list[Cell]:
    """An unquoted value is split at blanks and globbed, but its braces and tildes stay text."""
    if not unquoted:
        return [(char, False) for char in value]
    if any(blank in value for blank in " \t\n"):
        return [(UNKNOWN, True)]
    return [(char, char in _GLOB or char in (UNKNOWN, SOME)) for char in value]


def _finish(cells: Sequence[Cell], raw: RawWord, home: str, globbed: bool) -> Word:
    cells = _expand_tilde(list(cells), home)
    text = "".join(char for char, _ in cells)
    split = any(unquoted and char in (UNKNOWN, SOME) for char, unquoted in cells)
    pattern = ""
    if globbed:
        pattern = text
    elif any(unquoted and char in _GLOB for char, unquoted in cells):
        pattern = "".join(char if unquoted else glob_escape(char) for char, unquoted in cells)
    return Word(text, raw.start, raw.end, pattern, split)


def _expand_tilde(cells: list[Cell], home: str) -> list[Cell]:
    if not cells or cells[0] != ("~", True):
        return cells
    stop = next((i for i, (char, _) in enumerate(cells) if char == "/"), len(cells))
    if any(not unquoted for _, unquoted in cells[:stop]):
        return cells
    name = home if stop == 1 else SOME
    return [(char, False) for char in name] + cells[stop:]


def _expand_braces(cells: list[Cell]) -> list[list[Cell]]:
    if ("{", True) not in cells:
        return [cells]
    done: list[list[Cell]] = []
    todo = [cells]
    while todo:
        current = todo.pop(0)
        group = _find_group(current)
        if group is None:
            done.append(current)
        else:
            first, last, parts = group
            todo = [current[:first] + part + current[last + 1 :] for part in parts] + todo
        if len(done) + len(todo) > MAX_BRACES:
            raise UnreadableError("braces that expand to very many words")
    return done


def _find_group(cells: list[Cell]) -> tuple[int, int, list[list[Cell]]] | None:
    for first, cell in enumerate(cells):
        if cell != ("{", True):
            continue
        depth, commas = 0, [first]
        for at in range(first, len(cells)):
            char, unquoted = cells[at]
            if not unquoted:
                continue
            depth += (char == "{") - (char == "}")
            if char == "," and depth == 1:
                commas.append(at)
            if depth == 0:
                parts = _group_parts(cells, [*commas, at])
                if parts is not None:
                    return first, at, parts
                break
    return None


def _group_parts(cells: list[Cell], borders: list[int]) -> list[list[Cell]] | None:
    if len(borders) > 2:
        return [cells[a + 1 : b] for a, b in pairwise(borders)]
    inner = "".join(char for char, _ in cells[borders[0] + 1 : borders[1]])
    match = _SEQUENCE.match(inner)
    if match is None:
        return None
    if match[1] is not None:
        low, high = sorted((int(match[1]), int(match[2])))
        texts = [str(number) for number in range(low, min(high, low + MAX_BRACES) + 1)]
    else:
        low, high = sorted((ord(match[3]), ord(match[4])))
        texts = [chr(code) for code in range(low, high + 1)]
    if len(texts) > MAX_BRACES:
        return [[(SOME, True)]]
    return [[(char, False) for char in text] for text in texts]
