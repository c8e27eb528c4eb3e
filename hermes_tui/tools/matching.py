r"""Find the text that an edit means, and replace it without touching anything else.

Line ends are compared as ``\n`` and written back as the file has them. When the text is not there letter by letter,
two careful steps follow, on whole lines and only for a single place: trailing blanks, then indentation.
"""

from __future__ import annotations

import difflib
import re
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

from .indentation import Reindent


@dataclass(frozen=True, slots=True)
class Replaced:
    """The outcome of a replacement."""

    text: str
    count: int
    how: str = ""
    """What was overlooked to find the place; empty for a literal match."""


@dataclass(frozen=True, slots=True)
class Several(Exception):
    """The text is there more than once."""

    lines: tuple[int, ...]
    """1-based line numbers."""


class NotFound(Exception):
    """The text is not there."""


class _Canonical:
    """A text with its line ends as newlines, and the way back to the original positions."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.text = raw.replace("\r\n", "\n")
        self._returns: list[int] = []
        if len(self.text) != len(raw):
            self._returns = [found.start() - index for index, found in enumerate(re.finditer("\r\n", raw))]

    def raw_position(self, position: int) -> int:
        """Return where a position of the canonical text is in the original."""
        return position + bisect_left(self._returns, position)

    def replace(self, spans: list[tuple[int, int, str]]) -> str:
        """Return the original with these canonical spans replaced, in order."""
        pieces: list[str] = []
        done = 0
        for start, end, new in spans:
            raw_start, raw_end = self.raw_position(start), self.raw_position(end)
            pieces += [self.raw[done:raw_start], self._with_line_ends(new, raw_start, raw_end)]
            done = raw_end
        return "".join([*pieces, self.raw[done:]])

    def _with_line_ends(self, new: str, start: int, end: int) -> str:
        if not self._returns or "\n" not in new:
            return new
        ends = re.findall(r"\r?\n", self.raw[start:end]) or [self._line_end_near(start, end)]
        lines = new.split("\n")
        pieces = [line + ends[min(index, len(ends) - 1)] for index, line in enumerate(lines[:-1])]
        return "".join(pieces) + lines[-1]

    def _line_end_near(self, start: int, end: int) -> str:
        after = self.raw.find("\n", end)
        at = after if after >= 0 else self.raw.rfind("\n", 0, start)
        return "\r\n" if at > 0 and self.raw[at - 1] == "\r" else "\n"


def replace(text: str, old: str, new: str, *, replace_all: bool = False) -> Replaced:
    """Replace ``old`` by ``new``, once or, with ``replace_all``, everywhere (then letter by letter only).

    Raises:
        Several: ``old`` is there more than once, overlapping places included, and ``replace_all`` was not asked.
        NotFound: It is not there.
    """
    canonical = _Canonical(text)
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    haystack = canonical.text
    if replace_all:
        starts = [found.start() for found in re.finditer(re.escape(old), haystack)]
        if not starts:
            raise NotFound
        return Replaced(canonical.replace([(at, at + len(old), new) for at in starts]), len(starts))
    places = _places(haystack, old)
    if len(places) > 1:
        raise Several(tuple(haystack.count("\n", 0, at) + 1 for at in places))
    if places:
        return Replaced(canonical.replace([(places[0], places[0] + len(old), new)]), 1)
    return _replace_lines(canonical, old, new)


def _places(haystack: str, needle: str, cap: int = 50) -> list[int]:
    places: list[int] = []
    at = haystack.find(needle)
    while at >= 0 and len(places) < cap:
        places.append(at)
        at = haystack.find(needle, at + 1)
    return places


@dataclass(frozen=True, slots=True)
class LinesReplaced:
    """The outcome of a replacement of whole lines."""

    text: str
    next_line: int
    """0-based line after the new ones."""
    how: str = ""


def replace_lines(
    text: str, old: list[str], new: list[str], *, from_line: int = 0, take_first: bool = False
) -> LinesReplaced:
    """Replace a run of whole lines, given without their ends.

    Args:
        text: The file's text.
        old: At least one line.
        new: Lines to put there; none to delete.
        from_line: 0-based line from which on to look.
        take_first: Accept the first of several places.

    Raises:
        Several: ``old`` is there more than once.
        NotFound: It is not there.
    """
    canonical = _Canonical(text)
    lines = canonical.text.split("\n")
    place = _locate(lines, old, from_line, take_first)
    start, end = _span(lines, place.at, len(old))
    if not new:
        end += 1
        if end > len(canonical.text):  # the last line has no end of its own: take the one before it
            start, end = max(0, start - 1), len(canonical.text)
    replacement = _merge(old, place.window, "\n".join(new), place.reindent)
    return LinesReplaced(canonical.replace([(start, end, replacement)]), place.at + len(new), place.how)


@dataclass(frozen=True, slots=True)
class _Place:
    at: int
    how: str
    window: list[str]
    reindent: Reindent | None


_STEPS: tuple[tuple[str, Callable[[str], str], bool], ...] = (
    ("", str, False),
    ("trailing blanks", str.rstrip, False),
    ("indentation", str.strip, True),
)


def _locate(lines: list[str], needle: list[str], from_line: int, take_first: bool) -> _Place:
    """Find whole lines, overlooking a little more at each step."""
    has_letters = any(char.isalnum() for line in needle for char in line)
    for how, key, reindents in _STEPS if has_letters else _STEPS[:1]:
        found = _windows([key(line) for line in lines], [key(line) for line in needle], from_line)
        if len(found) > 1 and not take_first:
            raise Several(tuple(at + 1 for at in found))
        if found:
            window = lines[found[0] : found[0] + len(needle)]
            reindent = Reindent.between(needle, window) if reindents else None
            if reindents and reindent is None:
                raise NotFound
            return _Place(found[0], how, window, reindent)
    raise NotFound


def _span(lines: list[str], at: int, count: int) -> tuple[int, int]:
    """Return where lines begin and end, the end of the last one left out."""
    start = sum(len(line) + 1 for line in lines[:at])
    return start, start + sum(len(line) + 1 for line in lines[at : at + count]) - 1


def _replace_lines(canonical: _Canonical, old: str, new: str) -> Replaced:
    """Replace a text that is there only when something is overlooked."""
    ends_line = old.endswith("\n")
    needle = (old[:-1] if ends_line else old).split("\n")
    lines = canonical.text.split("\n")
    if not any(char.isalnum() for char in old):
        raise NotFound
    place = _locate(lines, needle, 0, False)
    start, end = _span(lines, place.at, len(needle))
    if ends_line and not new.endswith("\n"):
        end = min(end + 1, len(canonical.text))
    body = new[:-1] if ends_line and new.endswith("\n") else new
    replacement = _merge(needle, place.window, body, place.reindent)
    return Replaced(canonical.replace([(start, end, replacement)]), 1, place.how or "the missing newline at the end")


def _windows(lines: list[str], needle: list[str], from_line: int) -> list[int]:
    last = len(lines) - len(needle)
    starts = range(from_line, last + 1)
    return [at for at in starts if lines[at] == needle[0] and lines[at : at + len(needle)] == needle]


def _merge(needle: list[str], window: list[str], new: str, reindent: Reindent | None) -> str:
    """Put the new lines in; lines that the edit leaves alone stay as the file has them.

    Raises:
        NotFound: The indentation of a new line cannot be told.
    """
    if not new:
        return ""
    lines = new.split("\n")
    merged: list[str] = []
    for tag, i1, i2, j1, j2 in difflib.SequenceMatcher(None, needle, lines, autojunk=False).get_opcodes():
        if tag == "equal":
            merged += window[i1:i2]
            continue
        for line in lines[j1:j2]:
            moved = line if reindent is None else reindent.apply(line)
            if moved is None:
                raise NotFound
            merged.append(moved)
    return "\n".join(merged)
