"""The piece of a message around its hits."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from .terms import Term
from .text import fold, fold_with_offsets

SNIPPET_CHARS = 200
_LEAD_CHARS = 60
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACES = re.compile(r"\s+")

Marks = tuple[tuple[int, int], ...]


def pattern_of(terms: Sequence[Term]) -> re.Pattern[str] | None:
    """Return one expression that finds any of the terms in folded text; None without terms."""
    return re.compile("|".join(f"(?:{term.pattern})" for term in terms)) if terms else None


def marks_in(text: str, pattern: re.Pattern[str] | None) -> Marks:
    """Return the ranges of ``text`` that the pattern finds."""
    if pattern is None:
        return ()
    folded, offsets = fold_with_offsets(text)
    found = ((offsets[m.start()], offsets[m.end()]) for m in pattern.finditer(folded) if m.end() > m.start())
    return tuple((start, end) for start, end in found if end > start)


def excerpt(text: str, pattern: re.Pattern[str] | None) -> tuple[str, Marks]:
    """Return about :data:`SNIPPET_CHARS` characters around the first hit, on one line, and the hits in it."""
    text = _SURROGATE.sub("\ufffd", unicodedata.normalize("NFC", text))
    hit = pattern.search(fold(text)) if pattern else None
    start = max(0, hit.start() - _LEAD_CHARS) if hit else 0
    if start:
        start = _word_start(text, start)
    piece = text[start : start + SNIPPET_CHARS]
    shown = _SPACES.sub(" ", piece).strip()
    head, tail = "\u2026" if start else "", "\u2026" if start + SNIPPET_CHARS < len(text) else ""
    marks = tuple((begin + len(head), end + len(head)) for begin, end in marks_in(shown, pattern))
    return head + shown + tail, marks


def _word_start(text: str, start: int) -> int:
    """Return the start of the next word, if one is near, so that no word is cut."""
    space = text.find(" ", start, start + _LEAD_CHARS // 2)
    return space + 1 if space >= 0 else start
