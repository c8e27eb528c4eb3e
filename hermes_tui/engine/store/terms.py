"""A word or phrase of a query: how the index is asked for it, and how it is recognised in a text.

The index knows words only. A term with other signs in it (``C++``, ``a.b/c:d``, ``foo-bar``) is looked up by its words
and then compared letter by letter in the text; one of signs alone can only be compared.
"""

from __future__ import annotations

import re
import string
import unicodedata
from dataclasses import dataclass
from functools import cached_property

from .text import UNSPACED, WORD_CHAR, fold, run_words

_PIECE = re.compile(f"(?P<run>[{UNSPACED}]+)|(?P<word>{WORD_CHAR}+)")
_TRAILING = ".,;:!?\u2026\u3002\u3001"
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_PREFIX_INDEX_CHARS = 3
_NEXT_CHARS = string.ascii_lowercase + string.digits + "\u00df\u00e6\u00f0\u00f8\u00fe\u0111\u0131\u0142\u0153"
"""What may follow two letters of a Latin word, accents folded; what stands outside it is not found by ``ab*``."""


@dataclass(frozen=True)
class Term:
    """One searched word, phrase, prefix or literal text."""

    text: str
    """As typed, without quotes, closing punctuation and the prefix star."""
    is_prefix: bool = False
    is_quoted: bool = False

    @cached_property
    def _pieces(self) -> list[list[str]]:
        """Neighbouring words together, each unspaced run alone: ``[["foo", "bar"], ["数据"]]``."""
        groups: list[list[str]] = []
        in_words = False
        for piece in _PIECE.finditer(unicodedata.normalize("NFKC", self.text)):
            is_word = piece["word"] is not None
            if is_word and in_words:
                groups[-1].append(piece[0])
            else:
                groups.append([piece[0]])
            in_words = is_word
        return groups

    @cached_property
    def index_query(self) -> str:
        """The full-text expression that finds every message with the term, and maybe some more; empty if none can."""
        phrases = [_phrase(group) for group in self._pieces]
        if self.is_prefix and phrases and not _is_run(self._pieces[-1][0]):
            phrases[-1] = _prefix(self._pieces[-1], phrases[-1])
        return f"({' AND '.join(phrases)})" if len(phrases) > 1 else "".join(phrases)

    @property
    def may_go_on(self) -> bool:
        """Whether the term can be the beginning of a longer word."""
        return not (self.is_quoted or self.is_prefix) and re.search(f"{WORD_CHAR}{{2}}$", self.text) is not None

    @cached_property
    def index_words(self) -> list[str]:
        """The full-text expressions of the single words; how often they occur says what weighing the term costs."""
        return [_phrase([word]) for group in self._pieces for word in group if not self.is_prefix]

    @cached_property
    def is_literal(self) -> bool:
        """Whether the index cannot decide alone, so that the text has to be compared."""
        rest = _PIECE.sub("", unicodedata.normalize("NFKC", self.text))
        return len(self._pieces) != 1 or bool(rest.strip() if self.is_quoted else rest)

    @cached_property
    def pattern(self) -> str:
        """A regular expression that finds the term in folded text."""
        folded = fold(self.text)
        if self.is_literal:
            body = r"\s+".join(re.escape(part) for part in folded.split())
        else:
            body = r"[\W_]+".join(re.escape(fold(word)) for word in self._pieces[0])
        head = f"(?<!{WORD_CHAR})" if re.match(WORD_CHAR, folded) else ""
        ends_in_word = re.search(f"{WORD_CHAR}$", folded) is not None
        tail = "" if not ends_in_word else f"{WORD_CHAR}*" if self.is_prefix else f"(?!{WORD_CHAR})"
        return head + body + tail

    @cached_property
    def regex(self) -> re.Pattern[str]:
        """:attr:`pattern`, compiled."""
        return re.compile(self.pattern)


def _is_run(piece: str) -> bool:
    return re.match(f"[{UNSPACED}]", piece) is not None


def _phrase(group: list[str]) -> str:
    return f'"{run_words(group[0]) if _is_run(group[0]) else " ".join(group)}"'


def _prefix(words: list[str], phrase: str) -> str:
    """Return the expression for words whose last one is unfinished.

    A prefix shorter than the prefix index would merge the lists of thousands of words; two letters ask the prefix
    index for every possible third, one letter is taken as a word.
    """
    last = words[-1]
    if len(last) >= _PREFIX_INDEX_CHARS or len(words) > 1 or not last.isascii():
        return f"{phrase}*"
    if len(last) < _PREFIX_INDEX_CHARS - 1:
        return phrase
    longer = [f'"{last}{char}"*' for char in _NEXT_CHARS]
    return f"({' OR '.join([phrase, *longer])})"


def from_typed(typed: str) -> Term | None:
    """Return the term for a bare word of a query; None when nothing is left of it."""
    bare = typed.rstrip("*")
    if bare != typed and re.search(rf"[^\W_]$|[{UNSPACED}]$", bare):
        return Term(_trimmed(bare), is_prefix=True)
    text = _trimmed(typed)
    return Term(text) if text else None


def _trimmed(text: str) -> str:
    """Cut the punctuation of a sentence and unpaired brackets off a word; signs alone stay as they are."""
    if not _PIECE.search(text):
        return text
    text = text.rstrip(_TRAILING)
    for opening, closing in _BRACKETS.items():
        if text.startswith(opening) and closing not in text:
            text = text[1:]
        if text.endswith(closing) and opening not in text:
            text = text[:-1]
    return text.rstrip(_TRAILING)
